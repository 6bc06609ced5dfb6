"""What goes wrong with a store: races, locks, broken files, things deleted in MLflow. Nothing is lost."""

import multiprocessing
import os
import sqlite3
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner.mlclient import TrackerError, call
from runner.provenance import ROOT
from runner.tracking import Mlflow, main, relog
from tests.runner.tracked import LOGGED, a_folder, client_of, its_facts


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mlflow]:
    """One store for the module: a folder with a blank and an umlaut in its name."""
    folder = tmp_path_factory.mktemp("ml flow ü")
    yield Mlflow(f"sqlite:///{folder}/mlflow.db", None, None)


def _six(number: int, folder: str) -> None:
    """A whole run of one of several processes (spawned)."""
    warnings.simplefilter("ignore")
    tracker = Mlflow(f"sqlite:///{folder}/ml/mlflow.db", None, None)
    run = a_folder(Path(folder) / f"run{number}")
    tracker.start(run, its_facts(f"seed={number}", sweep="six"))
    tracker.finish(run)


@pytest.mark.timeout(600)  # six imports of mlflow at once
def test_six_processes_on_a_fresh_store(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_six, args=(i, str(tmp_path))) for i in range(6)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(200)
    assert [process.exitcode for process in processes] == [0] * 6
    client = client_of(Mlflow(f"sqlite:///{tmp_path}/ml/mlflow.db", None, None))
    runs = client.search_runs([client.get_experiment_by_name("dry").experiment_id])
    children = [run for run in runs if "mlflow.parentRunId" in run.data.tags]
    assert len(children) == 6 and len(runs) == 7
    assert all(run.data.metrics == LOGGED and run.info.status == "FINISHED" for run in children)


def test_a_failure_loses_nothing_and_the_folder_can_be_logged_later(tmp_path: Path) -> None:
    folder = a_folder(tmp_path / "run")
    (tmp_path / "broken.db").write_bytes(b"this is no database " * 100)
    broken = Mlflow(f"sqlite:///{tmp_path}/broken.db", None, None)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(TrackerError, match=r"not logged to MLflow: .*python -m runner\.tracking"):
        broken.start(folder, its_facts("seed=3"))
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
    logged = client_of(later).get_run((folder / "mlflow_run_id").read_text())
    assert logged.data.metrics == LOGGED and logged.info.run_name == "seed=3 · fixture"
    assert logged.info.end_time - logged.info.start_time == 5000


def test_a_folder_that_is_no_run(store: Mlflow, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path), str(store.uri)]) == 2
    assert "belongs to no run" in capsys.readouterr().err
    assert main([]) == 2
    with pytest.raises(TrackerError):
        relog(tmp_path / "missing", store.uri)


def test_torn_records_are_a_tracker_error(store: Mlflow, tmp_path: Path) -> None:
    folder = a_folder(tmp_path / "run")
    store.start(folder, its_facts())
    with (folder / "records.jsonl").open("ab") as file:
        file.write(b'{"fingerprint": "f", "sys')
    with pytest.raises(TrackerError, match="line 4"):
        store.finish(folder)


def test_a_deleted_experiment_and_lost_artifacts_are_explained(store: Mlflow, tmp_path: Path) -> None:
    tracker = Mlflow(store.uri, str(tmp_path / "art"), "gone")
    tracker.start(a_folder(tmp_path / "a"), its_facts())
    (tmp_path / "art").rename(tmp_path / "moved")
    with pytest.raises(TrackerError, match="is gone"):
        tracker.start(a_folder(tmp_path / "b"), its_facts())
    client = client_of(store)
    client.delete_experiment(client.get_experiment_by_name("gone").experiment_id)
    with pytest.raises(TrackerError, match="was deleted"):
        tracker.start(a_folder(tmp_path / "c"), its_facts())


def test_a_run_deleted_in_mlflow_is_made_anew(store: Mlflow, tmp_path: Path) -> None:
    folder = a_folder(tmp_path / "run")
    run = store.start(folder, its_facts())
    client_of(store).delete_run(run)
    assert store.start(folder, its_facts()) != run


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
