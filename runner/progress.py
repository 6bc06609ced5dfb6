"""What a person sees while a run works: haystacks, questions, rate, time left, invalid and dollars so far."""

from __future__ import annotations

from collections.abc import Collection
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from runner.prices import dollars
from runner.records import Record


class Progress:
    """A bar on stderr; on a pipe nothing moves and nothing is printed."""

    def __init__(self, console: Console, title: str) -> None:
        self._bar = Bar(
            TextColumn(f"[bold]{title}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("haystacks  {task.fields[text]}"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task(title, total=None, text="")
        self._questions = self._invalid = self._expected = 0
        self._dollars = 0.0

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def start(self, haystacks: int, finished: Collection[object]) -> None:
        self._bar.update(self._task, total=haystacks)
        if finished:
            self._bar.console.print(f"resumed: {len(finished)} records are there already")

    def haystack(self, records: int) -> None:
        """A haystack was recalled; its records are still to be answered and written."""
        self._expected += records
        self._bar.advance(self._task)

    def advance(self, record: Record) -> None:
        """A record was written."""
        self._questions += 1
        self._invalid += record.error is not None or any(
            v.label == "invalid" for verdicts in record.verdicts.values() for v in verdicts
        )
        self._dollars += dollars(record) or 0.0
        task = self._bar.tasks[0]
        rate = self._questions / task.elapsed if task.elapsed else 0.0
        text = (
            f"{self._questions}/{self._expected} questions  {rate:.1f}/s  "
            f"invalid {self._invalid}  ${self._dollars:.4f}"
        )
        self._bar.update(self._task, text=text)
