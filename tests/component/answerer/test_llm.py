"""A model as answerer, against a scripted server: its prompt; errors are a status and never a text."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hydra.utils import instantiate

from components.answerer.llm import Llm
from components.llm.exchange import _LEARNED
from components.types import Answer, Answerer, Document, FatalError, Hit, Question
from tests.component.nodes import CONF, build, node
from tests.loopback import Loopback, Script, Step, refuse, say

ASKED = datetime(2023, 5, 20, 2, 21, tzinfo=UTC)
HITS = [
    Hit(Document("d2", "user: I moved to {asked} Oslo.", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)), 1.0),
    Hit(
        Document(
            "d1",
            "user: I live in Bergen.",
            datetime(2023, 1, 2, tzinfo=UTC),
            datetime(2022, 12, 30, tzinfo=UTC),
        ),
        0.5,
    ),
    Hit(Document("d3", "user: undated", None), 0.1),
]


@pytest.fixture(autouse=True)
def endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-not-a-real-key-0003")
    _LEARNED.clear()


def ask(
    script: Script, monkeypatch: pytest.MonkeyPatch, question: Question, hits: list[Hit]
) -> tuple[Answer, dict[str, Any]]:
    with Loopback(script) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        llm = node("llm/openai_compatible")
        llm.model, llm.retries, llm.timeout = "tiny", 0, 0.5
        answerer: Llm = instantiate(node("answerer/llm", llm=llm), _convert_="all")
        assert isinstance(answerer, Answerer) and answerer.kind == "model"
        return answerer.answer(question, hits), server.requests[0]


def test_the_prompt_has_question_date_and_dated_notes_in_the_order_of_hits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer, request = ask([say("Oslo")], monkeypatch, Question("q", "Where {context}?", ASKED), HITS)
    assert (answer.text, answer.status, answer.usage.tokens_out) == ("Oslo", "ok", 7)
    assert request["temperature"] == 0.0 and "don't know" in request["messages"][0]["content"]
    text = request["messages"][1]["content"]
    assert "Question: Where {context}?\nAsked on: 2023-05-20 (Saturday)\n" in text
    assert (
        "[1] (2023-05-08) user: I moved to {asked} Oslo.\n[2] (2022-12-30) user: I live in Bergen.\n"
        "[3] (unknown) user: undated\n" in text
    )
    assert text.rstrip().endswith("Answer:")


def test_no_hits_and_no_date_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    _, request = ask([say("I don't know.")], monkeypatch, Question("q", "Where?"), [])
    assert "(no notes were found)" in request["messages"][1]["content"]
    assert "Asked on: unknown" in request["messages"][1]["content"]


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (say(""), "empty"),
        (say("Os", finish_reason="length"), "length"),
        (say(None, message={"reasoning_content": "Oslo"}), "reasoning only"),
        (say("<think>Oslo?"), "unclosed reasoning"),
        (refuse(500, "Error generating answer"), "server error"),
        (Step(reset=True), "connection"),
        (say("Oslo", delay=2.0), "timeout"),
    ],
)
def test_an_error_is_a_status_and_never_a_text(
    step: Step, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer, _ = ask([step], monkeypatch, Question("q", "Where?", ASKED), HITS)
    assert (answer.text, answer.status, answer.reason) == ("", "invalid", reason)


def test_reasoning_is_not_part_of_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    answer, _ = ask([say("<think>Bergen? No.</think>\nOslo")], monkeypatch, Question("q", "Where?"), HITS)
    assert answer.text == "Oslo"


def test_an_unknown_model_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FatalError, match="unknown model"):
        ask([refuse(404, "no such model")], monkeypatch, Question("q", "Where?"), HITS)


def test_the_prompt_needs_its_fields() -> None:
    with pytest.raises(ValueError, match="context"):
        Llm(llm=build("llm/gpt_4o"), system="", user="{question} {asked}", context_line="{content}",
            empty_context="", unknown_date="")  # fmt: skip


def test_prompts_hold_no_interpolation() -> None:
    lines = (CONF / "answerer/llm.yaml").read_text().split("\n")
    assert [line for line in lines if "${" in line] == ["llm: ${llm}"]
