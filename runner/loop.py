"""The loop: haystacks through the engine, records answered and judged, written in order by one writer."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from components.types import Dataset
from runner.answering import Answering
from runner.build import build, many
from runner.engine import Local, ordered
from runner.plan import plan
from runner.progress import Progress
from runner.recalling import Batch, Recalled, Recalling, Work
from runner.records import Key, Record, Writer, decode, done, mend, read, unanswered
from runner.subset import Chosen


@dataclass
class Met:
    """What the readers met over all haystacks, those that were done before included."""

    haystacks: int = 0
    questions: int = 0
    notes: Counter[str] = field(default_factory=Counter)
    smallest: dict[str, int] = field(default_factory=dict)  # level -> documents of the smallest haystack

    def add(self, batch: Batch) -> None:
        self.haystacks += 1
        self.questions += batch.questions
        self.notes.update(batch.notes)
        for level, size in batch.size.items():
            self.smallest[level] = min(size, self.smallest.get(level, size))


@dataclass(frozen=True)
class Loop:
    """One run's work: all that is missing in `folder`, nothing twice."""

    raw: Mapping[str, Any]
    folder: Path
    fingerprint: str
    chosen: Chosen | None

    def run(self, progress: Progress) -> Met:
        """Writes records.jsonl and trace.jsonl; returns what the readers met."""
        settings = plan(dict(self.raw))
        finished = self._resume()
        dataset: Dataset = build(self.raw["dataset"])
        engine: Local = build(self.raw["engine"])
        places = list(dataset.items())
        progress.start(len(places), frozenset().union(*finished.values()))
        only = self.chosen.ids if self.chosen else None
        work = (Work(place, only, frozenset(finished.get(place.haystack, ()))) for place in places)
        answering = Answering(build(self.raw["answerer"]), many(self.raw, "judge"), settings.repeats)
        met = Met()
        batches = engine.map(Recalling(self.fingerprint, self.raw), None, work)
        recalled = _flat(batches, met, progress)
        with ThreadPoolExecutor(settings.answering.concurrency) as pool:
            ahead = 2 * settings.answering.concurrency
            self._write(ordered(pool, _finisher(answering), recalled, ahead), progress)
        return met

    def _resume(self) -> dict[str, set[Key]]:
        """Haystack -> keys that are done.

        Dropped: the torn last line, records that an outage left without an answer (asked again), traces
        without a record.
        """
        records, trace = self.folder / "records.jsonl", self.folder / "trace.jsonl"
        mend(records)
        mend(trace)
        finished: dict[str, set[Key]] = defaultdict(set)

        def noted() -> Iterator[Record]:
            for record in read(records):
                if not unanswered(record):
                    finished[record.haystack].add(record.key)
                    yield record

        keys = done(noted(), self.fingerprint) if records.exists() else set()
        if records.exists() and any(map(unanswered, read(records))):
            _rewrite(records, lambda line: not unanswered(decode(line)))
        if trace.exists():
            _rewrite(trace, lambda line: Key(*_trace_key(line)) in keys)
        return finished

    def _write(self, finished: Iterator[Recalled], progress: Progress) -> None:
        writer = Writer(self.folder / "records.jsonl")
        with (self.folder / "trace.jsonl").open("ab") as trace:
            try:
                for recalled in finished:
                    if recalled.trace is not None:
                        trace.write(msgspec.json.encode(recalled.trace) + b"\n")
                        trace.flush()
                    writer.write(recalled.record)
                    progress.advance(recalled.record)
            finally:
                writer.close()


def _finisher(answering: Answering) -> Any:
    def finish(recalled: Recalled) -> Recalled:
        return Recalled(answering.finish(recalled.record), recalled.trace)

    return finish


def _flat(batches: Iterator[Batch], met: Met, progress: Progress) -> Iterator[Recalled]:
    for batch in batches:
        met.add(batch)
        progress.haystack(len(batch.recalled))
        yield from batch.recalled


def _rewrite(path: Path, kept: Callable[[bytes], bool]) -> None:
    """Leaves the lines that are kept, the file whole at every moment."""
    part = path.with_name(f"{path.name}.part")
    with path.open("rb") as old, part.open("wb") as new:
        new.writelines(line for line in old if kept(line))
    os.replace(part, path)


def _trace_key(line: bytes) -> tuple[str, str]:
    row = msgspec.json.decode(line)
    return row["system"], row["question_id"]
