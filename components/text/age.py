"""Ages in days, from the moment of the question: never from the clock."""

from __future__ import annotations

import math
from datetime import datetime


def age_days(now: datetime, moment: datetime) -> float:
    """Days from `moment` to `now`; what lies in the future has age 0."""
    return max(0.0, (now - moment).total_seconds() / 86400.0)


def check_weight(weight: float) -> None:
    """ValueError unless 1 + weight * (x - 0.5) stays >= 0 for every x in [0, 1]."""
    if not (math.isfinite(weight) and 0 <= weight <= 2):
        raise ValueError(f"weight: {weight} is not within 0 and 2")
