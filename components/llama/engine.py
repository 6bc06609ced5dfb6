"""A loaded model that turns token sequences into vectors or ranks, many sequences a call.

llama.cpp ends the whole process when a number does not fit (a batch above n_ubatch, a position above the
model's table): every such number is checked here first.
"""

from __future__ import annotations

import ctypes
import math
import multiprocessing
import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from time import perf_counter
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from components.llama.header import Header
from components.llama.vocabulary import Vocabulary
from components.llama.weights import PACKAGE, file_of, header
from components.types import ComponentError

Pooling = Literal["mean", "cls", "last", "rank"]
POOLING: dict[str, int] = {"mean": 1, "cls": 2, "last": 3, "rank": 4}
_UNSET, _NONE = -1, 0
_SIDE_BY_SIDE = 64  # sequences a call; more of them would each be shorter than a sentence
Row = NDArray[np.float32]


@dataclass(frozen=True)
class Settings:
    """`context`: tokens of one text; None, or more than the model has positions: as many as it has.

    `batch`: tokens of one call (a longer text is alone in its call), no more than the positions. `pooling`:
    None = what the file says. `threads`: None = every core in a process of its own, 1 in a spawned worker.
    `stage` names the faults.
    """

    path: str
    context: int | None
    batch: int
    pooling: Pooling | None
    threads: int | None
    stage: str

    def __post_init__(self) -> None:
        low = {"context": self.context, "batch": self.batch, "threads": self.threads}
        wrong = [f"{name}={value}" for name, value in low.items() if value is not None and value < 1]
        if wrong:
            raise ValueError(f"need 1 or more: {', '.join(wrong)}")
        if self.pooling is not None and self.pooling not in POOLING:
            raise ValueError(f"pooling={self.pooling!r}: choose one of {', '.join(POOLING)}, or null")


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threads_of(wanted: int | None) -> int:
    """Workers stand side by side already: one thread each."""
    return wanted or (1 if multiprocessing.parent_process() is not None else cores())


@lru_cache(maxsize=4)
def engine(settings: Settings) -> Engine:
    """The loaded model, once per process."""
    return Engine(settings)


class Engine:
    """`limit`: tokens of one sequence at most; `room`: those of a text, without the special ones.
    `width`: numbers of a row."""

    def __init__(self, settings: Settings) -> None:
        self._stage, self._lock = settings.stage, threading.Lock()
        self._file = file_of(settings.path)
        head = header(settings.path)
        if not isinstance(head, Header):
            raise ComponentError(self._stage, "no model", head)
        self._api = _library(self._stage)
        parameters = self._api.llama_model_default_params()
        parameters.n_gpu_layers = 0
        # Repacked weights use AMX where the processor announces it, and the process ends with an illegal
        # instruction on virtual machines that do not grant it (seen with q8_0).
        parameters.use_extra_bufts = False
        self._model = self._api.llama_model_load_from_file(str(self._file).encode(), parameters)
        if not self._model:
            raise ComponentError(self._stage, "no model", f"llama.cpp cannot load {self._file.name}")
        positions = head.positions or self._api.llama_model_n_ctx_train(self._model) or settings.batch
        self.limit = min(settings.context or positions, positions)
        self.batch = max(min(settings.batch, positions), self.limit)
        self.vocabulary = Vocabulary(self._api, self._model, self._stage)
        self.room = self.limit - len(self.vocabulary.before) - len(self.vocabulary.after)
        if self.room < 1:
            raise ComponentError(self._stage, "no room for a text", f"{self.limit} tokens a text")
        self._open(settings)

    def _open(self, settings: Settings) -> None:
        api, parameters = self._api, self._api.llama_context_default_params()
        # All of a call in one go (n_ubatch = n_batch): a text that is divided ends the process.
        parameters.n_ctx = parameters.n_batch = parameters.n_ubatch = self.batch
        self._packed = settings.batch
        self.side_by_side = min(self.batch, _SIDE_BY_SIDE, api.llama_max_parallel_sequences())
        parameters.n_seq_max = self.side_by_side
        parameters.n_threads = parameters.n_threads_batch = threads_of(settings.threads)
        parameters.pooling_type = POOLING[settings.pooling] if settings.pooling else _UNSET
        parameters.embeddings = parameters.kv_unified = True
        self._context = api.llama_init_from_model(self._model, parameters)
        if not self._context:
            raise ComponentError(self._stage, "no model", f"llama.cpp makes no context of {self._file.name}")
        pooling = api.llama_pooling_type(self._context)
        if pooling == _NONE:
            raise ComponentError(self._stage, "no pooling", "the file names none: set pooling, e.g. mean")
        if (pooling == POOLING["rank"]) != (settings.pooling == "rank"):
            raise ComponentError(self._stage, "wrong kind of model", f"{self._file.name} is a reranker")
        ranks = pooling == POOLING["rank"]
        self.width = (
            api.llama_model_n_cls_out(self._model) if ranks else api.llama_model_n_embd_out(self._model)
        )
        self._until = math.inf
        self._late = api.ggml_abort_callback(lambda data: perf_counter() > self._until)  # kept alive
        api.llama_set_abort_callback(self._context, self._late, ctypes.c_void_p(0))
        self._memory = api.llama_get_memory(self._context)
        self._slots = api.llama_batch_init(self.batch, 0, 1)

    def run(self, sequences: Sequence[Sequence[int]], until: float = math.inf) -> Iterator[Row]:
        """A row per sequence (special tokens in it), not of unit length; several sequences a call.

        `until`: time.perf_counter() at which the work is given up, even within a call: "timed out".
        """
        for length in map(len, sequences):
            if not 1 <= length <= self.limit:
                raise ComponentError(self._stage, "does not fit", f"{length} tokens, at most {self.limit}")
        part: list[Sequence[int]] = []
        for sequence in sequences:
            full = part and sum(map(len, part)) + len(sequence) > min(self._packed, self.batch)
            if full or len(part) == self.side_by_side:
                yield from self._call(part, until)
                part = []
            part.append(sequence)
        if part:
            yield from self._call(part, until)

    def _call(self, part: Sequence[Sequence[int]], until: float) -> list[Row]:
        api, slots = self._api, self._slots
        with self._lock:
            if self._memory:
                api.llama_memory_clear(self._memory, True)
            at = 0
            for number, sequence in enumerate(part):
                for position, token in enumerate(sequence):
                    slots.token[at], slots.pos[at], slots.logits[at] = token, position, 1
                    slots.n_seq_id[at], slots.seq_id[at][0] = 1, number
                    at += 1
            slots.n_tokens, self._until = at, until
            status = api.llama_decode(self._context, slots)
            if perf_counter() > until:
                raise ComponentError(self._stage, "timed out")
            if status != 0:
                raise ComponentError(self._stage, "not computed", f"llama.cpp says {status} to {at} tokens")
            return [self._row(number) for number in range(len(part))]

    def _row(self, number: int) -> Row:
        found = self._api.llama_get_embeddings_seq(self._context, number)
        if not found:
            raise ComponentError(self._stage, "no vector", f"for sequence {number} of a call")
        row: Row = np.ctypeslib.as_array(found, (self.width,)).astype(np.float32)  # a copy: the next call
        return row  # overwrites it


@lru_cache(maxsize=1)
def _library(stage: str) -> Any:
    # Without this two threads on a busy machine fall to a tenth. Read when the library is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        from llama_cpp import llama_cpp
    except ImportError as error:
        raise ComponentError(stage, "no model", PACKAGE) from error
    llama_cpp.llama_log_set(_silent(llama_cpp), ctypes.c_void_p(0))
    llama_cpp.llama_backend_init()
    return llama_cpp


@lru_cache(maxsize=1)
def _silent(api: Any) -> Any:
    """Kept: the library calls it for as long as the process lives."""
    return api.llama_log_callback(lambda level, text, data: None)
