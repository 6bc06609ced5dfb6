"""Records -> numbers: against ir-measures, and case by case against what has gone wrong elsewhere."""

import itertools
import json
import random
from collections.abc import Sequence
from time import process_time
from typing import Any

import ir_measures
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import RR, R, ScoredDoc, Success, nDCG

from components.types import Answer, Label, Ref, Usage, Verdict
from runner.checks import checks
from runner.evaluation import Settings, evaluate
from runner.measures import values
from runner.records import ErrorRow, Record
from tests.runner.making import made_up, record, turn

K = (1, 3, 5, 10)
A, B, C = (turn(1, n) for n in (1, 2, 3))
JUDGES = {"facts": "mechanical", "words": "mechanical"}


def run(records: Sequence[Record], **choices: Any) -> dict[str, Any]:
    sections = evaluate(records, Settings(**({"k": K, "judges": JUDGES} | choices)))
    assert [check for check in sections["checks"] if not check["ok"]] == []
    return sections


def overall(records: Sequence[Record], level: str = "turn", **choices: Any) -> dict[str, Any]:
    return run(records, **choices)["retrieval"]["ours"][level]["overall"]


def graded(labels: Sequence[Label], judge: str = "facts", **rest: Any) -> list[Record]:
    return [record(f"q{i:03d}", labels={judge: label}, **rest) for i, label in enumerate(labels)]


def test_settings_name_every_wrong_number() -> None:
    with pytest.raises(ValueError, match=r"k lists.*confidence.*resamples.*compare: unknown measure 'hit@7'"):
        Settings(k=(1, 1), confidence=95, resamples=5, compare=("hit@7",))
    with pytest.raises(ValueError, match="k must list"):
        Settings(k=())


# --- retrieval ---------------------------------------------------------------------------------------------


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


# --- verdicts ----------------------------------------------------------------------------------------------


def cell_of(records: Sequence[Record], row: str = "overall", **choices: Any) -> dict[str, Any]:
    return run(records, **choices)["lexical"]["ours"]["facts"][row]


def test_three_denominators_stand_together() -> None:  # F169
    cell = cell_of(graded(["correct"] * 5 + ["invalid"] * 5))
    assert (cell["accuracy"], cell["strict"], cell["best_case"]) == (100, 50, 100)
    assert (cell["total"], cell["correct"], cell["invalid"], cell["valid_total"]) == (10, 5, 5, 5)
    assert (cell["invalid_rate"], cell["invalid_reasons"]) == (50, {"no verdict": 5})


def test_nothing_valid_is_null_and_neither_0_nor_100() -> None:  # F167
    cell = cell_of(graded(["invalid"] * 3))
    assert (cell["accuracy"], cell["strict"], cell["best_case"]) == (None, 0, 100)


def test_numerator_and_denominator_come_from_the_same_rows() -> None:  # F165, F178
    records = graded(["correct"] * 4 + ["wrong", "invalid", "invalid"], category="single-hop")
    records += [
        record(f"x{i}", labels={"facts": "correct"}, answerable=False, category="adversarial")
        for i in range(3)
    ]
    rows = run(records)["lexical"]["ours"]["facts"]
    got = {name: (cell["correct"], cell["valid_total"], cell["total"]) for name, cell in rows.items()}
    assert got == {
        "overall": (7, 8, 10),
        "blended": (7, 8, 10),
        "non_abstention": (4, 5, 7),
        "abstention": (3, 3, 3),
        "macro": (4, 5, 7),
        "single-hop": (4, 5, 7),
        "adversarial": (0, 0, 0),
    }
    assert rows["adversarial"]["accuracy"] is None


def test_a_set_without_unanswerable_questions_has_no_abstention_row() -> None:
    rows = run(graded(["correct"] * 3))["lexical"]["ours"]["facts"]
    assert list(rows) == ["overall", "plain", "macro"]


def test_mechanical_and_model_judges_never_share_a_section() -> None:
    records = [
        record(f"q{i}", labels={"facts": "correct", "words": "wrong", "gpt": "correct"}) for i in range(12)
    ]
    sections = run(records, judges={**JUDGES, "gpt": "model"})
    assert list(sections["lexical"]["ours"]) == ["facts", "words"]
    assert list(sections["accuracy"]["ours"]) == ["gpt"]
    assert {(row["judge_a"], row["judge_b"]) for row in sections["spread"]["ours"]} == {("facts", "words")}
    assert list(sections["agreement"]["ours"]) == ["facts vs words"]


def test_a_question_that_was_not_judged_stays_in_the_denominator() -> None:
    records = [*graded(["correct"] * 3), record("z", error=ErrorRow("recall", "timeout"))]
    cell = cell_of(records)
    assert (cell["total"], cell["invalid"], cell["invalid_reasons"]) == (4, 1, {"not judged": 1})


def test_no_verdicts_no_section() -> None:
    sections = run([record("q", ranked=[A], gold=[A])])
    assert not {"accuracy", "lexical", "spread", "agreement"} & sections.keys()


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (("correct", "wrong", "correct"), (1, 0, 1)),
        (("correct", "invalid", "invalid"), (1, 0, 0)),
        (("correct", "wrong"), (0, 1, 1)),
        (("wrong", "invalid", "wrong"), (0, 0, 0)),
        (("invalid", "invalid"), (0, 1, 0)),
    ],
)
def test_repeats_are_settled_by_the_majority(  # F177
    labels: tuple[Label, ...], expected: tuple[int, int, int]
) -> None:
    cell = cell_of([record("q", labels={"facts": labels})])
    assert (cell["correct"], cell["invalid"], cell["flips"]) == expected


def test_ties_say_so() -> None:
    assert cell_of([record("q", labels={"facts": ("correct", "wrong")})])["invalid_reasons"] == {"tie": 1}
    assert cell_of(graded(["correct"]))["flips"] is None


def test_intervals_of_single_questions_are_wilsons() -> None:
    cell = cell_of(graded(["correct"] * 49 + ["wrong"]))
    assert (cell["low"], cell["high"]) == pytest.approx((89.50455641036219, 99.64607407283539))
    assert cell["interval"] == "wilson"


# --- two judges --------------------------------------------------------------------------------------------


def judged(pairs: Sequence[tuple[Label, Label]], **rest: Any) -> list[Record]:
    return [record(f"q{i:03d}", labels={"facts": a, "words": b}, **rest) for i, (a, b) in enumerate(pairs)]


def test_spread_has_the_published_values() -> None:
    """100/100, 75/75, 45/42, 30/45: three of four survive at 5 points (SPEC A13)."""
    records = []
    for name, a, b in (("one", 100, 100), ("two", 75, 75), ("three", 45, 42), ("four", 30, 45)):
        records += [
            record(
                f"{name}{i:03d}",
                category=name,
                labels={"facts": "correct" if i < a else "wrong", "words": "correct" if i < b else "wrong"},
            )
            for i in range(100)
        ]
    rows = {row["category"]: row for row in run(records)["spread"]["ours"]}
    assert {
        name: (rows[name]["spread"], rows[name]["survives"]) for name in ("one", "two", "three", "four")
    } == {
        "one": (0, True),
        "two": (0, True),
        "three": (pytest.approx(3), True),
        "four": (pytest.approx(15), False),
    }
    assert [name for name, row in rows.items() if row["headline"]] == ["overall"]
    assert rows["four"]["low"] < 15 < rows["four"]["high"] and rows["three"]["low"] >= 0


def test_a_spread_of_exactly_the_tolerance_survives() -> None:
    pairs: list[tuple[Label, Label]] = [("correct", "correct")] * 13
    pairs += [("correct", "wrong")] + [("wrong", "wrong")] * 6  # 70 % and 65 %
    assert run(judged(pairs))["spread"]["ours"][0]["survives"]


def test_a_category_that_one_judge_lacks_has_no_spread_and_does_not_survive() -> None:
    row = run(judged([("correct", "invalid")] * 12))["spread"]["ours"][0]
    assert (row["spread"], row["low"], row["survives"], row["n"]) == (None, None, False, 0)


def test_agreement_stands_on_the_pairs_that_both_judged() -> None:  # F175
    pairs: list[tuple[Label, Label]] = [("correct", "correct")] * 3 + [("wrong", "correct")]
    pairs += [("wrong", "wrong")] * 2 + [("correct", "invalid")] * 3 + [("invalid", "invalid")]
    cell = run(judged(pairs))["agreement"]["ours"]["facts vs words"]
    assert (cell["n"], cell["raw"]) == (6, pytest.approx(5 / 6))
    assert cell["kappa"] == pytest.approx(2 / 3)


def test_agreement_of_equal_labels_is_undefined_not_nan() -> None:  # F174
    cell = run(judged([("correct", "correct")] * 5))["agreement"]["ours"]["facts vs words"]
    assert (cell["n"], cell["raw"], cell["kappa"]) == (5, 1, None)


# --- two systems -------------------------------------------------------------------------------------------


def compared(sections: dict[str, Any], measure: str, category: str = "overall") -> dict[str, Any]:
    (row,) = [r for r in sections["comparisons"] if (r["measure"], r["category"]) == (measure, category)]
    return row


def pair(n: int, only_a: int, only_b: int) -> list[Record]:
    """Two systems over n questions; `only_a` that the first alone has right, then `only_b`."""
    rows = []
    for i in range(n):
        a, b = i < only_a or i >= only_a + only_b, i >= only_a
        for system, right in (("first", a), ("second", b)):
            label: Label = "correct" if right else "wrong"
            its = {"ranked": [A] if right else [B], "gold": [A], "labels": {"facts": label}}
            rows.append(record(f"q{i:03d}", system=system, **its))
    return rows


def test_systems_are_compared_in_pairs_of_the_same_question() -> None:  # F171
    sections = run(pair(220, 30, 10))
    hit, lexical = compared(sections, "hit@10"), compared(sections, "lexical")
    assert (hit["a"], hit["b"], hit["n"], hit["discordant"]) == ("first", "second", 220, [30, 10])
    assert hit["difference"] == pytest.approx(20 / 220)
    assert lexical["difference"] == pytest.approx(100 * 20 / 220) and lexical["judge"] == "facts"
    assert hit["p"] == pytest.approx(0.0022, abs=1e-4)
    assert hit["p_holm"] == pytest.approx(2 * hit["p"])  # overall and one category
    assert (hit["verdict"], hit["test"]) == ("better", "paired")
    assert compared(sections, "ndcg@10")["discordant"] is None


def test_the_worse_system_is_called_worse() -> None:
    assert compared(run(pair(220, 10, 30)), "hit@10")["verdict"] == "worse"


def test_an_interval_that_holds_0_carries_no_word() -> None:
    row = compared(run(pair(100, 12, 8)), "hit@10")
    assert row["low"] < 0 < row["high"] and row["verdict"] == "no difference shown"
    same = compared(run(pair(100, 0, 0)), "hit@10")
    assert (same["low"], same["high"], same["p"], same["verdict"]) == (0, 0, 1, "no difference shown")


def test_an_interval_without_0_carries_no_word_either_unless_holm_agrees() -> None:
    """Seven systems against the first: one difference at p = .03 is no finding."""
    records = []
    for number in range(7):
        lost = 6 if number == 6 else 0
        records += [
            record(f"q{i:03d}", system=f"s{number}", ranked=[B] if i < lost else [A], gold=[A])
            for i in range(60)
        ]
    rows = [r for r in run(records)["comparisons"] if r["measure"] == "hit@10" and r["category"] == "overall"]
    assert [(r["a"], r["b"]) for r in rows] == [("s0", f"s{n}") for n in range(1, 7)]
    assert rows[-1]["low"] > 0 and rows[-1]["p"] < 0.05 < rows[-1]["p_holm"]
    assert rows[-1]["verdict"] == "no difference shown"


def test_few_questions_are_not_compared() -> None:
    row = compared(run(pair(9, 9, 0)), "hit@10")
    assert (row["low"], row["p"], row["mde"], row["reason"]) == (None, None, None, "n too small")
    assert row["verdict"] == "no difference shown" and row["difference"] == 1


def test_systems_are_compared_on_the_questions_that_both_have() -> None:  # F172
    records = [r for r in pair(60, 20, 0) if (r.system, r.question_id) < ("second", "q050")]
    records = [
        r if r.key != ("first", "q059") else msgspec.structs.replace(r, ranked=None, unscored="error")
        for r in records
    ]
    sections = evaluate(records, Settings(k=K, judges=JUDGES))
    row = compared(sections, "hit@10")
    assert (row["n"], row["n_a"], row["n_b"]) == (50, 59, 50)
    failed = [check["name"] for check in sections["checks"] if not check["ok"]]
    assert failed == ["every system has the same number of questions"]


def test_clusters_take_the_word_away() -> None:
    """Twenty discordant questions of one conversation are not twenty findings."""
    records = [
        msgspec.structs.replace(r, haystack=f"h{min(int(r.question_id[1:]) // 20, 4)}")
        for r in pair(100, 20, 0)
    ]
    alone, clustered = compared(run(pair(100, 20, 0)), "hit@10"), compared(run(records), "hit@10")
    assert alone["verdict"] == "better" and clustered["verdict"] == "no difference shown"
    assert (clustered["clusters"], clustered["discordant"]) == (5, [20, 0])


def test_one_system_has_nothing_to_be_compared_with() -> None:
    assert "comparisons" not in run(graded(["correct"] * 20))


# --- cost, time, errors ------------------------------------------------------------------------------------


def test_tokens_that_were_not_told_are_null_and_keyless_ones_0() -> None:  # F116
    told = record("q1", labels={"gpt": "correct", "facts": "correct"}, haystack="h")
    told = msgspec.structs.replace(told, answer=Answer("x", Usage(100, 10, 0.5, "m-1")))
    told = msgspec.structs.replace(
        told, verdicts={**told.verdicts, "gpt": (Verdict("correct", usage=Usage(None, None, 0.2, "m-2")),)}
    )
    keyless = record("q2", labels={"facts": "correct"}, haystack="h", system="keyless")
    keyless = msgspec.structs.replace(keyless, answer=Answer("x", Usage(seconds=0.1)))
    cost = evaluate([told, keyless], Settings(k=K, judges={"facts": "mechanical", "gpt": "model"}))["cost"]
    assert (cost["tokens_in"], cost["tokens_out"], cost["not_told"]) == (100, 10, 1)
    assert cost["by_role"]["answer"]["served_models"] == {"m-1": 1}
    assert cost["by_role"]["judge gpt"]["tokens_in"] is None
    assert cost["per_query"] == {
        "keyless": {"tokens_in": 0, "tokens_out": 0},
        "ours": {"tokens_in": 100, "tokens_out": 10},
    }


def test_a_haystack_is_ingested_once() -> None:
    latency = run([record(f"q{i}", haystack=f"h{i % 3}", ranked=[A], gold=[A]) for i in range(30)])["latency"]
    assert latency["ingest"]["n"] == 3 and latency["recall"]["n"] == 30
    assert latency["recall"]["by_system"]["ours"] == {"p50": 0.01, "p95": 0.01, "n": 30}


def test_a_failure_is_counted_once_where_it_arose() -> None:
    empty = msgspec.structs.replace(
        record("q2", labels={"facts": "invalid"}), answer=Answer("", status="invalid", reason="empty")
    )
    failed = msgspec.structs.replace(
        record("q3", labels={"facts": "invalid"}, error=ErrorRow("recall", "timeout")),
        answer=Answer("", status="invalid", reason="recall: timeout"),
    )
    records = [record("q1", labels={"facts": "invalid"}), empty, failed]
    assert run(records)["errors"] == {
        "answer": {"empty": 1},
        "judge facts": {"no verdict": 1},
        "recall": {"timeout": 1},
    }


# --- the whole ---------------------------------------------------------------------------------------------


def test_the_order_of_the_records_changes_nothing() -> None:
    records = made_up(120, 6, 20, {"fts": 0.5, "dense": 0.4})
    choices = Settings(k=K, judges=JUDGES, systems=("fts", "dense"), categories=("temporal", "multi-hop"))
    expected = evaluate(records, choices)
    random.Random(1).shuffle(records)
    got = evaluate(records, choices)
    assert json.dumps(got) == json.dumps(expected)


def test_a_repeated_record_is_left_out_and_told() -> None:
    one = record("q", ranked=[A], gold=[A])
    sections = evaluate([one, one], Settings(k=K))
    assert sections["counts"]["records"] == 1
    assert [c["name"] for c in sections["checks"] if not c["ok"]] == ["each question once per system"]


def test_a_category_cannot_have_the_name_of_a_row() -> None:
    with pytest.raises(ValueError, match="'macro'"):
        run([record("q", ranked=[A], gold=[A], category="macro")])


def test_no_records_are_no_error() -> None:
    sections = evaluate([], Settings(k=K, judges=JUDGES))
    assert sections["counts"]["questions"] == 0 and "retrieval" not in sections


@pytest.mark.parametrize(
    ("damage", "name"),
    [
        (
            lambda s: s["retrieval"]["fts"]["turn"]["overall"].update({"recall@1": 1.0}),
            "recall@k and hit@k grow",
        ),
        (lambda s: s["retrieval"]["fts"]["turn"]["overall"].update({"ndcg@10": 1.2}), "measures lie in"),
        (lambda s: s["retrieval"]["fts"]["turn"]["overall"].update(n=1), "n + unscored"),
        (lambda s: s["retrieval"]["fts"]["turn"]["macro"].update({"mrr@10": 0.99}), "macro lies within"),
        (lambda s: s["retrieval"]["fts"]["turn"]["overall"].update({"mrr@10": float("nan")}), "finite"),
        (lambda s: s["lexical"]["fts"]["facts"]["overall"].update(invalid=3), "valid = total"),
        (lambda s: s["lexical"]["fts"]["facts"]["overall"].update(correct=1), "categories + abstention"),
        (lambda s: s["lexical"]["fts"]["facts"]["overall"].update(accuracy=1.0), "intervals hold"),
        (lambda s: s["spread"]["fts"][0].update(spread=0.0), "spread follows"),
        (lambda s: s["comparisons"][0].update(verdict="better", low=-1), "no verdict of a comparison"),
    ],
)
def test_the_self_checks_notice(damage: Any, name: str) -> None:
    choices = Settings(k=K, judges=JUDGES)
    sections = evaluate(made_up(60, 6, 20, {"fts": 0.5, "dense": 0.4}), choices)
    assert all(check["ok"] for check in sections["checks"])
    damage(sections)
    failed = [check for check in checks(sections, choices) if not check["ok"]]
    assert any(check["name"].startswith(name) or name in check["name"] for check in failed)
    assert all(check["detail"] for check in failed)


def test_a_run_of_the_size_of_locomo_is_evaluated_in_seconds() -> None:
    records = made_up(1540, 10, 500, {"ours": 0.5})
    start = process_time()
    evaluate(records, Settings(k=(*K, 50), judges=JUDGES))
    assert process_time() - start < 3
