"""The first half of the loop: a system ingests a haystack and recalls for each of its questions.

Runs in a worker. Gives records without answers and verdicts, and one trace line per recall.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple, Protocol, runtime_checkable

from components.types import (
    ComponentError,
    Dataset,
    FatalError,
    Haystack,
    Memory,
    Place,
    Sample,
    Scope,
    System,
)
from runner.build import build, systems
from runner.drafts import context_rows, minute, ranking, trace_line
from runner.plan import Plan, plan
from runner.records import CutRow, ErrorRow, GoldRow, Key, Record
from runner.shared_index import Once
from runner.stage_cache import StageCache


class Work(NamedTuple):
    """One haystack to do: `only` source ids of the chosen questions (None = all), `done` keys to skip."""

    place: Place
    only: frozenset[str] | None
    done: frozenset[Key]


@runtime_checkable
class Notes(Protocol):
    """A model that counts what it met since it was built."""

    def notes(self) -> Mapping[str, int]: ...


class Recalled(NamedTuple):
    record: Record
    trace: dict[str, Any] | None


class Batch(NamedTuple):
    """What became of one haystack. `notes`: what the reader met; `size`: its sessions and turns."""

    recalled: tuple[Recalled, ...]
    questions: int
    notes: Mapping[str, int]
    size: Mapping[str, int]


@dataclass(frozen=True)
class Recalling:
    """start(context) of the engine: everything that a worker needs, built once."""

    fingerprint: str
    raw: Mapping[str, Any]

    def __call__(self, _: None) -> Callable[[Work], Batch]:
        settings = plan(dict(self.raw))
        dataset: Dataset = build(self.raw["dataset"])
        cache = StageCache(settings.cache, self.raw)
        store = build(self.raw["store"])
        every = systems(self.raw, Once(store, cache.knows), cache.lane)
        models = {
            "embedder": [getattr(store, "embedder", None)],
            "reranker": [getattr(system, "reranker", None) for system in every.values()],
        }

        def work(item: Work) -> Batch:
            before = _told(models)
            haystack = dataset.load(item.place)
            wanted = [s for s in haystack.samples if item.only is None or s.source_id in item.only]
            out: list[Recalled] = []
            for name, system in every.items():
                left = [s for s in wanted if Key(name, s.question.id) not in item.done]
                one = OneSystem(self.fingerprint, name, system, settings, cache)
                out += one.run(haystack, left) if left else []
            cache.flush()
            notes = {**haystack.notes, **(_told(models) - before)}
            return Batch(tuple(out), len(wanted), notes, _size(haystack))

        return work


def _told(models: Mapping[str, Sequence[object]]) -> Counter[str]:
    """What the models of this worker met so far, as embedder_cut; a ranking that was kept asks none of them."""
    out: Counter[str] = Counter()
    for kind, its in models.items():
        for one in its:
            if isinstance(one, Notes):
                out.update({f"{kind}_{name}": n for name, n in one.notes().items()})
    return out


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
    cache: StageCache

    def run(self, haystack: Haystack, samples: Collection[Sample]) -> list[Recalled]:
        """A Recalled per sample. A failing ingest fails every question of the haystack, by name.

        FatalError passes: no further call can succeed, so the run stops with what it has.
        """
        start = perf_counter()
        try:
            with self.system.open(Scope("crossjudge", "default", haystack.id)) as memory:
                memory.add(haystack.documents)
                ingest = perf_counter() - start
                return [self._ask(haystack, sample, memory, ingest) for sample in samples]
        except FatalError:
            raise
        except ComponentError as error:
            return [self._failed(haystack, sample, error) for sample in samples]

    def _ask(self, haystack: Haystack, sample: Sample, memory: Memory, ingest: float) -> Recalled:
        start, served = perf_counter(), self.cache.served
        try:
            recall = memory.recall(sample.question, self.plan.depth)
        except FatalError:
            raise
        except ComponentError as error:
            return self._failed(haystack, sample, error)
        spent = perf_counter() - start
        # A ranking that was looked up says nothing of how long finding it takes.
        looked_up = self.cache.served > served
        seconds = {"recall_cached": spent} if looked_up else {"ingest": ingest, "recall": spent}
        hits = recall.hits if not recall.ranked else recall.hits[: self.plan.depth]
        ranked, unscored = ranking(recall, hits, haystack, self.plan.explain)
        record = self._record(
            haystack,
            sample,
            ranked=ranked,
            unscored=unscored,
            cut=tuple(CutRow(haystack.refs[c.document], c.stage, c.reason) for c in recall.trace.cut),
            context=context_rows(hits, haystack, self.plan.context if recall.ranked else None),
            seconds=seconds,
            notes=dict(recall.trace.notes),
        )
        return Recalled(record, trace_line(self.name, sample.question.id, recall))

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
