"""Two systems on the questions that both have: when a difference gets a word, and when not."""

from typing import Any

import msgspec
import pytest

from components.types import Label
from runner.evaluation import Settings, evaluate
from runner.records import Record
from tests.runner.evaluating import JUDGES, A, B, K, graded, run
from tests.runner.making import record


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
