"""The choice of the test and the interval that compare rankings of the same items."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from prframe.draws import INTERVAL_DRAWS
from prframe.errors import ArgumentError
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
from prframe.typing import Alternative, Flags, Floats, Integers

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
