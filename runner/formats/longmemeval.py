"""LongMemEval's files: its data, its ranked lists, and the retrieval log that its generation reads.

    data      [{"question_id": "conv-26:12", "question_type": "temporal-reasoning", "question": "...", ...}]
    ranked    {"question_id": "q7", "ranked_items": [{"corpus_id": "answer_1f_1", "text": ""}]}
    log       the item's fields and {"retrieval_results": {"query": "...", "ranked_items": [{"corpus_id":
              "answer_1f_1_3", "text": "...", "timestamp": "..."}], "metrics": {"session": {}, "turn": {}}}}

An id is that of the session, for a turn with its number from 1 behind: answer_1f_1_3. The log calls a
document of an `answer` session that is not relevant `noans`, as LongMemEval does: so its tools know the gold.
There only the user's turns are documents; here all that were stored, the assistant's evidence too.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from components.types import Haystack, Ref
from runner.formats.items import Item
from runner.formats.official import CUTS, Metrics, by_session, measured
from runner.formats.tokens import token
from runner.measures import LEVELS, ranking_at
from runner.records import Record

Told = Iterable[
    tuple[Haystack, Mapping[str, Item], Sequence[Record]]
]  # as stored, by question id, its records


def write_data(items: Iterable[Item], path: Path) -> list[Path]:
    """One array, streamed."""
    with path.open("wb") as file:
        for number, item in enumerate(items):
            file.write((b",\n" if number else b"[") + msgspec.json.encode(item.fields))
        file.write(b"]\n" if file.tell() else b"[]\n")
    return [path]


def write_ranked(told: Told, folder: Path) -> list[Path]:
    """<system>.<level>.jsonl for each level of the ranking; text stands where a document is one item."""
    files = _Files(folder, ".jsonl")
    with files.stack:
        for haystack, items, records in told:
            texts = _texts(haystack)
            for record in records:
                refs, item = [row.ref for row in record.ranked or ()], items[record.question_id]
                for level in LEVELS if _level(haystack) == "turn" else LEVELS[:1]:
                    places = _places(refs, level)
                    rows = [{"corpus_id": item.name(p), "text": texts.get(p, "")} for p in places]
                    row = {"question_id": item.fields["question_id"], "ranked_items": rows}
                    files.write(f"{token(record.system)}.{level}", row)
    return files.paths


def write_log(told: Told, folder: Path, depth: int) -> list[Path]:
    """retrievallog_<session or turn>_<system>: a line per question with a ranking; cuts up to `depth`."""
    cuts = [k for k in CUTS if k <= depth]
    files = _Files(folder, "")
    with files.stack:
        for haystack, items, records in told:
            for record in records:
                row = _logged(record, items[record.question_id], haystack, cuts)
                files.write(f"retrievallog_{_level(haystack)}_{token(record.system)}", row)
    return files.paths


def _logged(record: Record, item: Item, haystack: Haystack, cuts: Sequence[int]) -> dict[str, Any]:
    level = _level(haystack)
    targets = _targets(record.gold.refs, level)

    def name(ref: Ref) -> str:
        plain = item.name(ref)
        return plain if ref in targets or "answer" not in plain else plain.replace("answer", "noans")

    texts, refs = _texts(haystack), [row.ref for row in record.ranked or ()]
    corpus, ranked = [name(ref) for ref in haystack.refs.values()], [name(ref) for ref in refs]
    gold = {name(ref) for ref in targets}
    metrics: dict[str, Metrics] = {"session": {}, "turn": {}} | {level: measured(ranked, gold, corpus, cuts)}
    if level == "turn":
        metrics["session"] = by_session(ranked, gold, corpus, cuts)
    rows = [
        {"corpus_id": found, "text": texts[ref], "timestamp": item.date(ref)}
        for found, ref in zip(ranked, refs, strict=True)
    ]
    results = {"query": record.question, "ranked_items": rows, "metrics": metrics}
    return {**item.fields, "retrieval_results": results}


def _targets(gold: Iterable[Ref], level: str) -> set[Ref]:
    """Turns flagged as evidence; of sessions those that hold one."""
    turns = {ref for ref in gold if ref.turn is not None}
    return turns if level == "turn" else {Ref(ref.session, None) for ref in turns or gold}


def _level(haystack: Haystack) -> str:
    return "turn" if any(ref.turn is not None for ref in haystack.refs.values()) else "session"


def _places(refs: Sequence[Ref], level: str) -> list[Ref]:
    items = ranking_at(refs, level, len(refs))
    return [item if isinstance(item, Ref) else Ref(str(item), None) for item in items]


def _texts(haystack: Haystack) -> dict[Ref, str]:
    return {haystack.refs[document.id]: document.text for document in haystack.documents}


class _Files:
    """Files opened when they get their first line, closed with `stack`."""

    def __init__(self, folder: Path, ending: str) -> None:
        self._folder, self._ending = folder, ending
        self._open: dict[str, BinaryIO] = {}
        self.paths: list[Path] = []
        self.stack = ExitStack()

    def write(self, name: str, row: Any) -> None:
        if name not in self._open:
            self.paths.append(self._folder / f"{name}{self._ending}")
            self._open[name] = self.stack.enter_context(self.paths[-1].open("wb"))
        self._open[name].write(msgspec.json.encode(row) + b"\n")


def grouped(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Records with a ranking, by haystack."""
    ranked = sorted((r for r in records if r.ranked is not None), key=lambda r: r.haystack)
    return {name: list(its) for name, its in itertools.groupby(ranked, key=lambda r: r.haystack)}
