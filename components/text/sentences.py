"""Sentences of any script: they end at . ! ? … 。 ！ ？ and at line breaks, not within "3.5" or "Dr. Lee"."""

from __future__ import annotations

import re

_END = re.compile(r"[.!?…]+[\"')\]*]*(?=\s)|[。！？]+[」』”]?|\n+")
_ABBREVIATION = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|vs|etc|approx|e\.g|i\.e|[a-z])|\b\d{1,2})\.$", re.IGNORECASE
)


def split_sentences(text: str) -> list[str]:
    """Non-empty, stripped sentences in order. A piece that ends in an abbreviation goes on."""
    sentences: list[str] = []
    start = 0
    for end in _END.finditer(text):
        piece = text[start : end.end()]
        if "\n" not in end[0] and _ABBREVIATION.search(piece):
            continue
        sentences.append(piece)
        start = end.end()
    sentences.append(text[start:])
    return [stripped for sentence in sentences if (stripped := sentence.strip())]
