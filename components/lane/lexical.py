"""Full text: BM25 over the words of the question, joined with OR. A lane's score is 1/rank (SPEC A2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from components.text.words import terms_of
from components.types import Hit, Index, Query


@dataclass(frozen=True)
class Lexical:
    """`terms`: how a question falls into words (components/text/words.py); repeats count, as in the seeds.

    `max_terms`: the first n of each text, None = all. `stop_words`: blank-separated, "" = none.
    A question of stop words alone finds nothing, which is no error.
    """

    terms: Literal["words", "edges"]
    max_terms: int | None
    stop_words: str

    def __post_init__(self) -> None:
        if self.terms not in ("words", "edges"):
            raise ValueError(f"terms: {self.terms!r} is neither 'words' nor 'edges'")
        if self.max_terms is not None and self.max_terms < 1:
            raise ValueError(f"max_terms: {self.max_terms} is not 1 or more (null = all)")

    def search(self, query: Query, index: Index, seeds: Sequence[Hit], k: int) -> list[Hit]:
        """Best first; parts["bm25"] is the store's score."""
        asked = [
            term
            for text in query.texts
            for term in terms_of(text, self.terms, self.max_terms, self._stop_words)
        ]
        hits = index.match(asked, k) if asked else []
        return [Hit(h.document, 1.0 / rank, {"bm25": h.score}) for rank, h in enumerate(hits, start=1)]

    @cached_property
    def _stop_words(self) -> frozenset[str]:
        return frozenset(self.stop_words.lower().split())
