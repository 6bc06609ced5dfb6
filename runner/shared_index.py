"""One index for all conditions over a haystack: made once, when needed, closed when the next one comes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from components.types import Document, Hit, Index, Store, Vectors


class Once:
    """A store that keeps its last index: conditions over one haystack share it.

    `lazy`: for these documents the index is made at the first search; their rankings may all be known. Else it
    is made at once, so that ingesting is timed and fails where it should.
    """

    def __init__(self, store: Store, lazy: Callable[[Sequence[Document]], bool]) -> None:
        self._store, self._lazy = store, lazy
        self._given: Sequence[Document] | None = None
        self._kept: _Kept | None = None

    def index(self, documents: Sequence[Document]) -> Index:
        if self._kept is None or documents is not self._given:
            if self._kept is not None:
                self._kept.end()
            self._given, self._kept = documents, None
            kept = _Kept(self._store, documents)
            if not self._lazy(kept.documents):
                kept.made()
            self._kept = kept
        return self._kept


class _Kept:
    """An index that its users cannot close (Once does), made when first asked."""

    def __init__(self, store: Store, documents: Sequence[Document]) -> None:
        self.documents = tuple(sorted(documents, key=lambda document: document.id))  # as every index has them
        self._store = store
        self._index: Index | None = None

    def made(self) -> Index:
        if self._index is None:
            self._index = self._store.index(self.documents)
        return self._index

    def match(self, terms: Sequence[str], k: int) -> list[Hit]:
        return self.made().match(terms, k)

    def nearest(self, vectors: Vectors, k: int) -> list[Hit]:
        return self.made().nearest(vectors, k)

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self.made().embed(texts)

    def vectors(self, ids: Sequence[str]) -> Vectors:
        return self.made().vectors(ids)

    def close(self) -> None:
        """Left to Once."""

    def end(self) -> None:
        if self._index is not None:
            self._index.close()
