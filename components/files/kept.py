"""Vectors kept on disk, found again by all that decides them: nothing is embedded twice.

One SQLite table in a folder, in WAL mode: row = (sha256 of {model's sha256, prefix, options} and the text,
float32 numbers). Rows are only added; each step is written whole before the next is computed, so that a
killed run goes on where it was. Several processes may read and write it at once.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from components.types import ComponentError, Vectors

NAME = "vectors.sqlite"
_STEP = 64  # texts that a killed process loses at most
_ASKED = 500  # keys of one SELECT
_PATIENCE = 60.0  # seconds to wait for another process's write
Compute = Callable[[Sequence[str]], Vectors]
Row = NDArray[np.float32]


@dataclass(frozen=True)
class Kept:
    """`folder` is made when it is missing. `identity`: all that decides a vector beside its text."""

    folder: str
    identity: Mapping[str, Any]

    def problems(self) -> list[str]:
        folder = Path(self.folder)
        there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
        if not there.is_dir() or not os.access(there, os.W_OK):
            return [f"cache: cannot write in {folder}; choose another folder, or null for none"]
        return []

    def vectors(self, texts: Sequence[str], compute: Compute) -> tuple[list[Row], int]:
        """A vector per text, and how many texts were found. `compute` is given each missing text once.

        ComponentError("embed", "cache unusable") when the table cannot be read or written.
        """
        keys = {text: self._key(text) for text in dict.fromkeys(texts)}
        try:
            with closing(self._open()) as table:
                rows = _read(table, keys.values())
                missing = [text for text, key in keys.items() if key not in rows]
                for first in range(0, len(missing), _STEP):
                    part = missing[first : first + _STEP]
                    made = dict(zip([keys[text] for text in part], compute(part), strict=True))
                    _write(table, made)
                    rows |= made
        except (sqlite3.Error, OSError) as error:
            file = Path(self.folder) / NAME
            raise ComponentError(
                "embed", "cache unusable", f"{error}: {file}; delete it, or cache=null"
            ) from error
        return [rows[keys[text]] for text in texts], len(keys) - len(missing)

    def _open(self) -> sqlite3.Connection:
        file = Path(self.folder) / NAME
        if not file.exists():
            _create(file)
        table = sqlite3.connect(file, timeout=_PATIENCE)
        table.execute("PRAGMA synchronous=NORMAL")  # whole after a killed process; no wait for the disk
        return table

    def _key(self, text: str) -> bytes:
        made = hashlib.sha256(json.dumps(dict(self.identity), sort_keys=True).encode())
        made.update(b"\0" + text.encode("utf-8", "surrogatepass"))
        return made.digest()


def _create(file: Path) -> None:
    """Made under another name first: no process sees it half made."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{file}.lock", timeout=_PATIENCE):
        if file.exists():  # another process was first
            return
        draft = file.with_name(f"{NAME}.new")
        draft.unlink(missing_ok=True)  # of a killed process
        with closing(sqlite3.connect(draft)) as table:
            table.execute("PRAGMA journal_mode=WAL")
            table.execute("CREATE TABLE vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL)")
            table.commit()
        draft.replace(file)


def _read(table: sqlite3.Connection, keys: Iterable[bytes]) -> dict[bytes, Row]:
    out: dict[bytes, Row] = {}
    wanted = list(keys)
    for first in range(0, len(wanted), _ASKED):
        part = wanted[first : first + _ASKED]
        marks = ",".join("?" * len(part))
        found = table.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", part)
        out |= {key: np.frombuffer(vector, np.float32) for key, vector in found}
    return out


def _write(table: sqlite3.Connection, rows: Mapping[bytes, Row]) -> None:
    """Another process may have made the same ones meanwhile: the first stay."""
    with table:
        table.executemany(
            "INSERT OR IGNORE INTO vectors VALUES (?, ?)",
            [(key, row.astype(np.float32).tobytes()) for key, row in rows.items()],
        )
