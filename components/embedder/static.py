"""Static embeddings: the mean of a text's token vectors, unit length. No model runs, nothing is downloaded.

The two files lie in an installed package (WordLlama's wheel): safetensors with one matrix (32,000, 256) in
float16, and a tokenizer. The package itself is never imported: its loader tries to download.
"""

from __future__ import annotations

import importlib.util
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.files.identity import sha256
from components.text.vectors import checked
from components.text.words import plain
from components.types import ComponentError, Role, Vectors

KNOWN = 200_000  # pieces kept with their tokens; about 50 MB


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

    def model_files(self) -> dict[str, str]:
        """{name: sha256} of the two files; none where the package is missing (`problems` tells it)."""
        folder = self._folder()
        files = [folder / name for name in (self.weights, self.tokenizer)] if folder else []
        return {file.name: sha256((file,)) for file in files if file.is_file()}

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        _, table = self._model
        out = np.empty((len(texts), table.shape[1]), np.float32)
        for first in range(0, len(texts), self.batch):
            part = [plain(text[: self.max_chars]) for text in texts[first : first + self.batch]]
            out[first : first + len(part)] = self._sums(part)  # its length is made 1 anyway
        return checked(out, texts, None)

    def _sums(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n_texts, dim): the sum of each text's token vectors. Words repeat, so each is summed once.

        A text is its pieces between blanks, a piece is its tokens: the same tokens as of the whole text,
        since no merge of this tokenizer reaches over a blank, except in runs of blanks: then it is one piece.
        """
        number: defaultdict[str, int] = defaultdict()
        number.default_factory = number.__len__  # a new piece gets the next number
        rows = [list(map(number.__getitem__, _pieces(text))) for text in texts]
        return _summed(rows, _summed(self._tokens(list(number)), self._model[1]))

    def _tokens(self, pieces: list[str]) -> list[list[int]]:
        """Token ids of each piece; a piece is tokenised once for all calls."""
        tokenizer, _ = self._model
        if len(self._known) > KNOWN:
            self._known.clear()
        new = [piece for piece in pieces if piece not in self._known]
        for piece, encoded in zip(
            new, tokenizer.encode_batch_fast(new, add_special_tokens=False), strict=True
        ):
            self._known[piece] = encoded.ids
        return [self._known[piece] for piece in pieces]

    @cached_property
    def _known(self) -> dict[str, list[int]]:
        return {}

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


def _pieces(text: str) -> list[str]:
    whole = "  " in text or text[:1] == " " or text[-1:] == " "
    return [text] if whole else text.split(" ")


def _summed(rows: Sequence[Sequence[int]], table: NDArray[np.float32]) -> NDArray[np.float32]:
    """(n_rows, dim): for each row the sum of the table's rows that it names, as one sparse product."""
    from scipy.sparse import csr_array

    stops = np.cumsum([0, *map(len, rows)])
    indices = np.fromiter(chain.from_iterable(rows), np.int32, stops[-1])
    ones = np.ones(len(indices), np.float32)
    sums: NDArray[np.float32] = csr_array((ones, indices, stops), (len(rows), len(table))) @ table
    return sums
