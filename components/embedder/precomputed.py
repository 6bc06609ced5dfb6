"""Vectors that somebody made before, read from a file under data_dir.

{"text": "Ana sold the kayak.", "vector": [0.1, ...]}      JSONL: by the text, or by "sha256" of its UTF-8
{"Ana sold the kayak.": [0.1, ...]}                        or one JSON object
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from components.files.identity import sha256
from components.files.source import chunks, confine, fault
from components.text.vectors import checked, start
from components.types import ComponentError, DataError, Role, Vectors

_SHA = re.compile(r"[0-9a-f]{64}")
_REMEDY = "make the file of vectors again"


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    vector: list[float]
    text: str | None = None
    sha256: str | None = None

    def __post_init__(self) -> None:
        if (self.text is None) == (self.sha256 is None):
            raise ValueError('needs either "text" or "sha256"')


@dataclass(frozen=True)
class Precomputed:
    """`dim`: what every vector must have; None = that of the first. The roles are alike."""

    path: str
    data_dir: str
    dim: int | None

    def problems(self) -> list[str]:
        try:
            file = confine(self.data_dir, self.path)
        except DataError as error:
            return [f"path: {error}"]
        if not file.is_file():
            return [f"path: there is no file {file}; put it there, or choose another embedder"]
        try:
            return [] if self._vectors else [f"path: {file} holds no vector; {_REMEDY}"]
        except DataError as error:
            return [f"path: {error}"]

    def model_files(self) -> dict[str, str]:
        """{name: sha256} of the file: other vectors are another embedder."""
        file = confine(self.data_dir, self.path)
        return {file.name: sha256((file,))}

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        rows = []
        for text in texts:
            row = self._vectors.get(_key(text))
            if row is None:
                raise ComponentError("embed", "no vector for text", start(text))
            rows.append(row)
        return checked(rows, texts, self.dim)

    @cached_property
    def _vectors(self) -> dict[str, NDArray[np.float32]]:
        """DataError names the line, or the key, of a vector that is of no use."""
        file = confine(self.data_dir, self.path)
        out: dict[str, NDArray[np.float32]] = {}
        dim = self.dim
        for where, key, values in _read(file):
            with np.errstate(over="ignore"):  # becomes inf, which is refused below
                vector = np.array(values, np.float32)
            dim = dim or len(vector)
            if len(vector) != dim:
                raise fault(file, where, f"a vector of {len(vector)} numbers among such of {dim}", _REMEDY)
            if not np.isfinite(vector).all() or not vector.any():
                raise fault(file, where, "a vector that is zero or not finite", _REMEDY)
            if key in out and not np.array_equal(out[key], vector):
                raise fault(file, where, "a second, different vector for the same text", _REMEDY)
            out[key] = vector
        return out


def _read(file: Path) -> Iterator[tuple[str, str, list[float]]]:
    """(where, key, vector). A file whose first line is a whole object with "vector" is JSONL."""
    text = b"".join(chunks(file))
    lines = [line for line in text.split(b"\n") if line.strip()]
    try:
        whole = msgspec.json.decode(text, type=dict[str, list[float]])
    except (msgspec.DecodeError, UnicodeDecodeError):
        whole = None
    if whole is not None and not (len(lines) == 1 and set(whole) <= {"vector", "text", "sha256"}):
        for name, values in whole.items():
            yield f"key {start(name)}", name if _SHA.fullmatch(name) else _key(name), values
        return
    for number, line in enumerate(text.split(b"\n"), start=1):
        if line.strip():
            yield _row(file, number, line)


def _row(file: Path, number: int, line: bytes) -> tuple[str, str, list[float]]:
    try:
        row = msgspec.json.decode(line, type=Row)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise fault(file, f"line {number}", f"no vector in it ({error})", _REMEDY) from error
    return f"line {number}", row.sha256 or _key(row.text or ""), row.vector


def _key(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
