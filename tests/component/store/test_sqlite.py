from __future__ import annotations

from dataclasses import replace

import pytest

from components.types import ComponentError
from tests.component.retrieval import documents, ids, sqlite


def test_porter_and_folding() -> None:
    index = sqlite().index(documents("She was running past the café", "a boat"))
    assert ids(index.match(["runs"], 3)) == ["d01"] == ids(index.match(["CAFE"], 3))


def test_a_repeated_term_counts_twice() -> None:
    """As in the seeds: no de-duplication of terms."""
    index = sqlite().index(documents("kayak", "boat", "tent", "lake"))
    once, twice = index.match(["kayak"], 1)[0], index.match(["kayak", "kayak"], 1)[0]
    assert twice.score == pytest.approx(2 * once.score)


def test_a_term_of_several_words_is_a_phrase() -> None:
    index = sqlite().index(documents("the red kayak", "red is the kayak"))
    assert ids(index.match(["red kayak"], 3)) == ["d01"]


def test_bm25_by_hand() -> None:
    """k1 1.2, b 0.75, idf ln((N - n + .5) / (n + .5)): 4 documents, lengths 1, 1, 1, 2."""
    import math

    index = sqlite().index(documents("kayak", "boat", "tent", "lake shore"))
    idf = math.log((4 - 1 + 0.5) / 1.5)
    expected = idf * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 1 / 1.25))
    assert index.match(["kayak"], 1)[0].score == pytest.approx(expected)


def test_an_unknown_tokenizer_is_told_before_the_run() -> None:
    assert sqlite().problems() == []
    wrong = replace(sqlite(), tokenizer="portre unicode61")
    assert "portre" in wrong.problems()[0]
    with pytest.raises(ComponentError, match="index"):
        wrong.index(documents("a"))
