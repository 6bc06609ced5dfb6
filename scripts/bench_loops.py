"""The loops that our stores are measured against: no framework, the least code that does the same work.

    python scripts/bench_loops.py fts5 FILE.json --workers 2 --vectors FILE.static.f32

Pinned on purpose: a ratio to `fts5` means the same next year. Every spawned process reads the file, splits it
with msgspec and takes every n-th item. Per haystack: one index of its own over "{role}: {content}", the best
50 for the OR of all words of the question, the best 50 by exact cosine over precomputed vectors, RRF (60).

    floor     parse, and split every text into words: what any design must do
    fts5      SQLite FTS5 `porter unicode61`, contentless, in memory
    tantivy   in memory, en_stem, one thread
    bm25s     its own tokenizer, no stemmer (it needs PyStemmer for that)

Prints one JSON line: {"work_seconds": from the first byte to the last ranking, "haystacks", "questions",
"hit@10": share of the answerable questions with a gold turn among the first ten, "fts hit@10": full text alone}.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import multiprocessing
import re
import sqlite3
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

TOP, RRF, DIM = 50, 60, 256
Search = Callable[[Sequence[str], str], Sequence[int]]  # texts, question -> the best rows
Task = tuple[str, str, str, int, int]  # loop, file, vectors, which share, of how many


class Turn(msgspec.Struct):
    role: str
    content: str
    has_answer: bool = False


class Item(msgspec.Struct):
    question_id: str
    question: str
    haystack_sessions: list[list[Turn]]


class Span(msgspec.Struct):
    """Where the vectors of an item begin, and of how many texts they are; the question's stand last."""

    start: int
    texts: int


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def fts5(texts: Sequence[str], question: str) -> Sequence[int]:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE d USING fts5(text, content='', tokenize='porter unicode61')")
    connection.executemany("INSERT INTO d(rowid, text) VALUES (?, ?)", enumerate(texts))
    query = " OR ".join(f'"{word}"' for word in words(question))
    rows = connection.execute(f"SELECT rowid FROM d WHERE d MATCH ? ORDER BY rank LIMIT {TOP}", (query,))
    found = [row for (row,) in rows]
    connection.close()
    return found


def tantivy(texts: Sequence[str], question: str) -> Sequence[int]:
    import tantivy as t

    builder = t.SchemaBuilder()
    builder.add_integer_field("row", stored=True)
    builder.add_text_field("text", tokenizer_name="en_stem")
    index = t.Index(builder.build())
    writer = index.writer(15_000_000, 1)
    for row, text in enumerate(texts):
        writer.add_document(t.Document(row=row, text=text))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()
    query = index.parse_query(" ".join(words(question)), ["text"])
    return [searcher.doc(place)["row"][0] for _, place in searcher.search(query, TOP).hits]


def bm25s(texts: Sequence[str], question: str) -> Sequence[int]:
    import bm25s as b

    index = b.BM25()
    index.index(b.tokenize(list(texts), stopwords=None, show_progress=False), show_progress=False)
    asked = b.tokenize([question], stopwords=None, show_progress=False)
    found, scores = index.retrieve(asked, k=min(TOP, len(texts)), show_progress=False)
    return [int(row) for row, score in zip(found[0], scores[0], strict=True) if score > 0]


LOOPS: dict[str, Search] = {"fts5": fts5, "tantivy": tantivy, "bm25s": bm25s}


def fused(rankings: Sequence[Sequence[int]]) -> list[int]:
    score: dict[int, float] = {}
    for ranking in rankings:
        for rank, row in enumerate(ranking, start=1):
            score[row] = score.get(row, 0.0) + 1 / (RRF + rank)
    return sorted(score, key=lambda row: (-score[row], row))


def nearest(vectors: NDArray[np.float32]) -> Sequence[int]:
    best: list[int] = np.argsort(-(vectors[:-1] @ vectors[-1]), kind="stable")[:TOP].tolist()
    return best


def share(task: Task) -> tuple[int, int, int, int]:
    """(haystacks, answerable questions, of them found, found by full text alone) of one process."""
    name, file, vectors, which, of = task
    items = msgspec.json.decode(Path(file).read_bytes(), type=list[msgspec.Raw])
    spans = msgspec.json.decode(Path(f"{vectors}.json").read_bytes(), type=list[Span]) if vectors else []
    haystacks = questions = found = lexical = 0
    for number in range(which, len(items), of):
        item = msgspec.json.decode(items[number], type=Item)
        turns = [turn for session in item.haystack_sessions for turn in session]
        texts = [f"{turn.role}: {turn.content}" for turn in turns]
        haystacks += 1
        if name == "floor":
            for text in texts:
                text.split()
            continue
        rankings = [LOOPS[name](texts, item.question)]
        if spans:
            rankings.append(nearest(_vectors(vectors, spans[number])))
        first = fused(rankings)[:10]
        gold = {row for row, turn in enumerate(turns) if turn.has_answer}
        questions += bool(gold)
        found += bool(gold & set(first))
        lexical += bool(gold & set(rankings[0][:10]))
    return haystacks, questions, found, lexical


def _vectors(path: str, span: Span) -> NDArray[np.float32]:
    count = (span.texts + 1) * DIM
    return np.fromfile(path, np.float32, count, offset=span.start * DIM * 4).reshape(-1, DIM)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("loop", choices=["floor", *LOOPS])
    parser.add_argument("file")
    parser.add_argument("--vectors", default="")
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    if args.loop in ("tantivy", "bm25s") and importlib.util.find_spec(args.loop) is None:
        print(json.dumps({"missing": f"not installed (pip install {args.loop})"}))
        return
    tasks: list[Task] = [
        (args.loop, args.file, args.vectors, which, args.workers) for which in range(args.workers)
    ]
    start = time.perf_counter()
    with multiprocessing.get_context("spawn").Pool(args.workers) as pool:
        parts = pool.map(share, tasks, chunksize=1)
    seconds = time.perf_counter() - start
    haystacks, questions, found, lexical = (sum(column) for column in zip(*parts, strict=True))
    out: dict[str, Any] = {"work_seconds": seconds, "haystacks": haystacks, "questions": questions}
    if questions:
        out |= {"hit@10": found / questions, "fts hit@10": lexical / questions}
    print(json.dumps(out))


if __name__ == "__main__":
    main()
