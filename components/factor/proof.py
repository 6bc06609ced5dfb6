"""Documents that were corroborated. Source: Comis, SPEC A3.

x = 0.5 + (pn - 0.5) * cf, where pn = clamp(0.5 + ln(proof) / divisor) and
cf = confidence * 0.5 ** (age / half life), the age being that of the event, else of the document.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from components.text.age import age_days, check_weight
from components.types import Document, Hit, Query, Scores


@dataclass(frozen=True)
class Proof:
    weight: float
    divisor: float
    half_life_days: float

    def __post_init__(self) -> None:
        check_weight(self.weight)
        if not (self.divisor > 0 and self.half_life_days > 0):
            raise ValueError("divisor and half_life_days: need to be above 0")

    def score(self, query: Query, hits: Sequence[Hit]) -> Scores:
        """In [0, 1]; 0.5 without a proof count; without a confidence it does not fade."""
        return np.array([self._x(hit.document, query.now) for hit in hits], np.float64)

    def _x(self, document: Document, now: datetime | None) -> float:
        if document.proof is None:
            return 0.5
        proven = min(1.0, max(0.0, 0.5 + math.log(max(1, document.proof)) / self.divisor))
        return 0.5 + (proven - 0.5) * self._confidence(document, now)

    def _confidence(self, document: Document, now: datetime | None) -> float:
        if document.confidence is None:
            return 1.0
        moment = document.occurred or document.created
        age = age_days(now, moment) if now and moment else 0.0
        return float(document.confidence * 0.5 ** (age / self.half_life_days))
