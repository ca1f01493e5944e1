"""Tails of sums of which some terms are on a lattice, and the others, if any, beside it."""

from collections.abc import Iterator, Sequence
from functools import reduce
from math import sqrt

import numpy as np

from prframe.stats.null.average_precision.sums.ladder import Grid, Ladder, OnLattice
from prframe.stats.null.average_precision.sums.smooth import Smooth, Under, log_tails
from prframe.stats.null.average_precision.sums.terms import Term
from prframe.stats.null.average_precision.sums.tilted import Rough, RoughSum, Tilted
from prframe.stats.null.average_precision.tails.plain.walk import nearby
from prframe.typing import Floats

# A lattice ends this many standard deviations of the rankings beside it beyond where it has to.
_AROUND = 12.0
# The slope with rankings beside the lattice is found in at most so many turns. It is near enough
# if the tilted mean is at most this many tilted standard deviations from the value.
_MOST_TURNS, _NEAR = 8, 0.5


class Beside:
    """Values of a sum, and the terms of it that are beside a lattice, if any.

    Attributes
    ----------
    doubt : ndarray of float
        How much the last terms of the expansion matter, by value.
    """

    def __init__(self, terms: Sequence[Term], targets: Floats) -> None:
        self._smooth = Smooth(terms) if terms else None
        self._targets = targets
        self.doubt = np.zeros(targets.size)
        self._under: dict[int, Under | None] = {}

    def largest(self, terms: Sequence[Term]) -> float:
        """Return up to where a lattice has to go."""
        largest = float(self._targets.max())
        if self._smooth is None:
            return largest
        mean = float(sum(term.often * term.mean for term in terms))
        least = self._smooth.mean - _AROUND * self._smooth.deviation
        return max(largest - max(least, 0.0), mean)

    def log_pairs(self, ladders: Sequence[Ladder], grid: Grid) -> Floats:
        """Return the logarithms of P(S >= y) and P(S < y) for all values and others nearby.

        The result has the shape (8, 2, n_values); it is NaN where walks fail.
        """
        places = range(self._targets.size)
        return np.stack([self._log_pair(ladders, grid, place) for place in places], axis=2)

    def _log_pair(self, ladders: Sequence[Ladder], grid: Grid, place: int) -> Floats:
        """Return the logarithms of both tails of a value and of others nearby, shape (8, 2).

        The distributions of terms are made anew for each value, since those of hundreds of terms
        would take gigabytes together.
        """
        unit, target = grid.cell / grid.fine, float(self._targets[place])
        at = target + nearby(grid.cell)
        if self._smooth is None:
            slope = _rough(ladders, grid).slope(target / unit)
            return _sum(ladders, slope).log_tails(slope, at / unit).T
        if place not in self._under:
            rough = _rough(ladders, grid)
            self._under[place] = _likely_under(self._smooth, rough, target, unit)
        under = self._under[place]
        if under is None:
            return np.full((at.size, 2), np.nan)
        pairs, self.doubt[place] = log_tails(_sum(ladders, under.slope * unit), unit, under, at)
        return pairs.T


def _likely_under(smooth: Smooth, rough: RoughSum, target: float, unit: float) -> Under | None:
    """Return the others under a slope that makes the value likely; None if there is none."""
    slope, mean, variance = 0.0, smooth.mean, smooth.deviation**2
    for _ in range(_MOST_TURNS):
        # As long as the slope changes little, the others are as normal.
        normal = ((mean - slope * variance) / unit, variance / unit**2)
        slope = rough.slope(target / unit, normal) / unit
        under = None if np.isnan(slope) else smooth.under(slope)
        if under is None:
            return None
        slope, mean, variance = under.slope, under.mean, under.deviation**2
        own_mean, own_variance = rough.moments(slope * unit)
        lack = target - mean - own_mean * unit
        if abs(lack) <= _NEAR * sqrt(variance + own_variance * unit**2):
            return under
    return None


def _rough(ladders: Sequence[Ladder], grid: Grid) -> RoughSum:
    """Return the sum of all terms, of which the weights of cells are known."""
    return RoughSum([(Rough.of(each, grid.fine), often) for each, often in _all(ladders)])


def _all(ladders: Sequence[Ladder]) -> Iterator[tuple[OnLattice, int]]:
    """Yield the distributions of all terms, and how often each is added."""
    for ladder in ladders:
        yield from ladder.distributions()


def _sum(ladders: Sequence[Ladder], slope: float) -> Tilted:
    """Return the distribution of the sum under a slope."""
    terms = (Tilted.of(each, slope).times(often, slope) for each, often in _all(ladders))
    return reduce(lambda total, term: total.added(term, slope), terms)
