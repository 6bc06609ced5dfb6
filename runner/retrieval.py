"""The retrieval section of the report: means and intervals per system, level and category."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from runner.rows import Ranked, Table
from runner.settings import MIN_N, Settings
from runner.statistics import NONE, Floats, Interval, Labels, macro_interval, mean_interval

_Mask = NDArray[np.bool_]
_Bound = Callable[[list[Floats], list[Labels], float], Interval]


def retrieval(table: Table, categories: Sequence[str], settings: Settings) -> dict[str, Any]:
    """{level: {overall, macro, each category (n = 0 too): cell}} of one system."""
    masks = {name: table.categories == name for name in categories}
    everything = np.ones(len(table.ids), dtype=bool)
    return {
        level: {
            "overall": _cell(table, ranked, [everything], settings),
            "macro": _cell(table, ranked, list(masks.values()), settings),
            **{name: _cell(table, ranked, [mask], settings) for name, mask in masks.items()},
        }
        for level, ranked in table.ranked.items()
    }


def _cell(table: Table, ranked: Ranked, masks: list[_Mask], settings: Settings) -> dict[str, Any]:
    """n + unscored = total. With several masks: the unweighted mean of those that have scored questions.

    A measure is null where n = 0, its interval where n (of any part) < 10 or where there is one haystack.
    `interval`: "cluster" = t over the haystacks; "single" = Wilson for hit@k, t for the rest.
    """
    used = [mask & ranked.scored for mask in masks if (mask & ranked.scored).any()]
    clusters = [table.clusters[mask] for mask in used]
    n, groups = sum(map(len, clusters)), len({name for part in clusters for name in part.tolist()})
    enough = groups >= 2 and min(map(len, clusters)) >= MIN_N
    bound: _Bound = macro_interval if len(masks) > 1 else _mean_interval
    means: dict[str, float | None] = {}
    bounds: dict[str, Interval] = {}
    for column, name in enumerate(settings.measures):
        parts = [ranked.values[mask, column] for mask in used]
        means[name] = float(np.mean([part.mean() for part in parts])) if used else None
        bounds[name] = bound(parts, clusters, settings.confidence) if enough else NONE
    inside = np.logical_or.reduce(masks) if masks else np.zeros(len(table.ids), dtype=bool)
    return {
        "total": int(inside.sum()),
        "n": n,
        "unscored": _reasons(ranked, inside),
        **means,
        "low": {name: interval.low for name, interval in bounds.items()},
        "high": {name: interval.high for name, interval in bounds.items()},
        "clusters": groups,
        "interval": "cluster" if groups < n else "single",
        "note": None if enough else "n too small",
    }


def _mean_interval(parts: list[Floats], clusters: list[Labels], confidence: float) -> Interval:
    return mean_interval(parts[0], clusters[0], confidence)


def _reasons(ranked: Ranked, inside: _Mask) -> dict[str, int]:
    its = Counter(reason for reason, there in zip(ranked.reasons, inside, strict=True) if there and reason)
    return dict(sorted(its.items()))
