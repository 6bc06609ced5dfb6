"""What a reader must know before a number is believed: independence of the judges, and every warning."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from runner.few import few_clusters, too_few
from runner.records import OUTAGES

Report = Mapping[str, Any]
_GOLD_REASONS = ("not answerable", "unresolved", "no gold")  # the data's, not the system's
_FAMILY = {
    "chatgpt": "gpt",
    "davinci": "gpt",
    "o": "gpt",
    "codellama": "llama",
    "qwq": "qwen",
    "gemma": "gemini",
}


def disclose(report: Report) -> dict[str, Any]:
    """The disclosure section: what the run says of itself, completed by what follows from the numbers."""
    given = dict(report.get("disclosure", {}))
    judges = model_judges(report)
    derived: dict[str, Any] = {
        "vector_lane": None,
        "rerank": None,
        "cross_model": _differ(judges, "model_id"),
        "cross_provider": _differ(judges, "provider"),
        "single_run": True,
        "lanes": {},
        "conflict_of_interest": _conflicts(report),
        "oracle_context": False,
    }
    full = {**derived, **given}
    found = [text for rule in _RULES for text in rule({**report, "disclosure": full})]
    full["warnings"] = list(dict.fromkeys([*given.get("warnings", []), *found]))
    return full


def model_judges(report: Report) -> dict[str, Mapping[str, Any]]:
    """Judges that are models: name -> {provider, model_id}."""
    kinds = report.get("method", {}).get("judges", {})
    judges = report.get("models", {}).get("judges", {})
    return {name: model for name, model in judges.items() if model and kinds.get(name) == "model"}


def family(model_id: str) -> str:
    """What a model descends from, by the letters its name begins with: "openai/gpt-4.1" -> "gpt"."""
    name = re.split(r"[/:]", model_id.lower())
    letters = next((found[0] for part in reversed(name) if (found := re.match(r"[a-z]+", part))), model_id)
    return _FAMILY.get(letters, letters)


def _differ(judges: Mapping[str, Mapping[str, Any]], field: str) -> bool | None:
    """Whether the model judges differ in a field; None for fewer than two."""
    return len({model.get(field) for model in judges.values()}) > 1 if len(judges) > 1 else None


def _conflicts(report: Report) -> list[str]:
    answerer = report.get("models", {}).get("answerer") or {}
    if not answerer.get("model_id"):
        return []
    mine = family(answerer["model_id"])
    return [name for name, m in model_judges(report).items() if family(m.get("model_id") or "") == mine]


def graded(report: Report) -> Iterator[tuple[str, str, str, Mapping[str, Any]]]:
    """(section, system, judge, rows) of both kinds of verdicts."""
    for section in ("accuracy", "lexical"):
        for system, judges in report.get(section, {}).items():
            yield from ((section, system, judge, rows) for judge, rows in judges.items())


def _checks(report: Report) -> Iterator[str]:
    for check in report.get("checks", []):
        if not check["ok"]:
            yield f"a self-check failed: {check['name']} ({check.get('detail') or 'no detail'})"


def _invalid(report: Report) -> Iterator[str]:
    limit = 100 * report["method"]["invalid_limit"]
    for section, system, judge, rows in graded(report):
        cell = rows["overall"]
        if cell["total"] and cell["invalid_rate"] > limit:
            yield (
                f"unreliable: {cell['invalid']} of {cell['total']} verdicts of {judge} on {system} are "
                f"invalid ({cell['invalid_rate']:.1f} %, limit {limit:.1f} %; section {section})"
            )


def _unranked(report: Report) -> Iterator[str]:
    for system, levels in report.get("retrieval", {}).items():
        cell = next(iter(levels.values()))["overall"]
        reasons = {r: n for r, n in cell["unscored"].items() if r not in _GOLD_REASONS}
        lost = sum(reasons.values())
        if not lost:
            continue
        told = ", ".join(f"{reason} {n}" for reason, n in reasons.items())
        if not cell["n"]:
            yield f"{system} has no ranking ({told}): its retrieval is n/a, not 0"
        elif lost > report["method"]["invalid_limit"] * (lost + cell["n"]):
            yield f"unreliable: {system} has no ranking for {lost} of {lost + cell['n']} questions ({told})"


def _judges(report: Report) -> Iterator[str]:
    kinds = report["method"]["judges"]
    if kinds and set(kinds.values()) == {"mechanical"} and "lexical" in report:
        yield "all judges are mechanical: no accuracy was measured, lexical numbers do not stand for it"
    for kind in sorted(set(kinds.values())):
        names = [name for name, its in kinds.items() if its == kind]
        if len(names) == 1:
            yield f"{names[0]} is the only {kind} judge: no spread between judges of its kind"
    for judge in report["disclosure"]["conflict_of_interest"] or []:
        yield f"judge {judge} is a model of the answerer's family"
    for _, system, judge, rows in graded(report):
        if rows["overall"]["flips"]:
            yield f"judge {judge} contradicts itself on {rows['overall']['flips']} questions of {system}"


def _spread(report: Report) -> Iterator[str]:
    for system, rows in report.get("spread", {}).items():
        for row in rows:
            if row["headline"] and not row["survives"]:
                told = (
                    "is n/a: one of them has no valid verdict"
                    if row["spread"] is None
                    else f"is {row['spread']:.1f} points: "
                    f"it does not survive the tolerance of {report['method']['tolerance']:g}"
                )
                yield f"the spread of {row['judge_a']} and {row['judge_b']} on {system} {told}"


def _runs(report: Report) -> Iterator[str]:
    if report["disclosure"]["single_run"]:
        yield "a single run: the noise from run to run was not measured"


def _depth(report: Report) -> Iterator[str]:
    smallest = report["dataset"].get("smallest_haystack") or {}
    levels = dict.fromkeys(itertools.chain.from_iterable(report.get("retrieval", {}).values()))
    for level in levels:
        size = smallest.get(level)
        wide = [k for k in report["method"]["k"] if size is not None and k >= size]
        if wide:
            cuts = ", ".join(f"k={k}" for k in wide)
            yield f"{cuts} reaches the whole smallest haystack ({size} {level}s): recall is 1 by design"


def _unanswered(report: Report) -> Iterator[str]:
    """An outage is told by its cause: without it the numbers look like a model that knows nothing."""
    reasons = report.get("errors", {}).get("answer", {})
    lost = {reason: n for reason, n in reasons.items() if reason in OUTAGES}
    if lost:
        host = (report["models"].get("answerer") or {}).get("host") or "the endpoint"
        told = ", ".join(f"{reason} {n}" for reason, n in lost.items())
        yield f"no answer came from {host} ({told}): put it right and go on with resume=, they are asked again"


def _tokens(report: Report) -> Iterator[str]:
    lost = sum(n for r, n in report.get("errors", {}).get("answer", {}).items() if r in OUTAGES)
    if (missing := report.get("cost", {}).get("not_told", 0) - lost) > 0:
        yield f"{missing} model calls did not tell their tokens: the token counts are too low"
    if report.get("cost", {}).get("unrecorded"):
        yield report["cost"]["reason"]


_RULES: tuple[Callable[[Report], Iterator[str]], ...] = (
    _checks,
    _unanswered,
    _invalid,
    _unranked,
    _judges,
    _spread,
    _runs,
    too_few,
    few_clusters,
    _depth,
    _tokens,
)
