"""F27: copies of a file; both hashes against a second way to get them."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.files.identity import content_sha256, identify, sha256
from components.types import DataError

ITEMS: list[dict[str, Any]] = [
    {"b": 1, "a": ["x", None, "é\u2028"]},
    {"sample_id": "s", "turns": [{"text": "hi", "n": 2.5}]},
]


def written(folder: Path, name: str, raw: bytes) -> Path:
    path = folder / name
    path.write_bytes(raw)
    return path


def test_layout_leaves_the_content_hash_alone(tmp_path: Path) -> None:
    plain = written(tmp_path, "a.json", json.dumps(ITEMS).encode())
    copies = [
        written(tmp_path, "b.json", json.dumps(ITEMS, indent=2, ensure_ascii=False, sort_keys=True).encode()),
        written(tmp_path, "c.json.gz", gzip.compress(json.dumps(ITEMS).encode())),
    ]
    expected = hashlib.sha256()
    for item in ITEMS:
        text = json.dumps(item, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        expected.update(hashlib.sha256(text.encode()).digest())
    assert content_sha256([plain]) == expected.hexdigest()
    assert {content_sha256([copy]) for copy in copies} == {content_sha256([plain])}
    assert len({sha256([f]) for f in (plain, *copies)}) == 3


def test_one_changed_turn_or_another_order_is_another_content(tmp_path: Path) -> None:
    changed = json.loads(json.dumps(ITEMS))
    changed[1]["turns"][0]["text"] = "ho"
    hashes = {
        content_sha256([written(tmp_path, f"{i}.json", json.dumps(items).encode())])
        for i, items in enumerate([ITEMS, changed, ITEMS[::-1], ITEMS[:1]])
    }
    assert len(hashes) == 4


def test_a_known_file_is_named_and_a_copy_called_a_copy(tmp_path: Path) -> None:
    plain = written(tmp_path, "a.json", json.dumps(ITEMS).encode())
    copy = written(tmp_path, "b.json", json.dumps(ITEMS, indent=1).encode())
    known = {sha256([plain]): "the set", content_sha256([plain]): "the set"}
    assert identify([plain], known).known_as == "the set"
    assert identify([copy], known).known_as == "the set, same content in other bytes"
    assert identify([copy], {}).known_as is None
    assert identify([plain, copy], known)[:2] == (
        "a.json + b.json",
        hashlib.sha256(plain.read_bytes() + copy.read_bytes()).hexdigest(),
    )


def test_a_damaged_item_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, "a.json", b'[{"a": 1}, {"a": tru}]')
    with pytest.raises(DataError, match="byte 11, item 1: no valid JSON"):
        content_sha256([path])


@given(st.dictionaries(st.text(), st.integers() | st.text(), max_size=5))
def test_the_order_of_keys_means_nothing(item: dict[str, Any]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        one = written(Path(folder), "a.json", json.dumps([item]).encode())
        two = written(Path(folder), "b.json", json.dumps([dict(reversed(item.items()))]).encode())
        assert content_sha256([one]) == content_sha256([two])
