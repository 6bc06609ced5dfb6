"""Reads the dates that the datasets write. One form, one exact moment; what is unclear is refused.

    2023/05/20 (Sat) 02:21        LongMemEval        1:56 pm on 8 May, 2023        LoCoMo
    2023-05-20T02:21:07+02:00     ISO 8601           2023/05/20                    day alone: 00:00

Moments are UTC, to the minute. 12:05 am is 00:05. `0:15 am` and `13:56 pm` can mean one thing only and are
read; `13:56 am`, `0:15 pm`, 31 June, month 13 and 05/06/2023 are not. Nothing here looks at the clock.
"""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime, timedelta, timezone
from typing import NamedTuple

from components.types import DataError

_WEEKDAYS = (
    ("mon", "月", "lun", "mo"),
    ("tue", "火", "mar", "di"),
    ("wed", "水", "mer", "mi"),
    ("thu", "木", "jeu", "do"),
    ("fri", "金", "ven", "fr"),
    ("sat", "土", "sam", "sa"),
    ("sun", "日", "dim", "so"),
)
_MONTHS = (
    ("jan", "january"),
    ("feb", "february"),
    ("mar", "march"),
    ("apr", "april"),
    ("may",),
    ("jun", "june"),
    ("jul", "july"),
    ("aug", "august"),
    ("sep", "sept", "september"),
    ("oct", "october"),
    ("nov", "november"),
    ("dec", "december"),
)
_DAY_FIRST = re.compile(
    r"""(?P<year>[0-9]{4})(?P<sep>[/-])(?P<month>[0-9]{1,2})(?P=sep)(?P<day>[0-9]{1,2})
        (?:\s*\((?P<weekday>\w+)\.?\))?
        (?:(?:\s+|T)(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?::[0-9]{2}(?:\.[0-9]+)?)?
           \s*(?P<zone>Z|UTC|[+-][0-9]{2}:?[0-9]{2})?)?""",
    re.VERBOSE,
)
_TIME_FIRST = re.compile(
    r"""(?:(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})\s*(?P<half>[ap]\.?m\.?)?\s*(?:on\s+|,\s*))?
        (?P<day>[0-9]{1,2})\s+(?P<month>[a-z]+)\.?,?\s+(?P<year>[0-9]{4})""",
    re.VERBOSE | re.IGNORECASE,
)


class DateError(DataError):
    """A date in no accepted form, or a day that does not exist."""


class Moment(NamedTuple):
    at: datetime  # UTC, to the minute
    weekday_fits: bool  # False: the weekday as written is another one, or no weekday that we know


def read(text: str) -> Moment:
    """The moment that `text` names. DateError says why it names none."""
    clean = " ".join(text.split())
    for pattern in (_DAY_FIRST, _TIME_FIRST):
        match = pattern.fullmatch(clean)
        if match:
            return _moment(text, match)
    raise DateError(
        f"date {text!r}: no accepted form (2023/05/20 (Sat) 02:21, 1:56 pm on 8 May, 2023, ISO 8601)"
    )


def counted(text: str | None, notes: Counter[str]) -> datetime | None:
    """`read` for a reader that goes on: None and a note "undated" for what is no date, never the clock."""
    try:
        moment = read(text or "")
    except DateError:
        notes["undated"] += 1
        return None
    notes["weekday_mismatch"] += not moment.weekday_fits
    return moment.at


def _moment(text: str, match: re.Match[str]) -> Moment:
    part = match.groupdict()
    try:
        day = datetime(
            int(part["year"]), _month(part["month"]), int(part["day"]), tzinfo=_zone(part.get("zone"))
        )
        hour, minute = _hour(part["hour"], part.get("half")), int(part["minute"] or 0)
        at = day.replace(hour=hour, minute=minute).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise DateError(f"date {text!r}: {error}") from error
    weekday = part.get("weekday")
    return Moment(at, weekday is None or _is_weekday(weekday, day.weekday()))


def _month(word: str) -> int:
    if word.isdigit():
        return int(word)
    for number, names in enumerate(_MONTHS, start=1):
        if word.lower() in names:
            return number
    raise ValueError(f"{word!r} is no month")


def _hour(digits: str | None, half: str | None) -> int:
    hour = int(digits or 0)
    if not half:
        return hour
    if half.lower().startswith("a"):
        if hour > 12:
            raise ValueError(f"{hour} am is no hour")
        return hour % 12
    if hour == 0:
        raise ValueError("0 pm is no hour")
    return hour if hour >= 12 else hour + 12


def _zone(text: str | None) -> timezone:
    if not text or text in ("Z", "UTC"):
        return UTC
    offset = timedelta(hours=int(text[1:3]), minutes=int(text[-2:]))
    return timezone(-offset if text[0] == "-" else offset)


def _is_weekday(word: str, index: int) -> bool:
    folded = word.lower()
    return any(
        folded == known or (len(known) == 3 and folded.startswith(known)) for known in _WEEKDAYS[index]
    )
