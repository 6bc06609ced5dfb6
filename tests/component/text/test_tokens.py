"""Tokens: what is a number, a name, a time, a clause, and what two tokens have in common."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.text.compare import same, wrong_name
from components.text.languages import Language, choose, read_languages, stem
from components.text.tokens import Token, read_tokens
from tests.component.nodes import node

LANGUAGES = read_languages(node("judge/facts").facts.languages)
ENGLISH = LANGUAGES[0]


def tokens(text: str, language: Language = ENGLISH) -> list[Token]:
    return read_tokens(text, language)


def test_a_sentence_in_tokens() -> None:
    read = tokens("She adopted 3 dogs on 7 May 2023, not 4.")
    assert [(t.kind, t.key, t.unit, t.negated) for t in read] == [
        ("word", "adopt", "", False),
        ("number", "3", "dog", False),
        ("word", "dog", "", False),
        ("date", "2023-5-7", "", False),
        ("number", "4", "", True),
    ]
    assert [t.clause for t in read] == [0, 0, 0, 0, 1]


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("9 pm", "21:00", True),
        ("9 am", "9:00", True),
        ("9 a.m.", "9 p.m.", False),
        ("16GB", "16 gigabytes", True),
        ("$5", "5 dollars", True),
        ("$5", "5%", False),
        ("7 May", "7 May 2023", True),
        ("7 May 2023", "7 May", True),
        ("7 May 2023", "May 2023", False),
        ("May 2023", "7 May 2023", True),
        ("2023", "7 May 2023", True),
        ("5/7/2023", "5 July 2023", True),
        ("dogs", "dog", True),
        ("3", "13", False),
    ],
)
def test_same(one: str, other: str, equal: bool) -> None:
    assert same(tokens(one)[0], tokens(other)[0]) is equal


@pytest.mark.parametrize(
    ("gold", "said", "wrong"),
    [
        ("She met Ana Lind", "She met Ana Berg", True),
        ("She met Ana Lind", "It was Ana Lind from Oslo", False),
        ("Ana sold it", "Ruth sold it", True),
        ("Ana sold it", "Sold it", False),
    ],
)
def test_another_name_in_the_place_of_the_gold_s(gold: str, said: str, wrong: bool) -> None:
    assert wrong_name(tokens(gold), tokens(said), tokens("What did Ana do?")) is wrong


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Where is the dog?", "en"),
        ("Wie heißt der Hund meiner Schwester?", "de"),
        ("¿Dónde está el perro de mi hermana?", "es"),
        ("Où est le chien de ma sœur ?", "fr"),
        ("我的狗叫什麼？", "cjk"),
        ("Biscuit", "en"),
        ("", "en"),
    ],
)
def test_the_language_is_seen(text: str, code: str) -> None:
    assert choose(text, LANGUAGES).code == code


def test_stems_are_those_of_the_language() -> None:
    assert (
        stem("dogs", "english") == "dog" and stem("hunde", "german") == "hund" and stem("dogs", "") == "dogs"
    )


@given(st.text(), st.sampled_from(LANGUAGES))
def test_any_text_is_read_and_a_token_is_the_same_as_itself(text: str, language: Language) -> None:
    assert all(same(token, token) for token in tokens(text, language))
