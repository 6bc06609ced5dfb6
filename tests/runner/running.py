"""Whole runs for the tests: in this process, or in a fresh interpreter; nothing is written into the checkout.

`run()` goes through main() as the command line does; `started()` gives a process that can be killed.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from components.types import Haystack
from runner.__main__ import main
from runner.build import build
from runner.compose import compose_all
from runner.records import Record, read

ROOT = Path(__file__).parents[2]
_SECONDS = re.compile(rb'"seconds":(?:\{[^{}]*\}|[-+.0-9e]+)')  # a quote inside a text is escaped


@dataclass(frozen=True)
class Ran:
    """A run that has ended: its exit status, what it said, and its folder."""

    status: int
    stdout: str
    stderr: str

    @property
    def folder(self) -> Path:
        """Of the report, whose path is the last line of stdout."""
        return Path(self.stdout.rstrip().rpartition("\n")[2]).parent

    @property
    def report(self) -> dict[str, Any]:
        report: dict[str, Any] = json.loads((self.folder / "report.json").read_text("utf-8"))
        return report

    @property
    def records(self) -> list[Record]:
        return list(read(self.folder / "records.jsonl"))


def run(out: Path, *overrides: str) -> Ran:
    """A run in this process, without a tracker."""
    stdout, stderr = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        status = main(_line(out, overrides))
    return Ran(status, stdout.getvalue(), stderr.getvalue())


def resume(folder: Path, *overrides: str) -> Ran:
    """Goes on with a run in this process: with what it was started with, or with `overrides`."""
    stdout, stderr = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        status = main([*overrides, f"resume={folder}"])
    return Ran(status, stdout.getvalue(), stderr.getvalue())


@contextlib.contextmanager
def started(
    out: Path, *overrides: str, env: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[str]]:
    """The same in a fresh interpreter, leader of a process group of its own; at the end nobody is left."""
    process = subprocess.Popen(
        [sys.executable, "-m", "runner", *_line(out, overrides)],
        cwd=ROOT,
        env={**os.environ, **(env or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=_heeds_ctrl_c,
    )
    try:
        yield process
    finally:
        kill_all(process)


def _heeds_ctrl_c() -> None:
    """A suite that a shell put in the background ignores SIGINT, and so would everything it starts."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def ended(process: subprocess.Popen[str]) -> Ran:
    stdout, stderr = process.communicate(timeout=120)
    return Ran(process.returncode, stdout, stderr)


def kill_all(process: subprocess.Popen[str]) -> None:
    """SIGKILL to the process and whatever it started: nobody gets to tidy up."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=30)
    for pipe in (process.stdout, process.stderr):
        if pipe:
            pipe.close()


def _line(out: Path, overrides: Sequence[str]) -> list[str]:
    return [*overrides, f"output_dir={out}", "tracker=none"]


@cache
def config(*overrides: str) -> dict[str, Any]:
    """The resolved config of a command line that has no mistake."""
    jobs, problems = compose_all(overrides, False)
    assert not problems
    return jobs[0].raw


def haystacks(raw: Mapping[str, Any]) -> list[Haystack]:
    dataset = build(raw["dataset"])
    return [dataset.load(place) for place in dataset.items()]


def timeless(lines: bytes) -> bytes:
    """Lines of records or traces without their seconds: what two equal runs have in common, byte for byte."""
    return _SECONDS.sub(b"", lines)


def same_report(report: Mapping[str, Any]) -> dict[str, Any]:
    """A report without its times, its id, and the command that made it."""
    command = {**report["reproduce"], "command": None}
    left_out = ("created", "run_id", "latency", "timing")
    return {key: value for key, value in report.items() if key not in left_out} | {"reproduce": command}


def whole_lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0
