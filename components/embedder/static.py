"""Static embeddings: the mean of a text's token vectors, unit length. No model runs, nothing is downloaded.

The two files lie in an installed package (WordLlama's wheel): safetensors with one matrix (32,000, 256) in
float16, and a tokenizer. The package itself is never imported: its loader tries to download.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.text.vectors import checked, start
from components.text.words import plain
from components.types import ComponentError, Role, Vectors


@dataclass(frozen=True)
class Static:
    """`weights` and `tokenizer` lie in `package`. A text is embedded by its first `max_chars` characters.

    The roles are alike: a static model knows no instruction. Raises ComponentError("embed", "zero vector").
    """

    package: str
    weights: str
    tokenizer: str
    max_chars: int
    batch: int

    def __post_init__(self) -> None:
        if self.max_chars < 1 or self.batch < 1:
            raise ValueError("max_chars and batch: need 1 or more")

    def problems(self) -> list[str]:
        folder = self._folder()
        if folder is None:
            return [
                f"package {self.package!r} is not installed: pip install {self.package}, or embedder=none"
            ]
        missing = [name for name in (self.weights, self.tokenizer) if not (folder / name).is_file()]
        return [
            f"package {self.package!r} has no file {name}: install the version that pyproject.toml names"
            for name in missing
        ]

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        tokenizer, table = self._model
        out = np.empty((len(texts), table.shape[1]), np.float32)
        for first in range(0, len(texts), self.batch):
            part = [plain(text[: self.max_chars]) for text in texts[first : first + self.batch]]
            encoded = tokenizer.encode_batch_fast(part, add_special_tokens=False)
            for place, (text, tokens) in enumerate(zip(part, encoded, strict=True), start=first):
                if not tokens.ids:
                    raise ComponentError("embed", "zero vector", f"no known token in {start(text)}")
                out[place] = table.take(tokens.ids, axis=0).sum(axis=0)  # its length is made 1 anyway
        return checked(out, texts, None)

    @cached_property
    def _model(self) -> tuple[Any, NDArray[np.float32]]:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        folder = self._folder()
        if folder is None or self.problems():
            raise ComponentError("embed", "no model", "; ".join(self.problems()))
        matrices = load_file(str(folder / self.weights))
        (matrix,) = matrices.values()
        return Tokenizer.from_file(str(folder / self.tokenizer)), matrix.astype(np.float32)

    def _folder(self) -> Path | None:
        found = importlib.util.find_spec(self.package)
        return (
            Path(next(iter(found.submodule_search_locations)))
            if found and found.submodule_search_locations
            else None
        )
