"""A question of any dataset as an item of LongMemEval: one of its own as it stands, another one rewritten.

    {"question_id": "conv-26:12", "question_type": "temporal-reasoning", "question": "When did ...?",
     "answer": "7 May 2023", "question_date": "2023/10/22 (Sun) 09:55", "category": "temporal",
     "haystack_session_ids": ["answer_conv-26_session_1"], "haystack_dates": ["2023/05/08 (Mon) 13:56"],
     "haystack_sessions": [[{"role": "user", "content": "Ana: ...", "has_answer": true}]],
     "answer_session_ids": ["answer_conv-26_session_1"]}

What a rewritten item does so that LongMemEval's tools take it: a gold session's id begins with `answer_`
(they know the gold by it), hence differs from question to question; every turn is a `user`'s, since they
index no others and both people may say the evidence; the speaker stands before the text; a question that cannot be
answered ends in `_abs`. Their types are fewer: `category` keeps the dataset's own name.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from components.types import Haystack, Ref, Sample

TYPES = {  # LoCoMo's categories; LongMemEval's judge has one prompt for all of these but temporal-reasoning
    "single-hop": "single-session-user",
    "multi-hop": "multi-session",
    "open-domain": "multi-session",
    "temporal": "temporal-reasoning",
    "adversarial": "single-session-user",
}
NO_ANSWER = "The conversation does not say."
TEXT = "{speaker}: {text}"
_DAYS = "Mon Tue Wed Thu Fri Sat Sun".split()


class Item(NamedTuple):
    """`fields`: of the item. `sessions`: our session name -> its id there; `numbers`: turn -> 1, 2 ..."""

    fields: dict[str, Any]
    sessions: Mapping[str, str]
    numbers: Mapping[Ref, int]

    def name(self, ref: Ref) -> str:
        """corpus_id of a session or a turn."""
        session = self.sessions[ref.session]
        return session if ref.turn is None else f"{session}_{self.numbers[ref]}"

    def date(self, ref: Ref) -> str:
        place = self.fields["haystack_session_ids"].index(self.sessions[ref.session])
        return str(self.fields["haystack_dates"][place] or "")


def own(raw: dict[str, Any]) -> Item:
    """An item of a LongMemEval file: nothing is changed."""
    names, sessions = raw["haystack_session_ids"], raw["haystack_sessions"]
    numbers = {
        Ref(name, str(turn)): turn + 1
        for name, turns in zip(names, sessions, strict=True)
        for turn in range(len(turns))
    }
    return Item(raw, {name: name for name in names}, numbers)


def rewritten(turns: Haystack, sample: Sample) -> Item:
    """`turns`: the haystack with one document per turn, written as TEXT."""
    gold = set(sample.gold.refs)
    golden = {ref.session for ref in gold}
    sessions: dict[str, str] = {}
    said: dict[str, list[dict[str, Any]]] = {}
    dates: dict[str, str] = {}
    numbers: dict[Ref, int] = {}
    for document in turns.documents:
        ref = turns.refs[document.id]
        name = f"{'answer_' * (ref.session in golden)}{turns.source_id}_{ref.session}"
        sessions[ref.session] = name
        dates[name] = written(document.created)
        its = said.setdefault(name, [])
        its.append({"role": "user", "content": document.text, "has_answer": ref in gold})
        numbers[ref] = len(its)
    answer = sample.gold.answers[0] if sample.gold.answers else NO_ANSWER
    fields = {
        "question_id": sample.source_id + ("" if sample.gold.answerable else "_abs"),
        "question_type": TYPES.get(sample.category, sample.category),
        "question": sample.question.text,
        "answer": answer,
        "question_date": written(sample.question.asked),
        "category": sample.category,
        "haystack_session_ids": list(said),
        "haystack_dates": [dates[name] for name in said],
        "haystack_sessions": list(said.values()),
        "answer_session_ids": [name for session, name in sessions.items() if session in golden],
    }
    return Item(fields, sessions, numbers)


def written(time: datetime | None) -> str:
    """2023/05/20 (Sat) 02:21, whatever the locale; "" for an undated one."""
    return f"{time:%Y/%m/%d} ({_DAYS[time.weekday()]}) {time:%H:%M}" if time else ""
