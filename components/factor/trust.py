"""Documents from a trusted source: x is a number per level of trust. Source: Comis, SPEC A3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from components.text.age import check_weight
from components.types import Hit, Query, Scores
from components.types import Trust as Level


@dataclass(frozen=True)
class Trust:
    weight: float
    values: Mapping[str, float]

    def __post_init__(self) -> None:
        check_weight(self.weight)
        if set(self.values) != set(get_args(Level)) or not all(0 <= x <= 1 for x in self.values.values()):
            raise ValueError(f"values: need a number within 0 and 1 for each of {', '.join(get_args(Level))}")

    def score(self, query: Query, hits: Sequence[Hit]) -> Scores:
        """In [0, 1]."""
        return np.array([self.values[hit.document.trust] for hit in hits], np.float64)
