"""Comparison of two models on the same items: against formulas, SciPy and simulation."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import average_precision_score

from prframe import PrframeError
from prframe.stats import (
    AveragePrecision,
    Confidence,
    PrecisionAt,
    RankingComparison,
    RocArea,
    auc_covariance,
    compare_rankings,
    paired_rank_test,
    rank_covariance,
    ranking_levels,
)
from prframe.stats.paired_rankings import PairedRankings
from prframe.stats.rankings.evaluators import CellEvaluator

AP, AUC = AveragePrecision(), RocArea()
LEVELS = (0.05, 0.1, 0.2, 0.5)


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


def obuchowski(pairs: np.ndarray, label: np.ndarray, cluster: np.ndarray) -> float:
    """Compute the variance of an AUC of clustered data as the paper has it."""
    area, (n_pos, n_neg) = pairs.mean(), pairs.shape
    names = np.unique(cluster)
    pos = [(pairs.mean(1)[cluster[label] == one] - area).sum() for one in names]
    neg = [(pairs.mean(0)[cluster[~label] == one] - area).sum() for one in names]
    some_pos, some_neg = (np.unique(cluster[of]).size for of in (label, ~label))
    s10 = some_pos / ((some_pos - 1) * n_pos) * np.square(pos).sum()
    s01 = some_neg / ((some_neg - 1) * n_neg) * np.square(neg).sum()
    s11 = names.size / (names.size - 1) * np.dot(pos, neg)
    return s10 / n_pos + s01 / n_neg + 2 * s11 / (n_pos * n_neg)


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


def test_covariance_of_clustered_auc() -> None:
    a, b, label = sample(90, 2)
    scores, share = np.stack([a, b]), np.mean(~label)
    plain, levels = rank_covariance(scores, label), ranking_levels(scores)
    found = auc_covariance(levels, label)
    np.testing.assert_allclose(found.covariance, plain.covariance / share**2)
    cluster = np.random.default_rng(3).integers(0, 25, 90)
    found = auc_covariance(levels, label, [f"c{one}" for one in cluster])
    pairs = [psi(score, label) for score in scores]
    np.testing.assert_allclose(
        np.diag(found.covariance), [obuchowski(one, label, cluster) for one in pairs]
    )
    # The variance of the sum of both areas has the covariance in it.
    assert found.covariance.sum() == pytest.approx(obuchowski(sum(pairs), label, cluster))
    np.testing.assert_allclose(found.covariance, found.covariance.T)
    np.testing.assert_allclose(found.estimates, [one.mean() for one in pairs])


def test_rankings_that_do_not_differ() -> None:
    a, _, label = sample(40, 4)
    for test in ("randomization", "bootstrap", "delong"):
        found = compare_rankings(a, np.exp(a), label, AUC, test=test, n_resamples=200)
        assert (found.difference, found.p_value) == (0.0, 1.0)
        assert (found.conf_low, found.conf_high) == (0.0, 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("interval", ["percentile", "bca"])
def test_intervals_are_scipy_s(interval: str) -> None:
    a, b, label = sample(60, 5)

    def difference(a: np.ndarray, b: np.ndarray, label: np.ndarray) -> float:
        return average_precision_score(label, a) - average_precision_score(label, b)

    expected = stats.bootstrap(
        (a, b, label),
        difference,
        paired=True,
        vectorized=False,
        n_resamples=2000,
        method={"bca": "BCa"}.get(interval, interval),
        confidence_level=Confidence(0.95).expanded(24).level,
        random_state=1,
    ).confidence_interval
    found = compare_rankings(
        a, b, label, AP, test="bootstrap", interval=interval, n_resamples=20_000, rng=2
    )
    # Of 2000 resamples SciPy's ends vary by as much with its seed.
    assert found[3:5] == pytest.approx(tuple(expected), abs=0.03)
    assert found.difference == pytest.approx(difference(a, b, label))
    assert found.method == "bootstrap"
    other = compare_rankings(a, b, label, AP, interval=interval, n_resamples=20_000, rng=3)
    assert other[3:5] == pytest.approx(tuple(expected), abs=0.03)


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_p_values_come_from_the_draws(alternative: str) -> None:
    a, b, label = sample(50, 6)
    rankings = PairedRankings(ranking_levels([a, b]), CellEvaluator(label, [AP]))
    # Swaps and resamples begin with one seed.
    seed = int(np.random.default_rng(7).integers(1 << 62))
    drawn = np.subtract(*rankings.replicates(500, rng=seed)[0])
    swaps = rankings.randomization(0, 1, 500, rng=seed).differences[0]
    observed = np.subtract(*rankings.values()[0])
    for test, null in (("bootstrap", drawn - observed), ("randomization", swaps)):
        extreme = {
            "two-sided": np.abs(null) >= abs(observed) - 1e-12,
            "less": null <= observed + 1e-12,
            "greater": null >= observed - 1e-12,
        }[alternative]
        p = (extreme.sum() + 1) / 501
        found = compare_rankings(
            a, b, label, [AP], test=test, alternative=alternative, n_resamples=500, rng=7
        )[0]
        error = (p * (1 - p) / 500) ** 0.5
        if test == "bootstrap":
            shifted = of_few(np.array([p, p + 1e-7]), 20, alternative)
            p, error = shifted[0], error * np.diff(shifted)[0] / 1e-7
        assert found.p_value == pytest.approx(p, rel=1e-12)
        assert found.p_std_error == pytest.approx(error, rel=1e-4)
        assert found.statistic == found.difference == observed
    assert (
        np.isinf(found[3:5]).tolist()
        == {
            "two-sided": [False, False],
            "less": [True, False],
            "greater": [False, True],
        }[alternative]
    )


def of_few(p_values: np.ndarray, n: int, alternative: str) -> np.ndarray:
    """Return p-values by Student's distribution from those by resamples of n positives."""
    sides = 2 if alternative == "two-sided" else 1
    t = np.sqrt((n - 1) / n) * stats.norm.isf(p_values / sides)
    return sides * stats.t.sf(t, n - 1)


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_the_interval_leaves_out_0_about_where_the_p_value_is_below_its_level(
    alternative: str,
) -> None:
    a, b, label = sample(30, 8, gap=2.0)
    options = {"test": "bootstrap", "alternative": alternative, "rng": 1}
    p_value = compare_rankings(a, b, label, AUC, **options).p_value
    for level in (0.5, 0.8, 0.9, 0.95, 0.99, 0.999):
        if abs(p_value - (1 - level)) < 0.3 * (1 - level):
            continue
        ends = compare_rankings(a, b, label, AUC, confidence_level=level, **options)[3:5]
        assert (ends[0] > 0 or ends[1] < 0) == (p_value <= 1 - level)


@pytest.mark.slow
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


def test_resamples_without_a_positive_are_left_out_and_counted() -> None:
    label = np.arange(12) < 1
    a, b = np.arange(12) % 7, np.arange(12) % 5
    found, top = compare_rankings(
        a, b, label, [AP, PrecisionAt(2)], interval="bca", n_resamples=4000, rng=1
    )
    assert abs(found.n_undefined - 4000 * (11 / 12) ** 12) < 5 * 4000**0.5 / 2
    assert top.n_undefined == 0
    # One positive has no interval.
    assert np.isfinite(np.delete(found[:8], [3, 4])).all()
    assert np.isnan(found[3:5]).all()


@pytest.mark.parametrize("interval", ["percentile", "bca"])
@pytest.mark.parametrize("test", ["randomization", "bootstrap"])
def test_without_positives(test: str, interval: str) -> None:
    label = np.zeros(9)
    found, top = compare_rankings(
        np.arange(9),
        np.arange(9) % 4,
        label,
        [AP, PrecisionAt(2)],
        test=test,
        interval=interval,
        n_resamples=100,
    )
    assert np.isnan(found[:8]).all()
    assert found.n_undefined == 100
    assert (top.difference, top.p_value, top.conf_low, top.conf_high) == (0, 1, 0, 0)


def noisy(n: int, rng: np.random.Generator, kind: str) -> dict[str, np.ndarray]:
    """Draw two equally noisy scores of the same items; in clusters with an error of their own."""
    label = rng.permutation(n) < 0.3 * n
    cluster = np.arange(n) // 5
    if kind == "clusters":
        label = rng.permutation(n // 5).repeat(5) < 0.3 * (n // 5)
    shared = 1.5 * rng.normal(size=(2, n // 5))[:, cluster] * (kind == "clusters")
    scores = rng.normal(size=n) + label + shared + rng.normal(size=(2, n))
    if kind == "ties":
        scores = np.round(scores)
    return {"score_a": scores[0], "score_b": scores[1], "label": label, "cluster": cluster}


def p_values(kind: str, repeats: int, n: int, metrics: list, **options: object) -> np.ndarray:
    """Simulate p-values where neither model is better, shape (repeats, n_metrics)."""
    rng, found = np.random.default_rng(11), []
    for seed in range(repeats):
        data = noisy(n, rng, kind)
        if not options.get("clustered", kind == "clusters"):
            data.pop("cluster")
        rest = {key: value for key, value in options.items() if key != "clustered"}
        one = compare_rankings(**data, metric=metrics, rng=seed, n_resamples=199, **rest)
        found.append([each.p_value for each in one])
    return np.array(found)


def rejections(p: np.ndarray, level: float, alternative: str) -> float:
    """Test that the chance to reject is the level."""
    return stats.binomtest(int((p <= level).sum()), p.size, level, alternative).pvalue


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["plain", "ties", "clusters"])
def test_size_of_randomization(kind: str) -> None:
    # Coins that break ties of ranks make the test a little cautious.
    alternative = "greater" if kind == "ties" else "two-sided"
    n = 150 if kind == "clusters" else 50
    for p in p_values(kind, 400, n, [AP, AUC]).T:
        assert min(rejections(p, level, alternative) for level in LEVELS) > 0.002
        assert (p <= 0.2).mean() > 0.1


@pytest.mark.slow
def test_clusters_matter() -> None:
    options = {"clustered": False}
    for test in ("randomization", "delong"):
        p = p_values("clusters", 200, 100, [AUC], test=test, **options)[:, 0]
        assert (p <= 0.05).mean() > 0.12


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["plain", "clusters"])
@pytest.mark.parametrize("test", ["delong", "bootstrap"])
def test_size_of_delong_and_bootstrap_is_near_nominal(test: str, kind: str) -> None:
    p = p_values(kind, 300, 200, [AUC], test=test)[:, 0]
    # Both hold for large samples.
    low, high = stats.binom(300, 0.05).ppf([0.001, 0.9999])
    assert low <= (p <= 0.05).sum() <= high


def test_power() -> None:
    a, b, label = sample(300, 12, gap=2.0)
    for test in ("randomization", "bootstrap", "delong"):
        found = compare_rankings(a, b, label, AUC, test=test, n_resamples=999, rng=1)
        assert found.p_value < 0.01
        assert found.conf_low > 0
        worse = compare_rankings(
            a, b, label, AUC, test=test, n_resamples=999, rng=1, alternative="less"
        )
        assert worse.p_value > 0.99


MISTAKES: dict[str, Callable[[], object]] = {
    "`test` must be one of 'bootstrap', 'delong', 'randomization'; got "
    "'randomisation'. Did you mean 'randomization'?": {"test": "randomisation"},
    "`interval` must be one of 'auto', 'bca', 'percentile'; got 'wald'.": {"interval": "wald"},
    "`n_resamples` must be a whole number >= 1; got 0.": {"n_resamples": 0},
    "test='delong' is not for AP; take 'randomization' or 'bootstrap'.": {"test": "delong"},
    "test='delong' has an interval of its own; leave out `interval`; got 'bca'.": {
        "test": "delong",
        "metric": AUC,
        "interval": "bca",
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
    "`metric` must be one of the metrics of prframe.stats, AveragePrecision() for instance, or a "
    "list of them; got ['AP'].": {"metric": ["AP"]},
    "`statistics` must hold at least one metric; got none.": {"metric": []},
}


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes(message: str) -> None:
    right = {"score_a": [1, 2, 3], "score_b": [1, 3, 2], "label": [0, 0, 1], "metric": AP}
    with pytest.raises(PrframeError) as caught:
        compare_rankings(**(right | MISTAKES[message]))
    assert str(caught.value) == message


def test_labels_of_another_length() -> None:
    with pytest.raises(PrframeError, match=r"per item, 3; got shape \(2,\)"):
        auc_covariance([[1, 2, 3]], [True, False])


def test_whole_numbers_that_floats_would_round() -> None:
    large = 2**62 + np.arange(3)
    found = compare_rankings(large, -large, [0, 0, 1], AUC, n_resamples=10)
    assert (found.value_a, found.value_b) == (1.0, 0.0)
    assert ranking_levels([large, -large]).tolist() == [[1, 2, 3], [3, 2, 1]]


def test_one_metric_gives_one_result() -> None:
    found = compare_rankings([1, 2, 3], [2, 1, 1], [1, 0, 1], AP, n_resamples=5, rng=1)
    assert isinstance(found, RankingComparison)
    assert [found] == compare_rankings([1, 2, 3], [2, 1, 1], [1, 0, 1], [AP], n_resamples=5, rng=1)
