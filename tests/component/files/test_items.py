"""F03 and the messages about a damaged item."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.files.items import answer_text, check_choice, decode, places
from components.types import DataError


class Row(msgspec.Struct):
    question_id: str
    n: int = 0


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2022, "2022"),
        (3, "3"),
        (2.5, "2.5"),
        (2022.0, "2022"),
        (0, "0"),
        (-1.0, "-1"),
        (1e20, "1e+20"),
        (" a ", " a "),
    ],
)
def test_a_gold_answer_is_text(value: Any, text: str) -> None:
    assert answer_text(value) == text


@pytest.mark.parametrize("value", [True, False, None, ["a", "b"], {"a": 1}, "", " \n"])
def test_what_is_no_answer_is_named(value: Any) -> None:
    with pytest.raises(ValueError, match="the answer is"):
        answer_text(value)


@given(st.integers())
def test_whole_numbers_keep_their_digits(value: int) -> None:
    assert answer_text(value) == str(value)


@pytest.mark.parametrize(
    ("damaged", "says"),
    [
        ('{"question_id": "q1", "n": "x"}', r"item 1 \(q1\): not of the expected shape: .*\$\.n"),
        ('{"n": 1}', r"item 1: not of the expected shape: .*question_id"),
        ('{"question_id": "q1", "n": tru}', r"item 1 \(q1\): no valid JSON"),
        ('{"question_id": "q1", "x": "\\ud83d"}', r"item 1 \(q1\): no valid JSON: .*half a character"),
        ('{"question_id": "q1", "x": ' + "[" * 9000 + "]" * 9000 + "}", r"item 1 \(q1\): no valid JSON"),
        ("[1, 2]", "item 1: not of the expected shape"),
    ],
)
def test_one_damaged_item_is_named_and_the_others_are_read(tmp_path: Path, damaged: str, says: str) -> None:
    good = json.dumps({"question_id": "q0", "unknown": [1]})
    (tmp_path / "a.json").write_text(f"[{good},\n{damaged},\n{good}]")
    first, second, third = places(str(tmp_path), "a.json", "a.json", {})
    assert [p.haystack for p in (first, second, third)] == ["h0000", "h0001", "h0002"]
    assert decode(str(tmp_path), first, Row)[0] == decode(str(tmp_path), third, Row)[0] == Row("q0")
    with pytest.raises(DataError, match=rf"a\.json, byte {second.start:,}, {says}") as error:
        decode(str(tmp_path), second, Row)
    assert "; " in str(error.value)


def test_a_place_outside_data_dir_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "a.json").write_text('[{"question_id": "q"}]')
    (place,) = places(str(tmp_path), "a.json", "a.json", {})
    with pytest.raises(DataError, match="leads out of"):
        decode(str(tmp_path / "data"), place, Row)


def test_a_wrong_choice_gets_the_nearest_right_one() -> None:
    with pytest.raises(ValueError, match="unit: 'trun' is not possible; did you mean 'turn'"):
        check_choice("unit", "trun", ("session", "turn"))
