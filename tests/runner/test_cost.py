"""Dollars of a run: nothing that no record tells, and 0 only where no endpoint is called."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from components.types import Answer, Usage
from runner.cost import cost
from runner.records import encode
from tests.runner.making import record
from tests.runner.running import config

DRY = ("+experiment=dry",)
VECTORS = ("embedder=openai", "embedder.model=text-embedding-3-small")
CHAT = ("answerer=llm", "llm.model=gpt-4.1")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    usage = Usage(1000, 100, served_model="gpt-4.1")
    one = msgspec.structs.replace(record("q"), answer=Answer("x", usage))
    (tmp_path / "records.jsonl").write_bytes(encode(one))
    return tmp_path


def test_no_endpoint_costs_nothing(folder: Path) -> None:
    assert cost(config(*DRY), folder) == {"usd": 0.0, "price_table": None}


def test_known_calls_have_their_price(folder: Path) -> None:
    found = cost(config(*DRY, *CHAT), folder)
    assert found["usd"] == pytest.approx(1000 * 2e-6 + 100 * 8e-6) and "reason" not in found


def test_a_call_without_a_price_is_counted(folder: Path) -> None:
    unknown = msgspec.structs.replace(
        record("q2"), answer=Answer("x", Usage(1, 1, served_model="test-model-2026"))
    )
    with (folder / "records.jsonl").open("ab") as file:
        file.write(encode(unknown))
    found = cost(config(*DRY, *CHAT), folder)
    assert (found["usd"], found["reason"]) == (None, "1 of 2 records have a call without a known price")


@pytest.mark.parametrize("more", [(), CHAT])
def test_an_embedder_at_an_endpoint_has_a_price_that_nobody_told(folder: Path, more: tuple[str, ...]) -> None:
    """Not 0 dollars, and not the chat model's alone either."""
    found = cost(config(*DRY, *VECTORS, *more, "embedder.base_url=https://api.example.com/v1"), folder)
    assert found["usd"] is None and found["unrecorded"] == ["embedder at api.example.com"]
    assert "stand in no record" in found["reason"]
