from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from components.embedder.openai import Openai
from components.types import ComponentError, FatalError
from tests.component.retrieval import conf
from tests.loopback import Loopback, Step, embeddings, refuse

KEY = "sk-test-not-a-real-key"
OPENAI = Openai(
    **{**conf("embedder", "openai"), "model": "m", "base_url": "", "api_key_env": None, "cache": None}
)


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback([echo]) as running:
        yield running


def echo(body: dict[str, Any]) -> Step:
    """A vector of a text's own: its length and its first letter, not of unit length."""
    return embeddings([[float(len(text)), float(ord(text[0])), 1.0] for text in body["input"]])


def at(server: Loopback, **changes: Any) -> Openai:
    return replace(OPENAI, base_url=server.url, retries=0, **changes)


def unit(*numbers: float) -> Any:
    return pytest.approx(np.array(numbers) / np.linalg.norm(numbers), abs=1e-6)


def test_vectors_of_unit_length_in_the_order_of_the_texts(server: Loopback) -> None:
    texts = [f"turn {'x' * n}" for n in range(10)]
    made = at(server, batch=4).embed(texts, "document")
    assert made.dtype == np.float32 and made.shape == (10, 3)
    for row, text in zip(made, texts, strict=True):
        assert row == unit(len(text), ord("t"), 1)
    assert [len(body["input"]) for body in server.requests] == [4, 4, 2]
    assert server.paths[0] == "/v1/embeddings" and "dimensions" not in server.requests[0]
    assert server.requests[0]["encoding_format"] == "float"
    assert at(server).embed([], "query").shape[0] == 0 and len(server.requests) == 3


def test_items_in_another_order(server: Loopback) -> None:
    server.script = [embeddings([[1.0, 0.0], [0.0, 1.0]], order=[1, 0])]
    assert at(server).embed(["a", "b"], "document").tolist() == [[1, 0], [0, 1]]


def test_the_role_s_prefix_reaches_the_model(server: Loopback) -> None:
    """F58."""
    embedder = at(server, prefix_document="passage: ", prefix_query="query: ", max_chars=5)
    embedder.embed(["kayak and more"], "document")
    embedder.embed(["kayak and more"], "query")
    assert [body["input"] for body in server.requests] == [["passage: kayak"], ["query: kayak"]]


def test_what_is_kept_is_not_asked_for_again(server: Loopback, tmp_path: Path) -> None:
    embedder = at(server, cache=str(tmp_path), batch=2, prefix_query="query: ")
    first = embedder.embed(["a", "b", "a", "c"], "document")
    again = at(server, cache=str(tmp_path), batch=2, prefix_query="query: ")
    assert np.array_equal(again.embed(["a", "b", "a", "c"], "document"), first)
    assert [body["input"] for body in server.requests] == [["a", "b"], ["c"]]
    assert embedder.notes() == {"embedded": 3, "kept": 0, "tokens": 15, "retries": 0}
    assert again.notes() == {"kept": 3}
    again.embed(["a"], "query")  # another prefix, another model, another size: other vectors
    replace(again, model="n").embed(["a"], "document")
    server.script = [embeddings([[1.0, 2.0]])]
    replace(again, dimensions=2).embed(["a"], "document")
    assert len(server.requests) == 5 and server.requests[-1]["dimensions"] == 2


FAULTS = [
    (refuse(400, "This model's maximum context length is 8192 tokens"), "prompt too long"),
    (refuse(429, "slow down"), "rate limit"),
    (Step(503, "busy"), "server error"),
    (Step(body="<html>"), "bad response"),
    (Step(body={"data": [{"index": 0, "embedding": "AAAA"}]}), "bad response"),
    (Step(body={"data": []}), "bad response"),
    (Step(body=[1]), "bad response"),
    (Step(body={"data": [{"index": 1, "embedding": [1.0]}]}), "bad response"),
    (embeddings([[1.0, 0.0], [1.0, 0.0]]), "bad response"),
    (embeddings([[0.0, 0.0]]), "zero vector"),
    (Step(body=json.dumps({"data": [{"index": 0, "embedding": [float("nan")]}]})), "vector not finite"),
    (embeddings([[]]), "wrong shape"),
    (embeddings([[1.0, 0.0]], reset=True), "connection"),
    (embeddings([[1.0, 0.0]], cut=20), "connection"),
    (embeddings([[1.0, 0.0]], delay=5.0), "timeout"),
]


@pytest.mark.parametrize(("step", "reason"), FAULTS, ids=[f"{n} {r}" for n, (_, r) in enumerate(FAULTS)])
def test_a_fault_is_an_error_with_a_reason(step: Step, reason: str, server: Loopback, tmp_path: Path) -> None:
    server.script = [step]
    embedder = at(server, timeout=0.5, cache=str(tmp_path))
    with pytest.raises(ComponentError) as caught:
        embedder.embed(["kayak"], "document")
    assert (caught.value.stage, caught.value.reason) == ("embed", reason)
    server.script = [embeddings([[3.0, 4.0]])]  # nothing of it was kept
    assert embedder.embed(["kayak"], "document")[0] == unit(3, 4)


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (refuse(401, f"Incorrect API key provided: {KEY}"), "key refused"),
        (refuse(404, "no such model", code="model_not_found"), "unknown model"),
        (refuse(429, "exceeded your current quota", code="insufficient_quota"), "no quota"),
    ],
)
def test_what_stops_the_run(
    step: Step, reason: str, server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_KEY", KEY)
    server.script = [step]
    with pytest.raises(FatalError) as caught:
        at(server, api_key_env="SOME_KEY").embed(["kayak"], "document")
    assert (caught.value.stage, caught.value.reason) == ("embed", reason)
    assert KEY[-8:] not in str(caught.value) and server.keys == [f"Bearer {KEY}"]


def test_what_may_pass_is_asked_again(server: Loopback) -> None:
    server.script = [refuse(429, "slow", headers={"Retry-After": "0"}), embeddings([[1.0, 1.0]])]
    embedder = replace(at(server), retries=2)
    assert embedder.embed(["kayak"], "query").shape == (1, 2)
    assert embedder.notes()["retries"] == 1 and len(server.requests) == 2


def test_blank_text_is_not_sent(server: Loopback) -> None:
    with pytest.raises(ComponentError, match=r"embed: empty text \(text 2 of 2\)"):
        at(server).embed(["kayak", " \n"], "document")
    assert server.requests == []
    assert at(server).embed(["half \ud83c emoji"], "document").shape == (1, 3)


def test_a_wrong_dimension_is_an_error(server: Loopback) -> None:
    with pytest.raises(ComponentError, match="wrong dimension"):
        at(server, dimensions=8).embed(["kayak"], "document")


def test_problems(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SOME_KEY", raising=False)
    (tmp_path / "file").touch()
    nothing = replace(OPENAI, model="", api_key_env="SOME_KEY", cache=str(tmp_path / "file/in"))
    told = nothing.problems()
    assert len(told) == 4
    for part in ("model: none", "base_url", "SOME_KEY", "cache"):
        assert any(part in line for line in told)
    assert replace(OPENAI, base_url="http://127.0.0.1:1/v1").problems() == []


@pytest.mark.parametrize("changes", [{"batch": 0}, {"timeout": 0.0}, {"retries": -1}, {"dimensions": 0}])
def test_numbers_out_of_range(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(changes))):
        replace(OPENAI, **changes)
