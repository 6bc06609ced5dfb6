from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.fusion.scaled import Scaled
from components.types import Document, Hit

SCALED = Scaled({"a": "x", "b": "y"}, {"a": 1.0, "b": 0.5})


def ranking(part: str, scores: dict[str, float]) -> list[Hit]:
    best = sorted(scores.items(), key=lambda row: -row[1])
    return [Hit(Document(name, name), 1.0, {part: score}) for name, score in best]


def test_worked_by_hand() -> None:
    """Weights 1 and .5: d1 = (1 * 8/8 + .5 * 2/4) / 1.5, d2 = (1 * 2/8 + .5 * 4/4) / 1.5."""
    a, b = ranking("x", {"d1": 8, "d2": 2}), ranking("y", {"d2": 4, "d1": 2})
    found = SCALED.fuse({"a": a, "b": b}, 5)
    assert [(h.document.id, round(h.score, 9)) for h in found] == [("d1", 0.833333333), ("d2", 0.5)]
    assert found[0].parts == pytest.approx(
        {"x": 8, "y": 2, "a": 1 / 1.5, "b": 0.25 / 1.5, "fused": 1.25 / 1.5}
    )


def test_a_lane_that_found_nothing_leaves_its_weight_to_the_others() -> None:
    found = SCALED.fuse({"a": ranking("x", {"d1": 8, "d2": 2}), "b": []}, 5)
    assert [h.score for h in found] == [1.0, 0.25]
    assert SCALED.fuse({"a": [], "b": []}, 5) == []


def test_a_score_below_zero_gives_nothing() -> None:
    found = SCALED.fuse({"b": ranking("y", {"d1": -0.1, "d2": -0.2})}, 5)
    assert [(h.document.id, h.score) for h in found] == [("d1", 0.0), ("d2", 0.0)]


SCORES = st.dictionaries(st.sampled_from("pqrstu"), st.floats(0.001, 100), min_size=1)


@given(SCORES, SCORES)
def test_within_bounds_and_first_in_every_lane_is_one(x: dict[str, float], y: dict[str, float]) -> None:
    x, y = {**x, "top": 200.0}, {**y, "top": 200.0}
    lanes = {"a": ranking("x", x), "b": ranking("y", y)}
    found = SCALED.fuse(lanes, 99)
    assert all(0 <= hit.score <= 1 for hit in found)
    assert found[0].score == pytest.approx(1)
    assert [h.document.id for h in found] == [
        h.document.id for h in SCALED.fuse(dict(reversed(lanes.items())), 99)
    ]
    assert {h.document.id for h in found} == x.keys() | y.keys()


def test_mistakes_are_named() -> None:
    with pytest.raises(ValueError, match=r"weights\.a: -1\.0 is not 0 or more"):
        Scaled({"a": "x"}, {"a": -1.0})
    with pytest.raises(ValueError, match="no part named for lane b"):
        Scaled({"a": "x"}, {"a": 1.0, "b": 1.0})
    with pytest.raises(KeyError):
        SCALED.fuse({"zzz": ranking("x", {"d1": 1})}, 1)
