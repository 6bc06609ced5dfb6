"""Confinement, plain and gzip reading: against the bytes that were written."""

from __future__ import annotations

import gzip
import os
import random
from pathlib import Path

import pytest

from components.files import source
from components.types import DataError


def noise(size: int) -> bytes:
    return random.Random(3).randbytes(size)


def test_a_path_stays_under_data_dir(tmp_path: Path) -> None:
    inside, outside = tmp_path / "data", tmp_path / "secret.json"
    inside.mkdir()
    outside.write_text("[]")
    (inside / "a.json").write_text("[]")
    (inside / "link.json").symlink_to(outside)
    (inside / "near.json").symlink_to(inside / "a.json")
    (tmp_path / "database").mkdir()
    assert source.confine(str(inside), "a.json") == inside / "a.json"
    assert source.confine(str(inside), str(inside / "a.json")) == inside / "a.json"
    assert source.confine(str(inside), "near.json") == inside / "a.json"
    for path in ("../secret.json", str(outside), "link.json", "x/../../secret.json", "../database/x.json"):
        with pytest.raises(DataError, match="leads out of"):
            source.confine(str(inside), path)


def test_a_data_dir_that_is_a_link_is_no_way_out(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.json").write_text("[]")
    (tmp_path / "data").symlink_to(tmp_path / "real")
    assert source.confine(str(tmp_path / "data"), "a.json") == tmp_path / "real" / "a.json"


@pytest.mark.parametrize("packed", [False, True])
def test_chunks_and_spans_are_the_bytes_of_the_file(tmp_path: Path, packed: bool) -> None:
    raw = noise(3 * source.CHUNK + 17)
    path = tmp_path / "a.json"  # gzip is known by its first bytes, not by its name
    path.write_bytes(gzip.compress(raw) if packed else raw)
    parts = list(source.chunks(path))
    assert b"".join(parts) == raw
    assert max(map(len, parts)) <= source.CHUNK
    for start, stop in [(5, 9), (700_000, 700_100), (100, 400_000), (len(raw) - 3, len(raw))]:
        assert source.span(path, start, stop) == raw[start:stop]
    with pytest.raises(DataError, match="ends before this item"):
        source.span(path, len(raw) - 3, len(raw) + 1)


def test_a_gzip_of_several_members_is_one_text(tmp_path: Path) -> None:
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(b"[{},") + gzip.compress(b"{}]"))
    assert b"".join(source.chunks(path)) == b"[{},{}]"
    assert source.span(path, 3, 6) == b",{}"


def test_a_gzip_file_that_was_replaced_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(b"first text"))
    assert source.span(path, 0, 5) == b"first"
    path.write_bytes(gzip.compress(b"another text, longer"))
    os.utime(path, ns=(1, 1))
    assert source.span(path, 0, 7) == b"another"


def test_a_cut_gzip_is_a_data_error_with_a_place(tmp_path: Path) -> None:
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(noise(2 * source.CHUNK))[: source.CHUNK])
    with pytest.raises(DataError, match=r"decompressed byte .*breaks off.*fetch the file again"):
        list(source.chunks(path))
    with pytest.raises(DataError, match="breaks off"):
        source.span(path, 2 * source.CHUNK - 5, 2 * source.CHUNK)


def test_reading_leaves_the_file_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"[{}]")
    path.chmod(0o444)
    before = path.stat()
    assert b"".join(source.chunks(path)) == b"[{}]"
    assert (path.stat().st_mtime_ns, path.stat().st_size) == (before.st_mtime_ns, before.st_size)
