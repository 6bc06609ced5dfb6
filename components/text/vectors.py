"""Vectors are checked where they enter: a zero or NaN vector would make an empty leg look like a real 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from components.types import ComponentError, Vectors

# Cosines of float32 vectors differ in the 7th digit between engines, batches and CPUs: what is equal up to
# here is a tie, so that the order is the same everywhere.
DIGITS = 6


def checked(vectors: Any, texts: Sequence[str], dim: int | None) -> Vectors:
    """Unit-length float32 (n_texts, dim), or ComponentError("embed", ...) that names the text.

    `dim` None: any, but the same for all.
    """
    try:
        with np.errstate(over="ignore"):  # becomes inf, which is refused below
            found = np.asarray(vectors, dtype=np.float32)
    except (ValueError, TypeError) as error:
        raise ComponentError("embed", "vectors of mixed lengths", str(error)) from error
    if not texts:
        return found.reshape(0, dim or 0)
    if found.ndim != 2 or len(found) != len(texts) or found.shape[1] == 0:
        raise ComponentError("embed", "wrong shape", f"{found.shape} for {len(texts)} texts")
    if dim is not None and found.shape[1] != dim:
        raise ComponentError("embed", "wrong dimension", f"{found.shape[1]}, not {dim}")
    finite = np.isfinite(found).all(axis=1)
    if not finite.all():
        raise ComponentError("embed", "vector not finite", start(texts[int(np.argmin(finite))]))
    norms = np.linalg.norm(found.astype(np.float64), axis=1)
    if not norms.all():
        raise ComponentError("embed", "zero vector", start(texts[int(np.argmin(norms))]))
    unit: Vectors = (found / norms[:, None]).astype(np.float32)
    return unit


def no_embedder() -> ComponentError:
    """What a vector leg raises that was given nothing to embed with."""
    return ComponentError("dense", "no embedder", "set embedder=static, or leave the dense lane out")


def start(text: str) -> str:
    """The beginning of a text, to find it by."""
    return repr(text if len(text) <= 60 else text[:60] + "...")
