"""Verdicts -> lexical and accuracy, two judges side by side: three denominators, spread, agreement."""

from collections.abc import Sequence
from typing import Any

import pytest

from components.types import Label
from runner.records import ErrorRow, Record
from tests.runner.evaluating import JUDGES, A, graded, run
from tests.runner.making import record


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
