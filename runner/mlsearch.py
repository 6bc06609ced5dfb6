"""Runs that MLflow has already: a folder's own, a sweep's parent, its children."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from runner.logged import changed_keys, short
from runner.mlclient import call, cleaner, fitting, log_numbers, log_table
from runner.tables import sweep_table

RUN_ID = "mlflow_run_id"  # the file in a run's folder
PARENT, SWEEP, OVERRIDES = "mlflow.parentRunId", "crossjudge.sweep", "crossjudge.overrides"


def known_run(client: Any, folder: Path) -> str | None:
    """The folder's run, unless this store does not have it (another store, a deleted run)."""
    path = folder / RUN_ID
    run = path.read_text("utf-8").strip() if path.exists() else ""
    found = call(client.search_runs, everywhere(client), f"attributes.run_id = '{plain(run)}'") if run else []
    return str(found[0].info.run_id) if found else None


def everywhere(client: Any) -> list[str]:
    """Ids of all experiments that are not deleted."""
    return [found.experiment_id for found in call(client.search_experiments)]


def sweep_parent(client: Any, place: str, sweep: str, experiment: str, overrides: Sequence[str]) -> str:
    """The parent of a sweep's jobs: found, or made by the first (under the lock). `place`: experiment id."""
    tags = {SWEEP: plain(sweep), "crossjudge.experiment": experiment, "mlflow.source.name": "crossjudge"}
    found = call(client.search_runs, [place], where(SWEEP, tags[SWEEP]))
    if not found:
        name = cleaner()(sweep_name(experiment, [overrides]))
        return str(call(client.create_run, place, None, tags, name).info.run_id)
    return str(found[0].info.run_id)


def end_sweep(client: Any, sweep: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Ends the parents of a sweep (one per experiment of MLflow), each with a table of the jobs."""
    for parent in call(client.search_runs, everywhere(client), where(SWEEP, plain(sweep))):
        _end_parent(client, parent, rows)


def _end_parent(client: Any, parent: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    clean, run = cleaner(), parent.info.run_id
    children = call(client.search_runs, [parent.info.experiment_id], where(PARENT, run))
    by_overrides = {child.data.tags.get(OVERRIDES): child.data.metrics for child in reversed(children)}
    measured = [by_overrides.get(fitting(clean(" ".join(row["overrides"]))), {}) for row in rows]
    log_table(client, run, "sweep.json", sweep_table(rows, measured), clean)
    failed = sum(row["status"] != 0 for row in rows)
    log_numbers(client, run, {"sweep/jobs": len(rows), "sweep/failed": failed}, {})
    name = sweep_name(parent.data.tags["crossjudge.experiment"], [row["overrides"] for row in rows])
    call(client.update_run, run, name=clean(name))
    call(client.set_terminated, run, "FINISHED")


def sweep_name(experiment: str, jobs: Sequence[Sequence[str]]) -> str:
    """`sweep weights.dense · crossjudge`: the list of runs shows the first twenty letters."""
    keys = ", ".join(short(key) for key in changed_keys(jobs))
    return f"sweep {keys} · {experiment}"[:200] if keys else f"sweep {experiment}"


def where(tag: str, value: str) -> str:
    return f"tags.`{tag}` = '{value}'"


def plain(text: str) -> str:
    """An id as it may stand between the quotes of a search: no secret, no home folder, no quote."""
    return re.sub(r"[^\w./ *-]", "_", cleaner()(text))
