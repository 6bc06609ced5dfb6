"""The head of a GGUF file, read without llama.cpp: what the model is and whether the file is whole.

GGUF, version 2 or 3, little endian: magic, version, counts, {key: typed value}, {tensor: shape, type, offset}.

Source: the specification of the format, ggml/docs/gguf.md.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.files.source import fault
from components.types import DataError

MAGIC = b"GGUF"
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
# Bytes of a block of numbers by tensor type; a type that is not here counts nothing in the file's size.
_BLOCKS = {0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34)}
_BLOCKS |= {10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210), 30: (1, 2)}
_REMEDY = "get the file again, or make it with scripts/make_gguf.py"


@dataclass(frozen=True, slots=True)
class Header:
    """`values`: single values by key, and the number of entries of an array. `tensors`: name -> shape."""

    values: Mapping[str, Any]
    tensors: Mapping[str, tuple[int, ...]]

    @property
    def architecture(self) -> str:
        return str(self.values.get("general.architecture", ""))

    def of_model(self, key: str) -> Any:
        """A value that stands under the architecture's name ("bert.context_length")."""
        return self.values.get(f"{self.architecture}.{key}")

    @property
    def positions(self) -> int | None:
        """Tokens of one text at most. A table of positions counts more than what the metadata claim:
        llama.cpp ends the process when it reads behind the table."""
        claimed = self.of_model("context_length")
        table = self.tensors.get("position_embd.weight", ())[1:2]
        known = [n for n in (claimed, *table) if isinstance(n, int) and n > 0]
        return min(known, default=None)

    @property
    def ranks(self) -> bool:
        """It has a head that gives one number for a pair of texts."""
        return "cls.output.weight" in self.tensors or "cls.weight" in self.tensors


def read_header(path: Path) -> Header:
    """Raises DataError: no GGUF, another version, or cut off."""
    with path.open("rb") as file:
        if file.read(4) != MAGIC:
            raise fault(path, "byte 0", "not a GGUF file (it does not begin with GGUF)", _REMEDY)
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            try:
                return _parse(path, _Reader(data))
            except (struct.error, KeyError, UnicodeDecodeError, OverflowError, MemoryError) as error:
                raise fault(path, "its head", f"not readable as GGUF ({error})", _REMEDY) from error


class _Reader:
    def __init__(self, data: mmap.mmap) -> None:
        self.data, self.at = data, 4

    def one(self, form: str) -> Any:
        (value,) = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return value

    def text(self) -> str:
        length = self.one("Q")
        if length > len(self.data) - self.at:
            raise struct.error("a text reaches behind the end")
        self.at += length
        return self.data[self.at - length : self.at].decode("utf-8")

    def value(self, kind: int) -> Any:
        if kind == _STRING:
            return self.text()
        if kind != _ARRAY:
            return self.one(_SCALARS[kind])
        inner, count = self.one("I"), self.one("Q")
        if inner in _SCALARS:
            self.at += count * struct.calcsize(_SCALARS[inner])
        else:
            for _ in range(count):
                self.value(inner)
        return count


def _parse(path: Path, reader: _Reader) -> Header:
    version = reader.one("I")
    if version not in (2, 3):
        raise fault(path, "byte 4", f"GGUF of version {version}, not 2 or 3", _REMEDY)
    tensors, keys = reader.one("Q"), reader.one("Q")
    values = {reader.text(): reader.value(reader.one("I")) for _ in range(keys)}
    shapes: dict[str, tuple[int, ...]] = {}
    end = 0
    for _ in range(tensors):
        name = reader.text()
        shape = tuple(reader.one("Q") for _ in range(reader.one("I")))
        kind, offset = reader.one("I"), reader.one("Q")
        shapes[name] = shape
        end = max(end, offset + _size(shape, kind))
    align = values.get("general.alignment", 32)
    start = -(-reader.at // align) * align
    if tensors and start + end > len(reader.data):
        raise fault(path, "its end", f"cut off: {len(reader.data)} of {start + end} bytes", _REMEDY)
    return Header(values, shapes)


def _size(shape: tuple[int, ...], kind: int) -> int:
    numbers = 1
    for side in shape:
        numbers *= side
    block, size = _BLOCKS.get(kind, (1, 0))
    return numbers // block * size


def checked_header(path: Path) -> Header | str:
    """The header, or what is wrong as one message."""
    try:
        return read_header(path)
    except DataError as error:
        return str(error)
    except OSError as error:
        return f"{path}: cannot be read ({error.strerror})"
