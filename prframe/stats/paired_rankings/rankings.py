"""Two or more rankings of the same items, and how their metrics vary together."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from prframe import checks
from prframe.draws import TEST_DRAWS
from prframe.errors import ArgumentError
from prframe.stats._arrays import random_generator
from prframe.stats._units import units_of
from prframe.stats.intervals import acceleration
from prframe.stats.paired_rankings.bootstrap import paired_replicates
from prframe.stats.paired_rankings.swaps import SwapDistribution, swap_distribution
from prframe.stats.rankings import Evaluator, InfluenceEvaluator, checked_levels
from prframe.typing import Floats


class PairedRankings:
    """Rankings of the same items, with the metrics that compare them.

    Parameters
    ----------
    levels : array_like of int, shape (n_rankings, N)
        As `ranking_levels` returns them: larger ranks higher, equal is tied, 0 is not retrieved.
    evaluate : Evaluator
        The metrics, `CellEvaluator` for instance.
    cluster : array_like, shape (N,), optional
        The cluster of each item, numbers or names. Whole clusters are drawn and swapped.

    Raises
    ------
    PrframeError
        Levels or clusters of another form.

    Notes
    -----
    With a seed, every pair of rankings and every metric has the same draws. Resamples come in
    chunks, so that memory is a few MB, or some 100 bytes per item if that is more, whatever their
    number.

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
        self, levels: ArrayLike, evaluate: Evaluator, cluster: ArrayLike | None = None
    ) -> None:
        """Check the levels and clusters, and keep all arguments."""
        self.levels, self.evaluate, self.cluster = checked_levels(levels), evaluate, cluster
        self._units = units_of(cluster, self.levels.shape[1])

    @property
    def n_units(self) -> int:
        """The number of items or clusters with positives, or with negatives if these are fewer.

        If the evaluator has no ``label``, it is the number of all.
        """
        label = getattr(self.evaluate, "label", None)
        if label is None:
            return self._units.number
        return min(self._units.number_among(label == side) for side in (True, False))

    def values(self) -> Floats:
        """Return the metrics of the rankings.

        Returns
        -------
        ndarray of float, shape (n_metrics, n_rankings)
        """
        return self.evaluate(self.levels)

    def replicates(
        self, n_resamples: int = TEST_DRAWS, rng: int | np.random.Generator | None = None
    ) -> Floats:
        """Return the metrics of resamples of the items, or of clusters of them.

        Parameters
        ----------
        n_resamples : int
            Resamples, >= 1; the same ones for all rankings and metrics.
        rng : int or numpy.random.Generator, optional
            Seed or generator.

        Returns
        -------
        ndarray of float, shape (n_metrics, n_rankings, n_resamples)
            NaN where a resample leaves a metric undefined. With a single item or cluster all are
            NaN, because its resamples do not vary.
        """
        number = checks.number_of_draws(n_resamples)
        generator = random_generator(rng)
        if self._units.number == 1:
            return np.repeat(self.values()[..., None] * np.nan, number, axis=2)
        return paired_replicates(self.levels, self.evaluate, self._units, number, generator)

    def randomization(
        self,
        first: int,
        second: int,
        n_resamples: int = TEST_DRAWS,
        rng: int | np.random.Generator | None = None,
    ) -> SwapDistribution:
        """Return differences of the metrics after items have swapped their ranks at random.

        Parameters
        ----------
        first, second : int
            Two rankings, by their row.
        n_resamples : int
            Number of swaps that are sampled, >= 1. If 2 to the power of the number of items, or of
            clusters, is not larger, all swaps are enumerated.
        rng : int or numpy.random.Generator, optional
            Seed or generator.

        Returns
        -------
        SwapDistribution
            ``differences``, first less second, shape (n_metrics, n_swaps), and ``exact``.

        Notes
        -----
        Mid-ranks are swapped, so that the scores of two models need not be on one scale. If an
        item is not retrieved by one model, it is not retrieved in the ranking that gets this rank.
        Items that get equal ranks from different models are ordered by a coin, which is tossed
        once per swap; items that one model ties remain tied. Tie blocks of both models that share
        more than half of the ranks of the larger one are one block, with one mid-rank. An item
        with the same mid-rank in both rankings keeps it.

        References
        ----------
        Venkatraman & Begg, *A distribution-free procedure for comparing receiver operating
        characteristic curves from a paired experiment*, Biometrika 1996.
        """
        number = checks.number_of_draws(n_resamples)
        pair, generator = self.levels[[first, second]], random_generator(rng)
        return swap_distribution(pair, self.evaluate, self._units, number, generator)

    def acceleration(self, first: int, second: int) -> Floats:
        """Return the acceleration of the BCa interval of the difference of each metric.

        Parameters
        ----------
        first, second : int
            Two rankings, by their row.

        Returns
        -------
        ndarray of float, shape (n_metrics,)
            Computed from the influence of items, or of clusters, on the difference, which is the
            derivative that the jackknife approximates. NaN where a metric is not defined.

        Raises
        ------
        PrframeError
            The evaluator knows no influence.
        """
        if not isinstance(self.evaluate, InfluenceEvaluator):
            raise ArgumentError(
                "a BCa interval needs an evaluator with the method `influence`, which "
                f"{type(self.evaluate).__name__} does not have; use the percentile interval."
            )
        first_influence, second_influence = (
            self.evaluate.influence(self.levels[row]) for row in (first, second)
        )
        each = np.ones(self._units.number)
        return np.array(
            [
                acceleration(row, each)
                for row in self._units.sums(first_influence - second_influence)
            ]
        )
