"""report.md: the report as a person reads it. The text is a template around the tables of runner.grids."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import jinja2

from runner import grids
from runner.grids import Grid
from runner.summary import deepest, lanes_of

Report = Mapping[str, Any]
KINDS = ("mechanical", "model")  # never in one table


def page(report: Report) -> str:
    """The whole of report.md."""
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.filters["grid"] = grid
    text = files("runner").joinpath("templates/report.md.j2").read_text("utf-8")
    levels = grids.levels(report)
    shown = [row["name"] for row in report["systems"] if row["status"] == "measured"]
    return environment.from_string(text).render(
        report=report,
        levels=levels,
        finest=levels[-1] if levels else None,
        k=deepest(report),
        overall={level: grids.overall(report, level) for level in levels},
        cuts={level: grids.cuts(report, level) for level in levels},
        categories=grids.categories(report, levels[-1]) if levels else None,
        unscored=grids.unscored(report, levels[-1]) if levels else None,
        verdicts={section: grids.verdicts(report, section) for section in ("accuracy", "lexical")},
        per_category={section: grids.per_category(report, section) for section in ("accuracy", "lexical")},
        spread={kind: grids.spread(report, kind) for kind in KINDS},
        agreement={kind: grids.agreement(report, kind) for kind in KINDS},
        comparisons={kind: grids.comparisons(report, kind) for kind in KINDS},
        lanes=Grid(
            ("system", "vector lane", "rerank"),
            [(name, *lanes_of(report, name)) for name in shown],
        ),
        latency=grids.latency(report),
        shown=shown,
        absent=[s for s in report["systems"] if s["status"] != "measured"],
    )


def grid(table: Grid) -> str:
    """A Markdown table, numbers to the right; padded so that it reads as plain text too."""
    lines = [[_text(cell) for cell in row] for row in (table.head, *table.rows)]
    columns = [list(column) for column in zip(*lines, strict=True)]
    widths = [max(map(len, column)) for column in columns]
    right = [all(_number(cell) for cell in column[1:]) for column in columns]
    rule = ["-" * (w + 1) + ":" if r else ":" + "-" * (w + 1) for w, r in zip(widths, right, strict=True)]
    body = [
        [f" {c.rjust(w) if r else c.ljust(w)} " for c, w, r in zip(row, widths, right, strict=True)]
        for row in lines
    ]
    return "\n".join(f"|{'|'.join(row)}|" for row in (body[0], rule, *body[1:]))


def _number(cell: str) -> bool:
    return cell == "n/a" or cell.lstrip("<-")[:1].isdigit()


def _text(value: Any) -> str:
    return "n/a" if value is None else str(value).replace("|", "\\|").replace("\n", " ")
