"""Control: a memory that recalls nothing. What it scores is the floor of every measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from components.types import Document, Question, Recall, Scope, Usage


@dataclass(frozen=True)
class Null:
    def open(self, scope: Scope) -> NullMemory:
        return NullMemory()


class NullMemory:
    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Holds nothing."""

    def add(self, documents: Sequence[Document]) -> Usage:
        return Usage()

    def recall(self, question: Question, k: int) -> Recall:
        return Recall(())
