"""Numbers of queries: statsmodels, quadrature and simulation."""

import warnings
from math import ceil, nan, sqrt

import numpy as np
import pytest
from scipy import integrate, stats

from prframe.stats import detectable_difference, paired_t_power, queries_for_width, queries_needed
from tests.refusals import refusals

ALTERNATIVES = ["two-sided", "less", "greater"]
STATSMODELS = {"two-sided": "two-sided", "less": "smaller", "greater": "larger"}


@pytest.fixture(scope="module")
def sample_sizes():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("statsmodels.stats.power", reason="compares with statsmodels")


def power_by_quadrature(n: int, effect: float, alpha: float, *, two_sided: bool) -> float:
    """Return the chance that Z + sqrt(n) effect is beyond t S, given S, over the law of S."""
    df, shift = n - 1, sqrt(n) * effect
    critical = stats.t.isf(alpha / 2 if two_sided else alpha, df)

    def beyond(quantile: float) -> float:
        reach = critical * stats.chi.isf(quantile, df) / sqrt(df)
        lower = stats.norm.cdf(-reach - shift) if two_sided else 0.0
        return stats.norm.sf(reach - shift) + lower

    return integrate.quad(beyond, 0, 1, limit=500, epsabs=1e-10)[0]


@pytest.mark.slow
@pytest.mark.parametrize("two_sided", [True, False])
@pytest.mark.parametrize("n", [2, 3, 10, 80])
def test_power_by_quadrature(n: int, *, two_sided: bool) -> None:
    for effect, alpha in [(0.0, 0.05), (0.3, 0.05), (1.5, 0.01), (-0.4, 0.2), (0.2, 0.7)]:
        found = paired_t_power(
            n, effect, alpha=alpha, alternative="two-sided" if two_sided else "greater"
        )
        expected = power_by_quadrature(n, effect, alpha, two_sided=two_sided)
        assert found == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_power_of_statsmodels(sample_sizes, alternative: str) -> None:
    n, effect = np.array([[3], [12], [50], [400]]), np.array([-0.5, -0.1, 0.0, 0.1, 0.35, 1.0])
    found = paired_t_power(n, effect, alpha=0.02, alternative=alternative)
    expected = [
        [
            sample_sizes.TTestPower().power(d, size, 0.02, alternative=STATSMODELS[alternative])
            for d in effect
        ]
        for size in n.ravel()
    ]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_queries_needed_are_the_fewest(sample_sizes, alternative: str) -> None:
    sign = -1 if alternative == "less" else 1
    difference = sign * np.array([0.011, 0.03, 0.08, 0.2, 1.0])
    found = queries_needed(difference, 0.1, power=0.9, alpha=0.01, alternative=alternative)
    effect = difference / 0.1
    options = {"alpha": 0.01, "alternative": alternative}
    assert (paired_t_power(found, effect, **options) >= 0.9).all()
    assert (paired_t_power(found - 1, effect, **options) < 0.9).all()
    for d, n in zip(effect[:3], found[:3], strict=True):
        solved = sample_sizes.TTestPower().solve_power(
            d, alpha=0.01, power=0.9, alternative=STATSMODELS[alternative]
        )
        assert n == ceil(float(np.squeeze(solved)))
    assert queries_needed(sign * 1e300, 0.1, alternative=alternative) == 2


def expected_width(n: int, std: float, level: float) -> float:
    """Return the expected width of the t interval, by the mean of the chi law."""
    spread = std * stats.chi(n - 1).mean() / sqrt(n - 1)
    return 2 * stats.t.isf((1 - level) / 2, n - 1) * spread / sqrt(n)


def test_widths_by_simulation() -> None:
    n = int(queries_for_width(0.5, 1.0))
    samples = np.random.default_rng(3).normal(0, 1, (5000, n))
    low, high = stats.ttest_1samp(samples, 0, axis=1).confidence_interval()
    error = (high - low).std() / sqrt(5000)
    assert (high - low).mean() == pytest.approx(expected_width(n, 1.0, 0.95), abs=4 * error)
    assert (high - low).mean() <= 0.5 + 4 * error


test_what_is_refused = refusals(
    {
        "`n` must be whole numbers >= 2; got 1.": lambda: paired_t_power(1, 0.5),
        "`effect` must be finite; got nan.": lambda: paired_t_power(5, nan),
        "`n` and `effect` must broadcast together; got shapes (2,) and (3,).": lambda: (
            paired_t_power([5, 6], [1, 2, 3])
        ),
        "`alpha` must be a number >= 1e-07 and < 1; got 1e-09.": lambda: paired_t_power(
            5, 0.5, alpha=1e-9
        ),
        "`std` must be above 0; got 0.": lambda: detectable_difference(5, 0),
        "`power` must be a number > 0.05 and < 1; got 0.04.": lambda: detectable_difference(
            5, 1, power=0.04
        ),
        "`difference` must not be 0 with alternative='two-sided'; got 0.": lambda: queries_needed(
            [0.1, 0], 1
        ),
        "`difference` must be below 0 with alternative='less'; got 0.1.": lambda: queries_needed(
            0.1, 1, alternative="less"
        ),
        "What is asked for needs more than 2^50 queries; ask for less.": lambda: queries_needed(
            1e-9, 1
        ),
        "`width` must be above 0; got -1.": lambda: queries_for_width(-1, 1),
        "`confidence_level` must be a number > 0 and < 1; got 1.0.": lambda: queries_for_width(
            1, 1, confidence_level=1.0
        ),
    }
)
