"""GGUF files for tests: tiny ones written by hand here, real ones by scripts/make_gguf.py."""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from tests.component.retrieval import CONF

MAKE = CONF.parent / "scripts/make_gguf.py"
_KINDS = {bool: (7, "?"), int: (4, "I"), float: (6, "f")}


def _text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def _value(value: Any) -> bytes:
    if isinstance(value, str):
        return struct.pack("<I", 8) + _text(value)
    if isinstance(value, list):  # of texts, or of ints
        inner = 8 if value and isinstance(value[0], str) else 5
        items = [_text(v) if inner == 8 else struct.pack("<i", v) for v in value]
        return struct.pack("<IIQ", 9, inner, len(value)) + b"".join(items)
    kind, form = _KINDS[type(value)]
    return struct.pack("<I" + form, kind, value)


def tiny(
    path: Path, values: Mapping[str, Any], tensors: Mapping[str, Sequence[int]], version: int = 3
) -> Path:
    """A GGUF of float32 zeros: right in form, no model that llama.cpp would load."""
    out = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(values))
    out += b"".join(_text(key) + _value(value) for key, value in values.items())
    offset = 0
    for name, shape in tensors.items():
        size = 4
        for side in shape:
            size *= side
        out += _text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, offset)
        offset += -(-size // 32) * 32
    out += bytes(-len(out) % 32)
    path.write_bytes(out + bytes(offset))
    return path


BERT = {"general.architecture": "bert", "bert.context_length": 512, "tokenizer.ggml.tokens": ["a", "b"]}
TABLE = {"position_embd.weight": (8, 512)}
RANKS = {**TABLE, "cls.output.weight": (8, 1)}


@cache
def made(folder: Path, *options: str) -> Path:
    """MiniLM by scripts/make_gguf.py, once per process."""
    path = folder / f"minilm{''.join(options)}.gguf"
    subprocess.run([sys.executable, MAKE, path, *options], check=True, capture_output=True)
    return path
