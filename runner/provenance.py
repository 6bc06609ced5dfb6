"""Where a run comes from: code, machine, packages, data, models, prompts, seeds, command.

    {"schema": "crossjudge-provenance/1", "harness_version": "0.1.0",
     "git": {"commit": "269c...", "dirty": false},
     "python": "3.11.7", "platform": "Linux-6.1-x86_64", "cpu": {"model": "...", "count": 2},
     "packages": {"mlflow": "3.17.2", ...}, "lock_sha256": "9f2c...",
     "datasets": {"locomo10.json": "79fa..."},
     "models": {}, "prompts": {"answer": "1b2c..."}, "seeds": {"seed": 0}, "start": "2026-11-30T20:10:00Z",
     "end": null, "command": "python -m runner +experiment=dry"}

Enough to make the run again; nothing about who made it: no host name, no user name, no path of a home folder.
What is not known is null.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shlex
import subprocess
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from runner.secrets import MASK, looks_secret, masked, secret_key

ROOT = Path(__file__).resolve().parents[1]  # the checkout, or the folder that the package is installed in
_HOME = re.compile(r"(?i)(?:/home|/Users|[a-z]:\\Users)[/\\][^/\\\s'\"]+")


@dataclass(frozen=True)
class Given:
    """What only the run knows. Name -> sha256 of the content (never a path); seeds: name -> number."""

    datasets: Mapping[str, str]
    models: Mapping[str, str]
    prompts: Mapping[str, str]
    seeds: Mapping[str, int]


def provenance(
    argv: Sequence[str], given: Given, start: datetime, end: datetime | None = None
) -> dict[str, Any]:
    """The content of provenance.json. `argv`: the arguments without the program's name."""
    return {
        "schema": "crossjudge-provenance/1",
        "harness_version": harness_version(),
        "git": {"commit": git_commit(), "dirty": git_dirty()},
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpu": {"model": _cpu_model(), "count": os.cpu_count()},
        "packages": package_versions(),
        "lock_sha256": file_sha256(ROOT / "requirements.lock"),
        "datasets": dict(given.datasets),
        "models": dict(given.models),
        "prompts": dict(given.prompts),
        "seeds": dict(given.seeds),
        "start": _instant(start),
        "end": _instant(end) if end else None,
        "command": command(argv, os.environ),
    }


def command(argv: Sequence[str], environ: Mapping[str, str]) -> str:
    """What to type to make the run again, free of secrets and home folders."""
    arguments = []
    for argument in argv:
        clean = without_home(masked(argument, environ))
        key, sign, _ = clean.partition("=")
        if looks_secret(clean) or (sign and secret_key(key.lstrip("+~"))):
            clean = f"{key}={MASK}" if sign and looks_secret(key) is None else MASK
        arguments.append(clean)
    return shlex.join(["python", "-m", "runner", *arguments])


def without_home(text: str) -> str:
    """Absolute paths inside the checkout become relative, home folders `~`."""
    text = text.replace(f"{ROOT}{os.sep}", "") if Path(ROOT.anchor) != ROOT else text
    home = os.path.expanduser("~")
    if len(home) > 1 and os.path.isabs(home):
        text = re.sub(rf"{re.escape(home)}(?![\w.-])", "~", text)
    return _HOME.sub("~", text)


def host_of(url: str) -> str | None:
    """The host of a URL, lower case: no user, port, path or query. None when there is none."""
    try:
        return urlsplit(url if "://" in url else f"//{url}").hostname
    except ValueError:  # an unclosed IPv6 bracket
        return None


def file_sha256(path: Path) -> str | None:
    """Hash of a file's bytes, streamed; None when there is no such file."""
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def text_sha256(text: str) -> str:
    """Hash of a prompt, as `Given.prompts` takes it."""
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def harness_version() -> str | None:
    """From the checkout's pyproject.toml (an editable install may be stale), else from the package."""
    if project := _project():
        return str(project["version"])
    try:
        return metadata.version("crossjudge")
    except metadata.PackageNotFoundError:
        return None


@cache
def git_commit() -> str | None:
    """The checkout's commit; None when this code is no repository of its own, or git is missing."""
    top = _git("rev-parse", "--show-toplevel")
    if top is None or Path(top).resolve() != ROOT:  # a virtual environment inside somebody's repository
        return None
    return _git("rev-parse", "HEAD")


def git_dirty() -> bool | None:
    """Whether any file differs from the commit or is unknown to it."""
    if git_commit() is None:
        return None
    status = _git("status", "--porcelain")
    return None if status is None else status != ""


def package_versions() -> dict[str, str | None]:
    """Direct dependencies and what is installed of them."""
    if project := _project():
        requirements = project["dependencies"]
    else:
        try:
            requirements = [r for r in metadata.requires("crossjudge") or [] if "extra ==" not in r]
        except metadata.PackageNotFoundError:
            requirements = []
    names = sorted({re.split(r"[^\w.-]", requirement, maxsplit=1)[0] for requirement in requirements})
    return {name: _version(name) for name in names}


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _project() -> dict[str, Any] | None:
    path = ROOT / "pyproject.toml"
    if not path.is_file():
        return None
    project: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8")).get("project", {})
    return project if project.get("name") == "crossjudge" else None


def _git(*arguments: str) -> str | None:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, timeout=20, env=environ
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _cpu_model() -> str | None:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        found = re.search(
            r"^(?:model name|Model)\s*:\s*(.+)$", info.read_text(errors="replace"), re.MULTILINE
        )
        if found:
            return found[1].strip()
    return platform.processor() or None


def _instant(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
