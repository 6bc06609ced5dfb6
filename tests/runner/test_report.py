"""The report: nothing missing, nothing that JSON cannot hold, the same bytes for the same report."""

import copy
import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from runner.evaluation import Settings, evaluate
from runner.page import page
from runner.report import ReportError, assemble, console, problems, schema, write
from tests.runner.making import record, turn
from tests.runner.reporting import facts, made


@pytest.fixture(scope="module")
def whole() -> dict[str, Any]:
    return made()


@pytest.fixture
def report(whole: dict[str, Any]) -> dict[str, Any]:
    return copy.deepcopy(whole)


def strict(text: str) -> Any:
    def refuse(word: str) -> None:
        raise ValueError(word)

    return json.loads(text, parse_constant=refuse)


def test_a_report_is_well_formed_and_comes_back_as_it_was(report: dict[str, Any], tmp_path: Path) -> None:
    assert problems(report) == []
    path = write(report, tmp_path)
    assert path == tmp_path / "report.json"
    assert strict(path.read_text("utf-8")) == report
    assert sorted(p.name for p in tmp_path.iterdir()) == ["report.json", "report.md"]
    assert list(report)[:2] == ["schema", "experiment"] and report["schema"] == "crossjudge-report/1"


def test_the_same_report_is_written_as_the_same_bytes(report: dict[str, Any], tmp_path: Path) -> None:
    first = [write(report, tmp_path).read_bytes(), (tmp_path / "report.md").read_bytes()]
    assert [write(made(), tmp_path).read_bytes(), (tmp_path / "report.md").read_bytes()] == first


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Path of every key and item of a tree."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


def thinned(value: Any) -> Any:
    """One of each kind: the other systems, judges, categories and rows are alike."""
    twins = {"hybrid", "words", "claude", "temporal", "single-hop", "open-domain", "recall", "judge claude"}
    if isinstance(value, dict):
        return {key: thinned(inner) for key, inner in value.items() if key not in twins}
    rows = isinstance(value, list) and value and isinstance(value[0], dict)
    return [thinned(value[0])] if rows else value


# What a report may be without: sections that were not measured, free maps, and fields that only some have.
FREE = re.compile(
    r"(retrieval|accuracy|lexical|spread|agreement|comparisons|reproduce|defaults|latency|errors)"
    r"|(retrieval|accuracy|lexical|spread|agreement|latency|errors|cost/by_role|cost/per_query)/[^/]+"
    r"|(retrieval|accuracy|lexical|agreement|latency|errors)/[^/]+/[^/]+"
    r"|latency/[^/]+/by_system/.*"
    r"|(retrieval|accuracy|lexical)/fts/[^/]+/multi-hop"
    r"|.*/(unscored|invalid_reasons)/.*|spread/fts/0|comparisons/0|checks/0(/detail)?|systems/0(/(vector_lane|rerank))?"
    r"|agreement/fts/[^/]+/kind|method/(judges|k|compared)/.*|defaults/.*|counts/(systems|categories)/[^/]+"
    r"|dataset/smallest_haystack.*|models/judges/.*|models/answerer/host|disclosure/(lanes|warnings)/.*"
    r"|disclosure/conflict_of_interest/.*|cost/by_role/[^/]+/(calls|not_told|served_models.*)"
    r"|comparisons/0/discordant/.*"
)


def test_every_field_that_is_missing_is_noticed(report: dict[str, Any]) -> None:
    report = thinned(report)
    assert problems(report) == []
    required = [p for p in places(report) if not FREE.fullmatch("/".join(map(str, p)))]
    assert len(required) > 120
    unnoticed = []
    for path in required:
        broken = copy.deepcopy(report)
        inner = broken
        for key in path[:-1]:
            inner = inner[key]
        del inner[path[-1]]
        if not problems(broken):
            unnoticed.append("/".join(map(str, path)))
    assert unnoticed == []


def test_the_shipped_schema_is_a_schema(report: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(report))


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_json_cannot_hold_is_refused_and_nothing_written(
    report: dict[str, Any], tmp_path: Path, number: float
) -> None:  # F179
    report["retrieval"]["fts"]["turn"]["overall"]["low"]["mrr@10"] = number
    with pytest.raises(ReportError, match=r"/retrieval/fts/turn/overall/low/mrr@10"):
        write(report, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "damage",
    [
        lambda r: r["retrieval"]["fts"]["turn"]["overall"].update({"mrr@10": 1.5}),
        lambda r: r["retrieval"]["fts"]["turn"]["overall"].update({"n": 1.5}),
        lambda r: r["retrieval"]["fts"].update({"page": r["retrieval"]["fts"]["turn"]}),
        lambda r: r["accuracy"]["fts"]["gpt"]["overall"].update({"accuracy": "67 %"}),
        lambda r: r["spread"]["fts"][0].update({"spread": None, "survives": True}),
        lambda r: r["comparisons"][0].update({"verdict": "significantly better"}),
        lambda r: r["comparisons"][0].update({"verdict": "better", "p_holm": None}),
        lambda r: r["systems"][2].update({"reason": None}),
        lambda r: r["dataset"].update({"sha256": "unknown"}),
        lambda r: r.update({"schema": "crossjudge-report/2"}),
        lambda r: r.update({"checks": []}),
    ],
)
def test_a_value_that_cannot_be_is_noticed(report: dict[str, Any], damage: Callable[[Any], None]) -> None:
    damage(report)
    assert problems(report)


def test_undefined_is_null_and_unmeasured_is_absent(tmp_path: Path) -> None:
    records = [record("q", ranked=[turn(1, 1)], gold=[turn(1, 1)], system="fts")]
    report = assemble(evaluate(records, Settings(k=(10, 20))), facts())
    write(report, tmp_path)
    assert not {"accuracy", "lexical", "spread", "comparisons"} & report.keys()
    assert "## Accuracy" not in page(report) and "## Lexical" not in page(report)


def test_a_run_without_any_question_is_a_report_too(tmp_path: Path) -> None:
    report = assemble(evaluate([], Settings(k=(1,))), facts())
    write(report, tmp_path)
    assert "0 questions" in console(report)


def test_facts_complete_what_was_measured(report: dict[str, Any]) -> None:
    other = made(cost={"usd": 0.25, "price_table": "2026-11-01"}, checks=[{"name": "canary", "ok": True}])
    assert other["cost"] == report["cost"] | {"usd": 0.25, "price_table": "2026-11-01"}
    assert other["checks"] == [*report["checks"], {"name": "canary", "ok": True}]
    assert problems(other) == []
