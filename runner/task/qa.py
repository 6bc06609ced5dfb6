"""Recall, answer where there is an answerer, judge where there are judges; then the report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rich.console import Console

from runner.evaluation import evaluate
from runner.expectations import compare
from runner.facts import facts_of, settings_of
from runner.job import Job
from runner.loop import Loop
from runner.progress import Progress
from runner.records import read
from runner.report import assemble, console, write


@dataclass(frozen=True)
class Qa:
    def run(self, job: Job) -> int:
        """0; 1 when an expectation was missed."""
        with Progress(Console(stderr=True), job.plan.name) as progress:
            met = Loop(job.raw, job.folder, job.fingerprint, job.chosen).run(progress)
        sections = evaluate(read(job.folder / "records.jsonl"), settings_of(job))
        return finish(job, assemble(sections, facts_of(job, met)))


def finish(job: Job, report: dict[str, Any]) -> int:
    """Compares with what is expected, writes the report, prints its summary."""
    out = Console(highlight=False, soft_wrap=True)
    if job.plan.expect:
        report["expectations"] = compare(report, job.plan.expect)
    write(report, job.folder)
    out.print(console(report), markup=False)
    missed = [e for e in report.get("expectations", []) if not e["ok"]]
    return 1 if missed else 0
