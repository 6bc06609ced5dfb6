"""What a store demands of documents before it takes them: ids that are unique, texts that are not blank."""

from __future__ import annotations

from collections.abc import Sequence

from components.types import ComponentError, Document


def check_documents(documents: Sequence[Document]) -> None:
    """ComponentError("index", ...) for a repeated id or a blank text: readers skip and count blank turns."""
    seen: set[str] = set()
    for document in documents:
        if document.id in seen:
            raise ComponentError("index", "repeated document id", document.id)
        if not document.text.strip():
            raise ComponentError("index", "blank document", document.id)
        seen.add(document.id)
