"""LongMemEval's files: written from our runs, read again by our reader and as LongMemEval's own code reads them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from components.types import Dataset, Haystack, Ref, Sample
from runner.build import build
from runner.export import Export
from runner.formats import longmemeval
from runner.formats.items import NO_ANSWER, TEXT, TYPES, own, rewritten, written
from runner.settings import Settings
from tests.component.dataset.shapes import DATA, built, chat, loaded, qa, real_data, talk
from tests.component.dataset.shapes import written as put
from tests.runner.running import Ran, config, run

SETTINGS = Settings(k=(1,))
_HEAD = re.compile(r"^(\[[^]]*20[0-9]{2}\] |user: )")  # what the two text forms put before the speaker


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def exported(tmp_path: Path, node: dict[str, Any]) -> tuple[Iterator[Haystack], Iterator[Haystack]]:
    """(as the dataset's own reader has it, as our LongMemEval reader has what was written)."""
    Export({"dataset": node, "depth": 50}, [], SETTINGS, None).write(["longmemeval_data"], tmp_path)
    again = built("longmemeval", tmp_path / "longmemeval_data", path="longmemeval.json")
    assert again.problems() == []
    return streamed(build(node)), streamed(again)


def streamed(dataset: Dataset) -> Iterator[Haystack]:
    """One at a time: a conversation becomes some 200 haystacks of some 600 turns."""
    return (dataset.load(place) for place in dataset.items())


def locomo(data_dir: str | Path, **changes: Any) -> dict[str, Any]:
    return {
        **config("+experiment=retrieval", "dataset=locomo")["dataset"],
        "data_dir": str(data_dir),
        **changes,
    }


def samples(haystacks: Iterable[Haystack]) -> Iterator[tuple[Haystack, Sample]]:
    return ((haystack, sample) for haystack in haystacks for sample in haystack.samples)


def plain(name: str, sample: str) -> str:
    return name.removeprefix("answer_").removeprefix(f"{sample}_")


def same(before: Iterable[Haystack], after: Iterable[Haystack]) -> int:
    """Questions, dates, answers, gold sessions and gold turns are the same; returns how many were compared."""
    compared = 0
    for (old, was), (new, now) in zip(samples(before), samples(after), strict=True):
        assert now.question.text == was.question.text
        assert now.question.asked == was.question.asked
        assert now.gold.answerable == was.gold.answerable
        assert now.gold.answers == (was.gold.answers or (NO_ANSWER,))
        assert now.category == TYPES[was.category]
        assert now.source_id == was.source_id + ("" if was.gold.answerable else "_abs")
        golden = [{plain(r.session, old.source_id) for r in s.gold.refs} for s in (was, now)]
        assert golden[0] == golden[1]
        turns = [
            {_HEAD.sub("", h.documents[i].text) for i in _gold_places(h, s)}
            for h, s in ((old, was), (new, now))
        ]
        assert turns[0] == turns[1]
        assert [d.created for d in new.documents] == [d.created for d in old.documents]
        compared += 1
    return compared


def _gold_places(haystack: Haystack, sample: Sample) -> list[int]:
    return [i for i, d in enumerate(haystack.documents) if d.id in sample.gold.qrels]


def test_a_conversation_becomes_items_and_comes_back(tmp_path: Path) -> None:
    rows = [
        qa(),
        qa(question="Which year?", answer=2022, evidence=["D1:2", "D10:1"], category=1),
        qa(question="Who?", adversarial_answer="Ben", answer="", category=5),
        qa(question="Nobody knows?", evidence=[], category=3),
    ]
    rows[2].pop("answer")
    put(tmp_path, [talk(rows)], "locomo.json")
    node = locomo(tmp_path, path="locomo.json", categories=list(TYPES))
    before, after = exported(tmp_path, node)
    assert same(before, after) == 4
    items = json.loads((tmp_path / "longmemeval_data" / "longmemeval.json").read_bytes())
    assert [item["question_type"] for item in items] == [
        "single-session-user",
        "multi-session",
        "single-session-user",
        "multi-session",
    ]
    assert [item["category"] for item in items] == ["single-hop", "multi-hop", "adversarial", "open-domain"]
    assert items[1]["answer_session_ids"] == ["answer_t1_session_1", "answer_t1_session_10"]
    assert items[1]["haystack_session_ids"] == [
        "answer_t1_session_1",
        "t1_session_3",
        "answer_t1_session_10",
    ]
    assert items[0]["haystack_dates"][0] == "2023/05/08 (Mon) 13:56"
    assert items[0]["haystack_sessions"][0][1]["content"] == "Ana: look! [shares a red canoe on a beach]"
    assert not any(word in json.dumps(items) for word in ("annotator", "img_url", "dia_id"))


def test_what_longmemevals_code_asserts_of_a_gold_session(tmp_path: Path) -> None:
    """Every turn of it says whether it has the answer; ids without gold do not hold the word `answer`."""
    put(tmp_path, [talk([qa(evidence=["D1:2"])])], "locomo.json")
    exported(tmp_path, locomo(tmp_path, path="locomo.json"))
    (item,) = json.loads((tmp_path / "longmemeval_data" / "longmemeval.json").read_bytes())
    for name, turns in zip(item["haystack_session_ids"], item["haystack_sessions"], strict=True):
        assert ("answer" in name) == (name in item["answer_session_ids"])
        assert all(turn["role"] == "user" and turn["has_answer"] in (True, False) for turn in turns)
    assert [turn["has_answer"] for turn in item["haystack_sessions"][0]] == [False, True]


@pytest.mark.real_data
@real_data("locomo/locomo10.json")
def test_conversations_of_locomo_come_back(tmp_path: Path) -> None:
    """Two of the ten: each question is a haystack of its own there, and all of them would take a minute."""
    assert DATA
    every = json.loads((Path(DATA) / "locomo/locomo10.json").read_bytes())
    put(tmp_path, [every[0], every[-1]], "locomo.json")
    before, after = exported(tmp_path, locomo(tmp_path, path="locomo.json", categories=list(TYPES)))
    assert same(before, after) == len(every[0]["qa"]) + len(every[-1]["qa"]) == 403


def test_an_item_of_longmemeval_stands_as_it_was(tmp_path: Path) -> None:
    put(tmp_path, [chat(extra={"kept": 1}), chat(question_id="q8_abs")], "lme.json")
    node = {**built_node(tmp_path), "path": "lme.json"}
    Export({"dataset": node, "depth": 50}, [], SETTINGS, None).write(["longmemeval_data"], tmp_path)
    items = json.loads((tmp_path / "longmemeval_data" / "longmemeval.json").read_bytes())
    assert items == json.loads((tmp_path / "lme.json").read_bytes())


def built_node(data_dir: Path) -> dict[str, Any]:
    return {**config("+experiment=retrieval", "dataset=longmemeval")["dataset"], "data_dir": str(data_dir)}


def test_names_of_sessions_and_turns() -> None:
    item = own(chat())
    assert item.name(Ref("answer_1f_1", None)) == "answer_1f_1"
    assert item.name(Ref("answer_1f_1", "1")) == "answer_1f_1_2"
    assert item.date(Ref("chat_2", "0")) == "2023/05/19 (Fri) 10:00"
    assert written(None) == ""


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    done = run(
        tmp_path_factory.mktemp("out"),
        "+experiment=retrieval",
        "store=sqlite",
        "export=[longmemeval_ranked,longmemeval_log,longmemeval_data]",
    )
    assert done.status == 0
    return done


def test_ranked_lists_name_what_stands_in_the_haystack(ran: Ran) -> None:
    folder = ran.folder / "export"
    items = {
        row["question_id"]: row
        for row in json.loads((folder / "longmemeval_data" / "longmemeval.json").read_bytes())
    }
    records = [r for r in ran.records if r.system == "hybrid"]
    for level in ("session", "turn"):
        rows = lines(folder / "longmemeval_ranked" / f"hybrid.{level}.jsonl")
        assert len(rows) == len(records) == len(items)
        for row in rows:
            item = items[row["question_id"]]
            known = dict(zip(item["haystack_session_ids"], item["haystack_sessions"], strict=True))
            names = [entry["corpus_id"] for entry in row["ranked_items"]]
            assert len(set(names)) == len(names)
            for entry in row["ranked_items"]:
                assert set(entry) == {"corpus_id", "text"}
                if level == "session":
                    assert entry["corpus_id"] in known and entry["text"] == ""
                else:
                    session, _, number = entry["corpus_id"].rpartition("_")
                    said = known[session][int(number) - 1]["content"]
                    assert said.partition(": ")[2] in entry["text"] or said in entry["text"]


@pytest.mark.parametrize("system", ["fts", "vector", "hybrid"])
def test_the_log_as_its_readers_take_it(ran: Ran, system: str) -> None:
    rows = lines(ran.folder / "export" / "longmemeval_log" / f"retrievallog_turn_{system}")
    records = [r for r in ran.records if r.system == system]
    assert [row["question"] for row in rows] == [r.question for r in records]
    hits = []
    for row, one in zip(rows, records, strict=True):
        results = row["retrieval_results"]
        assert results["query"] == one.question
        assert len(results["ranked_items"]) == len(one.ranked or ())
        for metrics in (results["metrics"]["session"], results["metrics"]["turn"]):
            assert len(metrics) == 18 and all(0 <= value <= 1 for value in metrics.values())
        # what their generation does to find a turn again
        for entry in results["ranked_items"]:
            session, _, number = entry["corpus_id"].replace("noans_", "answer_").rpartition("_")
            turns = row["haystack_sessions"][row["haystack_session_ids"].index(session)]
            assert turns[int(number) - 1]["content"].partition(": ")[2] in entry["text"]
            flagged = bool(turns[int(number) - 1].get("has_answer"))
            assert flagged == (entry["corpus_id"].startswith("answer_"))
        if any(ref.turn for ref in one.gold.refs) and one.gold.answerable:
            hits.append(results["metrics"]["turn"]["recall_any@10"])
    ours = ran.report["retrieval"][system]["turn"]["overall"]
    assert len(hits) == ours["n"]
    assert sum(hits) / len(hits) == pytest.approx(
        ours["hit@10"]
    )  # any relevant turn among ten: the same thing


def test_no_file_without_a_ranking(tmp_path: Path) -> None:
    assert longmemeval.write_log(iter(()), tmp_path, 50) == []
    assert longmemeval.write_data(iter(()), tmp_path / "a.json") == [tmp_path / "a.json"]
    assert json.loads((tmp_path / "a.json").read_bytes()) == []


def test_a_rewritten_item_needs_turns(tmp_path: Path) -> None:
    put(tmp_path, [talk([qa()])], "locomo.json")
    (haystack,) = loaded(built("locomo", tmp_path, path="locomo.json", text=TEXT))
    item = rewritten(haystack, haystack.samples[0])
    assert item.name(Ref("session_1", "D1:2")) == "answer_t1_session_1_2"
    assert item.name(Ref("session_3", None)) == "t1_session_3"
