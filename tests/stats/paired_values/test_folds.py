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
