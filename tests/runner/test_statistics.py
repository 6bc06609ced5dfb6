"""Every formula against an independent implementation, and against the digits of the specification."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import cohen_kappa_score
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint, proportions_ztest

from runner.statistics import (
    NONE,
    cluster_error,
    holm,
    kappa,
    macro_interval,
    mcnemar_exact,
    mde,
    mean_interval,
    nearest_rank,
    paired_bootstrap,
    paired_p,
    two_proportion,
    wilson,
)

RNG = np.random.default_rng(5)


def singles(n: int) -> np.ndarray:
    return np.array([f"h{i}" for i in range(n)])


@pytest.mark.parametrize(
    ("correct", "total", "low", "high"),
    [
        (7, 8, 0.5291118177871464, 0.9775825085499433),
        (4, 8, 0.21521606221387757, 0.7847839377861224),
        (49, 50, 0.8950455641036219, 0.9964607407283539),
    ],
)
def test_wilson_gives_the_published_digits(correct: int, total: int, low: float, high: float) -> None:
    assert wilson(correct, total) == pytest.approx((low, high), abs=1e-12)


@given(st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_equals_statsmodels_and_holds_its_value(pair: tuple[int, int]) -> None:
    correct, total = pair
    low, high = wilson(correct, total)
    assert (low, high) == pytest.approx(proportion_confint(correct, total, method="wilson"), abs=1e-9)
    assert low is not None and high is not None and 0 <= low <= correct / total <= high <= 1


def test_wilson_equals_scipy_at_another_confidence() -> None:
    expected = stats.binomtest(13, 40).proportion_ci(0.9, method="wilson")
    assert wilson(13, 40, 0.9) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_wilson_of_nothing_is_undefined() -> None:
    assert wilson(0, 0) == NONE


def test_the_cluster_error_is_that_of_a_regression_on_a_constant() -> None:
    clusters = RNG.integers(0, 10, 300).astype(str)
    values = RNG.random(300) + clusters.astype(int) / 20
    model = OLS(values, np.ones(300)).fit(cov_type="cluster", cov_kwds={"groups": clusters.astype(int)})
    error, g = cluster_error(values, clusters)
    assert g == 10
    assert error == pytest.approx(float(model.bse[0]), rel=1e-12)


def test_single_questions_give_the_ordinary_t_interval() -> None:
    values = RNG.random(40)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert mean_interval(values, singles(40)) == pytest.approx((expected.low, expected.high), rel=1e-12)


def test_clusters_widen_the_interval_of_values_that_hang_together() -> None:
    values = np.repeat(RNG.integers(0, 2, 10), 20).astype(float)
    low, high = mean_interval(values, np.repeat(singles(10), 20))
    alone = mean_interval(values, singles(200))
    assert low is not None and high is not None and alone.low is not None and alone.high is not None
    assert high - low > 2 * (alone.high - alone.low)


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_values_without_variance_do_not_claim_certainty(value: float) -> None:
    low, high = mean_interval(np.full(60, value), np.repeat(singles(6), 10))
    assert low is not None and high is not None
    assert high - low > 0.3  # that of six observations


def test_one_cluster_has_no_interval() -> None:
    one = np.array(["h"] * 30)
    assert mean_interval(RNG.random(30), one) == NONE
    assert paired_bootstrap(RNG.random(30), one, seed=0) == NONE
    assert paired_p(RNG.random(30), one) is None


def test_the_macro_interval_is_that_of_a_contrast_of_category_means() -> None:
    category = np.repeat([0, 1, 2], [40, 80, 180])
    clusters = RNG.integers(0, 12, 300)
    values = np.clip(RNG.random(300) / 2 + category / 8 + clusters / 60, 0, 1)
    design = np.eye(3)[category]
    fit = OLS(values, design).fit(cov_type="cluster", cov_kwds={"groups": clusters, "use_correction": False})
    weights = np.full(3, 1 / 3)
    error = math.sqrt(12 / 11 * float(weights @ fit.cov_params() @ weights))
    mean = float(np.mean([values[category == c].mean() for c in range(3)]))
    half = float(stats.t.ppf(0.975, 11)) * error
    parts = [values[category == c] for c in range(3)]
    groups = [clusters[category == c].astype(str) for c in range(3)]
    assert macro_interval(parts, groups) == pytest.approx((mean - half, mean + half), rel=1e-9)


def test_the_paired_bootstrap_agrees_with_scipy_on_single_questions() -> None:
    a, b = RNG.random(400), RNG.random(400) - 0.1
    expected = stats.bootstrap(
        (a - b,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(1)
    ).confidence_interval
    got = paired_bootstrap(a - b, singles(400), seed=0, resamples=20_000)
    assert got == pytest.approx((expected.low, expected.high), abs=0.002)


def test_the_paired_bootstrap_is_repeatable_and_whatever_the_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    values, clusters = RNG.random(200) - 0.4, RNG.integers(0, 20, 200).astype(str)
    first = paired_bootstrap(values, clusters, seed=3)
    assert paired_bootstrap(values, clusters, seed=3) == first
    monkeypatch.setattr("runner.statistics._CHUNK", 50)
    assert paired_bootstrap(values, clusters, seed=3) == first


def test_ten_clusters_are_covered_as_promised() -> None:
    rng, clusters, covered = np.random.default_rng(11), np.repeat(singles(10), 8), 0
    for trial in range(300):
        values = np.repeat(rng.normal(0, 1, 10), 8) + rng.normal(0, 1, 80)
        low, high = paired_bootstrap(values, clusters, seed=trial, resamples=400)
        assert low is not None and high is not None
        covered += low <= 0 <= high
    assert 0.92 <= covered / 300 <= 0.985  # plain percentiles give about .89


@given(st.integers(0, 80), st.integers(0, 80))
def test_mcnemar_equals_statsmodels(b: int, c: int) -> None:
    expected = mcnemar([[5, b], [c, 5]], exact=True).pvalue if b + c else 1.0
    assert mcnemar_exact(b, c) == pytest.approx(float(expected), abs=1e-12)


def test_p_is_mcnemar_for_right_and_wrong_and_t_for_the_rest() -> None:
    labels = np.array([1.0] * 9 + [-1.0] * 2 + [0.0] * 20)
    assert paired_p(labels, singles(31)) == pytest.approx(mcnemar_exact(9, 2))
    values = RNG.random(50) - 0.4
    assert paired_p(values, singles(50)) == pytest.approx(float(stats.ttest_1samp(values, 0).pvalue))
    assert paired_p(np.zeros(30), np.repeat(singles(3), 10)) == 1.0
    assert paired_p(np.full(30, 0.1), np.repeat(singles(3), 10)) == pytest.approx(0.25)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_equals_statsmodels(p: list[float]) -> None:
    assert holm(p) == pytest.approx(list(multipletests(p, method="holm")[1]), abs=1e-12)


def test_holm_of_nothing_is_nothing() -> None:
    assert holm([]) == []


def test_two_proportions_give_the_published_digits() -> None:
    assert two_proportion(4, 8, 7, 8) == pytest.approx(0.1056454137163092, abs=1e-6)
    assert two_proportion(7, 8, 7, 8) == 1.0
    assert two_proportion(0, 0, 3, 4) == two_proportion(4, 4, 4, 4) == 1.0


@given(st.integers(0, 30), st.integers(0, 40))
def test_two_proportions_equal_statsmodels(a: int, b: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = float(proportions_ztest([a, b], [30, 40])[1])
    assert two_proportion(a, 30, b, 40) == pytest.approx(1.0 if math.isnan(expected) else expected, abs=1e-9)


@pytest.mark.parametrize(
    ("n", "tenth", "fifth"), [(8, 31, 44), (135, 7.6, 10.8), (500, 4.0, 5.6), (1540, 2.3, 3.2)]
)
def test_the_minimal_detectable_effect_has_the_digits_of_the_method(
    n: int, tenth: float, fifth: float
) -> None:
    digits = 0 if n == 8 else 1
    got = [mde(n, discordance) for discordance in (0.1, 0.2)]
    assert [round(100 * x, digits) for x in got if x is not None] == [tenth, fifth]
    assert mde(0) is None


@given(st.lists(st.floats(0, 100), min_size=1, max_size=50), st.sampled_from([1, 50, 95, 100]))
def test_percentiles_are_values_that_were_measured(values: list[float], percent: int) -> None:
    ordered = sorted(values)
    assert nearest_rank(values, percent) == ordered[max(1, -(-percent * len(values) // 100)) - 1]
    assert nearest_rank([], percent) is None


@settings(max_examples=60)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
def test_kappa_equals_scikit_learn_and_is_undefined_where_all_labels_are_one(
    pairs: list[tuple[bool, bool]],
) -> None:
    a, b = (np.array(side, dtype=float) for side in zip(*pairs, strict=True))
    if len(set(a) | set(b)) == 1:
        assert kappa(a, b) is None  # F174
    else:
        assert kappa(a, b) == pytest.approx(float(cohen_kappa_score(a, b)), abs=1e-12)


def test_kappa_of_nothing_is_undefined() -> None:
    assert kappa(np.array([]), np.array([])) is None
