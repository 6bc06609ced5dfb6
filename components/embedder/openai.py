"""Embeddings of any OpenAI-compatible endpoint, through the SDK's transport.

    POST {base_url}/embeddings  {"model": "text-embedding-3-small", "input": ["Ana sold the kayak"]}
    {"data": [{"index": 0, "embedding": [0.1, ...]}], "model": "...", "usage": {"prompt_tokens": 5}}

The SDK repeats what may pass (429 with its Retry-After, 5xx, timeouts, broken connections) `retries` times.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from components.files.kept import Kept
from components.text.vectors import checked
from components.text.words import plain
from components.types import ComponentError, Role, Vectors
from components.wire.clients import client
from components.wire.errors import Refused, Unusable, mask, status_error


@dataclass(frozen=True)
class Openai:
    """`api_key_env`: the NAME of the variable that holds the key, None where none is needed.

    `dimensions`: asked of the endpoint, None = not sent. `batch`: texts of one request. `timeout`: seconds of
    silence, per attempt. `max_chars`: characters of a text that are sent, None = all. `cache`: folder of
    vectors that are kept from run to run, None = none. `provider`: a name for the report.
    Raises ComponentError("embed", ...) with the reasons of components.wire.errors; FatalError (key, model).
    """

    model: str
    base_url: str
    api_key_env: str | None
    prefix_document: str
    prefix_query: str
    dimensions: int | None
    max_chars: int | None
    batch: int
    timeout: float
    retries: int
    cache: str | None
    provider: str

    def __post_init__(self) -> None:
        wrong = {
            "dimensions": self.dimensions is not None and self.dimensions < 1,
            "max_chars": self.max_chars is not None and self.max_chars < 1,
            "batch": self.batch < 1,
            "timeout": not self.timeout > 0,
            "retries": self.retries < 0,
        }
        names = [f"{name}={getattr(self, name)!r}" for name, is_wrong in wrong.items() if is_wrong]
        if names:
            raise ValueError(f"embedder {self.model}: out of range: {', '.join(names)}")

    def problems(self) -> list[str]:
        out = []
        if not self.model:
            out.append("model: none is named; set it, for example embedder.model=text-embedding-3-small")
        address = urlsplit(self.base_url)
        if address.scheme not in ("http", "https") or not address.hostname:
            out.append("base_url: not an http(s) address; see OPENAI_BASE_URL and embedder.base_url")
        if self.api_key_env and not self._key:
            out.append(
                f"embedder {self.model}: the environment variable {self.api_key_env} is not set; export it"
            )
        return out + (Kept(self.cache, {}).problems() if self.cache else [])

    def notes(self) -> Mapping[str, int]:
        """What this embedder met so far: embedded, kept (found in the cache), tokens (as told), retries."""
        return dict(self._met)

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        for place, text in enumerate(texts, start=1):
            if not text.strip():
                raise ComponentError("embed", "empty text", f"text {place} of {len(texts)}")
        prefix = self.prefix_query if role == "query" else self.prefix_document
        heads = [plain(prefix + text[: self.max_chars]) for text in texts]
        if self.cache is None:
            return checked(self._computed(heads) if heads else [], texts, self.dimensions)
        rows, found = Kept(self.cache, self._identity).vectors(heads, self._computed)
        self._met["kept"] += found
        return checked(rows, texts, self.dimensions)

    @property
    def _identity(self) -> dict[str, object]:
        """What decides a vector beside the text, as far as it can be known: the endpoint may change."""
        return {"model": self.model, "base_url": self.base_url.rstrip("/"), "dimensions": self.dimensions}

    def _computed(self, texts: Sequence[str]) -> Vectors:
        """Unit length, (n_texts, dim), in requests of `batch` texts."""
        rows: list[NDArray[np.float32]] = []
        for first in range(0, len(texts), self.batch):
            part = texts[first : first + self.batch]
            rows += self._request(part)
            self._met["embedded"] += len(part)
        return checked(rows, texts, self.dimensions)

    def _request(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        import openai

        sent: dict[str, Any] = {"model": self.model, "input": list(texts), "encoding_format": "float"}
        sent |= {"dimensions": self.dimensions} if self.dimensions else {}
        endpoint = client(self.base_url, self._key, self.timeout, self.retries)
        try:
            raw = endpoint.embeddings.with_raw_response.create(**sent)
        except openai.APIStatusError as error:
            raise self._named(error) from None  # the SDK's message may quote the key
        except openai.APITimeoutError:
            raise ComponentError(
                "embed", "timeout", f"{self._where}: silent for {self.timeout:g} s"
            ) from None
        except openai.APIConnectionError as error:
            detail = f"{self._where}: {mask(str(error.__cause__), self._key)[:200]}"
            raise ComponentError("embed", "connection", detail) from None
        self._met["retries"] += raw.retries_taken
        return self._read(raw.text, len(texts))

    def _named(self, error: Any) -> Exception:
        problem = status_error(error.status_code, error.body, self._where, self._key, "embed")
        if isinstance(problem, Unusable):
            return ComponentError("embed", problem.reason, problem.detail)
        if isinstance(problem, Refused):
            return ComponentError("embed", "bad request", f"{self._where}: refuses {problem.parameter}")
        return problem

    def _read(self, body: str, count: int) -> list[NDArray[np.float32]]:
        """The vectors in the order of the texts, whatever order they came in."""
        try:
            reply = json.loads(body)
            rows = {item["index"]: np.array(item["embedding"], np.float32) for item in reply["data"]}
            told = (reply.get("usage") or {}).get("prompt_tokens")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error:
            raise ComponentError("embed", "bad response", f"{self._where}: {type(error).__name__}") from error
        if sorted(rows, key=str) != sorted(range(count), key=str) or len(reply["data"]) != count:
            raise ComponentError("embed", "bad response", f"{self._where}: {len(rows)} vectors for {count}")
        self._met["tokens"] += told if isinstance(told, int) else 0
        return [rows[place] for place in range(count)]

    @property
    def _where(self) -> str:
        return f"{self.model} at {urlsplit(self.base_url).hostname}"

    @property
    def _key(self) -> str:
        return os.environ.get(self.api_key_env, "").strip() if self.api_key_env else ""

    @cached_property
    def _met(self) -> Counter[str]:
        return Counter()
