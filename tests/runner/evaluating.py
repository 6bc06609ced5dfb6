"""Evaluation in a line, for its tests: made-up records in, sections out, every self-check held."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from components.types import Label
from runner.evaluation import Settings, evaluate
from runner.records import Record
from tests.runner.making import record, turn

K = (1, 3, 5, 10)
A, B, C = (turn(1, n) for n in (1, 2, 3))
JUDGES = {"facts": "mechanical", "words": "mechanical"}


def run(records: Sequence[Record], **choices: Any) -> dict[str, Any]:
    sections = evaluate(records, Settings(**({"k": K, "judges": JUDGES} | choices)))
    assert [check for check in sections["checks"] if not check["ok"]] == []
    return sections


def overall(records: Sequence[Record], level: str = "turn", **choices: Any) -> dict[str, Any]:
    return run(records, **choices)["retrieval"]["ours"][level]["overall"]


def graded(labels: Sequence[Label], judge: str = "facts", **rest: Any) -> list[Record]:
    return [record(f"q{i:03d}", labels={judge: label}, **rest) for i, label in enumerate(labels)]
