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
from components.types import ComponentError, Document, Embedder, Vectors

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


def in_memory(ordered: Sequence[Document], vectors: Vectors | None, fts: Fts, flat: bool) -> Any:
    """`flat`: the text index is made empty, a search then scans the rows that came after it."""
    os.environ.setdefault("LANCE_LOG", "error")  # it warns of every table that it creates
    import lancedb

    connection, rows = lancedb.connect("memory://"), _rows(ordered, vectors)
    if not flat or not ordered:
        return _filled(connection, "documents", rows, fts)
    table = connection.create_table("documents", schema=rows.schema)
    table.create_index("text", config=_config(fts))
    table.add(rows)
    return _proven(table, len(rows), scanned=len(rows))


def on_disk(
    folder: Path, name: str, ordered: Sequence[Document], vectors: Callable[[], Vectors | None], fts: Fts
) -> Any:
    """The table of this name, made when it is missing or not whole.

    Made under another name first: what bears its name is whole. Workers may make the same one at once.
    """
    os.environ.setdefault("LANCE_LOG", "error")  # it warns of every table that it creates
    import lancedb

    connection = lancedb.connect(str(folder))
    if (folder / f"{name}.lance").exists():
        try:
            return attempt("index", lambda: _proven(connection.open_table(name), len(ordered)))
        except ComponentError:  # damaged: made again below
            shutil.rmtree(folder / f"{name}.lance", ignore_errors=True)
    draft = f"draft-{os.getpid()}-{next(_DRAFTS)}"
    shutil.rmtree(folder / f"{draft}.lance", ignore_errors=True)  # left by a process that was killed
    _filled(connection, draft, _rows(ordered, vectors()), fts)
    try:
        os.rename(folder / f"{draft}.lance", folder / f"{name}.lance")
    except OSError:  # another worker was first
        shutil.rmtree(folder / f"{draft}.lance")
    return _proven(connection.open_table(name), len(ordered))


def index(table: Any, fts: Fts) -> None:
    """The text index over all rows, instead of the one that there is."""
    table.create_index("text", config=_config(fts), replace=True)
    _proven(table, table.count_rows())


def name(ordered: Sequence[Document], embedder: Embedder | None, fts: Fts) -> str:
    """By what decides the table: texts and ids, settings, the embedder's parameters and files."""
    files: dict[str, str] = getattr(embedder, "model_files", dict)()
    made = hashlib.sha256(json.dumps([dict(fts), repr(embedder), files], sort_keys=True).encode())
    for document in ordered:
        made.update(json.dumps([document.id, document.text]).encode())
    return f"h{made.hexdigest()[:32]}"


def _rows(ordered: Sequence[Document], vectors: Vectors | None) -> Any:
    import pyarrow as pa

    columns: dict[str, Any] = {
        "row": pa.array(range(len(ordered)), pa.int32()),
        "id": pa.array([plain(document.id) for document in ordered], pa.string()),
        "text": pa.array([plain(document.text) for document in ordered], pa.string()),
    }
    if vectors is not None and ordered:
        flat = pa.array(np.ascontiguousarray(vectors).ravel(), pa.float32())
        columns["vector"] = pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1])
    return pa.table(columns)


def _filled(connection: Any, name: str, rows: Any, fts: Fts) -> Any:
    """Index after ingest: one made on the empty table leaves the rows out."""
    table = connection.create_table(name, rows)
    if len(rows):
        table.create_index("text", config=_config(fts))
    return _proven(table, len(rows))


def _config(fts: Fts) -> Any:
    from lancedb.index import FTS

    return FTS(**fts)


def _proven(table: Any, expected: int, scanned: int = 0) -> Any:
    """ComponentError unless the table holds `expected` rows, all but `scanned` of them in the text index."""
    rows = table.count_rows()
    if rows != expected:
        raise ComponentError("index", "rows lost", f"{rows} stored of {expected}")
    indices = [index.name for index in table.list_indices() if list(index.columns) == ["text"]]
    stats = table.index_stats(indices[0]) if indices else None
    found = (stats.num_indexed_rows, stats.num_unindexed_rows) if stats else (0, 0)
    if expected and (stats is None or found != (expected - scanned, scanned)):
        raise ComponentError("index", "rows not indexed", str(stats))
    return table
