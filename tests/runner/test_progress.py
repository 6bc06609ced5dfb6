"""What a person sees while a run works, and that a pipe sees nothing of it."""

from __future__ import annotations

import io

import msgspec
from rich.console import Console

from components.types import Answer, Usage
from runner.progress import Progress
from runner.records import ErrorRow
from tests.runner.making import record


def shown(terminal: bool, done: int = 0) -> str:
    """The output of a run of two haystacks: one good and priced, one invalid, one failed record."""
    out = io.StringIO()
    console = Console(file=out, force_terminal=terminal, width=160, color_system=None)
    call = Usage(1_000_000, 0, served_model="gpt-4.1")
    records = [
        msgspec.structs.replace(record("a", labels={"facts": "correct"}), answer=Answer("x", call)),
        record("b", labels={"facts": ["correct", "invalid"]}),
        msgspec.structs.replace(record("c"), error=ErrorRow("dense", "timeout")),
    ]
    with Progress(console, "dry") as progress:
        progress.start(2, range(done))
        progress.haystack(2)
        progress.haystack(1)
        for one in records:
            progress.advance(one)
    return out.getvalue()


def test_a_pipe_sees_nothing() -> None:
    assert shown(terminal=False) == ""


def test_a_terminal_sees_counts_rate_invalid_and_dollars() -> None:
    text = shown(terminal=True)
    for part in ("dry", "2/2", "haystacks", "3/3 questions", "/s", "invalid 2", "$2.00"):
        assert part in text, part


def test_a_resumed_run_says_what_is_there_already() -> None:
    assert "resumed: 17 records are there already" in shown(terminal=False, done=17)
