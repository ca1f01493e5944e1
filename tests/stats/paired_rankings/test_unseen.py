"""Intervals of differences of two rankings that have room for items which a sample lacks."""

from statistics import NormalDist

import numpy as np
import pytest

from prframe.stats import (
    AveragePrecision,
    CellStatistic,
    RankingComparison,
    RocArea,
    compare_rankings,
)
from prframe.stats.rankings import SetStatistic

AP, AUC = AveragePrecision(), RocArea()


def models(n: int, share: float, apart: tuple[float, float], seed: int) -> tuple[np.ndarray, ...]:
    """Draw labels and scores of two models whose errors are correlated by one half."""
    rng = np.random.default_rng(seed)
    label = rng.random(n) < share
    common, *own = rng.normal(size=(3, n))
    a, b = (np.sqrt(0.5) * (common + one) + by * label for one, by in zip(own, apart, strict=True))
    return a, b, label


def test_clusters_have_room_too_and_one_cluster_has_no_interval() -> None:
    a, b, label = models(200, 0.3, (5, 4), 3)
    cluster = np.arange(200) // 4
    options = {"n_resamples": 200, "rng": 1}
    plain, found = (
        compare_rankings(a, b, label, AP, cluster=cluster, interval=interval, **options)
        for interval in ("percentile", "auto")
    )
    assert found.p_value == plain.p_value
    assert found.conf_low < plain.conf_low <= plain.conf_high < found.conf_high
    alone = compare_rankings(a, b, label, AP, cluster=np.zeros(200), **options)
    assert np.isnan(alone[3:5]).all()


def test_delong_has_the_same_interval_in_every_call() -> None:
    a, b, label = models(200, 0.1, (4, 3), 5)
    ends = {
        compare_rankings(a, b, label, AUC, test="delong", rng=seed)[3:5] for seed in (1, 2, None)
    }
    assert len(ends) == 1


def balanced(apart: float, threshold: float = 2.0) -> float:
    """Return the balanced accuracy of normal scores above a threshold."""
    law = NormalDist()
    return (law.cdf(apart - threshold) + law.cdf(threshold)) / 2


def area(apart: float) -> float:
    """Return AUC of normal scores."""
    return NormalDist().cdf(apart / 2**0.5)


def above(scores: np.ndarray, threshold: float = 2.0) -> np.ndarray:
    """Retrieve what scores above the threshold."""
    return np.where(scores >= threshold, scores, -np.inf)


def compared(
    setting: tuple[int, float, tuple[float, float]], metric: CellStatistic, seed: int
) -> RankingComparison:
    """Compare two models in a sample."""
    a, b, label = models(*setting, seed)
    if isinstance(metric, SetStatistic):
        a, b = above(a), above(b)
    return compare_rankings(a, b, label, metric, test="bootstrap", n_resamples=400, rng=seed)


@pytest.mark.slow
@pytest.mark.parametrize(
    "setting", [(40, 0.5, (3, 2)), (150, 0.1, (3, 2)), (200, 0.1, (5, 4)), (2000, 0.01, (5, 4))]
)
@pytest.mark.parametrize(
    "metric", [AUC, SetStatistic("balanced accuracy")], ids=["AUC", "BalancedAccuracy"]
)
def test_unequal_and_nearly_perfect_models_are_covered(
    setting: tuple[int, float, tuple[float, float]], metric: CellStatistic
) -> None:
    samples, missed = 200, np.zeros(2)
    value = balanced if isinstance(metric, SetStatistic) else area
    true = value(setting[2][0]) - value(setting[2][1])
    for seed in range(samples):
        found = compared(setting, metric, seed)
        missed += found.conf_low > true, found.conf_high < true
    error = (0.95 * 0.05 / samples) ** 0.5
    assert missed.sum() / samples <= 0.05 + 3 * error
