"""LongMemEval's own retrieval measures, as its evaluation computes them, for logs under its names only.

recall_any@k: 1 when any relevant document is among the first k. recall_all@k: 1 when all are.
ndcg_any@k = DCG(first k) / DCG(ideal order of the whole corpus), DCG = rel_1 + sum over i >= 2 of
rel_i / log2(i): rank 2 is not discounted (log2 2 = 1), unlike nDCG everywhere else and in our reports.

From turns to sessions: a document is known by its session alone, the first k grow until they hold k distinct
names, and each relevant turn still counts in the DCG. A session stands under two names there: that of its
relevant turns (answer_x) and that of the others (noans_x).

Source: xiaowu0162/LongMemEval at 9e0b455, src/retrieval/eval_utils.py and run_retrieval.py (behaviour; this
code is our own). Our ranking ends at `depth`, theirs holds the whole corpus: a k beyond depth is left out.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

CUTS = (1, 3, 5, 10, 30, 50)
Metrics = dict[str, float]


def measured(
    ranked: Sequence[str], gold: Collection[str], corpus: Sequence[str], cuts: Sequence[int]
) -> Metrics:
    """All three at each of `cuts`. `corpus`: the id of every document, `gold`: the relevant ids."""
    out: Metrics = {}
    for k in cuts:
        out |= _at(k, k, ranked, gold, corpus)
    return out


def by_session(
    ranked: Sequence[str], gold: Collection[str], corpus: Sequence[str], cuts: Sequence[int]
) -> Metrics:
    """The same for the sessions of turns: ids without what stands behind their last underscore."""
    sessions, relevant = [_session(name) for name in ranked], {_session(name) for name in gold}
    whole = [_session(name) for name in corpus]
    out: Metrics = {}
    for k in cuts:
        seen: set[str] = set()
        deep = 0
        while deep < len(sessions) and (deep < k or len(seen) < k):
            seen.add(sessions[deep])
            deep += 1
        out |= _at(k, max(deep, k), sessions, relevant, whole)
    return out


def _at(k: int, deep: int, ranked: Sequence[str], gold: Collection[str], corpus: Sequence[str]) -> Metrics:
    first = ranked[:deep]
    ideal = _dcg([True] * min(deep, sum(name in gold for name in corpus)))
    return {
        f"recall_any@{k}": float(any(name in first for name in gold)),
        f"recall_all@{k}": float(all(name in first for name in gold)),
        f"ndcg_any@{k}": _dcg([name in gold for name in first]) / ideal if ideal else 0.0,
    }


def _dcg(relevant: Sequence[bool]) -> float:
    return math.fsum(1 / math.log2(max(rank, 2)) for rank, hit in enumerate(relevant, start=1) if hit)


def _session(turn: str) -> str:
    return turn.rpartition("_")[0]
