"""Student's t test for folds, and the two one-sided tests, against definitions and simulation."""

import numpy as np
import pytest
from scipy import stats

from prframe.errors import PrframeError
from prframe.stats import PairedFamily, mean_interval, paired_t_test
from prframe.stats.paired_values import paired_sample

FIRST = np.array([0.81, 0.84, 0.79, 0.83, 0.86, 0.80, 0.82, 0.85, 0.81, 0.84])
SECOND = np.array([0.80, 0.80, 0.80, 0.81, 0.82, 0.79, 0.82, 0.82, 0.80, 0.81])


@pytest.mark.parametrize("ratio", [0.0, 1 / 9, 0.5])
def test_the_corrected_t_is_the_formula_of_nadeau_and_bengio(ratio):
    differences = FIRST - SECOND
    n = differences.size
    t = differences.mean() / np.sqrt((1 / n + ratio) * differences.var(ddof=1))
    test = paired_t_test(FIRST, SECOND, test_train_ratio=ratio)
    assert test.statistic == pytest.approx(t, rel=1e-12)
    assert test.p_value == pytest.approx(2 * stats.t.sf(abs(t), n - 1), rel=1e-12)
    interval = mean_interval(differences, "t", test_train_ratio=ratio)
    reach = stats.t.ppf(0.975, n - 1) * np.sqrt((1 / n + ratio) * differences.var(ddof=1))
    assert interval.high - interval.low == pytest.approx(2 * reach, rel=1e-12)


def folds_that_correlate(rng, n_tables, n, ratio):
    """Return tables of normal values of mean 0 that correlate as much as the correction assumes."""
    correlation = ratio / (1 + ratio)
    common = rng.normal(size=(n_tables, 1)) * np.sqrt(correlation)
    return common + rng.normal(size=(n_tables, n)) * np.sqrt(1 - correlation)


@pytest.mark.slow
@pytest.mark.parametrize("n", [5, 10, 100])
def test_p_values_are_uniform_and_intervals_cover_for_correlated_folds(n):
    rng, ratio = np.random.default_rng(n), 1 / 9
    tables = folds_that_correlate(rng, 2000, n, ratio)
    tests = [paired_t_test(table, test_train_ratio=ratio) for table in tables]
    p_values = np.array([test.p_value for test in tests])
    assert stats.kstest(p_values, "uniform").pvalue > 1e-3
    plain = np.array([paired_t_test(table).p_value for table in tables])
    assert (plain <= 0.05).mean() > 0.07
    ends = [mean_interval(table, "t", test_train_ratio=ratio) for table in tables]
    covers = np.mean([end.low <= 0 <= end.high for end in ends])
    assert abs(covers - 0.95) < 4 * np.sqrt(0.95 * 0.05 / 2000)


def test_equivalence_is_that_of_statsmodels():
    weightstats = pytest.importorskip("statsmodels.stats.weightstats")
    for margin in (0.01, 0.03):
        expected = weightstats.ttost_paired(FIRST, SECOND, -margin, margin)[0]
        family = PairedFamily.of([paired_sample(FIRST, SECOND)])
        assert family.equivalence(margin)[1] == pytest.approx(expected, rel=1e-10)


def test_wrong_options_are_refused():
    with pytest.raises(PrframeError, match="`test_train_ratio` must be"):
        paired_t_test(FIRST, SECOND, test_train_ratio=-0.1)
    with pytest.raises(PrframeError, match="leave out `cluster`"):
        paired_t_test(FIRST, SECOND, test_train_ratio=0.1, cluster=range(10))
    with pytest.raises(PrframeError, match="takes values as independent"):
        mean_interval(FIRST, "bca", test_train_ratio=0.1)
