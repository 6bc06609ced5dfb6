"""Two judges side by side: the spread of their accuracies per category, and their agreement.

Only judges of one kind are set against each other: a mechanical and a model judge measure different things.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.types import Kind
from runner.accuracy import percent, slices
from runner.rows import Judged, Table
from runner.settings import MIN_N, Settings
from runner.statistics import NONE, Interval, kappa, paired_bootstrap

_EDGE = 1e-9  # points; a spread of exactly the tolerance survives whatever the rounding


def _pairs(judges: Mapping[str, Judged], kinds: Mapping[str, Kind]) -> Iterator[tuple[str, str]]:
    yield from ((a, b) for a, b in itertools.combinations(judges, 2) if kinds[a] == kinds[b])


def spread(table: Table, categories: Sequence[str], settings: Settings) -> list[dict[str, Any]]:
    """|A - B| in points per row of the accuracy section (`blended` and `macro` left out) and pair of judges.

    Each accuracy stands on the judge's own valid verdicts; the interval (paired bootstrap of whole haystacks)
    on the questions with a valid verdict of both. Nothing valid from one of them: null, does not survive.
    """
    rows = []
    for a, b in _pairs(table.judged, settings.judges):
        for name, mask in slices(table, categories).items():
            if name != "blended":
                rows.append(_spread(table, (a, b), name, mask, settings))
    return rows


def _spread(
    table: Table, pair: tuple[str, str], name: str, mask: NDArray[np.bool_], settings: Settings
) -> dict[str, Any]:
    a, b = (table.judged[judge].labels for judge in pair)
    one, two = _accuracy(a[mask]), _accuracy(b[mask])
    points = None if one is None or two is None else abs(one - two)
    both = mask & ~np.isnan(a) & ~np.isnan(b)
    bound = NONE
    if int(both.sum()) >= MIN_N:
        bound = paired_bootstrap(
            a[both] - b[both],
            table.clusters[both],
            seed=settings.seed,
            resamples=settings.resamples,
            confidence=settings.confidence,
        )
    low, high = absolute(bound)
    return {
        "category": name,
        "judge_a": pair[0],
        "judge_b": pair[1],
        "n": int(both.sum()),
        "accuracy_a": one,
        "accuracy_b": two,
        "spread": points,
        "low": low,
        "high": high,
        "survives": points is not None and points <= settings.tolerance + _EDGE,
        "headline": name == "overall",
        "kind": settings.judges[pair[0]],
    }


def _accuracy(labels: NDArray[np.float64]) -> float | None:
    return percent(int(np.nansum(labels)), int((~np.isnan(labels)).sum()))


def absolute(bound: Interval) -> tuple[float | None, float | None]:
    """Interval of a difference in [-1, 1] -> interval of its size, in points."""
    if bound.low is None or bound.high is None:
        return None, None
    ends = sorted((abs(bound.low), abs(bound.high)))
    return (0.0 if bound.low <= 0 <= bound.high else 100 * ends[0]), 100 * ends[1]


def agreement(table: Table, settings: Settings) -> dict[str, Any]:
    """{"a vs b": {n, raw, kappa, ac1, alpha, kind}} on the questions where both gave a valid verdict.

    raw is a fraction; kappa is null where all labels are equal (undefined). Invalid with invalid is no
    agreement. ac1 and alpha are not computed yet: null.
    """
    out = {}
    for a, b in _pairs(table.judged, settings.judges):
        one, two = table.judged[a].labels, table.judged[b].labels
        both = ~np.isnan(one) & ~np.isnan(two)
        n = int(both.sum())
        out[f"{a} vs {b}"] = {
            "n": n,
            "raw": float((one[both] == two[both]).mean()) if n else None,
            "kappa": kappa(one[both], two[both]),
            "ac1": None,
            "alpha": None,
            "kind": settings.judges[a],
        }
    return out
