"""Weighted sum of what the lanes scored, each lane divided by its best: keeps how much better, which ranks lose.

fused = sum over lanes of weight * score / (best score of the lane) / sum of weights; 1 = first in every lane.
A document that a lane did not find has nothing from it. Known as max-normalised CombSUM (Fox and Shaw, TREC-2).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from components.types import Document, Hit


@dataclass(frozen=True)
class Scaled:
    """`scores`: lane -> the part of its hits that holds its raw score. `weights` as in every fusion."""

    scores: Mapping[str, str]
    weights: Mapping[str, float]

    def __post_init__(self) -> None:
        for lane, weight in self.weights.items():
            if not (math.isfinite(weight) and weight >= 0):
                raise ValueError(f"weights.{lane}: {weight} is not 0 or more")
            if lane not in self.scores:
                raise ValueError(f"scores: no part named for lane {lane}, as in scores.{lane}=bm25")

    def fuse(self, rankings: Mapping[str, Sequence[Hit]], k: int) -> list[Hit]:
        """Best first, ties by document id. parts: lane -> what it gave, "fused" -> their sum.

        A raw score below 0 (a cosine) gives nothing. Raises KeyError for a lane without a weight.
        """
        there = {lane: hits for lane, hits in rankings.items() if self.weights[lane] > 0 and hits}
        total = math.fsum(self.weights[lane] for lane in there)
        documents: dict[str, Document] = {}
        parts: dict[str, dict[str, float]] = {}
        given: dict[str, list[float]] = {}
        for lane in sorted(there):
            part = self.scores[lane]
            best = max(hit.parts[part] for hit in there[lane])
            for hit in there[lane]:
                share = self.weights[lane] / total * max(hit.parts[part], 0.0) / best if best > 0 else 0.0
                documents[hit.document.id] = hit.document
                parts.setdefault(hit.document.id, {}).update({**hit.parts, lane: share})
                given.setdefault(hit.document.id, []).append(share)
        fused = {name: min(1.0, math.fsum(shares)) for name, shares in given.items()}
        order = sorted(fused, key=lambda name: (-fused[name], name))[:k]
        return [Hit(documents[n], fused[n], {**parts[n], "fused": fused[n]}) for n in order]
