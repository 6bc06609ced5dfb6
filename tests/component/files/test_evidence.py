"""F04, F05: evidence as it is written, against what it means."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.files.evidence import Mode, read

TURNS = {f"D{s}:{t}": None for s in range(1, 12) for t in range(1, 31)}


def both(
    strings: list[str], mode: Mode = "tolerant"
) -> tuple[tuple[str, ...], tuple[str, ...], dict[str, int]]:
    notes: Counter[str] = Counter()
    return (*read(strings, TURNS, mode, notes), dict(+notes))


@pytest.mark.parametrize(
    ("strings", "turns", "unresolved", "notes"),
    [
        (["D1:3"], ("D1:3",), (), {}),
        (
            ["D2:1; D3:4", "D1:1 D2:2 D4:9"],
            ("D2:1", "D3:4", "D1:1", "D2:2", "D4:9"),
            (),
            {"evidence_split": 2},
        ),
        (["D2:1,D3:4"], ("D2:1", "D3:4"), (), {"evidence_split": 1}),
        (["D:2:7"], ("D2:7",), (), {"evidence_mended": 1}),
        (["D2:07"], ("D2:7",), (), {"evidence_mended": 1}),
        (["(d2:7)"], ("D2:7",), (), {"evidence_mended": 1}),
        (["D"], (), ("D",), {"evidence_unresolved": 1}),
        (["D99:1"], (), ("D99:1",), {"evidence_unresolved": 1}),
        (["D:99:1"], (), ("D:99:1",), {"evidence_unresolved": 1}),
        (["", " ; "], (), ("", " ; "), {"evidence_unresolved": 2}),
        (["D1:3", "D1:3"], ("D1:3",), (), {}),
        (["D1:3-5"], (), ("D1:3-5",), {"evidence_unresolved": 1}),
        ([], (), (), {}),
    ],
)
def test_tolerant(
    strings: list[str], turns: tuple[str, ...], unresolved: tuple[str, ...], notes: dict[str, int]
) -> None:
    assert both(strings) == (turns, unresolved, notes)


def test_verbatim_takes_a_string_as_it_stands() -> None:
    assert both(["D1:3", "D2:07", "D1:1 D2:2", "D99:1", "D99:1"], "verbatim") == (
        ("D1:3",),
        ("D2:07", "D1:1 D2:2", "D99:1"),
        {"evidence_unresolved": 3},
    )


@given(st.lists(st.sampled_from(sorted(TURNS)), max_size=6), st.sampled_from([";", ", ", " ", "\n", " ; "]))
def test_any_packing_of_names_reads_as_the_names(names: list[str], between: str) -> None:
    turns, unresolved, _ = both([between.join(names)] if names else [])
    assert turns == tuple(dict.fromkeys(names))
    assert unresolved == ()


@given(
    st.lists(st.text(alphabet="D0123456789:; ,()x", max_size=12)), st.sampled_from(["tolerant", "verbatim"])
)
def test_nothing_is_lost_or_made_up(strings: list[str], mode: Mode) -> None:
    turns, unresolved, notes = both(strings, mode)
    assert set(turns) <= TURNS.keys()
    assert not set(unresolved) & TURNS.keys()
    assert bool(turns or unresolved) == bool(strings)
    assert notes.get("evidence_unresolved", 0) == len(unresolved)
    if mode == "verbatim":
        assert set(turns) | set(unresolved) == set(strings)
