"""Dates as written by people, against the calendar."""

from datetime import date
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.text.dates import find_dates, resolve

FORMS = [
    "7 May 2023",
    "May 7, 2023",
    "May 7th, 2023",
    "the 7th of May, 2023",
    "7May, 2023",
    "2023-05-07",
    "2023/05/07 (Sun) 02:21",
    "07.05.2023",
    "am 7. Mai 2023",
    "el 7 de mayo de 2023",
    "le 7 mai 2023",
    "2023年5月7日",
]


@pytest.mark.parametrize("text", FORMS)
def test_one_day_in_many_forms(text: str) -> None:
    assert [mention[2:5] for mention in find_dates(text)] == [(2023, 5, 7)]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("May 2023", (2023, 5, None)),
        ("in June", (None, 6, None)),
        ("June", (None, 6, None)),
        ("7 May", (None, 5, 7)),
        ("It opened on 4 March. 2023-01-14: plans", (None, 3, 4)),
        ("15/7/2023", (2023, 7, 15)),
    ],
)
def test_parts_that_are_not_said_are_none(text: str, parts: tuple[int | None, ...]) -> None:
    assert find_dates(text)[0][2:5] == parts


@pytest.mark.parametrize(
    "text", ["I may go", "5 may be enough", "we march on", "the 3 mars bars", "1/2/03", "2023", "Sun and sea"]
)
def test_words_and_numbers_that_are_no_dates(text: str) -> None:
    assert find_dates(text) == []


def test_numbers_that_can_be_read_two_ways() -> None:
    (mention,) = find_dates("5/7/2023")
    assert mention[2:5] == (2023, 5, 7) and mention.other == (2023, 7, 5)


@pytest.mark.parametrize(
    ("text", "resolved"),
    [
        ("The Friday before 15 July 2023", "2023-07-14"),
        ("the day after 31 December, 2023", "2024-01-01"),
        ("on the Sunday before 9 July 2023", "2023-07-02"),  # 9 July 2023 is a Sunday itself
        ("the week before 9 July 2023", None),
        ("9 July 2023", None),
    ],
)
def test_days_before_and_after(text: str, resolved: str | None) -> None:
    assert resolve(text) == resolved


@given(
    st.dates(date(1900, 1, 1), date(2099, 12, 31)),
    st.sampled_from(["%Y-%m-%d", "%d %B %Y", "%B %d, %Y", "%Y年%m月%d日"]),
)
def test_every_day_of_the_calendar(day: date, form: str) -> None:
    (mention,) = find_dates(f"It was on {day.strftime(form)}.")
    assert mention[2:5] == (day.year, day.month, day.day)


@given(st.text())
def test_any_text_has_mentions_in_order(text: str) -> None:
    mentions = find_dates(text)
    assert all(a.stop <= b.start for a, b in pairwise(mentions))
