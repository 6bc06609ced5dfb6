"""Answers and verdicts from records: what is sent to whom, what a failure becomes, what stops the run."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest

from components.types import (
    Answer,
    Answerer,
    ComponentError,
    FatalError,
    Hit,
    Judge,
    Kind,
    Question,
    Ref,
    Sample,
    Verdict,
)
from runner.answering import Answering, hits_of, sample_of
from runner.build import build, many
from runner.records import ContextRow, ErrorRow, read
from tests.loopback import Loopback, Step, refuse, say
from tests.runner.leaky import Says
from tests.runner.making import record
from tests.runner.running import config, resume, run

LLM = ("llm.model=test-model", "llm.api_key_env=null", "llm.retries=0")
QA = ("+experiment=dry", "answerer=llm", *LLM)
RECALLED = msgspec.structs.replace(
    record("h0-q1"), context=(ContextRow(Ref("s", "1"), "2024-01-13T10:20Z", "I sold the kayak."),)
)


def parts(server: Loopback, *overrides: str) -> tuple[Answerer, dict[str, Judge]]:
    """The answerer and the judges of a command line, all at this server."""
    line = [*QA, f"llm.base_url={server.url}", *overrides]
    if any("llm" in o for o in overrides):
        line += [f"judge.llm.{o}" for o in (*LLM, f"llm.base_url={server.url}")]
    raw = config(*line)
    return build(raw["answerer"]), many(raw, "judge")


def by_role(answer: Step, verdict: Step) -> Any:
    """A server's step: an answerer's prompt has no schema and ends with "Answer:"."""
    return lambda body: answer if is_answer(body) else verdict


def is_answer(body: dict[str, Any]) -> bool:
    return str(body["messages"][-1]["content"]).rstrip().endswith("Answer:")


YES = say(json.dumps({"reasoning": "the same", "verdict": "CORRECT", "correct": True, "label": "correct"}))


@dataclass(frozen=True)
class Raising:
    """An answerer and a judge that cannot do their work."""

    error: ComponentError
    kind: ClassVar[Kind] = "mechanical"

    def answer(self, question: Question, hits: list[Hit]) -> Answer:
        raise self.error

    def grade(self, sample: Sample, answer: Answer) -> Verdict:
        raise self.error


TIMEOUT = ComponentError("remote", "timeout", "after 30 s")


def test_a_judge_that_fails_is_invalid_and_the_other_judges_go_on() -> None:
    with Loopback([say("the kayak")]) as server:
        answerer, judges = parts(server, "judge=[facts]")
        done = Answering(answerer, {"broken": Raising(TIMEOUT), **judges}, 1).finish(RECALLED)
    assert done.answer and (done.answer.status, done.answer.text) == ("ok", "the kayak")
    [broken] = done.verdicts["broken"]
    assert (broken.label, broken.reason) == ("invalid", "judge: timeout")
    assert done.verdicts["facts"][0].label in ("correct", "wrong")


def test_an_answerer_that_fails_is_an_invalid_answer_that_no_judge_sees() -> None:
    with Loopback([YES]) as server:
        _, judges = parts(server, "judge=[llm]")
        done = Answering(Raising(TIMEOUT), judges, 1).finish(RECALLED)
        assert server.requests == []
    assert done.answer and (done.answer.text, done.answer.status) == ("", "invalid")
    assert done.answer.reason == "remote: timeout"
    assert [v.label for v in done.verdicts["llm"]] == ["invalid"]
    assert done.verdicts["llm"][0].reason == "answer: remote: timeout"


@pytest.mark.parametrize("text", ["", "  \n\t ", "<think>Let me see, the kayak"])
def test_an_empty_or_unfinished_answer_is_never_sent_to_a_judge(text: str) -> None:
    with Loopback([by_role(say(text), YES)]) as server:
        answerer, judges = parts(server, "judge=[llm,facts,overlap]")
        done = Answering(answerer, judges, 3).finish(RECALLED)
        assert all(is_answer(body) for body in server.requests)
    labels = {v.label for verdicts in done.verdicts.values() for v in verdicts}
    reasons = {v.reason.partition(":")[0] for verdicts in done.verdicts.values() for v in verdicts}
    assert (labels, reasons) == ({"invalid"}, {"answer"})


def test_an_empty_text_that_calls_itself_ok_is_shown_to_no_judge_however_trusting() -> None:
    given = msgspec.structs.replace(RECALLED, answer=Answer("  \n"))
    done = Answering(None, {"trusting": Says("correct")}, 1).judge(given)
    assert done.verdicts["trusting"] == (Verdict("invalid", "answer: empty"),)


def test_a_failed_recall_is_not_answered() -> None:
    failed = msgspec.structs.replace(RECALLED, error=ErrorRow("dense", "no vector for text"), context=())
    with Loopback([YES]) as server:
        answerer, judges = parts(server, "judge=[llm]")
        done = Answering(answerer, judges, 1).finish(failed)
        assert server.requests == []
    assert done.answer and done.answer.reason == "dense: no vector for text"


@pytest.mark.parametrize(("status", "message"), [(401, "Incorrect API key"), (404, "no such model")])
@pytest.mark.parametrize("whose", ["answerer", "judge"])
def test_what_no_further_call_can_mend_passes(status: int, message: str, whose: str) -> None:
    no = refuse(status, message, code="model_not_found" if status == 404 else "invalid_api_key")
    with Loopback([by_role(no, no) if whose == "answerer" else by_role(say("the kayak"), no)]) as server:
        answerer, judges = parts(server, "judge=[llm]")
        with pytest.raises(FatalError):
            Answering(answerer, judges, 1).finish(RECALLED)


def test_a_model_is_asked_repeats_times_about_one_answer_a_keyless_judge_once() -> None:
    with Loopback([by_role(say("the kayak"), YES)]) as server:
        answerer, judges = parts(server, "judge=[llm,facts]")
        done = Answering(answerer, judges, 3).finish(RECALLED)
        calls = Counter(map(is_answer, server.requests))
    assert calls == {True: 1, False: 3}
    assert {name: len(verdicts) for name, verdicts in done.verdicts.items()} == {"llm": 3, "facts": 1}


def test_without_an_answerer_a_record_stays_as_it_is() -> None:
    assert Answering(None, {}, 1).finish(RECALLED) is RECALLED


def test_the_answerer_sees_the_context_under_ids_that_say_nothing() -> None:
    told = replace(hits_of(RECALLED)[0].document)
    assert (told.id, told.text) == ("c000", "I sold the kayak.")
    assert told.created and told.created.isoformat() == "2024-01-13T10:20:00+00:00"


def test_a_judge_needs_the_record_alone() -> None:
    sample = sample_of(RECALLED)
    assert (sample.gold.answers, sample.category, sample.source_id) == (("here",), "plain", "source h0-q1")
    assert sample.gold.qrels == {}


def asked(body: dict[str, Any]) -> str:
    """The question in an answerer's prompt."""
    found = re.search(r"Question: (.*)", body["messages"][-1]["content"])
    assert found
    return found[1]


def test_a_refused_key_in_mid_run_stops_it_with_two_and_keeps_the_records(tmp_path: Path) -> None:
    """After resume every question was answered once; only those under way were asked again."""
    stop, good = refuse(401, "Incorrect API key", code="invalid_api_key"), say("the kayak")
    with Loopback([good] * 9 + [stop]) as server:
        ran = run(tmp_path, *QA, f"llm.base_url={server.url}", "answering.concurrency=2")
        assert ran.status == 2 and "Traceback" not in ran.stderr
        assert "resume=" in ran.stderr and "key" in ran.stderr
        [folder] = (tmp_path / "dry").iterdir()
        kept = list(read(folder / "records.jsonl"))
        assert 5 <= len(kept) <= 9 and {r.answer.text for r in kept if r.answer} == {"the kayak"}
        before = len(server.requests)
        server.script = [good]
        again = resume(folder)
        assert again.status == 0
        second = [asked(body) for body in server.requests[before:]]
    assert [r.key for r in again.records][: len(kept)] == [r.key for r in kept]
    assert len(again.records) == len({r.key for r in again.records}) == 26
    assert not set(second) & {r.question for r in kept} and len(second) == 26 - len(kept)
    assert again.report["errors"] == {}
