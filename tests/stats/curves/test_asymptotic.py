"""The asymptotic variance of precision at a recall, against simulated samples."""

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri
from scipy.stats import norm

import prframe
from prframe.stats import pr_asymptotic_interval, pr_asymptotic_variance

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
