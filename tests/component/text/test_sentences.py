"""Sentences of several scripts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.text.sentences import split_sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It rained. We stayed!  Why?", ["It rained.", "We stayed!", "Why?"]),
        ("Dr. Lee paid 3.5 euros. Good.", ["Dr. Lee paid 3.5 euros.", "Good."]),
        ("Am 7. Mai kam sie.", ["Am 7. Mai kam sie."]),
        ("我去了大阪。很好！明天呢？", ["我去了大阪。", "很好！", "明天呢？"]),
        ("one\ntwo\n\nthree", ["one", "two", "three"]),
        ('He said "no." Then he left.', ['He said "no."', "Then he left."]),
        ("", []),
    ],
)
def test_split(text: str, expected: list[str]) -> None:
    assert split_sentences(text) == expected


@given(st.text())
def test_nothing_is_invented(text: str) -> None:
    assert all(sentence in text and sentence.strip() == sentence != "" for sentence in split_sentences(text))
