"""Both stores keep the same promises; SQLite is the oracle of LanceDB."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.types import ComponentError, Document, Index, Store
from tests.component.retrieval import STORES, Letters, documents, ids, lancedb, sqlite

Make = Callable[..., Store]
TURNS = documents(
    "Biscuit the dog chased a red kayak",
    "Save failed, Message: {0}, Trace: {1}",
    "Ana sold the kayak on 8 May 2023",
    "новый красный проспект",
    "TODO: call the well-known doctor, it's urgent",
    "NEAR the lake, OR AND NOT so near",
)


@pytest.fixture(params=sorted(STORES))
def make(request: pytest.FixtureRequest) -> type[Store]:
    made: type[Store] = STORES[request.param]
    return made


@pytest.mark.parametrize(
    ("terms", "first"),
    [
        (["Save", "failed", "Message:", "{0}", "Trace:", "{1}?"], "d02"),  # F29
        (['"Biscuit the dog"'], "d01"),  # F31
        (['"Biscuit', "the", 'dog"'], "d01"),
        (["проспект"], "d04"),  # F39
        (["well-known"], "d05"),  # F35
        (["TODO:"], "d05"),
        (["NEAR(", "*", "-", "AND", "OR", "NOT", "lake:x"], "d06"),
        (["text:kayak"], None),  # FTS5: a phrase of both words; LanceDB: any of them. No column filter
        (["kay*"], None),
        (["*"], None),
        (["🎉"], None),
        (['"'], None),
        (['""'], None),
        (["\0"], None),
        (["\ud83c"], None),
        (["^lake", "{", "}", "+", "(", ")"], "d06"),
    ],
)
def test_user_text_is_words_and_never_a_query(make: Make, terms: list[str], first: str | None) -> None:
    index = make().index(TURNS)
    found = index.match(terms, 5)
    assert all(hit.score > 0 and math.isfinite(hit.score) for hit in found)
    if first is not None:
        assert found[0].document.id == first
    if terms in (["kay*"], ["*"], ["🎉"], ['"'], ['""'], ["\0"], ["\ud83c"]):
        assert found == []


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(max_size=12), max_size=8))
def test_any_text_can_be_asked_for(terms: list[str]) -> None:
    for index in _shared():
        found = index.match(terms, 3)
        assert len(found) <= 3
        assert [h.score for h in found] == sorted((h.score for h in found), reverse=True)


_INDICES: list[Index] = []


def _shared() -> list[Index]:
    if not _INDICES:
        _INDICES.extend(make().index(TURNS) for make in STORES.values())
    return _INDICES


def test_a_long_question_is_an_or(make: Make) -> None:
    """F34: 12 words of which the turn shares 2; and 3,000 words do not break the engine."""
    index = make().index(TURNS)
    asked = "could you tell me whenever somebody called Ana actually parted with kayak"
    assert ids(index.match(asked.split(), 1)) == ["d03"]
    assert ids(index.match([f"nothing{n}" for n in range(3000)] + ["lake"], 3)) == ["d06"]


def test_the_stores_agree_where_their_analysers_do(make: Make) -> None:
    """Sizes and words for which idf, stemmer and stop words do not matter: the order is FTS5's."""
    texts = [f"{'apple ' * (n % 4)}{'pear ' * (n % 3)}fruit{n} basket{n % 5}" for n in range(60)]
    asked = [["apple"], ["apple", "pear"], ["basket3"], ["fruit7", "pear"], ["apple", "basket1", "basket2"]]
    index, oracle = make().index(documents(*texts)), sqlite().index(documents(*texts))
    for terms in asked:
        assert set(ids(index.match(terms, 60))) == set(ids(oracle.match(terms, 60))), terms
    for terms in (["apple"], ["basket3"]):  # one term: no idf in the order
        assert ids(index.match(terms, 10)) == ids(oracle.match(terms, 10))


def test_ties_go_by_document_id_and_top_k_is_a_prefix(make: Make) -> None:
    """200 equal rows: more than any over-fetch, given in a mixed order."""
    same = [Document(f"d{(n * 77) % 200:03d}", "the same kayak") for n in range(200)]
    index = make(Letters()).index(same)
    expected = sorted(document.id for document in same)
    for k in (1, 7, 50, 200, 500):
        assert ids(index.match(["kayak"], k)) == expected[:k]
        assert ids(index.nearest(index.embed(["kayak"]), k)) == expected[:k]


def test_nearest_is_the_exact_cosine(make: Make) -> None:
    rng = np.random.default_rng(7)
    texts = ["".join(chr(97 + c) for c in rng.integers(0, 26, 30)) for _ in range(120)]
    index = make(Letters()).index(documents(*texts))
    asked = ["abcabc", "xyz"]
    queries = index.embed(asked)
    found = index.nearest(queries, 120)
    rows = np.array([[t.count(chr(97 + n)) for n in range(26)] for t in texts], float)
    wanted = np.array([[a.count(chr(97 + n)) for n in range(26)] for a in asked], float)
    cosines = rows @ wanted.T / np.linalg.norm(rows, axis=1)[:, None] / np.linalg.norm(wanted, axis=1)
    best = np.round(cosines.max(axis=1), 6)
    assert [h.score for h in found] == pytest.approx(sorted(best, reverse=True), abs=2e-6)
    assert {h.document.id: h.score for h in found} == pytest.approx(
        {f"d{place + 1:02d}": value for place, value in enumerate(best)}, abs=2e-6
    )


def test_both_roles_reach_the_embedder(make: Make) -> None:
    """F58: a document is not embedded as a query."""
    embedder = Letters()
    index = make(embedder).index(documents("kayak"))
    index.embed(["where?"])
    assert embedder.seen == [("document", "kayak"), ("query", "where?")]
    assert index.vectors(["d01"]).shape == (1, 26)


def test_a_stored_sentence_finds_itself(make: Make) -> None:
    """F63, F40: both legs return what was stored."""
    index = make(Letters()).index(TURNS[:3])
    for document in TURNS[:3]:
        assert ids(index.match(document.text.split(), 1)) == [document.id]
        assert ids(index.nearest(index.embed([document.text]), 1)) == [document.id]


@pytest.mark.parametrize("bad", [np.zeros((1, 26)), np.full((1, 26), np.nan), np.ones((1, 25))])
def test_a_useless_query_vector_is_an_error_not_an_empty_list(make: Make, bad: np.ndarray) -> None:
    """F55."""
    index = make(Letters()).index(TURNS[:3])
    with pytest.raises(ComponentError) as caught:
        index.nearest(bad.astype(np.float32), 3)
    assert caught.value.stage == "embed"


def test_what_cannot_be_stored_is_named(make: Make) -> None:
    """F55 (a zero row), F56 (blank), a repeated id."""
    with pytest.raises(ComponentError, match=r"zero vector.*1234"):
        make(Letters()).index(documents("kayak", "1234"))
    with pytest.raises(ComponentError, match=r"index: blank document \(d02\)"):
        make().index(documents("kayak", " \n"))
    with pytest.raises(ComponentError, match=r"index: repeated document id \(d01\)"):
        make().index([*documents("kayak"), *documents("boat")])


def test_without_an_embedder_the_vector_leg_says_so(make: Make) -> None:
    index = make().index(TURNS)
    for call in (lambda: index.embed(["a"]), lambda: index.nearest(np.ones((1, 26), np.float32), 3)):
        with pytest.raises(ComponentError, match="dense: no embedder"):
            call()


def test_a_failing_text_leg_is_an_error(make: Make) -> None:
    """F35: a closed index stands for any engine fault."""
    index = make(Letters()).index(TURNS[:3])
    index.close()
    with pytest.raises(ComponentError):
        index.match(["kayak"], 3)


def test_any_text_can_be_stored(make: Make) -> None:
    """NUL and half an emoji, as a careless JSON writer leaves them."""
    index = make(Letters()).index(documents("kayak\0 red \ud83c shore", "boat"))
    assert ids(index.match(["shore"], 3)) == ["d01"] == ids(index.match(["kayak"], 3))
    assert index.documents[0].text == "kayak\0 red \ud83c shore"


def test_an_empty_haystack_finds_nothing(make: Make) -> None:
    index = make(Letters()).index(())
    assert index.match(["kayak"], 3) == [] and index.nearest(index.embed(["kayak"]), 3) == []


def test_haystacks_do_not_see_each_other(make: Make) -> None:
    store = make()
    first, second = store.index(documents("red kayak")), store.index(documents("blue boat"))
    assert first.match(["boat"], 3) == [] and second.match(["kayak"], 3) == []
    assert ids(first.match(["kayak"], 3)) == ["d01"] == ids(second.match(["boat"], 3))


def test_cjk_needs_its_tokenizer() -> None:
    """F38: a run of CJK letters is one word to the default; the ngram option finds a part of it."""
    turn = documents("不過我上週去了大阪看朋友", "今天天氣很好")
    assert lancedb().index(turn).match(["大阪"], 3) == []
    ngrams = {"base_tokenizer": "ngram", "ngram_min_length": 2, "ngram_max_length": 2, "stem": False}
    assert ids(lancedb(fts=ngrams).index(turn).match(["大阪"], 3)) == ["d01"]
    assert ids(lancedb(fts={"base_tokenizer": "icu"}).index(turn).match(["大阪"], 3)) == ["d01"]


def test_another_language_is_a_setting() -> None:
    """F39: Russian stems."""
    turn = documents("новые красные проспекты")
    assert lancedb().index(turn).match(["проспект"], 3) == []
    russian = lancedb(fts={"language": "Russian"}, stop_words="")
    assert ids(russian.index(turn).match(["проспект"], 3)) == ["d01"]
