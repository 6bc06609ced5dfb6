"""BEIR folder of a dataset: what any retrieval library can read, each haystack a namespace of its own.

    corpus.jsonl     {"_id": "h0003-d00001", "title": "", "text": "...", "metadata": {"haystack": ...}}
    queries.jsonl    {"_id": "h0003-q0012", "text": "...", "metadata": {"haystack": "h0003", "asked": "..."}}
    qrels/test.tsv   query-id  corpus-id  score

Ids are ours, not the source's, whose names may tell the gold. A question is asked of its own haystack alone:
a ranking over the whole corpus is another, harder task. Questions that cannot be answered, or without gold,
have no qrels. Documents are those that a system gets: unit and text form are the dataset's settings.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from components.types import Haystack
from runner.drafts import minute


def write(haystacks: Iterable[Haystack], folder: Path) -> list[Path]:
    """Streams: one haystack in memory at a time."""
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    corpus, queries, qrels = folder / "corpus.jsonl", folder / "queries.jsonl", folder / "qrels" / "test.tsv"
    with corpus.open("wb") as told, queries.open("wb") as asked, qrels.open("w", encoding="utf-8") as judged:
        judged.write("query-id\tcorpus-id\tscore\n")
        for haystack in haystacks:
            told.writelines(map(_line, _documents(haystack)))
            asked.writelines(map(_line, _questions(haystack)))
            judged.writelines(f"{question}\t{name}\t{grade}\n" for question, name, grade in _gold(haystack))
    return [corpus, queries, qrels]


def _line(row: Any) -> bytes:
    return msgspec.json.encode(row) + b"\n"


def _documents(haystack: Haystack) -> Iterable[dict[str, Any]]:
    for document in haystack.documents:
        metadata = {"haystack": haystack.id, "created": minute(document.created)}
        yield {
            "_id": f"{haystack.id}-{document.id}",
            "title": "",
            "text": document.text,
            "metadata": metadata,
        }


def _questions(haystack: Haystack) -> Iterable[dict[str, Any]]:
    for sample in haystack.samples:
        question = sample.question
        metadata = {"haystack": haystack.id, "asked": minute(question.asked)}
        yield {"_id": question.id, "text": question.text, "metadata": metadata}


def _gold(haystack: Haystack) -> Iterable[tuple[str, str, int]]:
    for sample in haystack.samples:
        if sample.gold.answerable:
            for name, grade in sample.gold.qrels.items():
                yield sample.question.id, f"{haystack.id}-{name}", grade
