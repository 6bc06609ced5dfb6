"""Systems against each other, on the questions that both have a number for.

A row is about `a`: difference = a - b (fractions for retrieval measures, points for accuracies), and `a` is
"better" or "worse" only if the interval leaves out 0 and Holm's p is under .05; else "no difference shown".
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from runner.accuracy import slices
from runner.rows import Table
from runner.settings import MIN_N, Settings
from runner.statistics import Floats, discordant, holm, mde, paired_bootstrap, paired_p

ALL_PAIRS = 4  # with more systems, each is set against the first only
ALPHA = 0.05


@dataclass(frozen=True)
class _Column:
    """One number per question of a system, nan where it has none; `points`: shown times 100."""

    key: tuple[str, str]  # (measure, level or judge)
    values: Floats
    facts: Mapping[str, Any]
    binary: bool
    points: bool


def comparisons(
    tables: Mapping[str, Table], categories: Sequence[str], settings: Settings
) -> list[dict[str, Any]]:
    """Every pair of up to four systems, else each with the first: overall and per category."""
    names = list(tables)
    every = itertools.combinations(names, 2)
    pairs = list(every) if len(names) <= ALL_PAIRS else [(names[0], other) for other in names[1:]]
    columns = {name: {c.key: c for c in _columns(table, settings)} for name, table in tables.items()}
    rows: list[dict[str, Any]] = []
    for a, b in pairs:
        for key, column in columns[a].items():
            if key in columns[b]:
                rows += _rows((tables[a], tables[b]), (column, columns[b][key]), categories, settings)
    _adjust(rows)
    return rows


def _columns(table: Table, settings: Settings) -> Iterator[_Column]:
    level = "turn" if "turn" in table.ranked else "session"
    for name in settings.compared:
        values = table.ranked[level].values[:, settings.measures.index(name)]
        facts = {"measure": name, "level": level, "judge": None, "kind": "mechanical"}
        yield _Column((name, level), values, facts, name.startswith("hit@"), points=False)
    for judge, judged in table.judged.items():
        kind = settings.judges[judge]
        name = "accuracy" if kind == "model" else "lexical"
        facts = {"measure": name, "level": None, "judge": judge, "kind": kind}
        yield _Column((name, judge), judged.labels, facts, binary=True, points=True)


def _rows(
    tables: tuple[Table, Table],
    columns: tuple[_Column, _Column],
    categories: Sequence[str],
    settings: Settings,
) -> Iterator[dict[str, Any]]:
    a, b = tables
    place = {question: i for i, question in enumerate(b.ids)}
    mine = [i for i, question in enumerate(a.ids) if question in place]
    theirs = [place[a.ids[i]] for i in mine]
    difference = columns[0].values[mine] - columns[1].values[theirs]
    others = slices(b, categories)
    for name, mask in slices(a, categories).items():
        here = mask[mine] & ~np.isnan(difference)
        if name in (("blended",) if columns[0].points else ("blended", "non_abstention", "abstention")):
            continue
        yield {
            "a": a.system,
            "b": b.system,
            **columns[0].facts,
            "category": name,
            "n_a": int((mask & ~np.isnan(columns[0].values)).sum()),
            "n_b": int((others[name] & ~np.isnan(columns[1].values)).sum()) if name in others else 0,
            **_row(difference[here], a.clusters[mine][here], columns[0], settings),
        }


def _row(
    difference: Floats, clusters: NDArray[np.str_], column: _Column, settings: Settings
) -> dict[str, Any]:
    n, groups = len(difference), len(np.unique(clusters))
    unit = 100 if column.points else 1
    row: dict[str, Any] = {
        "n": n,
        "clusters": groups,
        "difference": unit * float(difference.mean()) if n else None,
        "low": None,
        "high": None,
        "p": None,
        "p_holm": None,
        "test": "paired",
        "discordant": list(discordant(difference)) if column.binary and n else None,
        "mde": None,
        "verdict": "no difference shown",
        "reason": None,
    }
    if n < MIN_N or groups < 2:
        return {**row, "reason": "n too small" if n < MIN_N else "one haystack only"}
    low, high = paired_bootstrap(
        difference,
        clusters,
        seed=settings.seed,
        resamples=settings.resamples,
        confidence=settings.confidence,
    )
    smallest = mde(n, confidence=settings.confidence)
    assert low is not None and high is not None and smallest is not None
    return {
        **row,
        "low": unit * low,
        "high": unit * high,
        "p": paired_p(difference, clusters),
        "mde": unit * smallest,
    }


def _adjust(rows: list[dict[str, Any]]) -> None:
    """Holm over all pairs and categories of one measure (and judge); then the verdict."""
    families: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        if row["p"] is not None:
            families.setdefault((row["measure"], row["level"], row["judge"]), []).append(row)
    for family in families.values():
        for row, p in zip(family, holm([row["p"] for row in family]), strict=True):
            row["p_holm"] = p
            if p < ALPHA and not row["low"] <= 0 <= row["high"]:
                row["verdict"] = "better" if row["difference"] > 0 else "worse"
