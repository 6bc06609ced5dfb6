"""Which keys a config has: where a mistyped one leaves it, and those that nothing reads."""

from __future__ import annotations

import functools
from importlib import resources
from typing import Any

import msgspec

from runner.config import MANY, ONE
from runner.nearest import near

RUNNABLE = ("experiment", "reproduce")
GROUPS = (*ONE, *MANY, "rubric", *RUNNABLE)


def lost(key: str, node: Any) -> str | None:
    """Where a dotted key leaves the config, with what there is instead; None when it is there."""
    parts = key.split(".")
    for done, part in enumerate(parts):
        if isinstance(node, str) and node.startswith("${"):
            return f"{'.'.join(parts[:done])} is a copy; write {'.'.join([node[2:-1], *parts[done:]])}"
        if not isinstance(node, dict) or part not in node:
            names = [str(name) for name in node if name != "_target_"] if isinstance(node, dict) else []
            there = near(part, names) if names else ""
            return f"there is no key {'.'.join(parts[: done + 1])!r}{there}"
        node = node[part]
    return None


def unknown_keys(raw: dict[str, Any]) -> list[str]:
    """Keys that `+key=value` added and that nothing reads. Component parameters are checked elsewhere."""
    root, rubric = _file("config.yaml"), _file("rubric/default.yaml")
    known = {*root, *GROUPS} - {"defaults", "hydra"}
    out = [f"{key}: nothing reads this key{near(key, known)}" for key in raw if key not in known]
    return out + [
        f"rubric.{key}: nothing reads this key{near(key, rubric)}"
        for key in raw.get("rubric") or {}
        if key not in rubric
    ]


@functools.cache
def _file(name: str) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.yaml.decode(resources.files("conf").joinpath(name).read_bytes())
    return found
