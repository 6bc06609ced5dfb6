"""What a reader must know where questions or haystacks are few: which rows have no interval, and on how many
haystacks the others stand.

A column is a level of retrieval or a judge, a row one of its cells: overall, macro, a category ...
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from runner.settings import RESERVED

Report = Mapping[str, Any]
FEW_CLUSTERS = 30
_WHOLE = ("overall", "non_abstention", "abstention")  # macro has the G of its categories


class _Row(NamedTuple):
    column: str
    system: str
    name: str
    n: int  # questions that count
    clusters: int  # haystacks that they are from
    bounded: bool  # whether it has an interval
    clustered: bool  # whether a haystack has several of its questions


def too_few(report: Report) -> Iterator[str]:
    """Rows without an interval: n under the limit, or all of one haystack."""
    least, rows = report["method"]["min_n"], list(_rows(report))
    without = [row for row in rows if row.n and not row.bounded and row.name in RESERVED]
    alone = [row for row in without if row.clusters < 2 and row.n >= least]
    small = [row for row in without if row not in alone]
    named = [*_categories(report, rows, least), *_told(small, rows, least)]
    if named:
        yield f"n too small (under {least}) for an interval: {'; '.join(named)}"
    if alone:
        yield f"one haystack only, so no interval: {'; '.join(_told(alone, rows, least))}"


def few_clusters(report: Report) -> Iterator[str]:
    """G of the intervals of few haystacks, row by row; categories from the least to the most."""
    rows = [row for row in _rows(report) if row.bounded and row.clustered and row.clusters < FEW_CLUSTERS]
    if not rows:
        return
    spans: dict[tuple[str, str], list[str]] = {}  # (row, its G) -> columns
    for name, column in dict.fromkeys((row.name, row.column) for row in rows if row.name in _WHOLE):
        g = _span(row.clusters for row in rows if (row.name, row.column) == (name, column))
        spans.setdefault((name.replace("_", "-"), g), []).append(column)
    told = [f"G = {g} for {name} of {', '.join(columns)}" for (name, g), columns in spans.items()]
    if parts := [row.clusters for row in rows if row.name not in RESERVED]:
        told.append(f"G = {_span(parts)} for the categories")
    counts = report["counts"]
    yield (
        f"{counts['questions']} questions share {counts['haystacks']} haystacks: an interval stands on the "
        f"G haystacks of its row, {'; '.join(told)}"
    )


def _rows(report: Report) -> Iterator[_Row]:
    columns = [
        (column, system, cells)
        for section in ("retrieval", "accuracy", "lexical")
        for system, its in report.get(section, {}).items()
        for column, cells in its.items()
    ]
    for column, system, cells in columns:
        for name, cell in cells.items():
            n = cell["valid_total"] if "valid_total" in cell else cell["n"]
            clusters = cell["clusters"]
            yield _Row(column, system, name, n, clusters, cell["note"] is None, clusters < n)


def _categories(report: Report, rows: Iterable[_Row], least: int) -> list[str]:
    """Categories with few questions, in all or in a column."""
    counts = report["counts"]["categories"]
    few = {row.name for row in rows if row.name not in RESERVED and 0 < row.n < least}
    small = [name for name, its in counts.items() if its["questions"] < least or name in few]
    if not small:
        return []
    return [", ".join(small) if len(small) < 4 else f"{len(small)} of {len(counts)} categories"]


def _told(some: Iterable[_Row], every: Iterable[_Row], least: int) -> Iterator[str]:
    """`overall of turn, facts (n = 4 to 6)`: systems by name where it is not all of them."""
    names: dict[str, list[_Row]] = {}
    for row in some:
        if row.name != "blended":  # overall under another name
            names.setdefault(row.name, []).append(row)
    for name, rows in names.items():
        columns = dict.fromkeys(row.column for row in rows)
        its = ", ".join(_column(column, rows, [r for r in every if r.name == name]) for column in columns)
        n = "a category of it is small" if name == "macro" and rows[0].n >= least else None
        yield f"{name.replace('_', '-')} of {its} ({n or f'n = {_span(row.n for row in rows)}'})"


def _column(column: str, rows: Iterable[_Row], every: Iterable[_Row]) -> str:
    systems = [row.system for row in rows if row.column == column]
    whole = len(systems) == sum(row.column == column for row in every)
    return column if whole else f"{column} of {', '.join(systems)}"


def _span(numbers: Iterable[int]) -> str:
    its = sorted(set(numbers))
    return str(its[0]) if len(its) == 1 else f"{its[0]} to {its[-1]}"
