"""The Gaussian limit of the curve, against its covariance and simulated samples."""

from functools import cache

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import norm

from prframe.stats import (
    pr_asymptotic_band,
    pr_asymptotic_interval,
    pr_asymptotic_variance,
    pr_curve,
    pr_limit_process,
)
from prframe.typing import Floats
from tests.refusals import refusals

LEVELS = np.array([0.2, 0.5, 0.8])
N = 4000
SAMPLES = 6000
SETTINGS = [(1.0, 0.3), (1.0, 0.05), (1.5, 0.1)]


def truth(mu: float) -> tuple[Floats, Floats]:
    """False positive rate and density ratio of N(0, 1) against N(mu, 1)."""
    threshold = mu - ndtri(LEVELS)
    return ndtr(-threshold), norm.pdf(threshold) / norm.pdf(threshold - mu)


@cache
def simulated_variance(mu: float, p: float) -> Floats:
    """n times the variance of eq. (3) over samples drawn in full as false positive rates."""
    rng = np.random.default_rng(17)
    precision = np.empty((SAMPLES, LEVELS.size))
    for sample in range(SAMPLES):
        n_pos = rng.binomial(N, p)
        rates = ndtr(ndtri(np.sort(rng.random(n_pos))) - mu)
        at = rates[np.ceil(n_pos * LEVELS - 1e-9).astype(int) - 1]
        # Negatives are uniform in the false positive rate; those up to it lie above.
        cells = np.diff(at, prepend=0.0, append=1.0)
        above = np.cumsum(rng.multinomial(N - n_pos, cells))[:-1]
        precision[sample] = n_pos * LEVELS / (n_pos * LEVELS + above)
    return N * precision.var(axis=0, ddof=1)


def printed(mu: float, p: float) -> Floats:
    """Eq. (9) as it stands in the paper."""
    alpha, ratio = truth(mu)
    precision = p * LEVELS / (p * LEVELS + (1 - p) * alpha)
    return (
        (1 - p) * precision**4 * alpha**2 / (LEVELS**2 * p**3)
        + (1 - p) ** 2 * LEVELS * (1 - LEVELS) * ratio**2 / p**3
        + (1 - p) * alpha * (1 - alpha) / p**2
    )


# Four standard errors of a variance of nearly normal values.
TOLERANCE = 4 * np.sqrt(2 / (SAMPLES - 1))


@pytest.mark.slow
@pytest.mark.parametrize(("mu", "p"), SETTINGS)
def test_the_corrected_variance_is_that_of_simulated_samples(mu: float, p: float) -> None:
    found = pr_asymptotic_variance(LEVELS, *truth(mu), p)
    assert found == pytest.approx(simulated_variance(mu, p), rel=TOLERANCE)


@pytest.mark.slow
@pytest.mark.parametrize(("mu", "p"), SETTINGS)
def test_the_printed_variance_is_not(mu: float, p: float) -> None:
    ratio = printed(mu, p) / simulated_variance(mu, p)
    assert (np.abs(ratio - 1) > 2 * TOLERANCE).all()


@pytest.mark.slow
@pytest.mark.parametrize(("mu", "p", "n"), [(1.0, 0.3, 1000), (1.0, 0.05, 2000)])
def test_coverage_at_a_level(mu: float, p: float, n: int) -> None:
    rng = np.random.default_rng(31)
    true = p * LEVELS / (p * LEVELS + (1 - p) * truth(mu)[0])
    runs = 500
    covered = np.zeros(LEVELS.size)
    for _ in range(runs):
        n_pos = rng.binomial(n, p)
        found = pr_asymptotic_interval(
            rng.normal(mu, 1, n_pos), rng.normal(0, 1, n - n_pos), LEVELS
        )
        covered += (found.low <= true) & (true <= found.high)
    # Four binomial standard errors and one percent for the approximation.
    assert covered / runs == pytest.approx(0.95, abs=4 * np.sqrt(0.95 * 0.05 / runs) + 0.01)


def covariance(recall: Floats, fpr: Floats, ratio: Floats, p: float) -> Floats:
    """The delta method at pairs of levels: shares, order statistics, counts of negatives.

    The three unknowns are independent, and precision is a function of p and of alpha.
    """
    q = 1 - p
    center = p * recall / (p * recall + q * fpr)
    by_share = center**2 * fpr / (p**2 * recall)
    by_rate = center**2 * q / (p * recall)
    low, high = np.minimum.outer(recall, recall), np.maximum.outer(recall, recall)
    rate_low, rate_high = np.minimum.outer(fpr, fpr), np.maximum.outer(fpr, fpr)
    rates = np.outer(ratio, ratio) * low * (1 - high) / p + rate_low * (1 - rate_high) / q
    return p * q * np.outer(by_share, by_share) + np.outer(by_rate, by_rate) * rates


@pytest.mark.parametrize(("mu", "p"), [(1.0, 0.3), (2.0, 0.02)])
def test_the_covariance_of_the_process(mu: float, p: float) -> None:
    alpha, ratio = truth(mu)
    draws = pr_limit_process(LEVELS, alpha, ratio, p, size=60_000, rng=4)
    want = covariance(LEVELS, alpha, ratio, p)
    assert np.diag(want) == pytest.approx(pr_asymptotic_variance(LEVELS, alpha, ratio, p))
    scale = np.sqrt(np.diag(want))
    found = np.cov(draws.T) / np.outer(scale, scale)
    # Five standard errors of a variance or a correlation.
    assert found == pytest.approx(want / np.outer(scale, scale), abs=5 * np.sqrt(2 / 60_000))


@pytest.mark.slow
def test_the_covariance_of_simulated_curves() -> None:
    mu, p, n, samples = 1.0, 0.2, 4000, 2000
    rng = np.random.default_rng(8)
    curves = np.empty((samples, LEVELS.size))
    for curve in curves:
        n_pos = rng.binomial(n, p)
        curve[:] = pr_curve(rng.normal(mu, 1, n_pos), rng.normal(0, 1, n - n_pos), LEVELS)
    want = covariance(LEVELS, *truth(mu), p)
    scale = np.sqrt(np.diag(want))
    found = n * np.cov(curves.T) / np.outer(scale, scale)
    assert found == pytest.approx(want / np.outer(scale, scale), abs=5 * np.sqrt(2 / samples))


def test_the_printed_coefficient_is_ten_times_too_large() -> None:
    # Theorem 1 has alpha_p / p before alpha W; eq. (9) and the proof of Theorem 2 have
    # alpha_p / sqrt(p).
    p, alpha, beta = 0.1, 0.05, 0.5
    precision = p * beta / (p * beta + (1 - p) * alpha)
    factor = precision**4 / beta**2 * alpha**2 * (1 - p) / p**2
    variances = factor / p**2, factor / p
    # The first part alone: no density ratio, and what the bridge of the negatives adds is taken off.
    rest = precision**4 / beta**2 * (1 - p) / p**2 * alpha * (1 - alpha)
    assert pr_asymptotic_variance(beta, alpha, 0.0, p) - rest == pytest.approx(variances[1])
    assert variances == pytest.approx((6.906, 0.6906), rel=1e-3)


def data(seed: int = 3) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    return rng.normal(1, 1, 200), rng.normal(0, 1, 600)


def test_one_level_is_the_interval() -> None:
    for level in (0.3, 0.7):
        band = pr_asymptotic_band(*data(), [level], n_resamples=200_000, rng=1)
        single = pr_asymptotic_interval(*data(), [level])
        for ours, theirs in zip(band, single, strict=True):
            assert ours == pytest.approx(theirs, abs=2e-3)


def test_the_shape_of_the_bands() -> None:
    levels = np.linspace(0.2, 0.9, 15)
    options = {"n_resamples": 5000, "rng": 2}
    ball = pr_asymptotic_band(*data(), levels, kind="sup", **options)
    assert ball.high - ball.precision == pytest.approx(ball.precision - ball.low)
    assert np.ptp(ball.high - ball.low) < 1e-12
    band = pr_asymptotic_band(*data(), levels, **options)
    single = pr_asymptotic_interval(*data(), levels)
    # On the logit scale the band is a multiple of the interval.
    odds = [np.log(end / (1 - end)) for end in (band.low, band.high, single.low, single.high)]
    multiple = (odds[1] - odds[0]) / (odds[3] - odds[2])
    assert np.ptp(multiple) < 1e-9
    # More than at one level, less than Bonferroni for all of them.
    assert 1 < multiple[0] < ndtri(1 - 0.025 / levels.size) / ndtri(0.975)
    again = pr_asymptotic_band(*data(), levels, **options)
    assert (again.low == band.low).all()
    lower = pr_asymptotic_band(*data(), levels, confidence_level=0.5, **options)
    assert (lower.low > band.low).all()


def test_levels_without_a_band() -> None:
    scores = [5, 4, 2, 1, -np.inf], [3, 0, 0.5]
    for kind, want in (("studentized", [True, False, True]), ("sup", [False, False, True])):
        band = pr_asymptotic_band(*scores, [0.4, 0.6, 0.9], kind=kind, rng=1)
        assert np.isnan(band.low).tolist() == np.isnan(band.high).tolist() == want
        assert band.precision.tolist() == [1, 0.75, 0]
    nowhere = pr_asymptotic_band([-np.inf], [1.0], [0.5], rng=1)
    assert np.isnan(nowhere.low).all()


@pytest.mark.slow
def test_coverage() -> None:
    mu, p, n, runs = 1.0, 0.3, 4000, 300
    levels = np.linspace(0.2, 0.8, 25)
    true = p * levels / (p * levels + (1 - p) * ndtr(ndtri(levels) - mu))
    rng = np.random.default_rng(11)
    covered = 0
    for _ in range(runs):
        n_pos = rng.binomial(n, p)
        scores = rng.normal(mu, 1, n_pos), rng.normal(0, 1, n - n_pos)
        band = pr_asymptotic_band(*scores, levels, n_resamples=500, rng=rng)
        covered += bool(((band.low <= true) & (true <= band.high)).all())
    assert covered / runs == pytest.approx(0.95, abs=0.05)


test_refusals = refusals(
    {
        "`fpr` must lie between 0 and 1; got 1.1.": lambda: pr_asymptotic_variance(
            0.5, 1.1, 1, 0.5
        ),
        "`density_ratio` must be >= 0; got -1.0.": lambda: pr_asymptotic_variance(
            0.5, 0.1, -1, 0.5
        ),
        "`prevalence` must be > 0 and < 1; got 0.0.": lambda: pr_asymptotic_variance(
            0.5, 0.1, 1, [0.5, 0]
        ),
        "`recall`, `fpr`, `density_ratio` and `prevalence` must broadcast together; got shapes (2,) and (3,) and ().": lambda: (
            pr_asymptotic_variance([0.5, 0.6], [0.1, 0.2, 0.3], 1, 0.5)
        ),
        "`fpr` must not fall; got [0.3, 0.1].": lambda: pr_limit_process(
            [0.2, 0.5], [0.3, 0.1], 1, 0.5
        ),
        "`density_ratio` must be >= 0; got nan.": lambda: pr_limit_process(
            [0.2, 0.5], 0.1, [1, np.nan], 0.5
        ),
        "`kind` must be one of 'studentized', 'sup'; got 'ball'.": lambda: pr_asymptotic_band(
            [1.0], [0.0], [0.5], kind="ball"
        ),
        "`negatives` must hold at least one score, or `n_neg` exceed 0; got none.": lambda: (
            pr_asymptotic_band([1.0], [], [0.5])
        ),
    }
)
