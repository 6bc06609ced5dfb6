"""Runs in a real MLflow on SQLite: what is logged, what survives, what is never in it."""

import json
import math
import multiprocessing
import os
import sqlite3
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.types import Answer, Ref, Verdict
from runner.logged import changed_keys, kinds, metric_name, metrics, params, run_name
from runner.mlclient import TrackerError, call
from runner.mlruns import store_uri, ui_command
from runner.provenance import ROOT
from runner.records import GoldRow, RankedRow, Record, Writer
from runner.tables import questions, sweep_table
from runner.tracking import Mlflow, RunFacts, main, relog

KEY = "sk-" + "Zx9Yw8Vu7T" * 3  # made up here
COUNTS = {"total": 4, "correct": 2, "invalid": 1, "valid_total": 3}
REPORT: dict[str, Any] = {
    "schema": "crossjudge-report/1",
    "dataset": {
        "name": "fixture",
        "path_name": "fixture.json",
        "sha256": "ab" * 32,
        "content_sha256": "cd" * 32,
    },
    "retrieval": {
        "ours": {
            "turn": {
                "overall": {"n": 4, "recall@10": 0.5, "hit@10": 0.75, "mrr@10": None, "low": {"hit@10": 0.1}},
                "macro": {"n": 4, "hit@10": 0.7, "mrr@10": 0.6},
                "temporal": {"n": 0, "hit@10": None},
            }
        }
    },
    "lexical": {
        "ours": {
            "facts": {
                "overall": {
                    **COUNTS,
                    "accuracy": 66.5,
                    "strict": 50.0,
                    "best_case": 75.0,
                    "invalid_rate": 25.0,
                },
                "macro": {**COUNTS, "accuracy": 60.0},
            }
        }
    },
    "spread": {
        "ours": [
            {"category": "overall", "judge_a": "facts", "judge_b": "overlap", "spread": 4.5},
            {"category": "temporal", "judge_a": "facts", "judge_b": "overlap", "spread": 1.0},
        ]
    },
    "cost": {"tokens_in": 10, "tokens_out": 0, "usd": None},
    "latency": {"recall": {"p50": 0.1, "p95": 0.2, "n": 4}},
    "errors": {"judge facts": {"length": 1}, "answer": {"empty": 2}},
    "checks": [{"name": "bounds", "ok": True}],
}
LOGGED = {
    "retrieval/ours/turn/recall_at_10": 0.5,
    "retrieval/ours/turn/hit_at_10": 0.75,
    "retrieval/ours/turn/macro/mrr_at_10": 0.6,
    "lexical/ours/facts/accuracy": 66.5,
    "lexical/ours/facts/strict": 50.0,
    "lexical/ours/facts/best_case": 75.0,
    "lexical/ours/facts/invalid_rate": 25.0,
    "lexical/ours/facts/macro/accuracy": 60.0,
    "spread/ours/facts_vs_overlap": 4.5,
    "latency/recall_p50": 0.1,
    "latency/recall_p95": 0.2,
    "cost/tokens_in": 10.0,
    "cost/tokens_out": 0.0,
    "errors/total": 3.0,
}
CONFIG: dict[str, Any] = {
    "name": "dry",
    "store": {"_target_": "components.store.lancedb.Lancedb", "memory": True},
    "lane": {
        "lexical": {"_target_": "components.lane.lexical.Lexical", "max_terms": 10},
        "dense": {"_target_": "components.lane.dense.Dense"},
    },
    "factor": {},
    "reranker": {"_target_": None},
    "fusion": {"_target_": "components.fusion.rrf.Rrf", "weights": {"dense": 0.3}},
    "answerer": {"_target_": "components.answerer.llm.Llm", "prompt": "x" * 7000, "api_key_env": "A_KEY"},
    "k": [1, 10],
    "resume": None,
    "tracker": {"_target_": "runner.tracking.Mlflow", "uri": "postgresql://u:p@h/d"},
}


def _record(number: int, system: str = "ours", **changes: Any) -> Record:
    gold = Ref("s1", "D1:3")
    ranked = tuple(RankedRow(Ref("s1", f"D1:{i}"), 1 / i, {}) for i in (1, 2, 3))
    values: dict[str, Any] = {
        "fingerprint": "f",
        "system": system,
        "haystack": "h0",
        "question_id": f"h0-q{number}",
        "source_id": f"c:{number}",
        "category": "temporal",
        "question": f"When was number {number}?\u2028Really?",
        "asked": None,
        "gold": GoldRow(("7 May 2023", "May 7"), (gold,), True),
        "ranked": ranked,
        "answer": Answer("7 May"),
        "verdicts": {"facts.v2": (Verdict("correct"), Verdict("invalid", "length"))},
        "seconds": {"recall": 0.25},
    }
    return Record(**{**values, **changes})


def _folder(path: Path) -> Path:
    path.mkdir(parents=True)
    writer = Writer(path / "records.jsonl")
    for number in range(3):
        writer.write(_record(number))
    writer.close()
    (path / "report.json").write_text(json.dumps(REPORT), "utf-8")
    (path / "report.md").write_text("# Report\n", "utf-8")
    (path / "config.yaml").write_text("name: dry\n", "utf-8")
    (path / "provenance.json").write_text(
        json.dumps(
            {
                "harness_version": "0.1.0",
                "git": {"commit": "a" * 40, "dirty": False},
                "start": "2026-11-30T20:10:00Z",
                "end": "2026-11-30T20:10:05Z",
            }
        ),
        "utf-8",
    )
    return path


def _facts(*overrides: str, sweep: str | None = None, **changes: Any) -> RunFacts:
    its = {"name": run_name(["fixture"], overrides), "params": params(CONFIG), **changes}
    return RunFacts("dry", overrides=["+experiment=dry", *overrides], sweep=sweep, **its)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mlflow]:
    """One store for the module: a folder with a blank and an umlaut in its name."""
    folder = tmp_path_factory.mktemp("ml flow ü")
    yield Mlflow(f"sqlite:///{folder}/mlflow.db", None, None)


def _client(tracker: Mlflow) -> Any:
    with tracker._opened() as client:
        return client


def _artifact(tracker: Mlflow, run: str, name: str) -> str:
    folder = _client(tracker).get_run(run).info.artifact_uri
    return Path(folder, name).read_text("utf-8")


def test_a_run_is_logged_whole(store: Mlflow, tmp_path: Path) -> None:
    folder = _folder(tmp_path / "run")
    run = store.start(folder, _facts("fusion.weights.dense=0.3"))
    logged = _client(store).get_run(run)
    assert logged.info.status == "RUNNING"
    assert logged.info.run_name == "weights.dense=0.3 · fixture"
    store.finish(folder)
    logged = _client(store).get_run(run)
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
    assert json.loads(_artifact(store, run, "report.json")) == REPORT
    assert json.loads(tags["mlflow.loggedArtifacts"]) == [{"path": "questions.json", "type": "table"}]
    table = json.loads(_artifact(store, run, "questions.json"))
    assert [dict(zip(table["columns"], row, strict=True))["first_gold_rank"] for row in table["data"]] == [
        3,
        3,
        3,
    ]


def test_a_long_param_is_a_hash_and_an_artifact(store: Mlflow, tmp_path: Path) -> None:
    run = store.start(_folder(tmp_path / "run"), _facts())
    value = _client(store).get_run(run).data.params["answerer.prompt"]
    other = {**params(CONFIG), "answerer.prompt": "x" * 6999 + "y"}
    changed = store.start(_folder(tmp_path / "other"), _facts(params=other))
    assert value.startswith("sha256:") and len(value) == 19
    assert _client(store).get_run(changed).data.params["answerer.prompt"] != value
    assert _artifact(store, run, "params/answerer.prompt.txt") == "x" * 7000


def test_resume_goes_on_in_the_same_run_and_repeating_adds_nothing(store: Mlflow, tmp_path: Path) -> None:
    folder = _folder(tmp_path / "run")
    run = store.start(folder, _facts())
    changed = {**params(CONFIG), "engine.workers": 2, "fusion.weights.dense": 0.9}
    store.finish(folder, "FAILED")
    assert _client(store).get_run(run).info.status == "FAILED"
    assert store.start(folder, _facts(params=changed)) == run
    logged = _client(store).get_run(run)
    assert logged.info.status == "RUNNING"
    assert logged.data.params["engine.workers"] == "2"
    assert logged.data.params["fusion.weights.dense"] == "0.3"  # MLflow's params never change
    store.finish(folder)
    store.finish(folder)
    assert len(json.loads(_artifact(store, run, "questions.json"))["data"]) == 3
    assert _client(store).get_run(run).data.metrics == LOGGED


def test_a_sweep_has_one_parent_and_a_table_with_the_failed_job(store: Mlflow, tmp_path: Path) -> None:
    rows, runs = [], []
    for job, weight in enumerate((0.3, 0.7)):
        folder = _folder(tmp_path / f"run{job}")
        facts = _facts(f"fusion.weights.dense={weight}", "seed=1", sweep="dry-it's-1")
        runs.append(store.start(folder, facts))
        store.finish(folder)
        rows.append({"job": job, "overrides": facts.overrides, "status": 0, "folder": str(folder)})
    broken = ["+experiment=dry", "fusion.weights.dense=x", "seed=1"]
    rows.append({"job": 2, "overrides": broken, "status": 2, "folder": None})
    client = _client(store)
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
    table = json.loads(_artifact(store, parent, "sweep.json"))
    assert table["columns"] == ["name", "of", "job 0", "job 1", "job 2"]
    assert table["data"][0] == ["fusion.weights.dense", "changed", "0.3", "0.7", "x"]
    assert table["data"][1] == ["status", "", "done", "done", "failed"]
    assert ["hit_at_10", "turn, ours, retrieval", 0.75, 0.75, None] in table["data"]


def test_no_secret_gets_into_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", KEY)
    monkeypatch.setenv("SOME_URL", "https://jane:pass-9-word@host.example/v1")
    folder = _folder(tmp_path / "run")
    with (folder / "records.jsonl").open("ab") as file:
        file.write(b"")
    writer = Writer(folder / "records.jsonl")
    writer.write(
        _record(9, question=f"key {KEY}?", answer=Answer("", status="invalid", reason=f"401 {KEY[:20]}"))
    )
    writer.close()
    for name in ("config.yaml", "report.md", "trace.jsonl"):
        (folder / name).write_text(f"x: {KEY}\ny: https://jane:pass-9-word@host.example/v1\n", "utf-8")
    (folder / "report.json").write_text(json.dumps({**REPORT, "note": KEY}), "utf-8")
    tracker = Mlflow(f"sqlite:///{tmp_path}/ml/mlflow.db", None, None)
    its = {**params(CONFIG), "note": KEY, "long": KEY + "x" * 900}
    facts = _facts(f"note={KEY}", name=f"n {KEY}", sweep=f"s-{KEY}", params=its)
    tracker.start(folder, facts)
    tracker.finish(folder)
    tracker.finish_sweep(f"s-{KEY}", [{"job": 0, "overrides": facts.overrides, "status": 0}])
    files = [path for path in (tmp_path / "ml").rglob("*") if path.is_file()] + [folder / "tracking.json"]
    assert len(files) > 8
    for path in files:
        content = path.read_bytes()
        assert KEY[:16].encode() not in content and b"pass-9-word" not in content, path


def _six(number: int, folder: str) -> None:
    """A whole run of one of several processes (spawned)."""
    warnings.simplefilter("ignore")
    tracker = Mlflow(f"sqlite:///{folder}/ml/mlflow.db", None, None)
    run = _folder(Path(folder) / f"run{number}")
    tracker.start(run, _facts(f"seed={number}", sweep="six"))
    tracker.finish(run)


def test_six_processes_on_a_fresh_store(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_six, args=(i, str(tmp_path))) for i in range(6)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(200)
    assert [process.exitcode for process in processes] == [0] * 6
    client = _client(Mlflow(f"sqlite:///{tmp_path}/ml/mlflow.db", None, None))
    runs = client.search_runs([client.get_experiment_by_name("dry").experiment_id])
    children = [run for run in runs if "mlflow.parentRunId" in run.data.tags]
    assert len(children) == 6 and len(runs) == 7
    assert all(run.data.metrics == LOGGED and run.info.status == "FINISHED" for run in children)


def test_a_failure_loses_nothing_and_the_folder_can_be_logged_later(tmp_path: Path) -> None:
    folder = _folder(tmp_path / "run")
    (tmp_path / "broken.db").write_bytes(b"this is no database " * 100)
    broken = Mlflow(f"sqlite:///{tmp_path}/broken.db", None, None)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(TrackerError, match=r"not logged to MLflow: .*python -m runner\.tracking"):
        broken.start(folder, _facts("seed=3"))
    with pytest.raises(TrackerError, match=r"python -m runner\.tracking") as caught:
        broken.finish(folder)
    assert str(caught.value).count("python -m") == 1
    assert {name: (folder / name).read_bytes() for name in before} == before
    environ = {name: value for name, value in os.environ.items() if not name.startswith("MLFLOW")}
    done = subprocess.run(
        [sys.executable, "-m", "runner.tracking", str(folder), f"sqlite:///{tmp_path}/new/mlflow.db"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environ,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")  # quiet, on a fresh store too
    later = Mlflow(f"sqlite:///{tmp_path}/new/mlflow.db", None, None)
    logged = _client(later).get_run((folder / "mlflow_run_id").read_text())
    assert logged.data.metrics == LOGGED and logged.info.run_name == "seed=3 · fixture"
    assert logged.info.end_time - logged.info.start_time == 5000


def test_a_folder_that_is_no_run(store: Mlflow, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path), str(store.uri)]) == 2
    assert "belongs to no run" in capsys.readouterr().err
    assert main([]) == 2
    with pytest.raises(TrackerError):
        relog(tmp_path / "missing", store.uri)


def test_torn_records_are_a_tracker_error(store: Mlflow, tmp_path: Path) -> None:
    folder = _folder(tmp_path / "run")
    store.start(folder, _facts())
    with (folder / "records.jsonl").open("ab") as file:
        file.write(b'{"fingerprint": "f", "sys')
    with pytest.raises(TrackerError, match="line 4"):
        store.finish(folder)


def test_a_deleted_experiment_and_lost_artifacts_are_explained(store: Mlflow, tmp_path: Path) -> None:
    tracker = Mlflow(store.uri, str(tmp_path / "art"), "gone")
    tracker.start(_folder(tmp_path / "a"), _facts())
    (tmp_path / "art").rename(tmp_path / "moved")
    with pytest.raises(TrackerError, match="is gone"):
        tracker.start(_folder(tmp_path / "b"), _facts())
    client = _client(store)
    client.delete_experiment(client.get_experiment_by_name("gone").experiment_id)
    with pytest.raises(TrackerError, match="was deleted"):
        tracker.start(_folder(tmp_path / "c"), _facts())


def test_a_run_deleted_in_mlflow_is_made_anew(store: Mlflow, tmp_path: Path) -> None:
    folder = _folder(tmp_path / "run")
    run = store.start(folder, _facts())
    _client(store).delete_run(run)
    assert store.start(folder, _facts()) != run


def test_a_locked_database_is_asked_again(tmp_path: Path) -> None:
    import sqlalchemy

    holder = sqlite3.connect(tmp_path / "x.db", isolation_level=None, check_same_thread=False)
    holder.execute("create table t (a)")
    holder.execute("begin exclusive")
    engine = sqlalchemy.create_engine(f"sqlite:///{tmp_path}/x.db", connect_args={"timeout": 0})
    tries = []

    def insert() -> None:
        tries.append(1)
        with engine.begin() as connection:
            connection.execute(sqlalchemy.text("insert into t values (1)"))

    timer = threading.Timer(0.1, lambda: holder.execute("commit"))
    timer.start()
    call(insert)
    timer.join()
    assert len(tries) > 1
    assert holder.execute("select count(*) from t").fetchone() == (1,)
    holder.close()
    engine.dispose()


def test_metrics_leave_out_what_is_undefined() -> None:
    assert metrics(REPORT) == LOGGED
    cell = {"hit@10": math.nan, "recall@10": math.inf, "ndcg@10": True, "mrr@10": 0}
    odd = {"retrieval": {"a/b": {"turn": {"overall": cell}}}}
    assert metrics(odd) == {"retrieval/a_b/turn/mrr_at_10": 0.0}
    assert metrics({}) == {}


def test_two_names_that_become_one_are_both_kept() -> None:
    cell = {"overall": {"hit@10": 0.5}}
    report = {"retrieval": {"a(b": {"turn": cell}, "a)b": {"turn": cell}}}
    assert list(metrics(report)) == ["retrieval/a_b/turn/hit_at_10", "retrieval/a_b/turn/hit_at_10_2"]


@pytest.mark.parametrize(
    "name", ["recall@10", "acc (n=3)", "judge[0].model", "a//b", "../x", " x ", ".", "é@1"]
)
def test_mlflow_takes_the_names(name: str, store: Mlflow) -> None:
    from mlflow.utils.validation import _validate_metric_name

    _client(store)
    _validate_metric_name(metric_name(name))


@given(st.text(min_size=1, max_size=300))
def test_mlflow_takes_any_name(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from mlflow.utils.validation import _validate_metric_name
    _validate_metric_name(f"retrieval/{metric_name(name)}/x")
    _validate_metric_name(metric_name(name))


def test_kinds() -> None:
    assert kinds(REPORT) == "mechanical"
    assert kinds({**REPORT, "accuracy": {"ours": {}}}) == "mechanical,model"
    assert kinds({"accuracy": {"ours": {}}}) == "model"
    assert kinds({}) == ""


def test_params_are_the_choices_and_the_scalars() -> None:
    assert params(CONFIG) == {
        "store": "lancedb",
        "store.memory": True,
        "lane": "lexical, dense",
        "lane.lexical.max_terms": 10,
        "factor": "none",
        "reranker": "none",
        "fusion": "rrf",
        "fusion.weights.dense": 0.3,
        "answerer": "llm",
        "answerer.prompt": "x" * 7000,
        "answerer.api_key_env": "A_KEY",
        "k": "1, 10",
    }


def test_names_tell_what_was_changed() -> None:
    overrides = [
        "+experiment=dry",
        "dataset=locomo",
        "dataset.unit=turn",
        "engine.workers=2",
        "~factor.recency",
    ]
    assert (
        run_name(["locomo", "", "sqlite"], overrides)
        == "dataset.unit=turn · no factor.recency · locomo · sqlite"
    )
    assert changed_keys([["a=1", "b=1"], ["a=2", "b=1"], ["b=1"]]) == ["a"]
    assert changed_keys([["+experiment=dry", "b=1"]]) == ["b"]
    assert sweep_table([], []) == {"columns": ["name", "of"], "data": [["status", ""]]}


def test_the_table_of_questions() -> None:
    other = {"verdicts": {}, "answer": None, "ranked": None, "unscored": "no ranking"}
    session = GoldRow((), (Ref("s1", None),), True)
    rows = [
        _record(0),
        _record(1, "null", **other),
        _record(2, gold=GoldRow((), (), False)),
        _record(3, gold=session),
        _record(4, gold=GoldRow(("x",), (Ref("s9", "D9:1"),), True)),
    ]
    table = questions(rows)
    first, second, third, fourth, fifth = (
        dict(zip(table["columns"], row, strict=True)) for row in table["data"]
    )
    assert table["columns"][:5] == ["question", "answer", "expected", "verdict_facts_v2", "system"]
    assert first["verdict_facts_v2"] == "correct, invalid (length)"
    assert (first["level"], first["first_gold_rank"], first["hit_at_10"]) == ("turn", 3, 1)
    assert first["top"] == "s1/D1:1, s1/D1:2, s1/D1:3"
    assert first["expected"] == "7 May 2023 | May 7"
    assert (second["verdict_facts_v2"], second["hit_at_10"], second["unscored"]) == (None, None, "no ranking")
    assert (third["expected"], third["first_gold_rank"]) == ("(not answerable)", None)
    assert (fourth["level"], fourth["first_gold_rank"]) == ("session", 1)
    assert (fifth["first_gold_rank"], fifth["hit_at_10"]) == (None, 0)
    assert questions([]) == {"columns": [], "data": []}
    assert not any("." in column for column in table["columns"])


@pytest.mark.parametrize("uri", ["./mlruns", "file:./mlruns", "file:///tmp/mlruns", "redis://x/1", "mlruns"])
def test_a_store_that_mlflow_refuses_is_told_before_the_run(uri: str) -> None:
    assert "sqlite:////" in Mlflow(uri, None, None).problems()[0]


def test_a_store_that_cannot_be_made_is_told_before_the_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "is a folder" in Mlflow(f"sqlite:///{tmp_path}", None, None).problems()[0]
    assert "is a file" in Mlflow(f"sqlite:///{tmp_path}/file/a/m.db", None, None).problems()[0]
    assert Mlflow(f"sqlite:///{tmp_path}/new/m.db", None, None).problems() == []
    assert Mlflow(None, None, None).problems() == []
    assert Mlflow("https://u:p@host/x", None, None).problems() == []


def test_the_default_store_is_absolute_and_the_hint_shows_no_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert store_uri(None) == f"sqlite:///{ROOT}/mlruns/mlflow.db"
    assert store_uri("sqlite:///a/m.db") == f"sqlite:///{tmp_path}/a/m.db"
    monkeypatch.setattr("runner.mlruns.ROOT", tmp_path / "no checkout")
    assert store_uri(None) == f"sqlite:///{tmp_path}/mlruns/mlflow.db"
    assert ui_command("sqlite:////a b/m.db") == "mlflow ui --backend-store-uri 'sqlite:////a b/m.db'"
    assert ui_command("https://u:pw@Host.example:8443/x?y=1") == "open https://host.example:8443"
    assert "pw" not in ui_command("postgresql://u:pw@host/db")


def test_importing_the_tracker_does_not_import_mlflow() -> None:
    code = "import sys, runner.tracking; sys.exit('mlflow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0
