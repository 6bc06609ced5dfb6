"""LongMemEval's measures: by hand, and by an oracle that goes the long way over places in the corpus."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.formats.official import by_session, measured

CORPUS = ["answer_a_1", "noans_a_2", "answer_a_3", "chat_b_1", "chat_b_2", "answer_c_1", "chat_d_1"]
GOLD = {"answer_a_1", "answer_a_3", "answer_c_1"}


def test_by_hand() -> None:
    ranked = ["chat_b_1", "answer_a_1", "answer_c_1", "chat_d_1"]
    found = measured(ranked, GOLD, CORPUS, (1, 3))
    assert [found[f"recall_any@{k}"] for k in (1, 3)] == [0.0, 1.0]
    assert [found[f"recall_all@{k}"] for k in (1, 3)] == [0.0, 0.0]
    ideal = 1 + 1 + 1 / math.log2(3)  # three relevant ones; neither rank 1 nor rank 2 is discounted
    assert found["ndcg_any@1"] == 0.0
    assert found["ndcg_any@3"] == pytest.approx((1 + 1 / math.log2(3)) / ideal)


def test_rank_2_is_worth_as_much_as_rank_1() -> None:
    one = measured(["answer_a_1", "chat_b_1"], GOLD, CORPUS, (3,))
    two = measured(["chat_b_1", "answer_a_1"], GOLD, CORPUS, (3,))
    assert one["ndcg_any@3"] == two["ndcg_any@3"]


def test_sessions_take_as_many_turns_as_k_names_need() -> None:
    """Two names need three turns here, and the third is gold of the session that was there already."""
    ranked = ["answer_a_1", "answer_a_3", "chat_b_1", "answer_c_1"]
    found = by_session(ranked, GOLD, CORPUS, (1, 3))
    assert found["recall_any@1"] == 1.0
    assert found["recall_all@1"] == 0.0
    assert found["recall_all@3"] == 1.0  # a, b and c are the three names: four turns
    assert found["ndcg_any@1"] == 1.0


def long_way(ranked: Sequence[str], gold: set[str], corpus: Sequence[str], k: int) -> list[float]:
    """Over places: relevance of every document, discounts 1, log2 2, log2 3 ... one by one."""
    first = list(ranked)[:k]
    relevant = [1.0 if name in gold else 0.0 for name in first]
    best = sorted((1.0 if name in gold else 0.0 for name in corpus), reverse=True)[:k]

    def gain(values: Sequence[float]) -> float:
        total = 0.0
        for place, value in enumerate(values):
            total += value if place == 0 else value / math.log2(place + 1)
        return total

    any_, all_ = (float(f(name in set(first) for name in gold)) for f in (any, all))
    return [any_, all_, gain(relevant) / gain(best) if gain(best) else 0.0]


@given(st.permutations(CORPUS), st.integers(1, 7), st.integers(1, 7))
def test_equal_to_the_long_way(order: list[str], k: int, depth: int) -> None:
    ranked = order[: max(depth, k)]
    names = [f"{name}@{k}" for name in ("recall_any", "recall_all", "ndcg_any")]
    found = measured(ranked, GOLD, CORPUS, (k,))
    assert [found[name] for name in names] == pytest.approx(long_way(ranked, GOLD, CORPUS, k))
    stripped = [name.rsplit("_", 1)[0] for name in order]
    deep = k
    while deep < len(stripped) and len(set(stripped[:deep])) < k:
        deep += 1
    whole = [name.rsplit("_", 1)[0] for name in CORPUS]
    sessions = by_session(order, GOLD, CORPUS, (k,))
    wanted = long_way(stripped, {"answer_a", "answer_c"}, whole, deep)
    assert [sessions[name] for name in names] == pytest.approx(wanted)
    assert all(0 <= value <= 1 for value in (*found.values(), *sessions.values()))
