from __future__ import annotations

import pytest

from components.text.words import edges, plain, unsegmented, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("When did Ana's snow_day end?", ["When", "did", "Ana", "s", "snow", "day", "end"]),
        ("well-known 3.5 km", ["well", "known", "3", "5", "km"]),
        ("новый проспект", ["новый", "проспект"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("cafe\u0301 noir", ["cafe\u0301", "noir"]),
        ("🎉 \u0301 _", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("When did Ana's (snow-day) end?", ["When", "did", "Ana's", "snow-day", "end"]),
        ('"quoted" ... -- a/b', ["quoted", "a/b"]),
        ("été проспект", ["t"]),  # Ghost's rule is ASCII's: it is why `words` is the default
        ("", []),
    ],
)
def test_edges(text: str, expected: list[str]) -> None:
    assert edges(text) == expected


def test_plain_keeps_what_is_whole() -> None:
    assert plain("a🎉\ud83cb\0c") == "a🎉\ufffdb\ufffdc"


def test_unsegmented() -> None:
    assert unsegmented("大阪はどこですか?") and not unsegmented("Where is 大阪?") and not unsegmented("42")
