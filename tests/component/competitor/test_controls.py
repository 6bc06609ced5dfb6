from __future__ import annotations

from components.competitor.full_context import FullContext
from components.competitor.null import Null
from components.types import Document, Question, System
from tests.component.retrieval import NOW, SCOPE, ids

DOCUMENTS = (
    Document("d1", "later", created=NOW),
    Document("d3", "earlier", created=NOW.replace(day=1)),
    Document("d2", "undated"),
    Document("d0", "earlier too", created=NOW.replace(day=1)),
)


def test_null_recalls_nothing() -> None:
    with Null().open(SCOPE) as memory:
        memory.add(DOCUMENTS)
        recall = memory.recall(Question("q", "what?"), 5)
    assert recall.hits == () and recall.ranked


def test_full_context_is_everything_in_time_order_and_no_ranking() -> None:
    with FullContext().open(SCOPE) as memory:
        memory.add(DOCUMENTS[:2])
        memory.add(DOCUMENTS[2:])
        recall = memory.recall(Question("q", "what?"), 1)
    assert ids(recall.hits) == ["d2", "d0", "d3", "d1"] and not recall.ranked


def test_a_memory_leaks_nothing_into_the_next() -> None:
    system: System = FullContext()
    with system.open(SCOPE) as memory:
        memory.add(DOCUMENTS)
    with system.open(SCOPE) as memory:
        assert memory.recall(Question("q", "what?"), 5).hits == ()
