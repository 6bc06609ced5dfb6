"""Intervals and tests. Plain functions of arrays; every formula has an oracle in its test.

Questions of one haystack share a conversation and are a cluster. Clusters of one question each give the
ordinary formulas.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Floats = NDArray[np.float64]
Labels = NDArray[np.str_]  # one cluster name per value

_CHUNK = 4_000_000  # resampled clusters held at once


class Interval(NamedTuple):
    """Both None where it is not defined."""

    low: float | None
    high: float | None


NONE = Interval(None, None)


def wilson(correct: float, total: int, confidence: float = 0.95) -> Interval:
    """Score interval of a proportion (Wilson 1927), in [0, 1]. `correct` may be a fraction; total 0: None."""
    if total <= 0:
        return NONE
    z, p = float(stats.norm.ppf((1 + confidence) / 2)), correct / total
    middle = p + z * z / (2 * total)
    half = z * math.sqrt(p * (1 - p) / total + z * z / (4 * total * total))
    scale = 1 + z * z / total
    low, high = max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)
    return Interval(min(low, p), max(high, p))  # rounding must not put p outside


def cluster_sums(values: Floats, clusters: Labels) -> tuple[Floats, Floats]:
    """Sum of the values and number of values per cluster."""
    _, code = np.unique(clusters, return_inverse=True)
    counts = np.bincount(code).astype(np.float64)
    return np.bincount(code, weights=values).astype(np.float64), counts


def cluster_error(values: Floats, clusters: Labels) -> tuple[float, int]:
    """Cluster-robust (CR1) standard error of the mean, and the number of clusters G >= 2.

    sqrt(G/(G-1) * sum over clusters of (sum of residuals)^2) / n; for single questions s/sqrt(n).
    """
    sums, _ = cluster_sums(values - values.mean(), clusters)
    g = len(sums)
    return math.sqrt(g / (g - 1) * float(sums @ sums)) / len(values), g


def mean_interval(values: Floats, clusters: Labels, confidence: float = 0.95) -> Interval:
    """Interval of a mean of values in [0, 1]: t with G-1 degrees of freedom, clipped. None where G < 2.

    Single questions with values 0 and 1 only are a proportion: Wilson. Without any variance t would
    claim certainty: Wilson again, with one observation per cluster.
    """
    g = len(np.unique(clusters))
    if g < 2:
        return NONE
    mean = float(values.mean())
    if g == len(values) and bool(np.isin(values, (0.0, 1.0)).all()):
        return wilson(float(values.sum()), len(values), confidence)
    error, _ = cluster_error(values, clusters)
    if error < 1e-12:
        return wilson(mean * g, g, confidence)
    return t_interval(mean, error, g, confidence)


def t_interval(mean: float, error: float, g: int, confidence: float) -> Interval:
    """mean -+ t(G-1) * error, clipped to [0, 1]."""
    half = float(stats.t.ppf((1 + confidence) / 2, g - 1)) * error
    return Interval(max(0.0, mean - half), min(1.0, mean + half))


def macro_interval(parts: Sequence[Floats], clusters: Sequence[Labels], confidence: float = 0.95) -> Interval:
    """Interval of the unweighted mean of category means; a haystack may have questions in several of them."""
    share = [(x - x.mean()) / (len(parts) * len(x)) for x in parts]
    sums, _ = cluster_sums(np.concatenate(share), np.concatenate(clusters))
    g = len(sums)
    mean = float(np.mean([x.mean() for x in parts]))
    if g < 2:
        return NONE
    error = math.sqrt(g / (g - 1) * float(sums @ sums))
    return wilson(mean * g, g, confidence) if error < 1e-12 else t_interval(mean, error, g, confidence)


def paired_bootstrap(
    difference: Floats, clusters: Labels, *, seed: int, resamples: int = 2000, confidence: float = 0.95
) -> Interval:
    """Percentile interval of a mean paired difference; whole clusters are drawn. None where G < 2.

    With few clusters plain percentiles are too narrow: the tail is widened to that of t with G-1 degrees
    of freedom (Hesterberg 2015, "expanded percentile", section 6.2).
    """
    sums, counts = cluster_sums(difference, clusters)
    g = len(sums)
    if g < 2:
        return NONE
    rng, step = np.random.default_rng(seed), max(1, _CHUNK // g)
    means: list[Floats] = []
    for start in range(0, resamples, step):
        draw = rng.integers(0, g, (min(step, resamples - start), g))
        means.append(sums[draw].sum(axis=1) / counts[draw].sum(axis=1))
    t = float(stats.t.ppf((1 + confidence) / 2, g - 1))
    tail = float(stats.norm.cdf(-math.sqrt(g / (g - 1)) * t))
    low, high = np.quantile(np.concatenate(means), [tail, 1 - tail])
    return Interval(float(low), float(high))


def paired_p(difference: Floats, clusters: Labels) -> float | None:
    """Two-sided p of "no mean difference".

    Right/wrong on single questions: exact McNemar. Else t on the clusters with G-1 degrees of freedom;
    where all differ alike, the sign test of the clusters. None where G < 2.
    """
    g = len(np.unique(clusters))
    if g < 2:
        return None
    if g == len(difference) and bool(np.isin(difference, (-1.0, 0.0, 1.0)).all()):
        return mcnemar_exact(*discordant(difference))
    if not np.any(difference):
        return 1.0
    error, _ = cluster_error(difference, clusters)
    if error < 1e-12:
        return float(2.0 ** (1 - g))
    return float(2 * stats.t.sf(abs(float(difference.mean())) / error, g - 1))


def discordant(difference: Floats) -> tuple[int, int]:
    """(questions that only a has right, questions that only b has right) of differences a - b."""
    return int((difference > 0).sum()), int((difference < 0).sum())


def mcnemar_exact(b: int, c: int) -> float:
    """Exact two-sided McNemar test of the discordant counts: binomial(b + c, 1/2). No discordant pair: 1."""
    return float(stats.binomtest(b, b + c, 0.5).pvalue) if b + c else 1.0


def holm(p: Sequence[float]) -> list[float]:
    """Holm's step-down adjusted p values, in the order given."""
    adjusted, largest = [0.0] * len(p), 0.0
    for rank, i in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        largest = max(largest, min(1.0, (len(p) - rank) * p[i]))
        adjusted[i] = largest
    return adjusted


def two_proportion(correct_a: int, total_a: int, correct_b: int, total_b: int) -> float:
    """Two-sided p of the pooled two-proportion z test (unpaired). 1 where it is not defined."""
    if total_a <= 0 or total_b <= 0:
        return 1.0
    pooled = (correct_a + correct_b) / (total_a + total_b)
    error = math.sqrt(pooled * (1 - pooled) * (1 / total_a + 1 / total_b))
    z = (correct_a / total_a - correct_b / total_b) / error if error else 0.0
    return math.erfc(abs(z) / math.sqrt(2))


def mde(n: int, discordance: float = 0.1, power: float = 0.8, confidence: float = 0.95) -> float | None:
    """Smallest paired difference of proportions that n questions can show, as a fraction.

    (z(confidence) + z(power)) * sqrt(discordance / n); discordance: share of questions on which the two
    differ. Clusters make it larger: it is the best case.
    """
    z = float(stats.norm.ppf((1 + confidence) / 2) + stats.norm.ppf(power))
    return z * math.sqrt(discordance / n) if n > 0 else None


def nearest_rank(values: Sequence[float], percent: float) -> float | None:
    """Percentile by nearest rank: a value that was measured. None for no values."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(percent / 100 * len(ordered)) - 1)] if ordered else None


def kappa(a: Floats, b: Floats) -> float | None:
    """Cohen's kappa of two 0/1 raters over the same items; None (undefined) where chance agreement is 1."""
    if not len(a):
        return None
    p, q = float(a.mean()), float(b.mean())
    observed, chance = float((a == b).mean()), p * q + (1 - p) * (1 - q)
    return (observed - chance) / (1 - chance) if chance < 1 - 1e-12 else None
