"""The shipped questions: what they must cover, and that the two readers read them as one dataset."""

from __future__ import annotations

import pickle
import re
from collections import Counter
from typing import Any

import pytest

from components.dataset import locomo, longmemeval
from components.types import Dataset
from tests.component.dataset.shapes import built, loaded, notes, seen_by_a_system

CATEGORIES = {*longmemeval.CATEGORIES, *locomo.CATEGORIES.values()}


def test_it_covers_every_category_two_abstentions_dates_captions_and_other_scripts() -> None:
    dataset = built("fixture", None)
    assert isinstance(dataset, Dataset)
    assert dataset.problems() == []
    haystacks = loaded(dataset)
    samples = [s for h in haystacks for s in h.samples]
    assert len(samples) == 26
    assert {s.category for s in samples} == CATEGORIES
    assert sum(not s.gold.answerable for s in samples if s.source_id.endswith("_abs")) == 2
    assert sum(not s.gold.answerable for s in samples) == 4
    assert all(s.question.asked for s in samples)
    assert all(d.created for h in haystacks for d in h.documents)
    assert {"3", "2016"} <= {a for s in samples for a in s.gold.answers}  # numbers in the files
    questions = " ".join(s.question.text for s in samples)
    assert re.search("[ぁ-ん]", questions)
    assert re.search("[一-鿿]", questions)
    assert "Wie heißt" in questions
    assert Counter(s.question.text for s in samples).most_common(1)[0][1] == 2
    assert notes(haystacks) == {
        "orphan_dates": 3,
        "repeated_questions": 1,
        "evidence_split": 3,
        "evidence_mended": 2,
        "evidence_unresolved": 1,
    }


def test_haystacks_are_numbered_through_and_not_trivial() -> None:
    dataset = built("fixture", None)
    places = list(dataset.items())
    assert [(p.haystack, p.position) for p in places] == [(f"h{i:04d}", i) for i in range(14)]
    assert len(dataset.files()) == 2
    clone = pickle.loads(pickle.dumps(dataset))
    for place in reversed(places):
        haystack = clone.load(place)
        assert haystack.id == place.haystack
        assert all(s.question.id.startswith(f"{place.haystack}-q") for s in haystack.samples)
        assert len(haystack.documents) >= 24
        assert all(len(s.gold.qrels) <= 3 for s in haystack.samples)


@pytest.mark.parametrize("unit", ["turn", "session"])
@pytest.mark.parametrize(
    "text", ["[{date}] {speaker}: {text}", "{role} {text} {day} {session} {turn} {caption}"]
)
def test_no_marker_of_the_gold_reaches_a_system(unit: str, text: str) -> None:
    for haystack in loaded(built("fixture", None, unit=unit, text=text)):
        seen = seen_by_a_system(haystack)
        sources = {ref.session for ref in haystack.refs.values()} | {s.source_id for s in haystack.samples}
        for marker in (
            "answer_",
            "has_answer",
            "fx",
            "pictures.example",
            *sources,
            *CATEGORIES - {"temporal"},
        ):
            assert marker not in seen


def test_answerable_gold_is_in_the_gold_documents_where_a_word_can_show_it() -> None:
    """Some answers stand in their evidence letter by letter: a keyless answerer can find them."""
    found = 0
    for haystack in loaded(built("fixture", None)):
        texts = {d.id: d.text for d in haystack.documents}
        for sample in haystack.samples:
            shown = "".join(texts[i] for i in sample.gold.qrels)
            found += sample.gold.answerable and any(a in shown for a in sample.gold.answers)
    assert found >= 8


@pytest.mark.parametrize(
    ("changes", "questions", "files"),
    [
        ({"categories": ["adversarial"]}, 2, 1),
        ({"categories": ["knowledge-update"]}, 2, 1),
        ({"categories": ["knowledge-update", "temporal"]}, 4, 2),
        ({"evidence": "verbatim"}, 26, 2),
    ],
)
def test_parameters_reach_the_readers(changes: dict[str, Any], questions: int, files: int) -> None:
    dataset = built("fixture", None, **changes)
    assert sum(len(h.samples) for h in loaded(dataset)) == questions
    assert len(dataset.files()) == files


@pytest.mark.parametrize(
    "changes", [{"categories": ["adverserial"]}, {"text": "{x}"}, {"unit": "x"}, {"evidence": "x"}]
)
def test_a_bad_value_is_refused_when_built(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        built("fixture", None, **changes)
