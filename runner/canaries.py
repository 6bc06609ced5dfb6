"""Cheaters that must gain nothing, and known-good ones that must score in full: the check of the checks.

Recall cheaters look only at what is not content: ids, categories, scope. If one of them finds anything, the
data tells the gold. Answer canaries show that the judges tell right from wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from components.types import Answer, Document, Haystack, Judge, Question, Sample
from runner.answering import grade

RecallCheat = Callable[[Question, Sequence[Document]], list[str]]
AnswerCanary = Callable[[Sample], Answer]

_TELLING = re.compile(r"answer|gold|evidence|relevant|correct|_abs", re.IGNORECASE)


def by_document_id(question: Question, documents: Sequence[Document]) -> list[str]:
    """Documents whose id itself tells (answer_..., gold ...)."""
    return [d.id for d in documents if _TELLING.search(d.id)]


def by_question_id(question: Question, documents: Sequence[Document]) -> list[str]:
    """Documents that share a telling part of their id with the question's."""
    parts = {p for p in re.split(r"[^0-9A-Za-z]+", question.id) if len(p) >= 4}
    own = [d.id for d in documents if parts & set(re.split(r"[^0-9A-Za-z]+", d.id))]
    return own if 0 < len(own) < len(documents) else []


def by_category(question: Question, documents: Sequence[Document]) -> list[str]:
    """Documents marked in a field beside their text: a category, a proof, a pin that few have."""
    marks = [(d.category, d.importance, d.proof, d.pinned, d.trust, d.confidence) for d in documents]
    rare = {mark for mark in marks if marks.count(mark) * 2 < len(marks)}
    return [d.id for d, mark in zip(documents, marks, strict=True) if mark in rare]


RECALL_CHEATS: Mapping[str, RecallCheat] = {
    "document_id": by_document_id,
    "question_id": by_question_id,
    "category": by_category,
}

ANSWERS: Mapping[str, AnswerCanary] = {
    "gold": lambda s: Answer(s.gold.answers[0] if s.gold.answerable and s.gold.answers else "I don't know."),
    "abstain": lambda s: Answer("I don't know."),
    "vague": lambda s: Answer("It came up in one of the earlier conversations."),
    "empty": lambda s: Answer(""),
}


def recall_hits(haystack: Haystack) -> dict[str, tuple[int, int]]:
    """Cheat -> (gold documents named, questions with gold): anything above 0 is a leak."""
    out = {}
    scored = [s for s in haystack.samples if s.gold.qrels]
    for name, cheat in RECALL_CHEATS.items():
        found = [set(cheat(s.question, haystack.documents)) & set(s.gold.qrels) for s in scored]
        out[name] = (sum(map(bool, found)), len(scored))
    return out


def expected(canary: str, sample: Sample) -> str:
    """The label that a judge must give to a canary's answer."""
    if canary == "empty":
        return "invalid"
    right = canary == "gold" or (canary == "abstain" and not sample.gold.answerable)
    return "correct" if right else "wrong"


def judged(haystack: Haystack, judges: Mapping[str, Judge]) -> list[dict[str, Any]]:
    """One row per judge x canary x question: what was expected and what came."""
    return [
        {
            "judge": name,
            "canary": canary,
            "question_id": sample.source_id,
            "expected": expected(canary, sample),
            "got": grade(judge, sample, answer(sample)).label,
        }
        for name, judge in judges.items()
        for canary, answer in ANSWERS.items()
        for sample in haystack.samples
    ]
