"""The choice of the test and the interval that compare rankings of the same items.

This choice is made here alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from prframe.errors import PrframeError
from prframe.stats.intervals import Confidence
from prframe.stats.paired_rankings.rankings import PairedRankings
from prframe.stats.paired_rankings.tests import (
    RankingComparison,
    delong_comparison,
    posterior_comparison_at,
    resampled_comparison,
)
from prframe.stats.rankings import CellEvaluator
from prframe.typing import Floats

# These tests suit some metrics alone (`CellStatistic.own_tests`), and have their own intervals.
_DELONG, _POSTERIOR = "delong", "posterior"
OWN_TESTS = (_DELONG, _POSTERIOR)


@dataclass(frozen=True)
class ComparisonPlan:
    """The test, the interval and the draws by which rankings of the same items are compared.

    Attributes
    ----------
    test : {"randomization", "bootstrap", "delong", "posterior"}
    interval : {"auto", "percentile", "bca"}
        ``"auto"`` is the interval of the test if it has its own, else ``"percentile"``.
    n_resamples : int
    rng : callable
        Returns a generator with the same state each time, so that all metrics and pairs have the
        same draws.
    """

    test: str
    interval: str
    n_resamples: int
    rng: Callable[[], np.random.Generator]

    def check(self, *, clustered: bool) -> None:
        """Refuse options that the test does not use."""
        if self.test in OWN_TESTS and self.interval != "auto":
            raise PrframeError(
                f"test={self.test!r} has an interval of its own; leave out `interval`; got "
                f"{self.interval!r}."
            )
        if self.test == _POSTERIOR and clustered:
            raise PrframeError("test='posterior' knows no clusters; leave out `cluster`.")

    def of_pairs(
        self, rankings: PairedRankings, confidences: Sequence[Confidence]
    ) -> Callable[[tuple[int, int]], list[RankingComparison]]:
        """Return a function that compares two of the rankings, by all metrics.

        Parameters
        ----------
        rankings : PairedRankings
            Their evaluator must be a `CellEvaluator` if the test suits some metrics alone.
        confidences : sequence of Confidence
            One per metric.

        Returns
        -------
        callable
            It takes two row numbers of rankings and returns a `RankingComparison` per metric.
        """
        if self.test in OWN_TESTS:
            return lambda pair: self._own(rankings, confidences, pair)
        values = rankings.values()
        replicates = rankings.replicates(self.n_resamples, self.rng())
        return lambda pair: self._resampled(rankings, confidences, pair, values, replicates)

    def _resampled(
        self,
        rankings: PairedRankings,
        confidences: Sequence[Confidence],
        pair: tuple[int, int],
        values: Floats,
        replicates: Floats,
    ) -> list[RankingComparison]:
        """Compare two rankings by swaps, or by resamples."""
        swaps, columns = None, list(pair)
        if self.test == "randomization":
            swaps = rankings.randomization(*pair, self.n_resamples, self.rng())
        bends = rankings.acceleration(*pair) if self.interval == "bca" else None
        return resampled_comparison(
            values[:, columns], replicates[:, columns], confidences, rankings.n_units, swaps, bends
        )

    def _own(
        self, rankings: PairedRankings, confidences: Sequence[Confidence], pair: tuple[int, int]
    ) -> list[RankingComparison]:
        """Compare two rankings by a test that suits some metrics alone."""
        evaluate, levels = rankings.evaluate, rankings.levels[list(pair)]
        if not isinstance(evaluate, CellEvaluator):
            raise PrframeError(f"test={self.test!r} is for metrics of cells; see `CellEvaluator`.")
        label = evaluate.label
        if self.test == _DELONG:
            return [
                delong_comparison(levels, label, confidence, rankings.cluster)
                for confidence in confidences
            ]
        return [
            posterior_comparison_at(
                levels, label, metric, confidence, self.n_resamples, self.rng()
            )
            for metric, confidence in zip(evaluate.statistics, confidences, strict=True)
        ]
