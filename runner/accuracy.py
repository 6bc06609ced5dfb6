"""Verdicts -> the accuracy (model judges) and lexical (mechanical judges) sections. Never blended.

Three denominators, always together: accuracy = correct / (total - invalid), strict = correct / total,
best case = (correct + invalid) / total, all in percent. A denominator of 0 gives null.

Rows: `overall` is every question. Where some are not answerable, `blended` is the same row under
LongMemEval's name, `non_abstention` the answerable ones, `abstention` the others (LoCoMo's adversarial too,
if kept). A category's row holds its answerable questions only, so that categories + abstention = overall.
`macro` is the unweighted mean of the categories.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.types import Kind
from runner.rows import Judged, Table
from runner.settings import MIN_N, Settings
from runner.statistics import NONE, Interval, macro_interval, mean_interval

_Mask = NDArray[np.bool_]


def slices(table: Table, categories: Sequence[str]) -> dict[str, _Mask]:
    """Row name -> its questions, `macro` left out."""
    everything = np.ones(len(table.ids), dtype=bool)
    out = {"overall": everything}
    if not table.answerable.all():
        out |= {
            "blended": everything,
            "non_abstention": table.answerable,
            "abstention": ~table.answerable,
        }
    return out | {name: (table.categories == name) & table.answerable for name in categories}


def verdicts(table: Table, kind: Kind, categories: Sequence[str], settings: Settings) -> dict[str, Any]:
    """{judge: {row: cell}} of the judges of one kind; empty where none graded this system."""
    masks = slices(table, categories)
    out: dict[str, Any] = {}
    for judge, judged in table.judged.items():
        if settings.judges[judge] == kind:
            cells = {name: _cell(table, judged, mask, settings) for name, mask in masks.items()}
            cells["macro"] = _macro(table, judged, [masks[name] for name in categories], settings)
            out[judge] = cells
    return out


def _cell(table: Table, judged: Judged, mask: _Mask, settings: Settings) -> dict[str, Any]:
    valid = mask & ~np.isnan(judged.labels)
    n, clusters = int(valid.sum()), table.clusters[valid]
    groups = len(np.unique(clusters))
    enough = n >= MIN_N and groups >= 2
    bound = mean_interval(judged.labels[valid], clusters, settings.confidence) if enough else NONE
    return {**_counts(judged, mask), **_bounds(bound, n, groups, enough)}


def _counts(judged: Judged, mask: _Mask) -> dict[str, Any]:
    labels = judged.labels[mask]
    total, invalid, correct = len(labels), int(np.isnan(labels).sum()), int(np.nansum(labels))
    lost = mask & np.isnan(judged.labels)
    reasons = Counter(reason for reason, inside in zip(judged.reasons, lost, strict=True) if inside)
    return {
        "total": total,
        "correct": correct,
        "invalid": invalid,
        "valid_total": total - invalid,
        "accuracy": percent(correct, total - invalid),
        "strict": percent(correct, total),
        "best_case": percent(correct + invalid, total),
        "invalid_rate": percent(invalid, total),
        "invalid_reasons": dict(sorted(reasons.items())),
        "flips": int(judged.flips[mask].sum()) if judged.repeats > 1 else None,
    }


def _macro(table: Table, judged: Judged, masks: Sequence[_Mask], settings: Settings) -> dict[str, Any]:
    """Counts are those of all the categories together; the percentages are means over the categories."""
    parts = [_counts(judged, mask) for mask in masks if mask.any()]
    valid = [mask & ~np.isnan(judged.labels) for mask in masks]
    valid = [mask for mask in valid if mask.any()]
    clusters = [table.clusters[mask] for mask in valid]
    groups = len({name for part in clusters for name in part.tolist()})
    enough = groups >= 2 and min(map(len, clusters)) >= MIN_N
    labels = [judged.labels[mask] for mask in valid]
    bound = macro_interval(labels, clusters, settings.confidence) if enough else NONE
    means = {name: _mean([part[name] for part in parts]) for name in ("accuracy", "strict", "best_case")}
    together = np.logical_or.reduce(masks) if masks else np.zeros(len(table.ids), dtype=bool)
    n = sum(map(len, clusters))
    return {**_counts(judged, together), **means, **_bounds(bound, n, groups, enough)}


def _mean(values: Sequence[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return sum(there) / len(there) if there else None


def _bounds(bound: Interval, n: int, groups: int, enough: bool) -> dict[str, Any]:
    return {
        "low": None if bound.low is None else 100 * bound.low,
        "high": None if bound.high is None else 100 * bound.high,
        "clusters": groups,
        "interval": "cluster" if groups < n else "wilson",
        "note": None if enough else "n too small",
    }


def percent(part: int, whole: int) -> float | None:
    """100 * part / whole; None where there is nothing to divide by."""
    return 100 * part / whole if whole else None
