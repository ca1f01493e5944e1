"""Means of values in clusters: the formula, other programs, and coverage."""

from math import isnan, sqrt
from typing import Any

import numpy as np
import pytest
import scipy.stats

from prframe.errors import PrframeError
from prframe.stats import mean_interval
from prframe.stats.intervals import Confidence
from prframe.stats.intervals.ends import logit_interval

METHODS = ("t", "logit", "hall", "percentile", "bca")
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


@pytest.mark.slow  # Its import takes a second.
def test_statsmodels() -> None:
    api = pytest.importorskip("statsmodels.api", reason="compares with statsmodels")
    groups = np.unique(CLUSTER, return_inverse=True)[1]
    fitted = api.OLS(VALUES, np.ones(VALUES.size)).fit(
        cov_type="cluster", cov_kwds={"groups": groups}, use_t=True
    )
    found = mean_interval(VALUES, cluster=CLUSTER)
    assert found.std_error == pytest.approx(fitted.bse[0], rel=1e-10)
    assert (found.low, found.high) == pytest.approx(tuple(fitted.conf_int()[0]), rel=1e-10)


@pytest.mark.parametrize("method", METHODS)
def test_clusters_of_one_value_are_none(method: str) -> None:
    alone = mean_interval(VALUES, method, UNIT, rng=1)
    names = RNG.permutation(VALUES.size)
    assert mean_interval(VALUES, method, UNIT, rng=1, cluster=names) == alone


@pytest.mark.parametrize("method", METHODS)
def test_clusters_of_one_size_are_enclosed_by_their_means(method: str) -> None:
    table = RNG.uniform(size=(9, 4))
    names = np.repeat(np.arange(9), 4)
    found = mean_interval(table.ravel(), method, UNIT, rng=1, cluster=names)
    expected = mean_interval(table.mean(axis=1), method, UNIT, rng=1)
    for name in ("estimate", "std_error", "low", "high"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_a_value_for_each_of_many_does_not_make_clusters_more(method: str) -> None:
    """Clusters whose values are all the same are as many as they were, of twice the size."""
    found = mean_interval(VALUES, method, UNIT, rng=1, cluster=CLUSTER)
    twice = mean_interval(np.tile(VALUES, 2), method, UNIT, rng=1, cluster=np.tile(CLUSTER, 2))
    for name in ("estimate", "std_error", "low", "high"):
        assert getattr(twice, name) == pytest.approx(getattr(found, name), rel=1e-10)


@pytest.mark.parametrize("method", METHODS)
def test_a_single_cluster_and_clusters_of_one_mean_have_no_interval(method: str) -> None:
    for values, cluster in (([0.2, 0.4, 0.6], "aaa"), ([0.2, 0.6, 0.4, 0.3, 0.5], "aabcc")):
        found = mean_interval(values, method, UNIT, cluster=list(cluster))
        assert found.estimate == pytest.approx(0.4)
        assert isnan(found.std_error)
        assert isnan(found.low)
        assert isnan(found.high)


@pytest.mark.parametrize("end", [0.0, 1.0])
@pytest.mark.parametrize("method", ["logit", "hall"])
def test_each_cluster_is_one_trial(method: str, end: float) -> None:
    found = mean_interval([end] * 9, method, UNIT, cluster=list("aaabbbccc"))
    expected = mean_interval([end] * 3, method, UNIT)
    assert (found.low, found.high) == (expected.low, expected.high)
    assert found.high - found.low > 0.4


def test_resampled_means_are_those_of_whole_clusters() -> None:
    """The mean of 2 values or of 1, drawn twice: four resamples that are equally likely."""
    values, cluster = [0.1, 0.2, 0.9], [1, 1, 2]
    found = mean_interval(values, "percentile", n_resamples=40_000, rng=1, cluster=cluster)
    drawn = np.array([0.15, 0.4, 0.4, 0.9])
    assert found.std_error == pytest.approx(drawn.std(), rel=0.02)
    assert (found.low, found.high) == pytest.approx((0.15, 0.9))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: mean_interval([0.1, 0.2], cluster=["a"]),
            "`cluster` must have one entry per item, 2; got shape (1,).",
        ),
        (
            lambda: mean_interval([0.1, 0.2], test_train_ratio=0.1, cluster=["a", "b"]),
            "`test_train_ratio` is for folds, whose values all depend on each other, and "
            "`cluster` for clusters that do not; give one of them.",
        ),
    ],
)
def test_refusals(call: Any, message: str) -> None:
    with pytest.raises(PrframeError) as caught:
        call()
    assert str(caught.value) == message


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
