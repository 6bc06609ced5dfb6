"""What the keyless parts know of a language: its stop words, its negations, its stemmer.

A language is chosen once per question, from the words of question, gold and answer together, so that
"zwei" and "2" or "dogs" and "dog" meet on both sides.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_CJK = re.compile(f"[{CJK}]")
_LETTER = re.compile(r"[^\W\d_]")
_LOCAL = threading.local()
_KEYS = ("stemmer", "numbers", "stop_words", "negations")


@dataclass(frozen=True)
class Language:
    """`numbers`: code under which number words are read ("en"), or "". `stemmer`: a Snowball name, or ""."""

    code: str
    stemmer: str
    numbers: str
    stop_words: frozenset[str]
    negations: frozenset[str]  # words; for a script without blanks, pieces of text


def read_languages(node: Mapping[str, Mapping[str, Any]]) -> tuple[Language, ...]:
    """From the config: {code: {stemmer, numbers, stop_words: "a an ...", negations: "not ..."}}, in order.

    ValueError for a language that lacks one of these or has another key, or for an unknown stemmer.
    """
    if not node:
        raise ValueError("languages: at least one is needed")
    for code, words in node.items():
        _check(code, words)
    return tuple(
        Language(
            code,
            words["stemmer"],
            words["numbers"],
            frozenset(words["stop_words"].split()),
            frozenset(words["negations"].split()),
        )
        for code, words in node.items()
    )


def _check(code: str, words: Mapping[str, Any]) -> None:
    wrong = sorted(words.keys() ^ set(_KEYS))
    if wrong:
        raise ValueError(
            f"languages.{code}: needs {', '.join(_KEYS)} and nothing else; at fault: {', '.join(wrong)}"
        )
    import snowballstemmer

    if words["stemmer"] and words["stemmer"] not in snowballstemmer.algorithms():
        raise ValueError(f"languages.{code}.stemmer: {words['stemmer']!r} is no stemmer of Snowball's")


def choose(text: str, languages: tuple[Language, ...]) -> Language:
    """The language most of whose stop words occur; the first one where none does; "cjk" by its letters."""
    letters, cjk = len(_LETTER.findall(text)), len(_CJK.findall(text))
    if cjk * 3 > letters:
        return next((language for language in languages if language.code == "cjk"), languages[0])
    words = re.findall(r"[^\W\d_]+", text.casefold())
    counts = [sum(word in language.stop_words for word in words) for language in languages]
    return languages[max(range(len(languages)), key=lambda i: (counts[i], -i))]


@lru_cache(maxsize=1 << 16)
def stem(word: str, stemmer: str) -> str:
    """The Snowball stem of a case-folded word; the word itself for a stemmer named ""."""
    if not stemmer:
        return word
    made: dict[str, Any] = _LOCAL.__dict__.setdefault("stemmers", {})  # a stemmer holds state: one per thread
    if stemmer not in made:
        import snowballstemmer

        made[stemmer] = snowballstemmer.stemmer(stemmer)
    return str(made[stemmer].stemWord(word))
