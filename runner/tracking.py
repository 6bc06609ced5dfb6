"""Runs in MLflow: one per job, the jobs of a sweep under one parent.

Tracking only reads a run's folder; the folder is whole without it. What fails here is a TrackerError that
says how to log the folder again: `python -m runner.tracking FOLDER`. It keeps two files there:
`tracking.json` (what the run is called, its params) and `mlflow_run_id`. All that is sent is masked first.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import msgspec

from runner import mlclient as ml
from runner.logged import Scalar, kinds, metrics, param_text
from runner.mlclient import TrackerError, call, cleaner, explained, fitting, opened
from runner.mlruns import artifact_folder, store_uri, ui_command, uri_problems
from runner.mlsearch import OVERRIDES, PARENT, RUN_ID, end_sweep, known_run, sweep_parent
from runner.records import read
from runner.tables import questions

__all__ = ["Mlflow", "RunFacts", "TrackerError", "relog", "ui_command"]

FACTS = "tracking.json"
ARTIFACTS = ("report.md", "report.json", "config.yaml", "provenance.json", "trace.jsonl")


@dataclass(frozen=True)
class RunFacts:
    """What a run is called. `params`: as `runner.logged.params` makes them; `sweep`: the sweep's id."""

    experiment: str
    name: str
    overrides: Sequence[str]
    params: Mapping[str, Scalar]
    sweep: str | None


@dataclass(frozen=True)
class Mlflow:
    """`uri` None: SQLite under mlruns/; `artifact_root` None: beside it; `experiment` None: the run's own."""

    uri: str | None
    artifact_root: str | None
    experiment: str | None

    def problems(self) -> list[str]:
        missing = importlib.util.find_spec("mlflow") is None
        return uri_problems(self.uri) + ["tracker: mlflow is not installed; or tracker=none"] * missing

    def start(self, folder: Path, facts: RunFacts) -> str:
        """The id of the folder's run, now RUNNING: a new one, or the one that `folder` has (resume)."""
        clean = cleaner()
        with explained(_again(folder)):
            (folder / FACTS).write_text(clean(json.dumps(asdict(facts), ensure_ascii=False)), "utf-8")
            with self._opened() as client:
                run = known_run(client, folder) or self._created(client, folder, facts)
            call(client.update_run, run, status="RUNNING")
            there = call(client.get_run, run).data.params  # params never change
            new = {name: value for name, value in facts.params.items() if name not in there}
            ml.log_params(client, run, {name: clean(param_text(value)) for name, value in new.items()})
        return run

    def finish(self, folder: Path, status: Literal["FINISHED", "FAILED", "KILLED"] = "FINISHED") -> None:
        """Logs what the folder holds and ends its run; starts it first where start() failed. Repeatable."""
        clean = cleaner()
        with explained(_again(folder)):
            with self._opened() as client:
                run = known_run(client, folder)
            if run is None and (folder / FACTS).exists():
                run = self.start(folder, msgspec.json.decode((folder / FACTS).read_bytes(), type=RunFacts))
            if run is None:
                raise TrackerError(f"{folder} belongs to no run in {ui_command(self.uri)}")
            report, made = _json(folder / "report.json"), _json(folder / "provenance.json")
            tags = {name: clean(value) for name, value in _tags(report, made).items()}
            ml.log_numbers(client, run, metrics(report), tags)
            for path in filter(Path.exists, (folder / name for name in ARTIFACTS)):
                text = clean(path.read_text("utf-8"))
                call(client.log_text, run, text, path.name)
                if path.name == "report.md":
                    ml.log_description(client, run, text)
            if (folder / "records.jsonl").exists():
                ml.log_table(client, run, "questions.json", questions(read(folder / "records.jsonl")), clean)
            if dataset := report.get("dataset"):
                ml.log_dataset(client, run, dataset)
            call(client.set_terminated, run, status, _milliseconds(made.get("end")))

    def finish_sweep(self, sweep: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Ends the parent, with a table of the jobs. `rows`: {job, overrides, status}; status 0 is done."""
        with explained("every job of the sweep is whole in its folder"), self._opened() as client:
            end_sweep(client, sweep, rows)

    def _opened(self) -> AbstractContextManager[Any]:
        return opened(store_uri(self.uri))

    def _created(self, client: Any, folder: Path, facts: RunFacts) -> str:
        clean = cleaner()
        place = self._experiment(client, self.experiment or facts.experiment)
        tags = {
            "crossjudge.experiment": facts.experiment,
            "crossjudge.folder": str(folder.absolute()),
            OVERRIDES: " ".join(facts.overrides),
            "mlflow.source.name": "crossjudge",
            "mlflow.source.type": "LOCAL",
        }
        if facts.sweep is not None:
            tags[PARENT] = sweep_parent(client, place, facts.sweep, facts.experiment, facts.overrides)
        tags = {name: fitting(clean(value)) for name, value in tags.items()}
        start = _milliseconds(_json(folder / "provenance.json").get("start"))
        run = str(call(client.create_run, place, start, tags, clean(facts.name)).info.run_id)
        (folder / RUN_ID).write_text(run, "utf-8")
        return run

    def _experiment(self, client: Any, name: str) -> str:
        found = call(client.get_experiment_by_name, name)
        if found is None:
            place = artifact_folder(store_uri(self.uri), self.artifact_root, name)
            kind = {"mlflow.experimentKind": "custom_model_development"}  # which pages MLflow shows
            return str(call(client.create_experiment, name, place, kind))
        if found.lifecycle_stage != "active":
            raise TrackerError(
                f"MLflow's experiment {name!r} was deleted: restore it (mlflow experiments restore"
                f" --experiment-id {found.experiment_id}) or set tracker.experiment=NAME"
            )
        place = found.artifact_location.removeprefix("file://")
        if "://" not in place and os.path.isabs(place) and not Path(place).is_dir():
            raise TrackerError(
                f"MLflow's experiment {name!r} keeps its artifacts in {place}, which is gone (was the store"
                " moved?): move it back or set tracker.experiment=NAME"
            )
        return str(found.experiment_id)


def relog(folder: Path, uri: str | None = None) -> None:
    """Logs a run's folder again, after a failure of the tracker or into another store. TrackerError."""
    tracker = Mlflow(uri or os.environ.get("MLFLOW_TRACKING_URI") or None, None, None)
    tracker.finish(folder, "FINISHED" if (folder / "report.json").exists() else "FAILED")


def _again(folder: Path) -> str:
    return (
        f"the run's files are in {folder}; log it with: python -m runner.tracking {shlex.quote(str(folder))}"
    )


def _tags(report: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, str]:
    failed = [check["name"] for check in report.get("checks") or () if not check["ok"]]
    tags = {
        "crossjudge.kinds": kinds(report),
        "crossjudge.dataset": (report.get("dataset") or {}).get("name"),
        "crossjudge.version": made.get("harness_version"),
        "crossjudge.checks": ("failed: " + ", ".join(failed) if failed else "ok") if report else None,
        "mlflow.source.git.commit": (made.get("git") or {}).get("commit"),
    }
    return {name: str(value) for name, value in tags.items() if value}


def _json(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_bytes())) if path.exists() else {}


def _milliseconds(instant: str | None) -> int | None:
    return int(datetime.fromisoformat(instant).timestamp() * 1000) if instant else None


def main(argv: Sequence[str]) -> int:
    """python -m runner.tracking FOLDER [URI]: logs the folder to MLflow."""
    if len(argv) not in (1, 2):
        sys.stderr.write(f"{main.__doc__}\n")
        return 2
    try:
        relog(Path(argv[0]), *argv[1:])
    except TrackerError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
