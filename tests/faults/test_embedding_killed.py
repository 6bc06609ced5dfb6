"""kill -9 while texts are embedded, and the same line again: it goes on, and no text is embedded twice.

The witness is outside of what is killed: the endpoint notes every text of every request. What one kill may
cost is one step of the vector cache per worker (64 texts, here one request), sent but not yet written down.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from runner.records import Record
from tests.component.dataset.shapes import qa, real_data, talk, written
from tests.component.llama.files import made
from tests.loopback import Loopback, Step, embeddings, wait_until
from tests.runner.running import Ran, config, haystacks, resume, run, started, timeless

STEP = 64
LINE = ("+experiment=dry", "dataset=locomo", "lane=[dense]", "answerer=none", "judge=[]")
OPENAI = (*LINE, "embedder=openai", "embedder.model=m", "embedder.api_key_env=null")
GGUF = (*LINE, "embedder=gguf_minilm")
TALKS, TURNS, ASKED = 4, 150, 3  # 3 requests and 3 questions a talk


def numbers(text: str) -> list[float]:
    """A vector of a text's own."""
    return [float(byte) + 1 for byte in hashlib.sha256(text.encode()).digest()[:16]]


def endpoint(delay: float) -> Any:
    def step(body: dict[str, Any]) -> Step:
        return embeddings([numbers(text) for text in body["input"]], delay=delay)

    return step


def a_talk(number: int) -> dict[str, Any]:
    """Every text of it names its talk, so that a request tells which talk was at work."""
    turns = [
        {"speaker": "Ana", "dia_id": f"D1:{turn}", "text": f"talk {number}: thing {turn} is in the shed"}
        for turn in range(1, TURNS + 1)
    ]
    asked = [
        qa(question=f"talk {number}: where is thing {n}?", evidence=[f"D1:{n}"]) for n in range(1, ASKED + 1)
    ]
    empty = {f"session_{n}": [] for n in (3, 10)}
    return {**talk(asked, session_1=turns, **empty), "sample_id": f"t{number}"}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    return written(folder, [a_talk(number) for number in range(TALKS)], "talks.json").parent


@pytest.fixture(scope="module")
def server() -> Iterator[Loopback]:
    """One for all: its address is a part of the config."""
    with Loopback([endpoint(0.0)]) as running:
        yield running


def texts_of(*line: str) -> set[str]:
    """Oracle: every document of the file and every question, as the dataset gives them."""
    found = haystacks(config(*line))
    documents = {document.text for haystack in found for document in haystack.documents}
    return documents | {sample.question.text for haystack in found for sample in haystack.samples}


def killed_after(requests: int, out: Path, server: Loopback, line: Sequence[str]) -> list[list[str]]:
    """Runs `line`, kills its whole process group when it has sent so many requests; their texts."""
    before = len(server.requests)
    with started(out, *line):
        assert wait_until(lambda: len(server.requests) >= before + requests, 90)
    time.sleep(0.3)  # what the killed process had sent is read by now
    return [body["input"] for body in server.requests[before:]]


def under_way(requests: Sequence[Sequence[str]]) -> set[str]:
    """The last request of each talk: a worker sends the next one when this one is written down."""
    last = {match[1]: texts for texts in requests if (match := re.search(r"talk (\d+)", texts[0]))}
    return {text for texts in last.values() for text in texts}


def sent_twice(parts: Sequence[Sequence[Sequence[str]]], n: int) -> set[str]:
    """What run number n sent and a later run sent again."""
    later = {text for part in parts[n + 1 :] for texts in part for text in texts}
    return later & {text for texts in parts[n] for text in texts}


@pytest.fixture(scope="module")
def unbroken(server: Loopback, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    server.script = [endpoint(0.0)]
    ran = run(tmp_path_factory.mktemp("unbroken"), *line_at(server, data))
    assert ran.status == 0
    return ran


def line_at(server: Loopback, data: Path) -> tuple[str, ...]:
    here = (f"data_dir={data}", "dataset.path=talks.json")
    return (*OPENAI, *here, f"embedder.base_url={server.url}", f"embedder.batch={STEP}")


@pytest.mark.parametrize(("how", "workers"), [("the same line again", 1), ("resumed", 2)])
def test_killed_twice_and_gone_on_with(
    how: str, workers: int, unbroken: Ran, server: Loopback, data: Path, tmp_path: Path
) -> None:
    line = (*line_at(server, data), f"engine.workers={workers}")
    server.requests.clear()
    server.script = [endpoint(0.1)]
    parts = [killed_after(5, tmp_path, server, line)]
    [folder] = (tmp_path / "dry").iterdir()
    parts.append(killed_after(4, tmp_path, server, (f"resume={folder}",) if how == "resumed" else line))
    server.script = [endpoint(0.0)]
    before = len(server.requests)
    again = resume(folder) if how == "resumed" else run(tmp_path, *line)
    parts.append([body["input"] for body in server.requests[before:]])

    assert again.status == 0 and all(parts)
    assert {text for part in parts for texts in part for text in texts} == texts_of(*line)
    for n, part in enumerate(parts):
        assert max(Counter(text for texts in part for text in texts).values()) == 1, "twice in one run"
        assert sent_twice(parts, n) <= under_way(part), "what was written down is not asked for again"
        assert len(sent_twice(parts, n)) <= workers * STEP
    for name in ("records.jsonl", "trace.jsonl"):
        assert timeless((again.folder / name).read_bytes()) == timeless((unbroken.folder / name).read_bytes())


def test_the_next_run_embeds_nothing(unbroken: Ran, server: Loopback, data: Path) -> None:
    out, before = unbroken.folder.parent.parent, len(server.requests)
    again = run(out, *line_at(server, data), "cache=null")  # no ranking is looked up: each text is wanted
    assert again.status == 0 and again.folder != unbroken.folder and len(server.requests) == before


@real_data("locomo/locomo10.json")
@pytest.mark.real_data
@pytest.mark.endurance
def test_locomo_killed_and_gone_on_with(server: Loopback, tmp_path: Path) -> None:
    """All its turns, 80 of its questions; one worker, so that the last request is the one under way."""
    few = ("subset.rule=stratified", "subset.n=20")
    line = (*OPENAI, *few, f"embedder.base_url={server.url}", f"embedder.batch={STEP}")
    server.requests.clear()
    server.script = [endpoint(0.01)]
    first = killed_after(60, tmp_path, server, line)
    server.script = [endpoint(0.0)]
    before = len(server.requests)
    again = run(tmp_path, *line)
    parts = [first, [body["input"] for body in server.requests[before:]]]
    documents = {d.text for haystack in haystacks(config(*line)) for d in haystack.documents}
    asked = {record.question for record in again.records}
    assert again.status == 0 and len(asked) == 80 and len(documents) > 5000
    assert {text for part in parts for texts in part for text in texts} == documents | asked
    assert all(max(Counter(t for texts in part for t in texts).values()) == 1 for part in parts)
    assert sent_twice(parts, 0) <= set(first[-1])


@real_data("locomo/locomo10.json")
@pytest.mark.real_data
@pytest.mark.gguf
def test_locomo_by_a_model_on_this_machine(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> None:
    """The witness is the cache's table, read while nobody lives: what it holds is not computed again."""
    path = made(tmp_path_factory.getbasetemp())
    line = (*GGUF, f"embedder.path={path}", "subset.rule=first_n", "subset.n=10")
    with started(tmp_path, *line):
        assert wait_until(lambda: rows(tmp_path) >= 2 * STEP, 120)
    before = rows(tmp_path)
    again = run(tmp_path, *line)
    its = {record.haystack for record in again.records}
    documents = {d.text for h in haystacks(config(*line)) if h.id in its for d in h.documents}
    whole = documents | {record.question for record in again.records}
    assert again.status == 0 and 2 * STEP <= before < len(whole) == rows(tmp_path)
    notes = again.report["dataset"]["notes"]
    assert notes["embedder_embedded"] == len(whole) - before
    whole_run = run(tmp_path, *line, "embedder.cache=null", "cache=null", "engine.workers=2")
    for one, other in zip(again.records, whole_run.records, strict=True):
        assert one.key == other.key  # vectors of another batch differ in the last digits
        assert scores(one) == pytest.approx(scores(other), abs=2e-3)


def scores(record: Record) -> list[float]:
    assert record.ranked
    return [row.score for row in record.ranked]


def rows(out: Path) -> int:
    file = out / "cache/vectors.sqlite"
    if not file.exists():
        return 0
    with closing(sqlite3.connect(file)) as table:
        found: int = table.execute("SELECT COUNT(*) FROM vectors").fetchone()[0]
        return found
