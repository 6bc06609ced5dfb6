"""Records -> the measured sections of the report. Pure: calls no model, reads no clock, writes nothing.

The same records give the same sections, whatever their order in the file: a resumed run is no other run.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from components.types import Kind
from runner.accuracy import verdicts
from runner.checks import checks
from runner.comparisons import comparisons
from runner.judges import agreement, spread
from runner.records import Record
from runner.retrieval import retrieval
from runner.rows import Tables, collect
from runner.settings import Settings

__all__ = ["Settings", "evaluate"]


def evaluate(records: Iterable[Record], settings: Settings) -> dict[str, Any]:
    """Sections method, counts, retrieval, accuracy, lexical, spread, agreement, comparisons, cost, latency,
    errors, checks in the form of INTERFACE. A section with nothing in it is absent; undefined is None.
    """
    tables = collect(records, settings)
    sections: dict[str, Any] = {"method": settings.described(), "counts": _counts(tables)}
    parts = {
        "retrieval": {
            name: retrieval(table, tables.categories, settings) for name, table in tables.systems.items()
        },
        "accuracy": _judged(tables, "model", settings),
        "lexical": _judged(tables, "mechanical", settings),
        "spread": {name: spread(t, tables.categories, settings) for name, t in tables.systems.items()},
        "agreement": {name: agreement(t, settings) for name, t in tables.systems.items()},
    }
    for name, part in parts.items():
        if its := {system: section for system, section in part.items() if section}:
            sections[name] = its
    if rows := comparisons(tables.systems, tables.categories, settings):
        sections["comparisons"] = rows
    sections["cost"] = tables.usages.cost()
    sections["latency"] = tables.usages.latency()
    sections["errors"] = tables.usages.errors()
    sections["checks"] = checks(sections, settings, tables.repeated)
    return sections


def _judged(tables: Tables, kind: Kind, settings: Settings) -> dict[str, Any]:
    return {name: verdicts(t, kind, tables.categories, settings) for name, t in tables.systems.items()}


def _counts(tables: Tables) -> dict[str, Any]:
    """What the records hold: questions per system, and per category (with zeros) of all systems together."""
    questions = {
        question: (category, bool(answerable))
        for table in tables.systems.values()
        for question, category, answerable in zip(table.ids, table.categories, table.answerable, strict=True)
    }
    its = list(questions.values())
    return {
        "records": tables.usages.records,
        "questions": len(questions),
        "haystacks": len({name for table in tables.systems.values() for name in table.clusters.tolist()}),
        "systems": {name: len(table.ids) for name, table in tables.systems.items()},
        "categories": {
            name: {"questions": sum(c == name for c, _ in its), "answerable": its.count((name, True))}
            for name in tables.categories
        },
    }
