"""F24: files that are not what they should be, written to disk; one line each says what to do."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from components.files.looks import problems
from components.types import DataError

GOOD = json.dumps([{"sample_id": f"s{i}", "text": "x" * 900} for i in range(50)]).encode()
CASES = {
    "empty": (b"", "an empty file"),
    "blank": (b" \n", "blanks only"),
    "pointer": (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n", "git-LFS pointer"),
    "page": (b"\n<!DOCTYPE html><html><body>Sign in</body></html>", "an HTML page"),
    "cut": (GOOD[: len(GOOD) // 2], "a cut file"),
    "cut gzip": (gzip.compress(GOOD)[:-9], "a cut or damaged gzip"),
    "gzip of a cut file": (gzip.compress(GOOD[:-40]), "a cut file"),
    "gzip of a page": (gzip.compress(b"<html></html>"), "an HTML page"),
    "gzip of nothing": (gzip.compress(b""), "an empty gzip"),
    "damaged gzip": (b"\x1f\x8b\x08\x00rubbish rubbish", "a cut or damaged gzip"),
    "zip": (b"PK\x03\x04....", "a zip archive"),
    "utf-16": ("[]".encode("utf-16"), "UTF-16"),
    "csv": (b"id,text\n1,a\n", "no JSON array or object"),
}


def of(folder: Path, path: str = "a.json") -> list[str]:
    return problems(
        str(folder), path, "a.json (of somewhere)", {"ab12": "a.json of somewhere", "cd34": "a.json"}
    )


@pytest.mark.parametrize("case", CASES)
def test_what_it_looks_like_is_said_in_one_line(tmp_path: Path, case: str) -> None:
    raw, says = CASES[case]
    (tmp_path / "a.json").write_bytes(raw)
    (line,) = of(tmp_path)
    assert "\n" not in line
    assert line.startswith(f"{tmp_path / 'a.json'}, {len(raw):,} bytes: looks like ")
    assert says in line
    assert "; " in line.split(says)[1]  # what to do


@pytest.mark.parametrize(
    "raw", [GOOD, GOOD + b"\n\n", b"\xef\xbb\xbf" + GOOD, gzip.compress(GOOD), b'{"a": 1}']
)
def test_good_files_have_no_problem(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "a.json").write_bytes(raw)
    assert of(tmp_path) == []


def test_a_missing_file_names_the_official_one_and_its_hash(tmp_path: Path) -> None:
    (tmp_path / "b.json").write_bytes(GOOD)
    (line,) = of(tmp_path)
    for part in (
        "no such file",
        "a.json (of somewhere), sha256 ab12",
        "CROSSJUDGE_DATA",
        "'b.json'",
        "downloaded",
    ):
        assert part in line
    assert "cd34" not in line


def test_a_folder_and_a_path_that_leads_out(tmp_path: Path) -> None:
    (tmp_path / "a.json").mkdir()
    assert "a folder or device" in of(tmp_path)[0]
    assert "leads out of" in of(tmp_path, "../a.json")[0]
    assert "no such file" in of(tmp_path / "nowhere")[0]


def test_the_reader_says_the_same_when_nobody_asked_before(tmp_path: Path) -> None:
    from components.files.items import places

    (tmp_path / "a.json").write_bytes(CASES["pointer"][0])
    with pytest.raises(DataError, match="git-LFS pointer"):
        list(places(str(tmp_path), "a.json", "a.json", {}))
    (tmp_path / "a.json").write_bytes(b"[ ]")
    with pytest.raises(DataError, match="without items"):
        list(places(str(tmp_path), "a.json", "a.json", {}))
