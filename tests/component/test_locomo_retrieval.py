"""The retrieval slots on the operator's LoCoMo: published figures, and figures measured by other means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from components.embedder.static import Static
from components.fusion.rrf import Rrf
from components.lane.dense import Dense
from components.lane.lexical import Lexical
from components.pipeline import Pipeline
from components.types import Haystack, Lane, Store
from tests.component.dataset.shapes import DATA, built, loaded, real_data
from tests.component.retrieval import SCOPE, conf, lancedb, sqlite

REAL = "locomo/locomo10.json"
PLAIN = "[Session {session}] {speaker}: {text}"
DATED = "[Session {session} | {date}] {speaker}: {text}"
WORDS = Lexical(**conf("lane", "lexical"))
WHOLE = replace(WORDS, terms="edges", stop_words="")
TEN = replace(WHOLE, max_terms=10)
DEPTH = 50


def read(unit: str, text: str) -> list[Haystack]:
    dataset = built("locomo", DATA, path=REAL, unit=unit, text=text, captions=False, evidence="verbatim")
    return loaded(dataset)


def measured(haystacks: list[Haystack], store: Store, lane: Lane) -> dict[str, float]:
    """Means over the questions whose evidence names something: hits, MRR@10, and hit@5 of sessions."""
    name = "dense" if isinstance(lane, Dense) else "lexical"
    fusion = Rrf(**conf("fusion", "rrf"))
    system = Pipeline(store, {}, {name: lane}, fusion, None, {}, {}, {}, 2, 1e-9)
    rows = []
    for haystack in haystacks:
        with system.open(SCOPE) as memory:
            memory.add(haystack.documents)
            for sample in haystack.samples:
                if sample.gold.qrels:
                    found = [h.document.id for h in memory.recall(sample.question, DEPTH).hits]
                    rows.append(_row(haystack, found, set(sample.gold.qrels)))
    means = np.array(rows).mean(axis=0)
    return {"n": len(rows), **dict(zip(MEASURES, means.tolist(), strict=True))}


MEASURES = ("hit@1", "hit@5", "hit@10", "recall@5", "mrr", "session hit@5")


def _row(haystack: Haystack, found: list[str], gold: set[str]) -> list[float]:
    first = next((rank for rank, name in enumerate(found[:10], start=1) if name in gold), None)
    sessions = list(dict.fromkeys(haystack.refs[name].session for name in found))[:5]
    return [
        *(float(bool(gold & set(found[:k]))) for k in (1, 5, 10)),
        len(gold & set(found[:5])) / len(gold),
        1 / first if first else 0.0,
        float(any(haystack.refs[name].session in sessions for name in gold)),
    ]


@pytest.mark.real_data
@real_data(REAL)
def test_static_vectors_give_the_known_figures() -> None:
    """Measured with another program: hit@1/5/10 .219/.383/.466 over 1,531 questions, "speaker: text"."""
    static = Static(**conf("embedder", "static"))
    found = measured(read("turn", "{speaker}: {text}"), sqlite(static), Dense())
    assert found["n"] == 1531
    assert [round(found[f"hit@{k}"], 3) for k in (1, 5, 10)] == [0.219, 0.383, 0.466]


@pytest.mark.real_data
@real_data(REAL)
@pytest.mark.parametrize(
    ("unit", "text", "lane", "below"),
    [
        ("session", "json", WORDS, set()),
        ("turn", PLAIN, TEN, set()),
        ("turn", DATED, WHOLE, {"session hit@5"}),
    ],
    ids=["comis", "ghost", "ghost uncapped"],
)
def test_lancedb_is_not_below_sqlite(unit: str, text: str, lane: Lexical, below: set[str]) -> None:
    """One figure of 17 is below, by less than .01: whole questions with their stop words (see DESIGN.md)."""
    haystacks = read(unit, text)
    oracle, found = (measured(haystacks, make(), lane) for make in _MAKERS)
    assert {m for m in MEASURES if found[m] < oracle[m]} == below, (found, oracle)
    assert all(oracle[m] - found[m] < 0.01 for m in below)


_MAKERS: tuple[Callable[[], Store], ...] = (sqlite, lancedb)
