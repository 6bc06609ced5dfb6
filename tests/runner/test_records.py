"""The records file: what is written comes back, and a torn, foreign or broken line is told."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.types import Answer, Ref, Usage, Verdict
from runner.records import (
    ContextRow,
    CutRow,
    ErrorRow,
    GoldRow,
    Key,
    RankedRow,
    Record,
    RecordsError,
    Writer,
    done,
    encode,
    mend,
    read,
)
from tests.runner.making import record

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
MAYBE = st.none() | TEXT
REF = st.builds(Ref, TEXT, MAYBE)
USAGE = st.builds(
    Usage, st.none() | st.integers(0, 9**9), st.none() | st.integers(0, 9**9), NUMBER, MAYBE, st.just({})
)
ROWS = st.builds(RankedRow, REF, NUMBER, st.dictionaries(TEXT, NUMBER, max_size=2))


def several(strategy: Any) -> Any:
    return st.lists(strategy, max_size=3).map(tuple)


RECORD = st.builds(
    Record,
    fingerprint=TEXT,
    system=TEXT,
    haystack=TEXT,
    question_id=TEXT,
    source_id=TEXT,
    category=TEXT,
    question=TEXT,
    asked=MAYBE,
    gold=st.builds(GoldRow, several(TEXT), several(REF), st.booleans(), several(TEXT)),
    ranked=st.none() | several(ROWS),
    cut=several(st.builds(CutRow, REF, TEXT, TEXT)),
    context=several(st.builds(ContextRow, st.none() | REF, MAYBE, TEXT)),
    answer=st.none() | st.builds(Answer, TEXT, USAGE, st.sampled_from(["ok", "invalid"]), TEXT),
    verdicts=st.dictionaries(
        TEXT,
        several(st.builds(Verdict, st.sampled_from(["correct", "wrong", "invalid"]), TEXT, TEXT, USAGE)),
        max_size=2,
    ),
    seconds=st.dictionaries(TEXT, NUMBER, max_size=2),
    notes=st.dictionaries(TEXT, st.integers(0, 99), max_size=2),
    unscored=MAYBE,
    error=st.none() | st.builds(ErrorRow, TEXT, TEXT, TEXT),
)


@settings(max_examples=100, deadline=None)
@given(st.lists(RECORD, max_size=4))
def test_what_is_written_comes_back(tmp_path_factory: pytest.TempPathFactory, records: list[Record]) -> None:
    path = tmp_path_factory.mktemp("records") / "records.jsonl"
    writer = Writer(path)
    for one in records:
        writer.write(one)
    writer.close()
    assert list(read(path)) == records
    assert path.read_bytes().count(b"\n") == len(records)


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\r\n", "\n", "\x0b", "\x1c"])
def test_separators_inside_a_text_break_no_line(tmp_path: Path, separator: str) -> None:
    one = msgspec.structs.replace(record("q"), question=f"a{separator}b")
    path = tmp_path / "records.jsonl"
    path.write_bytes(encode(one) * 2)
    assert [r.question for r in read(path)] == [f"a{separator}b"] * 2


def test_equal_records_are_equal_bytes() -> None:
    a = record("q", labels={"facts": "correct", "words": "wrong"})
    b = msgspec.structs.replace(a, verdicts=dict(reversed(a.verdicts.items())))
    assert encode(a) == encode(b)


@pytest.mark.parametrize("cut", [1, 20, 150])
def test_a_torn_last_line_is_cut_before_anything_is_appended(tmp_path: Path, cut: int) -> None:  # F121
    path = tmp_path / "records.jsonl"
    for _ in range(2):  # killed, resumed, killed again
        path.write_bytes(encode(record("q1")) + encode(record("q2"))[:-cut])
        assert mend(path) == len(encode(record("q2"))) - cut
        writer = Writer(path)
        writer.write(record("q2"))
        writer.close()
    assert [r.question_id for r in read(path)] == ["q1", "q2"]


def test_mending_looks_back_over_a_long_line(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    long = msgspec.structs.replace(record("q2"), question="x" * 300_000)
    path.write_bytes(encode(record("q1")) + encode(long)[:-1])
    mend(path)
    assert [r.question_id for r in read(path)] == ["q1"]


def test_mending_leaves_whole_files_alone(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    assert mend(path) == 0 and not path.exists()
    path.write_bytes(b"")
    assert mend(path) == 0
    path.write_bytes(encode(record("q1")))
    assert mend(path) == 0 and len(list(read(path))) == 1
    path.write_bytes(b'{"never a whole line"')
    assert mend(path) == 21 and path.read_bytes() == b""


@pytest.mark.parametrize("line", [b"{broken\n", b"\n", b'{"system": "ours"}\n', b"\xff\xfe\n"])
def test_a_line_that_is_no_record_is_named(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "records.jsonl"
    path.write_bytes(encode(record("q1")) + line + encode(record("q3")))
    with pytest.raises(RecordsError, match=r"records\.jsonl, line 2: not a record"):
        list(read(path))


def test_what_is_done_is_known_by_system_and_question() -> None:
    records = [record("q1"), record("q1", system="null"), record("q2")]
    assert done(records, "f") == {Key("ours", "q1"), Key("null", "q1"), Key("ours", "q2")}


def test_records_of_another_configuration_are_refused() -> None:  # F124
    with pytest.raises(RecordsError, match=r"q2.*made under fingerprint old, not f"):
        done([record("q1"), record("q2", fingerprint="old")], "f")


def test_appending_keeps_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    for question in ("q1", "q2"):
        writer = Writer(path)
        writer.write(record(question))
        assert path.read_bytes().endswith(b"\n")  # a line is on disk before the next is begun
        writer.close()
    assert [r.question_id for r in read(path)] == ["q1", "q2"]
