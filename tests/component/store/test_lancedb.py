from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from components.store import tables
from components.store.lancedb import FTS_KEYS
from components.types import ComponentError, Document, Role, Vectors
from tests.component.retrieval import Letters, documents, ids, lancedb

TURNS = documents("the red kayak", "a blue boat", "kayak kayak shore")


def test_the_keys_of_fts_are_lancedbs() -> None:
    from lancedb.index import FTS

    known = set(inspect.signature(FTS).parameters)
    assert set(FTS_KEYS) <= known
    assert known - set(FTS_KEYS) == {"remove_stop_words", "custom_stop_words", "document_granularity"}


def test_a_wrong_key_is_a_config_error() -> None:
    with pytest.raises(ValueError, match="steming"):
        lancedb(fts={"steming": True})


def test_a_wrong_value_is_an_index_error() -> None:
    with pytest.raises(ComponentError, match=r"^index: "):
        lancedb(fts={"base_tokenizer": "nonsense"}).index(TURNS)


def test_an_index_made_before_the_rows_is_refused() -> None:
    """F40: rows that came after the index are not in it."""
    import lancedb as engine
    import pyarrow as pa
    from lancedb.index import FTS

    table = engine.connect("memory://").create_table("t", pa.table({"row": [0], "text": ["kayak"]}))
    table.create_index("text", config=FTS())
    tables._proven(table, 1)
    table.add(pa.table({"row": [1], "text": ["boat"]}))
    with pytest.raises(ComponentError, match="rows not indexed"):
        tables._proven(table, 2)
    with pytest.raises(ComponentError, match="rows lost"):
        tables._proven(table, 3)


def test_stop_words_are_a_setting() -> None:
    assert lancedb(stop_words="a the").index(TURNS).match(["the"], 3) == []
    assert ids(lancedb().index(TURNS).match(["the"], 3)) == ["d01"]


def test_with_positions_a_term_of_several_words_is_a_phrase() -> None:
    phrases = lancedb(fts={"with_position": True}).index(documents("red kayak", "kayak, not red", "boat"))
    assert ids(phrases.match(["red kayak"], 3)) == ["d01"]
    assert set(ids(phrases.match(["red kayak", "boat"], 3))) == {"d01", "d03"}


def test_tables_on_disk_are_made_once_and_found_again(tmp_path: Path) -> None:
    store = lancedb(Letters(), memory=False, path=str(tmp_path))
    index = store.index(TURNS)
    expected = ids(index.match(["kayak"], 3)), ids(index.nearest(index.embed(["boat"]), 3))
    index.close()
    (made,) = tmp_path.glob("*.lance")
    before = sorted(p.stat().st_mtime_ns for p in made.rglob("*"))
    again = store.index(TURNS)
    assert expected == (ids(again.match(["kayak"], 3)), ids(again.nearest(again.embed(["boat"]), 3)))
    assert sorted(p.stat().st_mtime_ns for p in made.rglob("*")) == before
    store.index(documents("something else"))
    lancedb(memory=False, path=str(tmp_path), stop_words="").index(TURNS)  # other settings, other table
    assert len(list(tmp_path.glob("*.lance"))) == 3
    assert not list(tmp_path.glob("draft-*"))


def test_a_table_that_is_found_is_not_embedded_again(tmp_path: Path) -> None:
    embedder = Letters()
    store = lancedb(embedder, memory=False, path=str(tmp_path))
    first = store.index(TURNS)
    assert len(embedder.seen) == len(TURNS)
    again = store.index(TURNS)
    assert len(embedder.seen) == len(TURNS)
    assert np.array_equal(first.vectors(["d03", "d01"]), again.vectors(["d03", "d01"]))
    assert np.allclose(again.vectors(["d02"]), Letters().embed(["a blue boat"], "document") / np.sqrt(13))


def test_a_damaged_table_is_made_again(tmp_path: Path) -> None:
    store = lancedb(memory=False, path=str(tmp_path))
    store.index(TURNS).close()
    (made,) = tmp_path.glob("*.lance")
    for part in (made / "_indices").rglob("*"):
        part.unlink() if part.is_file() else None
    for part in (made / "_versions").glob("*"):
        part.write_bytes(part.read_bytes()[:20])
    assert ids(store.index(TURNS).match(["kayak"], 3)) == ["d03", "d01"]
    assert len(list(tmp_path.glob("*.lance"))) == 1


def test_scanning_and_indexing_give_the_same_scores() -> None:
    """The first searches scan the texts, then they are indexed: nothing of it may be seen."""
    turns = documents(*(f"turn {n} of {n % 7} kayaks, {'shore ' * (n % 4)}and a boat" for n in range(200)))
    index, indexed = lancedb(scans=2).index(turns), lancedb(scans=0).index(turns)
    for terms in (["kayaks", "shore"], ["boat", "3"], ["shore"], ["199", "kayaks"], ["nothing"]):
        expected = [(hit.document.id, pytest.approx(hit.score)) for hit in indexed.match(terms, 20)]
        assert [(hit.document.id, hit.score) for hit in index.match(terms, 20)] == expected


def test_an_index_is_made_at_the_third_search(monkeypatch: pytest.MonkeyPatch) -> None:
    index, made = lancedb(scans=2).index(TURNS), []
    real = tables.index
    monkeypatch.setattr(tables, "index", lambda *given: (made.append(1), real(*given)))
    counts = []
    for _ in range(4):
        index.match(["kayak"], 3)
        counts.append(len(made))
    assert counts == [0, 0, 1, 1]
    with pytest.raises(ValueError, match="scans=-1"):
        lancedb(scans=-1)


def test_two_that_make_the_same_table_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second one finds the first one's table when it wants to give its own the name."""
    store = lancedb(memory=False, path=str(tmp_path))
    fill = tables._filled

    def late(*everything: object) -> object:
        made = fill(*everything)
        monkeypatch.setattr(tables, "_filled", fill)
        store.index(TURNS)  # the other one, quicker
        return made

    monkeypatch.setattr(tables, "_filled", late)
    assert ids(store.index(TURNS).match(["boat"], 3)) == ["d02"]
    assert len(list(tmp_path.glob("*.lance"))) == 1


class Angles:
    """d000 ... d199: nearer and nearer to the query, by less than what counts as different."""

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        if role == "query":
            return np.array([[1.0, 0.0]] * len(texts), np.float32)
        angles = np.arccos(0.6999998 + 2e-9 * np.arange(len(texts)))
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def test_a_tie_longer_than_what_was_fetched_is_fetched_whole() -> None:
    """The engine would give d199 first: it sees a difference in the 7th digit."""
    same = [Document(f"d{n:03d}", "kayak") for n in range(200)]
    index = lancedb(Angles()).index(same)
    raw = index._near(np.array([1.0, 0.0], np.float32)).limit(52).to_arrow()["id"].to_pylist()
    assert "d000" not in raw
    assert ids(index.nearest(index.embed(["x"]), 3)) == ["d000", "d001", "d002"]
