"""How a stored text is written; the JSON against json.loads."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.files.conversation import FIELDS, Session, Turn, Writing
from components.types import Ref

KEYS = {"speaker": "speaker", "text": "text", "dia_id": "name"}
WHEN = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
TURNS = (
    Turn("D1:1", "Ana", "user", "hello {text}", 1),
    Turn("D1:2", "Ben", "assistant", " ", 2),
    Turn("D1:3", "Ben", "assistant", "look!", 3, "a red canoe"),
    Turn("D1:4", "Ana", "user", "", 4, "a dog"),
)
SESSIONS = [
    Session("session_1", 1, "1:56 pm on 8 May, 2023", WHEN, TURNS),
    Session("session_4", 4, "", None, TURNS[:1]),
]


def texts(unit: Any, text: str, caption_text: str = " [shares {caption}]") -> list[str]:
    return [d.text for d in Writing(unit, text, KEYS, caption_text).documents(SESSIONS)[0]]


def test_a_turn_is_a_document_with_its_place_time_and_speaker() -> None:
    documents, refs = Writing("turn", "{text}", KEYS).documents(SESSIONS)
    assert [(d.id, d.created, d.speaker) for d in documents] == [
        ("d00001", WHEN, "Ana"),
        ("d00002", WHEN, "Ben"),
        ("d00003", WHEN, "Ana"),
        ("d00004", None, "Ana"),
    ]
    assert list(refs.values()) == [
        Ref("session_1", "D1:1"),
        Ref("session_1", "D1:3"),
        Ref("session_1", "D1:4"),
        Ref("session_4", "D1:1"),
    ]


def test_every_field_of_a_template() -> None:
    template = "|".join(f"{{{field}}}" for field in FIELDS)
    assert texts("turn", template)[1:] == [
        "Ben|assistant|look! [shares a red canoe]|1:56 pm on 8 May, 2023|2023-05-08|1|3|a red canoe",
        "Ana|user| [shares a dog]|1:56 pm on 8 May, 2023|2023-05-08|1|4|a dog",
        "Ana|user|hello {text}|||4|1|",
    ]


def test_a_session_is_its_turns_a_line_each() -> None:
    documents, refs = Writing("session", "{speaker}: {text}", KEYS, "").documents(SESSIONS)
    assert [d.text for d in documents] == ["Ana: hello {text}\nBen: look!\nAna: ", "Ana: hello {text}"]
    assert list(refs.values()) == [Ref("session_1", None), Ref("session_4", None)]
    assert {d.speaker for d in documents} == {None}


def test_json_is_compact_with_the_allowed_keys_in_order() -> None:
    assert texts("session", "json", "")[1] == '[{"speaker":"Ana","text":"hello {text}","dia_id":"D1:1"}]'
    assert (
        texts("turn", "json")[1] == '[{"speaker":"Ben","text":"look! [shares a red canoe]","dia_id":"D1:3"}]'
    )


@given(st.text(min_size=1).filter(str.strip))
def test_json_keeps_any_text(text: str) -> None:
    session = Session("s", 1, "", None, (Turn("t", "A", "user", text, 1),))
    (document,), _ = Writing("turn", "json", {"role": "role", "content": "text"}).documents([session])
    assert json.loads(document.text) == [{"role": "user", "content": text}]


@pytest.mark.parametrize(
    "template",
    ["{has_answer}", "{text.__class__}", "{text!r}", "{text:>9}", "{0}", "{}", "{text", "{text[0]}"],
)
def test_a_template_holds_plain_known_fields_only(template: str) -> None:
    with pytest.raises(ValueError, match="text: "):
        Writing("turn", template, KEYS)


def test_a_wrong_unit_is_named() -> None:
    with pytest.raises(ValueError, match="unit: 'sesion' is not possible; did you mean 'session'"):
        texts("sesion", "{text}")
