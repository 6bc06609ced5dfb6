"""From checked overrides to jobs: one job, or a sweep whose jobs are children of one parent."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from components.types import ComponentError, DataError
from runner.compose import Composed, compose_all, sweep, unknown_keys
from runner.config import ConfigError, check
from runner.job import Job
from runner.records import RecordsError
from runner.sweep import SweepFolder


def check_all(overrides: Sequence[str], multirun: bool) -> tuple[list[Composed], list[str]]:
    """Every job, and every mistake of every job, before anything is spent."""
    jobs, problems = compose_all(overrides, multirun)
    for job in jobs:
        if job.raw:
            problems += unknown_keys(job.raw) + check(job.raw)
    return jobs, list(dict.fromkeys(problems))


def start_one(job: Composed) -> int:
    """Runs one job; its exit status."""
    return run_job(job.raw, job.overrides, None)[0]


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
    status, where = run_job(raw, overrides, folder.path.name)
    folder.note(number, overrides, status, where)


def run_job(raw: Mapping[str, Any], overrides: Sequence[str], sweep: str | None) -> tuple[int, str | None]:
    """(exit status, the run's folder). A set-up or data mistake is one message and 2, never a traceback."""
    errors = Console(stderr=True, highlight=False, soft_wrap=True)
    where = None
    try:
        job = Job.open(raw, overrides, sweep)
        where = str(job.folder)
        return job.run(), where
    except (ConfigError, DataError, RecordsError) as error:
        errors.print("[bold red]stopped[/]:", end=" ")
        errors.print(str(error), markup=False)
        return 2, where
    except ComponentError as error:
        errors.print("[bold red]stopped[/]:", end=" ")
        errors.print(
            f"{error}\nwhat was done is kept: put it right and go on with resume=FOLDER", markup=False
        )
        return 2, where
