"""What the tests of the retrieval slots share: documents, stores as the YAMLs have them, a tiny embedder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from components.store.lancedb import Lancedb
from components.store.sqlite import Sqlite
from components.types import Document, Embedder, Hit, Query, Question, Role, Scope, Vectors

CONF = Path(__file__).parents[2] / "conf"
NOW = datetime(2024, 1, 11, tzinfo=UTC)
SCOPE = Scope("t", "a", "u")


def conf(group: str, name: str) -> dict[str, Any]:
    """A YAML's parameters, without _target_; of a plural group the one node in it."""
    node = yaml.safe_load((CONF / group / f"{name}.yaml").read_text("utf-8"))
    node = node if "_target_" in node else node[name]
    root = yaml.safe_load((CONF / "config.yaml").read_text("utf-8"))
    named = {f"${{{key}}}": value for key, value in root.items() if isinstance(value, str)}
    return {key: named.get(str(value), value) for key, value in node.items() if key != "_target_"}


def sqlite(embedder: Embedder | None = None) -> Sqlite:
    return Sqlite(**{**conf("store", "sqlite"), "embedder": embedder})


def lancedb(embedder: Embedder | None = None, **changed: Any) -> Lancedb:
    made = Lancedb(**{**conf("store", "lancedb"), "embedder": embedder, **changed})
    return replace(made, fts={**conf("store", "lancedb")["fts"], **made.fts})


STORES = {"sqlite": sqlite, "lancedb": lancedb}


def documents(*texts: str) -> tuple[Document, ...]:
    return tuple(Document(f"d{place + 1:02d}", text) for place, text in enumerate(texts))


def query(*texts: str, now: datetime | None = NOW) -> Query:
    return Query(Question("q", texts[0]), texts, now, SCOPE)


def hits(*found: Document) -> list[Hit]:
    return [Hit(document, 1.0 / rank) for rank, document in enumerate(found, start=1)]


def ids(found: Sequence[Hit]) -> list[str]:
    return [hit.document.id for hit in found]


@dataclass
class Letters:
    """Counts of a..z: a real if crude embedder, exact by hand. Notes what it was asked."""

    seen: list[tuple[Role, str]] = field(default_factory=list, repr=False)

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        self.seen += [(role, text) for text in texts]
        rows = [[text.lower().count(chr(97 + n)) for n in range(26)] for text in texts]
        return np.array(rows, np.float32).reshape(len(texts), 26)
