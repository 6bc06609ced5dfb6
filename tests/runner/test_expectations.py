"""Published values against a report: equal at the printed digits, else missed and said so."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.expectations import compare
from runner.plan import Expectation

REPORT = {
    "dataset": {"sha256": "79fa", "questions": 1540, "subset": None},
    "retrieval": {"ours": {"turn": {"overall": {"n": 1531, "hit@5": 0.48399, "mrr@10": None}}}},
    "agreement": {"a/b": 1, "rows": [{"n": 1}]},
}


def one(value: Any, got: Any, digits: int = 3) -> bool:
    (row,) = compare({"x": got}, [Expectation("x", value, digits)])
    shown = None if isinstance(got, list | dict) else got
    assert row["name"] == "x" and row["expected"] == value and row["got"] == shown
    return bool(row["ok"])


@pytest.mark.parametrize(
    ("value", "got", "digits", "ok"),
    [
        (0.581, 0.5806, 3, True),
        (0.581, 0.58051, 3, True),
        (0.581, 0.58149, 3, True),
        (0.581, 0.58151, 3, False),
        (0.581, 0.58, 3, False),
        (0.582, 0.5806, 3, False),  # one digit off
        (0.8975, 0.897547, 4, True),
        (0.8976, 0.897547, 4, False),
        (0.5, 0.5, 3, True),
        (1531, 1531, 0, True),
        (1531, 1530, 0, False),
        (1531, 1531.4, 0, True),
        (0.885, 0.8845, 3, True),  # an exact half may have been rounded up ...
        (0.884, 0.8845, 3, True),  # ... or down, as printf does with an even digit
        (0.74889, 0.748895, 5, True),  # ... or with a float a hair under the half
        (0.886, 0.8855, 3, True),
        (0.884, 0.8855, 3, False),
        (0.58, 0.5806, 3, False),  # fewer digits than it claims to have: 0.580 was not measured
        (-0.12, -0.1204, 2, True),
        (1e-05, 0.0000099, 5, True),
        ("79fa", "79fa", 3, True),
        ("79fa", "79fb", 3, False),
        ("0.581", 0.581, 3, False),  # a text is compared as a text
        (0.581, "0.581", 3, False),
        (0, None, 0, False),  # undefined is not 0
        (1, True, 0, False),
        (1, [1], 0, False),
        (1, {"n": 1}, 0, False),
    ],
)
def test_equal_at_the_printed_digits(value: Any, got: Any, digits: int, ok: bool) -> None:
    assert one(value, got, digits) is ok


@given(st.integers(0, 10**6), st.integers(1, 6))
def test_a_value_printed_by_python_is_met_and_its_neighbours_are_not(millionths: int, digits: int) -> None:
    got = millionths / 10**6
    printed = Decimal(f"{got:.{digits}f}")
    step = Decimal(1).scaleb(-digits)
    assert one(float(printed), got, digits)
    assert not one(float(printed + 2 * step), got, digits) and not one(float(printed - 2 * step), got, digits)


def test_each_row_is_told_in_order_with_what_was_got() -> None:
    rows = [
        Expectation("dataset/sha256", "79fa"),
        Expectation("retrieval/ours/turn/overall/hit@5", 0.484),
        Expectation("retrieval/ours/turn/overall/mrr@10", 0.362),
        Expectation("retrieval/ours/session/overall/hit@5", 0.823),
        Expectation("dataset/questions/n", 1540, 0),
        Expectation("agreement/rows/0/n", 1, 0),
        Expectation("retrieval/ours/turn", 1),
        Expectation("", 1),
    ]
    found = compare(REPORT, rows)
    assert [row["name"] for row in found] == [row.at for row in rows]
    assert [row["ok"] for row in found] == [True, True, *[False] * 6]
    assert [row["got"] for row in found] == ["79fa", 0.48399, *[None] * 6]
    assert msgspec.json.decode(msgspec.json.encode(found)) == found
    assert compare(REPORT, []) == []
