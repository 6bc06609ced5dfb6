"""Which questions run: the whole set by default, else a written rule whose chosen ids are logged."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from components.types import Dataset
from runner.plan import Subset

ABSTENTION = "abstention"  # questions without an answer form a stratum of their own


class Chosen(NamedTuple):
    """`ids` source ids in dataset order; `facts` the report's `subset` section."""

    ids: frozenset[str]
    facts: dict[str, Any]


def choose(dataset: Dataset, rule: Subset) -> Chosen | None:
    """None for the whole set. n per category (abstention is one of its own); reads every haystack once.

    stratified: n of each category by seed, independent of the file's order. first_n: the first n of each
    category in file order, as the two seed systems do; disclosed by its name.
    """
    if rule.rule == "all":
        return None
    strata = _strata(dataset)
    chosen: list[str] = []
    for category in sorted(strata):
        ids = strata[category]
        if rule.rule == "stratified":
            # a seed of its own, so that leaving a category out does not change the choice in another
            order = np.random.default_rng([rule.seed, *category.encode()]).permutation(len(ids))
            ids = [sorted(ids)[i] for i in order]
        chosen += ids[: rule.n]
    wanted = frozenset(chosen)
    counts = {category: len(wanted & set(ids)) for category, ids in sorted(strata.items())}
    return Chosen(wanted, {**_facts(rule, wanted), "n_by_category": counts})


def _strata(dataset: Dataset) -> dict[str, list[str]]:
    """Stratum -> source ids in file order; empty for a category that is asked for and has no question."""
    out: dict[str, list[str]] = {}
    unmet = set(getattr(dataset, "categories", ()))
    for place in dataset.items():
        for sample in dataset.load(place).samples:
            stratum = sample.category if sample.gold.answerable else ABSTENTION
            out.setdefault(stratum, []).append(sample.source_id)
            unmet.discard(sample.category)
    return out | {category: [] for category in unmet}


def _facts(rule: Subset, ids: Iterable[str]) -> dict[str, Any]:
    text = "\n".join(sorted(ids))
    return {
        "rule": rule.rule,
        "n": rule.n,
        "seed": rule.seed,
        "ids": sorted(ids),
        "ids_sha256": hashlib.sha256(text.encode()).hexdigest(),
    }
