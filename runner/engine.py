"""Haystacks side by side in spawned processes; results in the order of the work, whatever finishes first.

The only module that knows of processes. Spawned, never forked: LanceDB is not fork-safe (lancedb#1393).
Nothing of a component is pickled: a worker gets the resolved config and builds its own.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from components.types import FatalError

A = TypeVar("A")
B = TypeVar("B")
Start = Callable[[Any], Callable[[Any], Any]]  # called once in a worker: context -> function of one work item

_work: Callable[[Any], Any] | None = None


@dataclass(frozen=True)
class Local:
    """`workers` processes of this machine; 1 works in this process and starts none."""

    workers: int

    def __post_init__(self) -> None:
        if self.workers < 1:
            raise ValueError(f"engine.workers={self.workers}: at least 1")

    def map(self, start: Start, context: Any, items: Iterable[Any]) -> Iterator[Any]:
        """start(context)(item) for every item, in order. At most 2 x workers items are under way."""
        if self.workers == 1:
            work = start(context)
            yield from (work(item) for item in items)
            return
        yield from self._spread(start, context, iter(items))

    def _spread(self, start: Start, context: Any, items: Iterator[Any]) -> Iterator[Any]:
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(self.workers, spawn, _begin, (start, context)) as pool:
            try:
                yield from ordered(pool, _one, items, 2 * self.workers)
            except BrokenProcessPool as error:
                raise FatalError(
                    "engine", "a worker process died", "out of memory, or a crash in a native library"
                ) from error


def ordered(
    pool: Executor, work: Callable[[A], B], items: Iterable[A], ahead: int
) -> Generator[B, None, None]:
    """work(item) in the pool, results in the order of the items, at most `ahead` under way."""
    source = iter(items)
    waiting: deque[Future[B]] = deque()
    try:
        waiting.extend(pool.submit(work, item) for item in islice(source, ahead))
        while waiting:
            result = waiting.popleft().result()
            waiting.extend(pool.submit(work, item) for item in islice(source, 1))
            yield result
    finally:
        for future in waiting:
            future.cancel()


def collect_less() -> None:
    """Rankings are many small objects without cycles: Python's own thresholds cost a quarter of a warm run."""
    gc.set_threshold(50_000, 20, 10)


def _begin(start: Start, context: Any) -> None:
    global _work
    collect_less()
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # the other workers have the other cores
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the run, which then ends its workers
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _work = start(context)


def _end_with_parent() -> None:
    """A worker of a run that was killed would otherwise wait for its next item for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _one(item: Any) -> Any:
    assert _work is not None
    return _work(item)
