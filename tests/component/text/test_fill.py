"""Prompt templates: data is never a template."""

from datetime import UTC, datetime

from components.text.fill import fields, fill, written_day


def test_values_with_braces_are_left_alone() -> None:
    assert fill("Q: {question} A: {answer} {x}", {"question": "{answer}", "answer": "{0} ${y}"}) == (
        "Q: {answer} A: {0} ${y} {x}"
    )


def test_fields_of_a_template() -> None:
    assert fields("{a} {b_c} {} {D} {{a}}") == {"a", "b_c"}


def test_a_date_with_its_weekday() -> None:
    assert written_day(datetime(2023, 5, 8, 13, 56, tzinfo=UTC), "unknown") == "2023-05-08 (Monday)"
    assert written_day(None, "unknown") == "unknown"
