"""One index for all conditions over a haystack: indexed once, closed when the next haystack comes."""

from __future__ import annotations

from collections.abc import Sequence

from components.types import Document, Index, Store


class Once:
    """A store that keeps its last index: conditions over one haystack share it. Closes it for the next."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._documents: Sequence[Document] | None = None
        self._index: Index | None = None

    def index(self, documents: Sequence[Document]) -> Index:
        if self._index is None or documents is not self._documents:
            if self._index is not None:
                self._index.close()
            self._documents, self._index = documents, None
            self._index = self._store.index(documents)
        return _Kept(self._index)


class _Kept:
    """An index that its users cannot close: Once does."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self.documents = index.documents
        self.match, self.nearest = index.match, index.nearest
        self.embed, self.vectors = index.embed, index.vectors

    def close(self) -> None:
        """Left to Once."""
