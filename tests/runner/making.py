"""Made-up records for the tests of evaluation and report."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from components.types import Answer, Label, Ref, Usage, Verdict
from runner.records import GoldRow, RankedRow, Record


def record(
    question: str,
    *,
    ranked: Sequence[Ref] | None = (),
    gold: Sequence[Ref] = (),
    labels: Mapping[str, Label | Sequence[Label]] | None = None,
    answerable: bool = True,
    unresolved: Sequence[str] = (),
    **rest: Any,
) -> Record:
    """A record with only what a test says. Scores are all equal: the order alone must count."""
    rows = None if ranked is None else tuple(RankedRow(ref, 1.0, {}) for ref in ranked)
    verdicts = {
        judge: tuple(Verdict(one, "no verdict" if one == "invalid" else "") for one in _several(its))
        for judge, its in (labels or {}).items()
    }
    given = {"system": "ours", "haystack": question, "category": "plain", "fingerprint": "f"} | rest
    return Record(
        question_id=question,
        source_id=f"source {question}",
        question="Where?",
        asked=None,
        gold=GoldRow(("here",), tuple(gold), answerable, tuple(unresolved)),
        ranked=rows,
        answer=Answer("here", Usage(100, 10, 0.5)) if verdicts else None,
        verdicts=verdicts,
        seconds={"ingest": 0.25, "recall": 0.01},
        **given,
    )


def _several(its: Label | Sequence[Label]) -> Sequence[Label]:
    return [its] if isinstance(its, str) else its


def turn(session: int, number: int) -> Ref:
    return Ref(f"s{session:02d}", f"D{session}:{number}")


def made_up(questions: int, haystacks: int, depth: int, systems: Mapping[str, float]) -> list[Record]:
    """A LoCoMo-like run: `systems` maps a name to its chance to rank a gold turn early. Seeded."""
    out = []
    categories = ("multi-hop", "temporal", "open-domain", "single-hop")
    places = [turn(s, t) for s in range(1, 21) for t in range(1, 31)]
    for name, chance in systems.items():
        rng = random.Random(7)
        for i in range(questions):
            gold = rng.sample(places, rng.choice((1, 1, 1, 2, 3)))
            ranked = rng.sample(places, depth)
            luck, where = rng.random(), rng.randrange(10)
            if luck < chance:
                ranked = [*ranked[:where], gold[0], *ranked[where:]][:depth]
            rng.random()
            right: Label = "correct" if luck < chance + 0.1 else "wrong"
            strict: Label = "invalid" if i % 97 == 5 else "correct" if luck < chance - 0.02 else "wrong"
            out.append(
                record(
                    f"h{i % haystacks:02d}-q{i:04d}",
                    ranked=ranked,
                    gold=gold,
                    labels={"facts": right, "words": strict},
                    system=name,
                    haystack=f"h{i % haystacks:02d}",
                    category=categories[i % 4],
                )
            )
    return out
