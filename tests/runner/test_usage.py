"""Tokens, seconds and failures of a run: what was not told is null, and each is counted once."""

import msgspec

from components.types import Answer, Usage, Verdict
from runner.evaluation import Settings, evaluate
from runner.records import ErrorRow
from tests.runner.evaluating import A, K, run
from tests.runner.making import record


def test_tokens_that_were_not_told_are_null_and_keyless_ones_0() -> None:  # F116
    told = record("q1", labels={"gpt": "correct", "facts": "correct"}, haystack="h")
    told = msgspec.structs.replace(told, answer=Answer("x", Usage(100, 10, 0.5, "m-1")))
    told = msgspec.structs.replace(
        told, verdicts={**told.verdicts, "gpt": (Verdict("correct", usage=Usage(None, None, 0.2, "m-2")),)}
    )
    keyless = record("q2", labels={"facts": "correct"}, haystack="h", system="keyless")
    keyless = msgspec.structs.replace(keyless, answer=Answer("x", Usage(seconds=0.1)))
    cost = evaluate([told, keyless], Settings(k=K, judges={"facts": "mechanical", "gpt": "model"}))["cost"]
    assert (cost["tokens_in"], cost["tokens_out"], cost["not_told"]) == (100, 10, 1)
    assert cost["by_role"]["answer"]["served_models"] == {"m-1": 1}
    assert cost["by_role"]["judge gpt"]["tokens_in"] is None
    assert cost["per_query"] == {
        "keyless": {"tokens_in": 0, "tokens_out": 0},
        "ours": {"tokens_in": 100, "tokens_out": 10},
    }


def test_a_haystack_is_ingested_once() -> None:
    latency = run([record(f"q{i}", haystack=f"h{i % 3}", ranked=[A], gold=[A]) for i in range(30)])["latency"]
    assert latency["ingest"]["n"] == 3 and latency["recall"]["n"] == 30
    assert latency["recall"]["by_system"]["ours"] == {"p50": 0.01, "p95": 0.01, "n": 30}


def test_a_failure_is_counted_once_where_it_arose() -> None:
    empty = msgspec.structs.replace(
        record("q2", labels={"facts": "invalid"}), answer=Answer("", status="invalid", reason="empty")
    )
    failed = msgspec.structs.replace(
        record("q3", labels={"facts": "invalid"}, error=ErrorRow("recall", "timeout")),
        answer=Answer("", status="invalid", reason="recall: timeout"),
    )
    records = [record("q1", labels={"facts": "invalid"}), empty, failed]
    assert run(records)["errors"] == {
        "answer": {"empty": 1},
        "judge facts": {"no verdict": 1},
        "recall": {"timeout": 1},
    }
