"""What a run cost: tokens per role, seconds per stage, errors per stage.

Tokens that a model did not tell are null, which is not 0; keyless answerers and judges use none, which is 0.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from components.types import Kind, Usage
from runner.records import Record
from runner.statistics import nearest_rank


@dataclass
class _Tokens:
    """Sums over the calls of one role that told their tokens. `calls`: to a model."""

    calls: int = 0
    told: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    models: Counter[str] = field(default_factory=Counter)

    def add(self, usage: Usage) -> None:
        self.calls += 1
        if usage.tokens_in is not None and usage.tokens_out is not None:
            self.told += 1
            self.tokens_in += usage.tokens_in
            self.tokens_out += usage.tokens_out
        if usage.served_model:
            self.models[usage.served_model] += 1

    def merge(self, other: _Tokens) -> None:
        self.calls, self.told = self.calls + other.calls, self.told + other.told
        self.tokens_in, self.tokens_out = self.tokens_in + other.tokens_in, self.tokens_out + other.tokens_out

    def row(self) -> dict[str, Any]:
        return {
            "calls": self.calls,
            "not_told": self.calls - self.told,
            "tokens_in": self.tokens_in if self.told or not self.calls else None,
            "tokens_out": self.tokens_out if self.told or not self.calls else None,
        }


class Usages:
    """Tallies of records, a few numbers per record."""

    def __init__(self, judges: Mapping[str, Kind]) -> None:
        self.records = 0
        self._keyless = {f"judge {judge}" for judge, kind in judges.items() if kind == "mechanical"}
        self._tokens: dict[tuple[str, str], _Tokens] = defaultdict(_Tokens)  # (system, role)
        self._questions: Counter[str] = Counter()
        self._seconds: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)  # (stage, system) -> item
        self._errors: dict[str, Counter[str]] = defaultdict(Counter)

    def add(self, record: Record) -> None:
        self.records += 1
        self._questions[record.system] += 1
        for stage, seconds in record.seconds.items():
            # A haystack is ingested once, whatever the number of its questions.
            item = record.haystack if stage == "ingest" else record.question_id
            its = self._seconds[stage, record.system]
            its[item] = max(seconds, its.get(item, 0.0))
        if record.answer is not None and record.error is None:
            self._call(record, "answer", 0, record.answer.usage)
        asked = record.answer is not None and record.answer.status == "ok"
        for judge, verdicts in record.verdicts.items():
            for number, verdict in enumerate(verdicts if asked else ()):
                self._call(record, f"judge {judge}", number, verdict.usage)
        self._failures(record, asked)

    def _call(self, record: Record, role: str, number: int, usage: Usage) -> None:
        if usage.seconds > 0:  # 0 = not timed
            self._seconds[role, record.system][f"{record.question_id} {number}"] = usage.seconds
        if role not in self._keyless and (usage.served_model or usage.sent or usage.tokens_in is not None):
            self._tokens[record.system, role].add(usage)

    def _failures(self, record: Record, asked: bool) -> None:
        """Each failure once, at the stage where it arose: an invalid answer is no error of the judges."""
        if record.error is not None:
            self._errors[record.error.stage][record.error.reason] += 1
        elif record.answer is not None and not asked:
            self._errors["answer"][record.answer.reason or "no reason given"] += 1
        for judge, verdicts in record.verdicts.items() if asked else ():
            for verdict in verdicts:
                if verdict.label == "invalid":
                    self._errors[f"judge {judge}"][verdict.reason or "no reason given"] += 1

    def cost(self) -> dict[str, Any]:
        """Tokens in all, per role and per question of a system. Whoever has the price table adds the $."""
        total = _merged(self._tokens.values()).row()
        systems = {
            s: _merged(t for (name, _), t in self._tokens.items() if name == s) for s in self._questions
        }
        roles = list(dict.fromkeys(role for _, role in self._tokens))
        return {
            "tokens_in": total["tokens_in"],
            "tokens_out": total["tokens_out"],
            "usd": None,
            "price_table": None,
            "not_told": total["not_told"],
            "per_query": {s: self._per_query(s, tokens) for s, tokens in sorted(systems.items())},
            "by_role": {role: self._role(role) for role in sorted(roles)},
        }

    def _per_query(self, system: str, tokens: _Tokens) -> dict[str, float | None]:
        n, row = self._questions[system], tokens.row()
        return {name: None if row[name] is None else row[name] / n for name in ("tokens_in", "tokens_out")}

    def _role(self, role: str) -> dict[str, Any]:
        its = [tokens for (_, name), tokens in self._tokens.items() if name == role]
        served: Counter[str] = sum((tokens.models for tokens in its), Counter())
        return {**_merged(its).row(), "served_models": dict(sorted(served.items()))}

    def latency(self) -> dict[str, Any]:
        """{stage: {p50, p95, n, by_system}} in seconds, by nearest rank."""
        stages = sorted({stage for stage, _ in self._seconds})
        out: dict[str, Any] = {}
        for stage in stages:
            its = {s: list(v.values()) for (name, s), v in sorted(self._seconds.items()) if name == stage}
            together = [seconds for values in its.values() for seconds in values]
            out[stage] = {**_quantiles(together), "by_system": {s: _quantiles(v) for s, v in its.items()}}
        return out

    def errors(self) -> dict[str, dict[str, int]]:
        """{stage: {reason: n}}."""
        return {stage: dict(sorted(its.items())) for stage, its in sorted(self._errors.items())}


def _merged(its: Iterable[_Tokens]) -> _Tokens:
    total = _Tokens()
    for tokens in its:
        total.merge(tokens)
    return total


def _quantiles(seconds: list[float]) -> dict[str, Any]:
    return {"p50": nearest_rank(seconds, 50), "p95": nearest_rank(seconds, 95), "n": len(seconds)}
