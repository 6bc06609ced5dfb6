"""The numbers of a run that belong to no component, typed: what conf/config.yaml names at its root."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec

from runner.nearest import near

Positive = Annotated[int, msgspec.Meta(ge=1)]
Seed = Annotated[int, msgspec.Meta(ge=0)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Format = Literal["trec", "beir", "longmemeval_data", "longmemeval_ranked", "longmemeval_log"]
Name = Annotated[str, msgspec.Meta(pattern=r"^\w[\w.-]*\Z")]  # becomes a folder's name

_WORDS = {  # msgspec's -> a user's
    "array": "a list",
    "object": "a mapping",
    "null": "nothing",
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "bool": "true or false",
}


class Subset(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    rule: Literal["all", "stratified", "first_n"]
    n: Positive | None  # per category
    seed: Seed

    def __post_init__(self) -> None:
        if self.rule != "all" and self.n is None:
            raise ValueError(f"rule={self.rule} needs n, the number of questions per category")


class Slots(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Numbers of our pipeline that belong to none of its slots."""

    overfetch: Positive
    tie: Annotated[float, msgspec.Meta(ge=0)]


class Context(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    hits: Positive
    chars: Positive


class Answering(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    concurrency: Positive


class Evaluation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    confidence: Annotated[float, msgspec.Meta(gt=0, lt=1)]
    resamples: Annotated[int, msgspec.Meta(ge=100)]
    tolerance: Annotated[float, msgspec.Meta(ge=0)]
    invalid_limit: Share
    unresolved: Literal["ignore", "count"]


class Expectation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`at`: path in report.json, "/"-separated. Equal at `digits` decimals; text exactly."""

    at: str
    value: float | int | str
    digits: Annotated[int, msgspec.Meta(ge=0)] = 3


class Plan(msgspec.Struct, frozen=True):
    name: Name
    data_dir: str
    output_dir: str
    cache: str | None
    k: Annotated[tuple[Positive, ...], msgspec.Meta(min_length=1)]
    depth: Positive
    explain: Annotated[int, msgspec.Meta(ge=0)]
    seed: Seed
    repeats: Positive
    pipeline: Slots
    conditions: dict[str, dict[str, list[str]]] | None  # None or {}: one system, "ours"
    subset: Subset
    context: Context
    answering: Answering
    evaluation: Evaluation
    expect: tuple[Expectation, ...]
    resume: str | None
    floors: dict[str, Share] = {}
    export: tuple[Format, ...] = ()

    def __post_init__(self) -> None:
        if len(set(self.k)) < len(self.k):
            raise ValueError(f"k={list(self.k)} names a cut-off twice")
        if self.depth < max(self.k):
            raise ValueError(
                f"depth={self.depth} is below the largest cut-off k={max(self.k)}: ask for as many hits"
            )
        if self.depth < self.context.hits:
            raise ValueError(f"depth={self.depth} is below context.hits={self.context.hits}")


def plan(raw: dict[str, Any]) -> Plan:
    """The plan in a resolved config. Raises msgspec.ValidationError naming the first wrong value."""
    return msgspec.convert(raw, Plan, strict=True)


def mistakes(raw: Mapping[str, Any], kind: type[msgspec.Struct] = Plan, place: str = "") -> list[str]:
    """Every wrong value of the plan, "where: what"; [] when plan() takes it. "???" passes for a name."""
    if raw.get("name") == "???":
        raw = {**raw, "name": "unnamed"}  # told otherwise: no experiment is named
    fields = msgspec.structs.fields(kind)
    names = [field.name for field in fields]
    out = []
    if kind.__struct_config__.forbid_unknown_fields:
        out = [f"{place}{key}: there is no such key{near(key, names)}" for key in raw if key not in names]
    for field in fields:
        value, struct = raw.get(field.name), isinstance(field.type, type(msgspec.Struct))
        if struct and isinstance(value, Mapping):
            out += mistakes(value, field.type, f"{place}{field.name}.")
        else:
            out += _mistake(value, field.type, place + field.name)
    return out or _mistake(raw, kind, place.rstrip("."))


def _mistake(value: Any, kind: Any, place: str) -> list[str]:
    if get_origin(kind) is Literal and value not in get_args(kind):
        return [f"{place}: {value!r} is none of {', '.join(get_args(kind))}"]
    if get_origin(kind) is tuple and get_origin(item := get_args(kind)[0]) is Literal and _is_list(value):
        names = get_args(item)
        return [
            f"{place}: there is no {name!r}{near(str(name), names)}" for name in value if name not in names
        ]
    try:
        msgspec.convert(value, kind, strict=True)
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at ")
        what = re.sub("matching regex .*", "made of letters, digits and . _ - (it names a folder)", what)
        what = re.sub(
            "`([a-z |]+)`", lambda m: " or ".join(_WORDS.get(w, w) for w in m[1].split(" | ")), what
        )
        place += where.strip("`").removeprefix("$")
        return [f"{place}: {what[0].lower()}{what[1:]}" if place else what]
    return []


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)
