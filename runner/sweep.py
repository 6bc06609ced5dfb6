"""A sweep's folder: one line per job that ended, whatever process it ran in, and the list of them all."""

from __future__ import annotations

import json
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from filelock import FileLock
from rich.console import Console

from runner.build import build


class Ended(NamedTuple):
    """How a job ended: exit status, the run's folder, and why it stopped before its end."""

    status: int
    folder: str | None
    why: str | None


@dataclass(frozen=True)
class SweepFolder:
    path: Path

    @classmethod
    def new(cls, output: Path, name: str, jobs: int) -> SweepFolder:
        stamp = datetime.now(UTC).strftime("%Y-%m-%d_%H-%M-%S")
        path = output / "sweeps" / f"{name}-{stamp}-{uuid.uuid4().hex[:6]}"
        path.mkdir(parents=True)
        (path / "expected").write_text(str(jobs), "utf-8")
        return cls(path)

    def note(self, number: int, overrides: Sequence[str], end: Ended) -> None:
        """One job ended. Locked: jobs may run side by side."""
        row = {"job": number, "overrides": list(overrides), **end._asdict()}
        with FileLock(self.path / "lock"), (self.path / "jobs.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")

    def jobs(self) -> list[dict[str, Any]]:
        file = self.path / "jobs.jsonl"
        if not file.exists():
            return []
        rows = [json.loads(line) for line in file.read_text("utf-8").split("\n") if line]
        return sorted(rows, key=lambda row: row["job"])

    def finish(self, raw: Mapping[str, Any]) -> int:
        """Prints the list of the jobs; 1 when one failed or is missing."""
        rows, expected = self.jobs(), int((self.path / "expected").read_text("utf-8"))
        console = Console(highlight=False, soft_wrap=True)
        console.print(f"sweep {self.path}: {len(rows)} of {expected} jobs ended", markup=False)
        for row in rows:
            console.print(_told(row, _shared(rows)), markup=False)
        self._page(raw, rows, console)
        if tracker := build(raw.get("tracker")):
            from runner.tracking import TrackerError

            try:
                tracker.finish_sweep(self.path.name, rows)
            except TrackerError as error:
                console.print(f"tracker: {error}", style="yellow", markup=False)
        return 0 if len(rows) == expected and all(row["status"] == 0 for row in rows) else 1

    def _page(self, raw: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], console: Console) -> None:
        """The table and the plot of the points that ended well, where there are two and one recall system."""
        done = [row for row in rows if row["status"] != 2 and _has_records(row["folder"])]
        names = [_point(row, _shared(rows)) for row in done]
        if raw.get("conditions") or len(set(names)) < len(names):
            return
        from runner.facts import settings_of
        from runner.sweep_page import write

        settings = replace(settings_of(raw), systems=tuple(names), judges={})
        if table := write(self.path, done, names, settings):
            console.print(table, markup=False)
            console.print(f"also in {self.path / 'sweep.md'}, with a plot", markup=False)


def _has_records(folder: str | None) -> bool:
    return folder is not None and (Path(folder) / "records.jsonl").is_file()


def _point(row: Mapping[str, Any], shared: Collection[str]) -> str:
    """What is different about a job, short: weights.dense=0.3."""
    changed = [o for o in row["overrides"] if o not in shared]
    return " ".join(
        ".".join(o.partition("=")[0].split(".")[-2:]) + "=" + o.partition("=")[2] for o in changed
    )


def _shared(rows: Sequence[Mapping[str, Any]]) -> set[str]:
    """Overrides that tell no job from another."""
    return set.intersection(*(set(row["overrides"]) for row in rows)) if len(rows) > 1 else set()


def _told(row: Mapping[str, Any], shared: Collection[str]) -> str:
    status = {0: "done", 1: "a gate or an expectation failed", 2: "stopped"}.get(row["status"], "failed")
    changed = " ".join(o for o in row["overrides"] if o not in shared)
    parts = [f"  {row['job']}  {changed}: {status}", row["folder"] or "", row["why"] or ""]
    return "  ".join(part for part in parts if part)
