"""Command line -> resolved configs. The only module that knows Hydra.

Hydra stops at the first mistake and has no suggestion for a wrong key. compose_all() goes on without the
override at fault, so that one message names every mistake.
"""

from __future__ import annotations

import contextlib
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

from runner.config import MANY, ONE, near
from runner.listing import choices

GROUPS = (*ONE, *MANY, "rubric", "experiment", "reproduce")


@dataclass(frozen=True)
class Composed:
    """One job: its overrides, and its config as plain values ("???" where a value is missing)."""

    overrides: tuple[str, ...]
    raw: dict[str, Any]


def compose_all(overrides: Sequence[str], multirun: bool) -> tuple[list[Composed], list[str]]:
    """Every job of a command line, and every mistake in it; with mistakes the jobs are a best effort."""
    with _hydra():
        parsed, problems = _parse(overrides)
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
            problems += found
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
            problems.append(
                f"{line}: cannot be read as key=value; a value with blanks or = # : , needs quotes inside the"
                f" shell's, as in 'key=\"a=b\"'"
            )
    return parsed, problems


def _compose(job: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """The config of one job. Where Hydra refuses, overrides are added one by one to find those at fault."""
    try:
        return _resolved(job), []
    except (HydraException, OmegaConfBaseException):
        pass
    kept: list[str] = []
    problems: list[str] = []
    for line in sorted(job, key=lambda o: o.lstrip("+~").partition("=")[0] not in GROUPS):
        try:
            compose("config", [*kept, line])
            kept.append(line)
        except (HydraException, OmegaConfBaseException) as error:
            problems.append(_explain(line, kept, str(error)))
    try:
        return _resolved(kept), problems
    except (HydraException, OmegaConfBaseException) as error:
        return {}, [*problems, " ".join(str(error).split())]


def _resolved(job: Sequence[str]) -> dict[str, Any]:
    cfg = compose("config", list(job))
    raw: dict[str, Any] = OmegaConf.to_container(cfg, resolve=True, throw_on_missing=False)  # type: ignore[assignment]
    return raw


def _explain(line: str, kept: Sequence[str], error: str) -> str:
    """Where, what and the nearest right name for an override that Hydra refused."""
    key, _, value = line.partition("=")
    bare = key.lstrip("+~")
    if bare in GROUPS:
        wanted = [v.strip(" \"'") for v in value.strip("[]").split(",")]
        unknown = [v for v in wanted if v and v not in choices(bare)]
        if unknown:
            return f"{line}: {bare} has no choice {unknown[0]!r}{near(unknown[0], choices(bare))}"
        if bare in ("experiment", "reproduce") and not key.startswith("+"):
            return f"{line}: write +{line}"
    known = _keys(OmegaConf.to_container(compose("config", list(kept)), resolve=False))
    if bare not in known:
        return f"{line}: there is no key {bare!r}{_nearest(bare, known)}"
    return f"{line}: " + " ".join(error.split())


def _nearest(key: str, known: list[str]) -> str:
    parent = key.rpartition(".")[0]
    siblings = [k for k in known if k.rpartition(".")[0] == parent]
    return near(key, siblings or [k for k in known if "." not in k])


def unknown_keys(raw: dict[str, Any]) -> list[str]:
    """Keys that `+key=value` added and that nothing reads. Component parameters are checked elsewhere."""
    with _hydra():
        root = OmegaConf.to_container(compose("config", []), resolve=False)
    assert isinstance(root, dict)
    known = {str(key) for key in root}
    return [
        f"{key}: nothing reads this key{near(key, known)}" for key in raw if key not in known | set(GROUPS)
    ]


def _keys(value: Any, prefix: str = "") -> list[str]:
    if not isinstance(value, dict):
        return []
    out: list[str] = []
    for key, inner in value.items():
        out += [f"{prefix}{key}", *_keys(inner, f"{prefix}{key}.")]
    return out
