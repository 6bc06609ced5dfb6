"""Dollars of a record's model calls, from the maintained price table of genai-prices."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import metadata

from components.types import Usage
from runner.records import Record


def usages(record: Record) -> Iterator[tuple[str, Usage]]:
    """(role, usage) of every call: "answer", then each judge's name."""
    if record.answer is not None:
        yield "answer", record.answer.usage
    for judge, verdicts in record.verdicts.items():
        for verdict in verdicts:
            yield judge, verdict.usage


def dollars(record: Record) -> float | None:
    """0 where no model was called; None where a call has no price (unknown model or unknown tokens)."""
    total = 0.0
    for _, usage in usages(record):
        if usage.served_model is None and usage.tokens_in is None:
            continue
        price = call_dollars(usage)
        if price is None:
            return None
        total += price
    return total


def call_dollars(usage: Usage) -> float | None:
    """The price of one call, None when the model or its tokens are not known."""
    if usage.served_model is None or usage.tokens_in is None or usage.tokens_out is None:
        return None
    from genai_prices import Usage as Tokens
    from genai_prices import calc_price

    try:
        price = calc_price(
            Tokens(input_tokens=usage.tokens_in, output_tokens=usage.tokens_out), usage.served_model
        )
    except LookupError:
        return None
    return float(price.total_price)


def price_table() -> str:
    """Which table the prices are from."""
    return f"genai-prices {metadata.version('genai-prices')}"
