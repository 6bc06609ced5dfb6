"""Damaged items and bad values of a config: each refused with its place or its key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from components.types import DataError
from tests.component.dataset.shapes import built, chat, loaded, qa, talk, written


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"answer": True}, "the answer is a bool"),
        ({"answer": ["a", "b"]}, "the answer is a list"),
        ({"answer": None}, "the answer is a null"),
        ({"answer": " "}, "the answer is blank"),
        ({"question": " "}, "a blank question"),
        ({"question_type": "single-hop"}, "question_type 'single-hop' is none of"),
        ({"haystack_dates": []}, "2 session ids, 0 dates, 2 sessions"),
        ({"haystack_sessions": [[{"role": "user"}], []]}, r"expected shape: .*content"),
        ({"haystack_sessions": "none"}, r"expected shape: .*haystack_sessions"),
    ],
)
def test_a_bad_item_is_named_with_its_place(tmp_path: Path, changes: dict[str, Any], says: str) -> None:
    items = [chat(question_id="q0"), chat(**changes)]
    dataset = built("longmemeval", tmp_path, path=written(tmp_path, items).name)
    with pytest.raises(DataError, match=rf"a\.json, byte [\d,]+, item 1 \(q7\): .*{says}"):
        loaded(dataset)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"unit": "word"}, "unit"),
        ({"text": "{has_answer}"}, "text"),
        ({"categories": []}, "categories"),
        ({"categories": ["multi-sesion"]}, "did you mean 'multi-session'"),
        ({"empty_gold": "one"}, "empty_gold"),
        ({"roles": []}, "roles"),
        ({"overlay": "x.json"}, "overlay"),
    ],
)
def test_a_bad_value_of_longmemeval_is_refused(tmp_path: Path, changes: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        built("longmemeval", tmp_path, **changes)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"session_3": "none"}, r"conversation\.session_3 is not of the expected shape"),
        ({"session_3": [{"speaker": "Ben", "text": "x"}]}, r"conversation\.session_3 .*dia_id"),
        ({"session_3": [{"speaker": "Ben", "dia_id": "D1:1", "text": "x"}]}, "two turns are called 'D1:1'"),
        ({"session_03": []}, "session_03 and session_3 are the same session"),
        ({"session_3_date_time": 5}, r"conversation\.session_3_date_time is not"),
    ],
)
def test_a_bad_session_is_named(tmp_path: Path, changes: dict[str, Any], says: str) -> None:
    with pytest.raises(DataError, match=rf"a\.json, byte 1, item 0 \(t1\): {says}"):
        loaded(built("locomo", tmp_path, path=written(tmp_path, [talk([qa()], **changes)]).name))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"evidence": "exact"}, "evidence: 'exact' is not possible"),
        ({"categories": ["multi-session"]}, "categories"),
        ({"caption_text": "{picture}"}, "caption_text"),
        ({"unit": "word"}, "unit"),
        ({"empty_gold": None}, "empty_gold"),
        ({"overlay": "x"}, "overlay"),
    ],
)
def test_a_bad_value_of_locomo_is_refused(tmp_path: Path, changes: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        built("locomo", tmp_path, **changes)
