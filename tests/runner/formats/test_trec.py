"""ir-measures reads our TREC files and finds the numbers of the report."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ir_measures
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import RR, R, Success, nDCG

from components.types import Ref
from runner.evaluation import evaluate
from runner.formats import trec
from runner.formats.tokens import document, questions, token
from runner.records import Record
from runner.settings import Settings
from tests.component.dataset.shapes import real_data
from tests.runner.making import made_up, record, turn
from tests.runner.running import run

K = (1, 3, 5, 10)
SETTINGS = Settings(k=K, resamples=100)
MEASURES = {
    **{f"recall@{k}": R @ k for k in K},
    **{f"hit@{k}": Success @ k for k in K},
    "mrr@10": RR @ 10,
    "ndcg@10": nDCG @ 10,
}


def measured(stem: Path) -> tuple[dict[str, float], int]:
    """Measures by our names, and the number of questions, by another's hand."""
    qrels = list(ir_measures.read_trec_qrels(str(stem.with_name(stem.name + ".qrels"))))
    ranked = list(ir_measures.read_trec_run(str(stem.with_name(stem.name + ".run"))))
    found = ir_measures.calc_aggregate(list(MEASURES.values()), qrels, ranked)
    return {name: found[m] for name, m in MEASURES.items()}, len({row.query_id for row in qrels})


def same_as(report: Mapping[str, Any], folder: Path) -> int:
    """How many (system, level) pairs were held equal."""
    pairs = 0
    for system, levels in report["retrieval"].items():
        for level, rows in levels.items():
            values, n = measured(folder / f"{system}.{level}")
            assert n == rows["overall"]["n"]
            assert values == pytest.approx({name: rows["overall"][name] for name in values}, abs=1e-9)
            pairs += 1
    return pairs


def test_a_run_of_four_systems_at_both_levels(tmp_path: Path) -> None:
    ran = run(tmp_path, "+experiment=retrieval", "store=sqlite", "export=[trec]")
    assert ran.status == 0
    assert same_as(ran.report, ran.folder / "export" / "trec") == 8


@pytest.mark.real_data
@real_data("locomo/locomo10.json")
def test_locomo(tmp_path: Path) -> None:
    ran = run(tmp_path, "+reproduce=ghost_locomo", "export=[trec]")
    folder = ran.folder / "export" / "trec"
    values, n = measured(folder / "ours.session")
    assert n == 1531
    assert values["hit@5"] == pytest.approx(0.823, abs=5e-4)


@pytest.mark.parametrize("empty_gold", ["exclude", "zero"])
@pytest.mark.parametrize("unresolved", ["ignore", "count"])
def test_what_is_scored_and_what_counts_is_the_settings_word(
    tmp_path: Path, empty_gold: Any, unresolved: Any
) -> None:
    settings = dataclasses.replace(SETTINGS, empty_gold=empty_gold, unresolved=unresolved)
    records = [
        *made_up(40, 4, 30, {"one": 0.4, "two": 0.7}),
        record("no gold", ranked=[turn(1, 1)], system="one"),
        record("half", ranked=[turn(1, 1)], gold=[turn(1, 1)], unresolved=["D 9", "D 9"], system="one"),
        record("unanswerable", ranked=[turn(1, 1)], gold=[turn(1, 1)], answerable=False, system="one"),
        record("failed", ranked=None, gold=[turn(1, 1)], unscored="error", system="one"),
        record("nothing found", ranked=[], gold=[turn(1, 1)], system="one"),
        record("twice", ranked=[turn(2, 1), turn(2, 1), turn(1, 1)], gold=[turn(1, 1)] * 2, system="one"),
    ]
    trec.write(records, settings, tmp_path)
    assert same_as(evaluate(records, settings), tmp_path) == 4


def test_the_order_is_ours_where_scores_are_equal(tmp_path: Path) -> None:
    """All scores of record() are 1.0; trec_eval would break the tie by name, and the gold's is the last."""
    places = [Ref("s", name) for name in ("z", "m", "a")]
    trec.write([record("q", ranked=places, gold=[Ref("s", "a")])], SETTINGS, tmp_path)
    assert measured(tmp_path / "ours.turn")[0]["mrr@10"] == pytest.approx(1 / 3)


def test_a_level_that_is_not_there_has_no_file(tmp_path: Path) -> None:
    written = trec.write([record("q", ranked=[Ref("s", None)], gold=[Ref("s", None)])], SETTINGS, tmp_path)
    assert [path.name for path in written] == ["ours.session.run", "ours.session.qrels"]


@given(st.text(), st.text())
def test_a_name_is_one_word_and_no_other_has_it(one: str, two: str) -> None:
    for names in (
        {token(one), token(two)},
        {document(Ref(one, two)), document(Ref(two, one))},
        {document(Ref(one, None)), document(Ref(one, two))},
    ):
        assert all(name.isascii() and name.split() == [name] and not name.startswith("?") for name in names)
    assert (token(one) == token(two)) == (one == two)
    assert (document(Ref(one, two)) == document(Ref(two, one))) == (one == two)
    assert document(Ref(one, two)) != document(Ref(one + "#" + two, None))


def test_questions_of_one_source_id_stay_apart() -> None:
    records: list[Record] = [record(name) for name in ("a", "b", "c")]
    same = [*(msgspec.structs.replace(r, source_id="one id") for r in records[:2]), records[2]]
    names = questions(same)
    assert names == {"a": "one%20id#a", "b": "one%20id#b", "c": "source%20c"}
