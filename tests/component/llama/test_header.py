from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from components.llama.header import checked_header, read_header
from components.llama.weights import file_problems, header, sha256
from components.types import DataError
from tests.component.llama.files import BERT, RANKS, TABLE, made, tiny


def test_what_the_model_is(tmp_path: Path) -> None:
    found = read_header(tiny(tmp_path / "a.gguf", BERT, RANKS))
    assert (found.architecture, found.positions, found.ranks) == ("bert", 512, True)
    assert found.values["tokenizer.ggml.tokens"] == 2 and found.tensors["cls.output.weight"] == (8, 1)
    assert not read_header(tiny(tmp_path / "b.gguf", BERT, TABLE, version=2)).ranks


def test_a_table_of_positions_counts_more_than_the_claim(tmp_path: Path) -> None:
    """llama.cpp reads behind the table and ends the process (F50)."""
    claims = {**BERT, "bert.context_length": 8192}
    assert read_header(tiny(tmp_path / "a.gguf", claims, TABLE)).positions == 512
    assert read_header(tiny(tmp_path / "b.gguf", claims, {"token_embd.weight": (8, 2)})).positions == 8192


def test_every_cut_is_a_message(tmp_path: Path) -> None:
    whole = tiny(tmp_path / "a.gguf", BERT, {"x": (8, 4), **TABLE})
    data = whole.read_bytes()
    for length in (*range(0, 400), len(data) - 1):
        part = tmp_path / "part.gguf"
        part.write_bytes(data[:length])
        with pytest.raises(DataError, match=r"part\.gguf"):
            read_header(part)
    assert read_header(whole).positions == 512


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200), st.integers(0, 120))
def test_noise_is_a_message(tmp_path: Path, noise: bytes, at: int) -> None:
    """A header or a DataError, whatever stands in the file."""
    data = tiny(tmp_path / "a.gguf", BERT, RANKS).read_bytes()
    (tmp_path / "b.gguf").write_bytes(data[:at] + noise)
    checked_header(tmp_path / "b.gguf")


def test_messages(tmp_path: Path) -> None:
    (tmp_path / "c.gguf").write_text("<html>not found</html>")
    (tmp_path / "d.gguf").write_bytes(b"GGUF\x09\x00\x00\x00" + bytes(16))
    for name, part in (
        ("no.gguf", "there is no file"),
        ("c.gguf", "not a GGUF"),
        ("d.gguf", "version 9"),
        (".", "there is no file"),
    ):
        assert part in file_problems(str(tmp_path / name))[0]


def test_a_changed_file_is_another_model(tmp_path: Path) -> None:
    path = tiny(tmp_path / "a.gguf", BERT, TABLE)
    before, head = sha256(str(path)), header(str(path))
    tiny(path, BERT, RANKS)
    assert sha256(str(path)) != before and header(str(path)) != head
    assert sha256(str(tmp_path / "no")) == ""


@pytest.mark.gguf
def test_as_the_format_s_own_reader_has_it(tmp_path_factory: Any) -> None:
    """Oracle: the gguf package."""
    from gguf import GGUFReader

    path = made(tmp_path_factory.getbasetemp(), "--type", "q8_0")
    found, theirs = read_header(path), GGUFReader(path)
    assert found.tensors == {t.name: tuple(int(n) for n in t.shape) for t in theirs.tensors}
    assert set(found.values) == {name for name in theirs.fields if not name.startswith("GGUF.")}
    for key in ("general.architecture", "bert.context_length", "bert.attention.causal", "general.file_type"):
        assert found.values[key] == theirs.fields[key].contents()
    assert found.values["tokenizer.ggml.tokens"] == len(theirs.fields["tokenizer.ggml.tokens"].contents())
    data = path.read_bytes()
    cut = path.with_name("cut.gguf")
    cut.write_bytes(data[:-40])
    with pytest.raises(DataError, match="cut off"):
        read_header(cut)
