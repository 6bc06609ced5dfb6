"""The tables that a tracker shows: the questions of a run, the jobs of a sweep.

{"columns": ["question", "expected", ...], "data": [["When did ...?", "7 May 2023", ...], ...]}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from components.types import Ref, Verdict
from runner.logged import changed_keys
from runner.measures import gold_at, ranking_at
from runner.records import Record

Split = dict[str, list[Any]]  # as pandas writes orient="split": what MLflow's pages read
_SHOWN_REFS = 5


def questions(records: Iterable[Record]) -> Split:
    """One row per system x question, columns in the order in which one reads them.

    No name of a column has a dot in it: MLflow's page would show that column empty.
    """
    rows = [_question(record) for record in records]
    judges = list(dict.fromkeys(judge for row, verdicts in rows for judge in verdicts))
    head = list(rows[0][0]) if rows else []
    cut = head.index("system") if rows else 0
    columns = [*head[:cut], *(f"verdict_{judge}".replace(".", "_") for judge in judges), *head[cut:]]
    data = []
    for row, verdicts in rows:
        values = list(row.values())
        data.append([*values[:cut], *(verdicts.get(judge) for judge in judges), *values[cut:]])
    return {"columns": columns, "data": data}


def _question(record: Record) -> tuple[dict[str, Any], dict[str, str]]:
    gold, answer = record.gold, record.answer
    level, rank = _first_gold(record)
    seconds = record.seconds.get("recall")
    row = {
        "question": record.question,
        "answer": answer.text if answer else None,
        "expected": " | ".join(gold.answers) if gold.answerable else "(not answerable)",
        "system": record.system,
        "first_gold_rank": rank,
        "hit_at_10": None if level is None else int(rank is not None and rank <= 10),
        "level": level,
        "answer_status": (answer.reason or answer.status) if answer else None,
        "unscored": record.unscored,
        "category": record.category,
        "top": ", ".join(_place(found.ref) for found in (record.ranked or ())[:_SHOWN_REFS]),
        "gold": ", ".join(_place(ref) for ref in gold.refs),
        "recall_seconds": None if seconds is None else round(seconds, 6),
        "source_id": record.source_id,
        "question_id": record.question_id,
    }
    return row, {judge: _verdict(its) for judge, its in record.verdicts.items()}


def _first_gold(record: Record) -> tuple[str | None, int | None]:
    """(level, rank of the first gold item there); the level is None where retrieval is not scored."""
    if record.ranked is None or record.unscored is not None or not record.gold.answerable:
        return None, None
    ranked = [row.ref for row in record.ranked]
    turns = any(ref.turn is not None for ref in ranked) and bool(gold_at(record.gold.refs, "turn"))
    level = "turn" if turns else "session"
    gold = gold_at(record.gold.refs, level)
    if not gold:
        return None, None
    ranking = ranking_at(ranked, level, len(ranked))
    return level, next((rank for rank, item in enumerate(ranking, start=1) if item in gold), None)


def _verdict(verdicts: Sequence[Verdict]) -> str:
    """`correct`, `invalid (length)`; the labels of repeats in their order."""
    return ", ".join(
        v.label + (f" ({v.reason})" if v.label == "invalid" and v.reason else "") for v in verdicts
    )


def _place(ref: Ref) -> str:
    return ref.session if ref.turn is None else f"{ref.session}/{ref.turn}"


def sweep_table(rows: Sequence[Mapping[str, Any]], measured: Sequence[Mapping[str, float]]) -> Split:
    """A column per job: what differs, its status, then every metric (six digits), row by row.

    `rows`: {job, overrides, status}, 0 is done; `measured`: the metrics of each, {} for a job without any.
    Cells are narrow: `retrieval/ours/turn/mrr_at_10` is named `mrr_at_10` of `turn, ours, retrieval`.
    """
    given = [dict(override.lstrip("+").partition("=")[::2] for override in row["overrides"]) for row in rows]
    status = [{0: "done", 1: "missed an expectation"}.get(row["status"], "failed") for row in rows]
    keys = changed_keys([row["overrides"] for row in rows])
    data: list[list[Any]] = [[key, "changed", *(its.get(key) for its in given)] for key in keys]
    data.append(["status", "", *status])
    for metric in dict.fromkeys(metric for its in measured for metric in its):
        *of, name = metric.split("/")
        values = (float(f"{its[metric]:z.6g}") if metric in its else None for its in measured)
        data.append([name, ", ".join(reversed(of)), *values])
    return {"columns": ["name", "of", *(f"job {row['job']}" for row in rows)], "data": data}
