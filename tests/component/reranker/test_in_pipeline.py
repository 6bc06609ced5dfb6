"""What the pipeline makes of a reranker: its order, its faults, its time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from components.stages import Run, in_tiers, reranked
from components.types import ComponentError, Document, FatalError, Hit, Query
from tests.component.retrieval import documents, hits, ids, query

GIVEN = hits(*documents("a", "b", "c", "d", "e"))


@dataclass(frozen=True)
class Backwards:
    """Turns the first `pool` hits round, or fails."""

    pool: int
    error: Exception | None = None

    def rerank(self, query: Query, hits: Sequence[Hit], k: int) -> list[Hit]:
        if self.error:
            raise self.error
        turned = [
            replace(hit, score=0.01 * (n + 1), parts={"rerank": 0.01 * (n + 1)})
            for n, hit in enumerate(hits[: self.pool])
        ]
        return [*turned[::-1], *hits[self.pool :]]


def test_the_pool_stays_before_the_tail_whatever_it_scores() -> None:
    """A tail's fused scores (up to 1) are on another scale than the pool's probabilities."""
    run = Run()
    found = reranked(query("?"), GIVEN, Backwards(3), run)
    assert run.notes == {"rerank_ran": 1}
    assert ids(in_tiers(found, 1e-9)) == ["d03", "d02", "d01", "d04", "d05"]
    assert in_tiers(GIVEN, 1e-9) == GIVEN


@pytest.mark.parametrize(
    ("reason", "notes"),
    [
        ("timed out", {"rerank_timed_out": 1}),
        ("equal scores", {"rerank_equal_scores": 1, "rerank_fell_back": 1}),
        ("no model", {"rerank_no_model": 1, "rerank_fell_back": 1}),
    ],
)
def test_the_fused_order_stays_when_it_fails(reason: str, notes: dict[str, int]) -> None:
    run = Run()
    assert reranked(query("?"), GIVEN, Backwards(3, ComponentError("x", reason)), run) is GIVEN
    assert run.notes == notes


def test_what_is_no_fallback() -> None:
    with pytest.raises(FatalError):
        reranked(query("?"), GIVEN, Backwards(3, FatalError("embed", "key refused")), Run())

    @dataclass(frozen=True)
    class Loses:
        def rerank(self, query: Query, hits: Sequence[Hit], k: int) -> list[Hit]:
            return [*hits[1:], Hit(Document("new", ""), 1.0)]

    with pytest.raises(ComponentError, match="reranker"):
        reranked(query("?"), GIVEN, Loses(), Run())
