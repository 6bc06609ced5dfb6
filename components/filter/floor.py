"""Drops hits whose fused score, before factors, is under the floor. Source: Comis, SPEC A2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from components.types import Hit, Query


@dataclass(frozen=True)
class Floor:
    """A single lane passes its 1/rank: with 0.1 only its first ten stay. 0 keeps all."""

    min_score: float

    def __post_init__(self) -> None:
        if not 0 <= self.min_score <= 1:
            raise ValueError(f"min_score: {self.min_score} is not within 0 and 1")

    def keep(self, query: Query, hits: Sequence[Hit]) -> list[Hit]:
        return [hit for hit in hits if hit.parts.get("fused", hit.score) >= self.min_score]

    def reason(self, hit: Hit) -> str:
        return f"under {self.min_score}"
