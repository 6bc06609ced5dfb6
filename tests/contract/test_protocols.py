"""What each protocol promises, held against every option of its group: a new one is tested by being there."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from components.types import Answer, ComponentError, Document, Haystack, Hit, Query, Question, Scope
from components.types import Usage as Spent
from tests.component.dataset.shapes import chat, loaded, qa, seen_by_a_system, talk
from tests.component.judge.samples import sample
from tests.component.retrieval import Letters
from tests.contract.options import component, names, node
from tests.loopback import Loopback, say

NOW = datetime(2024, 1, 31, tzinfo=UTC)
SCOPE = Scope("t", "a", "u")
QUESTION = Question("h1-q1", "When did Ana sell the kayak?", NOW)
QUERY = Query(QUESTION, (QUESTION.text,), NOW, SCOPE)
HITS = [
    Hit(
        Document(
            name,
            f"Ana sold kayak {name}",
            created=NOW - timedelta(days=days),
            occurred=NOW - timedelta(days=days),
            trust=trust,
            proof=proof,
            speaker=speaker,
            confidence=0.8,
            importance=0.3,
        ),
        score,
    )
    for name, score, days, trust, proof, speaker in (
        ("d1", 0.9, 0, "system", 1, "Ana"),
        ("d2", 0.5, 30, "learned", 1000, "Ben"),
        ("d3", 0.05, 4000, "external", 3, "Ana"),
    )
]
BARE = [Hit(Document("d1", "text"), 1.0), Hit(Document("d2", "text too"), 0.5)]


def ids(hits: Sequence[Hit]) -> list[str]:
    return [hit.document.id for hit in hits]


def lacking(made: Any) -> bool:
    """A model or a key that is not here: told before a run, and an error in it, never an empty result."""
    return bool(made.problems()) if hasattr(made, "problems") else False


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here may reach a real endpoint, whatever the environment holds."""
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(variable, raising=False)


@pytest.mark.parametrize("name", names("factor"))
def test_a_factor_gives_each_hit_its_share_and_the_unknown_the_half(name: str) -> None:
    factor = component("factor", name)
    scores = factor.score(QUERY, HITS)
    assert scores.shape == (3,) and np.all((scores >= 0) & (scores <= 1)) and len(set(scores)) > 1
    assert np.array_equal(factor.score(QUERY, HITS[::-1]), scores[::-1]), "a hit's share is its own"
    assert factor.score(QUERY, BARE) == pytest.approx([0.5, 0.5])
    assert factor.score(QUERY, []).shape == (0,) and factor.weight >= 0
    timeless = Query(QUESTION, QUERY.texts, None, SCOPE)
    assert np.all(np.isfinite(factor.score(timeless, HITS)))


@pytest.mark.parametrize("name", names("fusion"))
def test_a_fusion_is_a_total_order_in_the_unit_range(name: str) -> None:
    fusion = component("fusion", name)
    lanes = sorted(fusion.weights)[:2]
    assert len(lanes) == 2
    raw = getattr(fusion, "scores", {}).values()  # where a fusion looks for what the lanes measured
    best = [replace(hit, parts=dict.fromkeys(raw, hit.score)) for hit in HITS]
    turned = [replace(a, parts=b.parts) for a, b in zip(best[::-1], best, strict=True)]
    up, down = {lanes[0]: best, lanes[1]: turned}, {lanes[1]: turned, lanes[0]: best}
    fused = fusion.fuse(up, 3)
    assert fused == fusion.fuse(down, 3), "the order of the lanes says nothing"
    assert sorted(ids(fused)) == ["d1", "d2", "d3"] and all(0 <= hit.score <= 1 for hit in fused)
    assert [hit.score for hit in fused] == sorted((hit.score for hit in fused), reverse=True)
    assert ids(fusion.fuse(up, 2)) == ids(fused)[:2]
    top = fusion.fuse(dict.fromkeys(lanes, best), 1)[0]  # F44: first everywhere is first, and worth 1
    assert top.document.id == "d1" and top.score == pytest.approx(1)
    even = component("fusion", name, weights=dict.fromkeys(fusion.weights, 1.0))
    for one, other in (lanes, lanes[::-1]):  # a tie goes by document id
        assert ids(even.fuse({one: best[1:2], other: best[:1]}, 2)) == ["d1", "d2"]
    alone = fusion.fuse({lanes[0]: best}, 3)  # weights of lanes that are not there are ignored
    assert ids(alone) == ids(HITS)
    with pytest.raises((KeyError, ValueError)):
        fusion.fuse({**up, "a lane without a weight": best}, 3)


@pytest.mark.parametrize("name", names("filter"))
def test_a_filter_keeps_a_part_in_its_order(name: str) -> None:
    kept = component("filter", name).keep(QUERY, HITS)
    assert all(hit in HITS for hit in kept) and ids(kept) == sorted(ids(kept))
    assert ids(component("filter", name).keep(QUERY, kept)) == ids(kept), "twice is once"
    assert component("filter", name).keep(QUERY, []) == []


def test_the_slots_that_refine_rerank_and_reorder() -> None:
    """Groups that may have no option yet."""
    for name in names("understanding"):
        refined = component("understanding", name).refine(QUERY)
        assert refined.question == QUESTION and refined.texts[0] == QUESTION.text
    for name in names("reranker"):
        reranker = component("reranker", name)
        if lacking(reranker):
            with pytest.raises(ComponentError):
                reranker.rerank(QUERY, HITS, 2)
            continue
        ranked = reranker.rerank(QUERY, HITS, 2)
        assert len(ranked) <= 2 and set(ids(ranked)) <= set(ids(HITS))
    for name in names("reorder"):
        index = component("store", "sqlite", embedder=Letters()).index([hit.document for hit in HITS])
        assert sorted(ids(component("reorder", name).order(QUERY, HITS, index))) == ids(HITS)


SAME = [Document(f"d{n}", "the same kayak") for n in (3, 1, 2)] + [Document("d4", "another boat")]


@pytest.mark.parametrize("name", names("store"))
def test_a_store_has_a_total_order_and_a_fault_is_no_empty_list(name: str) -> None:
    index = component("store", name, embedder=Letters()).index(SAME)
    assert sorted(d.id for d in index.documents) == ["d1", "d2", "d3", "d4"]
    vector = index.embed(["the same kayak"])
    for k in (1, 2, 3):
        assert ids(index.match(["kayak"], k)) == ["d1", "d2", "d3"][:k]
        assert ids(index.nearest(vector, k)) == ["d1", "d2", "d3"][:k]
    assert all(hit.score > 0 for hit in index.match(["kayak"], 4)) and index.match(["unheard"], 4) == []
    assert index.vectors(["d4", "d1"]).shape == (2, 26) and index.vectors(["d4"]).dtype == np.float32
    with pytest.raises(ComponentError):
        index.nearest(np.ones((1, 3), np.float32), 2)
    index.close()
    with pytest.raises(ComponentError):
        index.match(["kayak"], 3)


@pytest.mark.parametrize("name", names("lane"))
@pytest.mark.parametrize("store", names("store"))
def test_a_lane_finds_at_most_k_of_the_index_once_each(name: str, store: str) -> None:
    lane = component("lane", name)
    index = component("store", store, embedder=Letters()).index(SAME)
    query = Query(Question("q", "kayak?"), ("kayak?", "the same kayak"), None, SCOPE)
    found = lane.search(query, index, HITS, 2)
    assert ids(found) == ["d1", "d2"] and lane.search(query, index, HITS, 2) == found
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
    index.close()


@pytest.fixture
def endpoint() -> Iterator[Loopback]:
    """A model on a real socket; what it says is set by `script`."""
    with Loopback([say("   ")]) as server:
        yield server


SAID = {"   ": "invalid", "Well, who can tell?": "invalid", '{"verdict": "correct", "reason": ""}': "correct"}


def _made(group: str, name: str, server: Loopback) -> Any:
    """The option, its model (where it has one) behind the socket."""
    given = node(group, name)
    if isinstance(given.get("llm"), dict):
        here = {"base_url": server.url, "api_key_env": None, "retries": 0, "validation_retries": 0}
        given["llm"] = {**given["llm"], **here}
    changes = {"llm": given["llm"]} if "llm" in given else {}
    return component(group, name, **changes)


@pytest.mark.parametrize("name", names("judge"))
def test_a_judge_is_total_and_accepts_the_gold(name: str, endpoint: Loopback) -> None:
    judge = _made("judge", name, endpoint)
    unusable = [Answer(""), Answer(" \n"), Answer("", Spent(), "invalid", "length")]
    rome = sample("Rome", "Where does Ana live?")
    for answer in unusable:  # never sent, never wrong
        verdict = judge.grade(rome, answer)
        assert verdict.label == "invalid" and verdict.reason
    assert endpoint.requests == []
    if judge.kind == "mechanical":
        assert judge.grade(rome, Answer("Rome")).label == "correct"
        assert judge.grade(rome, Answer("Oslo")).label == "wrong"
        nobody = sample("", "Where does Ben live?", answerable=False)
        assert judge.grade(nobody, Answer("I don't know.")).label == "correct"
        assert judge.grade(nobody, Answer("He lives in Oslo.")).label == "wrong"
        assert endpoint.requests == []
        return
    assert judge.kind == "model"
    for said, label in SAID.items():
        endpoint.script = [say(said)]
        assert judge.grade(rome, Answer("Rome")).label == label
    assert endpoint.requests


@pytest.mark.parametrize("name", names("answerer"))
def test_an_answerer_never_says_that_a_blank_is_an_answer(name: str, endpoint: Loopback) -> None:
    answerer = _made("answerer", name, endpoint)
    assert answerer.kind in ("mechanical", "model")
    for said, hits in (("   ", HITS), ("in May", []), ("in May", BARE)):
        endpoint.script = [say(said)]
        answer = answerer.answer(QUESTION, hits)
        assert bool(answer.text.strip()) == (answer.status == "ok")
        assert answer.status == "ok" or answer.reason


@pytest.mark.parametrize("name", names("competitor"))
def test_a_competitor_keeps_haystacks_apart(name: str) -> None:
    system = component("competitor", name)
    one, other = system.open(Scope("t", "h1", "u")), system.open(Scope("t", "h2", "u"))
    with one, other:
        assert isinstance(one.add([Document("d1", "alpha kayak")]), Spent)
        other.add([Document("d2", "beta kayak")])
        for memory, strange in ((one, "d2"), (other, "d1")):
            recall = memory.recall(Question("q", "kayak"), 5)
            found = ids(recall.hits)
            assert strange not in found and len(found) == len(set(found)) <= 1
    with system.open(Scope("t", "h1", "u")) as again:  # a closed haystack leaves nothing behind
        again.add([Document("d3", "gamma kayak")])
        assert set(ids(again.recall(Question("q", "kayak"), 5).hits)) <= {"d3"}


@pytest.mark.parametrize("name", names("embedder"))
def test_an_embedder_gives_one_unit_vector_per_text(name: str, tmp_path: Path) -> None:
    texts = ["Ana sold the kayak", "Oslo"]
    rows = [{"text": text, "vector": [1.0, 2.0 + n]} for n, text in enumerate(texts)]
    (tmp_path / "v.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    files = {"path": "v.jsonl", "data_dir": str(tmp_path)} if name == "precomputed" else {}
    embedder = component("embedder", name, **files)
    if lacking(embedder):
        assert name not in ("static", "precomputed")
        with pytest.raises(ComponentError):
            embedder.embed(texts, "document")
        return
    for role in ("document", "query"):
        found = embedder.embed(texts, role)
        assert found.dtype == np.float32 and found.ndim == 2 and len(found) == 2
        assert np.linalg.norm(found, axis=1) == pytest.approx([1, 1], abs=1e-5)
        assert np.array_equal(embedder.embed(texts[1:], role)[0], found[1]), "a text's vector is its own"


# A small file for each reader of the operator's data; the fixture carries its own.
FILES: dict[str, list[Any]] = {
    "locomo": [talk([qa(), qa(category=5, evidence=["D3:1"])]), talk([qa(question="When?")], sample_id="t2")],
    "longmemeval": [chat(), chat(question_id="gpt4_8_abs")],
    "longmemeval_pooled": [chat(), chat(question_id="gpt4_8_abs")],
}
TELLING = ("answer_", "has_answer", "_abs", "annotator", "D1:1", "gpt4_8")


def haystacks(name: str, folder: Path) -> list[Haystack]:
    if "path" not in node("dataset", name):
        return loaded(component("dataset", name))
    assert name in FILES, f"give tests/contract a small file in the shape of {name}"
    (folder / "a.json").write_text(json.dumps(FILES[name]), "utf-8")
    return loaded(component("dataset", name, path="a.json", data_dir=str(folder)))


@pytest.mark.parametrize("name", names("dataset"))
def test_what_a_system_sees_of_a_dataset_tells_nothing(name: str, tmp_path: Path) -> None:
    found = haystacks(name, tmp_path)
    assert found == haystacks(name, tmp_path) and len(found) >= (1 if name.endswith("_pooled") else 2)
    questions = [s.question.id for h in found for s in h.samples]
    assert len(set(questions)) == len(questions) >= 2
    assert len({h.id for h in found}) == len(found)
    for haystack in found:
        seen = seen_by_a_system(haystack)
        assert not [word for word in TELLING if word in seen]
        documents = [document.id for document in haystack.documents]
        assert len(set(documents)) == len(documents) and set(haystack.refs) == set(documents)
        for s in haystack.samples:
            assert s.question.id.startswith(haystack.id) and s.question.text.strip()
            assert s.source_id not in seen and s.category not in repr(s.question)
            assert set(s.gold.qrels) <= set(documents)
            assert s.gold.answers or not s.gold.answerable
