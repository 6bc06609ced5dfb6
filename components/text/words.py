"""Words of user text, as the lexical lanes ask for them: never a query, always words.

words("When did Ana's snow_day end?")  -> ["When", "did", "Ana", "s", "snow", "day", "end"]
edges("When did Ana's (snow-day) end?", 4) -> ["When", "did", "Ana's", "snow-day"]
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

from components.text.languages import CJK

# Combining marks belong to their letter: without them a Devanagari word would fall apart.
_MARKS = "".join(c for c in map(chr, range(0x0300, 0xFE30)) if unicodedata.category(c).startswith("M"))
_WORD = re.compile(rf"[^\W_][^\W_{re.escape(_MARKS)}]*(?:[{re.escape(_MARKS)}]+[^\W_]*)*")
_EDGES = re.compile(r"^[^A-Za-z0-9]+|[^A-Za-z0-9]+$")
_LETTER = re.compile(r"[^\W\d_]")
_CJK = re.compile(f"[{CJK}]")


def plain(text: str) -> str:
    """Text that every engine can hold: NUL and lone surrogates (half of a broken emoji) become U+FFFD."""
    if text.isascii() and "\0" not in text:  # nearly always
        return text
    return text.replace("\0", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def words(text: str) -> list[str]:
    """Runs of letters and digits, in order, repeats kept; an underscore splits (Comis, SPEC A2)."""
    return _WORD.findall(text)


def edges(text: str) -> list[str]:
    """What stands between blanks, without non-ASCII-alphanumerics at both edges (Ghost, SPEC B1).

    Interior punctuation stays; a word without any ASCII letter or digit is dropped.
    """
    return [word for piece in text.split() if (word := _EDGES.sub("", piece))]


def terms_of(
    text: str, split: Literal["words", "edges"], most: int | None, stop_words: frozenset[str]
) -> list[str]:
    """The terms that a lane asks a store for: the first `most` words (None = all) that are no stop word."""
    found = words(text) if split == "words" else edges(text)
    return [term for term in found if term.lower() not in stop_words][:most]


def unsegmented(text: str) -> bool:
    """Whether most letters belong to a script that writes no blanks, where a word index finds little."""
    return 2 * len(_CJK.findall(text)) > len(_LETTER.findall(text)) > 0
