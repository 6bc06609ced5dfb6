"""The first half of the loop: a system ingests a haystack and recalls for each of its questions.

Runs in a worker. Gives records without answers and verdicts, and one trace line per recall.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

from components.types import (
    ComponentError,
    Cut,
    Dataset,
    Document,
    Haystack,
    Hit,
    Index,
    Memory,
    Place,
    Recall,
    Sample,
    Scope,
    Store,
    System,
)
from runner.config import build, systems
from runner.plan import Context, Plan, plan
from runner.records import ContextRow, CutRow, ErrorRow, GoldRow, Key, RankedRow, Record


class Work(NamedTuple):
    """One haystack to do: `only` source ids of the chosen questions (None = all), `done` keys to skip."""

    place: Place
    only: frozenset[str] | None
    done: frozenset[Key]


class Recalled(NamedTuple):
    record: Record
    trace: dict[str, Any] | None


class Batch(NamedTuple):
    """What became of one haystack. `notes`: what the reader met; `size`: its sessions and turns."""

    recalled: tuple[Recalled, ...]
    questions: int
    notes: Mapping[str, int]
    size: Mapping[str, int]


class Once:
    """A store that keeps its last index: conditions over one haystack share it. Closes it for the next."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._documents: Sequence[Document] | None = None
        self._index: Index | None = None

    def index(self, documents: Sequence[Document]) -> Index:
        if self._index is None or documents is not self._documents:
            if self._index is not None:
                self._index.close()
            self._documents, self._index = documents, None
            self._index = _Kept(self._store.index(documents))
        return self._index


class _Kept:
    """An index that its users cannot close: Once does."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self.documents = index.documents
        self.match, self.nearest = index.match, index.nearest
        self.embed, self.vectors = index.embed, index.vectors

    def close(self) -> None:
        """Left to Once."""


@dataclass(frozen=True)
class Recalling:
    """start(context) of the engine: everything that a worker needs, built once."""

    fingerprint: str
    raw: Mapping[str, Any]

    def __call__(self, _: None) -> Callable[[Work], Batch]:
        settings = plan(dict(self.raw))
        dataset: Dataset = build(self.raw["dataset"])
        every = systems(self.raw, Once(build(self.raw["store"])))

        def work(item: Work) -> Batch:
            haystack = dataset.load(item.place)
            wanted = [s for s in haystack.samples if item.only is None or s.source_id in item.only]
            out: list[Recalled] = []
            for name, system in every.items():
                left = [s for s in wanted if Key(name, s.question.id) not in item.done]
                one = OneSystem(self.fingerprint, name, system, settings)
                out += one.run(haystack, left) if left else []
            return Batch(tuple(out), len(wanted), haystack.notes, _size(haystack))

        return work


def _size(haystack: Haystack) -> dict[str, int]:
    refs = set(haystack.refs.values())
    turns = sum(ref.turn is not None for ref in refs)
    return {"session": len({ref.session for ref in refs})} | ({"turn": turns} if turns else {})


@dataclass(frozen=True)
class OneSystem:
    fingerprint: str
    name: str
    system: System
    plan: Plan

    def run(self, haystack: Haystack, samples: Collection[Sample]) -> list[Recalled]:
        """A Recalled per sample. A failing ingest fails every question of the haystack, by name."""
        start = perf_counter()
        try:
            with self.system.open(Scope("crossjudge", "default", haystack.id)) as memory:
                memory.add(haystack.documents)
                ingest = perf_counter() - start
                return [self._ask(haystack, sample, memory, ingest) for sample in samples]
        except ComponentError as error:
            return [self._failed(haystack, sample, error) for sample in samples]

    def _ask(self, haystack: Haystack, sample: Sample, memory: Memory, ingest: float) -> Recalled:
        start = perf_counter()
        try:
            recall = memory.recall(sample.question, self.plan.depth)
        except ComponentError as error:
            return self._failed(haystack, sample, error)
        seconds = {"ingest": ingest, "recall": perf_counter() - start}
        hits = recall.hits if not recall.ranked else recall.hits[: self.plan.depth]
        ranked, unscored = _ranking(recall, hits, haystack, self.plan.explain)
        record = self._record(
            haystack,
            sample,
            ranked=ranked,
            unscored=unscored,
            cut=tuple(CutRow(haystack.refs[c.document], c.stage, c.reason) for c in recall.trace.cut),
            context=_context(hits, haystack, self.plan.context if recall.ranked else None),
            seconds=seconds,
            notes=dict(recall.trace.notes),
        )
        return Recalled(record, _trace(self.name, sample.question.id, recall))

    def _failed(self, haystack: Haystack, sample: Sample, error: ComponentError) -> Recalled:
        row = ErrorRow(error.stage, error.reason, error.detail)
        return Recalled(self._record(haystack, sample, ranked=None, unscored="error", error=row), None)

    def _record(self, haystack: Haystack, sample: Sample, **rest: Any) -> Record:
        gold = sample.gold
        return Record(
            fingerprint=self.fingerprint,
            system=self.name,
            haystack=haystack.id,
            question_id=sample.question.id,
            source_id=sample.source_id,
            category=sample.category,
            question=sample.question.text,
            asked=minute(sample.question.asked),
            gold=GoldRow(gold.answers, gold.refs, gold.answerable, gold.unresolved),
            **rest,
        )


def _ranking(
    recall: Recall, hits: Sequence[Hit], haystack: Haystack, explain: int
) -> tuple[tuple[RankedRow, ...] | None, str | None]:
    """The ranking in source places, or why there is none: a system without one is unscored, never 0."""
    if not recall.ranked:
        return None, "no ranking"
    if any(hit.document.id not in haystack.refs for hit in hits):
        return None, "unmapped"
    refs = haystack.refs
    told = [RankedRow(refs[h.document.id], round(h.score, 9), _parts(h)) for h in hits[:explain]]
    rest = [RankedRow(refs[h.document.id], h.score, {}) for h in hits[explain:]]
    return (*told, *rest), None


def _parts(hit: Hit) -> dict[str, float]:
    return {name: round(float(part), 9) for name, part in hit.parts.items()}


def _context(hits: Sequence[Hit], haystack: Haystack, limit: Context | None) -> tuple[ContextRow, ...]:
    """What an answerer will see: the first hits, in their order, as far as the characters go.

    A document that does not fit is cut at the limit, the rest left out. No limit for a system whose
    answer is everything (full context).
    """
    rows: list[ContextRow] = []
    left = limit.chars if limit else sum(len(h.document.text) for h in hits)
    for hit in hits[: limit.hits] if limit else hits:
        if left <= 0:
            break
        text = hit.document.text[:left]
        left -= len(text)
        rows.append(ContextRow(haystack.refs.get(hit.document.id), minute(hit.document.created), text))
    return tuple(rows)


def _trace(system: str, question_id: str, recall: Recall) -> dict[str, Any]:
    trace = recall.trace
    cut: dict[str, int] = {}
    for row in trace.cut:
        cut[f"{Cut(*row).stage}: {row.reason}"] = cut.get(f"{row.stage}: {row.reason}", 0) + 1
    return {
        "system": system,
        "question_id": question_id,
        "lanes": dict(trace.lanes),
        "hits": [[hit.document.id, round(hit.score, 9)] for hit in recall.hits],
        "cut": cut,
        "notes": dict(trace.notes),
        "seconds": dict(trace.seconds),
    }


def minute(time: dt.datetime | None) -> str | None:
    """2023-05-08T13:56Z: to the minute, as the datasets have it."""
    return time.strftime("%Y-%m-%dT%H:%MZ") if time else None


def from_minute(text: str | None) -> dt.datetime | None:
    """The inverse of minute()."""
    return dt.datetime.strptime(text, "%Y-%m-%dT%H:%MZ").replace(tzinfo=dt.UTC) if text else None
