"""Ears on the wire: all that a system, an answerer or a chat model receives, kept as text to be searched.

A watched component behaves as the one inside; what it is handed is written down first. Judges are not
watched: they are meant to see the gold.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import msgspec

from components.types import (
    Answer,
    Answerer,
    Document,
    Hit,
    Kind,
    Llm,
    Memory,
    Question,
    Recall,
    Reply,
    Scope,
    System,
    Usage,
)


@dataclass
class Ears:
    """`heard`: (who, text) of everything handed over, free text and structured fields alike."""

    heard: list[tuple[str, str]] = field(default_factory=list)

    def hear(self, who: str, value: Any) -> None:
        self.heard.append((who, msgspec.json.encode(value).decode()))


@dataclass(frozen=True)
class WatchedSystem:
    name: str
    system: System
    ears: Ears

    def open(self, scope: Scope) -> WatchedMemory:
        self.ears.hear(self.name, scope)
        return WatchedMemory(self.name, self.system.open(scope), self.ears)


@dataclass(frozen=True)
class WatchedMemory:
    name: str
    memory: Memory
    ears: Ears

    def __enter__(self) -> Self:
        self.memory.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.memory.__exit__(kind, error, trace)

    def add(self, documents: Sequence[Document]) -> Usage:
        self.ears.hear(self.name, documents)
        return self.memory.add(documents)

    def recall(self, question: Question, k: int) -> Recall:
        self.ears.hear(self.name, question)
        return self.memory.recall(question, k)


@dataclass(frozen=True)
class WatchedLlm:
    llm: Llm
    ears: Ears

    @property
    def model(self) -> str:
        return self.llm.model

    def ask(self, system: str, user: str, schema: Mapping[str, Any] | None) -> Reply:
        self.ears.hear("prompt", [system, user, schema])
        return self.llm.ask(system, user, schema)


@dataclass(frozen=True)
class WatchedAnswerer:
    answerer: Answerer
    ears: Ears

    @property
    def kind(self) -> Kind:
        return self.answerer.kind

    def answer(self, question: Question, hits: Sequence[Hit]) -> Answer:
        self.ears.hear("answerer", [question, hits])
        return self.answerer.answer(question, hits)


def watched_answerer(answerer: Answerer, ears: Ears) -> Answerer:
    """The answerer, and the chat model inside it where it has one, with ears."""
    if dataclasses.is_dataclass(answerer) and hasattr(answerer, "llm") and not isinstance(answerer, type):
        answerer = dataclasses.replace(answerer, llm=WatchedLlm(answerer.llm, ears))
    return WatchedAnswerer(answerer, ears)
