from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from components.files.kept import NAME, Kept
from components.types import ComponentError, Vectors
from tests.loopback import wait_until

TEXTS = [f"turn {n}" for n in range(200)]
# Writes down each text whose vector is there, then stands still in the third step, to be killed in it.
CHILD = """
import json, sys, time
import numpy as np
from components.files.kept import Kept
folder, log, stand, count = sys.argv[1], open(sys.argv[2], "a"), sys.argv[3] == "stand", int(sys.argv[4])
steps = 0
def compute(texts):
    global steps
    steps += 1
    if stand and steps == 3:
        print("standing", flush=True)
        time.sleep(60)
    print(json.dumps(list(texts)), file=log, flush=True)
    return np.array([[len(t), float(t.split()[1])] for t in texts], np.float32)
rows, found = Kept(folder, {"model": "m"}).vectors([f"turn {n}" for n in range(count)], compute)
assert [float(row[1]) for row in rows] == list(range(count))
print("found", found)
"""


class Counting:
    """Two numbers per text, and every text that was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return np.array([[len(text), len(self.asked)] for text in texts], np.float32)


def child(folder: Path, mode: str, count: int = 200) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", CHILD, str(folder / "kept"), str(folder / "log"), mode, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_nothing_is_computed_twice(tmp_path: Path) -> None:
    kept, compute = Kept(str(tmp_path / "new/folder"), {"model": "m"}), Counting()
    first, found = kept.vectors([*TEXTS[:5], *TEXTS[:5]], compute)
    assert found == 0 and compute.asked == TEXTS[:5]
    assert all(np.array_equal(a, b) for a, b in zip(first[:5], first[5:], strict=True))
    again, found = kept.vectors(TEXTS[3:7], compute)
    assert found == 2 and compute.asked == TEXTS[:7]
    assert np.array_equal(again[0], first[3])
    assert kept.vectors([], compute) == ([], 0)


def test_all_that_decides_a_vector_is_in_its_key(tmp_path: Path) -> None:
    """F60: the same words as question and as turn, another model, another option."""
    ways = [{"model": "a", "prefix": ""}, {"model": "a", "prefix": "query: "}, {"model": "b", "prefix": ""}]
    ways += [{"model": "a", "prefix": "", "context": 512}]
    compute = Counting()
    for way in ways:
        assert Kept(str(tmp_path), way).vectors(["Ana", "Ana \ud83c", "Ana "], compute)[1] == 0
    assert len(compute.asked) == 12
    assert Kept(str(tmp_path), ways[0]).vectors(["Ana  ", "ana", "An\0a"], compute)[1] == 0
    assert Kept(str(tmp_path), dict(reversed(ways[0].items()))).vectors(["Ana"], compute)[1] == 1


def test_what_was_made_before_a_fault_stays(tmp_path: Path) -> None:
    made = Counting()

    def failing(texts: Sequence[str]) -> Vectors:
        if "turn 130" in texts:
            raise ComponentError("embed", "no known token")
        return made(texts)

    with pytest.raises(ComponentError, match="no known token"):
        Kept(str(tmp_path), {}).vectors(TEXTS, failing)
    compute = Counting()
    assert Kept(str(tmp_path), {}).vectors(TEXTS, compute)[1] == len(made.asked) == 128


def test_killed_and_gone_on(tmp_path: Path) -> None:
    """kill -9 in the middle of a step: the next run does the rest, and nothing twice."""
    with child(tmp_path, "stand") as process:
        assert process.stdout and process.stdout.readline() == "standing\n"
        os.kill(process.pid, signal.SIGKILL)
    with child(tmp_path, "go") as process:
        out, problems = process.communicate(timeout=60)
        assert process.returncode == 0, problems
    done = [text for line in (tmp_path / "log").read_text().splitlines() for text in json.loads(line)]
    assert sorted(done) == sorted(TEXTS) and out == "found 128\n"


def test_a_torn_tail_is_left_out(tmp_path: Path) -> None:
    """The write-ahead log as a killed machine may leave it: its whole part counts."""
    with child(tmp_path, "stand") as process:
        assert process.stdout and process.stdout.readline() == "standing\n"
        os.kill(process.pid, signal.SIGKILL)
    log = tmp_path / "kept" / f"{NAME}-wal"
    assert log.stat().st_size > 1000
    with log.open("r+b") as file:
        file.truncate(log.stat().st_size - 500)
    compute = Counting()
    rows, found = Kept(str(tmp_path / "kept"), {"model": "m"}).vectors(TEXTS, compute)
    assert found == 64 and len(compute.asked) == 136
    assert [float(row[1]) for row in rows[:64]] == list(range(64))


def test_several_processes_at_once(tmp_path: Path) -> None:
    started = [child(tmp_path, "go", 300) for _ in range(4)]
    for process in started:
        with process:
            _, problems = process.communicate(timeout=60)
            assert process.returncode == 0, problems
    with closing(sqlite3.connect(tmp_path / "kept" / NAME)) as table:
        assert table.execute("SELECT COUNT(*) FROM vectors").fetchone() == (300,)
        assert table.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_several_threads_at_once(tmp_path: Path) -> None:
    errors: list[BaseException] = []

    def one() -> None:
        try:
            Kept(str(tmp_path), {}).vectors(TEXTS, Counting())
        except ComponentError as error:
            errors.append(error)

    threads = [threading.Thread(target=one) for _ in range(4)]
    for thread in threads:
        thread.start()
    assert wait_until(lambda: not any(thread.is_alive() for thread in threads), 30) and not errors


def test_a_file_that_is_none(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text("no database, but long enough to be taken for one " * 20)
    with pytest.raises(ComponentError, match=r"cache unusable .*delete it"):
        Kept(str(tmp_path), {}).vectors(["Ana"], Counting())
    assert Kept(str(tmp_path / "a/b"), {}).problems() == []
    (tmp_path / "file").touch()
    assert "cannot write" in Kept(str(tmp_path / "file" / "b"), {}).problems()[0]
