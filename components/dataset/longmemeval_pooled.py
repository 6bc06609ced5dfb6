"""LongMemEval with all items in one haystack: every question is asked among the sessions of all the others.

For files of evidence only (oracle), where a haystack of its own would hold nothing but gold. A session's name is
made unique by its question: {"question_id": "q7", "haystack_session_ids": ["s1"]} -> q7/s1. The file is read one
item at a time; all its documents are in memory at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from components.dataset.longmemeval import Dated, Item, Longmemeval, by_time
from components.files.items import Item as Where
from components.files.items import decode, places
from components.types import Haystack, Place


@dataclass(frozen=True)
class LongmemevalPooled(Longmemeval):
    """The parameters of Longmemeval; one haystack, a question per item of the file."""

    def items(self) -> Iterator[Place]:
        found = list(places(self.data_dir, self.path, self.official, self.known))
        yield Place("h0000", found[0].path, found[0].start, found[-1].stop, 0)

    def load(self, place: Place) -> Haystack:
        """DataError as of Longmemeval; notes are those of all items together."""
        notes: Counter[str] = Counter()
        read: list[tuple[Item, Where]] = []
        dated: list[Dated] = []
        for one in places(self.data_dir, self.path, self.official, self.known):
            item, where = decode(self.data_dir, one, Item)
            item.haystack_session_ids = [f"{item.question_id}/{name}" for name in item.haystack_session_ids]
            item.answer_session_ids = [f"{item.question_id}/{name}" for name in item.answer_session_ids]
            dated += self._sessions(item, where, notes)
            read.append((item, where))
        documents, refs = self._writing().documents(by_time(dated))
        samples = [
            self._sample(item, where, refs, notes, f"{place.haystack}-q{number:04d}")
            for number, (item, where) in enumerate(read)
        ]
        kept = tuple(sample for sample in samples if sample.category in self.categories)
        notes["questions_left_out"] += len(samples) - len(kept)
        return Haystack(place.haystack, documents, kept, refs, "pooled", dict(+notes))
