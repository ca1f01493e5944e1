"""Paired tests over queries, against SciPy, enumeration and simulation."""

from typing import get_args

import numpy as np
import pytest
import scipy.stats
from scipy.stats import binom

from prframe import compare
from prframe.errors import PrframeError
from prframe.stats import PairedFamily, cohen_dz, paired_randomization, paired_t_test
from prframe.stats.paired_values import (
    QUERY_TESTS,
    QueryTestName,
    QueryTestOptions,
    cohen_dz_of_columns,
    paired_differences,
    paired_sample,
)
from tests.stats.paired_values import oracle

ALTERNATIVES = ["two-sided", "less", "greater"]
every_test = pytest.mark.parametrize("name", QUERY_TESTS)


def result_of(name, differences, cluster=None, *, n_resamples=500, rng=1, **options):
    """Return the result of one of the tests in the list."""
    family = PairedFamily.of([paired_sample(differences, cluster=cluster)])
    options = QueryTestOptions(n_resamples=n_resamples, rng=rng, **options)
    (result,) = QUERY_TESTS[name].of_pairs(family, options)
    return result


def values(n, seed=1, shift=0.05, digits=None):
    """Return the AP-like values of two systems."""
    rng = np.random.default_rng(seed)
    a = rng.beta(2, 3, n)
    b = np.clip(a + rng.normal(-shift, 0.15, n), 0, 1)
    return (a, b) if digits is None else (a.round(digits), b.round(digits))


def mean_difference(x, y, axis):
    """Return the statistic of SciPy's permutation test."""
    return (x - y).mean(axis=axis)


def test_tests_are_listed_once_for_all():
    assert get_args(QueryTestName) == tuple(QUERY_TESTS)
    assert oracle.TESTS.keys() == QUERY_TESTS.keys()
    assert all(f'"{name}"' in compare.__doc__ for name in QUERY_TESTS)


@every_test
@pytest.mark.parametrize("digits", [None, 1])
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_every_test_is_that_of_its_definition(name, digits, alternative):
    differences = paired_differences(*values(5, digits=digits))
    statistic, p_value = oracle.TESTS[name](differences.tolist(), alternative)
    found = result_of(name, differences, alternative=alternative, n_resamples=20_000)
    assert found.statistic == pytest.approx(statistic)
    assert found.p_value == pytest.approx(p_value, abs=4 * np.nan_to_num(found.std_error) + 1e-8)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("n", [2, 12])
@pytest.mark.parametrize("digits", [None, 1])
def test_randomization_is_scipys_permutation_test(alternative, n, digits):
    a, b = values(n, digits=digits)
    expected = scipy.stats.permutation_test(
        (a, b),
        mean_difference,
        permutation_type="samples",
        vectorized=True,
        n_resamples=2**n,
        alternative=alternative,
    )
    found = paired_randomization(a, b, alternative=alternative)
    assert found.p_value == pytest.approx(expected.pvalue, abs=1e-12)
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.method == "randomization-exact"


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("n", [1, 6, 25, 45])
def test_signed_ranks_are_scipys(alternative, n):
    a, b = values(n)
    expected = scipy.stats.wilcoxon(a, b, alternative=alternative, method="exact")
    found = result_of("wilcoxon", paired_differences(a, b), alternative=alternative)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-10)
    greater = scipy.stats.wilcoxon(a, b, alternative="greater", method="exact")
    assert found.statistic == greater.statistic


def test_exact_signed_ranks_with_ties_are_permutations_of_signs():
    differences = np.round(np.subtract(*values(11, digits=1)), 1)
    kept = differences[differences != 0]
    ranks = scipy.stats.rankdata(np.abs(kept)) * np.sign(kept)
    assert kept.size < 11
    expected = paired_randomization(ranks)
    found = result_of("wilcoxon", differences)
    assert found.p_value == pytest.approx(expected.p_value, abs=1e-12)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("n", [1, 9, 200])
def test_signs_are_scipys(alternative, n):
    a, b = values(n, digits=1)
    wins, losses = int((a > b).sum()), int((a < b).sum())
    found = result_of("sign", paired_differences(a, b), alternative=alternative)
    assert found.statistic == wins
    if wins + losses:
        expected = scipy.stats.binomtest(wins, wins + losses, alternative=alternative)
        assert found.p_value == pytest.approx(expected.pvalue, rel=1e-10)


def test_clusters_of_one_are_queries():
    a, b = values(30)
    cluster = np.random.default_rng(1).permutation(30)
    assert paired_t_test(a, b, cluster=cluster).p_value == pytest.approx(
        paired_t_test(a, b).p_value
    )
    assert paired_randomization(a, b, cluster=cluster).p_value == pytest.approx(
        paired_randomization(a, b).p_value
    )


def test_clusters_exchange_their_values_together():
    a, b = values(12)
    cluster = np.repeat(list("abcd"), 3)
    sums = np.add.reduceat(a - b, [0, 3, 6, 9])
    found = paired_randomization(a, b, cluster=cluster)
    assert found.p_value == pytest.approx(paired_randomization(sums).p_value)
    assert found.statistic == pytest.approx((a - b).mean())
    # Clusters of one size are like queries with their means.
    assert paired_t_test(a, b, cluster=cluster).statistic == pytest.approx(
        paired_t_test(sums).statistic
    )


@pytest.mark.slow
@pytest.mark.parametrize("n", [10, 40])
@every_test
def test_size_under_the_null(name, n):
    rng, repeats = np.random.default_rng(11), 1000
    rejected = 0
    for _ in range(repeats):
        quality = rng.beta(1.2, 2, n)
        a, b = np.clip(quality + rng.normal(0, 0.12, (2, n)), 0, 1)
        rejected += result_of(name, a - b).p_value <= 0.05
    # None of them may reject too often; those of few values, rarely.
    assert rejected <= binom.ppf(0.9995, repeats, 0.05)
    if name not in {"sign", "wilcoxon"}:
        assert rejected >= binom.ppf(0.0005, repeats, 0.04)


@every_test
def test_degenerate_samples(name):
    assert np.isnan(result_of(name, []).p_value)
    assert result_of(name, [0.0, 0.0, 0.0]).p_value == 1
    one = result_of(name, [0.25]).p_value
    assert np.isnan(one) or one == 1


def test_rounding_is_no_difference():
    assert paired_differences([0.1 + 0.2, 1.0], [0.3, 0.5]).tolist() == [0.0, 0.5]
    assert result_of("sign", paired_differences([0.1 + 0.2], [0.3])).p_value == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: paired_t_test([1.0, np.nan], [0.0, 1.0]), "`a` must be finite"),
        (lambda: paired_t_test([1.0, 2.0], [np.inf, 1.0]), "`b` must be finite"),
        (lambda: paired_t_test([1.0, 2.0], [1.0]), "one length"),
        (lambda: paired_t_test([1.0, 2.0], cluster=["a"]), "one entry per item"),
        (lambda: cohen_dz([0.1, np.nan, np.inf]), "`differences` must be finite; got nan"),
        (lambda: cohen_dz([[0.1, 0.2]]), "must have one dimension"),
    ],
)
def test_what_they_refuse(call, message):
    with pytest.raises(PrframeError, match=message):
        call()


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300])
def test_the_unit_does_not_matter(scale):
    differences = np.random.default_rng(1).normal(0.3, 1, 30)
    for name in QUERY_TESTS:
        expected = result_of(name, differences).p_value
        assert result_of(name, differences * scale).p_value == pytest.approx(expected)
    assert cohen_dz(differences * scale) == pytest.approx(cohen_dz(differences))


def test_bootstrap_sees_a_small_spread_about_a_large_mean():
    # The law of t* does not depend on the mean, which is all that is added here.
    noise = np.random.default_rng(1).normal(0, 1e-6, 30)
    noise -= noise.mean()
    for shift in (1.0, 1000.0):
        found = result_of("bootstrap", shift + noise, n_resamples=999)
        assert found.p_value == 0.001


def test_columns_have_the_effect_sizes_of_what_is_defined():
    rng = np.random.default_rng(12)
    defined = rng.random((9, 30)) < 0.6
    defined[:, 0], defined[1:, 1] = False, False
    differences = np.where(defined, rng.normal(0.2, 1, defined.shape), 0.0)
    differences[:, 2] = 0
    differences[:, 3] = 0.3 * defined[:, 3]
    found = cohen_dz_of_columns(differences, defined)
    for column, size in enumerate(found):
        values = differences[defined[:, column], column]
        with np.errstate(invalid="ignore", divide="ignore"):
            expected = values.mean() / values.std(ddof=1) if values.size > 1 else np.nan
        expected = {2: 0.0, 3: np.nan}.get(column, expected)
        assert size == pytest.approx(expected, nan_ok=True)
