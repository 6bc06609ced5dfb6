"""The engine with real processes: order, how far it runs ahead, what a worker knows, and one that dies."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.types import ComponentError, FatalError
from runner.engine import Local, ordered
from tests.loopback import wait_until
from tests.runner import works


class Counted:
    """Items that tell how many were taken."""

    def __init__(self, n: int) -> None:
        self._n, self.taken = n, 0

    def __iter__(self) -> Iterator[int]:
        for item in range(self._n):
            self.taken += 1
            yield item


def test_workers_are_spawned_and_know_only_what_they_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(works, "KNOWN", "changed here: a fork would see it")
    rows = list(Local(2).map(works.knows, "given", range(12)))
    assert [row[0] for row in rows] == list(range(12))
    assert {row[2:] for row in rows} == {("given", "as imported")}
    assert os.getpid() not in {row[1] for row in rows}
    assert len({row[1] for row in rows}) <= 2


def test_one_worker_is_this_process() -> None:
    assert {row[1] for row in Local(1).map(works.knows, None, range(3))} == {os.getpid()}


def test_the_order_is_that_of_the_items_and_two_per_worker_are_under_way() -> None:
    items, ahead = Counted(16), []
    for place, item in enumerate(Local(2).map(works.slow_first, None, items)):
        assert item == place
        ahead.append(items.taken - place)
    assert len(ahead) == 16 and max(ahead) <= 2 * 2 + 1  # the one in hand, and four behind it


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from([0.0, 0.002]), max_size=12), st.integers(1, 5))
def test_ordered_keeps_order_and_distance_whatever_takes_long(pauses: list[float], ahead: int) -> None:
    items, started = Counted(len(pauses)), []

    def work(item: int) -> int:
        started.append(item)
        time.sleep(pauses[item])
        return item

    with ThreadPoolExecutor(3) as pool:
        for place, item in enumerate(ordered(pool, work, items, ahead)):
            assert item == place
            assert items.taken - place <= ahead + 1
    assert sorted(started) == list(range(len(pauses)))  # each once


def test_who_stops_reading_stops_the_work() -> None:
    items = Counted(1000)
    with ThreadPoolExecutor(2) as pool:
        results = ordered(pool, lambda item: item, items, 4)
        next(results)
        results.close()
    assert items.taken <= 5


def test_a_worker_that_dies_is_a_message_and_what_came_before_it_stays() -> None:
    got = []
    with pytest.raises(FatalError, match="a worker process died") as caught:
        for item in Local(2).map(works.dies, None, range(40)):
            got.append(item)
    assert caught.value.stage == "engine" and "memory" in caught.value.detail
    assert got == list(range(len(got))) and len(got) <= 5


def test_an_error_of_a_worker_arrives_with_its_stage_and_reason() -> None:
    with pytest.raises(ComponentError) as caught:
        list(Local(2).map(works.fails, None, range(8)))
    assert (caught.value.stage, caught.value.reason, caught.value.detail) == (
        "dense",
        "no vector for text",
        "item 3",
    )


@pytest.mark.parametrize("workers", [0, -1])
def test_less_than_one_worker_is_refused(workers: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Local(workers)


SCRIPT = """
import sys
from runner.engine import Local
from tests.runner import works

if __name__ == "__main__":
    list(Local(2).map(works.stays, sys.argv[1], range(4)))
"""


def test_workers_end_with_the_process_that_started_them(tmp_path: Path) -> None:
    """kill -9 of the run leaves nobody behind who holds a haystack in memory."""
    script = tmp_path / "main.py"
    script.write_text(SCRIPT, "utf-8")
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    parent = subprocess.Popen(
        [sys.executable, str(script), str(tmp_path)], env=env, cwd=tmp_path, stderr=subprocess.DEVNULL
    )
    try:
        assert wait_until(lambda: len(_pids(tmp_path)) == 2, 30)
        workers = _pids(tmp_path)
    finally:
        parent.kill()
        parent.wait()
    assert wait_until(lambda: not any(_alive(pid) for pid in workers), 10)


def _pids(folder: Path) -> list[int]:
    return [int(path.name) for path in folder.iterdir() if path.name.isdigit()]


def _alive(pid: int) -> bool:
    """Running, and not merely waiting to be collected."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
