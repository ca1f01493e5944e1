"""Bands about the mean of curves: against a naive definition, laws and simulated coverage."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit, logit

from prframe.stats.intervals import Confidence, mean_band
from prframe.stats.rankings import multiplicities

Floats = NDArray[np.float64]
UNIT = Confidence(limits=(0, 1))
DIFFERENCE = Confidence(limits=(-1, 1))


def drawn(n: int, rng: np.random.Generator) -> Floats:
    """Curves that begin at 1 and fall, with levels at which some of them are 0."""
    falls = rng.beta(6, 1, size=(n, 12)) * (rng.random((n, 12)) < 0.97)
    return np.hstack([np.ones((n, 1)), falls.cumprod(axis=1)])


def naive_error(clusters: list[Floats]) -> float:
    """The standard error of the mean of values in clusters, which are drawn."""
    c, n = len(clusters), sum(len(values) for values in clusters)
    mean = sum(values.sum() for values in clusters) / n
    squares = sum((values.sum() - len(values) * mean) ** 2 for values in clusters)
    return float(np.sqrt(c / (c - 1) * squares) / n)


def naive(
    curves: Floats,
    level: float,
    n_resamples: int,
    seed: int,
    scale: str,
    cluster: list[int] | None = None,
) -> Floats:
    """Both ends of the band, resample by resample and level by level."""
    n, n_levels = curves.shape
    of_curve = np.arange(n) if cluster is None else np.array(cluster)
    units = [np.flatnonzero(of_curve == unit) for unit in np.unique(of_curve)]
    forth = logit if scale == "logit" else np.positive
    back = expit if scale == "logit" else np.positive

    def slope(p: float) -> float:
        return 1 / (p * (1 - p)) if scale == "logit" else 1.0

    used = [j for j in range(n_levels) if np.ptp(curves[:, j]) > 0]
    mean = curves.mean(axis=0)
    spread = [naive_error([curves[unit, j] for unit in units]) for j in range(n_levels)]
    largest = []
    for counts in multiplicities(len(units), n_resamples, np.random.default_rng(seed)):
        deviations = []
        for j in used:
            resample = [curves[units[i], j] for i in np.repeat(np.arange(len(units)), counts)]
            new, error = np.concatenate(resample).mean(), naive_error(resample)
            if scale == "logit" and not 1e-12 < new < 1 - 1e-12:
                continue
            error = max(error * slope(new), 0.3 * spread[j] * slope(mean[j]))
            deviations.append(abs(forth(new) - forth(mean[j])) / error)
        largest.append(max(deviations))
    factor = sorted(largest)[int(np.ceil(level * (n_resamples + 1) - 1e-9)) - 1]
    ends = np.array([mean, mean])
    for j in used:
        middle, reach = forth(mean[j]), factor * spread[j] * slope(mean[j])
        ends[:, j] = back(middle - reach), back(middle + reach)
    return ends


@pytest.mark.parametrize(
    "sizes", [[1] * 2, [1] * 9, [1] * 30, [3, 4], [1, 5, 2, 2, 7, 1, 1, 4], [2] * 12]
)
def test_equals_the_naive_band(sizes: list[int]) -> None:
    rng = np.random.default_rng(5)
    cluster = None
    if max(sizes) > 1:
        cluster = rng.permutation(np.repeat(np.arange(len(sizes)), sizes)).tolist()
    curves = drawn(sum(sizes), rng)
    differences = curves - drawn(sum(sizes), rng)
    for values, confidence, scale in ((curves, UNIT, "logit"), (differences, DIFFERENCE, "plain")):
        band = mean_band(values, confidence, 99, np.random.default_rng(7), cluster)
        np.testing.assert_array_equal(band.mean, values.mean(axis=0))
        ends = naive(values, 0.95, 99, 7, scale, cluster).clip(*confidence.limits)
        np.testing.assert_allclose([band.low, band.high], ends, rtol=1e-9, atol=1e-12)
