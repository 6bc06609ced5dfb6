"""Runs in a real MLflow on SQLite: what is logged, and what is never in it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from components.types import Answer
from runner.logged import params
from runner.records import Writer
from runner.tracking import Mlflow
from tests.runner.tracked import (
    CONFIG,
    KEY,
    LOGGED,
    REPORT,
    a_folder,
    a_record,
    artifact,
    client_of,
    its_facts,
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mlflow]:
    """One store for the module: a folder with a blank and an umlaut in its name."""
    folder = tmp_path_factory.mktemp("ml flow ü")
    yield Mlflow(f"sqlite:///{folder}/mlflow.db", None, None)


def test_a_run_is_logged_whole(store: Mlflow, tmp_path: Path) -> None:
    folder = a_folder(tmp_path / "run")
    run = store.start(folder, its_facts("fusion.weights.dense=0.3"))
    logged = client_of(store).get_run(run)
    assert logged.info.status == "RUNNING"
    assert logged.info.run_name == "weights.dense=0.3 · fixture"
    store.finish(folder)
    logged = client_of(store).get_run(run)
    assert logged.info.status == "FINISHED"
    assert logged.info.end_time - logged.info.start_time == 5000
    assert logged.data.metrics == LOGGED
    assert logged.data.params["fusion.weights.dense"] == "0.3"
    tags = logged.data.tags
    assert tags["crossjudge.kinds"] == "mechanical"
    assert tags["crossjudge.dataset"] == "fixture"
    assert tags["crossjudge.checks"] == "ok"
    assert tags["mlflow.source.git.commit"] == "a" * 40
    assert tags["mlflow.note.content"] == "# Report\n"
    assert "mlflow.user" not in tags
    assert logged.inputs.dataset_inputs[0].dataset.digest == ("cd" * 32)[:12]
    assert json.loads(artifact(store, run, "report.json")) == REPORT
    assert json.loads(tags["mlflow.loggedArtifacts"]) == [{"path": "questions.json", "type": "table"}]
    table = json.loads(artifact(store, run, "questions.json"))
    assert [dict(zip(table["columns"], row, strict=True))["first_gold_rank"] for row in table["data"]] == [
        3,
        3,
        3,
    ]


def test_a_long_param_is_a_hash_and_an_artifact(store: Mlflow, tmp_path: Path) -> None:
    run = store.start(a_folder(tmp_path / "run"), its_facts())
    value = client_of(store).get_run(run).data.params["answerer.prompt"]
    other = {**params(CONFIG), "answerer.prompt": "x" * 6999 + "y"}
    changed = store.start(a_folder(tmp_path / "other"), its_facts(params=other))
    assert value.startswith("sha256:") and len(value) == 19
    assert client_of(store).get_run(changed).data.params["answerer.prompt"] != value
    assert artifact(store, run, "params/answerer.prompt.txt") == "x" * 7000


def test_resume_goes_on_in_the_same_run_and_repeating_adds_nothing(store: Mlflow, tmp_path: Path) -> None:
    folder = a_folder(tmp_path / "run")
    run = store.start(folder, its_facts())
    changed = {**params(CONFIG), "engine.workers": 2, "fusion.weights.dense": 0.9}
    store.finish(folder, "FAILED")
    assert client_of(store).get_run(run).info.status == "FAILED"
    assert store.start(folder, its_facts(params=changed)) == run
    logged = client_of(store).get_run(run)
    assert logged.info.status == "RUNNING"
    assert logged.data.params["engine.workers"] == "2"
    assert logged.data.params["fusion.weights.dense"] == "0.3"  # MLflow's params never change
    store.finish(folder)
    store.finish(folder)
    assert len(json.loads(artifact(store, run, "questions.json"))["data"]) == 3
    assert client_of(store).get_run(run).data.metrics == LOGGED


def test_a_sweep_has_one_parent_and_a_table_with_the_failed_job(store: Mlflow, tmp_path: Path) -> None:
    rows, runs = [], []
    for job, weight in enumerate((0.3, 0.7)):
        folder = a_folder(tmp_path / f"run{job}")
        facts = its_facts(f"fusion.weights.dense={weight}", "seed=1", sweep="dry-it's-1")
        runs.append(store.start(folder, facts))
        store.finish(folder)
        rows.append({"job": job, "overrides": facts.overrides, "status": 0, "folder": str(folder)})
    broken = ["+experiment=dry", "fusion.weights.dense=x", "seed=1"]
    rows.append({"job": 2, "overrides": broken, "status": 2, "folder": None})
    client = client_of(store)
    parents = {client.get_run(run).data.tags["mlflow.parentRunId"] for run in runs}
    assert len(parents) == 1
    parent = parents.pop()
    assert client.get_run(parent).info.status == "RUNNING"
    store.finish_sweep("dry-it's-1", rows)
    store.finish_sweep("dry-it's-1", rows)
    ended = client.get_run(parent)
    assert ended.info.status == "FINISHED"
    assert ended.info.run_name == "sweep weights.dense · dry"
    assert ended.data.metrics == {"sweep/jobs": 3.0, "sweep/failed": 1.0}
    table = json.loads(artifact(store, parent, "sweep.json"))
    assert table["columns"] == ["name", "of", "job 0", "job 1", "job 2"]
    assert table["data"][0] == ["fusion.weights.dense", "changed", "0.3", "0.7", "x"]
    assert table["data"][1] == ["status", "", "done", "done", "failed"]
    assert ["hit_at_10", "turn, ours, retrieval", 0.75, 0.75, None] in table["data"]


def test_no_secret_gets_into_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", KEY)
    monkeypatch.setenv("SOME_URL", "https://jane:pass-9-word@host.example/v1")
    folder = a_folder(tmp_path / "run")
    with (folder / "records.jsonl").open("ab") as file:
        file.write(b"")
    writer = Writer(folder / "records.jsonl")
    writer.write(
        a_record(9, question=f"key {KEY}?", answer=Answer("", status="invalid", reason=f"401 {KEY[:20]}"))
    )
    writer.close()
    for name in ("config.yaml", "report.md", "trace.jsonl"):
        (folder / name).write_text(
            f"x: {KEY}\ny: https://jane:pass-9-word@host.example/v1 /home/jane/x\n", "utf-8"
        )
    (folder / "report.json").write_text(json.dumps({**REPORT, "note": KEY}), "utf-8")
    tracker = Mlflow(f"sqlite:///{tmp_path}/ml/mlflow.db", None, None)
    its = {**params(CONFIG), "where": "/home/jane/data", "note": KEY, "long": KEY + "x" * 900}
    facts = its_facts(f"note={KEY}", name=f"n {KEY}", sweep=f"s-{KEY}", params=its)
    tracker.start(folder, facts)
    tracker.finish(folder)
    tracker.finish_sweep(f"s-{KEY}", [{"job": 0, "overrides": facts.overrides, "status": 0}])
    files = [path for path in (tmp_path / "ml").rglob("*") if path.is_file()] + [folder / "tracking.json"]
    assert len(files) > 8
    for path in files:
        content = path.read_bytes()
        assert KEY[:16].encode() not in content and b"pass-9-word" not in content, path
        assert b"/home/jane" not in content, path
