"""Floors: measures of the run that must not fall below a number. Violated -> `gates` in the report, exit 1.

    floors: {turn/hit@10: 0.75, hybrid/session/recall@5: 0.8}

[SYSTEM/]LEVEL/MEASURE: the overall value. Without a system every condition of our pipeline must hold it; a
competitor only where it is named. Equal is enough; a value that was not measured is below every floor.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runner.measures import LEVELS
from runner.nearest import near
from runner.settings import Settings

SLACK = 1e-9  # of a mean of thirds


def problems(raw: Mapping[str, Any]) -> list[str]:
    """Names in `floors` that no report of this config can have, each with the nearest right one."""
    ours, competitors = _systems(raw)
    out = []
    for name in raw.get("floors") or {}:
        system, level, measure = _parts(name)
        known = Settings(k=tuple(raw["k"])).measures
        if system is not None and system not in (*ours, *competitors):
            out.append(f"floors.{name}: there is no system {system!r}{near(system, [*ours, *competitors])}")
        if level not in LEVELS:
            out.append(
                f"floors.{name}: there is no level {level!r}{near(level, LEVELS)}; write LEVEL/MEASURE"
            )
        elif level == "turn" and (raw.get("dataset") or {}).get("unit") == "session":
            out.append(f"floors.{name}: sessions are stored, turns are not measured; set dataset.unit=turn")
        if measure not in known:
            out.append(f"floors.{name}: there is no measure {measure!r} at these k{near(measure, known)}")
    return out


def gates(report: Mapping[str, Any], raw: Mapping[str, Any]) -> list[dict[str, Any]]:
    """[{name, ok, fields {floor, got, n}}], a row per floor and system, in the order given."""
    ours, _ = _systems(raw)
    out = []
    for name, floor in (raw.get("floors") or {}).items():
        system, level, measure = _parts(name)
        for its in [system] if system is not None else ours:
            cell = report.get("retrieval", {}).get(its, {}).get(level, {}).get("overall", {})
            got = cell.get(measure)
            fields = {"floor": floor, "got": got, "n": cell.get("n", 0)}
            ok = got is not None and got >= floor - SLACK
            out.append({"name": f"{its}/{level}/{measure}", "ok": ok, "fields": fields})
    return out


def _parts(name: str) -> tuple[str | None, str, str]:
    system, _, rest = name.rpartition("/")
    before, _, level = system.rpartition("/")
    return before or None, level, rest


def _systems(raw: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    return list(raw.get("conditions") or ["ours"]), list(raw.get("competitor") or {})
