"""Numbers as written by people."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.text.numbers import canonical, spell_out


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("twenty-five minutes", "en", "25 minutes"),
        ("a seven-day trip", "en", "a 7 day trip"),
        ("three hundred and five", "en", "305"),
        ("2 million people, $2.5k", "en", "2000000 people, $2500"),
        ("twice, a dozen", "en", "2 times, 12"),
        ("one of the two, no one else", "en", "one of the 2, no one else"),
        ("She has one dog", "en", "She has 1 dog"),
        ("fünfundzwanzig Katzen", "de", "25 Katzen"),
        ("tengo dos perros", "es", "tengo 2 perros"),
        ("三匹の猫と十二個", "", "3匹の猫と12個"),
        ("一緒に", "", "一緒に"),
    ],
)
def test_words_become_digits(text: str, language: str, expected: str) -> None:
    assert spell_out(text, language) == expected


@pytest.mark.parametrize(
    ("digits", "comma", "expected"),
    [
        ("1,300", False, "1300"),
        ("1.300", True, "1300"),
        ("1,300,000.50", False, "1300000.5"),
        ("2.50", False, "2.5"),
        ("2,5", True, "2.5"),
        ("007", False, "7"),
        ("1.2.3", False, "1.2.3"),
    ],
)
def test_one_form_per_number(digits: str, comma: bool, expected: str) -> None:
    assert canonical(digits, comma) == expected


@given(st.integers(0, 10**12))
def test_thousands_separators_change_nothing(number: int) -> None:
    assert canonical(f"{number:,}", False) == canonical(str(number), False) == str(number)


@given(st.text(), st.sampled_from(["en", "de", "es", "fr", ""]))
def test_any_text(text: str, language: str) -> None:
    assert isinstance(spell_out(text, language), str)
