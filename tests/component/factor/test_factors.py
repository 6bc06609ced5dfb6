"""x of every factor, against SPEC A3 worked by hand; now = 11 January 2024."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import Any

import pytest

from components.factor.proof import Proof
from components.factor.recency import Recency
from components.factor.temporal import Temporal
from components.factor.trust import Trust
from components.types import Document
from tests.component.retrieval import NOW, conf, hits, query

FACTORS = {
    "recency": Recency(**conf("factor", "recency")),
    "temporal": Temporal(**conf("factor", "temporal")),
    "proof": Proof(**conf("factor", "proof")),
    "trust": Trust(**conf("factor", "trust")),
}


def days(n: float) -> datetime:
    return NOW - timedelta(days=n)


@pytest.mark.parametrize(
    ("factor", "fields", "x"),
    [
        ("recency", {"created": days(0)}, 1.0),
        ("recency", {"created": days(1)}, 0.5),
        ("recency", {"created": days(4), "occurred": days(0)}, 0.2),
        ("recency", {"created": days(0.5)}, 1 / 1.5),
        ("recency", {"created": days(-9)}, 1.0),
        ("recency", {}, 0.5),
        ("temporal", {"occurred": days(3), "created": days(0)}, 0.25),
        ("temporal", {"occurred": days(-3)}, 1.0),
        ("temporal", {"created": days(3)}, 0.5),
        ("proof", {}, 0.5),
        ("proof", {"proof": 1}, 0.5),
        ("proof", {"proof": 7}, 0.5 + math.log(7) / 10),
        ("proof", {"proof": 10**6}, 1.0),
        ("proof", {"proof": 7, "confidence": 0.8, "occurred": days(30)}, 0.5 + math.log(7) / 10 * 0.4),
        ("proof", {"proof": 7, "confidence": 0.8, "created": days(60)}, 0.5 + math.log(7) / 10 * 0.2),
        ("proof", {"proof": 7, "confidence": 0.8}, 0.5 + math.log(7) / 10 * 0.8),
        (
            "proof",
            {"proof": 7, "confidence": 1.0, "occurred": days(0), "created": days(90)},
            0.5 + math.log(7) / 10,
        ),
        ("trust", {"trust": "system"}, 1.0),
        ("trust", {"trust": "learned"}, 0.5),
        ("trust", {"trust": "external"}, 0.0),
    ],
)
def test_x(factor: str, fields: dict[str, Any], x: float) -> None:
    found = FACTORS[factor].score(query("q"), hits(Document("d1", "t", **fields)))
    assert found.tolist() == pytest.approx([x], abs=1e-15)


def test_without_a_now_dates_are_neutral() -> None:
    dated = hits(Document("d1", "t", created=days(3), occurred=days(3)))
    for name in ("recency", "temporal"):
        assert FACTORS[name].score(query("q", now=None), dated).tolist() == [0.5]


def test_no_hits_no_scores() -> None:
    for factor in FACTORS.values():
        assert factor.score(query("q"), []).shape == (0,)


def test_the_weights_are_the_seeds() -> None:
    weights = {name: factor.weight for name, factor in FACTORS.items()}
    assert weights == {"recency": 0.2, "temporal": 0.2, "proof": 0.1, "trust": 0.1}


def test_config_errors() -> None:
    for weight in (-0.1, 2.1, float("nan")):
        with pytest.raises(ValueError, match="weight"):
            Recency(weight)
    with pytest.raises(ValueError, match="values"):
        Trust(0.1, {"system": 1.0})
    with pytest.raises(ValueError, match="half_life"):
        Proof(0.1, 10.0, 0.0)
