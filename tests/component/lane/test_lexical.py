from __future__ import annotations

from dataclasses import replace

import pytest

from components.lane.lexical import Lexical
from tests.component.retrieval import conf, documents, ids, query, sqlite

LEXICAL = Lexical(**conf("lane", "lexical"))
INDEX = sqlite().index(documents("Ana sold the kayak", "who is the one", "a snow day", "kayak kayak tent"))


def test_rank_scores_and_the_stores_score_beside() -> None:
    found = LEXICAL.search(query("Who has the kayak?"), INDEX, (), 5)
    assert ids(found) == ["d04", "d01"]
    assert [hit.score for hit in found] == [1.0, 0.5]
    assert [hit.parts["bm25"] for hit in found] == [hit.score for hit in INDEX.match(["kayak"], 5)]


def test_stop_words_alone_find_nothing() -> None:
    """Not an error, and not what a search for "who" and "the" would find."""
    assert LEXICAL.search(query("Who is the one?"), INDEX, (), 5) != []  # "one" is no stop word
    assert LEXICAL.search(query("WHO were they?"), INDEX, (), 5) == []
    assert ids(replace(LEXICAL, stop_words="").search(query("who were they"), INDEX, (), 5)) == ["d02"]


def test_max_terms_are_the_first_of_each_text() -> None:
    """Ghost's rule: the cap comes without stop words, so the word that matters may be lost."""
    ghost = replace(LEXICAL, terms="edges", stop_words="", max_terms=3)
    assert ids(ghost.search(query("which day was (snow) it"), INDEX, (), 5)) == ["d03"]
    assert ids(ghost.search(query("which was then kayak"), INDEX, (), 5)) == []
    assert set(ids(ghost.search(query("which was then", "snow", "tent"), INDEX, (), 5))) == {"d03", "d04"}


def test_the_list_of_stop_words_is_the_seeds() -> None:
    listed = LEXICAL.stop_words.split()
    assert len(listed) == len(set(listed)) and 105 <= len(listed) <= 140
    assert {"a", "whom", "ours", "no", "on", "up", "down"} <= set(listed)


@pytest.mark.parametrize("wrong", [{"terms": "tokens"}, {"max_terms": 0}])
def test_config_errors(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Lexical(**{**conf("lane", "lexical"), **wrong})
