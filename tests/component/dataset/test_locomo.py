"""LoCoMo: the reader against small files in the official shape."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from components.types import DataError, Dataset, Haystack, Ref
from tests.component.dataset.shapes import (
    built,
    loaded,
    qa,
    seen_by_a_system,
    talk,
    written,
)

ALL = ["multi-hop", "temporal", "open-domain", "single-hop", "adversarial"]


def read(folder: Path, sample: dict[str, Any], **changes: Any) -> Haystack:
    dataset = built("locomo", folder, path=written(folder, [sample]).name, **{"categories": ALL, **changes})
    assert isinstance(dataset, Dataset)
    (haystack,) = loaded(dataset)
    return haystack


def test_one_sample_by_turn_in_numeric_order(tmp_path: Path) -> None:
    haystack = read(tmp_path, talk([qa()]))
    assert [(d.id, d.text) for d in haystack.documents] == [
        ("d00001", "[1:56 pm on 8 May, 2023] Ana: I sold the kayak."),
        ("d00002", "[1:56 pm on 8 May, 2023] Ana: look! [shares a red canoe on a beach]"),
        ("d00003", "[12:05 am on 1 June, 2023] Ben: Hello."),
        ("d00004", "[9:00 am on 2 July, 2023] Ben: Bye."),
    ]
    assert [d.created for d in haystack.documents][1:3] == [
        datetime(2023, 5, 8, 13, 56, tzinfo=UTC),
        datetime(2023, 6, 1, 0, 5, tzinfo=UTC),
    ]
    assert haystack.refs["d00004"] == Ref("session_10", "D10:1")
    (sample,) = haystack.samples
    assert (sample.question.id, sample.source_id, haystack.source_id) == ("h0000-q0000", "t1:0", "t1")
    assert sample.question.asked == datetime(2023, 7, 2, 9, 0, tzinfo=UTC)
    assert sample.gold.qrels == {"d00001": 1}
    assert sample.gold.refs == (Ref("session_1", None), Ref("session_1", "D1:1"))
    assert haystack.notes == {"orphan_dates": 1}  # F09


def test_one_sample_by_session_as_json(tmp_path: Path) -> None:
    haystack = read(
        tmp_path, talk([qa(evidence=["D1:1", "D1:2"])]), unit="session", text="json", captions=False
    )
    assert [d.text for d in haystack.documents] == [
        '[{"speaker":"Ana","text":"I sold the kayak.","dia_id":"D1:1"},'
        '{"speaker":"Ana","text":"look!","dia_id":"D1:2"}]',
        '[{"speaker":"Ben","text":"Hello.","dia_id":"D3:1"}]',
        '[{"speaker":"Ben","text":"Bye.","dia_id":"D10:1"}]',
    ]
    assert haystack.samples[0].gold.qrels == {"d00001": 1}
    assert haystack.samples[0].gold.refs == (
        Ref("session_1", None),
        Ref("session_1", "D1:1"),
        Ref("session_1", "D1:2"),
    )


def test_ghosts_text(tmp_path: Path) -> None:
    haystack = read(tmp_path, talk([]), text="[Session {session}] {speaker}: {text}", captions=False)
    assert [d.text for d in haystack.documents][1:] == [
        "[Session 1] Ana: look!",
        "[Session 3] Ben: Hello.",
        "[Session 10] Ben: Bye.",
    ]


def test_f01_category_five_is_not_answerable_and_its_bait_no_gold(tmp_path: Path) -> None:
    bait = {
        "question": "Did Ana sell the boat?",
        "adversarial_answer": "Yes",
        "evidence": ["D1:2"],
        "category": 5,
    }
    haystack = read(tmp_path, talk([bait, bait | {"answer": "No"}]))
    assert [(s.gold.answers, s.gold.answerable) for s in haystack.samples] == [((), False), (("No",), False)]
    assert read(tmp_path, talk([bait]), categories=["single-hop"]).samples == ()


@pytest.mark.parametrize(
    ("category", "name"),
    [
        (1, "multi-hop"),
        (2, "temporal"),
        (3, "open-domain"),
        (4, "single-hop"),
        (5, "adversarial"),
        ("2", "temporal"),
    ],
)
def test_f07_names_of_categories(tmp_path: Path, category: Any, name: str) -> None:
    assert read(tmp_path, talk([qa(category=category)])).samples[0].category == name


@pytest.mark.parametrize("category", [6, 0, None, "six", True, [1], 2.5])
def test_f07_another_category_is_a_loud_error(tmp_path: Path, category: Any) -> None:
    with pytest.raises(DataError, match=r"item 0 \(t1\): qa 1: category .* is none of 1-5"):
        read(tmp_path, talk([qa(), qa(category=category)]))


@pytest.mark.parametrize(
    ("answer", "says"), [(True, "a bool"), (["a"], "a list"), (None, "a null"), ("", "is blank")]
)
def test_f03_an_answer_that_is_none_is_named(tmp_path: Path, answer: Any, says: str) -> None:
    with pytest.raises(DataError, match=rf"qa 0: the answer is.*{says.split()[-1]}"):
        read(tmp_path, talk([qa(answer=answer)]))
    missing = qa()
    del missing["answer"]
    with pytest.raises(DataError, match="qa 0: the answer"):
        read(tmp_path, talk([missing]))


def test_f04_f05_evidence_tolerant_and_verbatim(tmp_path: Path) -> None:
    rows = [
        qa(evidence=e) for e in (["D1:1 D3:1; D10:01"], ["D:3:1"], ["D"], ["D99:1", "D1:1"], [], "D3:1", None)
    ]
    tolerant = read(tmp_path, talk(rows))
    assert [(sorted(s.gold.qrels), s.gold.unresolved) for s in tolerant.samples] == [
        (["d00001", "d00003", "d00004"], ()),
        (["d00003"], ()),
        ([], ("D",)),
        (["d00001"], ("D99:1",)),
        ([], ()),
        (["d00003"], ()),
        ([], ()),
    ]
    assert tolerant.notes["evidence_unresolved"] == 2
    verbatim = read(tmp_path, talk(rows), evidence="verbatim")
    assert [bool(s.gold.qrels) for s in verbatim.samples] == [False, False, False, True, False, True, False]
    assert verbatim.samples[0].gold.unresolved == ("D1:1 D3:1; D10:01",)


def test_f08_repeated_questions_are_two(tmp_path: Path) -> None:
    haystack = read(tmp_path, talk([qa(), qa(answer="a boat", evidence=["D3:1"])]))
    assert [(s.question.id, s.source_id, s.gold.answers) for s in haystack.samples] == [
        ("h0000-q0000", "t1:0", ("a kayak",)),
        ("h0000-q0001", "t1:1", ("a boat",)),
    ]
    assert haystack.notes["repeated_questions"] == 1


def test_ids_count_in_file_order_whatever_is_asked(tmp_path: Path) -> None:
    haystack = read(tmp_path, talk([qa(category=5), qa()]), categories=["single-hop"])
    assert [(s.question.id, s.source_id) for s in haystack.samples] == [("h0000-q0001", "t1:1")]
    assert haystack.notes["questions_left_out"] == 1


def test_f11_captions_by_their_key_and_a_switch(tmp_path: Path) -> None:
    assert "a red canoe on a beach" in seen_by_a_system(read(tmp_path, talk([])))
    assert "canoe" not in seen_by_a_system(read(tmp_path, talk([]), captions=False))
    own = read(tmp_path, talk([]), caption_text=" (picture: {caption})", text="{text}")
    assert own.documents[1].text == "look! (picture: a red canoe on a beach)"


def test_a_turn_that_is_only_a_picture_is_blank_without_captions(tmp_path: Path) -> None:
    turns = [{"speaker": "Ana", "dia_id": "D3:1", "text": "", "blip_caption": "a dog"}]
    sample = talk([qa(evidence=["D3:1"])], session_3=turns)
    assert read(tmp_path, sample).samples[0].gold.qrels == {"d00003": 1}
    without = read(tmp_path, sample, captions=False)
    assert (without.samples[0].gold.qrels, without.samples[0].gold.unresolved) == ({}, ("D3:1",))
    assert without.notes["blank_turns"] == 1


def test_annotators_fields_and_the_qa_block_reach_nobody(tmp_path: Path) -> None:
    for changes in (
        {},
        {"unit": "session", "text": "json"},
        {"text": "{role}{text}{date}{day}{session}{turn}{caption}"},
    ):
        haystack = read(tmp_path, talk([qa(answer="gold words", adversarial_answer="bait words")]), **changes)
        seen = seen_by_a_system(haystack)
        for marker in ("annotator", "gold words", "bait words", "single-hop", "pictures.example", "t1"):
            assert marker not in seen


def test_an_undated_session_has_no_date_and_the_last_dated_one_gives_the_question_its(tmp_path: Path) -> None:
    haystack = read(tmp_path, talk([qa()], session_10_date_time="soon", session_3_date_time=None))
    assert [d.created is None for d in haystack.documents] == [False, False, True, True]
    assert haystack.samples[0].question.asked == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert haystack.notes["undated"] == 2


def test_a_missing_file_names_the_official_one_and_its_hash(tmp_path: Path) -> None:
    (line,) = built("locomo", tmp_path).problems()
    assert "locomo10.json: no such file" in line
    assert "sha256 79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4," in line
