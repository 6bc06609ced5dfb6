"""What a sweep found: a table of its points with intervals and paired comparisons, and a plot of the grid.

Points are compared as systems are: the records of all jobs, each under its point's name, through the same
evaluation. "Better" needs an interval without 0 and p (Holm) under .05; else "no difference shown".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from runner.evaluation import evaluate
from runner.records import Record, read
from runner.settings import Settings
from runner.summary import fraction

Row = Mapping[str, Any]


def write(folder: Path, rows: Sequence[Row], names: Sequence[str], settings: Settings) -> str | None:
    """sweep.md and sweep.png in the sweep's folder; returns the table, None without two finished points.

    `rows`: finished jobs {folder}; `names`: what is different about each.
    """
    if len(rows) < 2:
        return None
    sections = evaluate(_pooled(rows, names), settings)
    levels: dict[str, Any] = next(iter(sections.get("retrieval", {}).values()), {})
    if not levels:
        return None
    level = "turn" if "turn" in levels else "session"
    text = _table(sections, names, level, settings)
    (folder / "sweep.md").write_text(text + f"\n\n![{level} level](sweep.png)\n", "utf-8")
    _plot(folder / "sweep.png", sections, names, level, settings)
    return text


def _pooled(rows: Sequence[Row], names: Sequence[str]) -> Iterator[Record]:
    for row, name in zip(rows, names, strict=True):
        for record in read(Path(row["folder"]) / "records.jsonl"):
            if record.system == "ours":
                yield msgspec.structs.replace(record, system=name)


def _table(sections: Row, names: Sequence[str], level: str, settings: Settings) -> str:
    hit, mrr = settings.compared[0], "mrr@10"
    verdicts = {
        row["b"]: row
        for row in sections.get("comparisons", [])
        if row["a"] == names[0] and row["measure"].startswith(hit) and row["category"] == "overall"
    }
    lines = [
        f"| point | n | {hit} ({level}) | {mrr} | {hit} against {names[0]} |",
        "|:------|---:|---:|---:|:---|",
    ]
    for name in names:
        cell = sections["retrieval"][name][level]["overall"]
        told = [fraction(cell[m], cell["low"][m], cell["high"][m]) for m in (hit, mrr)]
        lines.append(f"| {name} | {cell['n']} | {told[0]} | {told[1]} | {_against(verdicts.get(name))} |")
    return "\n".join(lines)


def _against(row: Row | None) -> str:
    """The comparison is first minus this point: turned round, so that "better" is about this point."""
    if row is None or row.get("difference") is None:
        return ""
    turned = {"better": "worse", "worse": "better"}.get(row["verdict"], row["verdict"])
    return f"{-row['difference']:+z.3f} [{-row['high']:+z.3f}, {-row['low']:+z.3f}]: {turned}"


def _plot(path: Path, sections: Row, names: Sequence[str], level: str, settings: Settings) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
    for measure in (settings.compared[0], "mrr@10"):
        cells = [sections["retrieval"][name][level]["overall"] for name in names]
        drawn = [(c["low"][measure], c[measure], c["high"][measure]) for c in cells]
        below = [0.0 if low is None else value - low for low, value, _ in drawn]
        above = [0.0 if high is None else high - value for _, value, high in drawn]
        values = [value for _, value, _ in drawn]
        axes.errorbar(range(len(names)), values, [below, above], marker="o", capsize=3, label=measure)
    axes.set_xticks(range(len(names)), names, rotation=20, ha="right")
    axes.set_ylabel(f"{level} level, 95 % interval")
    axes.set_ylim(bottom=0)
    axes.legend()
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
