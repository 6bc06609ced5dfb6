"""Dates in free text, in the common written forms, as (year, month, day) with None for what is not said.

    "7 May 2023", "May 7th, 2023", "2023-05-07", "2023/05/07 (Sun)", "07.05.2023", "5/7/2023",
    "7 de mayo de 2023", "2023年5月7日", "May 2023", "in June"

A year alone is a number, not a date. "may" and "march" without a capital are dates only beside a year.
"5/7/2023" is May 7 first, 5 July as its `other` reading.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import NamedTuple

_MONTH_NAMES = (
    "january jan januar enero janvier janeiro gennaio januari",
    "february feb februar febrero février fevrier fevereiro febbraio februari",
    "march mar märz maerz marzo mars março marco maart",
    "april apr abril avril aprile",
    "may mai mayo maio maggio mei",
    "june jun juni junio juin junho giugno",
    "july jul juli julio juillet julho luglio",
    "august aug agosto août aout augustus",
    "september sep sept septiembre septembre setembro settembre",
    "october oct oktober okt octubre octobre outubro ottobre",
    "november nov noviembre novembre novembro",
    "december dec dezember dez diciembre décembre decembre dezembro dicembre",
)
MONTHS = {name: number for number, names in enumerate(_MONTH_NAMES, start=1) for name in names.split()}
_WORDS_TOO = {"may", "mar", "march", "mars", "marco"}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_M = r"(?<![^\W\d_])(?P<month>" + "|".join(sorted(map(re.escape, MONTHS), key=len, reverse=True)) + r")\b\.?"
_D = r"\b(?P<day>\d{1,2})(?:st|nd|rd|th|er|º|\.)?"
_Y = r"(?P<year>(?:1[89]|20)\d\d)\b(?![-/]\d)"
_OF = r"\s*,?\s*(?:of\s+|de\s+|del\s+|di\s+)?"
_NOT_TIME = r"(?![\d:]|\s*[ap]\.?m\b)"
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?P<year>\d{4})([-/.])(?P<month_number>\d{1,2})\2(?P<day>\d{1,2})\b",
        r"(?:(?P<year>\d{4})\s*年\s*)?(?P<month_number>\d{1,2})\s*月(?:\s*(?P<day>\d{1,2})\s*[日号號])?",
        r"\b(?P<day>\d{1,2})\.\s?(?P<month_number>\d{1,2})\.\s?(?P<year>\d{4})\b",
        r"\b(?P<first>\d{1,2})/(?P<second>\d{1,2})/(?P<year>\d{4})\b",
        rf"{_D}{_OF}{_M}(?:{_OF}{_Y})?",
        rf"{_M}\s*{_D}{_NOT_TIME}(?:{_OF}{_Y})?",
        rf"{_M}{_OF}{_Y}",
    )
)
_BARE = re.compile(_M, re.IGNORECASE)
_BEFORE_BARE = re.compile(
    r"\b(?:in|since|by|during|of|until|till|last|next|this|early|late|mid|from|around|im|en|seit|bis)[\s-]+$",
    re.I,
)
_RELATIVE = re.compile(
    r"(?:on\s+)?(?:the\s+)?(?P<what>day|" + "|".join(_WEEKDAYS) + r")\s+(?P<side>before|after)\s+$",
    re.IGNORECASE,
)


class Mention(NamedTuple):
    """A date at text[start:stop]. `other`: a second reading of the numbers."""

    start: int
    stop: int
    year: int | None
    month: int
    day: int | None
    other: tuple[int, int, int] | None = None


def find_dates(text: str) -> list[Mention]:
    """All mentions, left to right, not overlapping; numbers that are no calendar date are no mention."""
    found: list[Mention] = []
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            mention = _mention(match)
            if mention and not any(m.start < mention.stop and mention.start < m.stop for m in found):
                found.append(mention)
    found += [
        bare for bare in _bare(text) if not any(m.start < bare.stop and bare.start < m.stop for m in found)
    ]
    return sorted(found)


def _mention(match: re.Match[str]) -> Mention | None:
    parts = match.groupdict()
    year = int(parts["year"]) if parts.get("year") else None
    if parts.get("first"):
        assert year is not None
        first, second = int(parts["first"]), int(parts["second"])
        readings = [(year, m, d) for m, d in ((first, second), (second, first)) if is_date(year, m, d)]
        if not readings:
            return None
        return Mention(*match.span(), *readings[0], readings[1] if len(set(readings)) > 1 else None)
    name = parts.get("month") or ""
    if name.casefold() in _WORDS_TOO and not name[0].isupper() and year is None:
        return None
    month = MONTHS[name.casefold()] if name else int(parts["month_number"])
    day = int(parts["day"]) if parts.get("day") else None
    return Mention(*match.span(), year, month, day) if is_date(year or 2024, month, day or 1) else None


def _bare(text: str) -> Iterator[Mention]:
    for match in _BARE.finditer(text):
        name = match["month"]
        after = _BEFORE_BARE.search(text[max(0, match.start() - 16) : match.start()])
        whole = match.span() == (0, len(text.rstrip()))
        if name[0].isupper() and (after or whole or name.casefold() not in _WORDS_TOO):
            yield Mention(*match.span(), None, MONTHS[name.casefold()], None)


def is_date(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


def resolve(text: str) -> str | None:
    """The text with "the Friday before 15 July 2023" as "2023-07-14"; None when it has no such phrase."""
    resolved, position = "", 0
    for mention in find_dates(text):
        phrase = _RELATIVE.search(text, position, mention.start)
        if phrase and mention.year and mention.day:
            on = date(mention.year, mention.month, mention.day)
            resolved += text[position : phrase.start()] + _moved(on, phrase).isoformat()
            position = mention.stop
    return resolved + text[position:] if position else None


def wordings(text: str) -> list[str]:
    """The text, and where it has such a phrase the text with the phrase resolved."""
    resolved = resolve(text)
    return [text] if resolved is None else [text, resolved]


def _moved(on: date, phrase: re.Match[str]) -> date:
    sign = -1 if phrase["side"].casefold() == "before" else 1
    what = phrase["what"].casefold()
    if what == "day":
        return on + timedelta(days=sign)
    distance = ((on.weekday() - _WEEKDAYS.index(what)) * -sign) % 7 or 7
    return on + timedelta(days=sign * distance)
