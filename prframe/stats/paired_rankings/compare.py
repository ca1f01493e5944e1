"""Comparison of two models that scored the same labelled items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from prframe import checks
from prframe.draws import INTERVAL_DRAWS, TEST_DRAWS
from prframe.errors import ArgumentError
from prframe.stats._arrays import random_generator, scored_twice
from prframe.stats.curves import Weights, drawn_weights
from prframe.stats.intervals import Confidence
from prframe.stats.paired_rankings.rankings import PairedRankings
from prframe.stats.paired_rankings.tests import (
    RankingComparison,
    delong_comparison,
    resampled_comparison,
    swap_tests,
)
from prframe.stats.paired_rankings.unseen import (
    Margin,
    Singles,
    correlation_of_decisions,
    single_intervals,
)
from prframe.stats.paired_values import PairedTest
from prframe.stats.rankings import CellEvaluator, CellStatistic, ranking_levels
from prframe.typing import Alternative, Flags, Floats, Integers

RankingTest: TypeAlias = Literal["randomization", "bootstrap", "delong"]
RankingInterval: TypeAlias = Literal["auto", "percentile"]

# The number of seeds, the same as in the verb `compare`.
_SEEDS = 1 << 62


def compare_rankings(  # noqa: PLR0913
    score_a: ArrayLike,
    score_b: ArrayLike,
    label: ArrayLike,
    metric: CellStatistic,
    *,
    test: RankingTest = "randomization",
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
    interval: RankingInterval = "auto",
    n_resamples: int = TEST_DRAWS,
    rng: int | np.random.Generator | None = None,
    cluster: ArrayLike | None = None,
) -> RankingComparison:
    """Compare two models that scored the same labelled items.

    Parameters
    ----------
    score_a, score_b : array_like of float, shape (N,)
        Scores of the same items by two models, each on a scale of its own; higher ranks first,
        -inf is not retrieved.
    label : array_like of bool or number, shape (N,)
        True, or above 0, for positives.
    metric : CellStatistic
        The metric that is compared.
    test : {"randomization", "bootstrap", "delong"}
        ``"randomization"``: the mid-ranks that the models give to an item are exchangeable.
        ``"bootstrap"``: differences of resamples, less the observed one, are the null
        distribution, corrected for the number of positives (negatives, clusters) as
        `Confidence.expanded` says. ``"delong"``: the difference of AUC has a normal distribution,
        see `auc_covariance`.
    alternative : {"two-sided", "less", "greater"}
        The alternative: the difference a - b is not 0, below 0, or above 0.
    confidence_level : float in (0, 1)
        Coverage of the interval; one-sided alternatives bound one end, as in `scipy.stats`.
    interval : {"auto", "percentile"}
        ``"percentile"``: that of the paired bootstrap. ``"auto"``: the same, or Wald's for
        ``"delong"``, extended as the notes say.
    n_resamples : int
        Number of swaps, resamples and draws, >= 1.
    rng : int or numpy.random.Generator, optional
        Seed or generator of these draws.
    cluster : array_like, shape (N,), optional
        The cluster of each item: whole clusters are swapped and drawn.

    Returns
    -------
    RankingComparison
        ``value_a``, ``value_b`` and their ``difference``, a - b; ``conf_low`` and ``conf_high``;
        ``statistic``, which is the difference, or DeLong's z; ``p_value`` and its Monte Carlo
        error ``p_std_error``, NaN where nothing is sampled; ``method``, the test, or how it was
        done. Resamples that leave the metric undefined are left out.

    Raises
    ------
    PrframeError
        Arrays of different lengths, NaN, an unknown option, or a metric that the test is not for.

    Notes
    -----
    Two good models differ by a few misranked items, and many samples contain none, so bootstrap
    intervals cover too seldom. ``interval="auto"`` widens them by the intervals of both metrics
    (`ranking_interval`) and their correlation (Zou & Donner 2008); areas under precision take
    ``"logit-t"``. The p-value does not change, and may be below 1 - confidence_level although the
    interval contains 0. Equal rankings have the interval [0, 0]. Metrics whose own interval comes
    from resamples are not widened.

    Randomization asks whether one model could have made both rankings; the bootstrap and DeLong's
    test ask for the difference alone, and reject too often with fewer than 40 or so clusters.

    If the ranks of items are swapped at random, the difference of AUC is a sum of whole numbers
    with random signs, so its p-value is that of `paired_randomization`, without draws.

    Beyond 3,000 items, areas and metrics of the first ranks are drawn in pools of items with one
    label and nearly the same rank in both rankings, one of which stands for all. The spread of the
    draws was within about 2 % of that without pools.

    References
    ----------
    Venkatraman & Begg, Biometrika 1996; Efron & Tibshirani, *An Introduction to the Bootstrap*,
    1993, section 16.4; DeLong, DeLong & Clarke-Pearson, Biometrics 1988; Zou & Donner, Statistics
    in Medicine 2008.

    Examples
    --------
    >>> from prframe.stats import AveragePrecision, RocArea
    >>> rng = np.random.default_rng(1)
    >>> label = np.arange(200) < 80
    >>> good = label + rng.normal(size=200)
    >>> worse = good + rng.normal(size=200)
    >>> compared = compare_rankings(good, worse, label, AveragePrecision(), rng=1)
    >>> round(compared.difference, 3), compared.p_value < 0.001, compared.method
    (0.136, True, 'randomization')
    >>> compare_rankings(good, worse, label, RocArea(), test="delong").statistic.__round__(2)
    4.31
    """
    checks.one_of("test", test, get_args(RankingTest))
    checks.one_of("interval", interval, get_args(RankingInterval))
    number = checks.number_of_draws(n_resamples)
    confidence = Confidence(confidence_level, alternative)
    if not isinstance(metric, CellStatistic):
        raise ArgumentError(
            "`metric` must be one of the metrics of prframe.stats, AveragePrecision() for "
            f"instance; got {checks.brief(metric)}."
        )
    scores, positive = scored_twice(score_a, score_b, label)
    if test == "delong" and not metric.of_two_samples:
        raise ArgumentError(
            f"test={test!r} is not for {metric.name}; take 'randomization' or 'bootstrap'."
        )
    seed = int(random_generator(rng).integers(_SEEDS))
    plan = ComparisonPlan(test, interval, number, lambda: np.random.default_rng(seed))
    plan.check()
    evaluate = CellEvaluator(positive, [metric])
    rankings = PairedRankings(ranking_levels(scores), evaluate, cluster)
    return plan.of_pairs(rankings, [confidence], [(0, 1)])[0][0]


Pair: TypeAlias = tuple[int, int]
# What applies a function to each item, as `map` does, in turn or on several threads.
Each: TypeAlias = Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]]


@dataclass(frozen=True)
class ComparisonPlan:
    """The test, the interval and the draws by which rankings of the same items are compared.

    ``interval="auto"`` is Wald's for DeLong's test, else ``"percentile"``, extended to what the
    intervals of both rankings allow. `rng` returns a generator with the same state each time, so
    that all metrics and pairs have the same draws.
    """

    test: str
    interval: str
    n_resamples: int
    rng: Callable[[], np.random.Generator]

    def check(self) -> None:
        """Refuse options that the test does not use."""
        if self.test == "delong" and self.interval != "auto":
            raise ArgumentError(
                f"test={self.test!r} has an interval of its own; leave out `interval`; got "
                f"{self.interval!r}."
            )

    def of_pairs(
        self,
        rankings: PairedRankings,
        confidences: Sequence[Confidence],
        pairs: Sequence[Pair],
        each: Each = map,
        *,
        uncut: Integers | None = None,
    ) -> list[list[RankingComparison]]:
        """Compare pairs of the rankings by all metrics, a list of comparisons for each pair.

        `confidences` has one entry per metric. `uncut` has what scores say before a threshold cuts
        the rankings off: models that differ by it may retrieve the same items.
        """
        singles = self._singles(rankings, confidences, each)
        margins = [_margin(rankings, singles, pair, uncut) for pair in pairs]
        if self.test == "delong":
            return [
                [delong_comparison(rankings, pair, one, margin) for one in confidences]
                for pair, margin in zip(pairs, margins, strict=True)
            ]
        alternatives: list[Alternative] = [confidence.alternative for confidence in confidences]

        def drawn(pair: Pair | None) -> Floats | list[PairedTest] | None:
            if pair is None:
                return rankings.replicates(self.n_resamples, self.rng())
            if self.test != "randomization":
                return None
            return swap_tests(rankings, pair, alternatives, self.n_resamples, self.rng())

        # Even of a single pair the swaps are drawn while the resamples are.
        replicates, *tests = each(drawn, [None, *pairs])
        values = rankings.values()
        return [
            resampled_comparison(
                values[:, list(pair)],
                replicates[:, list(pair)],
                confidences,
                rankings.n_units,
                of_pair,
                margin,
            )
            for pair, of_pair, margin in zip(pairs, tests, margins, strict=True)
        ]

    def _singles(
        self, rankings: PairedRankings, confidences: Sequence[Confidence], each: Each
    ) -> list[Singles]:
        """Return the intervals of the metrics of each ranking; none where they have no use."""
        evaluate, (first, *_) = rankings.evaluate, confidences
        if self.interval != "auto" or rankings.n_units == 1 or first.tail >= 1 / 2:
            return []
        if not evaluate.label.any():
            return []
        return list(
            each(
                lambda level: single_intervals(
                    level, evaluate, first, lambda: self._weights, rankings.cluster
                ),
                list(rankings.levels),
            )
        )

    @cached_property
    def _weights(self) -> list[Weights]:
        """The weights of draws of curves, which all rankings share."""
        # DeLong's test draws nothing else, and has the same numbers in every call.
        rng = np.random.default_rng(0) if self.test == "delong" else self.rng()
        return drawn_weights(INTERVAL_DRAWS, rng)


def _margin(
    rankings: PairedRankings, singles: Sequence[Singles], pair: Pair, uncut: Integers | None
) -> Margin | None:
    """Return the intervals of two rankings; None of equal ones, which are mostly one model."""
    if not singles or _are_equal(rankings.levels if uncut is None else uncut, pair):
        return None
    first, second = pair
    margin = Margin(singles[first], singles[second], rankings.n_units)
    passes = rankings.levels > 0
    if uncut is None or not _are_equal(passes, pair):
        return margin
    label = rankings.evaluate.label
    return replace(margin, correlation=correlation_of_decisions(passes[first], label))


def _are_equal(levels: Integers | Flags, pair: Pair) -> bool:
    """Return whether two models have the same levels."""
    first, second = pair
    return np.array_equal(levels[first], levels[second])
