from __future__ import annotations

import pytest

from components.lane.dense import Dense
from components.types import ComponentError
from tests.component.retrieval import Letters, documents, ids, query, sqlite


def test_nearest_of_the_question_and_its_variants() -> None:
    embedder = Letters()
    index = sqlite(embedder).index(documents("aaa", "bbb", "aab"))
    found = Dense().search(query("aa"), index, (), 2)
    assert ids(found) == ["d01", "d03"] and [hit.score for hit in found] == [1.0, 0.5]
    assert found[1].parts["cosine"] == pytest.approx(2 / 5**0.5, abs=1e-6)
    assert ids(Dense().search(query("aa", "b"), index, (), 2)) == ["d01", "d02"]
    assert ("query", "aa") in embedder.seen


def test_a_question_that_cannot_be_embedded() -> None:
    index = sqlite(Letters()).index(documents("aaa"))
    with pytest.raises(ComponentError, match=r"embed: zero vector \('1234'\)"):
        Dense().search(query("1234"), index, (), 2)
