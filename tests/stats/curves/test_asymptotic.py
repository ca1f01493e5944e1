"""The asymptotic variance of precision at a recall, against simulated samples."""

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtr, ndtri
from scipy.stats import norm

import prframe
from prframe.stats import pr_asymptotic_interval, pr_asymptotic_variance, pr_curve
from prframe.stats.curves.asymptotic import density_ratio
from prframe.stats.curves.kernels import class_kernels
from prframe.stats.rankings.classes import two_classes

LEVELS = np.array([0.2, 0.5, 0.8])
N = 4000
SAMPLES = 6000
SETTINGS = [(1.0, 0.3), (1.0, 0.05), (1.5, 0.1)]


def truth(mu: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """False positive rate and density ratio of N(0, 1) against N(mu, 1)."""
    threshold = mu - ndtri(LEVELS)
    return ndtr(-threshold), norm.pdf(threshold) / norm.pdf(threshold - mu)


@cache
def simulated_variance(mu: float, p: float) -> NDArray[np.float64]:
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


def printed(mu: float, p: float) -> NDArray[np.float64]:
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


def test_broadcasting() -> None:
    alpha, ratio = truth(1.0)
    found = pr_asymptotic_variance(LEVELS, alpha, ratio, [[0.3], [0.05]])
    assert found.shape == (2, 3)
    assert found[1] == pytest.approx(pr_asymptotic_variance(LEVELS, alpha, ratio, 0.05))
    assert pr_asymptotic_variance(0.5, 0.0, 0.0, 0.5) == 0


def test_the_density_ratio_is_the_slope_of_the_smoothed_rate() -> None:
    rng = np.random.default_rng(4)
    some, others = two_classes(rng.normal(1, 1, 150), rng.normal(0, 1, 180), None, None)
    kernels = class_kernels(some, others, "scott")
    step = 1e-5
    rate = [kernels[1].sf(kernels[0].isf(LEVELS + side)) for side in (-step, step)]
    slope = (rate[1] - rate[0]) / (2 * step)
    assert density_ratio(*kernels, LEVELS) == pytest.approx(slope, rel=1e-6)


def test_the_interval_by_the_delta_method() -> None:
    rng = np.random.default_rng(9)
    positives, negatives = rng.normal(1, 1, 400), rng.normal(0, 1, 1600)
    found = pr_asymptotic_interval(positives, negatives, LEVELS, confidence_level=0.9)
    center = pr_curve(positives, negatives, LEVELS)
    alpha = 400 * LEVELS * (1 / center - 1) / 1600
    some, others = two_classes(positives, negatives, None, None)
    ratio = density_ratio(*class_kernels(some, others, "scott"), LEVELS)
    # The variance of log(p/(1-p)) + log(recall/fpr), term by term.
    p = 0.2
    terms = 1 / (p * (1 - p)) + LEVELS * (1 - LEVELS) * (ratio / alpha) ** 2 / p
    terms += (1 - alpha) / ((1 - p) * alpha)
    half = norm.isf(0.05) * np.sqrt(terms / 2000)
    assert found.precision.tolist() == center.tolist()
    assert found.low == pytest.approx(expit(logit(center) - half), rel=1e-9)
    assert found.high == pytest.approx(expit(logit(center) + half), rel=1e-9)


def test_no_interval_where_precision_is_one_or_zero() -> None:
    found = pr_asymptotic_interval([5, 4, 2, 1, -np.inf], [3, 0, 0.5], [0.4, 0.6, 0.9])
    assert found.precision.tolist() == [1, 0.75, 0]
    assert np.isnan(found.low).tolist() == np.isnan(found.high).tolist() == [True, False, True]
    # Nor where positives leave a gap that their kernels do not bridge.
    found = pr_asymptotic_interval([0.0, 0.0, 9.0, 9.0], [10.0, 5.0], [0.25, 0.5], bandwidth=0.01)
    assert np.isnan(found.low).tolist() == [False, True]


@pytest.mark.slow
@pytest.mark.parametrize(("mu", "p", "n"), [(1.0, 0.3, 1000), (1.0, 0.05, 2000)])
def test_coverage(mu: float, p: float, n: int) -> None:
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 0.1, 1, 0.5), "`recall` must be > 0 and < 1; got 1.0."),
        ((0.5, 1.1, 1, 0.5), "`fpr` must lie between 0 and 1; got 1.1."),
        ((0.5, 0.1, -1, 0.5), "`density_ratio` must be >= 0; got -1.0."),
        ((0.5, 0.1, 1, [0.5, 0]), "`prevalence` must be > 0 and < 1; got 0.0."),
        (([0.5, 0.6], [0.1, 0.2, 0.3], 1, 0.5), "`recall`, `fpr`, `density_ratio` and `prevalence` must broadcast together; got shapes (2,) and (3,) and ()."),
    ],
)  # fmt: skip
def test_refusals(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(prframe.PrframeError) as caught:
        pr_asymptotic_variance(*arguments)
    assert str(caught.value) == message


def test_interval_refusals() -> None:
    with pytest.raises(prframe.PrframeError, match="`confidence_level` must be a number > 0"):
        pr_asymptotic_interval([1.0], [0.0], 0.5, confidence_level=1)
    with pytest.raises(prframe.PrframeError, match="`recall` must be > 0 and < 1"):
        pr_asymptotic_interval([1.0], [0.0], 1.0)
