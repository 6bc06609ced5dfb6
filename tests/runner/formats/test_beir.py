"""A BEIR folder read as BEIR is read: three files, ids that meet, each haystack a namespace of its own."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from runner.formats import beir
from tests.runner.running import config, haystacks, run


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def qrels(folder: Path) -> dict[str, dict[str, int]]:
    """As beir.datasets.data_loader reads them: a header, then three columns."""
    out: dict[str, dict[str, int]] = {}
    with (folder / "qrels" / "test.tsv").open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_MINIMAL)
        assert next(rows) == ["query-id", "corpus-id", "score"]
        for question, document, grade in rows:
            out.setdefault(question, {})[document] = int(grade)
    return out


def test_everything_that_a_system_gets_and_the_gold_of_what_can_be_answered(tmp_path: Path) -> None:
    every = haystacks(config("+experiment=retrieval"))
    beir.write(iter(every), tmp_path)
    corpus = {row["_id"]: row for row in lines(tmp_path / "corpus.jsonl")}
    asked = {row["_id"]: row for row in lines(tmp_path / "queries.jsonl")}
    assert len(corpus) == sum(len(h.documents) for h in every)  # no two haystacks share an id
    assert {row["text"] for row in corpus.values()} == {d.text for h in every for d in h.documents}
    assert len(asked) == sum(len(h.samples) for h in every)
    assert all(row["title"] == "" for row in corpus.values())
    gold = qrels(tmp_path)
    wanted = {
        s.question.id: {f"{h.id}-{name}": grade for name, grade in s.gold.qrels.items()}
        for h in every
        for s in h.samples
        if s.gold.answerable and s.gold.qrels
    }
    assert gold == wanted and len(wanted) > 10
    for question, documents in gold.items():
        assert all(
            corpus[d]["metadata"]["haystack"] == asked[question]["metadata"]["haystack"] for d in documents
        )


def test_no_name_of_the_source_is_told(tmp_path: Path) -> None:
    """`answer_...` names and `has_answer` would give the gold to whoever indexes the corpus."""
    every = haystacks(config("+experiment=retrieval"))
    beir.write(iter(every), tmp_path)
    told = (tmp_path / "corpus.jsonl").read_text("utf-8") + (tmp_path / "queries.jsonl").read_text("utf-8")
    sessions = {ref.session for h in every for ref in h.refs.values()}
    assert any(name.startswith("answer_") for name in sessions)
    assert "answer_" not in told and "has_answer" not in told


def test_only_the_chosen_questions(tmp_path: Path) -> None:
    ran = run(
        tmp_path,
        "+experiment=retrieval",
        "store=sqlite",
        "embedder=none",
        "lane=[lexical]",
        "conditions=null",
        "subset.rule=stratified",
        "subset.n=1",
        "export=[beir]",
    )
    assert ran.status == 0, ran.stderr
    asked = lines(ran.folder / "export" / "beir" / "queries.jsonl")
    assert {row["_id"] for row in asked} == {r.question_id for r in ran.records}
