"""Rankings -> retrieval measures: against ir-measures, and case by case against what has gone wrong elsewhere."""

import itertools

import ir_measures
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import RR, R, ScoredDoc, Success, nDCG

from components.types import Ref
from runner.measures import values
from tests.runner.evaluating import A, B, C, K, overall, run
from tests.runner.making import record, turn


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.integers(0, 25), max_size=40, unique=True),
    st.sets(st.integers(0, 30), min_size=1, max_size=14),
    st.integers(0, 3),
)
def test_measures_equal_ir_measures(ranking: list[int], gold: set[int], lost: int) -> None:
    qrels = {"q": {f"d{i}": 1 for i in gold} | {f"lost{i}": 1 for i in range(lost)}}
    names = [R @ k for k in K] + [Success @ k for k in K]
    full = [ScoredDoc("q", f"d{d}", float(-rank)) for rank, d in enumerate(ranking)]
    # pytrec_eval's reciprocal rank has no cut-off: it gets the first ten only.
    expected = ir_measures.calc_aggregate([*names, nDCG @ 10], qrels, full or [ScoredDoc("q", "none", 0.0)])
    first = ir_measures.calc_aggregate([RR], qrels, full[:10] or [ScoredDoc("q", "none", 0.0)])
    got = list(values([*ranking], gold, K, lost))
    assert got == pytest.approx([*(expected[m] for m in names), first[RR], expected[nDCG @ 10]], abs=1e-9)


def test_gold_at_the_second_rank_is_discounted() -> None:  # F66
    cell = overall([record("q", ranked=[A, B], gold=[B])])
    assert cell["ndcg@10"] == pytest.approx(0.6309, abs=1e-4)
    assert cell["mrr@10"] == 0.5
    assert (cell["recall@1"], cell["hit@1"], cell["recall@3"], cell["hit@3"]) == (0, 0, 1, 1)


@given(st.lists(st.sampled_from([A, B, C]), max_size=8), st.lists(st.sampled_from([A, B, C]), min_size=1))
@settings(max_examples=50, deadline=None)
def test_repeats_change_nothing(ranked: list[Ref], gold: list[Ref]) -> None:  # F68
    once = overall([record("q", ranked=list(dict.fromkeys([*ranked, C])), gold=list(dict.fromkeys(gold)))])
    assert overall([record("q", ranked=[*ranked, C, *ranked], gold=gold)]) == once


def test_the_order_of_the_ranking_is_the_truth_whatever_the_scores() -> None:  # F69: all scores are 1.0
    for places in itertools.permutations([A, B, C]):
        assert overall([record("q", ranked=places, gold=[C])])["mrr@10"] == 1 / (places.index(C) + 1)


def test_sessions_stand_where_their_first_turn_stands() -> None:
    ranked = [turn(2, 1), turn(2, 2), turn(3, 1), turn(1, 9), turn(2, 3)]
    sections = run([record("q", ranked=ranked, gold=[turn(1, 1), turn(1, 2)])])
    cells = sections["retrieval"]["ours"]
    assert cells["session"]["overall"]["mrr@10"] == pytest.approx(1 / 3)
    assert cells["session"]["overall"]["recall@3"] == 1  # two gold turns, one gold session
    assert cells["turn"]["overall"]["recall@10"] == 0  # the right session, never the right turn


def test_sessions_are_looked_for_below_the_deepest_cut_off() -> None:
    ranked = [*(turn(1, n) for n in range(1, 60)), turn(2, 1)]
    assert overall([record("q", ranked=ranked, gold=[turn(2, 5)])], "session")["hit@3"] == 1


def test_a_ranking_of_sessions_has_no_turn_level() -> None:
    cells = run([record("q", ranked=[Ref("s01", None)], gold=[Ref("s01", None), A])])["retrieval"]["ours"]
    assert list(cells) == ["session"]
    assert cells["session"]["overall"]["recall@1"] == 1


def test_gold_without_turns_has_no_turn_level() -> None:
    cells = run([record("q", ranked=[A], gold=[Ref("s01", None)])])["retrieval"]["ours"]
    assert list(cells) == ["session"]


def test_what_is_not_scored_is_counted_by_its_reason() -> None:  # F64, F65, F72, F178
    cell = overall(
        [
            record("q1", ranked=[A], gold=[A]),
            record("q2", ranked=[A], gold=[]),
            record("q3", ranked=[A], gold=[], unresolved=["D8:6; D9:17"]),
            record("q4", ranked=[A], gold=[A], answerable=False),
            record("q5", ranked=None, gold=[A], unscored="unmapped"),
            record("q6", ranked=None, gold=[A]),
            record("q7", ranked=[A], gold=[Ref("s01", None)]),
        ]
    )
    assert cell["unscored"] == {
        "no gold": 2,
        "no ranking": 1,
        "not answerable": 1,
        "unmapped": 1,
        "unresolved": 1,
    }
    assert (cell["n"], cell["total"], cell["recall@1"]) == (1, 7, 1.0)


def test_empty_gold_counts_nothing_only_where_that_is_chosen() -> None:
    records = [
        record("q1", ranked=[A], gold=[A]),
        record("q2", ranked=[A], gold=[]),
        record("q3", ranked=[A], gold=[], unresolved=["D30:05"]),
        record("q4", ranked=[A], gold=[], answerable=False),
        record("q5", ranked=None, gold=[], unscored="error"),
    ]
    cell = overall(records, empty_gold="zero")
    assert (cell["n"], cell["mrr@10"]) == (3, pytest.approx(1 / 3))
    assert cell["unscored"] == {"error": 1, "not answerable": 1}


def test_unresolved_evidence_counts_in_the_ideal_where_that_is_chosen() -> None:
    records = [record("q", ranked=[A], gold=[A], unresolved=["D1:99", "D1:99"])]
    assert overall(records)["ndcg@10"] == 1
    counted = run(records, unresolved="count")["retrieval"]["ours"]
    assert counted["turn"]["overall"]["ndcg@10"] == pytest.approx(1 / (1 + 1 / 1.5849625007211563))
    assert counted["turn"]["overall"]["recall@10"] == 0.5
    assert counted["session"]["overall"]["recall@10"] == 1  # such a string names no session


def test_a_system_without_rankings_is_not_measurable_and_never_0() -> None:  # F72
    records = [record(f"q{i}", ranked=None, gold=[A], system="full") for i in range(12)]
    records += [record(f"q{i}", ranked=[A], gold=[A]) for i in range(12)]
    cell = run(records)["retrieval"]["full"]["turn"]["overall"]
    assert (cell["n"], cell["recall@1"], cell["low"]["recall@1"]) == (0, None, None)
    assert cell["unscored"] == {"no ranking": 12}


def test_a_system_that_finds_nothing_scores_0() -> None:
    records = [record(f"q{i}", ranked=[], gold=[A], system="null") for i in range(12)]
    records += [record(f"q{i}", ranked=[A], gold=[A]) for i in range(12)]
    cell = run(records)["retrieval"]["null"]["turn"]["overall"]
    assert (cell["n"], cell["recall@10"]) == (12, 0.0)


def test_overall_and_macro_are_both_named() -> None:  # F78
    records = [record(f"a{i}", ranked=[A] if i < 90 else [B], gold=[A], category="a") for i in range(100)]
    records += [record(f"b{i}", ranked=[A] if i < 5 else [B], gold=[A], category="b") for i in range(10)]
    cells = run(records, categories=("b", "none", "a"))["retrieval"]["ours"]["turn"]
    assert cells["overall"]["hit@1"] == pytest.approx(95 / 110)
    assert cells["macro"]["hit@1"] == pytest.approx(0.7)
    assert list(cells) == ["overall", "macro", "b", "none", "a"]
    assert (cells["none"]["n"], cells["none"]["hit@1"]) == (0, None)  # F179


def test_under_ten_questions_there_is_no_interval() -> None:
    nine = [record(f"q{i}", ranked=[A], gold=[A]) for i in range(9)]
    few, enough = overall(nine), overall([*nine, record("q9", ranked=[A], gold=[A])])
    assert few["note"] == "n too small" and few["low"]["hit@1"] is None
    assert enough["note"] is None and enough["low"]["hit@1"] == pytest.approx(0.722, abs=1e-3)


def test_questions_of_one_haystack_are_a_cluster() -> None:
    cells = [record(f"q{i}", ranked=[A], gold=[A], haystack=f"h{i % 2}") for i in range(12)]
    assert (overall(cells)["clusters"], overall(cells)["interval"]) == (2, "cluster")
    alone = [record(f"q{i}", ranked=[A], gold=[A], haystack="h") for i in range(12)]
    assert overall(alone)["low"]["hit@1"] is None
