"""Resolved config -> objects: a node names a class of ours and its parameters."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from components import types as t
from components.pipeline import Pipeline

Raw = Mapping[str, Any]

PARTS = ("understanding", "lane", "factor", "filter", "reorder")  # what a condition may leave out
ALLOWED = ("components.", "runner.")  # no other target is ever imported from a config


def build(node: Mapping[str, Any] | None) -> Any:
    """The object that a node names, its nested nodes built first; None for a node without a target.

    Not Hydra's instantiate(): that turns the frozen values of a nested mapping into DictConfigs
    (hydra#2208) and takes any target.
    """
    if not node or not node.get("_target_"):
        return None
    parameters = {key: _value(value) for key, value in node.items() if key != "_target_"}
    return target(node["_target_"])(**parameters)


def many(raw: Raw, group: str) -> dict[str, Any]:
    """The objects of a plural group by name, in the order of the config."""
    return {name: build(node) for name, node in (raw.get(group) or {}).items()}


def systems(
    raw: Raw, store: t.Store, lane: Callable[[str, t.Lane], t.Lane] = lambda _, lane: lane
) -> dict[str, t.System]:
    """Our pipeline once per condition, all over one store and the same parts, then the competitors.

    `lane` may put something around each lane (a cache of its rankings).
    """
    out: dict[str, t.System] = {}
    parts = {group: many(raw, group) for group in PARTS}
    parts["lane"] = {name: lane(name, made) for name, made in parts["lane"].items()}
    for name, only in (raw["conditions"] or {"ours": {}}).items():
        kept = {
            group: {part: made for part, made in its.items() if part in only.get(group, its)}
            for group, its in parts.items()
        }
        out[name] = Pipeline(
            store=store,
            understanding=kept["understanding"],
            lanes=kept["lane"],
            fusion=build(raw["fusion"]),
            reranker=build(raw.get("reranker")),
            factors=kept["factor"],
            filters=kept["filter"],
            reorder=kept["reorder"],
            **raw["pipeline"],
        )
    return out | many(raw, "competitor")


def _value(value: Any) -> Any:
    if isinstance(value, dict):
        return build(value) if "_target_" in value else {k: _value(v) for k, v in value.items()}
    return [_value(v) for v in value] if isinstance(value, list) else value


def target(name: str) -> Any:
    if not name.startswith(ALLOWED):
        raise ValueError(f"_target_ {name!r} is outside {' and '.join(ALLOWED)}: it is not imported")
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)
