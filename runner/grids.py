"""The tables of report.md: which columns of the report a person needs side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from runner.disclosure import graded
from runner.settings import RESERVED
from runner.summary import deepest, fraction, percent

Report = Mapping[str, Any]
Cell = Mapping[str, Any]
_SHARE = {"accuracy": "accuracy %", "lexical": "correct %"}  # the word accuracy is the model judges' alone


class Grid(NamedTuple):
    """A table: names of columns, then rows of text."""

    head: Sequence[str]
    rows: Sequence[Sequence[Any]]


def levels(report: Report) -> list[str]:
    found = {level for levels in report.get("retrieval", {}).values() for level in levels}
    return sorted(found)


def _ranked(report: Report, level: str) -> Iterator[tuple[str, Mapping[str, Cell]]]:
    for system, levels in report.get("retrieval", {}).items():
        if level in levels:
            yield system, levels[level]


def _measure(cell: Cell, name: str) -> str:
    return fraction(cell[name], cell["low"][name], cell["high"][name])


def overall(report: Report, level: str) -> Grid:
    k = deepest(report)
    names = (f"recall@{k}", f"hit@{k}", "mrr@10", "ndcg@10")
    rows = [
        (system, cells["overall"]["n"], *(_measure(cells["overall"], name) for name in names))
        for system, cells in _ranked(report, level)
    ]
    return Grid(("system", "n", *names), rows)


def cuts(report: Report, level: str) -> Grid:
    """One row per system and measure, a column per cut-off; values only."""
    cuts = sorted(report["method"]["k"])
    rows = [
        (system, measure, *(fraction(cells["overall"][f"{measure}@{k}"]) for k in cuts))
        for system, cells in _ranked(report, level)
        for measure in ("recall", "hit")
    ]
    return Grid(("system", "measure", *(f"k = {k}" for k in cuts)), rows)


def categories(report: Report, level: str) -> Grid:
    names = (f"hit@{deepest(report)}", "mrr@10")
    systems = list(_ranked(report, level))
    order = [name for name in systems[0][1] if name not in RESERVED] + ["macro"] if systems else []
    rows = [
        (category, system, cells[category]["n"], *(_measure(cells[category], name) for name in names))
        for category in order
        for system, cells in systems
    ]
    return Grid(("category", "system", "n", *names), rows)


def unscored(report: Report, level: str) -> Grid | None:
    rows = [
        (system, reason, n)
        for system, cells in _ranked(report, level)
        for reason, n in cells["overall"]["unscored"].items()
    ]
    return Grid(("system", "not scored because", "questions"), rows) if rows else None


def _percent(cell: Cell) -> str:
    return percent(cell["accuracy"], cell["low"], cell["high"])


def verdicts(report: Report, section: str) -> Grid | None:
    """The three denominators side by side, for the rows that are no category."""
    order = ("overall", "non_abstention", "abstention", "macro")
    rows = [
        (
            *(system, judge, name.replace("_", "-"), cell["total"], cell["invalid"]),
            *(_percent(cell), percent(cell["strict"]), percent(cell["best_case"])),
        )
        for its, system, judge, cells in graded(report)
        if its == section
        for name, cell in ((name, cells[name]) for name in order if name in cells)
    ]
    head = ("system", "judge", "questions", "total", "invalid", _SHARE[section], "strict %", "best case %")
    return Grid(head, rows) if rows else None


def per_category(report: Report, section: str) -> Grid | None:
    rows = [
        (category, system, judge, cell["valid_total"], _percent(cell), percent(cell["strict"]))
        for its, system, judge, cells in graded(report)
        if its == section
        for category, cell in cells.items()
        if category not in RESERVED
    ]
    rows.sort(key=lambda row: list(report["counts"]["categories"]).index(row[0]))
    head = ("category", "system", "judge", "valid", _SHARE[section], "strict %")
    return Grid(head, rows) if rows else None


def spread(report: Report, kind: str) -> Grid | None:
    rows = [
        (
            *(row["category"], system, f"{row['judge_a']}, {row['judge_b']}", row["n"]),
            percent(row["spread"], row["low"], row["high"]),
            "n/a" if row["spread"] is None else "yes" if row["survives"] else "no",
        )
        for system, its in report.get("spread", {}).items()
        for row in its
        if row["kind"] == kind
    ]
    return Grid(("questions", "system", "judges", "n", "spread", "survives"), rows) if rows else None


def agreement(report: Report, kind: str) -> Grid | None:
    rows = [
        (system, pair, cell["n"], fraction(cell["raw"]), _kappa(cell["kappa"]))
        for system, pairs in report.get("agreement", {}).items()
        for pair, cell in pairs.items()
        if cell["kind"] == kind
    ]
    return Grid(("system", "judges", "n", "raw", "kappa"), rows) if rows else None


def _kappa(value: float | None) -> str:
    return "undefined" if value is None else fraction(value)


def comparisons(report: Report, kind: str) -> Mapping[str, Any] | None:
    """Overall rows in full; of the categories those where something was shown, and how many there were."""
    rows = [row for row in report.get("comparisons", []) if row["kind"] == kind]
    if not rows:
        return None
    parts = [row for row in rows if row["category"] != "overall"]
    found = [row for row in parts if row["verdict"] != "no difference shown"]
    overall = [row for row in rows if row["category"] == "overall"]
    head = ("a and b", "measure", "n", "a - b", "p (Holm)", "only a, only b", "verdict on a")
    named = [(row["category"], *_compared(row)) for row in found]
    return {
        "overall": Grid(head, [_compared(row) for row in overall]),
        "shown": Grid(("category", *head), named) if named else None,
        "tested": len(parts),
        "quiet": len(parts) - len(found),
        "mde": sorted({(row["n"], round(_points(row), 1)) for row in overall if row["mde"] is not None}),
    }


def _unit(row: Mapping[str, Any]) -> Callable[..., str]:
    return percent if row["judge"] else fraction


def _points(row: Mapping[str, Any]) -> float:
    return float(row["mde"]) * (1 if row["judge"] else 100)


def _n(row: Mapping[str, Any]) -> str:
    """The questions that both have a number for, and how many each has where that is more."""
    more = max(row["n_a"], row["n_b"]) > row["n"]
    return f"{row['n']} of {row['n_a']}, {row['n_b']}" if more else str(row["n"])


def _p(value: float | None) -> str:
    return "<0.001" if value is not None and value < 0.001 else fraction(value)


def _compared(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return (
        f"{row['a']} and {row['b']}",
        f"{row['measure']} ({row['judge'] or row['level']})",
        _n(row),
        _unit(row)(row["difference"], row["low"], row["high"]),
        _p(row["p_holm"]),
        "n/a" if row["discordant"] is None else "{}, {}".format(*row["discordant"]),
        row["reason"] or row["verdict"],
    )


def latency(report: Report) -> Grid | None:
    rows = [
        (stage, system, its["n"], *(f"{its[p]:.3f}" for p in ("p50", "p95")))
        for stage, cell in report["latency"].items()
        for system, its in cell["by_system"].items()
        if its["n"]
    ]
    return Grid(("stage", "system", "n", "P50 s", "P95 s"), rows) if rows else None
