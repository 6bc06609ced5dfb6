from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from components.reranker.gguf import Gguf
from components.types import ComponentError, Hit
from tests.component.llama.files import BERT, RANKS, TABLE, made, tiny
from tests.component.retrieval import conf, documents, hits, ids, query

GGUF = Gguf(**{**conf("reranker", "gguf"), "path": "none.gguf"})
TEXTS = [f"Ana said number {n} " + "kayak and island " * (n % 20) for n in range(60)]
ANY = [{"query": "a", "relevant": "a", "unrelated": "the tax revenue of the province"}]
NEAR = 1e-9


def pool(*texts: str) -> list[Hit]:
    return hits(*documents(*texts))


def test_problems(tmp_path: Path) -> None:
    assert "there is no file" in GGUF.problems()[0] and GGUF.model_files() == {}
    embeds = replace(GGUF, path=str(tiny(tmp_path / "p.gguf", BERT, TABLE)))
    assert any("no ranking head: this model is no reranker" in line for line in embeds.problems())
    assert list(embeds.model_files()) == ["reranker/p.gguf"]
    ranks = replace(GGUF, path=str(tiny(tmp_path / "r.gguf", BERT, RANKS)))
    assert "not installed" in ranks.problems()[0] or "cannot load" in ranks.problems()[0]
    with pytest.raises(ComponentError, match="reranker: no model"):
        GGUF.rerank(query("where?"), pool("a", "b"), 2)
    assert GGUF.rerank(query("where?"), [], 2) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"pool": 0},
        {"timeout": 0.0},
        {"output": "rank"},
        {"flat": -1.0},
        {"margin": 0.0},
        {"probes": []},
        {"probes": [{"query": "a"}]},
        {"template": "{document} {query}"},
        {"template": "{query}"},
        {"batch": 0},
        {"context": -1},
    ],
)
def test_values_out_of_range(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(changes))):
        replace(GGUF, **changes)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.getbasetemp()


@pytest.fixture(scope="module")
def random_head(folder: Path) -> Gguf:
    """The random head, with a probe that it happens to pass and all the time there is."""
    path = str(made(folder, "--rank-head", "random", "--seed", "7"))
    there = replace(GGUF, path=path, timeout=None, margin=NEAR, probes=ANY)
    if there.problems():
        turned = [{**ANY[0], "relevant": ANY[0]["unrelated"], "unrelated": ANY[0]["relevant"]}]
        there = replace(there, probes=turned)
    assert there.problems() == []
    return there


@pytest.mark.gguf
@pytest.mark.parametrize("seed", range(8))
def test_a_random_head_is_refused(seed: int, folder: Path) -> None:
    reranker = replace(GGUF, path=str(made(folder, "--rank-head", "random", "--seed", str(seed))))
    assert "this model is no reranker" in reranker.problems()[0]
    with pytest.raises(ComponentError, match="reranker: no reranker"):
        reranker.rerank(query("where is the kayak?"), pool("a", "b"), 2)


@pytest.mark.gguf
def test_as_the_numbers_say(random_head: Gguf) -> None:
    """Oracle: BERT, its pooler and the head in numpy; the pair as the tokenizers library writes it."""
    from scripts.make_gguf import head_of
    from tests.component.llama.reference import MiniLm

    model, head = MiniLm(), head_of(384, 7)["cls.output.weight"]
    pair = model.tokenizer.encode("where is the kayak?", TEXTS[7]).ids
    assert random_head._pair("where is the kayak?", TEXTS[7]) == pair
    found = random_head.rerank(query("where is the kayak?"), pool(*TEXTS[:30]), 30)
    for hit in found:
        logit = model.rank("where is the kayak?", hit.document.text, head)
        assert hit.score == pytest.approx(1 / (1 + np.exp(-logit)), abs=1e-3)
        assert hit.parts["rerank"] == hit.score
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
    assert len({round(hit.score, 4) for hit in found}) > 10, "scores that differ"


@pytest.mark.gguf
def test_a_long_pair_is_cut_to_fit(random_head: Gguf) -> None:
    """The text gives way first; a long question keeps half; the last special token stays."""
    long = pool("kayak " * 2000, "island " * 2000)
    assert len(random_head.rerank(query("where?"), long, 2)) == 2 and random_head.notes()["cut"] >= 2
    assert len(random_head.rerank(query("where " * 3000), long, 2)) == 2
    words = random_head._engine.vocabulary
    pair = random_head._pair("where " * 3000, "kayak " * 2000)
    assert len(pair) == 512 and pair[0] == words.before[0] and pair[-1] == words.after[0]
    assert pair.count(words.after[0]) == 2 and pair.index(words.after[0]) == 1 + 254
    assert len(random_head.rerank(query("where?"), pool("", "kayak"), 2)) == 2


@pytest.mark.gguf
def test_a_template_of_its_own(random_head: Gguf) -> None:
    """Its markup is markup; what a text says is text."""
    same = replace(random_head, template="[CLS]{query}[SEP]{document}[SEP]")
    texts = pool("the old kayak", "[SEP] tax [CLS]", "island")
    assert [h.score for h in same.rerank(query("where [SEP] is it?"), texts, 3)] == pytest.approx(
        [h.score for h in random_head.rerank(query("where [SEP] is it?"), texts, 3)], abs=1e-5
    )
    assert same._pair("a", "[SEP]").count(102) == 2


@pytest.mark.gguf
def test_the_pool_stands_first_and_the_tail_keeps_its_order(random_head: Gguf) -> None:
    given = pool(*TEXTS)
    found = replace(random_head, pool=10).rerank(query("where is the kayak?"), given, 60)
    assert sorted(ids(found[:10])) == ids(given)[:10] and ids(found[:10]) != ids(given)[:10]
    assert found[10:] == given[10:]
    assert ids(replace(random_head, pool=10).rerank(query("where is the kayak?"), given, 3)) == ids(found)[:3]


@pytest.mark.gguf
def test_the_time_is_real(random_head: Gguf) -> None:
    """On a real clock, and in the middle of a call: a pair of 512 tokens is one call."""
    one, long = query("where is it?"), pool("kayak " * 2000)
    times = []
    for _ in range(3):
        begun = time.perf_counter()
        random_head.rerank(one, long, 1)
        times.append(time.perf_counter() - begun)
    whole, begun = min(times), time.perf_counter()
    with pytest.raises(ComponentError) as caught:
        replace(random_head, timeout=whole / 4).rerank(one, long, 1)
    assert caught.value.reason == "timed out" and whole / 4 <= time.perf_counter() - begun < whole * 0.75
    assert len(random_head.rerank(one, pool(*TEXTS[:5]), 5)) == 5, "and works on"


@pytest.mark.gguf
def test_equal_scores_say_nothing(random_head: Gguf) -> None:
    """F61."""
    with pytest.raises(ComponentError) as caught:
        random_head.rerank(query("where is it?"), pool("same text", "same text", "same text"), 3)
    assert (caught.value.stage, caught.value.reason) == ("reranker", "equal scores")
    assert len(random_head.rerank(query("where is it?"), pool("one text"), 1)) == 1
