"""Command line -> resolved configs. The only module that knows Hydra.

Hydra stops at the first mistake and has no suggestion for a wrong key. compose_all() goes on without the
override at fault, so that one message names every mistake.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import hydra
from hydra import compose, initialize_config_module
from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from runner.keys import GROUPS, RUNNABLE, lost, of_hydra, repeated
from runner.listing import choices
from runner.nearest import near

BACKSLASH = "\\"
QUOTED = '"null"'
REFUSED = (HydraException, OmegaConfBaseException, ValueError, TypeError)  # the last two: for group=null


@dataclass(frozen=True)
class Composed:
    """One job: its overrides, and its config as plain values ("???" where a value is missing)."""

    overrides: tuple[str, ...]
    raw: dict[str, Any]


def compose_all(overrides: Sequence[str], multirun: bool) -> tuple[list[Composed], list[str]]:
    """Every job of a command line, and every mistake in it; with mistakes the jobs are a best effort."""
    with _hydra():
        parsed, problems = _parse(overrides)
        parsed, own = _without_hydras(parsed, multirun)
        problems += own
        if multirun:
            plain = [o.input_line for o in parsed if o.input_line]
            jobs = [job for batch in BasicSweeper.split_arguments(_sweepable(plain), None) for job in batch]
        else:
            swept = [o.input_line for o in parsed if o.is_sweep_override()]
            problems += [f"{line}: several values need -m (a sweep)" for line in swept]
            jobs = [[o.input_line for o in parsed if o.input_line and not o.is_sweep_override()]]
        composed = []
        for job in jobs:
            raw, found = _compose(job)
            problems += found + [problem for line in job for problem in repeated(line)]
            composed.append(Composed(tuple(job), raw))
        if not composed:
            problems.append("the sweep has no job: a glob or a list matched nothing")
        return composed, list(dict.fromkeys(problems))


def sweep(job: Callable[[dict[str, Any], Sequence[str], int], None]) -> None:
    """Hands the jobs of sys.argv to Hydra's sweeper and launcher: job(config, overrides, number) for each."""

    @hydra.main(version_base="1.3", config_path="pkg://conf", config_name="config")
    def one(cfg: DictConfig) -> None:
        facts = HydraConfig.get()
        raw: dict[str, Any] = OmegaConf.to_container(cfg, resolve=True)  # type: ignore[assignment]
        job(raw, list(facts.overrides.task), int(facts.job.num))

    GlobalHydra.instance().clear()
    one()


@contextlib.contextmanager
def _hydra() -> Iterator[None]:
    GlobalHydra.instance().clear()
    with initialize_config_module("conf", version_base="1.3"):
        yield


def _sweepable(lines: list[str]) -> list[Override]:
    loader = GlobalHydra.instance().config_loader()
    return OverridesParser.create(config_loader=loader).parse_overrides(lines)


def _parse(overrides: Sequence[str]) -> tuple[list[Override], list[str]]:
    parsed, problems = [], []
    parser = OverridesParser.create(config_loader=GlobalHydra.instance().config_loader())
    for line in overrides:
        try:
            parsed.append(parser.parse_override(line))
        except HydraException:
            problems.append(f"{line or 'an empty argument'}: {_quoted(line, parser)}")
    return parsed, problems


def _without_hydras(parsed: list[Override], multirun: bool) -> tuple[list[Override], list[str]]:
    """Without the settings of Hydra's own that nothing would read, and what is told of those."""
    lines = [override.input_line or "" for override in parsed]
    wrong = [_hydras(line, multirun) if re.match(r"[+~]*hydra\b", line) else None for line in lines]
    kept = [override for override, fault in zip(parsed, wrong, strict=True) if not fault]
    return kept, [f"{line}: {fault}" for line, fault in zip(lines, wrong, strict=True) if fault]


def _hydras(line: str, multirun: bool) -> str | None:
    tree: Any = OmegaConf.to_container(
        compose("config", [], return_hydra_config=True)["hydra"], resolve=False
    )
    key, value = _bare(line), line.partition("=")[2]
    options = GlobalHydra.instance().config_loader().get_group_options(key) if "/" in key else [value]
    unknown = None if value in options else f"{key} has no choice {value!r}{near(value, options)}"
    return of_hydra(key, tree, multirun) or unknown


def _quoted(line: str, parser: OverridesParser) -> str:
    """What to write instead of an argument that cannot be read."""
    key, sign, value = line.partition("=")
    if not sign:
        known = line in choices("experiment")
        return (
            f"write +experiment={line}" if known else "is not key=value; a sweep is -m, all else is key=value"
        )
    if "'" not in line:
        # Hydra's rule: a backslash counts double before a quote and at the end, elsewhere it is itself.
        quoted = re.sub(r'(\\*)"', r'\1\1\\"', value)
        better = f'{key}="{quoted}{quoted[len(quoted.rstrip(BACKSLASH)) :]}"'
        with contextlib.suppress(HydraException):
            if parser.parse_override(better).value() == value:
                return f"other characters than letters, digits and . _ / - need quotes: '{better}'"
    return "cannot be read as key=value; quote the value inside the shell's quotes, as in 'key=\"a=b\"'"


def _compose(job: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """The config of one job. Where Hydra refuses, overrides are added one by one to find those at fault."""
    try:
        return _resolved(compose("config", list(job))), _into_copies(job)
    except REFUSED:
        pass
    kept: list[str] = []
    problems: list[str] = []
    wrong: set[str] = set()  # groups without their choice: what hangs on it is not told
    raw, there = {}, compose("config", [])
    for line in sorted(job, key=lambda o: _bare(o) not in GROUPS):
        try:
            cfg = compose("config", [*kept, line])
            raw, there = _resolved(cfg), cfg
            kept.append(line)
        except REFUSED as error:
            if not wrong & {_bare(line).partition(".")[0], *RUNNABLE} or _bare(line) in GROUPS:
                problems.append(_explain(line, kept, there, str(error)))
            wrong |= {_bare(line)} & set(GROUPS)
    return raw, problems + _into_copies(kept)


def _bare(line: str) -> str:
    return line.partition("=")[0].lstrip("+~")


def _resolved(cfg: DictConfig) -> dict[str, Any]:
    raw: dict[str, Any] = OmegaConf.to_container(cfg, resolve=True, throw_on_missing=False)  # type: ignore[assignment]
    return raw


def _explain(line: str, kept: Sequence[str], there: DictConfig, error: str) -> str:
    """Where, what and the nearest right name for an override that Hydra refused."""
    key, _, value = line.partition("=")
    bare = _bare(line)
    if key.startswith("~") and bare in GROUPS:
        return f"{line}: cannot be left out so; where a group may be empty write GROUP=none or GROUP=[]"
    if bare in GROUPS:
        wanted = [v.strip(" \"'") for v in value.strip("[]").split(",")]
        unknown = [v for v in wanted if v not in choices(bare) and value not in ("[]", "{}")]
        if "null" in wanted and "null" in choices(bare) and '"null"' not in value:
            return f"{line}: null stands for nothing; quote the name: '{key}={value.replace('null', QUOTED)}'"
        if unknown and "{" not in value:
            return f"{line}: {bare} has no choice {unknown[0]!r}{near(unknown[0], choices(bare))}"
        if bare in RUNNABLE and not key.startswith("+"):
            return f"{line}: write +{line}"
        if bare in RUNNABLE and any(k.startswith(f"{key}=") for k in kept):
            return f"{line}: only one {bare} at a time; several are a sweep: -m +{bare}=A,B"
    gone = lost(bare, OmegaConf.to_container(there, resolve=False))
    told = error.partition("full_key:")[0].rpartition("interpolation:")[2]
    return f"{line}: " + (gone or " ".join(told.split()))


def _into_copies(job: Sequence[str]) -> list[str]:
    """+a.b.c=1 where a.b is a copy of another node: Hydra would drop the copy and keep c alone."""
    added = [line for line in job if line.startswith("+") and "." in line.partition("=")[0]]
    if not added:
        return []
    there = OmegaConf.to_container(
        compose("config", [line for line in job if line not in added]), resolve=False
    )
    found = [(line, lost(_bare(line), there) or "") for line in added]
    return [f"{line}: {gone}" for line, gone in found if " is a copy; " in gone]
