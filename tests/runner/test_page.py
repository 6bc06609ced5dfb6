"""What people see of a report: the lines on the terminal and report.md."""

import copy
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from components.types import Answer, Usage
from runner.evaluation import Settings, evaluate
from runner.page import page
from runner.report import assemble, console, problems
from runner.summary import fraction, percent
from runner.tables import sweep_table
from tests.runner.making import made_up, record, turn
from tests.runner.reporting import facts, made, warnings_of


@pytest.fixture(scope="module")
def whole() -> dict[str, Any]:
    return made()


@pytest.fixture
def report(whole: dict[str, Any]) -> dict[str, Any]:
    return copy.deepcopy(whole)


def test_the_terminal_says_on_one_line_what_kind_of_number_it_is(report: dict[str, Any]) -> None:
    lines = console(report).splitlines()
    (fts,) = [line for line in lines if line.startswith("recall@10/MRR  fts  turn")]
    cell = report["retrieval"]["fts"]["turn"]["overall"]
    assert f"{cell['recall@10']:.3f}/{cell['mrr@10']:.3f}" in fts
    assert fts.endswith("vectorLane: inactive  rerank: none")
    (hybrid,) = [line for line in lines if line.startswith("recall@10/MRR  hybrid  turn")]
    assert "vectorLane: static" in hybrid
    assert any(line.startswith("skipped  mem0: mem0ai is not installed") for line in lines)
    assert sum(line.startswith("spread") for line in lines) == 4


def test_a_competitor_is_not_given_the_lanes_of_our_pipeline() -> None:
    systems = [{"name": name, "status": "measured"} for name in ("ours", "null")]
    records = made_up(40, 4, 20, {"ours": 0.4, "null": 0.1})
    text = console(assemble(evaluate(records, Settings(k=(1,))), facts(systems=systems)))
    assert re.search(r"ours  turn .* vectorLane: static", text)
    assert re.search(r"null  turn .* vectorLane: not told", text)


def section(text: str, title: str) -> str:
    found = re.search(rf"^## {title}$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, f"no section {title}"
    return found[1]


def test_the_page_has_the_numbers_of_the_report(report: dict[str, Any]) -> None:
    text = page(report)
    cell = report["retrieval"]["fts"]["turn"]["overall"]
    shown = f"{cell['mrr@10']:.3f} [{cell['low']['mrr@10']:.3f}, {cell['high']['mrr@10']:.3f}]"
    assert shown in section(text, "Retrieval")
    cell = report["accuracy"]["fts"]["gpt"]["overall"]
    shown = f"{cell['accuracy']:.1f} [{cell['low']:.1f}, {cell['high']:.1f}]"
    assert shown in section(text, "Accuracy") and f"{cell['best_case']:.1f}" in section(text, "Accuracy")
    for warning in report["disclosure"]["warnings"]:
        assert f"- {warning}\n" in section(text, "Warnings")
    assert report["reproduce"]["command"] in section(text, "How to reproduce")
    assert "a" * 64 in section(text, "Data and models")


def test_no_table_mixes_kinds(report: dict[str, Any]) -> None:
    text = page(report)
    assert "facts" not in section(text, "Accuracy") and "gpt" not in section(text, "Lexical")
    assert "accuracy %" not in section(text, "Lexical")
    for title in ("Spread between judges", "Comparisons"):
        mechanical, model = section(text, title).split("### ")[1:]
        assert "(gpt)" not in mechanical and "gpt," not in mechanical
        assert "(facts)" not in model and "facts," not in model and "turn" not in model


def test_tables_are_whole_and_narrow(report: dict[str, Any]) -> None:
    tables = re.findall(r"(?:^\|.*\n)+", page(report), re.MULTILINE)
    assert len(tables) > 8
    for table in tables:
        (width,) = {len(line) for line in table.splitlines()}
        assert width <= 150
    assert not re.search(r"\bNone\b|built-in|\bnan\b|Undefined", page(report))


def test_a_pipe_in_a_name_breaks_no_table(tmp_path: Path) -> None:
    records = [record(f"q{i}", ranked=[turn(1, 1)], gold=[turn(1, 1)], category="a|b") for i in range(12)]
    assert "a\\|b" in page(assemble(evaluate(records, Settings(k=(1,))), facts()))


def test_words_follow_the_verdicts(report: dict[str, Any]) -> None:
    text = section(page(report), "Comparisons")
    rows = [row for row in report["comparisons"] if row["category"] == "overall"]
    assert {row["verdict"] for row in rows} >= {"worse"}
    for row in report["comparisons"]:
        row.update(verdict="no difference shown")
    quiet = section(page(report), "Comparisons")
    assert "worse |" in re.sub(" +", " ", text)
    assert not re.search(r"\| (better|worse) ", quiet) and "shows a difference" in quiet


def test_missed_expectations_stand_on_top() -> None:
    rows = [{"name": "mrr@10", "expected": 0.747, "got": 0.746, "ok": False}]
    report = made(expectations=rows)
    assert problems(report) == []
    assert "**1 of 1 expectations missed" in page(report)[:700]
    assert "missed: mrr@10 expected 0.747, got 0.746" in console(report)


def test_tokens_not_told_are_not_shown_as_0() -> None:
    records = [
        msgspec.structs.replace(r, answer=Answer("x", Usage(served_model="m")))
        for r in made_up(40, 4, 20, {"fts": 0.4})
    ]
    report = assemble(evaluate(records, Settings(k=(1,))), facts())
    assert "Tokens in not told, out not told" in page(report)
    assert "40 model calls did not tell their tokens" in warnings_of(report)


def test_what_rounds_to_0_has_no_sign() -> None:
    assert fraction(-0.0004, -0.01, -0.0001) == "0.000 [-0.010, 0.000]"
    assert percent(-0.04) == percent(-0.0) == "0.0" and fraction(-0.001) == "-0.001"
    rows = [{"job": 0, "overrides": ["seed=1"], "status": 0}]
    (_, _, row) = sweep_table(rows, [{"retrieval/ours/turn/mrr_at_10": -0.0}])["data"]
    assert str(row[-1]) == "0.0"
