"""Of documents with the same text only the newest is recalled; the order stays. Source: Comis, SPEC A2.12."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from components.types import Document, Hit, Query

_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Dedup:
    """Texts are compared trimmed and in lower case, by their first `chars` characters; None = whole.

    A number is Comis' rule (200): sessions written as JSON may begin alike and be different.
    """

    chars: int | None

    def __post_init__(self) -> None:
        if self.chars is not None and self.chars < 1:
            raise ValueError(f"chars: {self.chars} is not 1 or more (null = the whole text)")

    def keep(self, query: Query, hits: Sequence[Hit]) -> list[Hit]:
        newest: dict[str, Document] = {}
        for hit in hits:  # the first of equally new ones stays
            key = _key(hit.document.text, self.chars)
            if key not in newest or _time(hit.document) > _time(newest[key]):
                newest[key] = hit.document
        chosen = {document.id for document in newest.values()}
        return [hit for hit in hits if hit.document.id in chosen]

    def reason(self, hit: Hit) -> str:
        return "same text"


@lru_cache(maxsize=4096)  # the documents of one haystack come again with every question
def _key(text: str, chars: int | None) -> str:
    return text[:chars].strip().lower()


def _time(document: Document) -> datetime:
    return document.created or _NEVER
