"""Control: recalls every document, in the order of time (SPEC A18)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from components.types import Document, Hit, Question, Recall, Scope, Usage

_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class FullContext:
    def open(self, scope: Scope) -> FullContextMemory:
        return FullContextMemory()


class FullContextMemory:
    """Its order is no ranking: in retrieval it is unscored."""

    def __init__(self) -> None:
        self._documents: list[Document] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._documents = []

    def add(self, documents: Sequence[Document]) -> Usage:
        added = [*self._documents, *documents]
        self._documents = sorted(added, key=lambda d: (d.created or _NEVER, d.id))
        return Usage()

    def recall(self, question: Question, k: int) -> Recall:
        """All of them, whatever `k` is; those without a date first."""
        return Recall(tuple(Hit(document, 0.0) for document in self._documents), ranked=False)
