"""What the pipeline does between its slots: time a stage, weigh, order, filter, and prove what came out."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Protocol, runtime_checkable

import numpy as np

from components.types import ComponentError, Cut, Factor, FatalError, Filter, Hit, Query, Reranker

_TRUST = {"system": 0, "learned": 1, "external": 2}


@runtime_checkable
class Explains(Protocol):
    """A filter that says why it dropped a hit."""

    def reason(self, hit: Hit) -> str: ...


@dataclass
class Run:
    """What happens in one recall, written down as it goes."""

    lanes: dict[str, int] = field(default_factory=dict)
    cut: list[Cut] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    notes: dict[str, int] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Times a stage. Its faults bear its name, so that a failed lane is counted as that lane's."""
        start = perf_counter()
        try:
            yield
        except FatalError:
            raise
        except ComponentError as error:
            if error.stage == name:
                raise
            raise ComponentError(name, error.reason, f"{error.stage} {error.detail}".strip()) from error
        self.seconds[name] = self.seconds.get(name, 0.0) + perf_counter() - start


def reranked(query: Query, hits: list[Hit], reranker: Reranker, run: Run) -> list[Hit]:
    """The reranker's order, or the fused one as it was when it fails or its time is over; which, is noted.

    Notes: rerank_ran, rerank_timed_out or rerank_fell_back (with its reason) = 1.
    """
    try:
        with run.stage("reranker"):
            out = reranker.rerank(query, hits, len(hits))
    except FatalError:
        raise
    except ComponentError as error:
        reason = error.reason.replace(" ", "_")
        run.notes |= {f"rerank_{reason}": 1} | ({} if reason == "timed_out" else {"rerank_fell_back": 1})
        return hits
    run.notes["rerank_ran"] = 1
    return same_members(hits, unique(out, "reranker"), "reranker")


def weighed(query: Query, hits: Sequence[Hit], factors: Mapping[str, Factor]) -> list[Hit]:
    """Each score times 1 + weight * (x - 0.5), per factor; the multiplier is a part of the hit."""
    out = list(hits)
    for name, factor in factors.items():
        x = np.asarray(factor.score(query, out))
        if x.shape != (len(out),) or not ((x >= 0) & (x <= 1)).all():
            raise ComponentError(f"factor.{name}", "not within 0 and 1", f"shape {x.shape}")
        times = 1.0 + factor.weight * (x - 0.5)
        out = [
            replace(hit, score=hit.score * float(t), parts={**hit.parts, f"factor.{name}": float(t)})
            for hit, t in zip(out, times, strict=True)
        ]
    return out


def in_tiers(hits: Sequence[Hit], tie: float) -> list[Hit]:
    """What a reranker scored (its part is "rerank") stands before what it did not: two scales, never one
    sort over both (SPEC A2.7)."""
    pool = [hit for hit in hits if "rerank" in hit.parts]
    return ordered(pool, tie) + ordered([hit for hit in hits if "rerank" not in hit.parts], tie)


def ordered(hits: Sequence[Hit], tie: float) -> list[Hit]:
    """Best first. Scores within `tie` of the first of their group are equal: trust decides, then the id."""
    if not all(math.isfinite(hit.score) for hit in hits):
        raise ComponentError("factors", "score not finite")
    groups: list[list[Hit]] = []
    for hit in sorted(hits, key=lambda hit: -hit.score):
        if groups and groups[-1][0].score - hit.score <= tie:
            groups[-1].append(hit)
        else:
            groups.append([hit])
    return list(itertools.chain.from_iterable(_trusted(group) for group in groups))


def _trusted(group: list[Hit]) -> list[Hit]:
    if len(group) == 1:  # nearly always
        return group
    return sorted(group, key=lambda hit: (_TRUST[hit.document.trust], hit.document.id))


def filtered(query: Query, hits: list[Hit], filters: Mapping[str, Filter], run: Run) -> list[Hit]:
    """What every filter keeps; what one drops is written down with its reason."""
    for name, one in filters.items():
        with run.stage(name):
            kept = one.keep(query, hits)
        stay = {hit.document.id for hit in kept}
        for hit in hits:
            if hit.document.id not in stay:
                run.cut.append(
                    Cut(hit.document.id, name, one.reason(hit) if isinstance(one, Explains) else name)
                )
        hits = kept
    return hits


def unique(hits: list[Hit], stage: str) -> list[Hit]:
    """The hits, or ComponentError when one document stands there twice (each leg with ids of its own)."""
    if len({hit.document.id for hit in hits}) != len(hits):
        raise ComponentError(stage, "a document twice")
    return hits


def same_members(before: Sequence[Hit], after: list[Hit], stage: str) -> list[Hit]:
    """`after`, or ComponentError when it is not a permutation of `before`."""
    if sorted(hit.document.id for hit in before) != sorted(hit.document.id for hit in after):
        raise ComponentError(stage, "a reorder changed what is recalled")
    return after
