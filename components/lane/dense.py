"""Nearest neighbours of the question's embedding, exact cosine. A lane's score is 1/rank (SPEC A2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from components.types import Hit, Index, Query


@dataclass(frozen=True)
class Dense:
    def search(self, query: Query, index: Index, seeds: Sequence[Hit], k: int) -> list[Hit]:
        """Best first; parts["cosine"] is the best over the question and its variants."""
        hits = index.nearest(index.embed(query.texts), k)
        return [Hit(h.document, 1.0 / rank, {"cosine": h.score}) for rank, h in enumerate(hits, start=1)]
