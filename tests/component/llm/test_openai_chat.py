"""The chat client against a scripted server on real sockets: replies, what is counted, what stops a run."""

import json
import threading
import time
from dataclasses import replace

import pytest

from components.llm.exchange import _LEARNED
from components.llm.openai_chat import OpenaiChat
from components.types import FatalError
from tests.loopback import Loopback, Step, refuse, say

KEY = "sk-test-ABC123-never-to-be-seen"
SCHEMA = {
    "title": "Verdict",
    "type": "object",
    "properties": {"reasoning": {"type": "string"}, "correct": {"type": "boolean"}},
    "required": ["reasoning", "correct"],
}
GOOD = json.dumps({"reasoning": "same city", "correct": True})


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_LLM_KEY", KEY)
    _LEARNED.clear()


def chat(server: Loopback, **changes: object) -> OpenaiChat:
    llm = OpenaiChat(
        model="test-model",
        base_url=server.url,
        api_key_env="TEST_LLM_KEY",
        temperature=0.0,
        max_tokens=64,
        token_parameter="max_tokens",
        timeout=5.0,
        retries=0,
        validation_retries=1,
        mode="json_schema",
        seed=None,
        provider="test",
    )
    return replace(llm, **changes)


def test_a_plain_answer_with_its_usage() -> None:
    with Loopback([say(" Oslo ")]) as server:
        reply = chat(server).ask("Be brief.", "Where?", None)
    assert (reply.text, reply.status, reply.reason) == ("Oslo", "ok", "")
    assert (reply.usage.tokens_in, reply.usage.tokens_out) == (300, 7)
    assert reply.usage.served_model == "test-model-2026"
    assert reply.usage.sent == {"model": "test-model", "temperature": 0.0, "max_tokens": 64, "mode": "text"}
    assert server.requests[0]["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Where?"},
    ]
    assert "seed" not in server.requests[0] and server.keys == [f"Bearer {KEY}"]


@pytest.mark.parametrize("ending", ["/v1", "/v1/"])
def test_a_trailing_slash_changes_nothing(ending: str) -> None:
    with Loopback([say("yes")]) as server:
        assert chat(server, base_url=server.url.removesuffix("/v1") + ending).ask("", "x", None).text == "yes"
    assert server.paths == ["/v1/chat/completions"]


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (Step(body={"id": "1", "choices": None}), "bad response"),
        (Step(body={"id": "1", "choices": []}), "bad response"),
        (Step(body={"id": "1", "choices": [{}]}), "bad response"),
        (Step(body={"error": {"message": "upstream"}}), "bad response"),
        (Step(body='{"id": "1", "choi'), "bad response"),
        (Step(body="<html>busy</html>", headers={"Content-Type": "text/html"}), "bad response"),
        (Step(body="[1, 2]"), "bad response"),
        (say("Oslo", cut=40), "connection"),
        (Step(reset=True), "connection"),
        (say("Oslo", delay=5.0), "timeout"),
        (say(None), "empty"),
        (say("  \n"), "empty"),
        (say(None, finish_reason="length"), "length"),
        (say('{"correct": tr', finish_reason="length"), "length"),
        (say(None, message={"tool_calls": [{"id": "1", "type": "function"}]}), "tool call"),
        (say(None, message={"refusal": "I will not."}), "refusal"),
        (say("", finish_reason="content_filter"), "refusal"),
        (say(None, message={"reasoning_content": "yes, it is Oslo"}), "reasoning only"),
        (say("<think>Oslo, I think"), "unclosed reasoning"),
        (refuse(429, "slow down"), "rate limit"),
        (refuse(500, "oops"), "server error"),
        (refuse(529, "overloaded"), "server error"),
        (refuse(418, "teapot"), "http 418"),
        (refuse(400, "max_tokens is too large: 64"), "bad request"),
        (refuse(400, "too many tokens", code="context_length_exceeded"), "prompt too long"),
    ],
)
def test_every_fault_is_an_invalid_reply_with_a_reason(step: Step, reason: str) -> None:
    with Loopback([step]) as server:
        reply = chat(server, timeout=0.3).ask("s", "u", None)
    assert (reply.status, reply.text, reply.reason) == ("invalid", "", reason)
    assert len(server.requests) == 1


@pytest.mark.parametrize("structured", [False, True])
@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (refuse(401, f"Incorrect API key provided: {KEY}"), "key refused"),
        (refuse(401, f"Incorrect API key provided: {KEY[:9]}*****{KEY[-8:]}"), "key refused"),
        (refuse(403, "no access"), "key refused"),
        (refuse(404, "The model `test-model` does not exist", code="model_not_found"), "unknown model"),
        (refuse(429, "You exceeded your current quota", code="insufficient_quota"), "no quota"),
        (refuse(402, "pay"), "no quota"),
        (Step(401, f"plain text with {KEY}", {"Content-Type": "text/plain"}), "key refused"),
    ],
)
def test_what_no_further_call_can_mend_stops_the_run_and_hides_the_key(
    step: Step, reason: str, structured: bool, caplog: pytest.LogCaptureFixture
) -> None:
    with Loopback([step]) as server, pytest.raises(FatalError) as caught:
        chat(server).ask("s", "u", SCHEMA if structured else None)
    assert (caught.value.stage, caught.value.reason) == ("llm", reason)
    seen = f"{caught.value} {caught.value.detail} {caught.value.__cause__} {caplog.text}"
    assert all(KEY[start : start + 8] not in seen for start in range(len(KEY) - 7))
    assert "127.0.0.1" in caught.value.detail and len(server.requests) == 1


def test_the_key_is_hidden_when_a_model_says_it() -> None:
    with Loopback([say(f"the key is {KEY}.")]) as server:
        reply = chat(server).ask("s", "u", None)
    assert reply.text == f"the key is {'*' * len(KEY)}." and KEY not in repr(chat(server))


def test_the_sdk_retries_what_may_pass_and_waits_as_asked() -> None:
    busy = refuse(429, "slow down", headers={"Retry-After": "0.4"})
    with Loopback([busy, say("Oslo")]) as server:
        started = time.monotonic()
        reply = chat(server, retries=1).ask("s", "u", None)
        waited = time.monotonic() - started
    assert reply.text == "Oslo" and reply.usage.sent["retries"] == 1 and waited >= 0.4


def test_a_broken_connection_is_tried_again() -> None:
    with Loopback([say("Oslo", cut=50), say("Oslo")]) as server:
        assert chat(server, retries=1).ask("s", "u", None).text == "Oslo"
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("error", "gone", "instead"),
    [
        (
            refuse(400, "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens'."),
            "max_tokens",
            "max_completion_tokens",
        ),
        (refuse(400, "temperature does not support 0.0", param="temperature"), "temperature", None),
        (refuse(422, "seed: Extra inputs are not permitted"), "seed", None),
    ],
)
def test_a_refused_parameter_costs_one_call_and_is_remembered(
    error: Step, gone: str, instead: str | None
) -> None:
    with Loopback([lambda body: error if gone in body else say("Oslo")]) as server:
        llm = chat(server, seed=7)
        replies = [llm.ask("s", "u", None) for _ in range(2)]
    assert [reply.text for reply in replies] == ["Oslo", "Oslo"] and len(server.requests) == 3
    assert gone not in replies[0].usage.sent
    assert instead is None or replies[1].usage.sent[instead] == 64


def test_an_endpoint_that_refuses_everything_ends() -> None:
    with Loopback([lambda body: refuse(400, f"unsupported parameter: {sorted(body)[0]}")]) as server:
        assert chat(server).ask("s", "u", None).reason == "bad request"
    assert len(server.requests) <= 4


def test_usage_that_is_not_told_is_none_not_zero() -> None:
    with Loopback([say("Oslo", usage=None)]) as server:
        usage = chat(server).ask("s", "u", None).usage
    assert usage.tokens_in is None and usage.tokens_out is None


def test_a_prompt_that_the_server_cut_is_noticed() -> None:
    prompt = "The ferry leaves at nine from the northern pier. " * 800  # about 8,800 tokens
    with Loopback([say("Oslo", usage={"prompt_tokens": 2048, "completion_tokens": 3})]) as server:
        assert chat(server).ask("s", prompt, None).usage.sent["prompt_truncated"] is True
        assert "prompt_truncated" not in chat(server).ask("s", prompt[:9000], None).usage.sent


def test_a_schema_goes_with_the_request_and_the_reply_is_its_json() -> None:
    with Loopback([say(GOOD)]) as server:
        reply = chat(server).ask("s", "u", SCHEMA)
    assert reply.text == GOOD and reply.usage.sent["mode"] == "json_schema"
    sent = server.requests[0]["response_format"]["json_schema"]["schema"]
    assert list(sent["properties"]) == ["reasoning", "correct"] and sent["required"] == [
        "reasoning",
        "correct",
    ]


@pytest.mark.parametrize("text", [f"```json\n{GOOD}\n```", f"<think>format: {{}}</think>{GOOD}"])
def test_fences_and_reasoning_need_no_second_call(text: str) -> None:
    with Loopback([say(text)]) as server:
        assert GOOD in chat(server).ask("s", "u", SCHEMA).text
    assert len(server.requests) == 1


def test_a_reply_that_does_not_fit_is_asked_again_and_both_calls_are_booked() -> None:
    with Loopback([say("It is right."), say(GOOD)]) as server:
        reply = chat(server).ask("s", "u", SCHEMA)
    assert reply.text == GOOD and len(server.requests) == 2
    assert (reply.usage.tokens_in, reply.usage.tokens_out) == (600, 14)


@pytest.mark.parametrize(
    "error",
    [
        refuse(400, "'response_format' of type 'json_schema' is not supported with this model."),
        refuse(500, "internal error"),  # llama-cpp-python's server answers so
    ],
)
def test_an_endpoint_without_json_schema_gets_the_schema_in_the_prompt(error: Step) -> None:
    with Loopback(
        [lambda body: error if "response_format" in body else say(f"```json\n{GOOD}\n```")]
    ) as server:
        llm = chat(server)
        replies = [llm.ask("s", "u", SCHEMA) for _ in range(2)]
    assert [reply.usage.sent["mode"] for reply in replies] == ["md_json", "md_json"]
    assert len(server.requests) == 3 and "json_schema" in server.requests[1]["messages"][0]["content"]


def test_a_model_that_never_writes_json_is_left_to_the_reader_of_verdicts() -> None:
    with Loopback([say("CORRECT")]) as server:
        llm = chat(server)
        first, second = llm.ask("s", "u", SCHEMA), llm.ask("s", "u", SCHEMA)
    assert (first.text, second.text) == ("CORRECT", "CORRECT")
    assert second.usage.sent["mode"] == "text" and len(server.requests) == 5  # 2 + 2, then 1


def test_one_odd_reply_does_not_change_a_mode_that_works() -> None:
    with Loopback([say(GOOD), say("odd"), say("odd again"), say(GOOD)]) as server:
        llm = chat(server)
        assert [llm.ask("s", "u", SCHEMA).text for _ in range(3)] == [GOOD, "odd again", GOOD]


def test_faults_come_through_the_structured_way_too() -> None:
    steps = [
        Step(body={"choices": None}),
        say(None, finish_reason="length"),
        refuse(503, "busy"),
        say(GOOD, delay=3),
    ]
    with Loopback(steps) as server:
        llm = chat(server, timeout=0.3)
        reasons = [llm.ask("s", "u", SCHEMA).reason for _ in steps]
    assert reasons == ["bad response", "length", "server error", "timeout"]


def test_threads_share_one_client() -> None:
    with Loopback([say("Oslo", delay=0.2)]) as server:
        llm, texts = chat(server), []
        threads = [
            threading.Thread(target=lambda: texts.append(llm.ask("s", "u", None).text)) for _ in range(8)
        ]
        started = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert texts == ["Oslo"] * 8 and time.monotonic() - started < 1.4  # one after the other: 1.6 s


def test_problems_name_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TEST_LLM_KEY")
    with Loopback([say("x")]) as server:
        assert ["TEST_LLM_KEY" in problem for problem in chat(server).problems()] == [True]
        assert chat(server, api_key_env=None).problems() == []
        assert len(chat(server, base_url="localhost:80", model="", api_key_env=None).problems()) == 2


def test_a_local_server_needs_no_key() -> None:
    with Loopback([say("Oslo")]) as server:
        assert chat(server, api_key_env=None).ask("s", "u", None).text == "Oslo"


@pytest.mark.parametrize(
    "wrong", [{"temperature": 3.0}, {"timeout": 0.0}, {"mode": "tools"}, {"retries": -1}, {"max_tokens": 0}]
)
def test_numbers_out_of_range_are_refused(wrong: dict[str, object]) -> None:
    with Loopback([say("x")]) as server, pytest.raises(ValueError, match=next(iter(wrong))):
        chat(server, **wrong)
