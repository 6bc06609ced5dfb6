"""Full text of a document's surroundings: BM25 over it and its neighbours in time, joined into one text.

What a dialogue says is spread over turns: the question in one, the answer in the next. A hit is still one
document, the middle of the window; a window that holds the gold does not count. Radius None is the whole
session (all documents of one moment), the same score for each of its documents.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from components.text.words import terms_of
from components.types import Document, Hit, Index, Query, Store


@dataclass(frozen=True)
class Window:
    """`store` indexes the windows (it needs no embedder). `radius`: neighbours on each side, None = session.

    `part`: the name under which a hit tells its BM25. `stop_words`: blank-separated, left out of the question.
    """

    store: Store
    radius: int | None
    part: str
    stop_words: str

    def __post_init__(self) -> None:
        if self.radius is not None and self.radius < 1:
            raise ValueError(f"radius: {self.radius} is not 1 or more (null = the whole session)")

    def search(self, query: Query, index: Index, seeds: Sequence[Hit], k: int) -> list[Hit]:
        """Best first, ties by document id; score 1/rank, parts[part] = BM25 of the window."""
        asked = [t for text in query.texts for t in terms_of(text, "words", None, self._stop_words)]
        if not asked:
            return []
        windows = self._last.of(index.documents)
        found = [
            (hit.score, d) for hit in windows.index.match(asked, k) for d in windows.members[hit.document.id]
        ]
        best = sorted(found, key=lambda pair: (-pair[0], pair[1].id))[:k]
        return [Hit(d, 1.0 / rank, {self.part: score}) for rank, (score, d) in enumerate(best, start=1)]

    @cached_property
    def _stop_words(self) -> frozenset[str]:
        return frozenset(self.stop_words.lower().split())

    @cached_property
    def _last(self) -> _Last:
        return _Last(self.store, self.radius)


class _Windows:
    """The windows of one haystack: their index, and whom a window stands for."""

    def __init__(self, documents: Sequence[Document], store: Store, radius: int | None) -> None:
        made = list(_windows(documents, radius))
        self.documents = documents
        self.members = {window.id: members for window, members in made}
        self.index = store.index([window for window, _ in made])


class _Last:
    """The windows of the last haystack that was asked about: questions come haystack by haystack."""

    def __init__(self, store: Store, radius: int | None) -> None:
        self._store, self._radius = store, radius
        self._windows: _Windows | None = None

    def of(self, documents: Sequence[Document]) -> _Windows:
        if self._windows is None or self._windows.documents is not documents:
            if self._windows is not None:
                self._windows.index.close()
            self._windows = None
            self._windows = _Windows(documents, self._store, self._radius)
        return self._windows


def _windows(
    documents: Sequence[Document], radius: int | None
) -> Iterator[tuple[Document, tuple[Document, ...]]]:
    """(window, whom it stands for). Documents of one moment are a session, in the order of their ids."""
    for _, group in itertools.groupby(documents, key=lambda document: document.created):
        session = tuple(group)
        if radius is None:
            yield _joined(session[0], session), session
            continue
        for place, middle in enumerate(session):
            yield _joined(middle, session[max(0, place - radius) : place + radius + 1]), (middle,)


def _joined(named: Document, members: Sequence[Document]) -> Document:
    return Document(named.id, "\n".join(member.text for member in members), created=named.created)
