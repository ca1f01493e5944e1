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
