"""Who took part in a run and how its lanes did: counted from the folder without decoding whole records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from runner.records import ErrorRow


def lanes(folder: Path, names: Iterable[str], failed: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """Per lane: queries, of these without a hit, and failed ones (an error is never an empty list)."""
    out = {name: {"queries": 0, "empty": 0, "failed": 0} for name in names}
    trace = folder / "trace.jsonl"
    if trace.exists():
        with trace.open("rb") as file:
            for line in file:
                for lane, hits in _LANES.decode(line).lanes.items():
                    row = out[lane]
                    row["queries"] += 1
                    row["empty"] += hits == 0
    for stage in out.keys() & failed.keys():
        out[stage]["queries"] += failed[stage]
        out[stage]["failed"] = failed[stage]
    return out


class _Lanes(msgspec.Struct):
    lanes: dict[str, int]


_LANES = msgspec.json.Decoder(_Lanes)


class _Brief(msgspec.Struct):
    """The two fields of a record that tell who failed: the rest is not decoded."""

    system: str
    error: ErrorRow | None


class Row(NamedTuple):
    good: int
    errors: list[ErrorRow]


def roll(folder: Path) -> dict[str, Row]:
    """System -> records without an error, and the errors."""
    out: dict[str, Row] = {}
    decoder = msgspec.json.Decoder(_Brief)
    with (folder / "records.jsonl").open("rb") as file:
        for record in map(decoder.decode, file):
            row = out.get(record.system, Row(0, []))
            if record.error:
                row.errors.append(record.error)
            out[record.system] = Row(row.good + (record.error is None), row.errors)
    return out
