"""The loop on the fixture: every question of every system once, in order, whatever is there already."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import pytest
from rich.console import Console

from runner.loop import Loop, Met
from runner.progress import Progress
from runner.records import Key, read
from runner.subset import Chosen
from tests.runner.running import config as resolved
from tests.runner.running import ended, haystacks, resume, run, same_report, started, timeless

DRY = ("+experiment=dry", "embedder=none", "lane=[lexical]", 'competitor=["null",full_context]')
SYSTEMS = ("ours", "null", "full_context")


def loop(folder: Path, *overrides: str, only: frozenset[str] | None = None) -> Met:
    chosen = Chosen(only, {}) if only else None
    with open(os.devnull, "w") as quiet:
        return Loop(resolved(*DRY, *overrides), folder, "f", chosen).run(
            Progress(Console(file=quiet), "test")
        )


def traced(folder: Path) -> list[Key]:
    lines = (folder / "trace.jsonl").read_text("utf-8").splitlines()
    return [Key(row["system"], row["question_id"]) for row in map(json.loads, lines)]


def keys(folder: Path) -> list[Key]:
    return [record.key for record in read(folder / "records.jsonl")]


EXPECTED = [
    Key(system, sample.question.id)
    for haystack in haystacks(resolved(*DRY))
    for system in SYSTEMS
    for sample in haystack.samples
]


def test_every_question_of_every_system_once_in_the_order_of_the_dataset(tmp_path: Path) -> None:
    met = loop(tmp_path)
    assert keys(tmp_path) == traced(tmp_path) == EXPECTED
    assert (met.haystacks, met.questions) == (14, 26)
    assert met.smallest["turn"] >= met.smallest["session"] > 1
    assert loop(tmp_path) == met and keys(tmp_path) == EXPECTED  # a second time there is nothing to do


@pytest.mark.parametrize("seed", range(3))
def test_only_what_is_missing_is_done_wherever_it_is_missing(tmp_path: Path, seed: int) -> None:
    met = loop(tmp_path)
    whole = (tmp_path / "records.jsonl").read_bytes().splitlines(keepends=True)
    kept = random.Random(seed).sample(whole, 40)
    (tmp_path / "records.jsonl").write_bytes(b"".join(kept))
    assert loop(tmp_path) == met
    after = (tmp_path / "records.jsonl").read_bytes().splitlines(keepends=True)
    assert after[:40] == kept
    assert sorted(map(timeless, after)) == sorted(map(timeless, whole))
    assert sorted(traced(tmp_path)) == sorted(EXPECTED)


def test_a_trace_whose_record_was_lost_is_written_once(tmp_path: Path) -> None:
    loop(tmp_path)
    records, trace = tmp_path / "records.jsonl", tmp_path / "trace.jsonl"
    records.write_bytes(records.read_bytes()[:-20])
    trace.write_bytes(trace.read_bytes()[:-7])
    loop(tmp_path)
    assert keys(tmp_path) == traced(tmp_path) == EXPECTED
    assert not list(tmp_path.glob("*.part"))


def test_traces_without_any_record_are_dropped(tmp_path: Path) -> None:
    loop(tmp_path)
    (tmp_path / "records.jsonl").unlink()
    loop(tmp_path)
    assert traced(tmp_path) == keys(tmp_path) == EXPECTED


def test_only_the_chosen_questions_are_asked_and_counted(tmp_path: Path) -> None:
    met = loop(tmp_path, only=frozenset({"fx_hund", "fx-talk-1:2"}))
    assert [r.source_id for r in read(tmp_path / "records.jsonl")] == ["fx_hund"] * 3 + ["fx-talk-1:2"] * 3
    assert (met.haystacks, met.questions) == (14, 2)


def test_conditions_are_systems_of_their_own(tmp_path: Path) -> None:
    ran = run(tmp_path, "+experiment=retrieval", "store=sqlite")
    assert ran.status == 0
    assert [r.system for r in ran.records][:4] == ["fts", "vector", "hybrid", "full"]
    told = {s["name"]: (s["status"], s["vector_lane"]) for s in ran.report["systems"]}
    assert told == {
        "fts": ("measured", "off"),
        "vector": ("measured", "static"),
        "hybrid": ("measured", "static"),
        "full": ("measured", "static"),
    }
    assert {p for r in ran.records if r.system == "fts" for row in r.ranked or () for p in row.parts} & {
        "dense",
        "cosine",
    } == set()


@pytest.mark.parametrize("store", ["sqlite", "lancedb"])
def test_a_second_run_elsewhere_is_the_same_to_the_byte(tmp_path: Path, store: str) -> None:
    """Fresh processes, another hash seed, another number of (spawned) workers."""
    line = ("+experiment=crossjudge", f"store={store}")
    with (
        started(tmp_path / "1", *line, env={"PYTHONHASHSEED": "1"}) as one,
        started(tmp_path / "2", *line, "engine.workers=2", env={"PYTHONHASHSEED": "4711"}) as two,
    ):
        first, second = ended(one), ended(two)
    assert (first.status, second.status) == (0, 0), first.stderr + second.stderr
    assert len(first.records) == 52
    for name in ("records.jsonl", "trace.jsonl"):
        assert timeless((first.folder / name).read_bytes()) == timeless((second.folder / name).read_bytes())
    assert same_report(first.report) == same_report(second.report)


def test_a_run_that_looks_its_rankings_up_is_the_same_to_the_byte(tmp_path: Path) -> None:
    """Runs of one output folder share the rankings of lanes; another setting of a lane shares none."""
    line = ("+experiment=dry", "answerer=none", "judge=[]")
    first, again = run(tmp_path, *line), run(tmp_path, *line)
    other, fresh = (run(tmp_path, *line, "lane.lexical.max_terms=2", *more) for more in ((), ("cache=null",)))
    looked_up = [r.question for r in first.records if "recall_cached" in r.seconds]
    assert len(looked_up) == 1 and [r.question for r in first.records].count(looked_up[0]) == 2
    assert all("recall_cached" in r.seconds for r in again.records)
    for one, two in ((first, again), (other, fresh)):
        for name in ("records.jsonl", "trace.jsonl"):
            assert timeless((one.folder / name).read_bytes()) == timeless((two.folder / name).read_bytes())
        assert same_report(one.report) == same_report(two.report)
    ranked = [[r.ranked for r in ran.records] for ran in (first, other)]
    assert ranked[0] != ranked[1]


def test_what_decides_no_record_may_differ_when_a_run_is_gone_on_with(tmp_path: Path) -> None:
    first = run(tmp_path, *DRY)
    whole = (first.folder / "records.jsonl").read_bytes()
    (first.folder / "records.jsonl").write_bytes(whole[: len(whole) // 2])
    again = resume(first.folder, *DRY, "tracker=none", "engine.workers=2", "answering.concurrency=1")
    assert again.status == 0
    assert timeless((again.folder / "records.jsonl").read_bytes()) == timeless(whole)
    assert same_report(again.report) == same_report(first.report)
