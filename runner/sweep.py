"""A sweep's folder: one line per job that ended, whatever process it ran in, and the table of them all."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock
from rich.console import Console
from rich.table import Table

from runner.build import build


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

    def note(self, number: int, overrides: Sequence[str], status: int, folder: str | None = None) -> None:
        """One job ended. Locked: jobs may run side by side."""
        row = {"job": number, "overrides": list(overrides), "status": status, "folder": folder}
        with FileLock(self.path / "lock"), (self.path / "jobs.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")

    def jobs(self) -> list[dict[str, Any]]:
        file = self.path / "jobs.jsonl"
        if not file.exists():
            return []
        rows = [json.loads(line) for line in file.read_text("utf-8").split("\n") if line]
        return sorted(rows, key=lambda row: row["job"])

    def finish(self, raw: Mapping[str, Any]) -> int:
        """Prints the table of the jobs; 1 when one failed or is missing."""
        rows, expected = self.jobs(), int((self.path / "expected").read_text("utf-8"))
        console = Console(highlight=False, soft_wrap=True)
        table = Table(title=f"sweep {self.path}: {len(rows)} of {expected} jobs ended", title_justify="left")
        for column in ("job", "changed", "status", "folder"):
            table.add_column(column)
        for row in rows:
            status = {0: "done", 1: "missed an expectation", 2: "failed"}[row["status"]]
            table.add_row(str(row["job"]), " ".join(row["overrides"]), status, row["folder"] or "")
        console.print(table)
        if tracker := build(raw.get("tracker")):
            from runner.tracking import TrackerError

            try:
                tracker.finish_sweep(self.path.name, rows)
            except TrackerError as error:
                console.print(f"tracker: {error}", style="yellow", markup=False)
        return 0 if len(rows) == expected and all(row["status"] == 0 for row in rows) else 1
