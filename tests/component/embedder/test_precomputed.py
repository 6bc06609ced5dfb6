from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from components.embedder.precomputed import Precomputed
from components.types import ComponentError

SHA = hashlib.sha256("ünd".encode()).hexdigest()
LINES = [{"text": "kayak", "vector": [3, 4]}, {"sha256": SHA, "vector": [0, 2]}]


def made(folder: Path, text: str | bytes, dim: int | None = None) -> Precomputed:
    (folder / "v.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    return Precomputed("v.json", str(folder), dim)


def jsonl(*rows: object) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.mark.parametrize(
    "text",
    [
        jsonl(*LINES),
        json.dumps({"kayak": [3, 4], SHA: [0, 2]}, indent=1),
        gzip.compress(jsonl(*LINES).encode()),
    ],
)
def test_by_text_and_by_hash(tmp_path: Path, text: str | bytes) -> None:
    embedder = made(tmp_path, text)
    assert embedder.problems() == []
    assert embedder.embed(["ünd", "kayak"], "query") == pytest.approx(np.array([[0, 1], [0.6, 0.8]]))
    with pytest.raises(ComponentError, match="embed: no vector for text \\('boat'\\)"):
        embedder.embed(["kayak", "boat"], "document")


def test_one_line_alone(tmp_path: Path) -> None:
    assert made(tmp_path, jsonl(LINES[0])).embed(["kayak"], "query").shape == (1, 2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (jsonl(LINES[0], {"text": "boat", "vector": [1, 2, 3]}), "line 2: a vector of 3 numbers"),
        (jsonl(LINES[0], {"text": "boat", "vector": [0, 0]}), "line 2: a vector that is zero"),
        (jsonl(LINES[0]) + '{"text": "boat", "vector": [NaN, 1]}\n', "line 2: no vector in it"),
        (jsonl(LINES[0], {"vector": [1, 0]}), "line 2: no vector in it"),
        (jsonl(LINES[0], {"text": "kayak", "vector": [4, 3]}), "line 2: a second, different vector"),
        (jsonl(LINES[0])[:-9], "line 1: no vector in it"),
        (json.dumps({"kayak": [3, 4], "boat": [1]}), "key 'boat': a vector of 1 numbers"),
        (
            json.dumps({"kayak": [3, 4], "boat": [1e300, 1]}),
            "key 'boat': a vector that is zero or not finite",
        ),
        ("", "holds no vector"),
    ],
)
def test_a_bad_file_is_told_with_its_place(tmp_path: Path, text: str, expected: str) -> None:
    (problem,) = made(tmp_path, text).problems()
    assert expected in problem and "make the file of vectors again" in problem


def test_another_dimension_than_the_config_says(tmp_path: Path) -> None:
    assert "among such of 3" in made(tmp_path, jsonl(*LINES), dim=3).problems()[0]


def test_the_file_lies_under_data_dir(tmp_path: Path) -> None:
    inside = tmp_path / "data"
    inside.mkdir()
    (tmp_path / "v.json").write_text("{}")
    assert "leads out of" in Precomputed("../v.json", str(inside), None).problems()[0]
    assert "no file" in Precomputed("v.json", str(inside), None).problems()[0]


def test_other_vectors_are_another_run(tmp_path: Path) -> None:
    one = made(tmp_path, jsonl(*LINES)).model_files()
    two = made(tmp_path, jsonl(*LINES[:1])).model_files()
    assert len(one) == 1 and one.keys() == two.keys() and one != two
