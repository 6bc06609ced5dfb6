"""Records -> one small table per system: what evaluation keeps of them (no text, no context)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from runner.measures import LEVELS, gold_at, score
from runner.records import Key, Record
from runner.settings import RESERVED, Settings
from runner.statistics import Floats, Labels
from runner.usage import Usages


@dataclass(frozen=True)
class Ranked:
    """Retrieval at one level: values (n_questions, n_measures) and reasons; nan and why where unscored."""

    values: Floats
    reasons: tuple[str, ...]

    @property
    def scored(self) -> NDArray[np.bool_]:
        return np.array([not reason for reason in self.reasons], dtype=bool)


@dataclass(frozen=True)
class Judged:
    """One judge's labels: 1 correct, 0 wrong, nan invalid (with the reason).

    flips: questions on which the judge's own repeats disagree.
    """

    labels: Floats
    reasons: tuple[str, ...]
    flips: NDArray[np.bool_]
    repeats: int


@dataclass(frozen=True)
class Table:
    """One system: a row per question, in the order of question ids (whatever the order of the records)."""

    system: str
    ids: tuple[str, ...]
    clusters: Labels
    categories: Labels
    answerable: NDArray[np.bool_]
    ranked: Mapping[str, Ranked]
    judged: Mapping[str, Judged]


class Tables(NamedTuple):
    systems: dict[str, Table]
    categories: tuple[str, ...]
    usages: Usages
    repeated: int  # records of a system and question that were there already (left out)


class _Row(NamedTuple):
    question_id: str
    haystack: str
    category: str
    answerable: bool
    scores: tuple[tuple[str, tuple[float, ...]], ...]  # per level: reason, values
    verdicts: Mapping[str, tuple[tuple[str, str], ...]]  # judge -> (label, reason) per repeat


def collect(records: Iterable[Record], settings: Settings) -> Tables:
    """Reads the records once; holds a few numbers of each. ValueError for a category with a reserved name."""
    rows: dict[str, list[_Row]] = {}
    seen: set[Key] = set()
    turns_ranked = turns_gold = False
    usages, repeated = Usages(settings.judges), 0
    for record in records:
        if record.key in seen:
            repeated += 1
            continue
        seen.add(record.key)
        turns_ranked = turns_ranked or any(row.ref.turn is not None for row in record.ranked or ())
        turns_gold = turns_gold or bool(record.gold.answerable and gold_at(record.gold.refs, "turn"))
        rows.setdefault(record.system, []).append(_row(record, settings))
        usages.add(record)
    levels = LEVELS if turns_ranked and turns_gold else LEVELS[:1]
    ordered = {name: sorted(rows[name]) for name in _order(rows, settings.systems)}
    tables = {name: _table(name, its, levels, settings) for name, its in ordered.items()}
    names = dict.fromkeys(row.category for its in ordered.values() for row in its)
    if reserved := [name for name in names if name in RESERVED]:
        raise ValueError(f"a category cannot be called {reserved[0]!r}: the report has a row of that name")
    return Tables(tables, _order(names, settings.categories, keep_all=True), usages, repeated)


def _order(found: Iterable[str], wanted: Sequence[str], *, keep_all: bool = False) -> tuple[str, ...]:
    there = tuple(found)
    first = tuple(name for name in wanted if keep_all or name in there)
    return first + tuple(name for name in there if name not in first)


def _row(record: Record, settings: Settings) -> _Row:
    return _Row(
        record.question_id,
        record.haystack,
        record.category,
        record.gold.answerable,
        tuple(score(record, level, settings) for level in LEVELS),
        {judge: tuple((v.label, v.reason) for v in its) for judge, its in record.verdicts.items() if its},
    )


def _table(system: str, rows: Sequence[_Row], levels: Sequence[str], settings: Settings) -> Table:
    ranked = {
        level: Ranked(
            np.array([row.scores[i][1] for row in rows], dtype=np.float64),
            tuple(row.scores[i][0] for row in rows),
        )
        for i, level in enumerate(levels)
    }
    judges = [j for j in settings.judges if any(j in row.verdicts for row in rows)]
    return Table(
        system,
        tuple(row.question_id for row in rows),
        np.array([row.haystack for row in rows], dtype=np.str_),
        np.array([row.category for row in rows], dtype=np.str_),
        np.array([row.answerable for row in rows], dtype=bool),
        ranked,
        {judge: _judged([row.verdicts.get(judge, ()) for row in rows]) for judge in judges},
    )


def _judged(rows: Sequence[tuple[tuple[str, str], ...]]) -> Judged:
    settled = [majority(row) for row in rows]
    values = {"correct": 1.0, "wrong": 0.0, "invalid": math.nan}
    return Judged(
        np.array([values[label] for label, _ in settled], dtype=np.float64),
        tuple(reason for _, reason in settled),
        np.array([{"correct", "wrong"} <= {label for label, _ in row} for row in rows], dtype=bool),
        max((len(row) for row in rows), default=0),
    )


def majority(pairs: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """(label, reason) of one judge's repeats: the majority of the valid ones; a tie is invalid.

    No verdict at all where others were judged is invalid too: nothing leaves the denominator silently.
    """
    if not pairs:
        return "invalid", "not judged"
    counts = Counter(label for label, _ in pairs)
    if counts["correct"] == counts["wrong"]:
        reasons = [reason for label, reason in pairs if label == "invalid"]
        return "invalid", "tie" if counts["correct"] else reasons[0] or "no reason given"
    return ("correct" if counts["correct"] > counts["wrong"] else "wrong"), ""
