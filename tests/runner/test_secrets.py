"""Nothing that is a key gets onto a command line or into a file; nothing that is none is refused."""

import json
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.secrets import looks_secret, masked, refuse_argv, secret_key

KEY = "sk-" + "Ab3dEf6hIj9" * 3  # made up here: no service knows it


@pytest.mark.parametrize(
    "text",
    [
        KEY,
        "sk-proj-a1B2c3D4e5F6g7H8",
        "note=sk-test-a1b2c3",
        "Authorization: Bearer abcdef0123456789",
        "bearer " + "q" * 30,
        "api_key=correcthorse",
        'apiKey: "correcthorse"',
        "answerer.llm.api-key = abcd1234efgh",
        "password=hunter2hunter2",
        "https://host/v1?token=abcdefgh12",
        "https://jane:pw@host.example/v1",
        "postgresql://u:p%40ss@db:5432/mlflow",
        "AKIA" + "ABCDEFGH23456789",
        "ghp_" + "a1B2" * 9,
        "-----BEGIN RSA PRIVATE KEY-----",
    ],
)
def test_what_looks_like_a_secret(text: str) -> None:
    what = looks_secret(text)
    assert what
    assert text not in what


@pytest.mark.parametrize(
    "text",
    [
        "risk-averse-investors-2024",
        "task-a1b2c3d4e5f6a7b8",
        "a desk-a1b2c3d4e5f6a7b8",
        "sk-learn-pipelines",
        "sk-SK",
        "sk-2024-11-20",
        "gpt-4o-2024-11-20",
        "claude-sonnet-4-6",
        "Qwen/Qwen2.5-0.5B-Instruct-GGUF:q4_k_m",
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0bb822cd15d6c15b0f00a08",
        "sha256:9f86d081884c",
        "api_key_env=OPENAI_API_KEY",
        "answerer.llm.api_key_env=MY_SECRET_TOKEN_NAME",
        "max_tokens=10000000",
        "token_parameter=max_completion_tokens",
        "eos_token='<|endoftext|>'",
        "tokens_in: 123456789",
        "api_key: ${oc.env:OPENAI_API_KEY}",
        "token=null",
        "the bearer of bad news, bearer certificates",
        "She said the password: something memorable",
        "ssh://git@host.example/repo",
        "sqlite:////work/mlruns/mlflow.db",
        "http://127.0.0.1:8080/v1",
        "see http://host/a:b@c",
    ],
)
def test_what_does_not(text: str) -> None:
    assert looks_secret(text) is None


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("answerer.llm.api_key", True),
        ("apikey", True),
        ("headers.x-api-key", True),
        ("headers.Authorization", True),
        ("judge.a.apiKey", True),
        ("judge.a.accessToken", True),
        ("hf_token", True),
        ("password", True),
        ("api_key_env", False),
        ("token_env", False),
        ("max_tokens", False),
        ("token_parameter", False),
        ("tokenizer", False),
        ("keys", False),
        ("lane.lexical.stop_words", False),
    ],
)
def test_keys_that_hold_a_secret(key: str, expected: bool) -> None:
    assert secret_key(key) is expected


@pytest.mark.parametrize(
    "argument",
    [
        "answer.api_key=sk-test-1",  # too short for a shape: the key says it
        "+judge.llm.token=x",
        "++answerer.llm.password=7",
        "answerer.llm.base_url=https://me:pw@host/v1",
        f"note={KEY}",
        KEY,
        f"{KEY}=1",
        "answerer={_target_: components.answerer.llm.Llm, api_key: zz1}",
        'answerer.llm.headers={Authorization: "Bearer abcdefgh1"}',
        "+answerer.llm.key=from-the-shell-1",  # what $OPENAI_API_KEY became
    ],
)
def test_an_argument_with_a_secret_is_refused_without_repeating_it(argument: str) -> None:
    messages = refuse_argv(["+experiment=dry", argument], {"OPENAI_API_KEY": "from-the-shell-1"})
    assert len(messages) == 1
    assert messages[0].startswith("argument 2")
    assert "_env=NAME" in messages[0]
    value = argument.partition("=")[2] or argument
    assert value not in messages[0]
    assert KEY not in messages[0] and ":pw@" not in messages[0]


def test_all_refusals_at_once_and_the_key_is_named() -> None:
    messages = refuse_argv(["a.api_key=1", "k=[1,5]", "b.token=2"])
    assert [m.split(":")[0] for m in messages] == ["argument 1 (a.api_key)", "argument 3 (b.token)"]
    assert "a.api_key_env=NAME" in messages[0]


@pytest.mark.parametrize(
    "argument",
    [
        "+experiment=crossjudge",
        "answerer.llm.api_key_env=OPENAI_API_KEY",
        "answerer.llm.max_tokens=512",
        "answerer.llm.token_parameter=max_completion_tokens",
        "answerer.llm.model=gpt-4o-2024-11-20",
        "judge=[facts,overlap]",
        "fusion.weights={lexical: 1.0, dense: 0.7}",
        "~factor.recency",
        "-m",
        "answerer.llm.base_url=http://127.0.0.1:8080/v1",
    ],
)
def test_an_honest_argument_passes(argument: str) -> None:
    assert refuse_argv([argument], {"OPENAI_API_KEY": KEY, "PATH": "/usr/bin", "HF_TOKEN": "none"}) == []


def test_masking_values_parts_and_url_logins() -> None:
    environ = {
        "OPENAI_API_KEY": KEY,
        "OPENAI_BASE_URL": "https://jane:pw@host.example/v1",
        "PATH": "/usr/local/bin",
        "LOCAL_API_KEY": "EMPTY",
        "PWD": "/usr/local",
        "MY_CREDENTIAL": KEY[:4] + "Zz99Yy88",
    }
    text = f"key {KEY}, cut {KEY[3:14]}..., url https://jane:pw@host.example/v1, EMPTY, /usr/local/bin"
    expected = "key ***, cut ***..., url https://***@host.example/v1, EMPTY, /usr/local/bin"
    assert masked(text, environ) == expected
    assert masked(json.dumps({"a": KEY}), environ) == '{"a": "***"}'
    assert masked("x odd-name-9 y", {"WHATEVER": "odd-name-9"}, named={"WHATEVER"}) == "x *** y"
    assert masked("x odd-name-9 y", {"WHATEVER": "odd-name-9"}) == "x odd-name-9 y"


def test_words_of_a_placeholder_key_stay() -> None:
    environ = {"LLAMA_API_KEY": "sk-no-key-required"}
    text = "A reply is required. sk-no-key-required"
    assert masked(text, environ) == "A reply is required. ***"


def test_a_secret_with_quotes_survives_in_no_encoding() -> None:
    secret = 'p"w\\9/äöü&K3'
    environ = {"DB_PASSWORD": secret}
    for text in (secret, json.dumps(secret), json.dumps(secret, ensure_ascii=False)):
        assert "K3" not in masked(text, environ)


KEYS = st.text(string.ascii_letters + string.digits + "-_*+/=.", min_size=8, max_size=60)


@given(KEYS, st.text(max_size=30), st.text(max_size=30), st.integers(0, 52), st.integers(8, 60))
def test_no_key_survives_whole_or_in_parts(
    key: str, before: str, after: str, start: int, length: int
) -> None:
    environ = {"SOME_TOKEN": key}
    assert key not in masked(before + key + after, environ)
    part = key[start : start + length]
    if len(part) >= 8 and not set(part) <= set(string.ascii_lowercase + "-_"):
        assert part not in masked(before + part + after, environ)
        messages = refuse_argv([f"note={part}", f"{part}"], environ)
        assert len(messages) == 2
        assert all(part not in message for message in messages)


@given(st.text(max_size=200))
def test_text_without_secrets_is_left_alone(text: str) -> None:
    assert masked(text, {"SOME_TOKEN": "\x00never\x00there\x00"}) == text
    looks_secret(text)  # total
