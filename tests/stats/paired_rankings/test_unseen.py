"""Intervals of differences of two rankings that have room for items which a sample lacks."""

import numpy as np

from prframe.stats import (
    AveragePrecision,
    RocArea,
    compare_rankings,
)

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
