"""Warnings stand where they belong: independence, few questions, lost rankings, unreliable verdicts."""

import copy
from typing import Any

import pytest

from runner.disclosure import family
from runner.evaluation import Settings, evaluate
from runner.page import page
from runner.records import ErrorRow
from runner.report import assemble, console, problems
from tests.runner.making import made_up, record, turn
from tests.runner.reporting import facts, made, warnings_of


@pytest.fixture(scope="module")
def whole() -> dict[str, Any]:
    return made()


@pytest.fixture
def report(whole: dict[str, Any]) -> dict[str, Any]:
    return copy.deepcopy(whole)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("gpt-4o-2024-11-20", "gpt-4.1", True),
        ("openai/gpt-4o", "o3-mini", True),
        ("chatgpt-4o-latest", "gpt-4.1", True),
        ("claude-sonnet-4-6", "gpt-4.1", False),
        ("anthropic/claude-opus-4", "claude-sonnet-4-6", True),
        ("Qwen/Qwen2.5-0.5B-Instruct-GGUF", "qwen3:8b", True),
        ("meta-llama/Llama-3.1-8B", "codellama:13b", True),
        ("mistral-small", "llama3", False),
    ],
)
def test_families_of_models(one: str, other: str, same: bool) -> None:
    assert (family(one) == family(other)) is same


def test_independence_of_the_judges_is_told(report: dict[str, Any]) -> None:
    told = report["disclosure"]
    assert (told["cross_model"], told["cross_provider"], told["conflict_of_interest"]) == (
        True,
        True,
        ["gpt"],
    )
    assert "judge gpt is a model of the answerer's family" in warnings_of(report)
    models = facts()["models"]
    models["judges"]["claude"] = models["judges"]["gpt"]
    same = made(models=models)["disclosure"]
    assert (same["cross_model"], same["cross_provider"]) == (False, False)


def test_warnings_of_the_run_come_first_and_none_comes_twice() -> None:
    own = {
        "single_run": True,
        "lanes": {},
        "warnings": ["5 questions hold Chinese text", "5 questions hold Chinese text"],
    }
    found = made(disclosure=own)["disclosure"]["warnings"]
    assert found[0] == "5 questions hold Chinese text"
    assert len(found) == len(set(found)) > 2


def test_cut_offs_that_reach_a_whole_haystack_are_told() -> None:  # F75
    records = made_up(60, 6, 20, {"fts": 0.4})
    report = assemble(evaluate(records, Settings(k=(1, 20, 50))), facts())
    assert "k=20, k=50 reaches the whole smallest haystack (20 sessions)" in warnings_of(report)
    assert "turns)" not in warnings_of(report)


def test_too_many_invalid_verdicts_make_a_run_unreliable() -> None:  # F170
    def share(invalid: int) -> str:
        records = [
            record(f"q{i:03d}", labels={"facts": "invalid" if i < invalid else "correct"}) for i in range(100)
        ]
        return warnings_of(
            assemble(evaluate(records, Settings(k=(1,), judges={"facts": "mechanical"})), facts())
        )

    assert "unreliable" not in share(2)
    assert "unreliable: 3 of 100 verdicts of facts on ours are invalid (3.0 %, limit 2.0 %" in share(3)


def test_lost_rankings_are_told() -> None:  # F72, F170
    def lost(number: int) -> str:
        records = [
            record(f"q{i}", ranked=[turn(1, 1)], gold=[turn(1, 1)])
            if i >= number
            else record(
                f"q{i}", ranked=None, unscored="error", error=ErrorRow("recall", "timeout"), gold=[turn(1, 1)]
            )
            for i in range(50)
        ]
        return warnings_of(assemble(evaluate(records, Settings(k=(1,))), facts()))

    assert "ranking" not in lost(1)
    assert "unreliable: ours has no ranking for 2 of 50 questions (error 2)" in lost(2)
    assert "ours has no ranking (error 50): its retrieval is n/a, not 0" in lost(50)


def test_few_clusters_small_categories_and_mechanical_judges_are_told() -> None:
    records = made_up(36, 6, 20, {"fts": 0.4})
    text = warnings_of(assemble(evaluate(records, Settings(k=(1,), judges={"facts": "mechanical"})), facts()))
    assert "36 questions share 6 haystacks" in text
    assert "G = 6 for overall of session, turn, facts" in text
    assert "n too small (under 10) for an interval: 4 of 4 categories" in text
    assert "all judges are mechanical" in text
    assert "facts is the only mechanical judge: no spread" in text
    assert "a single run" in text


def test_a_spread_that_does_not_survive_and_a_wavering_judge_are_told() -> None:
    labels = {"facts": ("correct", "correct", "wrong"), "words": "wrong"}
    records = [record(f"q{i}", labels=labels) for i in range(20)]
    choices = Settings(k=(1,), judges={"facts": "mechanical", "words": "mechanical"})
    text = warnings_of(assemble(evaluate(records, choices), facts()))
    assert (
        "the spread of facts and words on ours is 100.0 points: it does not survive the tolerance of 5"
        in text
    )
    assert "judge facts contradicts itself on 20 questions of ours" in text


def test_a_failed_self_check_is_told_on_top() -> None:
    one = record("q", ranked=[turn(1, 1)], gold=[turn(1, 1)], system="fts")
    report = assemble(evaluate([one, one], Settings(k=(1,))), facts())
    assert "a self-check failed: each question once per system (1 records)" in warnings_of(report)
    assert "**1 self-checks failed" in page(report)[:600]


def test_each_row_is_told_the_haystacks_that_its_own_interval_stands_on() -> None:
    """12 haystacks were asked; those of three have no evidence, so that retrieval stands on nine."""
    records = [
        record(
            f"q{i:02d}",
            haystack=f"h{i % 12:02d}",
            category=("plain", "other")[i % 12 < 4],
            ranked=[turn(1, i % 3)],
            gold=[] if i % 12 > 8 else [turn(1, 1)],
            labels={"facts": "correct" if i % 5 else "wrong"},
        )
        for i in range(48)
    ]
    sections = evaluate(records, Settings(k=(1,), judges={"facts": "mechanical"}))
    assert sections["retrieval"]["ours"]["turn"]["overall"]["clusters"] == 9
    text = warnings_of(assemble(sections, facts()))
    assert (
        "48 questions share 12 haystacks: an interval stands on the G haystacks of its row, "
        "G = 9 for overall of session, turn; G = 12 for overall of facts; G = 4 to 8 for the categories"
    ) in text
    assert "n too small" not in text


def test_rows_without_an_interval_are_named() -> None:
    """Two systems: one ranks four questions only; the category has enough questions for the other."""
    records = [record(f"q{i:02d}", ranked=[turn(1, 1)], gold=[turn(1, 1)], system="a") for i in range(12)]
    records += [
        record(f"q{i:02d}", ranked=None if i > 3 else [turn(1, 1)], gold=[turn(1, 1)], system="b")
        for i in range(12)
    ]
    text = warnings_of(assemble(evaluate(records, Settings(k=(1,))), facts()))
    assert (
        "n too small (under 10) for an interval: plain; overall of session of b, turn of b (n = 4); "
        "macro of session of b, turn of b (n = 4)"
    ) in text


def test_abstention_is_a_row_that_may_be_small() -> None:
    records = [
        record(f"q{i:02d}", labels={"facts": "correct"}, answerable=i > 2, category="plain")
        for i in range(30)
    ]
    text = warnings_of(assemble(evaluate(records, Settings(k=(1,), judges={"facts": "mechanical"})), facts()))
    assert "n too small (under 10) for an interval: abstention of facts (n = 3)" in text


def test_one_haystack_is_not_called_a_small_n() -> None:
    records = [record(f"q{i}", ranked=[turn(1, 1)], gold=[turn(1, 1)], haystack="h") for i in range(20)]
    text = warnings_of(assemble(evaluate(records, Settings(k=(1,))), facts()))
    assert "one haystack only, so no interval: overall of session, turn (n = 20)" in text
    assert "n too small" not in text


def test_an_undefined_spread_is_not_one_that_does_not_survive() -> None:
    records = [record(f"q{i}", labels={"facts": "correct", "words": "invalid"}) for i in range(20)]
    choices = Settings(k=(1,), judges={"facts": "mechanical", "words": "mechanical"})
    report = assemble(evaluate(records, choices), facts())
    assert "the spread of facts and words on ours is n/a: one of them has no valid verdict" in warnings_of(
        report
    )
    assert "survive" not in warnings_of(report) + console(report)
    assert "spread  ours  facts and words: n/a (" in console(report)


def test_calls_that_stand_in_no_record_are_told_and_cost_nothing_known() -> None:
    unrecorded = {"usd": None, "price_table": None, "reason": "the calls of x", "unrecorded": ["x"]}
    report = assemble(
        evaluate([record("q", ranked=[turn(1, 1)], gold=[turn(1, 1)])], Settings(k=(1,))),
        facts(cost=unrecorded),
    )
    assert "the calls of x" in warnings_of(report) and problems(report) == []
    assert (report["cost"]["tokens_in"], report["cost"]["per_query"]["ours"]["tokens_in"]) == (None, None)
