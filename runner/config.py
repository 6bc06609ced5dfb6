"""check() tells every mistake of a resolved config at once, before anything is spent."""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import msgspec
from typing_extensions import get_protocol_members

from components import types as t
from runner.build import PARTS, Raw, build, systems, target
from runner.plan import plan

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
FREE = ("llm", "embedder")  # nodes that count only where another node holds a copy of them


class ConfigError(ValueError):
    """All mistakes of one set-up, one line each: where, what, the nearest right name, what to do."""

    def __init__(self, problems: Collection[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


def nodes(raw: Raw) -> Iterator[tuple[str, dict[str, Any], type]]:
    """(where, node, protocol) of every component that the config names and that counts."""
    for group, protocol in ONE.items():
        node = raw.get(group)
        if node and node.get("_target_") and group not in FREE:
            yield group, node, protocol
    for group, protocol in MANY.items():
        for name, node in (raw.get(group) or {}).items():
            yield f"{group}.{name}", node, protocol


def check(raw: Raw) -> list[str]:
    """Every mistake in a resolved config: names, types, ranges, missing files, variables, packages."""
    out = _plan_problems(raw) + _condition_problems(raw)
    broken = False
    for where, node, protocol in nodes(raw):
        found = _node_problems(where, node, protocol)
        broken = broken or bool(found)
        out += found or _outside_problems(where, node)
    if not broken:
        out += [f"pipeline: {error}" for error in _building_error(raw)]
    return list(dict.fromkeys(out))


def near(word: str, known: Collection[str]) -> str:
    """'; did you mean ...?' or the list of what there is."""
    match = difflib.get_close_matches(word, known, 1)
    return f"; did you mean {match[0]!r}?" if match else f"; there is {', '.join(sorted(known)) or 'none'}"


def _plan_problems(raw: Raw) -> list[str]:
    try:
        plan(dict(raw))
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at ")
        path = re.sub(r"^`\$\.?|`$", "", where)
        return [f"{path}: {what}" if path else what]
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
    both = set(raw.get("conditions") or {"ours": {}}) & set(raw.get("competitor") or {})
    return out + [f"competitor.{name}: a condition has the same name" for name in sorted(both)]


def _node_problems(where: str, node: dict[str, Any], protocol: type) -> list[str]:
    name = node.get("_target_", "")
    try:
        cls = target(name)
    except (ImportError, AttributeError, ValueError) as error:
        return [f"{where}: cannot use _target_ {name!r} ({error})"]
    known = inspect.signature(cls).parameters
    given = [key for key in node if key != "_target_"]
    out = [
        f"{where}.{key}: {cls.__name__} has no such parameter{near(key, known)}"
        for key in given
        if key not in known
    ]
    out += [
        f"{where}: {cls.__name__} needs {key!r}"
        for key, p in known.items()
        if p.default is p.empty and key not in node
    ]
    out += [f"{where}.{key}: needs a value" for key, value in node.items() if value == "???"]
    for key, value in node.items():
        if isinstance(value, dict) and value.get("_target_"):
            out += _node_problems(f"{where}.{key}", value, object)
    missing = [m for m in _members(protocol) if not hasattr(cls, m) and m not in known]
    return out + (
        [f"{where}: {cls.__name__} is no {protocol.__name__}: it lacks {', '.join(missing)}"]
        if missing
        else []
    )


def _members(protocol: type) -> list[str]:
    if protocol is object:
        return []
    return sorted(m for m in get_protocol_members(protocol) if not m.startswith("__"))


def _outside_problems(where: str, node: dict[str, Any]) -> list[str]:
    """What the world lacks for this node and for every node inside it."""
    try:
        component = build(node)
    except (ValueError, TypeError) as error:
        return [f"{where}: {error}"]
    found = [p for part in _inside(component, node) for p in part.problems()]
    return [f"{where}: {problem}" for problem in found]


def _inside(component: Any, node: Mapping[str, Any]) -> Iterator[Any]:
    if hasattr(component, "problems"):
        yield component
    for key, value in node.items():
        if isinstance(value, dict) and value.get("_target_"):
            yield from _inside(getattr(component, key), value)


def _building_error(raw: Raw) -> list[str]:
    try:
        systems(raw, build(raw["store"]))
    except (ValueError, TypeError) as error:
        return [str(error)]
    return []
