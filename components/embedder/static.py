"""Static embeddings: the mean of a text's token vectors, unit length. No model runs, nothing is downloaded.

The two files lie in an installed package (WordLlama's wheel): safetensors with one matrix (32,000, 256) in
float16, and a tokenizer. The package itself is never imported: its loader tries to download.
"""

from __future__ import annotations

import importlib.util
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

KNOWN = 400_000  # pieces kept with their tokens; about 80 MB


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
        out = np.empty((len(texts), self._pieces.dim), np.float32)
        for first in range(0, len(texts), self.batch):
            part = [plain(text[: self.max_chars]) for text in texts[first : first + self.batch]]
            out[first : first + len(part)] = self._pieces.sums(part)  # its length is made 1 anyway
        return checked(out, texts, None)

    @cached_property
    def _pieces(self) -> _Pieces:
        return _Pieces(*self._model)

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


class _Pieces:
    """What a text is made of, each piece tokenised once for all calls: words repeat.

    A text is its pieces between blanks, a piece is its tokens: the same tokens as of the whole text, since no
    merge of this tokenizer reaches over a blank, except in runs of blanks: then it is one piece.
    """

    def __init__(self, tokenizer: Any, matrix: NDArray[np.float32]) -> None:
        self._tokenizer, self._matrix = tokenizer, matrix
        self.dim = matrix.shape[1]
        self._forget()

    def _forget(self) -> None:
        self._number = _Numbers()
        self._tokens = np.zeros(0, np.int32)  # of all pieces, one after the other
        self._stops = np.zeros(1, np.int64)  # piece n has the tokens stops[n] to stops[n + 1]

    def sums(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n_texts, dim): the sum of each text's token vectors."""
        from scipy.sparse import csr_array

        if len(self._number) > KNOWN:
            self._forget()
        names, which, ends = _split(texts)
        numbers = np.fromiter(map(self._number.__getitem__, names), np.int32, len(names))
        self._learn(self._number.taken())
        tokens, stops = self._tokens_of(numbers[which])
        shape = (len(texts), len(self._matrix))
        found: NDArray[np.float32] = (
            csr_array((np.ones(len(tokens), np.float32), tokens, stops[ends]), shape) @ self._matrix
        )
        return found

    def _tokens_of(self, pieces: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The tokens of the pieces, one after the other, and where each piece begins."""
        starts = self._stops[pieces]
        counts = self._stops[pieces + 1] - starts
        stops = np.concatenate([[0], np.cumsum(counts)])
        places = np.arange(stops[-1]) + np.repeat(starts - stops[:-1], counts)
        return self._tokens[places], stops

    def _learn(self, pieces: list[str]) -> None:
        ids = [one.ids for one in self._tokenizer.encode_batch_fast(pieces, add_special_tokens=False)]
        stops = self._stops[-1] + np.cumsum([len(i) for i in ids], dtype=np.int64)
        self._stops = np.concatenate([self._stops, stops])
        new = np.fromiter(chain.from_iterable(ids), np.int32)
        self._tokens = np.concatenate([self._tokens, new])


class _Numbers(dict[str, int]):
    """Piece -> its row; a new one gets the next."""

    def __init__(self) -> None:
        self._new: list[str] = []

    def __missing__(self, piece: str) -> int:
        self[piece] = number = len(self)
        self._new.append(piece)
        return number

    def taken(self) -> list[str]:
        """The pieces that came since the last time."""
        new, self._new = self._new, []
        return new


def _split(texts: Sequence[str]) -> tuple[list[str], NDArray[np.int32], NDArray[np.int32]]:
    """(different pieces, which of them stand in the texts, one text after the other, where each text ends).

    Arrow cuts and numbers them: a haystack is 90,000 words.
    """
    import pyarrow as pa
    from pyarrow import compute

    whole = [n for n, text in enumerate(texts) if "  " in text or text[:1] == " " or text[-1:] == " "]
    rest = list(texts)
    for n in whole:
        rest[n] = ""  # is one piece too
    lists = compute.split_pattern(pa.array(rest, pa.string()), " ")
    coded = lists.flatten().dictionary_encode()
    names, which = coded.dictionary.to_pylist(), np.array(coded.indices)
    ends = np.asarray(lists.offsets)
    which[ends[whole]] = np.arange(len(names), len(names) + len(whole))
    return [*names, *(texts[n] for n in whole)], which, ends
