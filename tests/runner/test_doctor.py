"""The doctor: passes on clean data, names what leaks, and knows a judge that cannot judge."""

from __future__ import annotations

import contextlib
import copy
import io
import json
from pathlib import Path
from typing import Any

import pytest

import runner.build
from components.types import Document, Gold, Haystack, Question, Ref, Sample
from runner.canaries import ANSWERS, RECALL_CHEATS, expected, recall_hits
from runner.leaks import leaks, private_values
from runner.start import run_job
from tests.component.dataset.shapes import DATA, real_data
from tests.runner.leaky import LEAKS
from tests.runner.running import Ran, config, run

DOCTOR = ("+experiment=doctor", "store=sqlite", "embedder=none", "lane=[lexical]")


def checks(ran: Ran) -> dict[str, bool]:
    """Its own checks by name, without the numbers behind it."""
    rows = [line.split(None, 1) for line in ran.stdout.splitlines() if line.startswith(("ok  ", "FAIL"))]
    return {
        name.partition(" (")[0].rpartition(":")[0] or name.partition(" (")[0]: ok == "ok" for ok, name in rows
    }


def failed(ran: Ran) -> set[str]:
    return {name for name, ok in checks(ran).items() if not ok}


def doctored(out: Path, monkeypatch: pytest.MonkeyPatch, **nodes: Any) -> Ran:
    """The doctor on the fixture with nodes of the tests in place of the configured ones."""
    monkeypatch.setattr(runner.build, "ALLOWED", (*runner.build.ALLOWED, "tests."))
    raw = copy.deepcopy(config(*DOCTOR, "tracker=none", f"output_dir={out}"))
    for group, change in nodes.items():
        raw[group] = change(raw[group])
    stdout, stderr = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        status = run_job(raw, DOCTOR, None).status
    return Ran(status, stdout.getvalue(), stderr.getvalue())


def leaky(leak: str) -> Any:
    return lambda node: {"_target_": "tests.runner.leaky.Leaky", "inner": node, "leak": leak}


def test_the_fixture_is_clean_whatever_hears_it(tmp_path: Path) -> None:
    ran = run(tmp_path, "+experiment=doctor", "store=sqlite", 'competitor=["null",full_context]')
    assert ran.status == 0 and failed(ran) == set()
    assert ran.report["heard"].keys() == {"ours", "null", "full_context", "answerer"}
    assert min(heard["texts"] for heard in ran.report["heard"].values()) >= 26
    canaries = ran.report["canaries"]
    assert {f"cheat by {name}" for name in RECALL_CHEATS} <= canaries.keys()
    assert {
        f"{judge}: {name} answer" for judge in ("facts", "overlap") for name in ANSWERS
    } <= canaries.keys()
    assert all(row["ok"] and row["n"] >= 20 for row in canaries.values())


@pytest.mark.parametrize(
    ("leak", "what", "cheat"),
    [
        ("source_ids", "source id", "cheat by document_id"),
        ("has_answer", "field name 'has_answer'", None),
        ("category_field", "category", "cheat by category"),
        ("pinned", None, "cheat by category"),
        ("question_id", "source id", None),
        ("question_text", "source id", None),
    ],
)
def test_data_that_tells_the_gold_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, leak: str, what: str | None, cheat: str | None
) -> None:
    ran = doctored(tmp_path, monkeypatch, dataset=leaky(leak))
    assert ran.status == 1
    assert failed(ran) == {name for name in (what and "no gold in them", cheat) if name}
    if what:
        assert f"ours received the {what}" in ran.stdout
        assert "answerer received the" in ran.stdout or leak not in ("has_answer", "question_text")


def test_every_leak_of_the_tests_is_tried() -> None:
    [mark] = [m for m in test_data_that_tells_the_gold_fails.pytestmark if m.name == "parametrize"]
    assert {row[0] for row in mark.args[1]} == set(LEAKS)


def says(label: str) -> Any:
    return lambda nodes: {**nodes, "believes": {"_target_": "tests.runner.leaky.Says", "label": label}}


@pytest.mark.parametrize(
    ("label", "missed"),
    [
        ("correct", {"abstain", "vague"}),
        ("wrong", {"gold", "abstain"}),
        ("invalid", {"gold", "abstain", "vague"}),
    ],
)
def test_a_judge_with_one_verdict_fails_the_canaries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, label: str, missed: set[str]
) -> None:
    """An empty answer is not even sent to it."""
    ran = doctored(tmp_path, monkeypatch, judge=says(label))
    assert ran.status == 1
    assert failed(ran) == {f"believes: {name} answer" for name in missed}


def test_a_judge_that_is_taken_in_by_a_vague_answer_fails_that_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    easy = "tests.runner.leaky.EasyOnVague"
    ran = doctored(
        tmp_path, monkeypatch, judge=lambda nodes: {"easy": {"_target_": easy, "inner": nodes["facts"]}}
    )
    assert (ran.status, failed(ran)) == (1, {"easy: vague answer"})
    row = ran.report["canaries"]["easy: vague answer"]
    assert (row["expected"], row["got"], row["n"], row["ok"]) == (1.0, 0.0, 26, False)


@pytest.mark.real_data
@real_data("locomo/locomo10.json")
def test_markers_that_a_reproduction_needs_are_listed_by_name(tmp_path: Path) -> None:
    """Comis stores a session's JSON with its dia_ids: said, and not passed over."""
    line = ("dataset=locomo", "dataset.text=json", "dataset.unit=session", f"data_dir={DATA}")
    ran = run(tmp_path, *DOCTOR, "answerer=none", "judge=[]", *line)
    assert ran.status == 1 and "no gold in them" in failed(ran)
    assert "ours received the field name 'dia_id' (10 haystacks)" in ran.stdout
    assert "ours received the source id 'D1:" in ran.stdout


@pytest.mark.real_data
@pytest.mark.parametrize(
    "line",
    [
        ("dataset=longmemeval", "dataset.path=longmemeval/s_three_items.json"),
        ("dataset=longmemeval", "dataset.path=longmemeval/s_three_items.json", "dataset.text=json"),
        ("dataset=longmemeval", "dataset.path=longmemeval/s_three_items.json", "dataset.unit=session"),
    ],
)
@real_data("longmemeval/s_three_items.json")
def test_real_conversations_are_clean(tmp_path: Path, line: tuple[str, ...]) -> None:
    ran = run(tmp_path, *DOCTOR, *line, f"data_dir={DATA}", "judge=[]")
    assert ran.status == 0 and failed(ran) == set()
    assert ran.report["heard"]["ours"]["characters"] > 1_000_000


HAYSTACK = Haystack(
    "h0001",
    (Document("d1", "I sold the kayak."), Document("d2", "Rain again.")),
    (Sample(Question("h0001-q1", "What?"), Gold(("a kayak",), {"d1": 1}, True), "multi-session", "q7_abs"),),
    {"d1": Ref("answer_1f", "D1:1"), "d2": Ref("chat_2", "D2:1")},
    "item-77",
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ({"text": "all good, D11:1, chat_20, item-777"}, []),
        ({"text": "see D1:1"}, [("source id", "D1:1")]),
        ({"text": '[{"dia_id": "D2:1"}]'}, [("field name", "dia_id"), ("source id", "D2:1")]),
        ({"id": "answer_1f_7"}, [("source id", "answer_1f")]),
        ({"id": "answer_1f"}, [("source id", "answer_1f")]),
        ({"id": "q7_abs"}, [("source id", "q7_abs")]),
        ({"text": 'so {"has_answer": true}'}, [("field name", "has_answer")]),
        ({"text": "a multi-session talk"}, []),
        ({"text": "x", "kind": "multi-session"}, [("category", "multi-session")]),
        ({"text": "my canoe on the lake"}, [("annotation", "canoe on the lake")]),
        ({"text": "I have an answer, no question_type here"}, []),
    ],
)
def test_markers_stand_alone_or_are_no_markers(text: dict[str, str], found: list[tuple[str, str]]) -> None:
    got = list(leaks([("ours", json.dumps(text))], HAYSTACK, ["canoe on the lake"]))
    assert [(leak.who, leak.what, leak.sample) for leak in got] == [("ours", *row) for row in found]


def test_annotators_values_that_a_speaker_says_himself_are_no_secret() -> None:
    raw = {"a": [{"query": "canoe on the lake", "img_url": ["https://pictures.example/1"]}], "text": "hi"}
    assert private_values(raw, "my canoe on the lake") == ["https://pictures.example/1"]


def test_cheats_find_nothing_in_opaque_data() -> None:
    assert set(recall_hits(HAYSTACK).values()) == {(0, 1)}


def test_what_a_canary_must_get() -> None:
    [answerable] = HAYSTACK.samples
    table = {name: expected(name, answerable) for name in ANSWERS}
    assert table == {"gold": "correct", "abstain": "wrong", "vague": "wrong", "empty": "invalid"}
