"""Every YAML of conf/, found by itself, and the component that each one makes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from omegaconf import DictConfig, OmegaConf

from runner.build import build
from runner.config import MANY, ONE

ROOT = Path(__file__).parents[2]
CONF = ROOT / "conf"
RUNNABLE = ("experiment", "reproduce")
GLOBAL = (*RUNNABLE, "preset")  # files that choose from the other groups
FILES = sorted(CONF.rglob("*.yaml"))
OPTIONS = [(p.parent.name, p.stem) for p in FILES if p.parent.name in {**ONE, **MANY}]
COMPONENTS = [(group, name) for group, name in OPTIONS if name != "none"]
RUNS = [(p.parent.name, p.stem) for p in FILES if p.parent.name in RUNNABLE]
STAND_INS = {"path": "stand-in.jsonl", "model": "stand-in"}  # for what a user must give ("???")


def names(group: str) -> list[str]:
    """The options of a group that make a component."""
    return [name for g, name in COMPONENTS if g == group]


def text_of(group: str, name: str) -> str:
    return (CONF / group / f"{name}.yaml").read_text("utf-8")


@cache
def _root() -> DictConfig:
    """What options copy from: the root's own values, and the groups rubric, llm and embedder."""
    root = OmegaConf.load(CONF / "config.yaml")
    assert isinstance(root, DictConfig)
    del root["defaults"], root["hydra"]
    root.rubric = OmegaConf.load(CONF / "rubric/default.yaml")
    root.llm = OmegaConf.load(CONF / "llm/gpt_4o.yaml")
    root.embedder = OmegaConf.load(CONF / "embedder/static.yaml")
    return root


def node(group: str, name: str, **changes: Any) -> dict[str, Any]:
    """An option's node as a run gets it: resolved, with a stand-in for every ???."""
    return {**deepcopy(_resolved(group, name)), **changes}


@cache
def _resolved(group: str, name: str) -> dict[str, Any]:
    root = _root().copy()
    root[group] = OmegaConf.load(CONF / group / f"{name}.yaml")
    found: Any = OmegaConf.to_container(root, resolve=True)
    made: dict[str, Any] = _stood_in(found[group][name] if group in MANY else found[group])
    return made


def _stood_in(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _stood_in(inner, str(name)) for name, inner in value.items()}
    return STAND_INS.get(key, "stand-in") if value == "???" else value


def component(group: str, name: str, **changes: Any) -> Any:
    return build(node(group, name, **changes))


def strings(value: Any, prefix: str = "") -> Mapping[str, Any]:
    """Every leaf of a parsed YAML by its dotted key."""
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        return {k: v for key, inner in pairs for k, v in strings(inner, f"{prefix}.{key}").items()}
    return {prefix.strip("."): value}


@cache
def leaves(path: Path) -> Mapping[str, Any]:
    return strings(yaml.safe_load(path.read_text("utf-8")))


def environment(**changed: str) -> dict[str, str]:
    """What a subprocess gets: no key, no folder of data but what a test names."""
    dropped = {
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "OPENAI_BASE_URL",
        "CROSSJUDGE_DATA",
        "MLFLOW_TRACKING_URI",
    }
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    return {**kept, "MLFLOW_DISABLE_TELEMETRY": "true", **changed}
