"""kill -9 in mid-run, a torn last line, a dying worker: what was done stays, and nothing is done twice.

The answers come from a slow model on a real loopback socket, so that the run is surely killed in the middle
and every call can be counted at the server.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runner.records import Record, read
from tests.loopback import Loopback, Step, say, wait_until
from tests.runner.running import (
    Ran,
    config,
    ended,
    haystacks,
    resume,
    run,
    same_report,
    started,
    timeless,
    whole_lines,
)

CONCURRENCY = 2
LINE = (
    *("+experiment=dry", "answerer=llm", "embedder=none", "lane=[lexical]", "competitor=[full_context]"),
    *("llm.model=test-model", "llm.api_key_env=null", f"answering.concurrency={CONCURRENCY}"),
)
QUESTIONS = [
    s.question.text for h in haystacks(config(*LINE, "llm.base_url=http://127.0.0.1:1")) for s in h.samples
]
SYSTEMS = 2


def quick(body: dict[str, Any]) -> Step:
    return say("Ana sold the kayak.")


def slow(body: dict[str, Any]) -> Step:
    return say("Ana sold the kayak.", delay=0.05)


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Loopback, Ran]]:
    """One server for all, since its address is a part of the config; and the run that nobody killed."""
    with Loopback([quick]) as server:
        ran = run(tmp_path_factory.mktemp("unbroken"), *LINE, f"llm.base_url={server.url}")
        assert ran.status == 0
        yield server, ran


@pytest.fixture
def unbroken(whole_run: tuple[Loopback, Ran]) -> Ran:
    return whole_run[1]


@pytest.fixture
def server(whole_run: tuple[Loopback, Ran]) -> Loopback:
    """Slow, and nothing counted yet."""
    server, _ = whole_run
    server.script = [slow]
    server.requests.clear()
    return server


def asked(server: Loopback) -> Counter[str]:
    """How often each question was put to the model: once per system, and one question stands there twice."""
    texts = [str(body["messages"][-1]["content"]) for body in server.requests]
    return +Counter({q: sum(f"Question: {q}\n" in text for text in texts) for q in QUESTIONS})


def folder_of(out: Path) -> Path:
    [folder] = (out / "dry").iterdir()
    return folder


def wait_for(out: Path, records: int) -> Path:
    """The run's folder, as soon as it holds so many whole records."""
    assert wait_until(lambda: any(whole_lines(p) >= records for p in out.glob("dry/*/records.jsonl")), 90)
    return folder_of(out)


def torn(folder: Path, cut: int = 20) -> None:
    path = folder / "records.jsonl"
    path.write_bytes(path.read_bytes()[:-cut])


def whole(folder: Path) -> list[Record]:
    """The records that can be read, whether or not the last line is torn."""
    path = folder / "records.jsonl"
    clean = folder.parent.parent / "clean.jsonl"
    clean.write_bytes(path.read_bytes()[: path.read_bytes().rfind(b"\n") + 1])
    return list(read(clean))


def test_killed_and_torn_twice_in_a_row_and_gone_on_with(
    server: Loopback, unbroken: Ran, tmp_path: Path
) -> None:
    out = tmp_path / "killed"
    with started(out, *LINE, f"llm.base_url={server.url}"):
        folder = wait_for(out, 7)
    torn(folder)
    first = whole(folder)
    assert 6 <= len(first) < 52

    with started(out, f"resume={folder}"):
        assert wait_until(lambda: whole_lines(folder / "records.jsonl") >= len(first) + 9, 60)
    torn(folder)
    second = whole(folder)
    assert [r.key for r in second[: len(first)]] == [r.key for r in first]
    assert len(first) < len(second) < 52

    server.script = [quick]
    again = resume(folder)
    assert again.status == 0 and f"resumed: {len(second)} records" in again.stderr
    same_as(unbroken, again)
    # each of two kills loses what was under way, and the torn record that had been answered
    lost = 2 * (2 * CONCURRENCY + 1)
    assert SYSTEMS * len(QUESTIONS) <= len(server.requests) <= SYSTEMS * len(QUESTIONS) + lost


def test_no_call_is_made_again_for_a_question_that_is_done(
    server: Loopback, unbroken: Ran, tmp_path: Path
) -> None:
    out = tmp_path / "killed"
    with started(out, *LINE, f"llm.base_url={server.url}", "engine.workers=2"):
        folder = wait_for(out, 20)
    done = Counter(r.question for r in whole(folder))
    assert done <= asked(server)
    time.sleep(0.2)  # what the killed process had sent is read by now
    server.requests.clear()
    server.script = [quick]
    again = resume(folder)
    assert again.status == 0
    assert asked(server) == Counter(SYSTEMS * QUESTIONS) - done
    same_as(unbroken, again)


def same_as(unbroken: Ran, again: Ran) -> None:
    """No question twice, every record and trace as in the run that nobody killed, and so the report."""
    assert len({r.key for r in again.records}) == len(again.records) == SYSTEMS * len(QUESTIONS)
    for name in ("records.jsonl", "trace.jsonl"):
        assert timeless((again.folder / name).read_bytes()) == timeless((unbroken.folder / name).read_bytes())
    assert same_report(again.report) == same_report(unbroken.report)


def test_a_worker_that_is_killed_stops_the_run_with_a_message_and_the_rest_follows(
    server: Loopback, unbroken: Ran, tmp_path: Path
) -> None:
    """As when the machine runs out of memory. Two processes recall, one question at a time is answered."""
    out = tmp_path / "killed"
    line = (*LINE, f"llm.base_url={server.url}", "engine.workers=2", "answering.concurrency=1")
    with started(out, *line) as process:
        folder = wait_for(out, 2)
        os.kill(workers(process.pid)[0], signal.SIGKILL)
        ran = ended(process)
    assert ran.status == 2 and "a worker process died" in ran.stderr and "Traceback" not in ran.stderr
    kept = len(whole(folder))
    assert 2 <= kept < 52
    server.script = [quick]
    again = resume(folder, *LINE, f"llm.base_url={server.url}", "tracker=none")
    assert again.status == 0 and f"resumed: {kept} records" in again.stderr
    same_as(unbroken, again)


def workers(parent: int) -> list[int]:
    """Processes that work for this one: its children that were spawned for the engine."""
    found = subprocess.run(
        ["ps", "-ww", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True
    )
    rows = [line.split(None, 2) for line in found.stdout.splitlines()]
    return [int(pid) for pid, ppid, args in rows if int(ppid) == parent and "spawn_main" in args]


def test_a_run_that_is_still_at_work_is_not_joined(server: Loopback, tmp_path: Path) -> None:
    """Two that go on with one run would ask every question twice."""
    with started(tmp_path, *LINE, f"llm.base_url={server.url}"):
        folder = wait_for(tmp_path, 1)
        again = resume(folder)
    assert again.status == 2 and "at work" in again.stderr


def test_interrupted_by_a_person_it_says_how_to_go_on(
    server: Loopback, unbroken: Ran, tmp_path: Path
) -> None:
    with started(tmp_path / "stopped", *LINE, f"llm.base_url={server.url}", "engine.workers=2") as process:
        folder = wait_for(tmp_path / "stopped", 3)
        os.killpg(process.pid, signal.SIGINT)  # what Ctrl-C does
        ran = ended(process)
    assert ran.status == 1 and "Traceback" not in ran.stderr
    assert f"go on with: python -m runner resume={folder}\n" in ran.stderr
    server.script = [quick]
    again = resume(folder)
    assert again.status == 0
    same_as(unbroken, again)
