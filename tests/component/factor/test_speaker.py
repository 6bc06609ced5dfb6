from __future__ import annotations

import pytest

from components.factor.speaker import Speaker
from components.types import Document, Hit
from tests.component.retrieval import query

HITS = [Hit(Document(f"d{i}", "text", speaker=name), 1.0) for i, name in enumerate(("Ana", "Ben Ode", None))]


@pytest.mark.parametrize(
    ("question", "x"),
    [
        ("What did Ana buy?", [1, 0, 0]),
        ("what about ANA's boat?", [1, 0, 0]),
        ("Where is Ben Ode now?", [0, 1, 0]),
        ("Where is Ben now?", [0.5] * 3),  # half a name is none
        ("Did Ana meet Ben Ode?", [0.5] * 3),
        ("What do Anabel's friends eat?", [0.5] * 3),
        ("What was bought?", [0.5] * 3),
    ],
)
def test_the_one_speaker_named(question: str, x: list[float]) -> None:
    assert Speaker(0.6).score(query(question), HITS).tolist() == x
