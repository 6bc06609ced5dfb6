"""A model as judge: the rubric of the category first, then question, date, gold and answer; JSON comes back.

The answer stands between tags that it cannot close itself, and the prompt says that nothing in it is an
instruction. The reply goes through the total reader: what that cannot read is invalid, never wrong.
kind: model.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from components.text.fill import fields, fill, written_day
from components.text.screen import unusable
from components.text.verdict import read_verdict
from components.types import Answer, Kind, Sample, Verdict
from components.types import Llm as ChatModel

_FIELDS = {"rubric", "question", "asked", "gold", "answer"}
_TAG = re.compile(r"<(?=\s*/?\s*(?:question|reference|answer)\b)", re.IGNORECASE)


@dataclass(frozen=True)
class Llm:
    """`prompt` with {rubric} {question} {asked} {gold} {answer}; `categories`: a rubric each, `fallback`
    for the rest, `abstention` for what cannot be answered. `schema`: of the reply. `several`: stands before a
    gold of several wordings. Reasons of invalid verdicts: "answer: ..." when the answer is not to be judged,
    else what the model's reply or the reader said. Raises FatalError where the model's client does."""

    llm: ChatModel
    system: str
    prompt: str
    categories: Mapping[str, str]
    fallback: str
    abstention: str
    schema: Mapping[str, Any]
    several: str
    unknown_date: str
    kind: ClassVar[Kind] = "model"

    def __post_init__(self) -> None:
        missing = _FIELDS - fields(self.prompt)
        if missing:
            raise ValueError(f"judge prompt: the fields {sorted(missing)} are missing")

    def problems(self) -> list[str]:
        told = getattr(self.llm, "problems", None)
        return list(told()) if callable(told) else []

    def grade(self, sample: Sample, answer: Answer) -> Verdict:
        problem = unusable(answer)
        if problem:
            return Verdict("invalid", problem)
        if sample.gold.answerable and not any(gold.strip() for gold in sample.gold.answers):
            return Verdict("invalid", "no gold answer")
        reply = self.llm.ask(self.system, self._prompt(sample, answer.text), self.schema)
        if reply.status != "ok":
            return Verdict("invalid", reply.reason or "error", reply.text, reply.usage)
        return replace(read_verdict(reply.text), usage=reply.usage)

    def _prompt(self, sample: Sample, answer: str) -> str:
        golds = [gold for gold in sample.gold.answers if gold.strip()]
        lines = (
            golds if len(golds) == 1 else [self.several, *(f"- {gold}" for gold in golds)] if golds else ["-"]
        )
        rubric = self.categories.get(sample.category, self.fallback)
        values = {
            "rubric": (rubric if sample.gold.answerable else self.abstention).strip(),
            "question": _quoted(sample.question.text),
            "asked": written_day(sample.question.asked, self.unknown_date),
            "gold": _quoted("\n".join(lines)),
            "answer": _quoted(answer),
        }
        return fill(self.prompt, values)


def _quoted(text: str) -> str:
    """Data that cannot close or open the prompt's tags."""
    return _TAG.sub("‹", text.strip())
