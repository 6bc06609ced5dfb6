"""A GGUF file that the operator names: is it there, is it a model of the wanted kind, which one is it.

Nothing is ever downloaded. The path is the operator's own: it need not lie under data_dir.
"""

from __future__ import annotations

import hashlib
import importlib.util
from functools import lru_cache
from pathlib import Path

from components.llama.header import Header, checked_header

PACKAGE = "llama-cpp-python is not installed: pip install 'crossjudge[gguf]' (it compiles for some minutes)"
_CHUNK = 1 << 22


def file_of(path: str) -> Path:
    return Path(path).expanduser()


def header(path: str) -> Header | str:
    """The head of the file, read once per process and content; or what is wrong as one message."""
    file = file_of(path)
    if not file.is_file():
        return f"there is no file {file}; see docs/models.md for where weights come from"
    return _header(file, _stamp(file))


def sha256(path: str) -> str:
    """Of the whole file, read once per process and content; "" when there is none."""
    file = file_of(path)
    return _sha256(file, _stamp(file)) if file.is_file() else ""


def file_problems(path: str) -> list[str]:
    """What is wrong with the file and with the installation, before anything of it is loaded."""
    found = header(path)
    out = [f"path: {found}"] if isinstance(found, str) else []
    if importlib.util.find_spec("llama_cpp") is None:
        out.append(PACKAGE)
    return out


def _stamp(file: Path) -> tuple[int, int]:
    told = file.stat()
    return told.st_size, told.st_mtime_ns


@lru_cache(maxsize=8)
def _header(file: Path, stamp: tuple[int, int]) -> Header | str:
    return checked_header(file)


@lru_cache(maxsize=8)
def _sha256(file: Path, stamp: tuple[int, int]) -> str:
    made = hashlib.sha256()
    with file.open("rb") as source:
        while chunk := source.read(_CHUNK):
            made.update(chunk)
    return made.hexdigest()
