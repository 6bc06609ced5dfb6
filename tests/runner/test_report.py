"""The report: nothing missing, nothing that JSON cannot hold, warnings where they belong, a page to read."""

import copy
import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from components.types import Answer, Usage
from runner.disclosure import family
from runner.evaluation import Settings, evaluate
from runner.page import page
from runner.records import ErrorRow
from runner.report import ReportError, assemble, console, problems, schema, write
from tests.runner.making import made_up, record, turn

JUDGES = {"facts": "mechanical", "words": "mechanical", "gpt": "model", "claude": "model"}


def facts(**rest: Any) -> dict[str, Any]:
    """What a run tells of itself."""
    return {
        "experiment": "crossjudge",
        "run_id": "1a2b3c4d",
        "created": "2026-11-30T20:10:00Z",
        "harness_version": "0.1.0",
        "dataset": {
            "name": "fixture",
            "path_name": "fixture.json",
            "sha256": "a" * 64,
            "content_sha256": "b" * 64,
            "known_as": None,
            "items": 6,
            "questions": 120,
            "subset": None,
            "overlay": None,
            "smallest_haystack": {"session": 20, "turn": 600},
        },
        "disclosure": {"vector_lane": "static", "rerank": None, "single_run": True, "lanes": {}},
        "models": {
            "extraction": None,
            "answerer": {"provider": "openai", "model_id": "gpt-4o-mini", "host": "api.openai.com"},
            "judges": {
                "facts": {"provider": "keyless", "model_id": None},
                "words": {"provider": "keyless", "model_id": None},
                "gpt": {"provider": "openai", "model_id": "gpt-4.1"},
                "claude": {"provider": "anthropic", "model_id": "claude-sonnet-4-6"},
            },
            "embedder": None,
            "reranker": None,
        },
        "defaults": {"max_results": 10},
        "systems": [
            {"name": "fts", "status": "measured", "vector_lane": False, "rerank": None},
            {"name": "hybrid", "status": "measured", "vector_lane": "static", "rerank": None},
            {
                "name": "mem0",
                "status": "skipped",
                "reason": "mem0ai is not installed",
                "disclosure": "no number",
            },
        ],
        "reproduce": {"command": "python -m runner +experiment=crossjudge 'dataset.text=[N | d]'"},
    } | rest


def made(**rest: Any) -> dict[str, Any]:
    records = made_up(120, 6, 20, {"fts": 0.4, "hybrid": 0.7})
    records = [
        msgspec.structs.replace(
            r, verdicts={**r.verdicts, "gpt": r.verdicts["facts"], "claude": r.verdicts["words"]}
        )
        for r in records
    ]
    return assemble(evaluate(records, Settings(k=(1, 5, 10), judges=JUDGES)), facts(**rest))


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


# --- disclosure --------------------------------------------------------------------------------------------


def warnings_of(report: dict[str, Any]) -> str:
    return "\n".join(report["disclosure"]["warnings"])


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
    assert "G = 6 clusters" in text
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


# --- what people see ---------------------------------------------------------------------------------------


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
