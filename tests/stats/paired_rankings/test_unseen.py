"""Intervals of differences of two rankings that have room for items which a sample lacks."""

from statistics import NormalDist

import numpy as np
import pytest

from prframe.stats import (
    AveragePrecision,
    CellStatistic,
    Confidence,
    PrecisionAt,
    RankingComparison,
    RocArea,
    compare_rankings,
)
from prframe.stats.intervals import IntervalEstimate
from prframe.stats.paired_rankings.unseen import (
    Room,
    correlation_of,
    correlation_of_decisions,
    recovered_interval,
)
from prframe.stats.rankings import SetBalancedAccuracy

AP, AUC = AveragePrecision(), RocArea()
METRICS = [AP, AUC, PrecisionAt(20)]


def models(n: int, share: float, apart: tuple[float, float], seed: int) -> tuple[np.ndarray, ...]:
    """Draw labels and scores of two models whose errors are correlated by one half."""
    rng = np.random.default_rng(seed)
    label = rng.random(n) < share
    common, *own = rng.normal(size=(3, n))
    a, b = (np.sqrt(0.5) * (common + one) + by * label for one, by in zip(own, apart, strict=True))
    return a, b, label


def single(estimate: float, low: float, high: float) -> IntervalEstimate:
    """Return an interval of one ranking."""
    return IntervalEstimate(estimate, np.nan, low, high, "logit-t")


def test_independent_intervals_are_put_together_by_their_squares() -> None:
    low, high = recovered_interval(single(0.9, 0.6, 0.94), single(0.5, 0.38, 0.9), 0.0)
    assert low == pytest.approx(0.4 - np.hypot(0.3, 0.4))
    assert high == pytest.approx(0.4 + np.hypot(0.04, 0.12))


def test_symmetric_intervals_have_that_of_the_recovered_variances() -> None:
    for r in (-0.4, 0.0, 0.7):
        ends = recovered_interval(single(0.9, 0.8, 1.0), single(0.5, 0.2, 0.8), r)
        reach = (0.1**2 + 0.3**2 - 2 * r * 0.1 * 0.3) ** 0.5
        assert ends == pytest.approx((0.4 - reach, 0.4 + reach))


def test_errors_in_common_leave_the_difference_of_their_reach() -> None:
    ends = recovered_interval(single(0.9, 0.6, 0.94), single(0.5, 0.38, 0.9), 1.0)
    assert ends == pytest.approx((0.4 - (0.4 - 0.04), 0.4))
    same = single(0.9, 0.6, 0.94)
    assert recovered_interval(same, same, 1.0) == (0.0, 0.0)


def test_swapped_models_mirror_the_interval() -> None:
    first, second = single(0.9, 0.6, 0.94), single(0.5, 0.38, 0.9)
    low, high = recovered_interval(first, second, 0.3)
    assert recovered_interval(second, first, 0.3) == pytest.approx((-high, -low))


def test_a_metric_without_an_interval_counts_as_known() -> None:
    low, high = recovered_interval(single(0.9, 0.6, 0.94), single(0.5, np.nan, np.nan), 0.3)
    assert low == pytest.approx(0.4 - (0.7 * 0.3**2 + 0.3 * 0.3**2) ** 0.5)
    assert high == pytest.approx(0.44)


def test_correlation_of_resamples() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=(2, 50))
    assert correlation_of(first, second) == pytest.approx(np.corrcoef(first, second)[0, 1])
    # Nothing is known of a model that is perfect in all resamples, nor of models that agree in all.
    assert correlation_of(np.ones(50), second) == correlation_of(np.ones(50), np.ones(50)) == 0.0
    assert correlation_of(first, first + 1) == 0.0
    assert correlation_of(np.full(50, np.nan), second) == 0.0
    lacking = np.where(np.arange(50) < 9, np.nan, first)
    expected = np.corrcoef(first[9:], second[9:])[0, 1]
    assert correlation_of(lacking, second) == pytest.approx(expected)


def test_intervals_are_only_extended() -> None:
    first, second = single(0.9, 0.6, 0.94), single(0.5, 0.38, 0.9)
    room, confidence = Room([first], [second], 10**18), Confidence(limits=(-1.0, 1.0))
    low, high = recovered_interval(first, second, 0.3)
    assert room.around(0, (0.2, 0.45), 0.3, confidence) == pytest.approx((low, high))
    assert room.around(0, (-0.6, 0.45), 0.3, confidence) == pytest.approx((-0.6, high))
    assert Room([first], [None], 20).around(0, (0.2, 0.45), 0.3, confidence) == (0.2, 0.45)
    assert np.isnan(room.around(0, (np.nan, np.nan), 0.3, confidence)).all()
    upper = room.around(0, (-1.0, 0.45), 0.3, Confidence(0.975, "less", (-1.0, 1.0)))
    assert upper == pytest.approx((-1.0, high))


def test_few_items_make_a_correlation_one_standard_error_smaller() -> None:
    first, second, confidence = single(0.9, 0.8, 1.0), single(0.5, 0.4, 0.6), Confidence()
    for correlation, taken in (
        (0.7, np.tanh(np.arctanh(0.7) - 0.2)),
        (0.1, 0.0),
        (-0.4, -0.4),
    ):
        ends = Room([first], [second], 25).around(0, (0.4, 0.4), correlation, confidence)
        assert ends == pytest.approx(recovered_interval(first, second, taken))
    low, high = Room([first], [first], 25).around(0, (0.0, 0.0), 1.0, confidence)
    assert (low, high) == pytest.approx((0, 0), abs=1e-6)


@pytest.mark.parametrize("test", ["bootstrap", "randomization", "delong"])
@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_swapped_rankings_mirror_the_interval_which_holds_the_difference(
    test: str, alternative: str
) -> None:
    a, b, label = models(200, 0.1, (4, 3), 1)
    mirrored = {"less": "greater", "greater": "less"}.get(alternative, alternative)
    options = {"test": test, "n_resamples": 200, "rng": 1}
    metrics = [AUC] if test == "delong" else METRICS
    found = compare_rankings(a, b, label, metrics, alternative=alternative, **options)
    swapped = compare_rankings(b, a, label, metrics, alternative=mirrored, **options)
    for one, other in zip(found, swapped, strict=True):
        assert one.conf_low <= one.difference <= one.conf_high
        ends = other.conf_high, other.conf_low
        assert (one.conf_low, one.conf_high) == pytest.approx(tuple(-end for end in ends))


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


def test_two_perfect_models_may_differ_unless_they_are_one() -> None:
    label = np.arange(60) < 20
    rng = np.random.default_rng(1)
    a, b = rng.random((2, 60)) + 2 * label
    for metric in METRICS:
        found = compare_rankings(a, b, label, metric, n_resamples=100, rng=1)
        assert found.difference == 0
        assert found.conf_low == -found.conf_high < 0
        same = compare_rankings(a, np.exp(a), label, metric, n_resamples=100, rng=1)
        assert (same.conf_low, same.conf_high) == (0, 0)


def test_delong_has_the_same_interval_in_every_call() -> None:
    a, b, label = models(200, 0.1, (4, 3), 5)
    ends = {
        compare_rankings(a, b, label, AUC, test="delong", rng=seed)[3:5] for seed in (1, 2, None)
    }
    assert len(ends) == 1


def test_levels_below_one_half_of_one_side_have_the_interval_of_resamples() -> None:
    a, b, label = models(100, 0.3, (2, 1), 4)
    options = {"alternative": "less", "confidence_level": 0.4, "n_resamples": 200, "rng": 1}
    plain, found = (
        compare_rankings(a, b, label, AUC, interval=interval, **options)
        for interval in ("percentile", "auto")
    )
    assert found == plain


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
    if isinstance(metric, SetBalancedAccuracy):
        a, b = above(a), above(b)
    return compare_rankings(a, b, label, metric, test="bootstrap", n_resamples=400, rng=seed)


@pytest.mark.slow
@pytest.mark.parametrize(
    "setting", [(40, 0.5, (3, 2)), (150, 0.1, (3, 2)), (200, 0.1, (5, 4)), (2000, 0.01, (5, 4))]
)
@pytest.mark.parametrize("metric", [AUC, SetBalancedAccuracy()], ids=["AUC", "BalancedAccuracy"])
def test_unequal_and_nearly_perfect_models_are_covered(
    setting: tuple[int, float, tuple[float, float]], metric: CellStatistic
) -> None:
    samples, missed = 200, np.zeros(2)
    value = balanced if isinstance(metric, SetBalancedAccuracy) else area
    true = value(setting[2][0]) - value(setting[2][1])
    for seed in range(samples):
        found = compared(setting, metric, seed)
        missed += found.conf_low > true, found.conf_high < true
    error = (0.95 * 0.05 / samples) ** 0.5
    assert missed.sum() / samples <= 0.05 + 3 * error


def test_decisions_that_agree_are_correlated_by_what_an_item_more_leaves() -> None:
    label = np.repeat([True, False], [20, 60])
    passes = np.tile([True, False], 40)
    table = np.array([[10, 0.5], [0.5, 10]])
    phi = np.linalg.det(table) / np.sqrt(np.prod(table.sum(axis=0)) * np.prod(table.sum(axis=1)))
    assert correlation_of_decisions(passes, label) == pytest.approx(phi)
    for nothing in (np.zeros(80, dtype=bool), np.ones(80, dtype=bool), label):
        assert correlation_of_decisions(nothing, label) == 0


def test_a_metric_without_an_observation_leaves_the_difference_unknown() -> None:
    unknown = IntervalEstimate(np.nan, np.nan, np.nan, np.nan, "")
    room = Room([single(0.9, 0.6, 0.94)], [unknown], 20)
    assert np.isnan(room.around(0, (0.2, 0.45), 0.3, Confidence(limits=(-1.0, 1.0)))).all()
