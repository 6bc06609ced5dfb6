"""Who is asked about is who said it: x is 1 for a speaker whom the question names, 0 for the others.

0.5 (neutral) for all when the question names none of the speakers among the hits, or more than one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from components.text.age import check_weight
from components.text.words import words
from components.types import Hit, Query, Scores


@dataclass(frozen=True)
class Speaker:
    weight: float

    def __post_init__(self) -> None:
        check_weight(self.weight)

    def score(self, query: Query, hits: Sequence[Hit]) -> Scores:
        """In [0, 1]. A name counts as whole words, upper and lower case alike."""
        asked = [word.lower() for word in words(query.question.text)]
        speakers = {hit.document.speaker for hit in hits if hit.document.speaker}
        named = {speaker for speaker in speakers if _names(asked, speaker)}
        if len(named) != 1:
            return np.full(len(hits), 0.5)
        return np.array([float(hit.document.speaker in named) for hit in hits], np.float64)


def _names(asked: Sequence[str], speaker: str) -> bool:
    """Whether the words of a name stand in the question, side by side."""
    name = [word.lower() for word in words(speaker)]
    return bool(name) and any(asked[i : i + len(name)] == name for i in range(len(asked)))
