"""LoCoMo's sample as it stands in the file, and its sessions. One record: see components.dataset.locomo."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec

from components.files import dates
from components.files.conversation import Session, Turn
from components.files.items import Item

_SESSION = re.compile(r"session_([0-9]{1,6})")
_DATE = re.compile(r"session_([0-9]{1,6})_date_time")


class TurnRow(msgspec.Struct):
    speaker: str
    dia_id: str
    text: str | None = None
    blip_caption: str | None = None


class QaRow(msgspec.Struct):
    question: str
    category: Any = None
    evidence: list[str] | str | None = None
    answer: Any = msgspec.UNSET


class SampleRow(msgspec.Struct):
    sample_id: str
    conversation: dict[str, msgspec.Raw]
    qa: list[QaRow]


def sessions(sample: SampleRow, captions: bool, where: Item, notes: Counter[str]) -> list[Session]:
    """In numeric order, whatever the order in the file; a gap is no end, a date alone no session."""
    raw: dict[int, str] = {}
    for key in sample.conversation:
        if match := _SESSION.fullmatch(key):
            if int(match[1]) in raw:
                raise where.fault(f"{key} and {raw[int(match[1])]} are the same session")
            raw[int(match[1])] = key
    dated = {int(m[1]): key for key in sample.conversation if (m := _DATE.fullmatch(key))}
    notes["orphan_dates"] += len(dated.keys() - raw.keys())
    names: set[str] = set()
    out: list[Session] = []
    for number, key in sorted(raw.items()):
        date = _part(sample, dated[number], str | None, where) if number in dated else None
        turns = _turns(_part(sample, key, list[TurnRow], where), captions, where, notes)
        for turn in turns:
            if turn.name in names:
                raise where.fault(f"two turns are called {turn.name!r}: evidence would name both")
            names.add(turn.name)
        notes["empty_sessions"] += not turns
        out.append(Session(key, number, date or "", dates.counted(date, notes), turns))
    return out


def _part(sample: SampleRow, key: str, shape: Any, where: Item) -> Any:
    try:
        return msgspec.json.decode(sample.conversation[key], type=shape)
    except msgspec.DecodeError as error:
        raise where.fault(f"conversation.{key} is not of the expected shape: {error}") from error


def _turns(turns: Sequence[TurnRow], captions: bool, where: Item, notes: Counter[str]) -> tuple[Turn, ...]:
    out: list[Turn] = []
    for number, turn in enumerate(turns, start=1):
        caption = (turn.blip_caption or "").strip() if captions else ""
        out.append(Turn(turn.dia_id, turn.speaker, turn.speaker, turn.text or "", number, caption))
        notes["blank_turns"] += out[-1].blank
    return tuple(out)
