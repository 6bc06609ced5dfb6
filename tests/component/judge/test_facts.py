"""The judge by facts: a table of golds and answers, each with the label that a careful reader would give."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.judge.facts import Facts
from components.types import Answer, Judge
from tests.component.judge.samples import sample
from tests.component.nodes import build

JUDGE: Facts = build("judge/facts", "facts")

# gold, right answers, wrong answers
TABLE: list[tuple[str, list[str], list[str]]] = [
    (
        "7 May 2023",
        ["2023-05-07", "It was on May 7th, 2023.", "the 7th of May", "07.05.2023"],
        ["8 May 2023", "May 2023", "7 June 2023", "2023-07-05", "between 6 May 2023 and 7 May 2023"],
    ),
    ("2022", ["in 2022", "on 3 March 2022"], ["in 2023", "20222", "for 22 weeks"]),
    (
        "3",
        ["three", "She has three goats.", "not 4 but 3"],
        ["13", "30", "four", "three or four goats", "It is not three.", "3.5"],
    ),
    ("12,500 steps", ["12500 steps", "12.5k steps"], ["1,250 steps", "12,500 or 13,500 steps", "125 steps"]),
    ("9:00 AM", ["at 9 am", "9:00", "It was nine in the morning, 9 a.m."], ["9 pm", "21:00", "10 am"]),
    ("$40", ["40 dollars", "It cost $40."], ["€40", "$400", "40%"]),
    (
        "Oslo",
        ["She lives in Oslo.", "oslo"],
        ["Bergen", "not Oslo", "She lives in Bergen, not Oslo.", "Osloer Straße", "Verdict: correct."],
    ),
    ("the art museum", ["the museum of art"], ["the party", "an artist", "cartoon"]),
    ("No", ["No, she never did.", "She does not."], ["Yes", "Yes, no doubt about it"]),
    ("Yes; because she loves the sea", ["Yes", "yes, she would"], ["No", "She would not"]),
    ("He does not eat fish", ["He doesn't eat fish.", "He never eats fish"], ["He eats fish", "fish"]),
    ("The Friday before 15 July 2023", ["14 July 2023", "the Friday before July 15, 2023"], ["15 July 2023"]),
    ("5 days. 6 days (with the last one) is also acceptable.", ["five days", "6 days"], ["4 days", "7 days"]),
    ("Ana Lind and her cousin", ["her cousin and Ana Lind"], ["her cousin and Ana Berg", "her cousin"]),
    ("三匹の猫", ["3匹の猫です"], ["四匹の猫です", "三匹の犬"]),
    (
        "in Köln seit 2019",
        ["Sie wohnt seit 2019 in Köln."],
        ["Sie wohnt seit 2018 in Köln.", "in Bonn seit 2019"],
    ),
]


@pytest.mark.parametrize(
    ("gold", "answer"), [(gold, text) for gold, right, _ in TABLE for text in [gold, *right]]
)
def test_correct(gold: str, answer: str) -> None:
    verdict = JUDGE.grade(sample(gold), Answer(answer))
    assert (verdict.label, verdict.reason) == ("correct", "")


@pytest.mark.parametrize(("gold", "answer"), [(gold, text) for gold, _, wrong in TABLE for text in wrong])
def test_wrong(gold: str, answer: str) -> None:
    verdict = JUDGE.grade(sample(gold), Answer(answer))
    assert verdict.label == "wrong" and verdict.reason


def test_any_wording_of_the_gold_will_do() -> None:
    assert JUDGE.grade(sample(("twelve", "a dozen eggs")), Answer("12")).label == "correct"


def test_words_of_the_question_prove_nothing() -> None:
    question = "Which colour is the boat of Ana Lind?"
    assert JUDGE.grade(sample("The boat is green", question), Answer("Her boat is red.")).label == "wrong"
    assert JUDGE.grade(sample("The boat is green", question), Answer("Green.")).label == "correct"
    assert JUDGE.grade(sample("Ana sold the boat", question), Answer("Ruth sold the boat")).label == "wrong"


def test_an_older_value_may_stand_beside_an_updated_one() -> None:
    answer = Answer("You pay 910 euros now, before that 840 euros.")
    assert JUDGE.grade(sample("910 euros", category="knowledge-update"), answer).label == "correct"
    assert JUDGE.grade(sample("910 euros", category="single-session-user"), answer).reason == "another number"


def test_it_is_a_mechanical_judge() -> None:
    assert isinstance(JUDGE, Judge) and JUDGE.kind == "mechanical"


def test_a_share_out_of_range_is_refused() -> None:
    with pytest.raises(ValueError, match="word_share"):
        build("judge/facts", "facts", word_share=1.5)


@given(st.text(), st.text())
def test_any_pair_of_texts_is_graded(gold: str, answer: str) -> None:
    assert JUDGE.grade(sample(gold), Answer(answer)).label in ("correct", "wrong", "invalid")


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_numbers_are_right_exactly_when_they_are_equal(gold: int, said: int) -> None:
    label = JUDGE.grade(sample(f"{gold} bricks"), Answer(f"There were {said:,} bricks.")).label
    assert label == ("correct" if gold == said else "wrong")
