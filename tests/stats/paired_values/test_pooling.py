"""Pooling of strata, against statsmodels, definitions and simulation."""

import numpy as np
import pytest
from scipy import stats

from prframe.errors import PrframeError
from prframe.stats import pool_differences

EFFECTS = np.array([0.02, 0.05, 0.01, 0.06, -0.01])
ERRORS = np.array([0.01, 0.02, 0.01, 0.02, 0.03])


def test_the_fixed_effect_is_the_formula():
    weights = ERRORS**-2.0
    mean = (weights * EFFECTS).sum() / weights.sum()
    pooled = pool_differences(EFFECTS, ERRORS, model="fixed")
    assert pooled.difference == pytest.approx(mean, rel=1e-12)
    assert pooled.std_error == pytest.approx(weights.sum() ** -0.5, rel=1e-12)
    assert pooled.p_value == pytest.approx(2 * stats.norm.sf(mean * weights.sum() ** 0.5))
    q = (weights * (EFFECTS - mean) ** 2).sum()
    assert (pooled.q, pooled.q_p_value) == pytest.approx((q, stats.chi2.sf(q, 4)), rel=1e-12)
    assert pooled.i_squared == pytest.approx(max(0, 1 - 4 / q), rel=1e-12)
    assert pooled.tau == 0


@pytest.mark.parametrize("scale", [1.0, 1e-170, 1e160])
def test_both_models_are_those_of_statsmodels(scale):
    meta = pytest.importorskip("statsmodels.stats.meta_analysis")
    expected = meta.combine_effects(
        EFFECTS, ERRORS**2, method_re="iterated", use_t=True, atol=1e-14
    )
    pooled = pool_differences(EFFECTS * scale, ERRORS * scale)
    assert pooled.difference == pytest.approx(expected.mean_effect_re * scale, rel=1e-7)
    assert pooled.tau == pytest.approx(np.sqrt(expected.tau2) * scale, rel=1e-6)
    assert pooled.q == pytest.approx(expected.q, rel=1e-10)
    # The scale of Hartung and Knapp is 1 at this variance.
    low, high = expected.conf_int(use_t=True)[3]
    assert (pooled.low, pooled.high) == pytest.approx((low * scale, high * scale), rel=1e-6)
    fixed = pool_differences(EFFECTS * scale, ERRORS * scale, model="fixed")
    assert fixed.difference == pytest.approx(expected.mean_effect_fe * scale, rel=1e-12)


def test_sizes_widen_the_fixed_effect_by_the_formulas():
    sizes = np.array([10, 12, 9, 20, 15])
    shares = ERRORS**-2.0 / (ERRORS**-2.0).sum()
    growth = 4 * (shares * (1 - shares) / (sizes - 1)).sum()
    df = 1 / (shares**2 / (sizes - 1)).sum()
    known = pool_differences(EFFECTS, ERRORS, model="fixed")
    pooled = pool_differences(EFFECTS, ERRORS, model="fixed", sizes=sizes)
    assert (pooled.difference, pooled.q) == (known.difference, known.q)
    assert pooled.std_error == pytest.approx(known.std_error * (1 + growth) ** 0.5, rel=1e-12)
    assert (pooled.df, known.df) == (pytest.approx(df, rel=1e-12), np.inf)
    ends = stats.t.interval(0.95, df, pooled.difference, pooled.std_error)
    assert (pooled.low, pooled.high) == pytest.approx(ends, rel=1e-12)
    expected = 2 * stats.t.sf(pooled.difference / pooled.std_error, df)
    assert pooled.p_value == pytest.approx(expected, rel=1e-12)
    many = pool_differences(EFFECTS, ERRORS, model="fixed", sizes=sizes * 10**9)
    assert tuple(many)[:-1] == pytest.approx(tuple(known)[:-1], rel=1e-8)


@pytest.mark.parametrize(
    "sizes", [[10, 10, 10, 10], [10, 10, 10, 10, 1], [5, 5, np.nan, 5, 5], 10]
)
def test_wrong_sizes_are_refused(sizes):
    with pytest.raises(
        PrframeError, match="`sizes` must hold the number of queries of each of the"
    ):
        pool_differences(EFFECTS, ERRORS, model="fixed", sizes=sizes)


@pytest.mark.parametrize(
    ("differences", "errors", "message"),
    [
        ([0.1], [0.1], "two strata or more"),
        ([0.1, 0.2], [0.1], "of one length"),
        ([0.1, 0.2], [0.1, 0.0], "above 0"),
        ([0.1, np.nan], [0.1, 0.1], "must be finite"),
        ([0.1, 0.2], [1e-200, 1], "of comparable size"),
        ([1e200, -1e200], [1, 1], "of comparable size"),
    ],
)
def test_wrong_numbers_are_refused(differences, errors, message):
    with pytest.raises(PrframeError, match=message):
        pool_differences(differences, errors)
