"""Which keys a config has: where a mistyped one leaves it, and those that nothing reads."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib import resources
from typing import Any

import msgspec

from runner.config import MANY, ONE
from runner.listing import choices
from runner.nearest import near, nearest

RUNNABLE = ("experiment", "reproduce")
GROUPS = (*ONE, *MANY, "rubric", *RUNNABLE)
_FOLDERS = ("hydra.run", "hydra.sweep", "hydra.output_subdir", "hydra.job.chdir")  # the runner's own affair
_OPEN = ("hydra.job.env_set", "hydra.launcher", "hydra.sweeper", "hydra.callbacks")  # take keys of any name


def lost(key: str, node: Any) -> str | None:
    """Where a dotted key leaves the config, with what there is instead; None when it is there."""
    parts, tree = key.split("."), node
    for done, part in enumerate(parts):
        if isinstance(node, str) and node.startswith("${"):
            return f"{'.'.join(parts[:done])} is a copy; write {'.'.join([node[2:-1], *parts[done:]])}"
        if not isinstance(node, dict) or part not in node:
            names = [str(name) for name in node if name != "_target_"] if isinstance(node, dict) else []
            there = _instead(part, names, tree if len(parts) == 1 else {})
            return f"there is no key {'.'.join(parts[: done + 1])!r}{there}"
        node = node[part]
    return None


def _instead(name: str, names: Collection[str], tree: Mapping[str, Any]) -> str:
    """What to write for a name that is not among `names`: where it stands deeper in `tree` comes first."""
    deeper: dict[str, list[str]] = {}
    for path in _below(tree):
        deeper.setdefault(path.rpartition(".")[2], []).append(path)
    meant = name if name in deeper else None if nearest(name, names) else nearest(name, deeper)
    if meant is None:
        return near(name, names) if names else ""
    least = min(path.count(".") for path in deeper[meant])  # deeper ones are mostly copies
    paths = [path for path in deeper[meant] if path.count(".") == least]
    return f"; did you mean {' or '.join(map(repr, paths[:4]))}?"


def _below(tree: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Dotted keys under the first level."""
    for name, value in tree.items():
        if prefix and name != "_target_":
            yield f"{prefix}{name}"
        if isinstance(value, dict):
            yield from _below(value, f"{prefix}{name}.")


def unknown_keys(raw: dict[str, Any]) -> list[str]:
    """Keys that `+key=value` added and that nothing reads. Component parameters are checked elsewhere."""
    root, rubric = _file("config.yaml"), _file("rubric/default.yaml")
    known = {*root, *GROUPS} - {"defaults", "hydra"}
    tree = {key: value for key, value in raw.items() if key in known}
    out = [f"{key}: nothing reads this key{_instead(key, known, tree)}" for key in raw if key not in known]
    return out + [
        f"rubric.{key}: nothing reads this key{near(key, rubric)}"
        for key in raw.get("rubric") or {}
        if key not in rubric
    ]


def repeated(line: str) -> list[str]:
    """Names that stand twice in the list of a plural group: on the command line, or in the experiment that
    it names. Hydra would take them for one."""
    key, _, value = line.partition("=")
    group, value = key.lstrip("+"), value.strip("\"'")
    if group in MANY:
        return _twice(line, group, [name.strip(" \"'") for name in value.strip("[]").split(",")])
    if group not in RUNNABLE or value not in choices(group):
        return []
    return repeated_in(f"conf/{group}/{value}.yaml", _file(f"{group}/{value}.yaml").get("defaults", []))


def repeated_in(where: str, defaults: Sequence[Any]) -> list[str]:
    """The same in a defaults list, `- override /judge: [facts, overlap]`."""
    lists = [item for entry in defaults if isinstance(entry, dict) for item in entry.items()]
    return [
        problem
        for place, names in lists
        if isinstance(names, list)
        for problem in _twice(where, place.rpartition("/")[2], names)
    ]


def _twice(where: str, group: str, names: Sequence[str]) -> list[str]:
    return [
        f"{where}: {group} names {name!r} twice; leave one out"
        for name in dict.fromkeys(names)
        if name and names.count(name) > 1
    ]


def of_hydra(key: str, tree: Mapping[str, Any], multirun: bool) -> str | None:
    """What is wrong with setting `key` of Hydra's own config (`tree`); None where a sweep may set it."""
    dotted = key.replace("/", ".")
    if any(f"{dotted}.".startswith(f"{place}.") for place in _FOLDERS):
        return "the runner makes the folders itself; write output_dir=FOLDER"
    if dotted == "hydra.mode":
        return "a sweep is -m"
    gone = lost(dotted, {"hydra": tree})
    if gone and not any(dotted.startswith(f"{place}.") for place in _OPEN):
        return gone
    return None if multirun else "without -m nothing reads Hydra's own settings; leave it out"


@functools.cache
def _file(name: str) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.yaml.decode(resources.files("conf").joinpath(name).read_bytes())
    return found
