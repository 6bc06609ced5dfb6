"""Reads LoCoMo's evidence: strings that should each name one turn, and often do not.

    ["D1:3"]   ["D8:6; D9:17"]   ["D:11:26"]   ["D30:05"]   ["D"]   ["D10:19"] (no such turn)

verbatim: a string counts only when it is a turn's name letter by letter, as the published tables did.
tolerant: strings are split at ; , and blanks, `D:11:26` and `D30:05` are mended, and each mending is counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from typing import Literal, NamedTuple

Mode = Literal["tolerant", "verbatim"]
_SPLIT = re.compile(r"[;,；，、\s]+")
_NAME = re.compile(r"[(\[]*[Dd]:?0*([0-9]+):0*([0-9]+)[)\].]*")


class Evidence(NamedTuple):
    turns: tuple[str, ...]  # names of turns that exist, each once, in the order written
    unresolved: tuple[str, ...]  # as written, each once


def read(strings: Iterable[str], turns: Collection[str], mode: Mode, notes: Counter[str]) -> Evidence:
    """Which of `turns` the strings name. Counts evidence_split, _mended and _unresolved."""
    found: dict[str, None] = {}
    lost: dict[str, None] = {}
    for piece in _pieces(strings, turns, mode, notes):
        name = piece if piece in turns or mode == "verbatim" else _mended(piece)
        if name in turns:
            notes["evidence_mended"] += name != piece
            found[name] = None
        else:
            lost[piece] = None
    notes["evidence_unresolved"] += len(lost)
    return Evidence(tuple(found), tuple(lost))


def _pieces(strings: Iterable[str], turns: Collection[str], mode: Mode, notes: Counter[str]) -> Iterable[str]:
    for string in strings:
        if mode == "verbatim" or string in turns:
            yield string
            continue
        pieces = [p for p in _SPLIT.split(string) if p]
        notes["evidence_split"] += len(pieces) > 1
        yield from pieces or [string]


def _mended(piece: str) -> str:
    match = _NAME.fullmatch(piece)
    return f"D{match[1]}:{match[2]}" if match else piece
