"""SQLite in memory: FTS5 (BM25) and exact cosine. The seeds' own store, the oracle, the speed baseline.

One database per haystack, so BM25's statistics are those of the one haystack.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from components.text.documents import check_documents
from components.text.vectors import DIGITS, checked, no_embedder
from components.text.words import plain
from components.types import ComponentError, Document, Embedder, Hit, Vectors

_BEST = """SELECT rowid, bm25(documents) AS worth FROM documents WHERE documents MATCH ?
ORDER BY worth, rowid LIMIT ?"""  # bm25() is negative: the smallest is the best


@dataclass(frozen=True)
class Sqlite:
    """`tokenizer`: FTS5's, e.g. "porter unicode61". Without an embedder there is no nearest()."""

    embedder: Embedder | None
    tokenizer: str

    def problems(self) -> list[str]:
        connection = sqlite3.connect(":memory:")
        try:
            _create(connection, self.tokenizer)
        except sqlite3.Error as error:
            return [
                f"tokenizer: SQLite's FTS5 takes no {self.tokenizer!r} ({error}); 'porter unicode61' works"
            ]
        finally:
            connection.close()
        return []

    def index(self, documents: Sequence[Document]) -> SqliteIndex:
        check_documents(documents)
        ordered = sorted(documents, key=lambda document: document.id)
        vectors = None
        if self.embedder:
            texts = [document.text for document in ordered]
            vectors = checked(self.embedder.embed(texts, "document"), texts, None)
        return SqliteIndex(ordered, vectors, self.embedder, self.tokenizer)


def _create(connection: sqlite3.Connection, tokenizer: str) -> None:
    quoted = tokenizer.replace("'", "''")
    connection.execute(f"CREATE VIRTUAL TABLE documents USING fts5(text, content='', tokenize='{quoted}')")


class SqliteIndex:
    """rowid = position in the order of document ids, so that a tie of BM25 is one of ids."""

    def __init__(
        self, ordered: Sequence[Document], vectors: Vectors | None, embedder: Embedder | None, tokenizer: str
    ) -> None:
        self.documents = tuple(ordered)
        self._vectors, self._embedder = vectors, embedder
        self._places = {document.id: place for place, document in enumerate(self.documents)}
        self._connection = sqlite3.connect(":memory:", check_same_thread=False)
        try:
            _create(self._connection, tokenizer)
            rows = ((place, plain(document.text)) for place, document in enumerate(self.documents))
            self._connection.executemany("INSERT INTO documents(rowid, text) VALUES (?, ?)", rows)
        except sqlite3.Error as error:
            self._connection.close()
            raise ComponentError("index", type(error).__name__, str(error)) from error

    def match(self, terms: Sequence[str], k: int) -> list[Hit]:
        """A term of several words is a phrase to FTS5: it stands between double quotes, as every term."""
        query = " OR ".join('"' + plain(term).replace('"', '""') + '"' for term in terms)
        if not query:
            return []
        try:
            rows = self._connection.execute(_BEST, (query, k)).fetchall()
        except sqlite3.Error as error:
            raise ComponentError("lexical", type(error).__name__, str(error)) from error
        return [Hit(self.documents[place], -score) for place, score in rows]

    def nearest(self, vectors: Vectors, k: int) -> list[Hit]:
        if self._vectors is None:
            raise no_embedder()
        if not self.documents:
            return []
        queries = checked(vectors, [f"query {n + 1}" for n in range(len(vectors))], self._vectors.shape[1])
        scores = np.round((self._vectors @ queries.T).max(axis=1), DIGITS)
        best = np.argsort(-scores, kind="stable")[:k]  # stable: a tie goes by document id
        return [Hit(self.documents[place], float(scores[place])) for place in best]

    def embed(self, texts: Sequence[str]) -> Vectors:
        if self._embedder is None:
            raise no_embedder()
        return checked(self._embedder.embed(texts, "query"), texts, None)

    def vectors(self, ids: Sequence[str]) -> Vectors:
        if self._vectors is None:
            raise no_embedder()
        found: Vectors = self._vectors[[self._places[i] for i in ids]]
        return found

    def close(self) -> None:
        self._connection.close()
