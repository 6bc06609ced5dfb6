"""Text as comparable tokens: stems, names, numbers with their unit, dates, times of day, in clauses.

    "She adopted 3 dogs on 7 May 2023, not 4." ->
    word "adopt" | number "3" unit "dog" | word "dog" | date (2023, 5, 7) || number "4" unit "", negated

Tokens are compared by `components.text.compare`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from components.text.dates import Mention, find_dates
from components.text.languages import CJK, Language, stem
from components.text.numbers import canonical, spell_out

Kind = Literal["word", "name", "number", "date", "time"]
_DECIMAL_COMMA = {"de", "es", "fr", "it", "pt", "nl"}
_CLAUSE = re.compile(
    r"[;!?()\[\]\n。！？；：、，]+|[:,](?!\d)|\.(?!\d)|\s[-–—]+\s|—"
    r"|\b(?:but|however|although|though|instead|rather|aber|sondern|pero|sino|mais)\b",
    re.IGNORECASE,
)
_TOKEN = re.compile(
    r"(?P<hour>\b\d{1,2})(?:[:h](?P<minute>\d\d))?(?!\d)\s?(?P<half>[ap])\.?m\b\.?"
    r"|(?P<hour24>\b\d{1,2}):(?P<minute24>\d\d)\b"
    r"|(?:(?P<currency>[$€£¥])\s?)?(?P<number>\d+(?:[.,]\d+)*)(?P<ordinal>st|nd|rd|th)?\b"
    rf"|(?P<glued>\d+)(?=[^\W\d_])|(?P<cjk>[{CJK}]+)|(?P<word>(?:(?![{CJK}])[^\W\d_])+(?:'(?:s|t|re|ve|ll|d|m))?)"
    r"|(?P<percent>%)",
    re.IGNORECASE,
)
_UNITS = {
    "percent": "%",
    "per": "",
    "dollar": "$",
    "dollars": "$",
    "euro": "€",
    "euros": "€",
    "usd": "$",
    "eur": "€",
}


@dataclass(frozen=True, slots=True)
class Token:
    """`key`: the canonical text. `day`: (year, month, day) of a date, `other` a second reading of it.

    `loose`: a time of day without am or pm. `negated`: a negation stands shortly before it in its clause.
    """

    kind: Kind
    key: str
    clause: int
    unit: str = ""
    day: tuple[int | None, int, int | None] | None = None
    other: tuple[int, int, int] | None = None
    loose: bool = False
    capital: bool = False  # first of its sentence and with a capital: may be a name
    negated: bool = False


def read_tokens(text: str, language: Language) -> list[Token]:
    """Tokens in order, without stop words and negations (these are seen in `negated`)."""
    text = unicodedata.normalize("NFKC", text).replace("’", "'").replace("*", "")
    text = re.sub(r"(?<=\d)(\s?[ap])\.\s?m\b\.?", r"\1m", text, flags=re.IGNORECASE)  # "9 a.m." is one clause
    tokens: list[Token] = []
    position = 0
    reader = _Reader(language)
    for mention in find_dates(text):
        tokens += reader.piece(text[position : mention.start])
        tokens.append(reader.mark(_date(mention, reader.clause)))
        position = mention.stop
    return tokens + list(reader.piece(text[position:]))


def _date(mention: Mention, clause: int) -> Token:
    day = (mention.year, mention.month, mention.day)
    return Token(
        "date", "-".join("?" if part is None else str(part) for part in day), clause, "", day, mention.other
    )


class _Reader:
    """Goes through one text and knows the clause, and whether a negation came shortly before."""

    reach = 4  # tokens after a negation that it can mean

    def __init__(self, language: Language) -> None:
        self.language = language
        self.clause = 0
        self._negation = 0  # tokens that the last negation still reaches
        self._sentence_start = True

    def piece(self, text: str) -> Iterator[Token]:
        text = spell_out(text, self.language.numbers)
        position = 0
        for end in [*_CLAUSE.finditer(text), None]:
            yield from self._clause(text[position : end.start() if end else len(text)])
            if end:
                self.clause += 1
                self._negation = 0
                self._sentence_start = not end[0].startswith(",") and not end[0].strip().isalpha()
                position = end.end()

    def mark(self, token: Token) -> Token:
        self._sentence_start = False
        if self._negation > 0:
            self._negation -= 1
            return replace(token, negated=True)
        return token

    def _clause(self, text: str) -> Iterator[Token]:
        matches = list(_TOKEN.finditer(text))
        for place, match in enumerate(matches):
            following = matches[place + 1] if place + 1 < len(matches) else None
            if match["cjk"]:
                yield from self._cjk(match["cjk"])
            elif match["word"]:
                yield from self._word(match["word"])
            elif token := self._number(match, following):
                yield self.mark(token)

    def _cjk(self, run: str) -> Iterator[Token]:
        negated = any(piece in run for piece in self.language.negations)
        for start in range(max(1, len(run) - 1)):
            yield Token("word", run[start : start + 2], self.clause, negated=negated)

    def _word(self, word: str) -> Iterator[Token]:
        first, self._sentence_start = self._sentence_start, False
        low = word.casefold()
        if low in self.language.negations or low.endswith("n't"):
            self._negation = self.reach
            return
        low = low.split("'")[0]
        if low in self.language.stop_words or not low:
            return
        named = (
            word[0].isupper() and (not first or word[1:] != word[1:].lower()) and self.language.code != "de"
        )
        key = stem(low, self.language.stemmer)
        yield self.mark(
            Token("name" if named else "word", key, self.clause, capital=first and word[0].isupper())
        )

    def _number(self, match: re.Match[str], following: re.Match[str] | None) -> Token | None:
        if match["hour"] or match["hour24"]:
            return self._time(match)
        digits = match["number"] or match["glued"]
        if not digits:
            return None
        key = canonical(digits, self.language.code in _DECIMAL_COMMA)
        return Token("number", key, self.clause, match["currency"] or self._unit(following))

    def _unit(self, following: re.Match[str] | None) -> str:
        if following is None or following["number"]:
            return ""
        word = (following["word"] or following["cjk"] or following["percent"] or "").casefold()
        if word in self.language.stop_words:
            return ""
        return _UNITS.get(word, word[:1] if following["cjk"] else stem(word, self.language.stemmer))

    def _time(self, match: re.Match[str]) -> Token | None:
        hour, minute = int(match["hour"] or match["hour24"]), int(match["minute"] or match["minute24"] or 0)
        if hour > 24 or minute > 59:
            return None
        if match["half"]:
            hour = hour % 12 + (12 if match["half"].lower() == "p" else 0)
        return Token("time", f"{hour:02}:{minute:02}", self.clause, loose=not match["half"] and hour <= 12)
