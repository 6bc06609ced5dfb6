"""What the workers of the engine's tests do. Imports little: each worker is a fresh interpreter."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from components.types import ComponentError

KNOWN = "as imported"


def knows(context: str) -> Callable[[int], tuple[int, int, str, str]]:
    """start(): each item says what it got, where it ran and what its process knows of this module."""
    return lambda item: (item, os.getpid(), context, KNOWN)


def slow_first(_: None) -> Callable[[int], int]:
    def work(item: int) -> int:
        time.sleep(0.2 if item % 4 == 0 else 0.0)
        return item

    return work


def dies(_: None) -> Callable[[int], int]:
    def work(item: int) -> int:
        if item == 5:
            os._exit(3)
        return item

    return work


def fails(_: None) -> Callable[[int], int]:
    def work(item: int) -> int:
        if item == 3:
            raise ComponentError("dense", "no vector for text", "item 3")
        return item

    return work


def stays(folder: str) -> Callable[[int], None]:
    """Leaves its process id behind and is then busy for longer than any test."""

    def work(item: int) -> None:
        (Path(folder) / f"{os.getpid()}").touch()
        time.sleep(60 if item else 0)

    return work
