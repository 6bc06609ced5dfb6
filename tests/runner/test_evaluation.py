"""Records -> the sections of a report: the settings, the order of the records, the self-checks."""

import json
import random
from time import process_time
from typing import Any

import pytest

from runner.checks import checks
from runner.evaluation import Settings, evaluate
from tests.runner.evaluating import JUDGES, A, K, run
from tests.runner.making import made_up, record


def test_settings_name_every_wrong_number() -> None:
    with pytest.raises(ValueError, match=r"k lists.*confidence.*resamples.*compare: unknown measure 'hit@7'"):
        Settings(k=(1, 1), confidence=95, resamples=5, compare=("hit@7",))
    with pytest.raises(ValueError, match="k must list"):
        Settings(k=())


def test_the_order_of_the_records_changes_nothing() -> None:
    records = made_up(120, 6, 20, {"fts": 0.5, "dense": 0.4})
    choices = Settings(k=K, judges=JUDGES, systems=("fts", "dense"), categories=("temporal", "multi-hop"))
    expected = evaluate(records, choices)
    random.Random(1).shuffle(records)
    got = evaluate(records, choices)
    assert json.dumps(got) == json.dumps(expected)


def test_a_repeated_record_is_left_out_and_told() -> None:
    one = record("q", ranked=[A], gold=[A])
    sections = evaluate([one, one], Settings(k=K))
    assert sections["counts"]["records"] == 1
    assert [c["name"] for c in sections["checks"] if not c["ok"]] == ["each question once per system"]


def test_a_category_cannot_have_the_name_of_a_row() -> None:
    with pytest.raises(ValueError, match="'macro'"):
        run([record("q", ranked=[A], gold=[A], category="macro")])


def test_no_records_are_no_error() -> None:
    sections = evaluate([], Settings(k=K, judges=JUDGES))
    assert sections["counts"]["questions"] == 0 and "retrieval" not in sections


@pytest.mark.parametrize(
    ("damage", "name"),
    [
        (
            lambda s: s["retrieval"]["fts"]["turn"]["overall"].update({"recall@1": 1.0}),
            "recall@k and hit@k grow",
        ),
        (lambda s: s["retrieval"]["fts"]["turn"]["overall"].update({"ndcg@10": 1.2}), "measures lie in"),
        (lambda s: s["retrieval"]["fts"]["turn"]["overall"].update(n=1), "n + unscored"),
        (lambda s: s["retrieval"]["fts"]["turn"]["macro"].update({"mrr@10": 0.99}), "macro lies within"),
        (lambda s: s["retrieval"]["fts"]["turn"]["overall"].update({"mrr@10": float("nan")}), "finite"),
        (lambda s: s["lexical"]["fts"]["facts"]["overall"].update(invalid=3), "valid = total"),
        (lambda s: s["lexical"]["fts"]["facts"]["overall"].update(correct=1), "categories + abstention"),
        (lambda s: s["lexical"]["fts"]["facts"]["overall"].update(accuracy=1.0), "intervals hold"),
        (lambda s: s["spread"]["fts"][0].update(spread=0.0), "spread follows"),
        (lambda s: s["comparisons"][0].update(verdict="better", low=-1), "no verdict of a comparison"),
    ],
)
def test_the_self_checks_notice(damage: Any, name: str) -> None:
    choices = Settings(k=K, judges=JUDGES)
    sections = evaluate(made_up(60, 6, 20, {"fts": 0.5, "dense": 0.4}), choices)
    assert all(check["ok"] for check in sections["checks"])
    damage(sections)
    failed = [check for check in checks(sections, choices) if not check["ok"]]
    assert any(check["name"].startswith(name) or name in check["name"] for check in failed)
    assert all(check["detail"] for check in failed)


def test_a_run_of_the_size_of_locomo_is_evaluated_in_seconds() -> None:
    records = made_up(1540, 10, 500, {"ours": 0.5})
    start = process_time()
    evaluate(records, Settings(k=(*K, 50), judges=JUDGES))
    assert process_time() - start < 3
