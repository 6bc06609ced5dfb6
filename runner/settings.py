"""How records are evaluated: the cut-offs, the choices that change a number, the limits. All is reported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from components.types import Kind

MIN_N = 10  # under this no interval is given, only "n too small"
RESERVED = ("overall", "blended", "non_abstention", "abstention", "macro")


@dataclass(frozen=True)
class Settings:
    """What `evaluate` needs to know beside the records.

    empty_gold: an answerable question without gold in the haystack is left out, or counts 0 and stays in n.
    unresolved: evidence ids that name nothing are left out of the gold, or count (at turn level, where they
    were written) in recall's denominator and in the ideal of nDCG.
    systems, categories: the order to show; names not listed follow in the order of the records.
    compare: retrieval measures to compare systems by; none = the deepest hit@k up to 10, mrr@10, ndcg@10.
    """

    k: tuple[int, ...]
    judges: Mapping[str, Kind] = field(default_factory=dict)
    empty_gold: Literal["exclude", "zero"] = "exclude"
    unresolved: Literal["ignore", "count"] = "ignore"
    tolerance: float = 5.0  # points between two judges
    invalid_limit: float = 0.02  # share of invalid verdicts, or of questions without a ranking
    confidence: float = 0.95
    seed: int = 0
    resamples: int = 2000
    compare: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """ValueError with every number that is out of range."""
        wrong = [
            message
            for bad, message in (
                (
                    not self.k or min(self.k, default=1) < 1,
                    "k must list at least one cut-off, each 1 or more",
                ),
                (len(set(self.k)) != len(self.k), f"k lists a cut-off twice: {list(self.k)}"),
                (self.empty_gold not in ("exclude", "zero"), f"empty_gold is {self.empty_gold!r}"),
                (self.unresolved not in ("ignore", "count"), f"unresolved is {self.unresolved!r}"),
                (not 0 < self.confidence < 1, "confidence must lie between 0 and 1"),
                (self.tolerance < 0, "tolerance must be 0 or more points"),
                (not 0 <= self.invalid_limit <= 1, "invalid_limit must be a share in [0, 1]"),
                (self.resamples < 100, "resamples must be 100 or more"),
            )
            if bad
        ]
        wrong += [f"compare: unknown measure {m!r}" for m in self.compare if m not in self.measures]
        if wrong:
            raise ValueError("; ".join(wrong))

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the retrieval measures, in the order of a row of values."""
        cuts = sorted(self.k)
        return (*(f"recall@{k}" for k in cuts), *(f"hit@{k}" for k in cuts), "mrr@10", "ndcg@10")

    @property
    def compared(self) -> tuple[str, ...]:
        """Retrieval measures that systems are compared by."""
        deepest = max((k for k in self.k if k <= 10), default=min(self.k))
        return self.compare or (f"hit@{deepest}", "mrr@10", "ndcg@10")

    def described(self) -> dict[str, Any]:
        """The choices behind the numbers, as the report prints them."""
        return {
            "k": sorted(self.k),
            "empty_gold": self.empty_gold,
            "unresolved": self.unresolved,
            "tolerance": self.tolerance,
            "invalid_limit": self.invalid_limit,
            "confidence": self.confidence,
            "seed": self.seed,
            "resamples": self.resamples,
            "min_n": MIN_N,
            "judges": dict(self.judges),
            "compared": list(self.compared),
        }
