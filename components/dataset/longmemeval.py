"""LongMemEval: one question per haystack of dated chat sessions; one item of the official file is

    {"question_id": "q7_abs", "question_type": "multi-session", "question": "...", "answer": 3,
     "question_date": "2023/05/30 (Tue) 23:40", "haystack_dates": ["2023/05/20 (Sat) 02:21"],
     "haystack_session_ids": ["answer_1f_1"], "answer_session_ids": ["answer_1f_1"],
     "haystack_sessions": [[{"role": "user", "content": "...", "has_answer": true}]]}

Files _s, _m, _oracle and their evidence-only extracts have the same shape. `answer_` in a session's id and
`has_answer` give the gold away: both stay in Ref and Gold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import msgspec

from components.files import dates, looks
from components.files.conversation import Session, Turn, Unit, Writing, qrels
from components.files.items import Item as Where
from components.files.items import answer_text, check_choice, check_choices, decode, places
from components.files.source import confine
from components.types import Gold, Haystack, Place, Question, Ref, Sample

CATEGORIES = (
    "single-session-user",
    "single-session-assistant",
    "single-session-preference",
    "temporal-reasoning",
    "knowledge-update",
    "multi-session",
)
Dated = tuple[datetime | None, str, str, tuple[Turn, ...]]  # when, as the file has it, the session's name
_KEYS = {"role": "role", "content": "text"}


class _Turn(msgspec.Struct):
    role: str
    content: str | None
    has_answer: bool | None = None


class Item(msgspec.Struct):
    question_id: str
    question_type: str
    question: str
    haystack_session_ids: list[str]
    haystack_sessions: list[list[_Turn]]
    haystack_dates: list[str | None]
    answer_session_ids: list[str] = []
    answer: Any = None
    question_date: str | None = None


@dataclass(frozen=True)
class Longmemeval:
    """Documents are in order of time, those of one moment in file order; ids count in that order.

    An undated session keeps its place behind its neighbour in the file. A question ending in `_abs` is not
    answerable and keeps its type as category. `categories`: which types are asked; `roles`: whose turns are
    stored. `empty_gold` (what retrieval makes of a question without gold) is the evaluation's to read.
    """

    data_dir: str
    path: str
    official: str  # what the file is called, for the message when it is missing
    known: Mapping[str, str]  # sha256 -> official name
    unit: Unit
    text: str
    roles: Sequence[str]
    categories: Sequence[str]
    empty_gold: Literal["exclude", "zero"]
    overlay: None

    def __post_init__(self) -> None:
        self._writing()
        check_choice("empty_gold", self.empty_gold, ("exclude", "zero"))
        check_choices("categories", self.categories, CATEGORIES)
        if not self.roles:
            raise ValueError("roles: none chosen, nothing would be stored; [user, assistant] stores all")
        if self.overlay is not None:
            raise ValueError("overlay: gold overlays cannot be applied yet; set it to null")

    def problems(self) -> list[str]:
        return looks.problems(self.data_dir, self.path, self.official, self.known)

    def files(self) -> tuple[Path, ...]:
        return (confine(self.data_dir, self.path),)

    def items(self) -> Iterator[Place]:
        return places(self.data_dir, self.path, self.official, self.known)

    def load(self, place: Place) -> Haystack:
        """DataError for an item that cannot be what it should be; what can be read around is in the notes."""
        item, where = decode(self.data_dir, place, Item)
        notes: Counter[str] = Counter()
        documents, refs = self._writing().documents(by_time(self._sessions(item, where, notes)))
        sample = self._sample(item, where, refs, notes, f"{place.haystack}-q0000")
        samples = (sample,) if sample.category in self.categories else ()
        notes["questions_left_out"] += not samples
        # F15: official gold is partly dated after the question. It is counted, and no session is filtered.
        asked = sample.question.asked
        late = (d.id for d in documents if asked and d.created and d.created > asked)
        notes["gold_after_question"] += any(identifier in sample.gold.qrels for identifier in late)
        return Haystack(place.haystack, documents, samples, refs, item.question_id, dict(+notes))

    def _writing(self) -> Writing:
        return Writing(self.unit, self.text, _KEYS)

    def _sessions(self, item: Item, where: Where, notes: Counter[str]) -> list[Dated]:
        lengths = [len(item.haystack_session_ids), len(item.haystack_dates), len(item.haystack_sessions)]
        if len(set(lengths)) > 1:
            raise where.fault(f"{lengths[0]} session ids, {lengths[1]} dates, {lengths[2]} sessions")
        seen: dict[str, list[tuple[str, str | None]]] = {}
        dated: list[Dated] = []
        for name, date, turns in zip(
            item.haystack_session_ids, item.haystack_dates, item.haystack_sessions, strict=True
        ):
            if name in seen:
                notes["repeated_sessions"] += 1
                if seen[name] != _said(turns):
                    raise where.fault(f"session id {name!r} stands for two different texts")
            seen[name] = _said(turns)
            dated.append((dates.counted(date, notes), date or "", name, self._turns(turns, notes)))
        return dated

    def _turns(self, turns: Sequence[_Turn], notes: Counter[str]) -> tuple[Turn, ...]:
        made = [Turn(str(i), t.role, t.role, t.content or "", i + 1) for i, t in enumerate(turns)]
        kept = tuple(turn for turn in made if turn.role in self.roles)
        notes["turns_left_out"] += len(made) - len(kept)
        notes["blank_turns"] += sum(turn.blank for turn in kept)
        notes["empty_sessions"] += not kept
        return kept

    def _sample(
        self, item: Item, where: Where, refs: Mapping[str, Ref], notes: Counter[str], identifier: str
    ) -> Sample:
        if item.question_type not in CATEGORIES:
            raise where.fault(f"question_type {item.question_type!r} is none of {', '.join(CATEGORIES)}")
        if not item.question.strip():
            raise where.fault("a blank question")
        try:
            answers = (answer_text(item.answer),)
        except ValueError as error:
            raise where.fault(str(error)) from error
        # F18: only the suffix tells; `q_absent_2` is an ordinary question.
        gold = _gold(item, answers, not item.question_id.endswith("_abs"), refs, notes)
        asked = dates.counted(item.question_date, notes)
        question = Question(identifier, item.question, asked)
        return Sample(question, gold, item.question_type, item.question_id)


def _said(turns: Sequence[_Turn]) -> list[tuple[str, str | None]]:
    return [(turn.role, turn.content) for turn in turns]


def by_time(dated: Sequence[Dated]) -> list[Session]:
    last: datetime | None = None
    keys: list[tuple[bool, float]] = []
    for created, *_ in dated:
        last = created or last
        keys.append((last is not None, last.timestamp() if last else 0.0))
    order = sorted(range(len(dated)), key=keys.__getitem__)
    return [
        Session(name, number, date, created, turns)
        for number, (created, date, name, turns) in enumerate((dated[i] for i in order), start=1)
    ]


def _gold(
    item: Item, answers: tuple[str, ...], answerable: bool, refs: Mapping[str, Ref], notes: Counter[str]
) -> Gold:
    """Gold sessions first, then the turns flagged in them. Flags outside them are counted, and no gold."""
    stored = set(refs.values())
    stored_sessions = {ref.session for ref in stored}
    sessions = dict.fromkeys(item.answer_session_ids)
    flagged = dict.fromkeys(
        Ref(name, str(index))
        for name, turns in zip(item.haystack_session_ids, item.haystack_sessions, strict=True)
        for index, turn in enumerate(turns)
        if turn.has_answer
    )
    notes["flags_outside_gold"] += sum(ref.session not in sessions for ref in flagged)
    turns = [ref for ref in flagged if ref.session in sessions]
    by_turn = any(ref.turn is not None for ref in stored)
    lost = [s for s in sessions if s not in stored_sessions]
    lost += [
        f"{r.session}#{r.turn}" for r in turns if by_turn and r.session in stored_sessions and r not in stored
    ]
    found = [Ref(s, None) for s in sessions if s in stored_sessions]
    found += [r for r in turns if r in stored or (not by_turn and r.session in stored_sessions)]
    notes["evidence_unresolved"] += len(lost)
    return Gold(answers, qrels(refs, found), answerable, tuple(found), tuple(lost))
