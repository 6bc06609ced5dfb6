"""A model that cannot do its work: exit 2 with one message for people, before anything is spent or written."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from components.llama.weights import PACKAGE
from tests.component.dataset.shapes import qa, talk, written
from tests.component.llama.files import BERT, RANKS, TABLE, made, tiny
from tests.runner.commands import Said, command, said
from tests.runner.running import config, haystacks, run

POOL = 8


def refused(told: Said, out: Path) -> str:
    """The one message that is not about the package, which the default suite does not have."""
    assert told.status == 2 and told.out == "" and not out.exists()
    assert "Traceback" not in told.err and told.err.startswith("nothing was run: ")
    [problem] = [line for line in told.problems if PACKAGE not in line]
    return problem


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("weights")
    whole = tiny(folder / "embeds.gguf", BERT, TABLE)
    tiny(folder / "ranks.gguf", BERT, RANKS)
    (folder / "page.gguf").write_text("<!doctype html><title>Sign in</title>", "utf-8")
    (folder / "cut.gguf").write_bytes(whole.read_bytes()[:-40])
    (folder / "packed.gguf").write_bytes(gzip.compress(whole.read_bytes()))
    return folder


WRONG = {
    "reranker": {
        "missing.gguf": "there is no file",
        "embeds.gguf": "has no ranking head: this model is no reranker",
        "page.gguf": "not a GGUF file",
        "cut.gguf": "cut off",
    },
    "embedder": {
        "missing.gguf": "there is no file",
        "ranks.gguf": "is a reranker: it gives no vectors",
        "packed.gguf": "not a GGUF file",
        "cut.gguf": "cut off",
    },
}


@pytest.mark.parametrize(("group", "name"), [(g, n) for g, rows in WRONG.items() for n in rows])
def test_a_file_that_is_no_such_model(group: str, name: str, files: Path, tmp_path: Path) -> None:
    line = (
        "+experiment=dry",
        f"{group}=gguf",
        f"{group}.path={files / name}",
        f"output_dir={tmp_path / 'o'}",
    )
    problem = refused(said(*line), tmp_path / "o")
    assert problem.startswith(f"{group}: path: ") and WRONG[group][name] in problem and name in problem


@pytest.mark.gguf
@pytest.mark.parametrize("seed", [0, 7])
def test_a_random_head_is_no_reranker(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The start-up check, as a user meets it: which model, which texts, which numbers."""
    path = made(tmp_path_factory.getbasetemp(), "--rank-head", "random", "--seed", str(seed))
    out = tmp_path_factory.mktemp("refused") / "outputs"
    told = command("+experiment=retrieval", "reranker=gguf", f"reranker.path={path}", f"output_dir={out}")
    problem = refused(told, out)
    for part in ("reranker: path: ", path.name, "this model is no reranker", "kayak", "0.2 apart is needed"):
        assert part in problem


@pytest.mark.gguf
def test_a_reranker_s_numbers_in_the_records(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """Oracle: BERT, its pooler and the head in numpy, within 1e-3. The probe is one that the head passes."""
    from scripts.make_gguf import head_of
    from tests.component.llama.reference import MiniLm

    path = made(tmp_path_factory.getbasetemp(), "--rank-head", "random", "--seed", "7")
    model, head = MiniLm(), head_of(384, 7)["cls.output.weight"]
    words = ["kayak", "tax"]
    words.sort(key=lambda word: -model.rank("kayak", word, head))
    probes = f"[{{query: kayak, relevant: {words[0]}, unrelated: {words[1]}}}]"
    line = ("+experiment=dry", "reranker=gguf", f"reranker.path={path}", "reranker.timeout=null")
    line = (*line, "reranker.margin=1e-9", f"reranker.probes={probes}", f"reranker.pool={POOL}")
    ran = run(tmp_path, *line)
    assert ran.status == 0, ran.stderr
    assert all(record.notes.get("rerank_ran") == 1 for record in ran.records)
    texts = {(h.id, h.refs[d.id]): d.text for h in haystacks(config(*line)) for d in h.documents}
    for record in ran.records[::8]:
        found = {row.ref: row.parts["rerank"] for row in record.ranked or () if "rerank" in row.parts}
        assert 0 < len(found) <= POOL
        for ref, number in found.items():
            logit = model.rank(record.question, texts[record.haystack, ref], head)
            assert number == pytest.approx(1 / (1 + np.exp(-logit)), abs=1e-3)


@pytest.mark.gguf
def test_texts_that_do_not_fit_are_counted_in_the_report(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """Too long, an emoji 10,000 times, empty, a batch that is too small: the run ends well and tells of each.

    Oracle of what is cut: the tokenizers library.
    """
    from tests.component.llama.reference import MiniLm

    texts = ["kayak and oars " * 900, "\U0001f6f6 " * 10_000, "", "The kayak is in the shed."]
    turns = [{"speaker": "Ana", "dia_id": f"D1:{n}", "text": text} for n, text in enumerate(texts, start=1)]
    sessions = {"session_1": turns, "session_3": [], "session_10": []}
    written(tmp_path, [talk([qa(question="Where is the kayak?", evidence=["D1:4"])], **sessions)])
    model = made(tmp_path_factory.getbasetemp())
    line = (
        "+experiment=dry",
        "dataset=locomo",
        "dataset.path=a.json",
        f"data_dir={tmp_path}",
        "lane=[dense]",
    )
    line = (*line, "embedder=gguf_minilm", f"embedder.path={model}", "embedder.batch=8")
    ran = run(tmp_path / "o", *line)
    [haystack] = haystacks(config(*line))
    sizes = [len(MiniLm().tokenizer.encode(d.text).ids) for d in haystack.documents]
    assert ran.status == 0 and len(sizes) == 3
    notes = ran.report["dataset"]["notes"]
    assert notes["embedder_cut"] == sum(size > 256 for size in sizes) == 2
    assert notes["embedder_embedded"] == 4 and notes["blank_turns"] == 1
    [record] = ran.records
    assert record.ranked and record.error is None and record.ranked[0].ref.turn == "D1:4"
