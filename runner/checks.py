"""Structural self-checks: each report carries what must hold of its own numbers, whatever was measured."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from runner.settings import RESERVED, Settings

_EPS = 1e-9
Sections = Mapping[str, Any]


def checks(sections: Sections, settings: Settings, repeated: int = 0) -> list[dict[str, Any]]:
    """[{name, ok, detail}]: detail names the first place where the rule does not hold, else null."""
    rules: list[tuple[str, Callable[[], Iterator[str]]]] = [
        ("each question once per system", lambda: iter([f"{repeated} records"] if repeated else [])),
        ("every system has the same number of questions", lambda: _same_questions(sections)),
        ("every number is finite", lambda: (path for path, _ in not_finite(sections))),
        ("n + unscored = total", lambda: _unscored(sections)),
        ("measures lie in [0, 1]", lambda: _bounds(sections, settings)),
        ("recall@k and hit@k grow with k", lambda: _monotone(sections, settings)),
        ("hit@k >= recall@k", lambda: _hits(sections, settings)),
        ("intervals hold their value", lambda: _intervals(sections, settings)),
        ("macro lies within the categories", lambda: _macro(sections, settings)),
        ("valid = total - invalid, correct <= valid", lambda: _denominators(sections)),
        ("strict <= accuracy <= best case", lambda: _order(sections)),
        ("categories + abstention = overall", lambda: _sums(sections)),
        ("spread follows from the two accuracies", lambda: _spread(sections, settings)),
        ("no verdict of a comparison without its interval", lambda: _compared(sections)),
    ]
    found = [(name, next(rule(), None)) for name, rule in rules]
    return [{"name": name, "ok": detail is None, "detail": detail} for name, detail in found]


def not_finite(value: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """(path, number) of every NaN and infinity in a tree of plain values."""
    if isinstance(value, float) and not math.isfinite(value):
        yield path, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from not_finite(inner, f"{path}/{key}")
    elif isinstance(value, list | tuple):
        for i, inner in enumerate(value):
            yield from not_finite(inner, f"{path}/{i}")


def _levels(sections: Sections) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for system, levels in sections.get("retrieval", {}).items():
        for level, cells in levels.items():
            yield f"{system}/{level}", cells


def _ranked(sections: Sections) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for where, cells in _levels(sections):
        yield from ((f"{where}/{name}", cell) for name, cell in cells.items())


def _judges(sections: Sections) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for section in ("accuracy", "lexical"):
        for system, judges in sections.get(section, {}).items():
            yield from ((f"{section}/{system}/{judge}", cells) for judge, cells in judges.items())


def _graded(sections: Sections) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for where, cells in _judges(sections):
        yield from ((f"{where}/{name}", cell) for name, cell in cells.items())


def _same_questions(sections: Sections) -> Iterator[str]:
    counts = sections["counts"]["systems"]
    if len(set(counts.values())) > 1:
        yield ", ".join(f"{name} {n}" for name, n in counts.items())


def _unscored(sections: Sections) -> Iterator[str]:
    for where, cell in _ranked(sections):
        if cell["n"] + sum(cell["unscored"].values()) != cell["total"]:
            yield where


def _values(cell: Mapping[str, Any], names: Sequence[str]) -> Iterator[tuple[str, float]]:
    yield from ((name, cell[name]) for name in names if cell[name] is not None)


def _bounds(sections: Sections, settings: Settings) -> Iterator[str]:
    for where, cell in _ranked(sections):
        for name, value in _values(cell, settings.measures):
            if not -_EPS <= value <= 1 + _EPS:
                yield f"{where}/{name}"


def _monotone(sections: Sections, settings: Settings) -> Iterator[str]:
    for (where, cell), kind in itertools.product(_ranked(sections), ("recall", "hit")):
        its = [value for _, value in _values(cell, [f"{kind}@{k}" for k in sorted(settings.k)])]
        if any(deeper < value - _EPS for value, deeper in itertools.pairwise(its)):
            yield f"{where}/{kind}"


def _hits(sections: Sections, settings: Settings) -> Iterator[str]:
    for (where, cell), k in itertools.product(_ranked(sections), settings.k):
        if cell["n"] and cell[f"hit@{k}"] < cell[f"recall@{k}"] - _EPS:
            yield f"{where}@{k}"


def _intervals(sections: Sections, settings: Settings) -> Iterator[str]:
    for where, cell in _ranked(sections):
        for name, value in _values(cell, settings.measures):
            if not _inside(cell["low"][name], value, cell["high"][name]):
                yield f"{where}/{name}"
    for where, cell in _graded(sections):
        if cell["accuracy"] is not None and not _inside(cell["low"], cell["accuracy"], cell["high"]):
            yield where


def _inside(low: float | None, value: float, high: float | None) -> bool:
    return low is None or high is None or low - _EPS <= value <= high + _EPS


def _macro(sections: Sections, settings: Settings) -> Iterator[str]:
    named = [(w, c, settings.measures) for w, c in _levels(sections)]
    named += [(w, c, ("accuracy", "strict", "best_case")) for w, c in _judges(sections)]
    for where, cells, measures in named:
        parts = [cell for name, cell in cells.items() if name not in RESERVED]
        for name, value in _values(cells["macro"], measures):
            its = [part[name] for part in parts if part[name] is not None]
            if not min(its) - _EPS <= value <= max(its) + _EPS:
                yield f"{where}/macro/{name}"


def _denominators(sections: Sections) -> Iterator[str]:
    for where, cell in _graded(sections):
        if cell["valid_total"] != cell["total"] - cell["invalid"] or cell["correct"] > cell["valid_total"]:
            yield where


def _order(sections: Sections) -> Iterator[str]:
    for where, cell in _graded(sections):
        strict, accuracy, best = cell["strict"], cell["accuracy"], cell["best_case"]
        macro = where.endswith("/macro")  # a category without a valid verdict has no accuracy to average
        if accuracy is not None and not macro and not strict - _EPS <= accuracy <= best + _EPS:
            yield where


def _sums(sections: Sections) -> Iterator[str]:
    for where, cells in _judges(sections):
        parts = [cell for name, cell in cells.items() if name not in RESERVED or name == "abstention"]
        for field in ("total", "correct", "invalid", "valid_total"):
            if sum(part[field] for part in parts) != cells["overall"][field]:
                yield f"{where}/{field}"


def _spread(sections: Sections, settings: Settings) -> Iterator[str]:
    cells = {where: cell for where, cell in _graded(sections)}
    for system, rows in sections.get("spread", {}).items():
        for row in rows:
            section = "accuracy" if row["kind"] == "model" else "lexical"
            a, b = (
                cells[f"{section}/{system}/{row[judge]}/{row['category']}"]["accuracy"]
                for judge in ("judge_a", "judge_b")
            )
            expected = None if a is None or b is None else abs(a - b)
            survives = expected is not None and expected <= settings.tolerance + _EPS
            if row["spread"] != expected or row["survives"] != survives:
                yield f"{system}/{row['category']}"


def _compared(sections: Sections) -> Iterator[str]:
    for row in sections.get("comparisons", []):
        if row["verdict"] != "no difference shown" and (row["low"] is None or row["low"] <= 0 <= row["high"]):
            yield f"{row['a']} and {row['b']}, {row['measure']}"
