"""Dollars: of a known model as its list price says, of an unknown one not at all."""

from __future__ import annotations

import msgspec
import pytest

from components.types import Answer, Usage, Verdict
from runner.prices import call_dollars, dollars, price_table, usages
from tests.runner.making import record

MILLION = 1_000_000


@pytest.mark.parametrize(
    ("model", "tokens_in", "tokens_out", "price"),
    [
        ("gpt-4o-2024-11-20", MILLION, 0, 2.50),
        ("gpt-4o-2024-11-20", 0, MILLION, 10.00),
        ("gpt-4.1", MILLION // 2, MILLION // 4, 1.00 + 2.00),
        ("gpt-4.1-2025-04-14", 300, 7, 300 * 2e-6 + 7 * 8e-6),
    ],
)
def test_a_known_model_has_its_list_price(model: str, tokens_in: int, tokens_out: int, price: float) -> None:
    """Per million tokens in and out: gpt-4o 2.50 and 10, gpt-4.1 2 and 8 dollars."""
    assert call_dollars(Usage(tokens_in, tokens_out, served_model=model)) == pytest.approx(price)


@pytest.mark.parametrize(
    "usage",
    [
        Usage(300, 7, served_model="test-model-2026"),
        Usage(300, 7, served_model=None),
        Usage(None, 7, served_model="gpt-4.1"),
        Usage(300, None, served_model="gpt-4.1"),
    ],
)
def test_what_is_not_known_has_no_price(usage: Usage) -> None:
    assert call_dollars(usage) is None
    assert dollars(msgspec.structs.replace(record("q"), answer=Answer("x", usage))) is None


def test_keyless_records_cost_nothing() -> None:
    assert dollars(record("q")) == 0.0
    assert dollars(msgspec.structs.replace(record("q"), answer=Answer("here"))) == 0.0


def test_a_record_costs_what_its_answer_and_every_verdict_cost() -> None:
    call = Usage(1000, 100, served_model="gpt-4.1")
    verdicts = {"a": (Verdict("correct", usage=call), Verdict("wrong", usage=call)), "b": (Verdict("wrong"),)}
    whole = msgspec.structs.replace(record("q"), answer=Answer("x", call), verdicts=verdicts)
    assert [role for role, _ in usages(whole)] == ["answer", "a", "a", "b"]
    assert dollars(whole) == pytest.approx(3 * (1000 * 2e-6 + 100 * 8e-6))


def test_the_table_is_named_with_its_version() -> None:
    name, version = price_table().split()
    assert name == "genai-prices" and version[0].isdigit()
