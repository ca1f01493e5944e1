"""The choice of the test and the interval that compare rankings of the same items.

This choice is made here alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, TypeAlias, TypeVar

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
    Room,
    Singles,
    correlation_of_decisions,
    single_intervals,
)
from prframe.stats.paired_values import PairedTest
from prframe.stats.rankings import CellEvaluator
from prframe.typing import Alternative, Flags, Floats, Integers

Pair: TypeAlias = tuple[int, int]
Item = TypeVar("Item")
Result = TypeVar("Result")

# This test suits some metrics alone (`CellStatistic.of_two_samples`), and has its own interval.
_DELONG = "delong"
OWN_TESTS = (_DELONG,)


class Each(Protocol):
    """What applies a function to each item of a sequence, in turn or on several threads."""

    def __call__(
        self, compute: Callable[[Item], Result], items: Sequence[Item], /
    ) -> list[Result]:
        """Return the results in the order of the items."""
        ...


def in_turn(compute: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Apply a function to each item, one after the other."""
    return [compute(item) for item in items]


@dataclass(frozen=True)
class ComparisonPlan:
    """The test, the interval and the draws by which rankings of the same items are compared.

    ``interval="auto"`` is that of the test if it has its own, else ``"percentile"``, extended to
    what the intervals of both rankings allow. `rng` returns a generator with the same state each
    time, so that all metrics and pairs have the same draws.
    """

    test: str
    interval: str
    n_resamples: int
    rng: Callable[[], np.random.Generator]

    def check(self) -> None:
        """Refuse options that the test does not use."""
        if self.test in OWN_TESTS and self.interval != "auto":
            raise ArgumentError(
                f"test={self.test!r} has an interval of its own; leave out `interval`; got "
                f"{self.interval!r}."
            )

    def of_pairs(
        self,
        rankings: PairedRankings,
        confidences: Sequence[Confidence],
        pairs: Sequence[Pair],
        each: Each = in_turn,
        *,
        uncut: Integers | None = None,
    ) -> list[list[RankingComparison]]:
        """Compare pairs of the rankings by all metrics, a list of comparisons for each pair.

        `confidences` has one entry per metric, and `each` applies a function to all items of a
        sequence. `uncut` has what scores say before a threshold cuts the rankings off: models that
        differ by it may retrieve the same items.
        """
        singles = self._singles(rankings, confidences, each)
        if self.test in OWN_TESTS:
            return each(lambda pair: self._own(rankings, confidences, pair, singles), pairs)
        replicates: list[Floats] = []
        alternatives: list[Alternative] = [confidence.alternative for confidence in confidences]

        def tests(pair: Pair | None) -> list[PairedTest] | None:
            if pair is None:
                replicates.append(rankings.replicates(self.n_resamples, self.rng()))
            if pair is None or self.test != "randomization":
                return None
            return swap_tests(rankings, pair, alternatives, self.n_resamples, self.rng())

        # Even of a single pair the swaps are drawn while the resamples are.
        _, *tested = each(tests, [None, *pairs])
        values = rankings.values()
        return [
            resampled_comparison(
                values[:, list(pair)],
                replicates[0][:, list(pair)],
                confidences,
                rankings.n_units,
                of_pair,
                rankings.acceleration(*pair) if self.interval == "bca" else None,
                _room(rankings, singles, pair, uncut),
            )
            for pair, of_pair in zip(pairs, tested, strict=True)
        ]

    def _singles(
        self, rankings: PairedRankings, confidences: Sequence[Confidence], each: Each
    ) -> list[Singles]:
        """Return the intervals of the metrics of each ranking; none where they have no use."""
        evaluate = rankings.evaluate
        if (
            self.interval != "auto"
            or not isinstance(evaluate, CellEvaluator)
            or rankings.n_units == 1
        ):
            return []
        if not evaluate.label.any() or confidences[0].tail >= 1 / 2:
            return []
        return each(
            lambda level: single_intervals(
                level, evaluate, confidences[0], lambda: self._weights, rankings.cluster
            ),
            list(rankings.levels),
        )

    @cached_property
    def _weights(self) -> list[Weights]:
        """The weights of draws of curves, which all rankings share."""
        # DeLong's test draws nothing else, and has the same numbers in every call.
        rng = np.random.default_rng(0) if self.test == _DELONG else self.rng()
        return drawn_weights(INTERVAL_DRAWS, rng)

    def _own(
        self,
        rankings: PairedRankings,
        confidences: Sequence[Confidence],
        pair: Pair,
        singles: Sequence[Singles],
    ) -> list[RankingComparison]:
        """Compare two rankings by a test that suits some metrics alone."""
        evaluate, levels = rankings.evaluate, rankings.levels[list(pair)]
        if not isinstance(evaluate, CellEvaluator):
            raise ArgumentError(
                f"test={self.test!r} is for metrics of cells; see `CellEvaluator`."
            )
        room = _room(rankings, singles, pair)
        return [
            delong_comparison(levels, evaluate.label, confidence, rankings.cluster, room)
            for confidence in confidences
        ]


def _room(
    rankings: PairedRankings,
    singles: Sequence[Singles],
    pair: Pair,
    uncut: Integers | None = None,
) -> Room | None:
    """Return the intervals of two rankings; None of equal ones, which are mostly one model."""
    if not singles:
        return None
    first, second = pair
    room = Room(singles[first], singles[second], rankings.n_units)
    if _are_equal(rankings.levels if uncut is None else uncut, pair):
        return None
    passes, evaluate = rankings.levels > 0, rankings.evaluate
    if uncut is None or not _are_equal(passes, pair) or not isinstance(evaluate, CellEvaluator):
        return room
    return replace(room, correlation=correlation_of_decisions(passes[first], evaluate.label))


def _are_equal(levels: Integers | Flags, pair: Pair) -> bool:
    """Tell whether two models have the same levels."""
    first, second = pair
    return np.array_equal(levels[first], levels[second])
