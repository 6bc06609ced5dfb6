"""Published values against a report: equal at the printed digits, or missed and said so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from typing import Any

from runner.plan import Expectation


def compare(report: Mapping[str, Any], expected: Sequence[Expectation]) -> list[dict[str, Any]]:
    """[{name, expected, got, ok}] in the order given. A path that is not there is missed, got null."""
    out = []
    for row in expected:
        got = _at(report, row.at)
        out.append({"name": row.at, "expected": row.value, "got": got, "ok": _equal(got, row)})
    return out


def _at(value: Any, path: str) -> Any:
    for key in path.split("/"):
        if not isinstance(value, Mapping) or key not in value:
            return None
        value = value[key]
    return value


def _equal(got: Any, row: Expectation) -> bool:
    if isinstance(row.value, str) or got is None or isinstance(got, str):
        return bool(got == row.value)
    # A published digit may have been rounded either way at an exact half: both are the same number.
    step = Decimal(1).scaleb(-row.digits)
    exact = Decimal(repr(float(got)))
    wanted = Decimal(str(row.value))
    return wanted in {exact.quantize(step, mode) for mode in (ROUND_HALF_UP, ROUND_HALF_EVEN)}
