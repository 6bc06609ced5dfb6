"""Embeddings of a model on this machine, a GGUF file that the operator names (llama.cpp; extra "gguf").

Text -> prefix of its role + text -> tokens, cut or split to what the model takes -> pooled vector, unit length.
Presets of known models: gguf_nomic, gguf_e5, gguf_bge, gguf_minilm. Where weights come from: docs/models.md.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from typing import Literal

import numpy as np

from components.files.kept import Kept
from components.llama.engine import Engine, Pooling, Settings, engine
from components.llama.header import Header
from components.llama.weights import file_of, file_problems, header, sha256
from components.text.vectors import checked, start
from components.types import ComponentError, Role, Vectors

LONG = ("cut", "split")


@dataclass(frozen=True)
class Gguf:
    """`long`: a text above `context` tokens is cut, or split and its parts averaged by their length.

    `max_chars`: characters of a text that count at all, None = all. `cache`: folder of vectors that are kept
    from run to run, None = none. The other parameters: components.llama.engine.Settings.
    """

    path: str
    prefix_document: str
    prefix_query: str
    context: int | None
    pooling: Pooling | None
    long: Literal["cut", "split"]
    max_chars: int | None
    batch: int
    threads: int | None
    cache: str | None

    def __post_init__(self) -> None:
        if self.long not in LONG:
            raise ValueError(f"long={self.long!r}: choose one of {', '.join(LONG)}")
        if self.pooling == "rank":
            raise ValueError("pooling=rank is for a reranker: choose mean, cls or last, or null")
        if self.max_chars is not None and self.max_chars < 1:
            raise ValueError("max_chars: needs 1 or more, or null for all")
        self._settings  # noqa: B018  checks its numbers

    def problems(self) -> list[str]:
        out = file_problems(self.path)
        found = header(self.path)
        if isinstance(found, Header) and found.ranks:
            out.append(f"path: {file_of(self.path).name} is a reranker: it gives no vectors")
        return out + (Kept(self.cache, {}).problems() if self.cache else [])

    def model_files(self) -> dict[str, str]:
        """{"embedder/name": sha256}, {} when there is no file."""
        digest = sha256(self.path)
        return {f"embedder/{file_of(self.path).name}": digest} if digest else {}

    def notes(self) -> Mapping[str, int]:
        """What this embedder met so far: embedded, kept (found in the cache), cut, split."""
        return dict(self._met)

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        """A text that is computed alone or among others has the same vector up to cosine .999."""
        for place, text in enumerate(texts, start=1):
            if not text.strip():
                raise ComponentError("embed", "empty text", f"text {place} of {len(texts)}")
        prefix = self.prefix_query if role == "query" else self.prefix_document
        heads = [text[: self.max_chars] for text in texts]
        if self.cache is None:
            return checked(self._computed(heads, prefix) if heads else [], texts, None)
        kept = Kept(self.cache, self._identity(prefix))
        rows, found = kept.vectors(heads, lambda part: self._computed(part, prefix))
        self._met["kept"] += found
        return checked(rows, texts, None)

    def _computed(self, texts: Sequence[str], prefix: str) -> Vectors:
        """Unit length, (n_texts, dim)."""
        model, before = self._engine, self._engine.vocabulary.before
        after = model.vocabulary.after
        parts = [self._parts(text, prefix) for text in texts]
        rows = model.run([[*before, *part, *after] for one in parts for part in one])
        out = np.empty((len(texts), model.width), np.float32)
        for place, (text, one) in enumerate(zip(texts, parts, strict=True)):
            vectors = checked([next(rows) for _ in one], [text] * len(one), model.width)
            out[place] = np.average(vectors, axis=0, weights=[len(part) for part in one])
        self._met["embedded"] += len(texts)
        return checked(out, texts, model.width)

    def _parts(self, text: str, prefix: str) -> list[list[int]]:
        """The token sequences that stand for a text; each begins with the prefix. One unless it is split."""
        words, room = self._engine.vocabulary, self._engine.room
        whole, ahead = words.tokens(prefix + text), words.tokens(prefix)
        if len(whole) <= len(ahead):
            raise ComponentError("embed", "no known token", start(text))
        if len(ahead) >= room:
            raise ComponentError("embed", "prefix too long", f"{len(ahead)} of {room} tokens")
        if len(whole) <= room:
            return [whole]
        self._met[self.long] += 1
        if self.long == "cut":
            return [whole[:room]]
        alone = words.tokens(text)
        size = math.ceil(len(alone) / math.ceil(len(alone) / (room - len(ahead))))  # parts of one length
        return [[*ahead, *alone[at : at + size]] for at in range(0, len(alone), size)]

    def _identity(self, prefix: str) -> dict[str, object]:
        """All that decides a vector beside the text."""
        return {
            "model": sha256(self.path),
            "prefix": prefix,
            "context": self._limit,
            "pooling": self.pooling,
            "long": self.long,
            "engine": _version(),
        }

    @property
    def _limit(self) -> int | None:
        found = header(self.path)
        positions = found.positions if isinstance(found, Header) else None
        return min([n for n in (self.context, positions) if n], default=None)

    @property
    def _settings(self) -> Settings:
        return Settings(self.path, self.context, self.batch, self.pooling, self.threads, "embed")

    @property
    def _engine(self) -> Engine:
        return engine(self._settings)

    @cached_property
    def _met(self) -> Counter[str]:
        return Counter()


def _version() -> str:
    try:
        return metadata.version("llama-cpp-python")
    except metadata.PackageNotFoundError:
        return ""
