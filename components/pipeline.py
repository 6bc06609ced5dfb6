"""Our own System: the named slots, in order. Knows protocols only, no component.

understanding -> lanes -> fusion -> reranker -> factors -> filters -> reorder -> the first k

A hit's parts say who gave what: {"bm25": 7.1, "lexical": 0.4, "cosine": 0.6, "dense": 0.6, "fused": 1.0,
"factor.recency": 0.93}. Score = fused (or the reranker's) times every factor (SPEC A3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from time import perf_counter
from types import TracebackType
from typing import Self

from components.stages import Run, filtered, in_tiers, reranked, same_members, unique, weighed
from components.text.words import unsegmented
from components.types import (
    ComponentError,
    Document,
    Factor,
    Filter,
    Fusion,
    Hit,
    Index,
    Lane,
    Query,
    Question,
    Recall,
    Reorder,
    Reranker,
    Scope,
    Store,
    Trace,
    Understanding,
    Usage,
)


@dataclass(frozen=True)
class Pipeline:
    """Every mapping is name -> component, in order. Raises ValueError for a lane without a weight.

    `overfetch`: each lane is asked for so many times k, since filters drop some (SPEC A2.2).
    `tie`: scores no further apart are equal; then the more trusted one is first, then the smaller id (A2.8).
    """

    store: Store
    understanding: Mapping[str, Understanding]
    lanes: Mapping[str, Lane]
    fusion: Fusion
    reranker: Reranker | None
    factors: Mapping[str, Factor]
    filters: Mapping[str, Filter]
    reorder: Mapping[str, Reorder]
    overfetch: int
    tie: float

    def __post_init__(self) -> None:
        if not self.lanes:
            raise ValueError("lane: at least one is needed, as in lane=[lexical]")
        missing = [name for name in self.lanes if name not in self.fusion.weights]
        if missing:
            raise ValueError(
                f"fusion.weights: no weight for lane {', '.join(missing)}; set fusion.weights.NAME"
            )
        if self.overfetch < 1 or not self.tie >= 0:
            raise ValueError("overfetch needs 1 or more, tie 0 or more")

    def open(self, scope: Scope) -> PipelineMemory:
        return PipelineMemory(self, scope)


class PipelineMemory:
    """One haystack in our pipeline. A second add() indexes the union anew: BM25 needs all of it."""

    def __init__(self, pipeline: Pipeline, scope: Scope) -> None:
        self._pipeline, self._scope = pipeline, scope
        self._index: Index | None = None
        self._newest: datetime | None = None  # of the documents

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def _close(self) -> None:
        if self._index is not None:
            self._index.close()
        self._index = None

    def add(self, documents: Sequence[Document]) -> Usage:
        start = perf_counter()
        if self._index is not None:
            documents = (*self._index.documents, *documents)
            self._close()
        self._index = self._pipeline.store.index(documents)
        self._newest = max((d.created for d in documents if d.created), default=None)
        return Usage(seconds=perf_counter() - start)

    def recall(self, question: Question, k: int) -> Recall:
        """The best k, unique, with the trace. ComponentError names the stage that failed."""
        if k < 1:
            raise ValueError(f"k: {k} is not 1 or more")
        if self._index is None:
            raise ComponentError("index", "nothing added")
        pipeline, index, run = self._pipeline, self._index, Run()
        query = self._query(question, run)
        hits = self._search(query, index, k * pipeline.overfetch, run)
        if pipeline.reranker is not None:
            hits = reranked(query, hits, pipeline.reranker, run)
        with run.stage("factors"):
            hits = in_tiers(weighed(query, hits, pipeline.factors), pipeline.tie)
        hits = filtered(query, hits, pipeline.filters, run)
        for name, reorder in pipeline.reorder.items():
            with run.stage(name):
                hits = same_members(hits, reorder.order(query, hits, index), name)
        if unsegmented(question.text):
            run.notes["unsegmented_script"] = 1
        return Recall(tuple(hits[:k]), Trace(run.lanes, tuple(run.cut), run.seconds, run.notes))

    def _query(self, question: Question, run: Run) -> Query:
        query = Query(question, (question.text,), question.asked or self._newest, self._scope)
        with run.stage("understanding"):
            for understanding in self._pipeline.understanding.values():
                query = understanding.refine(query)
        return query

    def _search(self, query: Query, index: Index, k: int, run: Run) -> list[Hit]:
        rankings: dict[str, Sequence[Hit]] = {}
        for name, lane in self._pipeline.lanes.items():
            with run.stage(name):
                rankings[name] = unique(lane.search(query, index, (), k), name)
            run.lanes[name] = len(rankings[name])
        with run.stage("fusion"):
            fused = self._pipeline.fusion.fuse(rankings, sum(run.lanes.values()))
            return unique(fused, "fusion")
