"""Reading the operator's files: read-only, under one folder, plain or gzip, never as a whole.

A file is gzip when it begins with gzip's two bytes, whatever its name. Byte positions are those of the
decompressed text, so that a file and its .gz have the same ones.
"""

from __future__ import annotations

import atexit
import gzip
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from components.types import DataError

GZIP_MAGIC = b"\x1f\x8b"
CHUNK = 1 << 18
_GZIP_FAULTS = (EOFError, gzip.BadGzipFile, zlib.error)


def fault(path: str | Path, where: str, what: str, remedy: str) -> DataError:
    """The one shape of a message about data: file, place, what is wrong, what to do."""
    return DataError(f"{path}, {where}: {what}; {remedy}")


def confine(data_dir: str, path: str) -> Path:
    """The file that `path` names under `data_dir`, symlinks followed. DataError when it lies outside."""
    base = Path(data_dir).resolve()
    found = (base / path).resolve()
    if base != found and base not in found.parents:
        raise DataError(
            f"{path}: leads out of {base} (to {found}); only files under data_dir are read: "
            "put the file there, or set data_dir (CROSSJUDGE_DATA)"
        )
    return found


def is_gzip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == GZIP_MAGIC


def chunks(path: Path) -> Iterator[bytes]:
    """The (decompressed) bytes of a file, CHUNK at a time. DataError names where a gzip stream breaks."""
    position = 0
    with _open(path) as file:
        while True:
            try:
                chunk = file.read(CHUNK)
            except _GZIP_FAULTS as error:
                raise _broken(path, position, error) from error
            if not chunk:
                return
            position += len(chunk)
            yield chunk


def span(path: Path, start: int, stop: int) -> bytes:
    """Bytes start..stop of the (decompressed) file; DataError when it has become shorter."""
    if not is_gzip(path):
        with path.open("rb") as file:
            file.seek(start)
            found = file.read(stop - start)
    else:
        try:
            found = _KEPT.span(path, start, stop)
        except _GZIP_FAULTS as error:
            raise _broken(path, start, error) from error
    if len(found) != stop - start:
        raise fault(path, f"byte {start:,}", "the file ends before this item does", "it changed: start again")
    return found


def _open(path: Path) -> BinaryIO:
    return cast(BinaryIO, gzip.open(path, "rb")) if is_gzip(path) else path.open("rb")


def _broken(path: Path, position: int, error: Exception) -> DataError:
    return fault(
        path,
        f"decompressed byte {position:,}",
        f"the gzip stream breaks off ({error})",
        "fetch the file again",
    )


class _Kept:
    """One gzip file, left open: items are asked for in file order, and each reads on from the last.

    Without it every item would decompress the file from its beginning.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._key: tuple[str, int, int] | None = None
        self._file: BinaryIO | None = None

    def span(self, path: Path, start: int, stop: int) -> bytes:
        state = path.stat()
        key = (str(path), state.st_size, state.st_mtime_ns)
        with self._lock:
            if self._file is None or self._key != key:
                self._drop()
                self._file, self._key = _open(path), key
            try:
                self._file.seek(start)  # forward: reads on; backward: begins again
                return self._file.read(stop - start)
            except _GZIP_FAULTS:
                self._drop()
                raise

    def close(self) -> None:
        with self._lock:
            self._drop()

    def _drop(self) -> None:
        if self._file is not None:
            self._file.close()
        self._file = self._key = None


_KEPT = _Kept()
atexit.register(_KEPT.close)
