"""From checked overrides to jobs: one job, or a sweep whose jobs are children of one parent."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from components.types import ComponentError, DataError
from runner.compose import Composed, compose_all, sweep
from runner.config import ConfigError, check
from runner.job import Job
from runner.keys import unknown_keys
from runner.records import RecordsError
from runner.sweep import Ended, SweepFolder


def check_all(overrides: Sequence[str], multirun: bool) -> tuple[list[Composed], list[str]]:
    """Every job, and every mistake of every job, before anything is spent."""
    jobs, problems = compose_all(overrides, multirun)
    named = any(o.lstrip("+").startswith(("experiment=", "reproduce=")) for o in overrides)
    if not named:
        problems.insert(0, "no experiment named: write +experiment=NAME (python -m runner lists them)")
    for job in jobs:
        if job.raw:
            problems += unknown_keys(job.raw) + check(job.raw) + _folder_problems(job.raw["output_dir"])
            if not problems and job.raw["name"] == "???":
                problems.append(f"{' '.join(job.overrides)}: the experiment's file gives no `name`")
    return jobs, list(dict.fromkeys(problems))


def _folder_problems(output: Any) -> list[str]:
    """Whether runs can be written under `output`: told before anything is spent."""
    path = Path(str(output)).absolute()
    there = next(p for p in (path, *path.parents) if p.exists())
    if there.is_dir() and os.access(there, os.W_OK | os.X_OK):
        return []
    what = "cannot be written to" if there.is_dir() else "is no folder"
    return [f"output_dir: {there} {what}; set output_dir to a folder for the runs"]


def start_one(job: Composed) -> int:
    """Runs one job; its exit status."""
    return run_job(job.raw, job.overrides, None).status


def start_sweep(jobs: Sequence[Composed], overrides: Sequence[str]) -> int:
    """Runs every job through Hydra's launcher; 1 when one failed. The others are kept.

    The jobs' statuses come back through a file: a launcher may run them in other processes.
    """
    folder = SweepFolder.new(Path(jobs[0].raw["output_dir"]), jobs[0].raw["name"], len(jobs))
    os.environ["CROSSJUDGE_SWEEP"] = str(folder.path.absolute())
    sys.argv = [sys.argv[0], "-m", *overrides]
    sweep(_one_of_sweep)
    return folder.finish(jobs[0].raw)


def _one_of_sweep(raw: dict[str, Any], overrides: Sequence[str], number: int) -> None:
    folder = SweepFolder(Path(os.environ["CROSSJUDGE_SWEEP"]))
    folder.note(number, overrides, run_job(raw, overrides, folder.path.name))


def run_job(raw: Mapping[str, Any], overrides: Sequence[str], sweep: str | None) -> Ended:
    """One job to its end. A set-up or data mistake is one message and status 2, never a traceback."""
    errors = Console(stderr=True, highlight=False, soft_wrap=True)
    where = None
    try:
        job = Job.open(raw, overrides, sweep)
        where = str(job.folder)
        return Ended(job.run(), where, None)
    except (ConfigError, DataError, RecordsError, ComponentError) as error:
        errors.print("[bold red]stopped[/]:", end=" ")
        errors.print(str(error), markup=False)
        if isinstance(error, ComponentError):
            errors.print(
                f"what was done is kept: put it right and go on with resume={where or 'FOLDER'}", markup=False
            )
        return Ended(2, where, str(error))
