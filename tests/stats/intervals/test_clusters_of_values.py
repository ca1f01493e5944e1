"""Means of values in clusters: the formula, other programs, and coverage."""

from math import sqrt
from typing import Any

import numpy as np
import pytest
import scipy.stats

from prframe.errors import PrframeError
from prframe.stats import mean_interval
from prframe.stats.intervals import Confidence
from prframe.stats.intervals.ends import logit_interval

UNIT = Confidence(0.95, limits=(0.0, 1.0))
RNG = np.random.default_rng(8)
SIZES = [1, 4, 2, 7, 3, 3, 5, 1]
CLUSTER = np.repeat(list("hbdacgef"), SIZES)
VALUES = np.clip(np.repeat(RNG.uniform(0.2, 0.8, 8), SIZES) + RNG.normal(0, 0.1, 26), 0, 1)


def by_loops(values: Any, cluster: Any) -> tuple[float, float]:
    """Return the mean and its standard error, written out."""
    n, clusters = len(values), sorted(set(cluster))
    mean = sum(values) / n
    total = 0.0
    for name in clusters:
        members = [value for value, of in zip(values, cluster, strict=True) if of == name]
        total += (sum(members) - len(members) * mean) ** 2
    c = len(clusters)
    return mean, sqrt(c / (c - 1) * total) / n


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize("method", ["t", "logit"])
def test_the_definition(method: str, alternative: Any) -> None:
    confidence = Confidence(0.9, alternative)
    found = mean_interval(VALUES, method, confidence, cluster=CLUSTER)
    mean, error = by_loops(VALUES, CLUSTER)
    assert found.estimate == pytest.approx(mean, rel=1e-12)
    assert found.std_error == pytest.approx(error, rel=1e-12)
    if method == "logit":
        ends = logit_interval(mean, error, confidence, df=len(SIZES) - 1)
    else:
        q = scipy.stats.t.ppf(0.95 if alternative == "two-sided" else 0.9, len(SIZES) - 1)
        ends = confidence.ends(mean - q * error, mean + q * error)
    assert (found.low, found.high) == pytest.approx(ends, rel=1e-12)


def test_refusals() -> None:
    with pytest.raises(PrframeError, match=r"one entry per item, 2; got shape \(1,\)"):
        mean_interval([0.1, 0.2], cluster=["a"])
    with pytest.raises(PrframeError, match=r"is for folds.* give one of them"):
        mean_interval([0.1, 0.2], test_train_ratio=0.1, cluster=["a", "b"])


def coverage(clusters: int, samples: int, method: str, *, even: bool, clustered: bool) -> float:
    """Return how often the mean is covered; half of the variance of values is in common.

    Clusters have four values each, or one to seven.
    """
    rng = np.random.default_rng(clusters)
    covered = 0
    for _ in range(samples):
        sizes = np.full(clusters, 4) if even else rng.integers(1, 8, clusters)
        names = np.repeat(np.arange(clusters), sizes)
        noise = rng.normal(size=clusters)[names] + rng.normal(size=names.size)
        values = scipy.stats.norm.cdf(0.8 + noise)
        found = mean_interval(values, method, UNIT, cluster=names if clustered else None)
        # The mean of the normal distribution function of values whose variance is 2.
        covered += found.low <= scipy.stats.norm.cdf(0.8 / sqrt(3)) <= found.high
    return covered / samples


@pytest.mark.slow
@pytest.mark.parametrize("method", ["t", "logit", "hall"])
@pytest.mark.parametrize("clusters", [15, 30])
def test_clusters_are_covered_where_values_are_not(clusters: int, method: str) -> None:
    """Of 2,000 samples 3 standard errors are .015, and .01 more where sizes differ."""
    for even, tolerance in ((True, 0.015), (False, 0.025)):
        found = coverage(clusters, 2000, method, even=even, clustered=True)
        assert found == pytest.approx(0.95, abs=tolerance)
        assert coverage(clusters, 400, method, even=even, clustered=False) < 0.85


@pytest.mark.parametrize("unit", [1e-90, 1e120])
def test_halls_interval_has_the_unit_of_the_values(unit: float) -> None:
    values = np.array([0.1, 0.2, 0.2, 0.9, 0.3])
    plain, scaled = (mean_interval(values * by, "hall") for by in (1.0, unit))
    assert scaled.low / unit == pytest.approx(plain.low)
    assert scaled.high / unit == pytest.approx(plain.high)


@pytest.mark.parametrize("values", [[1 + 1e-12, 0.5, 0.7], [-1e-12, 0.5, 0.3]])
def test_values_may_be_beyond_the_limits_by_rounding(values: list[float]) -> None:
    near, found = (mean_interval(some, "logit") for some in (np.clip(values, 0, 1), values))
    assert found.low == pytest.approx(near.low)
    assert found.high == pytest.approx(near.high)
    assert mean_interval([1 + 1e-12, 1.0, 1 + 1e-12], "logit").estimate == 1
