from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.fusion.rrf import Rrf
from components.types import Document, Hit
from tests.component.retrieval import conf, documents, hits, ids

RRF = Rrf(**conf("fusion", "rrf"))
A, B, C, D = documents("a", "b", "c", "d")


def test_worked_numbers() -> None:
    """lexical 1.0: a b; dense 1.5: b c. Divided by 2.5 / 61."""
    found = RRF.fuse({"lexical": hits(A, B), "dense": hits(B, C)}, 10)
    scale = 61 / 2.5
    assert ids(found) == ["d02", "d03", "d01"]
    expected = [(1 / 62 + 1.5 / 61) * scale, 1.5 / 62 * scale, 1 / 61 * scale]
    assert [hit.score for hit in found] == pytest.approx(expected)
    assert found[0].parts == pytest.approx(
        {"lexical": scale / 62, "dense": 1.5 / 61 * scale, "fused": expected[0]}
    )


def test_a_single_lane_passes_untouched() -> None:
    """SPEC A2.4: and never a first of 0.4, which the seed's older formula gave."""
    for rankings in ({"lexical": hits(A, B)}, {"lexical": hits(A, B), "dense": []}):
        found = RRF.fuse(rankings, 10)
        assert [(h.document, h.score) for h in found] == [(A, 1.0), (B, 0.5)]
        assert found[1].parts == {"lexical": 0.5, "fused": 0.5}


def test_nothing_found_is_nothing() -> None:
    assert RRF.fuse({"lexical": [], "dense": []}, 10) == [] == RRF.fuse({}, 10)


def test_weights() -> None:
    """A weight without a lane is ignored, weight 0 is without the lane, a lane without one an error."""
    more = Rrf(60, {**RRF.weights, "entity": 9.0})
    both = {"lexical": hits(A, B), "dense": hits(B, C)}
    assert more.fuse(both, 9) == RRF.fuse(both, 9)
    assert ids(Rrf(60, {"lexical": 1.0, "dense": 0.0}).fuse(both, 9)) == ["d01", "d02"]
    with pytest.raises(KeyError, match="dense"):
        Rrf(60, {"lexical": 1.0}).fuse(both, 9)


def test_an_exact_match_in_both_is_first() -> None:
    """F44."""
    found = RRF.fuse({"lexical": hits(C, A, B), "dense": hits(C, D, A, B)}, 10)
    assert found[0].document == C and found[0].score == 1.0 and found[-1].score < 1.0


def test_the_lanes_own_parts_stay() -> None:
    found = RRF.fuse({"lexical": [Hit(A, 1.0, {"bm25": 7.0})], "dense": [Hit(A, 1.0, {"cosine": 0.5})]}, 1)
    assert found[0].parts == pytest.approx(
        {"bm25": 7.0, "cosine": 0.5, "lexical": 0.4, "dense": 0.6, "fused": 1.0}
    )


@pytest.mark.parametrize(
    ("c", "weights", "named"),
    [(0, {"a": 1.0}, "c"), (60, {"a": -1.0}, "weights.a"), (60, {"a": float("nan")}, "weights.a")],
)
def test_config_errors(c: float, weights: dict[str, float], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        Rrf(c, weights)


POOL = [Document(f"d{n:02d}", "x") for n in range(12)]
RANKINGS = st.lists(
    st.lists(st.sampled_from(POOL), unique_by=lambda d: d.id, max_size=12), min_size=1, max_size=4
)
WEIGHTS = st.lists(st.floats(0.01, 100), min_size=4, max_size=4)


@given(RANKINGS, WEIGHTS)
def test_properties(rankings: list[list[Document]], weights: list[float]) -> None:
    """In [0, 1]; ids unique; a total order; the order of the lanes does not matter; first in all = 1."""
    names = [f"l{n}" for n in range(len(rankings))]
    fusion = Rrf(60, dict(zip(["l0", "l1", "l2", "l3"], weights, strict=True)))
    lanes = {name: hits(*found) for name, found in zip(names, rankings, strict=True)}
    fused = fusion.fuse(lanes, 99)
    assert set(ids(fused)) == {d.id for found in rankings for d in found}
    assert len(fused) == len(set(ids(fused)))
    assert all(0 <= hit.score <= 1 for hit in fused)
    scores = [(-hit.score, hit.document.id) for hit in fused]
    assert scores == sorted(scores)
    for order in itertools.permutations(names):
        assert fusion.fuse({name: lanes[name] for name in order}, 99) == fused
    firsts = [found[0] for found in rankings if found]
    if firsts and all(document == firsts[0] for document in firsts):
        assert fused[0].document == firsts[0] and fused[0].score == pytest.approx(1.0)
    assert fusion.fuse(lanes, 3) == fused[:3]
