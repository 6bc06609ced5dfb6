"""The named slots together, over real stores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from components.factor.recency import Recency
from components.factor.trust import Trust as TrustFactor
from components.filter.floor import Floor
from components.filter.trust import Trust
from components.fusion.rrf import Rrf
from components.lane.dense import Dense
from components.lane.lexical import Lexical
from components.pipeline import Pipeline
from components.stages import ordered
from components.types import (
    ComponentError,
    Document,
    FatalError,
    Hit,
    Index,
    Query,
    Question,
    Recall,
    Scores,
    System,
)
from tests.component.retrieval import NOW, SCOPE, STORES, Letters, conf, documents, ids, sqlite

LEXICAL = Lexical(**conf("lane", "lexical"))
RRF = Rrf(**conf("fusion", "rrf"))
TURNS = documents("Ana sold the kayak", "Ben bought a tent", "the kayak was red", "snow day")


def pipeline(**changed: Any) -> Pipeline:
    parts: dict[str, Any] = {
        "store": sqlite(Letters()),
        "understanding": {},
        "lanes": {"lexical": LEXICAL, "dense": Dense()},
        "fusion": RRF,
        "reranker": None,
        "factors": {},
        "filters": {},
        "reorder": {},
    }
    return Pipeline(**{"overfetch": 2, "tie": 1e-9, **parts, **changed})


def ask(system: System, turns: Sequence[Document], text: str, k: int, asked: Any = None) -> Recall:
    with system.open(SCOPE) as memory:
        memory.add(turns)
        return memory.recall(Question("q1", text, asked), k)


@pytest.mark.parametrize("store", sorted(STORES))
def test_every_hit_says_who_gave_what(store: str) -> None:
    made = pipeline(store=STORES[store](Letters()), factors={"recency": Recency(0.2)})
    recall = ask(made, [replace(d, created=NOW) for d in TURNS], "red kayak", 3)
    best = recall.hits[0]
    assert best.document.id == "d03" and recall.ranked
    assert set(best.parts) == {"bm25", "lexical", "cosine", "dense", "fused", "factor.recency"}
    assert best.parts["fused"] == pytest.approx(best.parts["lexical"] + best.parts["dense"])
    assert best.score == pytest.approx(best.parts["fused"] * best.parts["factor.recency"])
    assert best.parts["factor.recency"] == 1.1
    assert recall.trace.lanes == {"lexical": 2, "dense": 4}
    assert {"lexical", "dense", "fusion", "factors"} <= set(recall.trace.seconds)
    assert len(set(ids(recall.hits))) == len(recall.hits) == 3  # F43


def test_now_is_the_question_then_the_newest_document() -> None:
    turns = [replace(TURNS[0], created=NOW.replace(day=1)), replace(TURNS[1], created=NOW.replace(day=9))]
    made = pipeline(lanes={"lexical": LEXICAL}, factors={"recency": Recency(1.0)})
    (asked,) = ask(made, turns, "kayak", 1, NOW).hits
    assert asked.parts["factor.recency"] == pytest.approx(1 + 1 / 11 - 0.5)
    (newest,) = ask(made, turns, "kayak", 1).hits
    assert newest.parts["factor.recency"] == pytest.approx(1 + 1 / 9 - 0.5)
    (dateless,) = ask(made, TURNS[:1], "kayak", 1).hits
    assert dateless.parts["factor.recency"] == 1.0


def test_a_second_add_indexes_the_union() -> None:
    with pipeline().open(SCOPE) as memory:
        memory.add(TURNS[:2])
        memory.add(TURNS[2:])
        together = memory.recall(Question("q", "kayak"), 4)
    assert [(h.document.id, h.score) for h in together.hits] == [
        (h.document.id, h.score) for h in ask(pipeline(), TURNS, "kayak", 4).hits
    ]


def test_filtered_documents_never_come_and_are_written_down() -> None:
    turns = (replace(TURNS[0], trust="external"), *TURNS[1:])
    filters = {"trust": Trust(["system", "learned"]), "floor": Floor(0.1)}
    recall = ask(pipeline(filters=filters), turns, "Ana sold the kayak", 4)
    assert "d01" not in ids(recall.hits)
    assert ("d01", "trust", "external") in recall.trace.cut


def test_overfetch_fills_the_gap_that_a_filter_makes() -> None:
    turns = [
        Document(f"d{n}", "kayak " * (9 - n), trust="external" if n < 2 else "learned") for n in range(8)
    ]
    kept = {"trust": Trust(["learned"])}
    lanes = {"lexical": LEXICAL}
    assert len(ask(pipeline(lanes=lanes, filters=kept), turns, "kayak", 2).hits) == 2
    assert len(ask(pipeline(lanes=lanes, filters=kept, overfetch=1), turns, "kayak", 2).hits) == 0


def test_order_within_a_tie_is_trust_then_id() -> None:
    system, learned, external = (
        Document("d3", "a", trust="system"),
        Document("d1", "b"),
        Document("d0", "c", trust="external"),
    )
    close = [Hit(external, 0.5 + 4e-10), Hit(learned, 0.5), Hit(system, 0.5 - 4e-10), Hit(TURNS[1], 0.5)]
    assert ids(ordered(close, 1e-9)) == ["d3", "d02", "d1", "d0"]
    assert ids(ordered(close, 0.0)) == ["d0", "d02", "d1", "d3"]


def test_trust_turns_a_rank() -> None:
    turns = [replace(TURNS[0], trust="external"), replace(TURNS[2], trust="system")]
    factors = {"trust": TrustFactor(2.0, {"system": 1.0, "learned": 0.5, "external": 0.0})}
    assert ids(ask(pipeline(), turns, "Ana kayak", 2).hits)[0] == "d01"
    assert ids(ask(pipeline(factors=factors), turns, "Ana kayak", 2).hits)[0] == "d03"


def test_stop_words_only_leave_the_dense_lane() -> None:
    recall = ask(pipeline(), TURNS, "who are you?", 2)
    assert recall.trace.lanes == {"lexical": 0, "dense": 4} and len(recall.hits) == 2


def test_a_script_without_blanks_is_noted() -> None:
    assert ask(pipeline(lanes={"lexical": LEXICAL}), TURNS, "大阪はどこ", 2).trace.notes == {
        "unsegmented_script": 1
    }


def test_a_lane_without_a_weight_is_a_config_error() -> None:
    with pytest.raises(ValueError, match=r"no weight for lane dense; set fusion\.weights"):
        pipeline(fusion=Rrf(60, {"lexical": 1.0}))
    with pytest.raises(ValueError, match="lane"):
        pipeline(lanes={})
    with pytest.raises(ValueError, match="k: 0"):
        ask(pipeline(), TURNS, "kayak", 0)


@dataclass(frozen=True)
class Faulty:
    """A lane, factor and reorder that does one wrong thing."""

    error: Exception | None = None
    x: float = 0.5
    weight: float = 1.0

    def search(self, query: Query, index: Index, seeds: Sequence[Hit], k: int) -> list[Hit]:
        if self.error:
            raise self.error
        return [Hit(TURNS[0], 1.0), Hit(TURNS[0], 0.5)]

    def score(self, query: Query, hits: Sequence[Hit]) -> Scores:
        return np.full(len(hits), self.x)

    def order(self, query: Query, hits: Sequence[Hit], index: Index) -> list[Hit]:
        return list(hits[1:])


@pytest.mark.parametrize(
    ("changed", "stage", "reason"),
    [
        ({"lanes": {"lexical": LEXICAL, "dense": Faulty()}}, "dense", "a document twice"),
        ({"lanes": {"dense": Faulty(ComponentError("embed", "zero vector"))}}, "dense", "zero vector"),
        ({"lanes": {"dense": Faulty(ComponentError("dense", "closed"))}}, "dense", "closed"),
        ({"store": sqlite(None)}, "dense", "no embedder"),
        ({"factors": {"odd": Faulty(x=float("nan"))}}, "factors", "not within 0 and 1"),
        ({"factors": {"odd": Faulty(x=1.5)}}, "factors", "not within 0 and 1"),
        ({"factors": {"odd": Faulty(weight=float("nan"))}}, "factors", "score not finite"),
        ({"reorder": {"odd": Faulty()}}, "odd", "a reorder changed what is recalled"),
    ],
)
def test_a_fault_bears_the_name_of_its_stage(changed: dict[str, Any], stage: str, reason: str) -> None:
    """F35: never an empty list; one failing lane fails the question, counted under the lane's name."""
    with pytest.raises(ComponentError) as caught:
        ask(pipeline(**changed), TURNS, "Ana kayak", 3)
    assert (caught.value.stage, caught.value.reason) == (stage, reason)


def test_a_fatal_error_stays_one() -> None:
    with pytest.raises(FatalError):
        ask(pipeline(lanes={"dense": Faulty(FatalError("llm", "401"))}), TURNS, "kayak", 3)


def test_a_memory_is_closed_and_asked_too_early() -> None:
    memory = pipeline().open(SCOPE)
    with pytest.raises(ComponentError, match="nothing added"):
        memory.recall(Question("q", "kayak"), 3)
    with memory:
        memory.add(TURNS)
    with pytest.raises(ComponentError, match="nothing added"):
        memory.recall(Question("q", "kayak"), 3)
