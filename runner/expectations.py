"""Published values against a report: equal at the printed digits, or missed and said so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal
from typing import Any

from runner.plan import Expectation


def compare(report: Mapping[str, Any], expected: Sequence[Expectation]) -> list[dict[str, Any]]:
    """[{name, expected, got, ok}] in the order given. A path that leads to no value is missed, got null."""
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
    return value if isinstance(value, int | float | str) else None  # a section is no value


def _equal(got: Any, row: Expectation) -> bool:
    if isinstance(row.value, str) or got is None or isinstance(got, str | bool):
        return type(got) is type(row.value) and bool(got == row.value)
    # At an exact half the published digit may have gone either way, by its rule or because its float lies a
    # hair beside the half: 0.748895 is printed as 0.74889 and as 0.74890. Both are the same number.
    step = Decimal(1).scaleb(-row.digits)
    exact = Decimal(repr(float(got)))
    wanted = Decimal(str(row.value))
    return wanted in {exact.quantize(step, mode) for mode in (ROUND_HALF_UP, ROUND_HALF_DOWN)}
