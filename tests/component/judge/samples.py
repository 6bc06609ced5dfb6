"""Samples of our own for the judges' tests."""

from __future__ import annotations

from datetime import UTC, datetime

from components.types import Gold, Question, Sample

ASKED = datetime(2024, 6, 3, 9, 30, tzinfo=UTC)


def sample(
    gold: str | tuple[str, ...], question: str = "?", category: str = "single-hop", answerable: bool = True
) -> Sample:
    golds = (gold,) if isinstance(gold, str) else gold
    return Sample(Question("q1", question, ASKED), Gold(golds, {}, answerable), category, "s1")
