from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from components.lane.window import Window
from components.types import Document
from tests.component.retrieval import conf, ids, query, sqlite

DAY = datetime(2024, 1, 1, 9, tzinfo=UTC)
TALK = ("Where did you go?", "To the sea, in a kayak.", "Was it cold?", "The water was ice.", "Brave!")


def talk(*sessions: tuple[str, ...]) -> tuple[Document, ...]:
    texts = [(text, DAY + timedelta(days=day)) for day, its in enumerate(sessions) for text in its]
    return tuple(Document(f"d{i:02d}", text, created=when) for i, (text, when) in enumerate(texts))


def lane(radius: int | None) -> Window:
    return Window(**{**conf("lane", "window"), "store": sqlite(), "radius": radius})


def test_neighbours_of_the_word_are_found_and_no_others() -> None:
    index = sqlite().index(talk(TALK, ("A tent and a stove.",)))
    assert set(ids(lane(1).search(query("kayak"), index, (), 9))) == {"d00", "d01", "d02"}
    assert set(ids(lane(2).search(query("kayak"), index, (), 9))) == {"d00", "d01", "d02", "d03"}


def test_a_window_ends_with_its_session() -> None:
    index = sqlite().index(talk(("We met at noon.", "I sold the kayak."), ("Good evening.", "What is new?")))
    assert set(ids(lane(5).search(query("kayak"), index, (), 9))) == {"d00", "d01"}


def test_no_radius_is_the_whole_session_with_one_score() -> None:
    index = sqlite().index(talk(TALK, ("A tent and a stove.", "And rain.")))
    found = lane(None).search(query("tent"), index, (), 9)
    assert ids(found) == ["d05", "d06"]
    assert found[0].parts["bm25.window"] == found[1].parts["bm25.window"] > 0
    assert [hit.score for hit in found] == [1.0, 0.5]


def test_two_words_of_one_window_beat_one() -> None:
    """The reason for the lane: question and answer stand in two turns."""
    index = sqlite().index(talk(("How deep is the lake?", "Nine metres."), ("The lake froze.", "Cold!")))
    assert ids(lane(1).search(query("lake metres"), index, (), 9))[:2] == ["d00", "d01"]


def test_another_haystack_gets_its_own_windows() -> None:
    one = lane(1)
    first, second = sqlite().index(talk(TALK)), sqlite().index(talk(("A kayak again.",)))
    assert len(one.search(query("kayak"), first, (), 9)) == 3
    assert ids(one.search(query("kayak"), second, (), 9)) == ["d00"]
    assert len(one.search(query("kayak"), first, (), 9)) == 3


def test_stop_words_alone_find_nothing_and_a_radius_is_one_or_more() -> None:
    assert lane(1).search(query("who were they"), sqlite().index(talk(TALK)), (), 9) == []
    with pytest.raises(ValueError, match="radius: 0 is not 1 or more"):
        replace(lane(1), radius=0)
