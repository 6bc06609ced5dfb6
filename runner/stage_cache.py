"""Rankings of lanes, kept between runs and between the points of a sweep: what did not change is not done twice.

    <folder>/<lane key>/<haystack key>.msgpack    {question key: [[place in the documents, score, parts], ...]}

The lane key hashes its resolved node, the store's and embedder's nodes and weights, the source of all components
and the versions of the packages behind them: edited code never serves old numbers. The haystack key hashes the
documents. Files are written whole and renamed: parallel jobs may share a folder; the last one's additions win.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import msgspec

from components.types import Document, Hit, Index, Lane, Query
from runner.fingerprint import model_files
from runner.resume import core

Row = tuple[int, float, dict[str, float]]
PACKAGES = ("lancedb", "numpy", "tokenizers", "safetensors", "scipy", "llama-cpp-python", "tantivy", "openai")
_DECODER = msgspec.msgpack.Decoder(dict[str, list[Row]])


class Remembered:
    """A lane that looks its ranking up before it searches. Lanes that spread from seeds are not kept."""

    def __init__(self, lane: Lane, folder: Path, name: Callable[[Sequence[Document]], str]) -> None:
        self._lane, self._folder, self._name = lane, folder, name
        self._documents: Sequence[Document] | None = None
        self._path = folder
        self._rows: dict[str, list[Row]] = {}
        self._places: dict[str, int] = {}
        self._changed = False
        self.served = 0

    def search(self, query: Query, index: Index, seeds: Sequence[Hit], k: int) -> list[Hit]:
        if seeds:
            return self._lane.search(query, index, seeds, k)
        self._turn_to(index.documents)
        key = _digest([query.texts, query.now, query.window, query.intent, k])
        if (rows := self._rows.get(key)) is not None:
            self.served += 1
            return [Hit(index.documents[place], score, parts) for place, score, parts in rows]
        hits = self._lane.search(query, index, seeds, k)
        self._rows[key] = [(self._places[h.document.id], h.score, dict(h.parts)) for h in hits]
        self._changed = True
        return hits

    def knows(self, documents: Sequence[Document]) -> bool:
        """Whether anything is kept of this haystack."""
        self._turn_to(documents)
        return bool(self._rows)

    def flush(self) -> None:
        """Writes what is new of the haystack at hand."""
        if self._changed:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            part = self._path.with_suffix(f".{os.getpid()}.part")
            part.write_bytes(msgspec.msgpack.encode({**_read(self._path), **self._rows}))
            part.replace(self._path)
        self._changed = False

    def _turn_to(self, documents: Sequence[Document]) -> None:
        if documents is self._documents:
            return
        self.flush()
        self._documents = documents
        self._path = self._folder / f"{self._name(documents)}.msgpack"
        self._rows = _read(self._path)
        self._places = {document.id: place for place, document in enumerate(documents)}


class StageCache:
    """The remembered lanes of one worker; `folder` None keeps nothing."""

    def __init__(self, folder: str | None, raw: Mapping[str, Any]) -> None:
        self._folder = Path(folder) if folder else None
        self._raw = raw
        self._lanes: list[Remembered] = []
        self._named: tuple[Sequence[Document], str] = ((), _digest(()))

    def lane(self, name: str, lane: Lane) -> Lane:
        """The lane, remembered under its resolved node."""
        if self._folder is None:
            return lane
        nodes = core(
            {"lane": self._raw["lane"][name], **{n: self._raw.get(n) for n in ("store", "embedder")}}
        )
        node = [nodes, model_files(self._raw), _code()]
        kept = Remembered(lane, self._folder / "lanes" / f"{name}-{_digest(node)}", self._name)
        self._lanes.append(kept)
        return kept

    def _name(self, documents: Sequence[Document]) -> str:
        """The haystack key, hashed once for all lanes."""
        if documents is not self._named[0]:
            self._named = documents, _digest(documents)
        return self._named[1]

    def knows(self, documents: Sequence[Document]) -> bool:
        """Whether every lane has something of this haystack: then its index may not be needed at all."""
        return bool(self._lanes) and all(lane.knows(documents) for lane in self._lanes)

    @property
    def served(self) -> int:
        """Rankings that were looked up so far."""
        return sum(lane.served for lane in self._lanes)

    def flush(self) -> None:
        for lane in self._lanes:
            lane.flush()


def _read(path: Path) -> dict[str, list[Row]]:
    """What is kept; a damaged file counts as nothing kept."""
    try:
        return _DECODER.decode(path.read_bytes())
    except (FileNotFoundError, msgspec.DecodeError):
        return {}


def _digest(value: Any) -> str:
    return hashlib.blake2b(msgspec.msgpack.encode(value, order="deterministic"), digest_size=12).hexdigest()


@cache
def _code() -> list[str]:
    """Source of every component, versions of what they call."""
    digest = hashlib.blake2b(digest_size=12)
    root = Path(str(resources.files("components")))
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    versions = [f"{name} {_version(name)}" for name in PACKAGES]
    return [digest.hexdigest(), *versions, f"sqlite {sqlite3.sqlite_version}"]


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"
