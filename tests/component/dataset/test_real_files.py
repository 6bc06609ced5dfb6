"""The operator's real files, read whole: what was counted in them by other means must come out."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from components.files.identity import identify
from tests.component.dataset.shapes import DATA, built, loaded, notes, real_data, seen_by_a_system, written

ALL = ["multi-hop", "temporal", "open-domain", "single-hop", "adversarial"]
REAL = "locomo/locomo10.json"
THREE = "longmemeval/s_three_items.json"
TURNS = "longmemeval/oracle_evidence_turns.json"


@pytest.mark.real_data
@real_data(TURNS)
@pytest.mark.parametrize("unit", ["turn", "session"])
def test_the_real_questions_are_500_with_30_abstentions(unit: str) -> None:
    dataset = built("longmemeval", DATA, path=TURNS, unit=unit)
    assert dataset.problems() == []
    haystacks = loaded(dataset)
    samples = [s for h in haystacks for s in h.samples]
    assert Counter(s.category for s in samples) == {
        "temporal-reasoning": 133,
        "multi-session": 133,
        "knowledge-update": 78,
        "single-session-user": 70,
        "single-session-assistant": 56,
        "single-session-preference": 30,
    }
    assert sum(not s.gold.answerable for s in samples) == 30
    assert sum(r.turn is not None for s in samples for r in s.gold.refs) == 896
    assert sum(len(h.documents) for h in haystacks) == sum(len(s.gold.qrels) for s in samples)
    assert sum(not h.documents for h in haystacks) == 21
    assert notes(haystacks) == {"gold_after_question": 42}
    assert not any(m in seen_by_a_system(h) for h in haystacks for m in ("answer_", "has_answer"))


@pytest.mark.real_data
@real_data(THREE)
@pytest.mark.parametrize("unit", ["turn", "session"])
def test_three_full_items_lose_no_turn_and_tell_no_gold(unit: str) -> None:
    assert DATA
    haystacks = loaded(built("longmemeval", DATA, path=THREE, unit=unit))
    items = json.loads((Path(DATA) / THREE).read_bytes())
    for haystack, item in zip(haystacks, items, strict=True):
        contents = [t["content"] for s in item["haystack_sessions"] for t in s]
        texts = "\n".join(d.text for d in haystack.documents)
        assert all(content in texts for content in contents)
        assert len(haystack.documents) == (
            len(contents) if unit == "turn" else len(item["haystack_sessions"])
        )
        assert [d.created for d in haystack.documents] == sorted(
            d.created for d in haystack.documents if d.created
        )
        gold = haystack.samples[0].gold
        assert {r.session for r in gold.refs if r.turn is None} == set(item["answer_session_ids"])
        assert {haystack.refs[i].session for i in gold.qrels} == set(item["answer_session_ids"])
        assert not any(
            m in seen_by_a_system(haystack) for m in ("answer_", "has_answer", item["question_id"])
        )
        assert haystack.notes == {}


@pytest.mark.real_data
@real_data(REAL)
def test_the_real_file_is_read_whole() -> None:
    haystacks = loaded(built("locomo", DATA, categories=ALL))
    samples = [s for h in haystacks for s in h.samples]
    assert len(haystacks) == 10
    assert len({(h.id, ref.session) for h in haystacks for ref in h.refs.values()}) == 272
    assert sum(len(h.documents) for h in haystacks) == 5882
    assert (
        len(samples) == len({s.source_id for s in samples}) == len({s.question.id for s in samples}) == 1986
    )
    counts = {"multi-hop": 282, "temporal": 321, "open-domain": 96, "single-hop": 841, "adversarial": 446}
    assert Counter(s.category for s in samples) == counts
    assert sum("[shares " in d.text.partition("] ")[2] for h in haystacks for d in h.documents) == 1226
    assert sum(s.gold.answers == () for s in samples) == 444
    assert notes(haystacks) == {
        "orphan_dates": 16,
        "repeated_questions": 12,
        "evidence_split": 4,
        "evidence_mended": 2,
        "evidence_unresolved": 3,
    }
    assert not any(
        m in seen_by_a_system(h) for h in haystacks for m in ("conv-", "img_url", "adversarial", "session_")
    )


@pytest.mark.real_data
@real_data(REAL)
@pytest.mark.parametrize(("evidence", "resolved"), [("verbatim", 1531), ("tolerant", 1536)])
@pytest.mark.parametrize("unit", ["turn", "session"])
def test_real_evidence_that_resolves(evidence: str, resolved: int, unit: str) -> None:
    samples = [s for h in loaded(built("locomo", DATA, evidence=evidence, unit=unit)) for s in h.samples]
    assert len(samples) == 1540
    assert sum(bool(s.gold.qrels) for s in samples) == resolved


@pytest.mark.real_data
@real_data(REAL)
def test_the_real_file_is_known_and_a_changed_copy_is_not(tmp_path: Path) -> None:
    dataset = built("locomo", DATA)
    known = identify(dataset.files(), dataset.known)
    assert known.known_as == "locomo10.json of snap-research/LoCoMo at 3eb6f2c"
    items = json.loads(dataset.files()[0].read_bytes())
    copy = identify([written(tmp_path, items, "copy.json")], dataset.known)
    assert (copy.sha256 != known.sha256, copy.content_sha256 == known.content_sha256) == (True, True)
    assert copy.known_as == f"{known.known_as}, same content in other bytes"
    items[3]["conversation"]["session_2"][1]["text"] += "!"
    changed = identify([written(tmp_path, items, "changed.json")], dataset.known)
    assert (changed.content_sha256 != known.content_sha256, changed.known_as) == (True, None)
