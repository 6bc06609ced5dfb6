"""The span scanner against json.loads: any JSON, any cut of the stream into parts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.files.scan import spans
from components.types import DataError

PATH = Path("some.json")
TEXT = st.text(alphabet=st.sampled_from('ab"\\[]{},: \n\u2028é日😀')) | st.text(
    alphabet=st.characters(exclude_categories=["Cs"])
)
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
ITEM = st.dictionaries(TEXT, VALUE, max_size=4)


def cut(raw: bytes, sizes: list[int]) -> list[bytes]:
    parts: list[bytes] = []
    for size in sizes:
        parts.append(raw[:size])
        raw = raw[size:]
    return [*parts, raw]


def found(raw: bytes, sizes: list[int] | None = None) -> list[Any]:
    return [json.loads(raw[start:stop]) for start, stop in spans(cut(raw, sizes or []), PATH)]


SIZES = st.lists(st.integers(0, 7), max_size=60)


@given(st.lists(ITEM, max_size=4), SIZES, st.sampled_from([None, 1]), st.booleans(), st.booleans())
def test_items_of_any_array_are_those_of_json_loads(
    items: list[Any], sizes: list[int], indent: int | None, ascii_: bool, bom: bool
) -> None:
    raw = json.dumps(items, indent=indent, ensure_ascii=ascii_).encode()
    assert found((b"\xef\xbb\xbf" if bom else b"") + b" \n" + raw + b"\n", sizes) == items


@given(ITEM, SIZES)
def test_a_single_object_is_one_item(item: dict[str, Any], sizes: list[int]) -> None:
    assert found(json.dumps(item).encode() + b"\n", sizes) == [item]


@given(st.lists(ITEM, min_size=1, max_size=3), st.data())
def test_a_cut_file_never_passes(items: list[Any], data: st.DataObject) -> None:
    raw = json.dumps(items).encode()
    at = data.draw(st.integers(0, len(raw) - 1))
    with pytest.raises(DataError):
        list(spans([raw[:at]], PATH))


@given(st.binary(max_size=40), SIZES)
def test_rubbish_gives_spans_or_a_data_error(raw: bytes, sizes: list[int]) -> None:
    try:
        out = list(spans(cut(raw, sizes), PATH))
    except DataError:
        return
    assert all(0 <= start < stop <= len(raw) for start, stop in out)


@pytest.mark.parametrize("run", range(7))
def test_a_quote_after_a_run_of_backslashes(run: int) -> None:
    item = {"a": "x" + "\\" * run + '"]}', "b": [1]}
    raw = json.dumps([item]).encode()
    for at in range(len(raw)):
        assert found(raw, [at]) == [item]


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"", "nothing but blanks"),
        (b" \n\t ", "nothing but blanks"),
        (b"\xef\xbb\xbf", "nothing but blanks"),
        (b'"text"', "no JSON array or object"),
        (b"null", "no JSON array or object"),
        (b'[{"a":1},', "never closed"),
        (b'[{"a":1}, {"b":', "byte 10, item 1: this item is never closed"),
        (b'[{"a":1} {"b":2}]', "byte 9, item 1: expected ',', found ''"),
        (b'[{"a":1}, null, {"b":2}]', "item 1: expected ',', found ',null,'"),
        (b'[{"a":1}, "text"]', "item 1: before the end of the array"),
        (b'[{"a":1},]', "byte 9, item 1: before the end of the array: ','"),
        (b'[{"a":1}],', "text after the end of the array"),
        (b'[{"a":1}] [{"b":2}]', "after the end"),
        (b'{"a":1}\n{"b":2}\n', "JSON Lines"),
        (b'{"a":1}}', "a bracket after the end"),
        (b'[{"a":"]}', "never closed"),
    ],
)
def test_a_broken_frame_is_named_with_its_place(raw: bytes, says: str) -> None:
    with pytest.raises(DataError) as error:
        list(spans([raw], PATH))
    assert says in str(error.value)
    assert str(error.value).startswith("some.json, byte ")


def test_a_long_stretch_without_items_is_not_kept_in_memory() -> None:
    def endless() -> Any:
        yield b"["
        for count in range(1000):
            assert count < 10, "went on reading"
            yield b"1," * 30_000

    with pytest.raises(DataError, match="no item where one should be"):
        list(spans(endless(), PATH))
