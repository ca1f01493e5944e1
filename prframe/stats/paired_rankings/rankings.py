"""Two or more rankings of the same items, and how their metrics vary together."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from prframe import checks
from prframe.draws import TEST_DRAWS
from prframe.stats._arrays import random_generator
from prframe.stats._units import units_of
from prframe.stats.paired_rankings.draws import (
    SwapDistribution,
    paired_replicates,
    swap_distribution,
)
from prframe.stats.rankings import CellEvaluator, checked_levels
from prframe.typing import Floats


class PairedRankings:
    """Rankings of the same items, with an evaluator of the metrics that compare them.

    `levels` has a row per ranking, as `ranking_levels` returns them; `cluster` has one entry per
    item, and whole clusters are drawn and swapped. With a seed, every pair and metric has the same
    draws.

    Examples
    --------
    >>> from prframe.stats import AveragePrecision, ranking_levels
    >>> from prframe.stats.rankings import CellEvaluator
    >>> label = [True, True, False, True, False, False]
    >>> levels = ranking_levels([[9, 8, 7, 6, 5, 4], [4, 9, 8, 7, 6, 5]])
    >>> rankings = PairedRankings(levels, CellEvaluator(label, [AveragePrecision()]))
    >>> rankings.values().round(3)
    array([[0.917, 0.722]])
    >>> rankings.replicates(n_resamples=1000, rng=1).shape
    (1, 2, 1000)
    """

    def __init__(
        self, levels: ArrayLike, evaluate: CellEvaluator, cluster: ArrayLike | None = None
    ) -> None:
        """Check the levels and clusters, and keep all arguments."""
        self.levels, self.evaluate, self.cluster = checked_levels(levels), evaluate, cluster
        self.units = units_of(cluster, self.levels.shape[1])

    @property
    def n_units(self) -> int:
        """The number of items or clusters with positives, or with negatives if these are fewer."""
        label = self.evaluate.label
        return min(self.units.number_among(of) for of in (label, ~label))

    def values(self) -> Floats:
        """Return the metrics of the rankings, shape (n_metrics, n_rankings)."""
        return self.evaluate(self.levels)

    def replicates(
        self, n_resamples: int = TEST_DRAWS, rng: int | np.random.Generator | None = None
    ) -> Floats:
        """Return the metrics of resamples of items or clusters, the same ones for all rankings.

        The shape is (n_metrics, n_rankings, n_resamples). NaN where a resample leaves a metric
        undefined, and of a single item or cluster, whose resamples do not vary.
        """
        number = checks.number_of_draws(n_resamples)
        if self.units.number == 1:
            return np.repeat(self.values()[..., None] * np.nan, number, axis=2)
        generator = random_generator(rng)
        return paired_replicates(self.levels, self.evaluate, self.units, number, generator)

    def randomization(
        self,
        first: int,
        second: int,
        n_resamples: int = TEST_DRAWS,
        rng: int | np.random.Generator | None = None,
    ) -> SwapDistribution:
        """Return differences of the metrics after items have swapped their ranks at random.

        If 2 to the power of the number of items or clusters is at most `n_resamples`, all swaps
        are enumerated. Mid-ranks are swapped, so the scores need not be on one scale (Venkatraman
        & Begg, Biometrika 1996); see `joint_levels` for ties. What one model does not retrieve is
        not retrieved in the ranking that gets this rank.
        """
        number = checks.number_of_draws(n_resamples)
        pair, generator = self.levels[[first, second]], random_generator(rng)
        return swap_distribution(pair, self.evaluate, self.units, number, generator)
