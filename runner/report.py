"""The report of a run: sections of the evaluation and facts of the run, checked and written.

report.json is strict JSON (null, never NaN) and fits runner/schema/report.json; report.md is for people.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
from jsonschema.exceptions import best_match

from runner.checks import not_finite
from runner.cost import without_zeros
from runner.disclosure import disclose
from runner.page import page
from runner.summary import console

__all__ = ["SCHEMA", "ReportError", "assemble", "console", "problems", "write"]

SCHEMA = "crossjudge-report/1"
_ORDER = (
    *(
        "schema",
        "experiment",
        "run_id",
        "created",
        "harness_version",
        "checks",
        "dataset",
        "counts",
        "method",
    ),
    *("disclosure", "models", "defaults", "retrieval", "accuracy", "lexical", "spread", "agreement"),
    *("judge_cards", "comparisons", "systems", "gates", "staleness", "quality_view", "overlays", "corrected"),
    *("claims", "expectations", "canaries", "cost", "latency", "errors", "reproduce"),
)


class ReportError(ValueError):
    """A report that breaks its own rules: says at which path and how. Nothing is written."""


def assemble(sections: Mapping[str, Any], facts: Mapping[str, Any]) -> dict[str, Any]:
    """The report. `sections`: of evaluate(). `facts`: what the run knows, under INTERFACE's names.

    Needed facts: experiment, run_id, created, harness_version, dataset, disclosure, models, defaults,
    systems. `checks` and `cost` are joined with the measured ones; disclosure.warnings are completed by
    those that follow from the numbers. Beyond INTERFACE: dataset.smallest_haystack {session, turn} (how many
    of each the smallest one has) and reproduce {command, ...}. An empty section is left out.
    """
    joined = {
        "checks": [*sections.get("checks", []), *facts.get("checks", [])],
        "cost": without_zeros({**sections.get("cost", {}), **facts.get("cost", {})}),
    }
    report: dict[str, Any] = {**sections, **facts, **joined, "schema": SCHEMA}
    report["disclosure"] = disclose(report)
    known = {name: report[name] for name in _ORDER if name in report}
    return known | {name: value for name, value in report.items() if name not in known}


def problems(report: Mapping[str, Any]) -> list[str]:
    """What is wrong with a report: numbers that JSON cannot hold, fields that are missing or out of range."""
    found = [f"{path} is {number}, not a number that JSON can hold" for path, number in not_finite(report)]
    for error in jsonschema.Draft202012Validator(schema(report)).iter_errors(report):
        error = best_match([error]) or error
        found.append(f"{'/'.join(map(str, error.absolute_path)) or 'the report'}: {error.message[:300]}")
    return found


def schema(report: Mapping[str, Any]) -> dict[str, Any]:
    """The shipped schema, with the measures of this report's cut-offs made obligatory in each cell."""
    shipped: dict[str, Any] = json.loads(files("runner").joinpath("schema/report.json").read_text("utf-8"))
    cuts = report.get("method", {}).get("k", [])
    names = [f"{measure}@{k}" for measure in ("recall", "hit") for k in cuts]
    for cell in ("ranked", "bounds"):
        shipped["$defs"][cell]["required"] += names
    return shipped


def write(report: Mapping[str, Any], folder: Path) -> Path:
    """Writes report.json and report.md, each at once or not at all; returns the path of report.json.

    ReportError where the report breaks the schema: the records are untouched, `reanalyse` makes it anew.
    """
    if wrong := problems(report):
        raise ReportError("the report is not well formed:\n" + "\n".join(f"  {line}" for line in wrong[:20]))
    text = json.dumps(report, ensure_ascii=False, allow_nan=False, indent=1)
    path = folder / "report.json"
    _replace(path, text + "\n")
    _replace(folder / "report.md", page(report))
    return path


def _replace(path: Path, text: str) -> None:
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8", newline="\n")
    os.replace(part, path)
