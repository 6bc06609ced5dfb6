"""The second half of the loop: an answer made once, graded by every judge; from a record alone.

Because it needs nothing but the record, saved rankings can be answered again and saved answers judged again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from components.types import (
    Answer,
    Answerer,
    ComponentError,
    Document,
    FatalError,
    Gold,
    Hit,
    Judge,
    Question,
    Sample,
    Verdict,
)
from runner.drafts import from_minute
from runner.records import Record


@dataclass(frozen=True)
class Answering:
    answerer: Answerer | None
    judges: Mapping[str, Judge]
    repeats: int

    def finish(self, record: Record) -> Record:
        """The record with an answer and verdicts. FatalError passes; any other failure is a status."""
        if self.answerer is None:
            return record
        answer = self._answer(record)
        return self.judge(msgspec.structs.replace(record, answer=answer))

    def judge(self, record: Record) -> Record:
        """The record with its answer graded by every judge, `repeats` times each."""
        assert record.answer is not None
        sample = sample_of(record)
        verdicts = {
            name: tuple(grade(judge, sample, record.answer) for _ in range(self._times(judge)))
            for name, judge in self.judges.items()
        }
        return msgspec.structs.replace(record, verdicts=verdicts)

    def _times(self, judge: Judge) -> int:
        return self.repeats if judge.kind == "model" else 1  # a keyless judge cannot change its mind

    def _answer(self, record: Record) -> Answer:
        assert self.answerer is not None
        if record.error:
            return Answer("", status="invalid", reason=f"{record.error.stage}: {record.error.reason}")
        question = Question(record.question_id, record.question, from_minute(record.asked))
        try:
            return self.answerer.answer(question, hits_of(record))
        except FatalError:
            raise
        except ComponentError as error:
            return Answer("", status="invalid", reason=f"{error.stage}: {error.reason}")


def grade(judge: Judge, sample: Sample, answer: Answer) -> Verdict:
    """One verdict. An empty, failed or unfinished answer is not sent to a judge: invalid at stage answer."""
    if answer.status != "ok":
        return Verdict("invalid", f"answer: {answer.reason}")
    if not answer.text.strip():
        return Verdict("invalid", "answer: empty")
    try:
        return judge.grade(sample, answer)
    except FatalError:
        raise
    except ComponentError as error:
        return Verdict("invalid", f"judge: {error.reason}")


def hits_of(record: Record) -> tuple[Hit, ...]:
    """The context of a record as hits, best first: what an answerer sees, with opaque ids."""
    return tuple(
        Hit(Document(f"c{i:03d}", row.text, created=from_minute(row.created)), 1 / (i + 1))
        for i, row in enumerate(record.context)
    )


def sample_of(record: Record) -> Sample:
    """What a judge needs of a record."""
    question = Question(record.question_id, record.question, from_minute(record.asked))
    gold = Gold(record.gold.answers, {}, record.gold.answerable, record.gold.refs, record.gold.unresolved)
    return Sample(question, gold, record.category, record.source_id)
