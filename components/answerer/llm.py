"""A model as answerer: it sees the question, its date and the recalled documents with theirs. kind: model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from components.text.fill import fields, fill, written_day
from components.types import Answer, Hit, Kind, Question
from components.types import Llm as ChatModel


@dataclass(frozen=True)
class Llm:
    """`user` with {question} {asked} {context}; `context_line` with {position} {date} {content}, one per hit.

    `empty_context` stands for no hits, `unknown_date` for a date that is not there. A document's date is when
    it happened, else when it was written. Errors are a status with a reason, never a text.
    """

    llm: ChatModel
    system: str
    user: str
    context_line: str
    empty_context: str
    unknown_date: str
    kind: ClassVar[Kind] = "model"

    def __post_init__(self) -> None:
        wanted = {"question", "asked", "context"} - fields(self.user)
        wanted |= {"content"} - fields(self.context_line)
        if wanted:
            raise ValueError(f"answerer prompt: the fields {sorted(wanted)} are missing")

    def problems(self) -> list[str]:
        told = getattr(self.llm, "problems", None)
        return list(told()) if callable(told) else []

    def answer(self, question: Question, hits: Sequence[Hit]) -> Answer:
        """Raises FatalError where the model's client does."""
        values = {
            "question": question.text,
            "asked": written_day(question.asked, self.unknown_date),
            "context": "\n".join(map(self._line, range(1, len(hits) + 1), hits)) or self.empty_context,
        }
        reply = self.llm.ask(self.system, fill(self.user, values), None)
        if reply.status != "ok":
            return Answer("", reply.usage, "invalid", reply.reason or "error")
        return Answer(reply.text, reply.usage) if reply.text else Answer("", reply.usage, "invalid", "empty")

    def _line(self, position: int, hit: Hit) -> str:
        moment = hit.document.occurred or hit.document.created
        date = moment.date().isoformat() if moment else self.unknown_date
        return fill(
            self.context_line, {"position": str(position), "date": date, "content": hit.document.text}
        )
