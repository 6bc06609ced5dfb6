"""Datasets that tell the gold and a judge that believes everything: what the doctor must find."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from components.types import Answer, Dataset, Document, Haystack, Kind, Place, Question, Sample, Verdict


@dataclass(frozen=True)
class Leaky:
    """A dataset as it is but for the one thing that its `leak` lets through."""

    inner: Any
    leak: str

    @property
    def known(self) -> Mapping[str, str]:
        known: Mapping[str, str] = self.inner.known
        return known

    def files(self) -> tuple[Path, ...]:
        files: tuple[Path, ...] = self.inner.files()
        return files

    def items(self) -> Iterator[Place]:
        yield from self.inner.items()

    def load(self, place: Place) -> Haystack:
        dataset: Dataset = self.inner
        haystack = dataset.load(place)
        return LEAKS[self.leak](haystack)


def source_ids(haystack: Haystack) -> Haystack:
    """Documents are called as in the source: "answer_fx_1_2"."""
    names = {i: f"{ref.session}_{ref.turn}" for i, ref in haystack.refs.items()}
    documents = tuple(replace(d, id=names[d.id]) for d in haystack.documents)
    samples = tuple(
        replace(s, gold=replace(s.gold, qrels={names[i]: grade for i, grade in s.gold.qrels.items()}))
        for s in haystack.samples
    )
    refs = {names[i]: ref for i, ref in haystack.refs.items()}
    return replace(haystack, documents=documents, samples=samples, refs=refs)


def gold_of(haystack: Haystack) -> set[str]:
    return {i for s in haystack.samples for i in s.gold.qrels}


def _documents(haystack: Haystack, change: Any) -> Haystack:
    gold = gold_of(haystack)
    documents = tuple(change(d) if d.id in gold else d for d in haystack.documents)
    return replace(haystack, documents=documents)


def has_answer(haystack: Haystack) -> Haystack:
    """The flag was left in the stored JSON of a gold turn."""

    def flagged(document: Document) -> Document:
        return replace(document, text=f'{document.text} {{"role": "user", "has_answer": true}}')

    return _documents(haystack, flagged)


def category_field(haystack: Haystack) -> Haystack:
    """A gold document bears the question's category."""
    category = haystack.samples[0].category
    return _documents(haystack, lambda document: replace(document, category=category))


def pinned(haystack: Haystack) -> Haystack:
    """Only gold documents are pinned: no word of it, and yet it tells."""
    return _documents(haystack, lambda document: replace(document, pinned=True))


def question_id(haystack: Haystack) -> Haystack:
    """The question has the source's id, "_abs" and all."""
    samples = tuple(replace(s, question=replace(s.question, id=s.source_id)) for s in haystack.samples)
    return replace(haystack, samples=samples)


def question_text(haystack: Haystack) -> Haystack:
    def telling(sample: Sample) -> Question:
        return replace(sample.question, text=f"{sample.question.text} [{sample.source_id}]")

    return replace(haystack, samples=tuple(replace(s, question=telling(s)) for s in haystack.samples))


LEAKS = {f.__name__: f for f in (source_ids, has_answer, category_field, pinned, question_id, question_text)}


@dataclass(frozen=True)
class Says:
    """A judge with one verdict for everything that it is shown."""

    label: Any
    kind: ClassVar[Kind] = "mechanical"

    def grade(self, sample: Sample, answer: Answer) -> Verdict:
        return Verdict(self.label)


@dataclass(frozen=True)
class EasyOnVague:
    """The inner judge, but for whoever sounds as if he knew."""

    inner: Any
    kind: ClassVar[Kind] = "mechanical"

    def grade(self, sample: Sample, answer: Answer) -> Verdict:
        if "earlier conversations" in answer.text:
            return Verdict("correct")
        verdict: Verdict = self.inner.grade(sample, answer)
        return verdict
