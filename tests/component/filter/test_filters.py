from __future__ import annotations

from dataclasses import replace

import pytest

from components.filter.dedup import Dedup
from components.filter.floor import Floor
from components.filter.trust import Trust
from components.types import Document, Hit
from tests.component.retrieval import NOW, conf, documents, hits, ids, query

Q = query("q")


def test_trust() -> None:
    filter_ = Trust(**conf("filter", "trust"))
    a, b, c = documents("a", "b", "c")
    found = hits(replace(a, trust="external"), replace(b, trust="system"), c)
    assert ids(filter_.keep(Q, found)) == ["d02", "d03"]
    assert filter_.reason(found[0]) == "external"
    with pytest.raises(ValueError, match="lerned"):
        Trust(["lerned"])


def test_floor_is_on_the_fused_score() -> None:
    """A factor must not lift a hit over it, nor push one under it."""
    filter_ = Floor(**conf("filter", "floor"))
    a, b, c = documents("a", "b", "c")
    found = [Hit(a, 0.2, {"fused": 0.09}), Hit(b, 0.05, {"fused": 0.1}), Hit(c, 0.099)]
    assert ids(filter_.keep(Q, found)) == ["d02"]
    assert ids(Floor(0.0).keep(Q, found)) == ["d01", "d02", "d03"]
    with pytest.raises(ValueError, match="min_score"):
        Floor(1.1)


def test_dedup_keeps_the_newest_in_its_place() -> None:
    filter_ = Dedup(**conf("filter", "dedup"))
    old = Document("d1", " Same text", created=NOW.replace(day=1))
    new = Document("d3", "same TEXT ", created=NOW)
    undated = Document("d4", "same text")
    other = Document("d2", "another")
    assert ids(filter_.keep(Q, hits(old, other, new, undated))) == ["d2", "d3"]
    assert ids(filter_.keep(Q, hits(undated, replace(undated, id="d5")))) == ["d4"]


def test_sessions_that_begin_alike_are_different() -> None:
    """SPEC D16: Comis' 200 characters merge them, the default does not."""
    head = '[{"role":"user","content":"' + "x" * 300
    one, two = Document("d1", head + "one"), Document("d2", head + "two")
    assert ids(Dedup(**conf("filter", "dedup")).keep(Q, hits(one, two))) == ["d1", "d2"]
    assert ids(Dedup(200).keep(Q, hits(one, two))) == ["d1"]
    with pytest.raises(ValueError, match="chars"):
        Dedup(0)
