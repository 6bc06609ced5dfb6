"""Whether two tokens say the same: "7 May" and "2023-05-07", "9 pm" and "21:00", "$5" and "5 dollars"."""

from __future__ import annotations

from collections.abc import Sequence

from components.text.tokens import Token

_SIGNS = set("%$€£¥")


def same(gold: Token, other: Token) -> bool:
    """Whether `other` says what `gold` says: it may be more exact, or leave out the year of a full date."""
    if gold.kind == "date" and other.kind == "date":
        return any(_same_day(a, b) for a in _readings(gold) for b in _readings(other))
    if gold.kind == "number" and other.kind == "date":  # a gold of a year alone
        return other.day is not None and gold.key == str(other.day[0])
    if gold.kind == "time" and other.kind == "time" and (gold.loose or other.loose):
        return _half_day(gold.key) == _half_day(other.key)
    if gold.kind in ("word", "name") and other.kind in ("word", "name"):
        return gold.key == other.key
    if {gold.unit, other.unit} & _SIGNS and "" not in (gold.unit, other.unit) and gold.unit != other.unit:
        return False
    return gold.kind == other.kind and gold.key == other.key


def wrong_name(gold: Sequence[Token], said: Sequence[Token], asked: Sequence[Token]) -> bool:
    """A name of the gold is missing while the answer has one that neither the gold nor the question knows.

    The first word of a sentence may be a name or not: there only first word against first word counts.
    """
    strange = [token for token in said if not any(same(known, token) for known in [*gold, *asked])]
    missing = [token for token in gold if not any(same(token, other) for other in said)]
    if any(token.kind == "name" for token in missing) and any(token.kind == "name" for token in strange):
        return True
    firsts = bool(gold and said) and gold[0] in missing and said[0] in strange
    known = firsts and any(same(gold[0], token) for token in asked)  # the question's own subject
    return known and gold[0].capital and said[0].capital


def _readings(token: Token) -> list[tuple[int | None, int, int | None]]:
    return [day for day in (token.day, token.other) if day]


def _same_day(gold: tuple[int | None, int, int | None], other: tuple[int | None, int, int | None]) -> bool:
    (year, month, day), (other_year, other_month, other_day) = gold, other
    years = year is None or year == other_year or (other_year is None and day is not None)
    return month == other_month and years and (day is None or day == other_day)


def _half_day(key: str) -> str:
    return f"{int(key[:2]) % 12:02}{key[2:]}"
