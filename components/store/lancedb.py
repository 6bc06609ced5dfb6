"""LanceDB: the documents, vectors and full-text index of one haystack in one table of its own.

One row: {"row": 0, "id": "d00001", "text": "Ana: I sold the kayak.", "vector": [0.1, ...]}
Full text is LanceDB's native index, asked with a MatchQuery object (a string would be parsed); vectors are
searched exactly, without an index. Rows of equal score come in no order of ours: over-fetch, then sort.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from components.store import tables
from components.text.documents import check_documents
from components.text.vectors import DIGITS, checked, no_embedder
from components.text.words import plain, words
from components.types import ComponentError, Document, Embedder, Hit, Vectors

FTS_KEYS = (
    *("base_tokenizer", "language", "lower_case", "stem", "ascii_folding", "max_token_length"),
    *("with_position", "num_workers", "memory_limit", "block_size"),
    *("ngram_min_length", "ngram_max_length", "prefix_only"),
)
SLACK = 50  # rows fetched beyond 2k, so that a tie at k is seldom asked for twice


@dataclass(frozen=True)
class Lancedb:
    """`memory`: tables in memory, else under `path`, one per haystack, named by its texts, settings and embedder.

    `scans`: in memory, so many searches read the texts through before an index is made (the scores are equal).
    `fts`: parameters of lancedb.index.FTS. `stop_words`, blank-separated, are left out of the text index.
    """

    embedder: Embedder | None
    memory: bool
    path: str
    scans: int
    fts: Mapping[str, Any]
    stop_words: str

    def __post_init__(self) -> None:
        if self.scans < 0:
            raise ValueError(f"scans={self.scans}: needs 0 or more")
        for key in self.fts:
            if key not in FTS_KEYS:
                raise ValueError(
                    f"fts.{key}: LanceDB's FTS takes no such key; there is {', '.join(FTS_KEYS)}"
                )

    def problems(self) -> list[str]:
        if importlib.util.find_spec("lancedb") is None:
            return ["package 'lancedb' is not installed: pip install lancedb, or store=sqlite"]
        return []

    def index(self, documents: Sequence[Document]) -> LancedbIndex:
        """Every row is proven to be there and to be searched: else the text leg would find nothing.

        A table that is found on disk is opened, and nothing is embedded again.
        """
        check_documents(documents)
        ordered = sorted(documents, key=lambda document: document.id)
        return LancedbIndex(ordered, self, tables.attempt("index", lambda: self._table(ordered)))

    def _table(self, ordered: Sequence[Document]) -> Any:
        def vectors() -> Vectors | None:
            texts = [document.text for document in ordered]
            return checked(self.embedder.embed(texts, "document"), texts, None) if self.embedder else None

        if self.memory:
            return tables.in_memory(ordered, vectors(), self.settings, flat=self.scans > 0)
        name = tables.name(ordered, self.embedder, self.settings)
        return tables.on_disk(Path(self.path), name, ordered, vectors, self.settings)

    @property
    def settings(self) -> dict[str, Any]:
        """The parameters of lancedb.index.FTS."""
        stop_words = self.stop_words.split()
        return {
            **self.fts,
            "remove_stop_words": bool(stop_words),
            "custom_stop_words": stop_words or None,
        }


class LancedbIndex:
    """`row` = position in the order of document ids, so that a tie is one of ids."""

    def __init__(self, ordered: Sequence[Document], store: Lancedb, table: Any) -> None:
        self.documents = tuple(ordered)
        self._embedder, self._store = store.embedder, store
        self._places = {document.id: place for place, document in enumerate(self.documents)}
        self._table = table
        self._scans_left = store.scans if store.memory else None  # None: there is an index

    def match(self, terms: Sequence[str], k: int) -> list[Hit]:
        if not terms or not self.documents:
            return []
        query = self._query([plain(term) for term in terms])
        self._indexed()
        rows = self._best("lexical", "_score", k, lambda: self._open().search(query, query_type="fts"))
        return [Hit(self.documents[place], score) for score, place in rows]

    def _indexed(self) -> None:
        """Makes the text index where scanning once more would cost more than it."""
        if self._scans_left == 0:
            tables.attempt("index", lambda: tables.index(self._open(), self._store.settings))
        self._scans_left = self._scans_left - 1 if self._scans_left else None

    def _query(self, terms: Sequence[str]) -> Any:
        """With positions, a term of several words is a phrase, as in FTS5; else its words are asked for."""
        from lancedb.query import BooleanQuery, MatchQuery, Occur, PhraseQuery

        if not self._store.fts.get("with_position"):
            return MatchQuery(" ".join(terms), "text")
        kinds = (PhraseQuery if len(words(term)) > 1 else MatchQuery for term in terms)
        parts = [kind(term, "text") for kind, term in zip(kinds, terms, strict=True)]
        return BooleanQuery([(Occur.SHOULD, part) for part in parts])

    def nearest(self, vectors: Vectors, k: int) -> list[Hit]:
        if self._embedder is None:
            raise no_embedder()
        if not self.documents:
            return []
        width = self._open().schema.field("vector").type.list_size
        queries = checked(vectors, [f"query {n + 1}" for n in range(len(vectors))], width)
        best: dict[int, float] = {}
        for query in queries:
            for distance, place in self._best("dense", "_distance", k, partial(self._near, query)):
                best[place] = max(best.get(place, -1.0), round(1.0 - distance, DIGITS))
        order = sorted((-score, place) for place, score in best.items())
        return [Hit(self.documents[place], -score) for score, place in order[:k]]

    def _near(self, query: Any) -> Any:
        return self._open().search(query, vector_column_name="vector").distance_type("cosine")

    def _best(self, stage: str, column: str, k: int, search: Callable[[], Any]) -> list[tuple[float, int]]:
        """(value, row) of the best k, ties by row: fetch more until a tie at k is wholly there."""
        sign, limit = (-1 if column == "_score" else 1), min(len(self.documents), 2 * k + SLACK)
        while True:
            found = tables.attempt(stage, partial(_fetch, search, column, limit))
            values = found[column].to_numpy().astype(np.float64)
            values = values if column == "_score" else values.round(DIGITS)
            rows = sorted(zip((sign * values).tolist(), found["row"].to_pylist(), strict=True))
            if len(rows) < limit or limit == len(self.documents) or rows[k - 1][0] < rows[-1][0]:
                return [(sign * value, place) for value, place in rows[:k]]
            limit = len(self.documents)

    def _open(self) -> Any:
        if self._table is None:
            raise ComponentError("index", "closed")
        return self._table

    def embed(self, texts: Sequence[str]) -> Vectors:
        if self._embedder is None:
            raise no_embedder()
        return checked(self._embedder.embed(texts, "query"), texts, None)

    def vectors(self, ids: Sequence[str]) -> Vectors:
        if self._embedder is None:
            raise no_embedder()
        found: Vectors = self._vectors[[self._places[i] for i in ids]]
        return found

    @cached_property
    def _vectors(self) -> Vectors:
        """(n_documents, dim), as the table holds them."""
        found = tables.attempt("dense", lambda: self._open().to_arrow().sort_by("row")["vector"])
        flat = found.combine_chunks().flatten().to_numpy()
        made: Vectors = flat.reshape(len(self.documents), -1)
        return made

    def close(self) -> None:
        """Lets go of the table: in memory it is gone, on disk it stays for the next run."""
        self._table = None


def _fetch(search: Callable[[], Any], column: str, n: int) -> Any:
    return search().select(["row", column]).limit(n).to_arrow()
