"""What a dataset is: the hash of its bytes, and the hash of its content, which another layout leaves alone.

content hash = sha256 over the sha256 of each item's canonical JSON (keys sorted, no blanks, UTF-8), in file
order. A re-indented or gzipped copy has the same one; one changed turn gives another.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from components.files.scan import spans
from components.files.source import chunks, fault

_BLOCK = 1 << 20


class Identity(NamedTuple):
    path_name: str  # file names only, no folder of the machine
    sha256: str
    content_sha256: str
    known_as: str | None  # official name, where one of the hashes is a known one


def identify(files: Sequence[Path], known: Mapping[str, str]) -> Identity:
    """Who the files are. `known`: sha256 (of bytes or of content) -> official name."""
    raw, content = sha256(files), content_sha256(files)
    name = known.get(raw)
    if name is None and content in known:
        name = f"{known[content]}, same content in other bytes"
    return Identity(" + ".join(f.name for f in files), raw, content, name)


def sha256(files: Iterable[Path]) -> str:
    """Of the bytes as they lie on disk, file after file."""
    digest = hashlib.sha256()
    for path in files:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    return digest.hexdigest()


def content_sha256(files: Iterable[Path]) -> str:
    """Streams: one item in memory at a time. DataError names an item that is no JSON."""
    digest = hashlib.sha256()
    for path in files:
        for number, (start, raw) in enumerate(_items(path)):
            digest.update(hashlib.sha256(_canonical(path, number, start, raw)).digest())
    return digest.hexdigest()


def _items(path: Path) -> Iterator[tuple[int, bytes]]:
    """(first byte, text) of each item, cut from the stream as it passes: a gzip file is unpacked once."""
    window, first = bytearray(), 0

    def passing() -> Iterator[bytes]:
        for chunk in chunks(path):
            window.extend(chunk)
            yield chunk

    for start, stop in spans(passing(), path):
        yield start, bytes(window[start - first : stop - first])
        del window[: stop - first]
        first = stop


def _canonical(path: Path, number: int, start: int, raw: bytes) -> bytes:
    try:
        return msgspec.json.encode(msgspec.json.decode(raw), order="sorted")
    except (msgspec.DecodeError, RecursionError) as error:
        where = f"byte {start:,}, item {number}"
        raise fault(path, where, f"no valid JSON ({error})", "fetch the file again") from error
