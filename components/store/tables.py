"""The tables of the LanceDB store: how one is made, proven whole, and found again on disk.

In memory every haystack has a connection of its own: one that is used again grows. On disk a table is named
by its content and settings, so a name never stands for anything else: h3f0c....lance
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from components.text.words import plain
from components.types import ComponentError, Document, Vectors

FAULTS = (
    ValueError,
    RuntimeError,
    OSError,
    TypeError,
)  # what LanceDB and Arrow raise; ArrowInvalid is a ValueError
Fts = Mapping[str, Any]
T = TypeVar("T")
_DRAFTS = itertools.count()


def attempt(stage: str, call: Callable[[], T]) -> T:
    """What LanceDB raises becomes ComponentError(stage, ...): a fault is never an empty list."""
    try:
        return call()
    except ComponentError:
        raise
    except FAULTS as error:
        raise ComponentError(stage, type(error).__name__, str(error)[:300]) from error


def in_memory(ordered: Sequence[Document], vectors: Vectors | None, fts: Fts) -> Any:
    os.environ.setdefault("LANCE_LOG", "error")  # it warns of every table that it creates
    import lancedb

    return _fill(lancedb.connect("memory://"), "documents", ordered, vectors, fts)


def on_disk(folder: Path, ordered: Sequence[Document], vectors: Vectors | None, fts: Fts) -> Any:
    """Made under another name first: what bears its name is whole. Workers may make the same one at once."""
    os.environ.setdefault("LANCE_LOG", "error")  # it warns of every table that it creates
    import lancedb

    name = _name(ordered, vectors, fts)
    connection = lancedb.connect(str(folder))
    if not (folder / f"{name}.lance").exists():
        draft = f"draft-{os.getpid()}-{next(_DRAFTS)}"
        shutil.rmtree(folder / f"{draft}.lance", ignore_errors=True)  # left by a process that was killed
        _fill(connection, draft, ordered, vectors, fts)
        try:
            os.rename(folder / f"{draft}.lance", folder / f"{name}.lance")
        except OSError:  # another worker was first
            shutil.rmtree(folder / f"{draft}.lance")
    return _proven(connection.open_table(name), len(ordered))


def _fill(connection: Any, name: str, ordered: Sequence[Document], vectors: Vectors | None, fts: Fts) -> Any:
    """Index after ingest: one made on the empty table leaves the rows out."""
    import pyarrow as pa
    from lancedb.index import FTS

    columns: dict[str, Any] = {
        "row": pa.array(range(len(ordered)), pa.int32()),
        "id": pa.array([plain(document.id) for document in ordered], pa.string()),
        "text": pa.array([plain(document.text) for document in ordered], pa.string()),
    }
    if vectors is not None and ordered:
        flat = pa.array(np.ascontiguousarray(vectors).ravel(), pa.float32())
        columns["vector"] = pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1])
    table = connection.create_table(name, pa.table(columns))
    if ordered:
        table.create_index("text", config=FTS(**fts))
    return _proven(table, len(ordered))


def _proven(table: Any, expected: int) -> Any:
    """ComponentError unless the table holds `expected` rows, each of them in the text index."""
    rows = table.count_rows()
    if rows != expected:
        raise ComponentError("index", "rows lost", f"{rows} stored of {expected}")
    indices = [index.name for index in table.list_indices() if list(index.columns) == ["text"]]
    stats = table.index_stats(indices[0]) if indices else None
    if expected and (stats is None or stats.num_unindexed_rows or stats.num_indexed_rows != expected):
        raise ComponentError("index", "rows not indexed", str(stats))
    return table


def _name(ordered: Sequence[Document], vectors: Vectors | None, fts: Fts) -> str:
    made = hashlib.sha256(json.dumps(dict(fts), sort_keys=True).encode())
    for document in ordered:
        made.update(json.dumps([document.id, document.text]).encode())
    made.update(b"" if vectors is None else vectors.tobytes())
    return f"h{made.hexdigest()[:32]}"
