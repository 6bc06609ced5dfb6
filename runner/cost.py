"""What the report says of a run's cost in dollars: nothing that no record tells.

{"usd": 0.0, "price_table": None}, {"usd": 1.25, "price_table": "genai-prices 0.0.9"}, or
{"usd": None, "price_table": None, "reason": "...", "unrecorded": ["embedder at api.openai.com"]}
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runner.config import nodes
from runner.prices import dollars, price_table
from runner.provenance import host_of
from runner.records import read
from runner.resume import flat

Raw = Mapping[str, Any]


def cost(raw: Raw, folder: Path) -> dict[str, Any]:
    """Dollars of the run: 0 where no endpoint is called; None, with the `reason`, where a price is not known.

    A record tells the tokens of its answer and its verdicts; what an embedder or a competitor sends to an
    endpoint (`unrecorded`) stands in none.
    """
    if unrecorded := _unrecorded(raw):
        reason = f"the calls of {', '.join(unrecorded)} stand in no record: tokens and price are not known"
        return {"usd": None, "price_table": None, "reason": reason, "unrecorded": unrecorded}
    if not _asked(raw):
        return {"usd": 0.0, "price_table": None}
    prices = [dollars(record) for record in read(folder / "records.jsonl")]
    known = [price for price in prices if price is not None]
    if len(known) == len(prices):
        return {"usd": sum(known), "price_table": price_table()}
    reason = f"{len(prices) - len(known)} of {len(prices)} records have a call without a known price"
    return {"usd": None, "price_table": price_table(), "reason": reason}


def without_zeros(cost: Mapping[str, Any]) -> dict[str, Any]:
    """The cost section: where calls stand in no record, tokens that add up to 0 are not known to be 0."""
    if not cost.get("unrecorded"):
        return dict(cost)
    systems = {
        name: {key: n or None for key, n in row.items()} for name, row in cost.get("per_query", {}).items()
    }
    tokens = {key: cost.get(key) or None for key in ("tokens_in", "tokens_out")}
    return {**cost, **tokens, "per_query": systems}


def _asked(raw: Raw) -> bool:
    """Whether a chat model answers or judges."""
    return any(node.get("llm") for node in (raw.get("answerer") or {}, *(raw.get("judge") or {}).values()))


def _unrecorded(raw: Raw) -> list[str]:
    """Parts that call an endpoint whose usage no record holds, as `embedder at api.openai.com`."""
    found = [
        f"{key} at {host_of(value) or 'an endpoint'}"
        for where, node, _ in nodes(raw)
        if where.partition(".")[0] not in ("answerer", "judge", "tracker")
        for place, value in flat(node, f"{where}.").items()
        if place.endswith(".base_url") and value
        for key in [place.removesuffix(".base_url").removeprefix("store.").removesuffix(".llm")]
    ]
    return list(dict.fromkeys(found))
