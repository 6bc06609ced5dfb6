"""The keyless answerer on small contexts of our own."""

import math
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.answerer.extractive import Extractive
from components.types import Answerer, Document, Hit, Question
from tests.component.nodes import build

ANSWERER: Extractive = build("answerer/extractive")
DAY = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
NOTES = [
    "[2023/05/08 (Mon) 13:56] user: It rains. Yesterday I bought a red canoe from my cousin, 300 euros!",
    "assistant: Shall we plan where you could paddle the canoe?",
    "user: My cousin keeps seven goats near the lake. They eat everything.",
    "user: Ich habe gestern ein altes Klavier gekauft.",
    "user: 我上週去了大阪看朋友。那裡的章魚燒很好吃。",
]


def answer(question: str, notes: list[str] = NOTES, answerer: Extractive = ANSWERER) -> str:
    hits = [Hit(Document(f"d{i}", text, DAY), 1.0 - i / 10) for i, text in enumerate(notes)]
    result = answerer.answer(Question("q", question, None), hits)
    assert result.status == "ok"
    return result.text


def test_it_says_the_sentence_that_shares_most_with_the_question() -> None:
    assert answer("Which canoe did I buy from my cousin?").startswith("Yesterday I bought a red canoe")
    assert answer("How many goats does my cousin keep?") == "user: My cousin keeps seven goats near the lake."


def test_a_date_question_gets_the_day_that_is_meant() -> None:
    assert answer("When did I buy the red canoe?").startswith("2023-05-07: Yesterday")
    assert answer("Wann habe ich das Klavier gekauft?").startswith("2023-05-07: user: Ich habe gestern")
    named = ["user: I sold the red canoe on 3 March 2023."]
    assert answer("When did I sell the red canoe?", named) == named[0]


def test_scripts_without_blanks() -> None:
    assert answer("我上週去了哪裡看朋友？") == "user: 我上週去了大阪看朋友。"


@pytest.mark.parametrize("question", ["What is the name of my dentist?", "Does Ruth play chess?", "?", ""])
def test_it_abstains_when_nothing_fits(question: str) -> None:
    assert answer(question) == "I don't know."
    assert answer(question, []) == "I don't know."


def test_statements_go_before_questions() -> None:
    notes = ["assistant: Where did you paddle the canoe?", "user: I paddle the canoe on the lake."]
    assert answer("Where did I paddle the canoe?", notes).startswith("user: I paddle")


def test_ties_go_to_the_better_hit() -> None:
    one = build("answerer/extractive", sentences=1, threshold=0.0)
    notes = ["user: The canoe is red.", "user: The canoe is green."]
    assert answer("Which colour is the canoe?", notes, one) == notes[0]
    assert answer("Which colour is the canoe?", notes[::-1], one) == notes[1]


def test_an_answer_is_never_longer_than_the_limit() -> None:
    short = build("answerer/extractive", max_words=8)
    notes = ["user: The canoe " + "and the paddle " * 40 + "are wet."]
    assert len(answer("Where is the canoe and the paddle?", notes, short).split()) == 8


def test_the_score_by_hand() -> None:
    # two sentences; "canoe" is in both, "green" in one: idf = ln(1 + (2 - df + .5) / (df + .5))
    both, once = math.log(1 + 0.5 / 2.5), math.log(1 + 1.5 / 1.5)
    share = both / (both + once)
    notes = ["The canoe is red.", "The canoe is green."]
    assert (
        answer("green canoe", notes[:1] + notes[1:], build("answerer/extractive", threshold=1.0)) == notes[1]
    )
    just_over = build("answerer/extractive", sentences=2, second=share * 0.999)
    just_under = build("answerer/extractive", sentences=2, second=share * 1.001)
    assert answer("green canoe", notes, just_over) == f"{notes[1]} {notes[0]}"
    assert answer("green canoe", notes, just_under) == notes[1]


def test_it_is_mechanical_and_checks_its_numbers() -> None:
    assert isinstance(ANSWERER, Answerer) and ANSWERER.kind == "mechanical"
    with pytest.raises(ValueError, match="threshold"):
        build("answerer/extractive", threshold=2.0)


@given(st.text(), st.lists(st.text(), max_size=3))
def test_any_text_gets_an_answer_that_is_not_empty(question: str, notes: list[str]) -> None:
    assert answer(question, notes)
