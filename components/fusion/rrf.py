"""Reciprocal rank fusion: sum over lanes of weight / (c + rank), scaled so that first in every lane gives 1.

Source: Cormack, Clarke, Buettcher, SIGIR 2009; weights and scale as SPEC A2.4.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from components.types import Document, Hit


@dataclass(frozen=True)
class Rrf:
    """A lane of weight 0 is as if it were not there; a weight without a lane is ignored."""

    c: float
    weights: Mapping[str, float]

    def __post_init__(self) -> None:
        if not (math.isfinite(self.c) and self.c > 0):
            raise ValueError(f"c: {self.c} is not above 0")
        for lane, weight in self.weights.items():
            if not (math.isfinite(weight) and weight >= 0):
                raise ValueError(f"weights.{lane}: {weight} is not 0 or more")

    def fuse(self, rankings: Mapping[str, Sequence[Hit]], k: int) -> list[Hit]:
        """Best first, ties by document id. A single lane with hits passes as it is, order and scores.

        parts: lane -> what it gave, "fused" -> their sum, beside what the lanes had put there.
        Raises KeyError for a lane without a weight.
        """
        there = {lane: hits for lane, hits in rankings.items() if self.weights[lane] > 0 and hits}
        if len(there) == 1:
            ((lane, hits),) = there.items()
            return [_passed(lane, hit) for hit in hits[:k]]
        # in the order of names, so that a sum does not depend on the order of the lanes
        total = math.fsum(self.weights[lane] for lane in there) / (self.c + 1)
        found: dict[str, tuple[Document, dict[str, float], list[float]]] = {}
        for lane in sorted(there):
            for rank, hit in enumerate(there[lane], start=1):
                share, name = self.weights[lane] / (self.c + rank) / total, hit.document.id
                if name not in found:
                    found[name] = hit.document, dict(hit.parts), []
                _, parts, shares = found[name]
                parts.update(hit.parts)
                parts[lane] = share
                shares.append(share)
        fused = {name: min(1.0, math.fsum(shares)) for name, (_, _, shares) in found.items()}
        best = sorted(fused, key=lambda name: (-fused[name], name))[:k]
        return [Hit(found[n][0], fused[n], {**found[n][1], "fused": fused[n]}) for n in best]


def _passed(lane: str, hit: Hit) -> Hit:
    return Hit(hit.document, hit.score, {**hit.parts, lane: hit.score, "fused": hit.score})
