"""F16, F17: every accepted form is one exact moment; everything else is a named error, never the clock."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.files import dates

ACCEPTED = {
    "2023/05/20 (Sat) 02:21": (2023, 5, 20, 2, 21),
    "2023/05/20 (土) 02:21": (2023, 5, 20, 2, 21),
    "2023/05/20 (Saturday) 02:21": (2023, 5, 20, 2, 21),
    "2023/05/20": (2023, 5, 20, 0, 0),
    "2023-05-20": (2023, 5, 20, 0, 0),
    "2023/05/20 02:21": (2023, 5, 20, 2, 21),
    "2023-05-20T02:21:59Z": (2023, 5, 20, 2, 21),
    "2023-05-20T02:21:59.123+02:00": (2023, 5, 20, 0, 21),
    "2023-05-20 23:30-0130": (2023, 5, 21, 1, 0),
    "1:56 pm on 8 May, 2023": (2023, 5, 8, 13, 56),
    "1:56 p.m. on 8 May, 2023": (2023, 5, 8, 13, 56),
    "1:56 PM on 8 May 2023": (2023, 5, 8, 13, 56),
    "12:05 am on 1 January, 2024": (2024, 1, 1, 0, 5),
    "12:05 pm on 1 January, 2024": (2024, 1, 1, 12, 5),
    "0:15 am on 1 January, 2024": (2024, 1, 1, 0, 15),
    "13:56 pm on 8 May, 2023": (2023, 5, 8, 13, 56),
    "9:55  am on 22 Oct., 2023": (2023, 10, 22, 9, 55),
    "8 May, 2023": (2023, 5, 8, 0, 0),
    "2024/02/29 (Thu) 10:00": (2024, 2, 29, 10, 0),
}
REFUSED = [
    "",
    "tbd",
    "now",
    "2023/02/29 (Wed) 10:00",
    "10:00 am on 31 June, 2023",
    "2023/13/01",
    "2023/00/10",
    "2023/05/20 (Sat) 24:00",
    "2023/05/20 (Sat) 12:60",
    "13:56 am on 8 May, 2023",
    "0:15 pm on 8 May, 2023",
    "1:56 pm on 8 Mai, 2023",
    "05/06/2023",
    "8.5.2023",
    "2023/05-20",
    "1684549260",
    "٢٠٢٣/05/20",
    "0001-01-01 00:00+05:00",
]


@pytest.mark.parametrize("text", ACCEPTED)
def test_an_accepted_form_is_one_moment(text: str) -> None:
    assert dates.read(text) == (datetime(*ACCEPTED[text], tzinfo=UTC), True)


@pytest.mark.parametrize("text", REFUSED)
def test_anything_else_is_a_named_error_and_then_no_date(text: str) -> None:
    with pytest.raises(dates.DateError):
        dates.read(text)
    notes: Counter[str] = Counter()
    assert dates.counted(text, notes) is None
    assert +notes == {"undated": 1}


@pytest.mark.parametrize(
    "text", ["2023/05/20 (Fri) 02:21", "2023/05/20 (金) 02:21", "2023/05/20 (Foo) 02:21"]
)
def test_a_wrong_weekday_is_counted_and_the_date_read(text: str) -> None:
    notes: Counter[str] = Counter()
    assert dates.counted(text, notes) == datetime(2023, 5, 20, 2, 21, tzinfo=UTC)
    assert +notes == {"weekday_mismatch": 1}


MINUTES = st.datetimes(datetime(1950, 1, 1), datetime(2099, 12, 31)).map(
    lambda d: d.replace(second=0, microsecond=0, tzinfo=UTC)
)


@given(MINUTES)
def test_what_the_official_files_write_comes_back(moment: datetime) -> None:
    half = moment.strftime("%I:%M %p on ").lower() + f"{moment.day} {moment:%B}, {moment.year}"
    for text in (moment.strftime("%Y/%m/%d (%a) %H:%M"), half, moment.isoformat()):
        assert dates.read(text) == (moment, True)


@given(st.text(max_size=30))
def test_any_text_is_a_date_or_a_date_error(text: str) -> None:
    try:
        moment = dates.read(text)
    except dates.DateError:
        return
    assert moment.at.tzinfo is UTC
