"""Confidence intervals, against SciPy's and by simulation."""

from math import inf, isnan, nan

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit

from prframe.stats.intervals.ends import (
    Confidence,
    Summary,
    acceleration,
    bca_interval,
    beta_interval,
    logit_interval,
    percentile_interval,
    wald_interval,
)
from prframe.stats.intervals.means import mean_interval
from prframe.stats.intervals.rankings import ranking_interval
from prframe.stats.rankings import AveragePrecision, DiscountedGain, RankBiasedPrecision
from prframe.stats.rankings.bootstrap import cluster_counts
from prframe.stats.rankings.cells import RankedCells, cells_from_scores
from tests.refusals import refusals

AP = AveragePrecision()
EVERYTHING = (-np.inf, np.inf)
METHODS = ("logit-t", "percentile")


@pytest.mark.parametrize(
    ("replicates", "estimate", "equal"),
    [
        ([inf, nan, inf], inf, True),
        ([inf, -1.5], inf, False),
        ([nan, nan], inf, True),
        ([0.0, 1e-17], 0.0, True),
        ([0.0, 1e-3], 0.0, False),
    ],
)
def test_replicates_are_equal_where_no_value_differs(replicates, estimate, equal):
    assert Summary.of(np.array(replicates), 0.025).is_all(estimate, n=4) is equal


@pytest.mark.parametrize("size", [1.0, 1e200, 1e-200])
def test_replicates_of_any_size_are_summarised(size: float) -> None:
    values = size * np.random.default_rng(8).normal(size=300)
    found = Summary.of(np.append(values, nan), 0.025)
    assert (found.least, found.largest) == (values.min(), values.max())
    assert found.spread / size == pytest.approx((values / size).std(ddof=1), abs=1e-14)
    assert found.quantiles == pytest.approx(np.quantile(values, [0.025, 0.975]))


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_bootstrap_intervals_are_scipy_s_for_its_replicates(
    alternative: str, level: float
) -> None:
    values = np.random.default_rng(1).gamma(1.5, size=25)
    confidence = Confidence(level, alternative, EVERYTHING)
    for method in ("percentile", "BCa"):
        found = stats.bootstrap(
            (values,),
            np.mean,
            confidence_level=level,
            alternative=alternative,
            n_resamples=999,
            method=method,
        )
        drawn = found.bootstrap_distribution
        if method == "percentile":
            ends = percentile_interval(drawn, confidence)
        else:
            bend = acceleration(values - values.mean(), np.ones(25))
            ends = bca_interval(values.mean(), drawn, bend, confidence)
        assert ends == pytest.approx(tuple(map(float, found.confidence_interval)), rel=1e-9)


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_the_t_interval_is_scipy_s(alternative: str) -> None:
    values = np.random.default_rng(4).random(12)
    found = mean_interval(values, "t", Confidence(0.9, alternative, EVERYTHING))
    expected = stats.ttest_1samp(values, 0, alternative=alternative).confidence_interval(0.9)
    assert (found.low, found.high) == pytest.approx(tuple(expected))
    assert found.std_error == pytest.approx(stats.sem(values))


def test_wald_and_logit_by_hand() -> None:
    z, t = stats.norm.isf(0.05), stats.t.isf(0.05, 7)
    assert wald_interval(0.6, 0.1, Confidence(0.9)) == pytest.approx((0.6 - z / 10, 0.6 + z / 10))
    assert wald_interval(0.95, 0.1, Confidence(0.9, limits=(0, 1)), df=7) == pytest.approx(
        (0.95 - t / 10, 1)
    )
    reach = t * 0.1 / 0.21
    expected = expit(logit(0.75) - reach), expit(logit(0.75) + reach)
    found = logit_interval(0.8, 0.1, Confidence(0.9), unbiased=0.7, df=7)
    assert found == pytest.approx(expected)
    assert logit_interval(0.8, 0.1, Confidence(0.95, "less"), unbiased=0.7, df=7) == pytest.approx(
        (0, expected[1])
    )
    assert logit_interval(0.8, 0.1, Confidence(0.95, "greater"), unbiased=0.7, df=7) == (
        pytest.approx((expected[0], 1))
    )


def test_what_is_not_defined_has_no_interval() -> None:
    none = RankedCells(np.array([0, 0]), np.array([3, 0]))
    for method in METHODS:
        found = ranking_interval(none, AP, method)
        assert isnan(found.estimate)
        assert isnan(found.low)
    assert all(map(isnan, percentile_interval([nan, nan], Confidence())))
    assert all(map(isnan, bca_interval(0.5, [nan], 0.0, Confidence())))
    assert all(map(isnan, bca_interval(0.5, [0.6, 0.7], 0.0, Confidence())))
    alone = mean_interval([0.5])
    assert (alone.estimate, isnan(alone.low)) == (0.5, True)
    assert percentile_interval([nan, 0.3], Confidence()) == (0.3, 0.3)


test_refusals = refusals(
    {
        "`confidence_level` must be a number > 0 and < 1; got 1.0.": lambda: Confidence(1.0),
        "`alternative` must be one of 'greater', 'less', 'two-sided'; got 'both'.": lambda: (
            Confidence(0.9, "both")
        ),
        "`values` must be finite numbers, at least one; got [].": lambda: mean_interval([]),
        "`values` must be finite numbers, at least one; got [0.1, nan].": lambda: mean_interval(
            [0.1, nan]
        ),
        "`method` must be one of 'auto', 'bca', 'hall', 'logit', 'percentile', 't'; got 'z'.": lambda: (
            mean_interval([1.0], "z")
        ),
        "`method` must be one of 'auto', 'bayesian-bootstrap', 'logit-t', 'percentile'; got 'z'.": lambda: (
            ranking_interval(RankedCells(np.ones(2, int), np.ones(2, int)), AP, "z")
        ),
    }
)


@pytest.mark.parametrize("trials", [3, 150])
@pytest.mark.parametrize("confidence", [Confidence(0.9), Confidence(0.95, "less")])
def test_beta_intervals_of_shares_of_trials_are_jeffreys_intervals(trials, confidence):
    tail = confidence.tail
    for hits in {0, 1, trials // 2, trials}:
        share = hits / trials
        error = (share * (1 - share) / trials) ** 0.5
        known = stats.beta(hits + 0.5, trials - hits + 0.5).ppf([tail, 1 - tail])
        known = [known[0] if hits else 0.0, known[1] if hits < trials else 1.0]
        expected = confidence.ends(*known)
        found = beta_interval(share, error, confidence, step=1 / trials)
        assert found == pytest.approx(expected, rel=1e-9)


def test_beta_intervals_that_know_nothing_hold_everything():
    assert beta_interval(0.5, 0.6, Confidence(0.95), step=0.1) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("metric", "ranks"), [(DiscountedGain(10, normalised=True), 8), (RankBiasedPrecision(), 9)]
)
def test_a_best_value_of_first_ranks_is_of_as_many_trials(metric, ranks: int) -> None:
    """The effective number of ranks of RBP is (1 + p) / (1 - p) = 9."""
    label = np.append(np.ones(40), np.tile([0, 1], 80))
    cells, cell = cells_from_scores(np.arange(200)[::-1], label)
    assert metric.trials(cells) == ranks
    counts = cluster_counts(cell, label, np.arange(200) % 50, cells.pos.size)
    for clusters in (None, counts):
        found = ranking_interval(cells, metric, "logit-t", clusters=clusters)
        # One of so many ranks less.
        assert found.low < 1 - 1 / ranks
