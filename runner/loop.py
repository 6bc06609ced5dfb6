"""The loop: haystacks through the engine, records answered and judged, written in order by one writer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from components.types import Dataset
from runner.answering import Answering
from runner.config import build, many
from runner.engine import Local, ordered
from runner.plan import plan
from runner.progress import Progress
from runner.recalling import Batch, Recalled, Recalling, Work
from runner.records import Key, Writer, done, mend, read
from runner.subset import Chosen


@dataclass(frozen=True)
class Loop:
    """One run's work: all that is missing in `folder`, nothing twice."""

    raw: Mapping[str, Any]
    folder: Path
    fingerprint: str
    chosen: Chosen | None

    def run(self, progress: Progress) -> Mapping[str, int]:
        """Writes records.jsonl and trace.jsonl; returns what the reader met, counted."""
        settings = plan(dict(self.raw))
        finished = self._resume()
        dataset: Dataset = build(self.raw["dataset"])
        engine: Local = build(self.raw["engine"])
        places = list(dataset.items())
        progress.start(len(places), finished)
        only = self.chosen.ids if self.chosen else None
        mine = _by_haystack(finished)
        work = (Work(place, only, mine.get(place.haystack, frozenset())) for place in places)
        answering = Answering(build(self.raw["answerer"]), many(self.raw, "judge"), settings.repeats)
        notes: Counter[str] = Counter()
        batches = engine.map(Recalling(self.fingerprint, self.raw), None, work)
        recalled = _flat(batches, notes, progress)
        with ThreadPoolExecutor(settings.answering.concurrency) as pool:
            ahead = 2 * settings.answering.concurrency
            self._write(ordered(pool, _finisher(answering), recalled, ahead), progress)
        return notes

    def _resume(self) -> set[Key]:
        """Keys that are done; the torn last line and trace lines without a record are dropped."""
        records, trace = self.folder / "records.jsonl", self.folder / "trace.jsonl"
        mend(records)
        mend(trace)
        if not records.exists():
            return set()
        finished = done(read(records), self.fingerprint)
        if trace.exists():
            lines = [line for line in trace.read_bytes().split(b"\n") if line]
            kept = [line for line in lines if Key(*_trace_key(line)) in finished]
            trace.write_bytes(b"".join(line + b"\n" for line in kept))
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


def _flat(batches: Iterator[Batch], notes: Counter[str], progress: Progress) -> Iterator[Recalled]:
    for batch in batches:
        notes.update(batch.notes)
        progress.haystack(len(batch.recalled))
        yield from batch.recalled


def _by_haystack(finished: set[Key]) -> dict[str, frozenset[Key]]:
    out: dict[str, set[Key]] = {}
    for key in finished:
        out.setdefault(key.question_id.rpartition("-q")[0], set()).add(key)
    return {haystack: frozenset(keys) for haystack, keys in out.items()}


def _trace_key(line: bytes) -> tuple[str, str]:
    row = msgspec.json.decode(line)
    return row["system"], row["question_id"]



