"""All items in one haystack: names stay apart, gold stays its question's own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from components.types import DataError, Ref
from tests.component.dataset.shapes import DATA, built, chat, loaded, real_data, written

REAL = "longmemeval/oracle_evidence_turns.json"


def test_every_question_is_asked_among_all_sessions(tmp_path: Path) -> None:
    items = [chat(), chat(question_id="q8"), chat(question_id="q9_abs")]
    (pooled,) = loaded(built("longmemeval_pooled", tmp_path, path=written(tmp_path, items).name))
    alone = loaded(built("longmemeval", tmp_path, path="a.json"))
    assert len(pooled.documents) == sum(len(h.documents) for h in alone)
    assert [d.created for d in pooled.documents] == sorted(d.created for d in pooled.documents if d.created)
    assert [(s.question.id, s.source_id) for s in pooled.samples] == [
        ("h0000-q0000", "q7"),
        ("h0000-q0001", "q8"),
        ("h0000-q0002", "q9_abs"),
    ]
    for sample, own in zip(pooled.samples, alone, strict=True):
        texts = {d.id: d.text for d in (*pooled.documents, *own.documents)}
        assert [pooled.refs[i] for i in sample.gold.qrels] == [Ref(f"{sample.source_id}/answer_1f_1", "0")]
        assert [texts[i] for i in sample.gold.qrels] == [texts[i] for i in own.samples[0].gold.qrels]
    assert [s.gold.answerable for s in pooled.samples] == [True, True, False]


def test_the_rules_of_the_dataset_hold(tmp_path: Path) -> None:
    file = written(tmp_path, [chat(), chat(question_id="q8", question_type="knowledge-update")]).name
    (pooled,) = loaded(built("longmemeval_pooled", tmp_path, path=file, categories=["knowledge-update"]))
    assert [s.source_id for s in pooled.samples] == ["q8"]
    assert pooled.notes["questions_left_out"] == 1
    broken = written(tmp_path, [chat(), chat(question_id="q8", haystack_dates=[])]).name
    with pytest.raises(DataError, match=r"item 1.*0 dates"):
        loaded(built("longmemeval_pooled", tmp_path, path=broken))


@pytest.mark.real_data
@real_data(REAL)
def test_the_evidence_of_500_questions() -> None:
    """896 turns, 479 questions with evidence (counted by other means), 30 of the 500 not answerable."""
    assert DATA and os.path.isdir(DATA)
    (pooled,) = loaded(built("longmemeval_pooled", DATA, path=REAL))
    assert (len(pooled.documents), len(pooled.samples)) == (896, 500)
    assert sum(bool(s.gold.qrels) for s in pooled.samples) == 479
    assert sum(bool(s.gold.qrels) and s.gold.answerable for s in pooled.samples) == 470
