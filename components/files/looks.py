"""What is wrong with a data file, seen from its head and tail: one line, before anything is spent."""

from __future__ import annotations

import difflib
import gzip
import zlib
from collections.abc import Mapping
from pathlib import Path

from components.files.source import GZIP_MAGIC, confine
from components.types import DataError

_HEAD, _TAIL = 4096, 4096
_GZIP_LIMIT = 32 << 20  # compressed bytes up to which a gzip file is unpacked whole, to see whether it ends
_AGAIN = "fetch the file again"
_MAGIC = {
    b"PK\x03\x04": ("a zip archive", "unpack it"),
    b"PAR1": ("a Parquet file", "take the JSON file of the data set"),
    b"\x28\xb5\x2f\xfd": ("a zstd file", "unpack it, or pack it with gzip"),
    b"BZh": ("a bzip2 file", "unpack it, or pack it with gzip"),
    b"\xff\xfe": ("UTF-16 text", "save it as UTF-8"),
    b"\xfe\xff": ("UTF-16 text", "save it as UTF-8"),
    b"version https://git-lfs": (
        "a git-LFS pointer, not the data",
        "run `git lfs pull`, or fetch the file itself",
    ),
}


def problems(data_dir: str, path: str, official: str, known: Mapping[str, str]) -> list[str]:
    """At most one line: path, size, what the file looks like, what to do. Empty when it looks right."""
    try:
        found = confine(data_dir, path)
    except DataError as error:
        return [str(error)]
    try:
        if not found.exists():
            return [f"{found}: no such file; {_advice(found, official, known)}"]
        if not found.is_file():
            return [f"{found}: a folder or device, not a file; set dataset.path to the file {official}"]
        size = found.stat().st_size
        looks = _looks(found, size)
    except OSError as error:
        return [f"{found}: cannot be read ({error.strerror}); give this user the right to read it"]
    return [f"{found}, {size:,} bytes: looks like {looks[0]}; {looks[1]}"] if looks else []


def _advice(found: Path, official: str, known: Mapping[str, str]) -> str:
    # The first hash of a name is that of its bytes, a later one that of its content.
    digest = next((digest for digest, name in known.items() if name.split()[0] in official), None)
    folder = found.parent
    there = (
        sorted(f.name for f in folder.iterdir() if f.suffixes == found.suffixes) if folder.is_dir() else []
    )
    near = difflib.get_close_matches(found.name, there, 1, 0.8)
    hint = f" (there is {near[0]!r}: set dataset.path?)" if near else ""
    hashed = f", sha256 {digest}," if digest else ""
    return (
        f"put {official}{hashed} there, or set data_dir (CROSSJUDGE_DATA) or dataset.path{hint}; "
        "nothing is ever downloaded"
    )


def _looks(path: Path, size: int) -> tuple[str, str] | None:
    """(what it looks like, what to do), None for a JSON array or object."""
    with path.open("rb") as file:
        head = file.read(_HEAD)
        file.seek(max(0, size - _TAIL))
        tail = file.read(_TAIL)
    if not head:
        return "an empty file", _AGAIN
    if head.startswith(GZIP_MAGIC):
        return _gzip_looks(path, size)
    return _head_looks(head) or _tail_looks(tail)


def _head_looks(head: bytes) -> tuple[str, str] | None:
    for magic, looks in _MAGIC.items():
        if head.startswith(magic):
            return looks
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text[:1] == b"<":
        return "an HTML page (an error or log-in page saved under this name)", _AGAIN
    if text and text[:1] not in (b"[", b"{"):
        return f"no JSON array or object (begins with {text[:20]!r})", _AGAIN
    return None


def _tail_looks(tail: bytes) -> tuple[str, str] | None:
    last = tail.rstrip()[-1:]
    if last in (b"]", b"}"):
        return None
    return (
        "blanks only" if not last else f"a cut file (ends with {tail.rstrip()[-20:]!r}, not ] or }})"
    ), _AGAIN


def _gzip_looks(path: Path, size: int) -> tuple[str, str] | None:
    """Unpacked whole while small; of a large one only the head: a cut shows when its items are looked for."""
    tail = b""
    try:
        with gzip.open(path, "rb") as file:
            head = file.read(_HEAD)
            looks = _head_looks(head) if head else ("an empty gzip file", _AGAIN)
            if looks or size > _GZIP_LIMIT:
                return looks
            tail = head
            while chunk := file.read(1 << 20):
                tail = (tail + chunk)[-_TAIL:]
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        return f"a cut or damaged gzip file ({error})", _AGAIN
    return _tail_looks(tail)
