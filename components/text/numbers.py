"""Numbers in free text in one form: "twenty-five", "25", "1,300", "16GB", "$2.5k", "three hundred" -> digits.

`spell_out` makes number words digits; `canonical` makes written digits one string ("1300", "2.5").
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

_SCALE = {"k": 3, "thousand": 3, "million": 6, "mio": 6, "billion": 9}
_SCALED = re.compile(r"(?<![\w.])(\d[\d,]*(?:\.\d+)?)[ -]?(k|thousand|million|mio|billion)\b", re.IGNORECASE)
# "one" that counts nothing: left as a word.
_PRONOUN = re.compile(
    r"\b(?:(?:no|any|every|some|each|this|that|another|which|the|other|only|last|first|new|old)[ -]one\b"
    r"|one\s+(?:of|who|that|another|day|more)\b|ones\b|one's\b)",
    re.IGNORECASE,
)
_TIMES = {"once": "1 time", "twice": "2 times", "thrice": "3 times", "a dozen": "12", "a couple of": "2"}
_TIMES_WORDS = re.compile(r"\b(" + "|".join(_TIMES) + r")\b", re.IGNORECASE)
_PLACEHOLDER = "\ue000"
_CJK_DIGITS = {letter: value for value, letter in enumerate("零一二三四五六七八九十")} | {"两": 2, "兩": 2}
_CJK_COUNT = re.compile(
    r"(?<![一二三四五六七八九十百千万])([零一二三四五六七八九两兩]?十?[一二三四五六七八九]?)"
    r"(?=[个個只隻匹头頭天年月日号歳岁歲人名次回本枚台時时点點分円元块塊条條件杯冊册番週周度位])"
)


def spell_out(text: str, language: str) -> str:
    """Number words as digits; `language`: a code of text2num ("en", "de" ...), "" for none."""
    text = _CJK_COUNT.sub(_cjk, text)
    if not language:
        return text
    from text_to_num import alpha2digit

    if language == "en":
        text = _PRONOUN.sub(lambda found: re.sub("one", _PLACEHOLDER, found[0], flags=re.IGNORECASE), text)
        text = _TIMES_WORDS.sub(lambda found: _TIMES[found[1].casefold()], text)
        text = _SCALED.sub(_scaled, text)
    text = re.sub(r"(?<=[^\W\d_])-(?=[^\W\d_])", " ", text)  # "seven-day", "twenty-five"
    text = alpha2digit(text, language, threshold=0.0)
    return text.replace(_PLACEHOLDER, "one")


def _scaled(found: re.Match[str]) -> str:
    value = Decimal(found[1].replace(",", "")).scaleb(_SCALE[found[2].casefold()])
    return format(value.normalize(), "f")


def _cjk(found: re.Match[str]) -> str:
    letters = found[1]
    if not letters:
        return ""
    tens, ten, units = letters.rpartition("十")
    if not ten:
        return str(_CJK_DIGITS[letters]) if len(letters) == 1 else letters
    return str((_CJK_DIGITS[tens] if tens else 1) * 10 + (_CJK_DIGITS[units] if units else 0))


def canonical(digits: str, decimal_comma: bool) -> str:
    """ "1,300" -> "1300", "2.50" -> "2.5", "007" -> "7"; with a decimal comma "1.300" -> "1300"."""
    group, point = (".", ",") if decimal_comma else (",", ".")
    if not re.fullmatch(rf"\d{{1,3}}(?:\{group}\d{{3}})+(?:\{point}\d+)?", digits):
        group, point = ("", ".") if digits.count(".") + digits.count(",") == 1 else ("", "\0")
        digits = digits.replace(",", ".") if point == "." else digits
    text = digits.replace(group, "") if group else digits
    try:
        return format(Decimal(text.replace(point, ".")).normalize(), "f")
    except InvalidOperation:
        return digits
