"""Documents whose event is near: x = 1 / (1 + days since it occurred). Source: Comis, SPEC A3."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from components.text.age import age_days, check_weight
from components.types import Hit, Query, Scores


@dataclass(frozen=True)
class Temporal:
    weight: float

    def __post_init__(self) -> None:
        check_weight(self.weight)

    def score(self, query: Query, hits: Sequence[Hit]) -> Scores:
        """In (0, 1]; 0.5 where the document tells no event's date. The future has age 0."""
        out = np.full(len(hits), 0.5)
        for place, hit in enumerate(hits):
            if query.now and hit.document.occurred:
                out[place] = 1.0 / (1.0 + age_days(query.now, hit.document.occurred))
        return out
