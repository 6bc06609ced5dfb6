"""Sessions of turns, and how they are written down as documents: what a memory will hold, and nothing else.

unit "turn":    one document per turn, by the template `text`:  [8 May, 2023] Ana: I sold the kayak.
unit "session": one document per session: its turns, one a line
text "json":    a compact JSON array of allowed keys only:      [{"role":"user","content":"..."}]
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from string import Formatter
from typing import Literal, NamedTuple

from components.files.items import check_choice
from components.types import Document, Ref

Unit = Literal["session", "turn"]
FIELDS = ("speaker", "role", "text", "date", "day", "session", "turn", "caption")


class Turn(NamedTuple):
    name: str  # in its Ref; may tell the gold
    speaker: str
    role: str
    text: str
    number: int  # in its session, from 1
    caption: str = ""  # of the picture that it shares

    @property
    def blank(self) -> bool:
        return not (self.caption or self.text.strip())


class Session(NamedTuple):
    name: str  # in its Ref; may tell the gold
    number: int  # from 1
    date: str  # as the file has it
    created: datetime | None
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Writing:
    """`keys`: JSON key -> attribute of Turn. `caption_text` joins a caption to its turn's text; "" does not.

    Raises ValueError for a unit or a field of a template that there is not.
    """

    unit: Unit
    text: str
    keys: Mapping[str, str]
    caption_text: str = ""

    def __post_init__(self) -> None:
        check_choice("unit", self.unit, ("session", "turn"))
        if self.text != "json":
            check_template("text", self.text, FIELDS)
        check_template("caption_text", self.caption_text, ("caption",))

    def documents(self, sessions: Sequence[Session]) -> tuple[tuple[Document, ...], dict[str, Ref]]:
        """Documents in the order of `sessions`, and where each stands in the source; no blank turns."""
        documents: list[Document] = []
        refs: dict[str, Ref] = {}
        for session in sessions:
            turns = [turn for turn in session.turns if not turn.blank]
            groups = [turns] if self.unit == "session" else [[turn] for turn in turns]
            for group in filter(None, groups):
                identifier = f"d{len(documents) + 1:05d}"
                speaker = group[0].speaker if self.unit == "turn" else None
                text = self._text(session, group)
                documents.append(Document(identifier, text, session.created, speaker=speaker))
                refs[identifier] = Ref(session.name, group[0].name if self.unit == "turn" else None)
        return tuple(documents), refs

    def _text(self, session: Session, turns: Sequence[Turn]) -> str:
        if self.text == "json":
            rows = [
                {
                    key: self._said(turn) if name == "text" else getattr(turn, name)
                    for key, name in self.keys.items()
                }
                for turn in turns
            ]
            return json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
        day = session.created.date().isoformat() if session.created and "{day}" in self.text else ""
        return "\n".join([self._line(session, day, turn) for turn in turns])

    def _line(self, session: Session, day: str, turn: Turn) -> str:
        return self.text.format(
            speaker=turn.speaker,
            role=turn.role,
            text=self._said(turn),
            date=session.date,
            day=day,
            session=session.number,
            turn=turn.number,
            caption=turn.caption,
        )

    def _said(self, turn: Turn) -> str:
        return turn.text + self.caption_text.format(caption=turn.caption) if turn.caption else turn.text


def check_template(key: str, template: str, fields: Sequence[str]) -> None:
    """ValueError unless `template` holds plain fields of `fields` only: no attribute, no conversion."""
    try:
        parts = [part for part in Formatter().parse(template) if part[1] is not None]
    except ValueError as error:
        raise ValueError(
            f"{key}: {template!r} is no template ({error}); double a brace that stands for itself"
        ) from error
    for _, name, form, conversion in parts:
        if name not in fields or form or conversion:
            allowed = ", ".join(f"{{{field}}}" for field in fields)
            raise ValueError(f"{key}: {{{name}}} is not possible; a template may hold {allowed}")


def qrels(refs: Mapping[str, Ref], gold: Sequence[Ref]) -> dict[str, int]:
    """Grade 1 for each document whose place is a gold one of its unit; a repeat counts each time."""
    wanted = set(gold)
    return {identifier: 1 for identifier, ref in refs.items() if ref in wanted}
