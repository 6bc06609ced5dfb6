"""Going on with a run: its folder names the overrides; every difference is told before anything is done."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

VOLATILE = (
    "resume",
    "engine",
    "tracker",
    "answering",
    "output_dir",
    "cache",
    "data_dir",
    "llm",
    "rubric",
    "floors",
    "export",
    "grid",
)
# rubric and llm count where a component holds a copy of them; data_dir through the dataset's hash


def with_saved_overrides(overrides: Sequence[str]) -> tuple[list[str], list[str]]:
    """`resume=FOLDER` without an experiment's name: the overrides of then, and what is given beside it.
    (overrides, problems)."""
    given = [o for o in overrides if o.startswith("resume=")]
    if not given or any(o.lstrip("+").startswith(("experiment=", "reproduce=")) for o in overrides):
        return list(overrides), []
    folder = Path(given[0].partition("=")[2].strip("'\""))
    try:
        saved = json.loads((folder / "provenance.json").read_text("utf-8"))["overrides"]
    except FileNotFoundError:
        return list(overrides), [f"resume: {folder} holds no run (there is no provenance.json)"]
    return [*saved, *overrides], []


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Dotted keys whose values differ, as "key: then X, now Y"; what cannot change a record is left out."""
    before, after = flat(core(old)), flat(core(new))
    return [
        f"{key}: then {before.get(key, 'not there')!r}, now {after.get(key, 'not there')!r}"
        for key in sorted(before.keys() | after.keys())
        if before.get(key, _NONE) != after.get(key, _NONE)
    ]


def core(raw: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a config that decides the records."""
    return {key: _without_paths(value) for key, value in raw.items() if key not in VOLATILE}


def _without_paths(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_paths(v) for k, v in value.items() if k != "data_dir"}
    return value


def flat(value: Any, prefix: str = "") -> dict[str, Any]:
    """{"a": {"b": 1}} -> {"a.b": 1}; lists stay whole."""
    if isinstance(value, dict) and value:
        out: dict[str, Any] = {}
        for key, inner in value.items():
            out |= flat(inner, f"{prefix}{key}.")
        return out
    return {prefix[:-1]: value}


def saved(folder: Path) -> dict[str, Any]:
    """The resolved config of a run."""
    raw: dict[str, Any] = OmegaConf.to_container(OmegaConf.load(folder / "config.yaml"))  # type: ignore[assignment]
    return raw


_NONE = object()
