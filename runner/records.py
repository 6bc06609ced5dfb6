"""One line per system x question: enough to judge, answer, compare and explain again without the dataset.

{"fingerprint": "9f2c...", "system": "ours", "haystack": "h0003", "question_id": "h0003-q012",
 "source_id": "conv-26:12", "category": "temporal", "question": "When did ...?", "asked": "2023-10-22T09:55Z",
 "gold": {"answers": ["7 May 2023"], "refs": [["session_1", "D1:3"]], "answerable": true, "unresolved": []},
 "ranked": [{"ref": ["session_1", "D1:3"], "score": 0.98, "parts": {"lexical": 0.4, "fused": 0.98}}],
 "cut": [{"ref": ["session_2", "D2:1"], "stage": "trust", "reason": "external"}],
 "context": [{"ref": ["session_1", "D1:3"], "created": "2023-05-08T13:56Z", "text": "..."}],
 "answer": {"status": "ok", "text": "7 May 2023", "reason": "", "usage": {...}},
 "verdicts": {"facts": [{"label": "correct", "reason": "", "raw": "", "usage": {...}}]},
 "seconds": {"ingest": 0.01, "recall": 0.002}, "error": null, "unscored": null}
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from components.types import Answer, Ref, Verdict


class GoldRow(msgspec.Struct, frozen=True):
    answers: tuple[str, ...]
    refs: tuple[Ref, ...]
    answerable: bool
    unresolved: tuple[str, ...] = ()


class RankedRow(msgspec.Struct, frozen=True):
    ref: Ref
    score: float
    parts: dict[str, float]


class CutRow(msgspec.Struct, frozen=True):
    ref: Ref
    stage: str
    reason: str


class ContextRow(msgspec.Struct, frozen=True):
    ref: Ref | None
    created: str | None
    text: str


class ErrorRow(msgspec.Struct, frozen=True):
    stage: str
    reason: str
    detail: str = ""


class Record(msgspec.Struct, frozen=True):
    """`ranked` is None when the system gave no ranking of our documents; `unscored` then says why.

    `unscored` is None for a question that counts in retrieval; "error", "no ranking", "unmapped".
    What the gold says (not answerable, unresolved, empty) is left to the evaluation.
    """

    fingerprint: str
    system: str
    haystack: str
    question_id: str
    source_id: str
    category: str
    question: str
    asked: str | None
    gold: GoldRow
    ranked: tuple[RankedRow, ...] | None
    cut: tuple[CutRow, ...] = ()
    context: tuple[ContextRow, ...] = ()
    answer: Answer | None = None
    verdicts: Mapping[str, tuple[Verdict, ...]] = {}
    seconds: Mapping[str, float] = {}
    notes: Mapping[str, int] = {}
    unscored: str | None = None
    error: ErrorRow | None = None

    @property
    def key(self) -> Key:
        return Key(self.system, self.question_id)


OUTAGES = frozenset(
    {"connection", "timeout", "rate limit", "server error"}
)  # of the way there, not of the model


def unanswered(record: Record) -> bool:
    """Whether the endpoint could not be reached: asked again when the run is gone on with."""
    return record.answer is not None and record.answer.reason in OUTAGES


class Key(NamedTuple):
    """What makes a record unique in a run. Never the question's text: LoCoMo repeats questions."""

    system: str
    question_id: str


class RecordsError(ValueError):
    """A records file that cannot be gone on with: says which line and what differs."""


_ENCODER = msgspec.json.Encoder(order="deterministic")
_DECODER = msgspec.json.Decoder(Record)


def encode(record: Record) -> bytes:
    """One line, UTF-8, no line break inside (JSON escapes \\n; U+2028 stays as it is)."""
    return _ENCODER.encode(record) + b"\n"


def decode(line: bytes) -> Record:
    """The inverse of encode(); msgspec.DecodeError for what is no record."""
    return _DECODER.decode(line)


def read(path: Path) -> Iterator[Record]:
    """Records in file order, split at \\n only. RecordsError names the line that cannot be read."""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                yield decode(line)
            except msgspec.DecodeError as error:
                raise RecordsError(unreadable(path, number, error)) from error


def unreadable(path: Path, number: int, error: Exception) -> str:
    """Where, what and what to do about a line that is no record."""
    return (
        f"{path}, line {number}: not a record ({error}); delete this line and write resume={path.parent}: "
        "its question is asked again, the other lines stay"
    )


class Writer:
    """The one writer of a run's records: append-only, a full line at a time, flushed."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("ab")

    def write(self, record: Record) -> None:
        self._file.write(encode(record))
        self._file.flush()

    def close(self) -> None:
        os.fsync(self._file.fileno())
        self._file.close()


def mend(path: Path) -> int:
    """Cut a torn last line away before anything is appended; returns the bytes dropped."""
    if not path.exists():
        return 0
    size = path.stat().st_size
    with path.open("r+b") as file:
        end, block = size, 1 << 16
        while end > 0:
            start = max(0, end - block)
            file.seek(start)
            found = file.read(end - start).rfind(b"\n")
            if found >= 0:
                end = start + found + 1
                break
            end = start
        file.truncate(end)
    return size - end


def done(records: Iterable[Record], fingerprint: str) -> set[Key]:
    """Keys that need no second run. RecordsError when a line belongs to another configuration."""
    keys: set[Key] = set()
    for record in records:
        if record.fingerprint != fingerprint:
            raise RecordsError(
                f"the record of {record.system}, {record.question_id} was made under fingerprint "
                f"{record.fingerprint}, not {fingerprint}: by another configuration, data set or model file; "
                "put that back, or start a new run"
            )
        keys.add(record.key)
    return keys


def builtins(value: Any) -> Any:
    """Any of our values as plain JSON types."""
    return msgspec.to_builtins(value)
