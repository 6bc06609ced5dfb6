"""The vocabulary: every value and protocol that components exchange. Imports nothing of ours.

Values are frozen; protocols have one or two methods. A component that needs another one gets it by
constructor, as one of these protocols.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import TracebackType
from typing import Any, Literal, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Trust = Literal["system", "learned", "external"]
Role = Literal["document", "query"]
Label = Literal["correct", "wrong", "invalid"]
Kind = Literal["mechanical", "model"]
Vectors = NDArray[np.float32]  # shape (n_texts, dim), unit length
Scores = NDArray[np.float64]  # shape (n_hits,)


class DataError(ValueError):
    """Input data that cannot be used as it is: says where (path, position), what, and what to do."""


class ComponentError(RuntimeError):
    """A stage failed on one item: `stage` and `reason` are counted in the report; never an empty result."""

    def __init__(self, stage: str, reason: str, detail: str = "") -> None:
        super().__init__(f"{stage}: {reason}" + (f" ({detail})" if detail else ""))
        self.stage, self.reason, self.detail = stage, reason, detail

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.stage, self.reason, self.detail)


class FatalError(ComponentError):
    """The run cannot go on at all (a refused key, an unknown model): stop, keep what is done."""


class Ref(NamedTuple):
    """Where a document stands in its source: session name, and turn name unless it is a whole session.

    Source names may tell the gold (`answer_...`): a Ref is the evaluator's and never reaches a system.
    """

    session: str
    turn: str | None


class Place(NamedTuple):
    """One haystack's place in a dataset: a worker loads its own from it. Small, picklable."""

    haystack: str  # opaque id
    path: str
    start: int  # byte offset of the JSON value in the (decompressed) file
    stop: int
    position: int  # of the haystack in the dataset, from 0


@dataclass(frozen=True, slots=True)
class Document:
    """One remembered unit (a turn or a session). `id` is opaque: order of time, no source name."""

    id: str
    text: str
    created: datetime | None = None  # UTC, to the minute
    occurred: datetime | None = None
    trust: Trust = "learned"
    category: str | None = None  # kind of memory (episodic, preference ...), never a question's category
    pinned: bool = False
    proof: int | None = None  # how often corroborated, >= 1
    confidence: float | None = None  # in [0, 1]
    importance: float | None = None  # in [0, 1]
    entities: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()  # ids of documents that this one supersedes
    speaker: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """All that a system may see of a question. `id` is opaque."""

    id: str
    text: str
    asked: datetime | None = None


@dataclass(frozen=True, slots=True)
class Gold:
    """The evaluator's. `qrels` are graded documents of this haystack; `refs` the same in source names.

    `refs` with turn None are gold sessions; with a turn, gold turns. `unresolved` are evidence ids as
    written that name nothing in the haystack.
    """

    answers: tuple[str, ...]
    qrels: Mapping[str, int]
    answerable: bool
    refs: tuple[Ref, ...] = ()
    unresolved: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sample:
    """A question with what only the evaluator knows of it. `source_id` is the dataset's own id."""

    question: Question
    gold: Gold
    category: str
    source_id: str


@dataclass(frozen=True, slots=True)
class Haystack:
    """One isolated memory: all that is ingested together, and the questions put to it."""

    id: str
    documents: tuple[Document, ...]
    samples: tuple[Sample, ...]
    refs: Mapping[str, Ref]  # document id -> place in the source, for the evaluator alone
    source_id: str
    notes: Mapping[str, int] = field(default_factory=dict)  # what the reader met: blank turns, repeats ...


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose memory it is."""

    tenant: str
    agent: str
    user: str


@dataclass(frozen=True, slots=True)
class Query:
    """What understanding made of a question. `texts`: the question first, then its variants."""

    question: Question
    texts: tuple[str, ...]
    now: datetime | None  # when asked, else the newest document; never the clock
    scope: Scope
    window: tuple[datetime, datetime] | None = None
    intent: str | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A recalled document. `parts`: what each lane, the fusion ("fused") and each factor gave."""

    document: Document
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)


class Cut(NamedTuple):
    """A document that came and was dropped: at which stage and why."""

    document: str  # id
    stage: str
    reason: str


@dataclass(frozen=True, slots=True)
class Trace:
    """What happened in one recall: ids and numbers only, no text."""

    lanes: Mapping[str, int] = field(default_factory=dict)  # lane -> hits
    cut: tuple[Cut, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)  # stage -> s
    notes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Recall:
    """The answer of a memory: hits, best first. Hits that name no document of ours make it unscored."""

    hits: tuple[Hit, ...]
    trace: Trace = Trace()
    ranked: bool = True  # False: the order means nothing (full context); unscored in retrieval


@dataclass(frozen=True, slots=True)
class Usage:
    """What a call cost. None = not told, which is not 0."""

    tokens_in: int | None = None
    tokens_out: int | None = None
    seconds: float = 0.0
    served_model: str | None = None
    sent: Mapping[str, Any] = field(default_factory=dict)  # parameters as sent, no prompt, no secret


@dataclass(frozen=True, slots=True)
class Answer:
    """`status` "ok", or "invalid" with a reason (empty, length, refusal ...): no error as text."""

    text: str
    usage: Usage = Usage()
    status: Literal["ok", "invalid"] = "ok"
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's reading of an answer. What cannot be read is invalid (with a reason), never wrong."""

    label: Label
    reason: str = ""
    raw: str = ""
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class Reply:
    """What a chat model said. `text` is the final content only, never its reasoning."""

    text: str
    usage: Usage = Usage()
    status: Literal["ok", "invalid"] = "ok"
    reason: str = ""  # length, refusal, tool call, empty, timeout, error ...


@runtime_checkable
class Dataset(Protocol):
    """A stream of haystacks. `items` names places cheaply; `load` reads one."""

    def items(self) -> Iterator[Place]: ...
    def load(self, place: Place) -> Haystack: ...


@runtime_checkable
class Embedder(Protocol):
    """(n_texts, dim) float32, unit length, finite; else ComponentError("embed", ...)."""

    def embed(self, texts: Sequence[str], role: Role) -> Vectors: ...


@runtime_checkable
class Index(Protocol):
    """The documents of one haystack, searchable; never changes once made. Every order is total.

    match: OR over `terms`, each one a word or a phrase of user text, never parsed as a query.
    nearest: exact cosine over the best of `vectors` (n_texts, dim). Hit.score: BM25 (> 0) or cosine.
    A failing leg raises ComponentError; an empty list means that nothing matched.
    """

    @property
    def documents(self) -> Sequence[Document]: ...

    def match(self, terms: Sequence[str], k: int) -> list[Hit]: ...
    def nearest(self, vectors: Vectors, k: int) -> list[Hit]: ...
    def embed(self, texts: Sequence[str]) -> Vectors: ...  # with the store's embedder, role "query"
    def vectors(self, ids: Sequence[str]) -> Vectors: ...
    def close(self) -> None: ...


@runtime_checkable
class Store(Protocol):
    """Makes an index of documents: their text, and their vectors where it holds an embedder."""

    def index(self, documents: Sequence[Document]) -> Index: ...


@runtime_checkable
class Understanding(Protocol):
    def refine(self, query: Query) -> Query: ...


@runtime_checkable
class Lane(Protocol):
    """One way to find documents, best first. `seeds`: hits of the base lanes, for lanes that spread."""

    def search(self, query: Query, index: Index, seeds: Sequence[Hit], k: int) -> list[Hit]: ...


@runtime_checkable
class Fusion(Protocol):
    """Scores in [0, 1], 1 = first in every lane. A lane without a weight is an error."""

    @property
    def weights(self) -> Mapping[str, float]: ...

    def fuse(self, rankings: Mapping[str, Sequence[Hit]], k: int) -> list[Hit]: ...


@runtime_checkable
class Reranker(Protocol):
    def rerank(self, query: Query, hits: Sequence[Hit], k: int) -> list[Hit]: ...


@runtime_checkable
class Factor(Protocol):
    """x in [0, 1] per hit, 0.5 neutral; the score is multiplied by 1 + weight * (x - 0.5)."""

    @property
    def weight(self) -> float: ...

    def score(self, query: Query, hits: Sequence[Hit]) -> Scores: ...


@runtime_checkable
class Filter(Protocol):
    """Keeps some of the hits, in their order."""

    def keep(self, query: Query, hits: Sequence[Hit]) -> list[Hit]: ...


@runtime_checkable
class Reorder(Protocol):
    """Changes the order, never the membership."""

    def order(self, query: Query, hits: Sequence[Hit], index: Index) -> list[Hit]: ...


@runtime_checkable
class Memory(Protocol):
    """One haystack's memory, opened for it and closed after it."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    def add(self, documents: Sequence[Document]) -> Usage: ...
    def recall(self, question: Question, k: int) -> Recall: ...


@runtime_checkable
class System(Protocol):
    """Anything that remembers: our pipeline, a control, a competitor. Holds no state between haystacks."""

    def open(self, scope: Scope) -> Memory: ...


@runtime_checkable
class Llm(Protocol):
    """One chat turn: a system text and a user text. `schema`: a JSON schema that the reply should fit.

    Never raises for a bad reply: that is a Reply with status "invalid". Raises FatalError when no further
    call can succeed (401, unknown model, quota).
    """

    @property
    def model(self) -> str: ...

    def ask(self, system: str, user: str, schema: Mapping[str, Any] | None) -> Reply: ...


@runtime_checkable
class Answerer(Protocol):
    @property
    def kind(self) -> Kind: ...

    def answer(self, question: Question, hits: Sequence[Hit]) -> Answer: ...


@runtime_checkable
class Judge(Protocol):
    """`kind` decides the section of the report: mechanical -> lexical, model -> accuracy."""

    @property
    def kind(self) -> Kind: ...

    def grade(self, sample: Sample, answer: Answer) -> Verdict: ...
