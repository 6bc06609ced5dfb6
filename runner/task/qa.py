"""Recall, answer where there is an answerer, judge where there are judges; then the report."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

from rich.console import Console

from runner.expectations import compare
from runner.export import Export
from runner.facts import facts_of, settings_of
from runner.floors import gates
from runner.job import Job
from runner.loop import Loop
from runner.progress import Progress
from runner.records import read, unanswered
from runner.report import assemble, console, write


@dataclass(frozen=True)
class Qa:
    def run(self, job: Job) -> int:
        """0; 1 when an expectation was missed, a floor was not held, or no question got an answer."""
        start = perf_counter()
        with Progress(Console(stderr=True), job.plan.name) as progress:
            met = Loop(job.raw, job.folder, job.fingerprint, job.chosen).run(progress)
        seconds = perf_counter() - start
        from runner.evaluation import evaluate  # here: scipy takes a second, and a refused set-up needs none

        sections = evaluate(read(job.folder / "records.jsonl"), settings_of(job.raw))
        # of this session: a resumed run did a part of the work before
        facts = facts_of(job, met) | {"timing": {"work_seconds": seconds, "haystacks": met.haystacks}}
        status = finish(job, assemble(sections, facts))
        return max(status, int(_nothing_came(job)))


def _nothing_came(job: Job) -> bool:
    """Whether every answer was lost to an outage: such a run measured nothing."""
    records = (record for record in read(job.folder / "records.jsonl") if record.answer is not None)
    first = next(records, None)
    return first is not None and unanswered(first) and all(map(unanswered, records))


def finish(job: Job, report: dict[str, Any]) -> int:
    """Compares with expectations and floors, writes the report and the exports, prints the summary."""
    out = Console(highlight=False, soft_wrap=True)
    if job.plan.expect:
        report["expectations"] = compare(report, job.plan.expect)
    if job.plan.floors:
        report["gates"] = [*report.get("gates", []), *gates(report, job.raw)]
    write(report, job.folder)
    out.print(console(report), markup=False)
    if job.plan.export:
        only = job.chosen.ids if job.chosen else None
        files = Export.of(job.folder, job.raw, settings_of(job.raw), only).write(
            job.plan.export, job.folder / "export"
        )
        out.print(f"export  {len(files)} files under {job.folder / 'export'}", markup=False)
    missed = [row for part in ("expectations", "gates") for row in report.get(part, []) if not row["ok"]]
    return 1 if missed else 0
