"""One item of a data file: its place, its decoding, and the place of whatever is wrong in it."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from components.files import looks
from components.files.scan import spans
from components.files.source import chunks, confine, fault, span
from components.types import DataError, Place

T = TypeVar("T")
_SOURCE_ID = re.compile(rb'"(?:question_id|sample_id)"\s*:\s*("(?:[^"\\]|\\.)*"|[0-9]+)')


class Item(NamedTuple):
    """Where we are in the data: made for the messages about it."""

    path: Path
    place: Place
    source_id: str | None

    def fault(self, what: str, remedy: str = "correct the file or fetch it again") -> DataError:
        named = f" ({self.source_id})" if self.source_id else ""
        return fault(self.path, f"byte {self.place.start:,}, item {self.place.position}{named}", what, remedy)


def places(data_dir: str, path: str, official: str, known: Mapping[str, str]) -> Iterator[Place]:
    """The haystacks of a file, in file order. DataError when it is not there or not an array of objects."""
    for problem in looks.problems(data_dir, path, official, known):
        raise DataError(problem)
    file = confine(data_dir, path)
    position = -1
    for position, (start, stop) in enumerate(spans(chunks(file), file)):
        yield Place(f"h{position:04d}", str(file), start, stop, position)
    if position < 0:
        raise fault(file, "byte 0", "an array without items", "put the real file there")


def decode(data_dir: str, place: Place, shape: type[T]) -> tuple[T, Item]:
    """One item as `shape` (fields that it lacks are ignored). DataError names item, byte and field."""
    path = confine(data_dir, place.path)
    raw = span(path, place.start, place.stop)
    item = Item(path, place, _source_id(raw))
    try:
        return msgspec.json.decode(raw, type=shape), item
    except msgspec.ValidationError as error:
        raise item.fault(
            f"not of the expected shape: {error}", "is this the right dataset for the file?"
        ) from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise item.fault(f"no valid JSON: {_reason(raw, error)}") from error


def answer_text(value: Any) -> str:
    """A gold answer as text: "2022" for 2022 and for 2022.0. ValueError for what is no text and no number."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        kind = "null" if value is None else type(value).__name__
        raise ValueError(f"the answer is a {kind}, neither text nor number")
    if isinstance(value, str) and not value.strip():
        raise ValueError("the answer is blank")
    return str(value)


def check_choice(key: str, value: object, choices: Collection[str]) -> None:
    """ValueError with the nearest right name, for the values of a config."""
    if value not in choices:
        near = difflib.get_close_matches(str(value), choices, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"one of: {', '.join(choices)}"
        raise ValueError(f"{key}: {value!r} is not possible; {hint}")


def check_choices(key: str, values: Collection[str], choices: Collection[str]) -> None:
    """ValueError when `values` is empty or holds what is not among `choices`."""
    if not values:
        raise ValueError(f"{key}: none chosen; at least one of: {', '.join(choices)}")
    for value in values:
        check_choice(key, value, choices)


def _source_id(raw: bytes) -> str | None:
    match = _SOURCE_ID.search(raw)
    return match[1].decode("utf-8", "replace").strip('"') if match else None


def _reason(raw: bytes, error: Exception) -> str:
    """msgspec calls half of a surrogate pair "truncated": say what it is."""
    try:
        json.loads(raw)
    except (ValueError, RecursionError):
        return str(error)
    return f"{error}; perhaps half a character, as in \\ud83d without its second part"
