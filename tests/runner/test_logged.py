"""Names and values that a tracker is given, and the tables."""

import math
import warnings
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from components.types import Ref
from runner.logged import changed_keys, kinds, metric_name, metrics, params, run_name
from runner.records import GoldRow
from runner.tables import questions, sweep_table
from tests.runner.tracked import CONFIG, LOGGED, REPORT, a_record


def test_metrics_leave_out_what_is_undefined() -> None:
    assert metrics(REPORT) == LOGGED
    cell = {"hit@10": math.nan, "recall@10": math.inf, "ndcg@10": True, "mrr@10": 0}
    odd = {"retrieval": {"a/b": {"turn": {"overall": cell}}}}
    assert metrics(odd) == {"retrieval/a_b/turn/mrr_at_10": 0.0}
    assert metrics({}) == {}


def test_two_names_that_become_one_are_both_kept() -> None:
    cell = {"overall": {"hit@10": 0.5}}
    report = {"retrieval": {"a(b": {"turn": cell}, "a)b": {"turn": cell}}}
    assert list(metrics(report)) == ["retrieval/a_b/turn/hit_at_10", "retrieval/a_b/turn/hit_at_10_2"]


@settings(deadline=None)  # the first example imports mlflow
@example("recall@10")
@example("acc (n=3)")
@example("judge[0].model")
@example("a//b")
@example("../x")
@example(".")
@given(st.text(min_size=1, max_size=300))
def test_mlflow_takes_any_name(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from mlflow.utils.validation import _validate_metric_name
    _validate_metric_name(f"retrieval/{metric_name(name)}/x")
    _validate_metric_name(metric_name(name))


def test_kinds() -> None:
    assert kinds(REPORT) == "mechanical"
    assert kinds({**REPORT, "accuracy": {"ours": {}}}) == "mechanical,model"
    assert kinds({"accuracy": {"ours": {}}}) == "model"
    assert kinds({}) == ""


def test_params_are_the_choices_and_the_scalars() -> None:
    assert params(CONFIG) == {
        "store": "lancedb",
        "store.memory": True,
        "lane": "lexical, dense",
        "lane.lexical.max_terms": 10,
        "factor": "none",
        "reranker": "none",
        "fusion": "rrf",
        "fusion.weights.dense": 0.3,
        "answerer": "llm",
        "answerer.prompt": "x" * 7000,
        "answerer.api_key_env": "A_KEY",
        "k": "1, 10",
    }


def test_a_table_of_words_is_one_param() -> None:
    days = {"today": 0, "aujourd'hui": 0}
    many = {f"w{i}": i for i in range(13)}
    node = {"_target_": "components.answerer.extractive.Extractive", **many}
    its = params(
        {
            "answerer": {"_target_": "components.answerer.x.X", "days": days, "many": many},
            "judge": {"j": node},
        }
    )
    assert its["answerer.days"] == '{"today": 0, "aujourd\'hui": 0}'
    assert its["answerer.many"] == str(many).replace("'", '"')
    assert its["judge.j.w12"] == 12
    assert params({"odd [key]": {"b": 1}}) == {"odd _key_.b": 1}


def test_names_tell_what_was_changed() -> None:
    overrides = [
        "+experiment=dry",
        "dataset=locomo",
        "dataset.unit=turn",
        "engine.workers=2",
        "~factor.recency",
    ]
    assert (
        run_name(["locomo", "", "sqlite"], overrides)
        == "dataset.unit=turn · no factor.recency · locomo · sqlite"
    )
    assert changed_keys([["a=1", "b=1"], ["a=2", "b=1"], ["b=1"]]) == ["a"]
    assert changed_keys([["+experiment=dry", "b=1"]]) == ["b"]
    assert sweep_table([], []) == {"columns": ["name", "of"], "data": [["status", ""]]}


def test_the_table_of_questions() -> None:
    other: dict[str, Any] = {"verdicts": {}, "answer": None, "ranked": None, "unscored": "no ranking"}
    session = GoldRow((), (Ref("s1", None),), True)
    rows = [
        a_record(0),
        a_record(1, "null", **other),
        a_record(2, gold=GoldRow((), (), False)),
        a_record(3, gold=session),
        a_record(4, gold=GoldRow(("x",), (Ref("s9", "D9:1"),), True)),
    ]
    table = questions(rows)
    first, second, third, fourth, fifth = (
        dict(zip(table["columns"], row, strict=True)) for row in table["data"]
    )
    assert table["columns"][:5] == ["question", "answer", "expected", "verdict_facts_v2", "system"]
    assert first["verdict_facts_v2"] == "correct, invalid (length)"
    assert (first["level"], first["first_gold_rank"], first["hit_at_10"]) == ("turn", 3, 1)
    assert first["top"] == "s1/D1:1, s1/D1:2, s1/D1:3"
    assert first["expected"] == "7 May 2023 | May 7"
    assert (second["verdict_facts_v2"], second["hit_at_10"], second["unscored"]) == (None, None, "no ranking")
    assert (third["expected"], third["first_gold_rank"]) == ("(not answerable)", None)
    assert (fourth["level"], fourth["first_gold_rank"]) == ("session", 1)
    assert (fifth["first_gold_rank"], fifth["hit_at_10"]) == (None, 0)
    assert questions([]) == {"columns": [], "data": []}
    assert not any("." in column for column in table["columns"])
