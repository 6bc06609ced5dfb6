"""Floors: violated ones fail the run by name, equal ones do not, and a mistaken one is told before it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from runner.floors import gates, problems
from tests.runner.commands import said
from tests.runner.running import config, resume, run

RETRIEVAL = ("+experiment=retrieval", "store=sqlite")


def report(value: float | None, system: str = "ours") -> dict[str, Any]:
    cell = {"n": 20, "hit@10": value, "recall@5": 0.5}
    return {"retrieval": {system: {"turn": {"overall": cell}}}}


def raw(floors: dict[str, float], **changes: Any) -> dict[str, Any]:
    return {"k": [1, 5, 10], "floors": floors, "conditions": None, "dataset": {"unit": "turn"}, **changes}


@pytest.mark.parametrize(
    ("value", "ok"), [(0.75, True), (0.7500001, True), (0.7499999, False), (0.0, False), (None, False)]
)
def test_equal_is_enough_and_not_measured_is_not(value: float | None, ok: bool) -> None:
    (row,) = gates(report(value), raw({"turn/hit@10": 0.75}))
    fields = {"floor": 0.75, "got": value, "n": 20}
    assert row == {"name": "ours/turn/hit@10", "ok": ok, "fields": fields}


def test_the_last_bit_of_a_mean_breaks_no_floor() -> None:
    value = math.nextafter(0.7, 0)
    assert value < 0.7
    assert gates(report(value), raw({"turn/hit@10": 0.7}))[0]["ok"]


def test_every_condition_must_hold_a_floor_of_all_and_a_competitor_only_its_own() -> None:
    its = {"conditions": {"fts": {}, "hybrid": {}}, "competitor": {"null": {}}}
    measured = {"retrieval": {**report(0.9, "fts")["retrieval"], **report(0.1, "null")["retrieval"]}}
    rows = gates(measured, raw({"turn/hit@10": 0.5, "null/turn/hit@10": 0.05}, **its))
    assert [(row["name"], row["ok"]) for row in rows] == [
        ("fts/turn/hit@10", True),
        ("hybrid/turn/hit@10", False),  # no number: nothing was held
        ("null/turn/hit@10", True),
    ]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("turn/hits@10", "there is no measure 'hits@10' at these k; did you mean 'hit@10'?"),
        ("turn/hit@3", "there is no measure 'hit@3' at these k"),
        ("trun/hit@10", "there is no level 'trun'; did you mean 'turn'?"),
        ("hit@10", "there is no level ''; there is session, turn; write LEVEL/MEASURE"),
        ("our/turn/hit@10", "there is no system 'our'; did you mean 'ours'?"),
        ("a/b/turn/hit@10", "there is no system 'a/b'"),
    ],
)
def test_a_name_that_no_report_can_have(name: str, told: str) -> None:
    (problem,) = problems(raw({name: 0.5}))
    assert problem.startswith(f"floors.{name}: {told}")


def test_turns_are_not_measured_where_sessions_are_stored() -> None:
    stored = {"dataset": {"unit": "session"}}
    assert "dataset.unit=turn" in problems(raw({"turn/hit@10": 0.5}, **stored))[0]
    assert problems(raw({"session/hit@10": 0.5}, **stored)) == []


def test_nothing_is_set_by_default() -> None:
    for experiment in ("retrieval", "crossjudge", "dry"):
        assert config(f"+experiment={experiment}")["floors"] == {}


def test_mistakes_are_told_before_the_run(tmp_path: Path) -> None:
    told = said(
        *RETRIEVAL,
        f"output_dir={tmp_path}",
        "+floors={hybridd/turn/hit@10: 0.5, turn/hit@7: 0.5}",
    )
    assert told.status == 2
    assert [line.partition(":")[0] for line in told.problems] == [
        "floors.hybridd/turn/hit@10",
        "floors.turn/hit@7",
    ]
    assert said(*RETRIEVAL, "+floors={turn/hit@10: 1.5}").status == 2
    assert said(*RETRIEVAL, "export=[trek]").problems == ["export: there is no 'trek'; did you mean 'trec'?"]
    assert list(tmp_path.iterdir()) == []


def test_a_violated_floor_ends_the_run_with_1_and_keeps_everything(tmp_path: Path) -> None:
    ran = run(tmp_path, *RETRIEVAL, "+floors={turn/hit@1: 0.01, vector/turn/hit@1: 0.999}")
    assert ran.status == 1
    assert [(row["name"], row["ok"]) for row in ran.report["gates"]] == [
        ("fts/turn/hit@1", True),
        ("vector/turn/hit@1", True),
        ("hybrid/turn/hit@1", True),
        ("full/turn/hit@1", True),
        ("vector/turn/hit@1", False),
    ]
    got = ran.report["retrieval"]["vector"]["turn"]["overall"]["hit@1"]
    assert f"violated: vector/turn/hit@1 floor 0.999, got {got}" in ran.stdout
    assert "VIOLATED: vector/turn/hit@1" in (ran.folder / "report.md").read_text("utf-8")
    exact = run(tmp_path, *RETRIEVAL, f"+floors={{vector/turn/hit@1: {got!r}}}")
    assert exact.status == 0
    assert [row["ok"] for row in exact.report["gates"]] == [True]


def test_a_finished_run_is_exported_and_gated_without_a_second_question(tmp_path: Path) -> None:
    ran = run(tmp_path, *RETRIEVAL)
    before = (ran.folder / "records.jsonl").read_bytes()
    again = resume(ran.folder, "export=[trec]", "+floors={turn/hit@1: 0.999}")
    assert again.status == 1
    assert (ran.folder / "records.jsonl").read_bytes() == before
    assert (ran.folder / "export" / "trec" / "hybrid.turn.run").exists()


def test_the_report_tells_how_long_the_work_took(tmp_path: Path) -> None:
    timing = run(tmp_path, "+experiment=dry").report["timing"]
    assert timing["haystacks"] == 14
    assert 0 < timing["work_seconds"] < 120
