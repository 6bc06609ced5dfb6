"""Numbers as people read them, and the few lines that a run leaves on the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Report = Mapping[str, Any]


def fraction(value: float | None, low: float | None = None, high: float | None = None) -> str:
    """0.579 [0.555, 0.603]; n/a where undefined."""
    return _shown(value, low, high, 3)


def percent(value: float | None, low: float | None = None, high: float | None = None) -> str:
    """57.9 [55.5, 60.3]; n/a where undefined."""
    return _shown(value, low, high, 1)


def _shown(value: float | None, low: float | None, high: float | None, digits: int) -> str:
    if value is None:
        return "n/a"
    bounds = "" if low is None or high is None else f" [{low:z.{digits}f}, {high:z.{digits}f}]"
    return f"{value:z.{digits}f}{bounds}"  # z: what rounds to 0 has no sign


def deepest(report: Report) -> int:
    """The cut-off shown first: the largest k up to 10, else the smallest there is."""
    cuts: list[int] = report["method"]["k"]
    return max((k for k in cuts if k <= 10), default=min(cuts))


def lanes_of(report: Report, system: str) -> tuple[str, str]:
    """(vector lane, rerank) of a system: its own entry under `systems`, else the run's where that is ours."""
    entry: Mapping[str, Any] = next((row for row in report["systems"] if row["name"] == system), {})
    run = report["disclosure"] if system == "ours" or len(report["systems"]) < 2 else {}
    return tuple(  # type: ignore[return-value]
        _word(entry.get(field, run.get(field, "not told"))) for field in ("vector_lane", "rerank")
    )


def _word(value: Any) -> str:
    return {True: "active", False: "inactive", None: "none"}.get(value, str(value))


def console(report: Report) -> str:
    """The summary for the terminal: a line per system and level, judge and spread, then what is off."""
    dataset, counts = report["dataset"]["name"], report["counts"]
    lines = [
        f"{report['experiment']}  {dataset}: {counts['questions']} questions, "
        f"{counts['haystacks']} haystacks, {len(report['systems'])} systems"
    ]
    lines += _retrieval(report)
    for section, title in (("accuracy", "accuracy"), ("lexical", "lexical (mechanical)")):
        for system, judges in report.get(section, {}).items():
            lines += [f"{title}  {system}  {judge}: {_judge(rows)}" for judge, rows in judges.items()]
    for system, rows in report.get("spread", {}).items():
        lines += [f"spread  {system}  {_spread(row)}" for row in rows if row["headline"]]
    lines += [
        f"{row['status']}  {row['name']}: {row.get('reason')}"
        for row in report["systems"]
        if row["status"] != "measured"
    ]
    return "\n".join([*lines, *_state(report)])


def _retrieval(report: Report) -> list[str]:
    k, lines = deepest(report), []
    for system, levels in report.get("retrieval", {}).items():
        vector, rerank = lanes_of(report, system)
        for level, rows in levels.items():
            cell = rows["overall"]
            numbers = f"{fraction(cell[f'recall@{k}'])}/{fraction(cell['mrr@10'])}"
            lines.append(
                f"recall@{k}/MRR  {system}  {level} {numbers} (n = {cell['n']})  "
                f"vectorLane: {vector}  rerank: {rerank}"
            )
    return lines


def _judge(rows: Mapping[str, Any]) -> str:
    cell = rows["overall"]
    return (
        f"{percent(cell['accuracy'], cell['low'], cell['high'])} %  strict {percent(cell['strict'])}  "
        f"best case {percent(cell['best_case'])}  invalid {cell['invalid']} of {cell['total']}"
    )


def _spread(row: Mapping[str, Any]) -> str:
    judges = f"{row['judge_a']} and {row['judge_b']}"
    if row["spread"] is None:
        return f"{judges}: n/a (one of them has no valid verdict)"
    verdict = "survives" if row["survives"] else "does not survive"
    return f"{judges}: {percent(row['spread'], row['low'], row['high'])} points, {verdict}"


def _state(report: Report) -> list[str]:
    checks, expected = report["checks"], report.get("expectations", [])
    lines = [f"self-checks  {sum(row['ok'] for row in checks)} of {len(checks)} hold"]
    lines += [f"  failed: {row['name']} ({row.get('detail')})" for row in checks if not row["ok"]]
    if expected:
        lines.append(f"expectations  {sum(row['ok'] for row in expected)} of {len(expected)} met")
        lines += [
            f"  missed: {row['name']} expected {row['expected']}, got {row['got']}"
            for row in expected
            if not row["ok"]
        ]
    if gates := report.get("gates", []):
        lines.append(f"gates  {sum(row['ok'] for row in gates)} of {len(gates)} hold")
        lines += [f"  violated: {row['name']} {_fields(row)}" for row in gates if not row["ok"]]
    return lines + [f"warning: {text}" for text in report["disclosure"]["warnings"]]


def _fields(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in row.get("fields", {}).items())
