"""Comparison of two models on the same items: against formulas, SciPy and simulation."""

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import average_precision_score

from prframe import PrframeError
from prframe.stats import (
    AveragePrecision,
    Confidence,
    RocArea,
    auc_covariance,
    compare_rankings,
    paired_rank_test,
)
from tests.refusals import refusals

AP, AUC = AveragePrecision(), RocArea()


def sample(n: int, seed: int, gap: float = 0.5) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw labels and scores of two models, the second one with more noise."""
    rng = np.random.default_rng(seed)
    label = rng.permutation(n) < 0.4 * n
    common = rng.normal(size=n) + label
    a, b = (np.round(common + s * rng.normal(size=n), 1) for s in (1, 1 + gap))
    return a, b, label


def psi(scores: np.ndarray, label: np.ndarray) -> np.ndarray:
    """Compare every positive with every negative."""
    pos, neg = scores[label, None], scores[~label]
    return (pos > neg) + (pos == neg) / 2


def delong(a: np.ndarray, b: np.ndarray, label: np.ndarray) -> tuple[float, float]:
    """Compute the difference of AUC and its standard error as the paper has them."""
    pairs = psi(a, label) - psi(b, label)
    parts = [pairs.mean(axis=axis) for axis in (1, 0)]
    return float(pairs.mean()), sum(part.var(ddof=1) / part.size for part in parts) ** 0.5


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_delong_by_its_formula(alternative: str) -> None:
    a, b, label = sample(80, 1)
    a[::9] = -np.inf
    found = compare_rankings(a, b, label, AUC, test="delong", alternative=alternative)
    difference, error = delong(a, b, label)
    tail = 0.025 if alternative == "two-sided" else 0.05
    reach, z = stats.norm.isf(tail) * error, difference / error
    low, high = difference - reach, difference + reach
    p = {"two-sided": 2 * stats.norm.sf(abs(z)), "less": stats.norm.cdf(z)}
    expected = (difference, z, p.get(alternative, stats.norm.sf(z)))
    assert (found.difference, *found[5:7]) == pytest.approx(expected)
    low = -np.inf if alternative == "less" else low
    high = np.inf if alternative == "greater" else high
    # The interval is extended to what those of both models leave room for, which is little here.
    assert found.conf_low <= low + 1e-12
    assert found.conf_high >= high - 1e-12
    assert found[3:5] == pytest.approx((low, high), abs=reach / 4)
    assert found.difference == found.value_a - found.value_b
    assert np.isnan(found.p_std_error)
    assert found.method == "delong"
    same = paired_rank_test(a, b, label, alternative=alternative)
    assert (found.statistic, found.p_value) == pytest.approx((same.z, same.p_value))
    assert found.difference == pytest.approx(same.difference / 0.6)


@pytest.mark.slow
def test_intervals_are_scipy_s() -> None:
    a, b, label = sample(60, 5)

    def difference(a: np.ndarray, b: np.ndarray, label: np.ndarray) -> float:
        return average_precision_score(label, a) - average_precision_score(label, b)

    expected = stats.bootstrap(
        (a, b, label),
        difference,
        paired=True,
        vectorized=False,
        n_resamples=2000,
        method="percentile",
        confidence_level=Confidence(0.95).expanded(24).level,
        random_state=1,
    ).confidence_interval
    found = compare_rankings(
        a, b, label, AP, test="bootstrap", interval="percentile", n_resamples=20_000, rng=2
    )
    # Of 2000 resamples SciPy's ends vary by as much with its seed.
    assert found[3:5] == pytest.approx(tuple(expected), abs=0.03)
    assert found.difference == pytest.approx(difference(a, b, label))
    assert found.method == "bootstrap"
    other = compare_rankings(a, b, label, AP, interval="percentile", n_resamples=20_000, rng=3)
    assert other[3:5] == pytest.approx(tuple(expected), abs=0.03)


@pytest.mark.nightly
@pytest.mark.parametrize(("n_pos", "n_neg"), [(15, 135), (20, 180), (10, 40), (30, 30)])
@pytest.mark.parametrize("metric", [AUC, AP], ids=["AUC", "AP"])
def test_intervals_cover_and_the_bootstrap_test_keeps_its_size_with_few_positives(
    n_pos: int, n_neg: int, metric: AveragePrecision | RocArea
) -> None:
    n, rejected, covered = 600, 0, 0
    label = np.arange(n_pos + n_neg) < n_pos
    for seed in range(n):
        rng = np.random.default_rng([n_pos, seed])
        common, *own = rng.normal(size=(3, label.size))
        a, b = np.sqrt(0.5) * common + np.sqrt(0.5) * np.stack(own) + 1.5 * label
        found = compare_rankings(a, b, label, metric, test="bootstrap", n_resamples=999, rng=rng)
        rejected += found.p_value <= 0.05
        covered += found.conf_low <= 0 <= found.conf_high
    assert rejected / n <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / n)
    assert covered / n >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / n)


RIGHT = {"score_a": [1, 2, 3], "score_b": [1, 3, 2], "label": [0, 0, 1], "metric": AP}
test_mistakes = refusals(
    {
        "`test` must be one of 'bootstrap', 'delong', 'randomization'; got "
        "'randomisation'. Did you mean 'randomization'?": {"test": "randomisation"},
        "`interval` must be one of 'auto', 'percentile'; got 'wald'.": {"interval": "wald"},
        "`n_resamples` must be a whole number >= 1; got 0.": {"n_resamples": 0},
        "test='delong' is not for AP; take 'randomization' or 'bootstrap'.": {"test": "delong"},
        "test='delong' has an interval of its own; leave out `interval`; got 'percentile'.": {
            "test": "delong",
            "metric": AUC,
            "interval": "percentile",
        },
        "`score_a`, `score_b` and `label` must be of one length >= 1; got shapes (2,), (3,) and "
        "(3,).": {"score_a": [1, 2]},
        "`score_b` must not be NaN: 1 of 3.": {"score_b": [1, np.nan, 2]},
        "DeLong's test needs two items with positives and two with negatives; got 1 and 2.": {
            "test": "delong",
            "metric": AUC,
        },
        "DeLong's test needs two clusters with positives and two with negatives; got 1 and 1.": {
            "test": "delong",
            "metric": AUC,
            "cluster": ["a", "a", "a"],
        },
        "`metric` must be one of the metrics of prframe.stats, AveragePrecision() for instance; got "
        "'AP'.": {"metric": "AP"},
    },
    lambda mistake: compare_rankings(**RIGHT | mistake),
)


def test_labels_of_another_length() -> None:
    with pytest.raises(PrframeError, match=r"per item, 3; got shape \(2,\)"):
        auc_covariance([[1, 2, 3]], [True, False])
