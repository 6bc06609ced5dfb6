"""A recall as rows of a record: the ranking in source places, the context an answerer will see, the trace."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from typing import Any

from components.types import Haystack, Hit, Recall
from runner.plan import Context
from runner.records import ContextRow, RankedRow


def ranking(
    recall: Recall, hits: Sequence[Hit], haystack: Haystack, explain: int
) -> tuple[tuple[RankedRow, ...] | None, str | None]:
    """The ranking in source places, or why there is none: a system without one is unscored, never 0."""
    if not recall.ranked:
        return None, "no ranking"
    if any(hit.document.id not in haystack.refs for hit in hits):
        return None, "unmapped"
    refs = haystack.refs
    told = [RankedRow(refs[h.document.id], round(h.score, 9), _parts(h)) for h in hits[:explain]]
    rest = [RankedRow(refs[h.document.id], h.score, {}) for h in hits[explain:]]
    return (*told, *rest), None


def _parts(hit: Hit) -> dict[str, float]:
    return {name: round(float(part), 9) for name, part in hit.parts.items()}


def context_rows(hits: Sequence[Hit], haystack: Haystack, limit: Context | None) -> tuple[ContextRow, ...]:
    """What an answerer will see: the first hits, in their order, as far as the characters go.

    A document that does not fit is cut at the limit, the rest left out. No limit for a system whose
    answer is everything (full context).
    """
    rows: list[ContextRow] = []
    left = limit.chars if limit else sum(len(h.document.text) for h in hits)
    for hit in hits[: limit.hits] if limit else hits:
        if left <= 0:
            break
        text = hit.document.text[:left]
        left -= len(text)
        rows.append(ContextRow(haystack.refs.get(hit.document.id), minute(hit.document.created), text))
    return tuple(rows)


def trace_line(system: str, question_id: str, recall: Recall) -> dict[str, Any]:
    trace = recall.trace
    cut = Counter(f"{row.stage}: {row.reason}" for row in trace.cut)
    return {
        "system": system,
        "question_id": question_id,
        "lanes": dict(trace.lanes),
        "hits": [[hit.document.id, round(hit.score, 9)] for hit in recall.hits],
        "cut": dict(cut),
        "notes": dict(trace.notes),
        "seconds": dict(trace.seconds),
    }


def minute(time: dt.datetime | None) -> str | None:
    """2023-05-08T13:56Z: to the minute, as the datasets have it."""
    return time.isoformat(timespec="minutes").replace("+00:00", "Z") if time else None


def from_minute(text: str | None) -> dt.datetime | None:
    """The inverse of minute()."""
    return dt.datetime.fromisoformat(text) if text else None
