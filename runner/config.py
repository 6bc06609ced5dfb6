"""check() tells every mistake of a resolved config at once, before anything is spent."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from typing_extensions import get_protocol_members

from components import types as t
from runner import floors
from runner.build import PARTS, Raw, build, systems, target
from runner.nearest import near
from runner.plan import mistakes
from runner.resume import damaged

ONE: dict[str, type] = {
    "dataset": t.Dataset,
    "embedder": t.Embedder,
    "store": t.Store,
    "fusion": t.Fusion,
    "reranker": t.Reranker,
    "answerer": t.Answerer,
    "llm": t.Llm,
    "engine": object,
    "task": object,
    "tracker": object,
}
MANY: dict[str, type] = {
    "understanding": t.Understanding,
    "lane": t.Lane,
    "factor": t.Factor,
    "filter": t.Filter,
    "reorder": t.Reorder,
    "judge": t.Judge,
    "competitor": t.System,
}
NEEDED = ("dataset", "store", "fusion", "engine", "task")  # the other single groups may be null
FREE = ("llm", "embedder")  # nodes that count only where another node holds a copy of them


class ConfigError(ValueError):
    """All mistakes of one set-up, one line each: where, what, the nearest right name, what to do."""

    def __init__(self, problems: Collection[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


def nodes(raw: Raw) -> Iterator[tuple[str, Any, type]]:
    """(where, node, protocol) of every component that the config names and that counts."""
    for group, protocol in ONE.items():
        node = raw.get(group)
        if _target_of(node) and group not in FREE:
            yield group, node, protocol
    for group, protocol in MANY.items():
        named = raw.get(group)
        for name, node in named.items() if isinstance(named, dict) else ():
            yield f"{group}.{name}", node, protocol


def check(raw: Raw) -> list[str]:
    """Every mistake in a resolved config: names, types, ranges, missing files, variables, packages."""
    out = _group_problems(raw) + (mistakes(raw) or _condition_problems(raw) + floors.problems(raw))
    out += damaged(Path(raw["resume"])) if isinstance(raw.get("resume"), str) else []
    broken = bool(out)
    for where, node, protocol in nodes(raw):
        found = _node_problems(where, node, protocol) or _value_problems(where, node)
        broken = broken or bool(found)
        out += found or _outside_problems(where, node)
    for group in FREE:
        if _target_of(raw.get(group)):
            out += _node_problems(group, raw[group], ONE[group], whole=False)
    if not broken:
        out += [f"pipeline: {error}" for error in _building_error(raw)] + _lane_problems(raw)
    return list(dict.fromkeys(_at_home(line, raw) for line in out))


def _group_problems(raw: Raw) -> list[str]:
    """Groups that are missing or hold something else than nodes."""
    lacking = [g for g in ONE if g not in raw or (g in NEEDED and not _target_of(raw[g]))]
    out = [f"{g}: a run needs one" if g in NEEDED else f"{g}: for none write {g}=none" for g in lacking]
    return out + [f"{g}: expected name: node" for g in MANY if not isinstance(raw.get(g) or {}, dict)]


def _target_of(node: Any) -> str | None:
    return node.get("_target_") if isinstance(node, dict) else None


def _at_home(line: str, raw: Raw) -> str:
    """`store.embedder.path: ...` -> `embedder.path: ...` where the store holds a copy of that node."""
    for where, node, _ in nodes(raw):
        for group in FREE:
            copied = _target_of(node) and node.get(group) and node[group] == raw.get(group)
            if copied and line.startswith(f"{where}.{group}"):
                return line.removeprefix(f"{where}.")
    return line


def _lane_problems(raw: Raw) -> list[str]:
    embedder = raw["store"].get("embedder") or {}
    if "dense" in (raw.get("lane") or {}) and not embedder.get("_target_"):
        return ["lane.dense: needs an embedder and there is none; choose one, or write lane=[lexical]"]
    return []


def _condition_problems(raw: Raw) -> list[str]:
    out = []
    for name, parts in (raw.get("conditions") or {}).items():
        for group, kept in (parts or {}).items():
            if group not in PARTS:
                out.append(f"conditions.{name}: no group {group!r}{near(group, PARTS)}")
                continue
            known = list(raw.get(group) or {})
            out += [
                f"conditions.{name}.{group}: {k!r} is not configured{near(k, known)}"
                for k in kept
                if k not in known
            ]
            twice = [k for k in dict.fromkeys(kept) if kept.count(k) > 1]
            out += [f"conditions.{name}.{group}: names {k!r} twice; leave one out" for k in twice]
    both = set(raw.get("conditions") or {"ours": {}}) & set(raw.get("competitor") or {})
    return out + [f"competitor.{name}: a condition has the same name" for name in sorted(both)]


def _node_problems(where: str, node: Any, protocol: type, whole: bool = True) -> list[str]:
    """Wrong names in a node; with `whole` what it lacks, too (an unused copy may lack what it likes)."""
    if not isinstance(node, dict):
        return [f"{where}: expected a mapping with _target_, got {node!r}"]
    name = node.get("_target_", "")
    try:
        cls = target(name)
    except (ImportError, AttributeError, ValueError) as error:
        return [f"{where}: cannot use _target_ {name!r} ({error})"]
    known = inspect.signature(cls).parameters
    out = [
        f"{where}.{key}: {cls.__name__} has no such parameter{near(key, known)}"
        for key in node
        if key != "_target_" and key not in known
    ]
    if whole:
        out += _lacks(where, node, cls)
    for key, value in node.items():
        if isinstance(value, dict) and value.get("_target_"):
            out += _node_problems(f"{where}.{key}", value, object, whole)
    missing = [m for m in _members(protocol) if not hasattr(cls, m) and m not in known]
    lacks = f"{where}: {cls.__name__} is no {protocol.__name__}: it lacks {', '.join(missing)}"
    return [*out, lacks] if missing else out


def _lacks(where: str, node: Raw, cls: type) -> list[str]:
    out = [
        f"{where}: {cls.__name__} needs {key!r}"
        for key, p in inspect.signature(cls).parameters.items()
        if p.default is p.empty and key not in node
    ]
    return out + [f"{where}.{key}: needs a value" for key, value in node.items() if value == "???"]


def _members(protocol: type) -> list[str]:
    if protocol is object:
        return []
    return sorted(m for m in get_protocol_members(protocol) if not m.startswith("__"))


def _value_problems(where: str, node: dict[str, Any]) -> list[str]:
    try:
        build(node)
    except (ValueError, TypeError) as error:
        return [f"{where}: {error}"]
    return []


def _outside_problems(where: str, node: dict[str, Any]) -> list[str]:
    """What the world lacks for this node and for every node inside it."""
    found: dict[str, str] = {}  # an outer node that asks its inner one tells the same problem first
    for place, part in _inside(where, build(node), node):
        for problem in part.problems():
            found.setdefault(problem, place)
    return [f"{place}: {problem}" for problem, place in found.items()]


def _inside(where: str, component: Any, node: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    if hasattr(component, "problems"):
        yield where, component
    for key, value in node.items():
        if isinstance(value, dict) and value.get("_target_"):
            yield from _inside(f"{where}.{key}", getattr(component, key), value)


def _building_error(raw: Raw) -> list[str]:
    try:
        systems(raw, build(raw["store"]))
    except (ValueError, TypeError) as error:
        return [str(error)]
    return []
