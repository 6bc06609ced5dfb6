"""LongMemEval: the reader against small files in the official shape."""

from __future__ import annotations

import copy
import gzip
import json
import pickle
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from components.types import DataError, Dataset, Document, Haystack, Ref
from tests.component.dataset.shapes import (
    built,
    chat,
    loaded,
    notes,
    seen_by_a_system,
    written,
)

TURN_2 = {"role": "user", "content": "same", "has_answer": False}


def read(folder: Path, *items: dict[str, Any], **changes: Any) -> list[Haystack]:
    return loaded(built("longmemeval", folder, path=written(folder, items).name, **changes))


def test_one_item_by_turn(tmp_path: Path) -> None:
    (haystack,) = read(tmp_path, chat())
    assert haystack.documents == (
        Document("d00001", "user: Rain again.", datetime(2023, 5, 19, 10, 0, tzinfo=UTC), speaker="user"),
        Document(
            "d00002", "user: I sold the kayak.", datetime(2023, 5, 20, 2, 21, tzinfo=UTC), speaker="user"
        ),
        Document(
            "d00003",
            "assistant: Good riddance.",
            datetime(2023, 5, 20, 2, 21, tzinfo=UTC),
            speaker="assistant",
        ),
    )
    assert haystack.refs["d00002"] == Ref("answer_1f_1", "0")
    (sample,) = haystack.samples
    assert (sample.question.id, sample.source_id, haystack.source_id) == ("h0000-q0000", "q7", "q7")
    assert sample.question.asked == datetime(2023, 5, 30, 23, 40, tzinfo=UTC)
    assert sample.gold.qrels == {"d00002": 1}
    assert sample.gold.refs == (Ref("answer_1f_1", None), Ref("answer_1f_1", "0"))
    assert sample.gold.unresolved == ()
    assert haystack.notes == {}


def test_one_item_by_session_as_json(tmp_path: Path) -> None:
    (haystack,) = read(tmp_path, chat(), unit="session", text="json")
    assert [d.text for d in haystack.documents] == [
        '[{"role":"user","content":"Rain again."}]',
        '[{"role":"user","content":"I sold the kayak."},{"role":"assistant","content":"Good riddance."}]',
    ]
    assert haystack.refs == {"d00001": Ref("chat_2", None), "d00002": Ref("answer_1f_1", None)}
    assert haystack.samples[0].gold.qrels == {"d00002": 1}
    assert haystack.samples[0].gold.refs == (Ref("answer_1f_1", None), Ref("answer_1f_1", "0"))


@pytest.mark.parametrize("unit", ["turn", "session"])
@pytest.mark.parametrize("text", ["json", "{role} {speaker} {text} {date} {day} {session} {turn} {caption}"])
def test_nothing_that_tells_the_gold_reaches_a_system(tmp_path: Path, unit: str, text: str) -> None:
    (haystack,) = read(tmp_path, chat(question_id="secret_abs"), unit=unit, text=text)
    seen = seen_by_a_system(haystack)
    for marker in ("answer_", "has_answer", "chat_2", "multi-session", "secret", "_abs"):
        assert marker not in seen


@pytest.mark.parametrize(
    ("identifier", "answerable"), [("q7_abs", False), ("q_absent_2", True), ("q_abs_2", True), ("q7", True)]
)
def test_f18_only_the_suffix_makes_an_abstention(tmp_path: Path, identifier: str, answerable: bool) -> None:
    (haystack,) = read(tmp_path, chat(question_id=identifier))
    assert haystack.samples[0].gold.answerable is answerable
    assert haystack.samples[0].category == "multi-session"


@pytest.mark.parametrize(("answer", "text"), [(2022, "2022"), (2.5, "2.5"), (3, "3")])
def test_f03_a_number_is_text(tmp_path: Path, answer: Any, text: str) -> None:
    assert read(tmp_path, chat(answer=answer))[0].samples[0].gold.answers == (text,)


def test_f12_a_repeated_session_is_stored_twice(tmp_path: Path) -> None:
    item = chat(
        haystack_session_ids=["f1", "f2", "f2"],
        haystack_dates=["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 02:21", "2023/05/22 (Mon) 02:21"],
        haystack_sessions=[[TURN_2], [TURN_2], [{"role": "user", "content": "same"}]],
        answer_session_ids=["f2"],
    )
    (haystack,) = read(tmp_path, item, unit="session")
    assert haystack.refs == {"d00001": Ref("f1", None), "d00002": Ref("f2", None), "d00003": Ref("f2", None)}
    assert haystack.samples[0].gold.qrels == {"d00002": 1, "d00003": 1}
    assert haystack.samples[0].gold.refs == (Ref("f2", None),)
    assert haystack.notes == {"repeated_sessions": 1}
    item["haystack_sessions"][2] = [{"role": "user", "content": "other"}]
    with pytest.raises(DataError, match=r"item 0 \(q7\): session id 'f2' stands for two different texts"):
        read(tmp_path, item)


def test_f15_gold_after_the_question_is_counted_and_kept(tmp_path: Path) -> None:
    item = chat(question_date="2023/05/20 (Sat) 02:00")
    (haystack,) = read(tmp_path, item)
    assert haystack.notes == {"gold_after_question": 1}
    assert haystack.samples[0].gold.qrels == {"d00002": 1}


def test_f16_what_is_no_date_is_none_and_counted(tmp_path: Path) -> None:
    item = chat(
        haystack_session_ids=["a", "b", "c", "d"],
        haystack_dates=["2023/05/22 (Sun) 02:21", "tbd", "2023/05/20 (土) 02:21", None],
        haystack_sessions=[[{"role": "user", "content": name}] for name in "abcd"],
        question_date="",
        answer_session_ids=["b"],
    )
    first, second = read(tmp_path, item), read(tmp_path, item)
    assert first == second
    assert first[0].notes == {"undated": 3, "weekday_mismatch": 1}
    # An undated session stays behind its neighbour in the file.
    assert [(d.text[-1], d.created and d.created.day) for d in first[0].documents] == [
        ("c", 20),
        ("d", None),
        ("a", 22),
        ("b", None),
    ]
    assert first[0].samples[0].question.asked is None


def test_blank_turns_and_empty_sessions_are_left_out_and_counted(tmp_path: Path) -> None:
    sessions = [
        [{"role": "user", "content": " \n"}, {"role": "user", "content": "x", "has_answer": True}],
        [],
    ]
    (haystack,) = read(tmp_path, chat(haystack_sessions=sessions))
    assert haystack.refs == {"d00001": Ref("answer_1f_1", "1")}  # the index is that of the file
    assert haystack.notes == {"blank_turns": 1, "empty_sessions": 1}


def test_roles_choose_the_turns_and_gold_that_is_not_stored_is_unresolved(tmp_path: Path) -> None:
    sessions = chat()["haystack_sessions"]
    sessions[0][1]["has_answer"] = True
    (haystack,) = read(tmp_path, chat(haystack_sessions=sessions), roles=["user"])
    assert [d.speaker for d in haystack.documents] == ["user", "user"]
    assert haystack.samples[0].gold.unresolved == ("answer_1f_1#1",)
    assert haystack.samples[0].gold.qrels == {"d00002": 1}
    assert haystack.notes == {"turns_left_out": 1, "evidence_unresolved": 1}


def test_a_gold_session_that_is_not_there_is_unresolved_and_a_flag_elsewhere_no_gold(tmp_path: Path) -> None:
    (haystack,) = read(tmp_path, chat(answer_session_ids=["chat_2", "answer_9"]))
    gold = haystack.samples[0].gold
    assert (gold.refs, gold.unresolved, gold.qrels) == ((Ref("chat_2", None),), ("answer_9",), {})
    assert haystack.notes == {"evidence_unresolved": 1, "flags_outside_gold": 1}


def test_categories_choose_the_questions(tmp_path: Path) -> None:
    items = [chat(question_id="a"), chat(question_id="b", question_type="knowledge-update")]
    haystacks = read(tmp_path, *items, categories=["knowledge-update"])
    assert [[s.source_id for s in h.samples] for h in haystacks] == [[], ["b"]]
    assert notes(haystacks) == {"questions_left_out": 1}


def test_gzip_and_a_single_object_read_the_same(tmp_path: Path) -> None:
    (plain,) = read(tmp_path, chat())
    raw = json.dumps(chat()).encode()
    for name, content in {"one.json": raw, "b.json.gz": gzip.compress(b"[" + raw + b"]")}.items():
        (tmp_path / name).write_bytes(content)
        dataset = built("longmemeval", tmp_path, path=name)
        assert dataset.problems() == []
        assert loaded(dataset) == [plain]


def test_a_place_is_small_and_a_worker_reads_its_own(tmp_path: Path) -> None:
    dataset = built("longmemeval", tmp_path, path=written(tmp_path, [chat(), chat(question_id="q8")]).name)
    assert isinstance(dataset, Dataset)
    places = list(dataset.items())
    assert pickle.loads(pickle.dumps(places)) == places
    assert pickle.loads(pickle.dumps(dataset)).load(places[1]).samples[0].source_id == "q8"


def test_building_needs_no_file_and_the_preflight_names_it(tmp_path: Path) -> None:
    (line,) = built("longmemeval", tmp_path).problems()
    assert "longmemeval_s_cleaned.json: no such file" in line


def test_the_reader_changes_nothing_of_what_it_was_given(tmp_path: Path) -> None:
    path = written(tmp_path, [chat()])
    before = copy.copy(path.read_bytes())
    loaded(built("longmemeval", tmp_path, path=path.name))
    assert path.read_bytes() == before
    assert [f.name for f in tmp_path.iterdir()] == ["a.json"]
