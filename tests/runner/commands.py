"""The command line as a user meets it: `command()` in a fresh interpreter, `said()` in this one."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from runner.__main__ import main
from tests.contract.options import ROOT, environment


class Said(NamedTuple):
    status: int
    out: str
    err: str

    @property
    def problems(self) -> list[str]:
        """The lines of a refusal."""
        return [line[4:] for line in self.err.splitlines() if line.startswith("  - ")]


def command(*argv: str, cwd: Path = ROOT, **variables: str) -> Said:
    """`python -m runner ARGV` with no key and no data but what `variables` name."""
    done = subprocess.run(
        [sys.executable, "-m", "runner", *argv],
        cwd=cwd,
        env=environment(PYTHONPATH=str(ROOT), **variables),
        capture_output=True,
        text=True,
        timeout=120,
    )
    return Said(done.returncode, done.stdout, done.stderr)


def said(*argv: str) -> Said:
    """The same without the start of an interpreter: for set-ups that are refused."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(argv)
    return Said(status, out.getvalue(), err.getvalue())
