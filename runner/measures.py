"""Retrieval measures of one ranking.

recall@k = |gold in the first k| / |gold|; hit@k = 1 when any gold is in the first k; mrr@10 = 1/rank of the
first gold in the first 10, else 0; ndcg@10 = sum of 1/log2(rank + 1) over the gold in the first 10, divided
by the same sum of an ideal ranking (linear gain; rank 2 is discounted). These are ir-measures' R@k,
Success@k, RR@10 and nDCG@10, and the tests hold them equal; here the order of the ranking alone counts, so
that no tie of scores is ever broken anew, and a repeated item counts at its first place only.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence

from components.types import Ref
from runner.records import Record
from runner.settings import Settings

LEVELS = ("session", "turn")


def gold_at(refs: Iterable[Ref], level: str) -> frozenset[Hashable]:
    """Gold items of a level: distinct sessions, or the turns named as evidence."""
    if level == "session":
        return frozenset(ref.session for ref in refs)
    return frozenset(ref for ref in refs if ref.turn is not None)


def ranking_at(refs: Iterable[Ref], level: str, depth: int) -> list[Hashable]:
    """The first `depth` distinct items of a ranking at a level, by first occurrence."""
    items: dict[Hashable, None] = {}
    for ref in refs:
        if level == "session":
            items.setdefault(ref.session)
        elif ref.turn is not None:
            items.setdefault(ref)
        if len(items) == depth:
            break
    return list(items)


def values(
    ranking: Sequence[Hashable], gold: Collection[Hashable], cuts: Sequence[int], lost: int
) -> Iterator[float]:
    """recall@k.., hit@k.., mrr@10, ndcg@10 of distinct items. `lost`: gold that no ranking can hold."""
    ranks = [rank for rank, item in enumerate(ranking, start=1) if item in gold]
    found = [sum(rank <= k for rank in ranks) for k in cuts]
    total = len(gold) + lost
    yield from (n / total for n in found)
    yield from (float(n > 0) for n in found)
    yield 1 / ranks[0] if ranks and ranks[0] <= 10 else 0.0
    gain = math.fsum(1 / math.log2(rank + 1) for rank in ranks if rank <= 10)
    yield gain / math.fsum(1 / math.log2(rank + 1) for rank in range(1, min(total, 10) + 1))


def score(record: Record, level: str, settings: Settings) -> tuple[str, tuple[float, ...]]:
    """(reason why unscored or "", values or nan). What the gold says comes before what the system did."""
    size = len(settings.measures)
    gold = gold_at(record.gold.refs, level)
    reason = ""
    if not record.gold.answerable:
        reason = "not answerable"
    elif not gold and (record.gold.refs or settings.empty_gold == "exclude"):
        reason = "unresolved" if record.gold.unresolved and not record.gold.refs else "no gold"
    elif record.unscored is not None or record.ranked is None:
        reason = record.unscored or "no ranking"
    if reason:
        return reason, (math.nan,) * size
    if not gold:
        return "", (0.0,) * size
    ranking = ranking_at((row.ref for row in record.ranked or ()), level, max(*settings.k, 10))
    lost = len(set(record.gold.unresolved)) if settings.unresolved == "count" and level == "turn" else 0
    return "", tuple(values(ranking, gold, sorted(settings.k), lost))
