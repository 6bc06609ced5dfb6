"""Recall: what fails is an error of its stage and counted, never an empty list; what works goes on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.store.sqlite import Sqlite
from components.types import (
    ComponentError,
    Document,
    FatalError,
    Gold,
    Haystack,
    Hit,
    Index,
    Question,
    Recall,
    Ref,
    Sample,
    Scope,
    Usage,
)
from runner.drafts import context_rows, from_minute, minute
from runner.plan import Context, Plan, plan
from runner.recalling import OneSystem, Recalling, Work
from runner.records import Key, Record
from runner.shared_index import Once
from runner.stage_cache import StageCache
from tests.runner.running import Ran, config, haystacks, run

BROKEN = 13  # a haystack whose documents stand in no other, with six questions
DRY = ("+experiment=dry", "answerer=none", "judge=[]")


def vectors(path: Path, without: Collection[str] = ()) -> None:
    """A vector for every text of the fixture, made of its hash, but for those left out."""
    texts = [d.text for h in haystacks(config(*DRY)) for d in h.documents]
    texts += [s.question.text for h in haystacks(config(*DRY)) for s in h.samples]
    rows = {text: [byte + 1 for byte in hashlib.sha256(text.encode()).digest()[:4]] for text in texts}
    path.write_text(json.dumps({t: v for t, v in rows.items() if t not in without}), "utf-8")


def with_vectors(folder: Path, without: Collection[str]) -> Ran:
    vectors(folder / "v.json", without)
    return run(folder, *DRY, "embedder=precomputed", "embedder.path=v.json", f"data_dir={folder}")


@pytest.fixture(scope="module")
def shipped() -> list[Haystack]:
    return haystacks(config(*DRY))


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory, shipped: list[Haystack]) -> Ran:
    """One question and one document of another haystack have no vector."""
    asked = shipped[0].samples[0].question.text
    return with_vectors(tmp_path_factory.mktemp("failures"), {asked, shipped[BROKEN].documents[0].text})


def test_the_failed_ones_have_an_error_and_no_ranking(ran: Ran, shipped: list[Haystack]) -> None:
    failed = {r.question_id: r for r in ran.records if r.error}
    assert set(failed) == {s.question.id for n in (0, BROKEN) for s in shipped[n].samples}
    lane, ingest = failed["h0000-q0000"], failed[f"h{BROKEN:04}-q0000"]
    assert lane.error and (lane.error.stage, lane.error.reason) == ("dense", "no vector for text")
    assert ingest.error and (ingest.error.stage, ingest.error.reason) == ("embed", "no vector for text")
    assert {(r.ranked, r.unscored, r.context) for r in failed.values()} == {(None, "error", ())}


def test_the_others_go_on(ran: Ran) -> None:
    assert ran.status == 0 and len(ran.records) == 26
    assert sum(r.error is None and bool(r.ranked) for r in ran.records) == 19
    assert ran.report["systems"][0]["status"] == "measured"


def test_they_are_counted_by_stage_and_in_their_lane(ran: Ran, shipped: list[Haystack]) -> None:
    assert ran.report["errors"] == {
        "dense": {"no vector for text": 1},
        "embed": {"no vector for text": 6},
    }
    lanes = ran.report["disclosure"]["lanes"]
    assert lanes["dense"] == {"queries": 20, "empty": 0, "failed": 1}
    assert lanes["lexical"]["failed"] == 0
    unscored = ran.report["retrieval"]["ours"]["session"]["overall"]["unscored"]
    assert unscored["error"] == 1 + sum(
        s.gold.answerable and bool(s.gold.qrels) for s in shipped[BROKEN].samples
    )


def test_a_person_is_told(ran: Ran) -> None:
    [warning] = [w for w in ran.report["disclosure"]["warnings"] if "no ranking for" in w]
    assert warning.startswith("unreliable") and "(error " in warning
    assert "no vector for text" in (ran.folder / "report.md").read_text("utf-8")


def test_a_lane_that_always_fails_is_a_failed_system_without_a_number(
    tmp_path: Path, shipped: list[Haystack]
) -> None:
    ran = with_vectors(tmp_path, {s.question.text for h in shipped for s in h.samples})
    assert ran.report["disclosure"]["lanes"]["dense"] == {"queries": 26, "empty": 0, "failed": 26}
    [system] = ran.report["systems"]
    assert (system["status"], system["reason"]) == ("failed", "dense: no vector for text")
    overall = ran.report["retrieval"]["ours"]["session"]["overall"]
    assert overall["n"] == 0 and overall["recall@5"] is None


@dataclass
class Scripted:
    """A competitor that recalls what it is told to, or fails as it is told to. Notes what it is asked."""

    hits: Sequence[Hit] = ()
    ranked: bool = True
    add_fails: ComponentError | None = None
    recall_fails: Mapping[str, ComponentError] = field(default_factory=dict)  # question id -> error
    asked: list[str] = field(default_factory=list)
    left: list[type[BaseException] | None] = field(default_factory=list)

    def open(self, scope: Scope) -> Self:
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.left.append(kind)

    def add(self, documents: Sequence[Document]) -> Usage:
        if self.add_fails:
            raise self.add_fails
        return Usage()

    def recall(self, question: Question, k: int) -> Recall:
        self.asked.append(question.id)
        if question.id in self.recall_fails:
            raise self.recall_fails[question.id]
        return Recall(tuple(self.hits), ranked=self.ranked)


DOCUMENTS = tuple(Document(f"d{n}", f"text {n}", created=datetime(2024, 1, n, tzinfo=UTC)) for n in (1, 2, 3))
SAMPLES = tuple(
    Sample(
        Question(f"q{n}", "Where?"), Gold(("here",), {"d2": 1}, True, (Ref("s", "2"),)), "plain", f"src {n}"
    )
    for n in (1, 2)
)
HAYSTACK = Haystack("h1", DOCUMENTS, SAMPLES, {f"d{n}": Ref("s", str(n)) for n in (1, 2, 3)}, "source")
HITS = [Hit(d, 1.0 / rank) for rank, d in enumerate(DOCUMENTS, start=1)]


def settings(**changes: object) -> Plan:
    return plan({**config(*DRY, "k=[1]", "context.hits=1"), **changes})


def ask(system: Scripted, **changes: object) -> list[Record]:
    one = OneSystem("f", "scripted", system, settings(**changes), StageCache(None, {}))
    return [recalled.record for recalled in one.run(HAYSTACK, SAMPLES)]


def test_one_failing_question_leaves_the_next_alone() -> None:
    first, second = ask(Scripted(HITS, recall_fails={"q1": ComponentError("remote", "timeout", "30 s")}))
    assert first.error and (first.error.stage, first.error.reason, first.error.detail) == (
        "remote",
        "timeout",
        "30 s",
    )
    assert second.error is None and second.ranked and second.ranked[1].ref == Ref("s", "2")


def test_a_failing_ingest_fails_every_question_of_its_haystack_and_closes_the_memory() -> None:
    system = Scripted(HITS, add_fails=ComponentError("remote", "refused"))
    assert [r.error and r.error.reason for r in ask(system)] == ["refused", "refused"]
    assert system.asked == [] and system.left == [ComponentError]


@pytest.mark.parametrize("where", ["add", "recall"])
def test_what_no_further_call_can_mend_stops_the_run(where: str) -> None:
    error = FatalError("embed", "the key is refused")
    system = Scripted(add_fails=error) if where == "add" else Scripted(recall_fails={"q1": error})
    with pytest.raises(FatalError, match="the key is refused"):
        ask(system)
    assert len(system.asked) <= 1 and system.left == [FatalError]


def test_a_ranking_that_names_no_document_of_ours_is_unscored() -> None:
    [record, _] = ask(Scripted([*HITS, Hit(Document("summary-1", "made up"), 0.1)]))
    assert (record.ranked, record.unscored, record.error) == (None, "unmapped", None)
    assert record.context[0].ref == Ref("s", "1")


def test_a_system_without_an_order_is_unscored_and_answers_from_everything() -> None:
    [record, _] = ask(Scripted(HITS, ranked=False), depth=1)
    assert (record.ranked, record.unscored) == (None, "no ranking")
    assert [row.text for row in record.context] == ["text 1", "text 2", "text 3"]


def test_no_system_gets_more_than_the_depth() -> None:
    [record, _] = ask(Scripted(HITS), depth=2)
    assert record.ranked and [row.ref.turn for row in record.ranked] == ["1", "2"]


def test_only_the_chosen_and_the_missing_are_asked(shipped: list[Haystack]) -> None:
    raw = config(*DRY, "competitor=[full_context]", "embedder=none", "lane=[lexical]")
    work = Recalling("f", raw)(None)
    [place] = [p for p in _places(raw) if p.haystack == "h0012"]
    ids = [s.source_id for s in shipped[12].samples]
    only = frozenset(ids[:2])
    batch = work(Work(place, only, frozenset({Key("ours", "h0012-q0001")})))
    assert [r.record.key for r in batch.recalled] == [
        ("ours", "h0012-q0000"),
        ("full_context", "h0012-q0000"),
        ("full_context", "h0012-q0001"),
    ]
    assert batch.questions == 2


def _places(raw: Mapping[str, object]) -> list[object]:
    from runner.build import build

    node = raw["dataset"]
    assert isinstance(node, dict)
    return list(build(node).items())


@dataclass
class Noting:
    """A store that notes which of its indexes are open."""

    store: Sqlite
    made: list[Index] = field(default_factory=list)

    def index(self, documents: Sequence[Document]) -> Index:
        self.made.append(self.store.index(documents))
        return self.made[-1]


def test_conditions_share_one_index_and_the_next_haystack_closes_it() -> None:
    store = Noting(Sqlite(None, "porter unicode61"))
    once = Once(store, lambda documents: False)
    first = once.index(DOCUMENTS)
    first.close()  # the first condition is done with it
    again = once.index(DOCUMENTS)
    assert len(store.made) == 1 and [h.document.id for h in again.match(["text"], 1)] == ["d1"]
    once.index(DOCUMENTS[:2])
    assert len(store.made) == 2
    with pytest.raises(ComponentError):
        store.made[0].match(["text"], 1)


def test_an_index_that_may_not_be_needed_is_made_at_the_first_search() -> None:
    store = Noting(Sqlite(None, "porter unicode61"))
    index = Once(store, lambda documents: True).index(DOCUMENTS)
    assert store.made == [] and [d.id for d in index.documents] == ["d1", "d2", "d3"]
    assert [h.document.id for h in index.match(["3"], 1)] == ["d3"]
    assert len(store.made) == 1 and index.match(["2"], 1) and len(store.made) == 1


TEXTS = st.lists(st.text(max_size=8), max_size=6)


@given(TEXTS, st.integers(1, 6), st.integers(1, 30))
def test_the_context_is_the_first_hits_cut_at_the_limit(texts: list[str], hits: int, chars: int) -> None:
    found = [Hit(Document(f"d{n}", text), 1.0) for n, text in enumerate(texts)]
    rows = context_rows(found, replace(HAYSTACK, refs={}), Context(hits, chars))
    assert "".join(row.text for row in rows) == "".join(texts[:hits])[:chars]
    assert len(rows) <= hits


@given(st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31), timezones=st.just(UTC)))
def test_times_are_kept_to_the_minute(time: datetime) -> None:
    assert from_minute(minute(time)) == time.replace(second=0, microsecond=0)


def test_no_time_is_no_time() -> None:
    assert from_minute(minute(None)) is None
