"""The numbers of a run that belong to no component, typed: what conf/config.yaml names at its root."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

Positive = Annotated[int, msgspec.Meta(ge=1)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


class Subset(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    rule: Literal["all", "stratified", "first_n"]
    n: Positive | None  # per category
    seed: int

    def __post_init__(self) -> None:
        if self.rule != "all" and self.n is None:
            raise ValueError(f"subset.rule={self.rule} needs subset.n, the number of questions per category")


class Context(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    hits: Positive
    chars: Positive


class Answering(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    concurrency: Positive


class Evaluation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    confidence: Share
    resamples: Positive
    tolerance: float
    invalid_limit: Share
    unresolved: Literal["ignore", "count"]


class Expectation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`at`: path in report.json, "/"-separated. Equal at `digits` decimals; text exactly."""

    at: str
    value: float | int | str
    digits: int = 3


class Plan(msgspec.Struct, frozen=True):
    name: str
    data_dir: str
    output_dir: str
    k: Annotated[tuple[Positive, ...], msgspec.Meta(min_length=1)]
    depth: Positive
    explain: Annotated[int, msgspec.Meta(ge=0)]
    seed: int
    repeats: Positive
    conditions: dict[str, dict[str, list[str]]]
    subset: Subset
    context: Context
    answering: Answering
    evaluation: Evaluation
    expect: tuple[Expectation, ...]
    resume: str | None

    def __post_init__(self) -> None:
        if self.depth < max(self.k):
            raise ValueError(
                f"depth={self.depth} is below the largest cut-off k={max(self.k)}: ask for as many hits"
            )
        if self.depth < self.context.hits:
            raise ValueError(f"depth={self.depth} is below context.hits={self.context.hits}")


def plan(raw: dict[str, Any]) -> Plan:
    """The plan in a resolved config. Raises msgspec.ValidationError naming the first wrong value."""
    return msgspec.convert(raw, Plan, strict=True)
