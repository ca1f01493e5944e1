"""Tails of T = n_pos AP where single ranks carry weight, from its distribution on a lattice.

A walk down the ranks gives the distribution (`lattice_walk`). A second walk with points twice as
far apart tells how much the distance of the points matters: where the two differ by more than a
little, single values of T carry weight near the value in question.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prframe.stats.null.average_precision.generating_function.steps import (
    log_binomial,
)
from prframe.stats.null.average_precision.tails.lattice_walk import (
    NEARBY,
    Plans,
    Retrieved,
    Shape,
    Walk,
)
from prframe.typing import Floats, Integers

# A lattice has a row for each likely number of hits. Where more hits than this are likely it would
# be slow, and other methods are used.
MOST_HITS = 600
# The numbers of points between 0 and the largest value of T. The second number is tried for those
# values for which the first one is too coarse.
_POINTS = (2048, 8192)
# Values of T share a lattice if their logarithms to this base have the same whole part. The
# largest of them is less than this many times the smallest.
_ALIKE_VALUES = 4.0
# For values one at a time these bases and numbers of points are tried. The last lattice ends close
# to the value, so that its points are close to each other.
_APIECE = *((_ALIKE_VALUES, points) for points in _POINTS), (1.25, _POINTS[-1])
# Pairs of natural logarithms of chances. Hits, and positives of a step, whose chance is below the
# first number are left out. That is accurate enough for tails above the second number; for
# smaller tails the next pair is taken, and beyond the last pair there is no answer.
NEVER = ((-40.0, -20.0), (-57.0, -37.0), (-75.0, -55.0), (-112.0, -92.0), (-150.0, -130.0))
# The logarithm of a tail is guessed to be this share of that of a lower bound (`log_least_tails`).
# The guess decides which pair of `NEVER` is tried first.
_GUESSED = 0.9
# The natural logarithm of the tail may change by this much more between the two nearer of these
# places than between a nearer and a further one. If it changes by more, the lattice is too coarse.
_LUMPY = 0.03
# The natural logarithms of the tails from two walks, one with points twice as far apart, may
# differ by this. If they differ by more, the lattice is too coarse.
_APART = 0.02
# The least T above 0 is 1 over the depth, for one positive at the last rank. Values of T below
# this share of it are raised to it, which does not change their tails.
_LEAST_RISE = 0.9
# Tails and slopes are raised to this before their logarithm is taken, or a quotient.
_LEAST = 1e-300


class LatticeTails(NamedTuple):
    """The logarithms of P(T >= x) and P(T < x), and the slope of the smaller one's logarithm.

    `lumpy` tells where a lattice is too coarse, as single values of T next to x carry weight;
    where the smaller tail is too small for the terms that were taken, all are NaN.
    """

    reached: Floats
    missed: Floats
    slope: Floats
    lumpy: NDArray[np.bool_]


def lattice_tails(
    cases: Sequence[Retrieved], x: Floats, ends: Integers | None = None
) -> LatticeTails:
    """Return the tails of a value of T for each case, with at most MOST_HITS likely hits.

    All cases have the tie blocks whose ends are given, if any.
    """
    columns = np.full((3, x.size), np.nan)
    lumpy = np.ones(x.size, np.bool_)
    x = np.maximum(x, [_LEAST_RISE / case.depth for case in cases])
    size = _kind(x).tolist()
    order = sorted(range(x.size), key=size.__getitem__)
    for _, members in groupby(order, key=size.__getitem__):
        chosen = np.array(list(members))
        for points in _POINTS:
            chosen_cases, values = [cases[k] for k in chosen], x[chosen]
            top = float(values.max())
            walk = partial(Walk, Plans(Shape(chosen_cases, ends)), top)
            columns[:, chosen], lumpy[chosen] = _compared(walk, chosen_cases, values, top / points)
            chosen = chosen[lumpy[chosen] & ~np.isnan(columns[2, chosen])]
            if not chosen.size:
                break
    reached, missed, slope = columns
    return LatticeTails(reached, missed, slope, lumpy)


class Lattice:
    """The tails of a case, whose walks are kept for further values.

    Parameters
    ----------
    case : Retrieved
    ends : ndarray of int, optional
        Ends of the tie blocks.
    """

    def __init__(self, case: Retrieved, ends: Integers | None = None) -> None:
        self._shape = Shape([case], ends)
        self._plans = Plans(self._shape)
        self._walks: dict[tuple[float, float, float], Walk] = {}

    def tails(self, x: float, *, close: bool = True) -> LatticeTails:
        """Return the tails of a value of T, from points close to each other if need be."""
        values = np.array([max(x, _LEAST_RISE / self._shape.cases[0].depth)])
        columns, lumpy = np.zeros((3, 1)), np.ones(1, np.bool_)
        for base, points in _APIECE if close else _APIECE[:1]:
            top = 1.01 * float(base ** (_kind(values, base)[0] + 1))
            walk = partial(self._walk, top)
            columns, lumpy = _compared(walk, self._shape.cases, values, top / points)
            if not lumpy[0] or np.isnan(columns[2, 0]):
                break
        reached, missed, slope = columns
        return LatticeTails(reached, missed, slope, lumpy)

    def _walk(self, top: float, cell: float, never: float) -> "Walk":
        """Return a walk, which is made only once."""
        if (top, cell, never) not in self._walks:
            self._walks[top, cell, never] = Walk(self._plans, top, cell, never)
        return self._walks[top, cell, never]


def _kind(x: Floats, base: float = _ALIKE_VALUES) -> Integers:
    """Return numbers that are equal for values of a similar size."""
    return np.asarray(np.log(x) // np.log(base), dtype=np.int64)


def _compared(
    walk: "Callable[[float, float], Walk]", cases: Sequence[Retrieved], x: Floats, cell: float
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return tails, slopes, and whether a lattice is too coarse, from walks of two widths."""
    coarse, never, furthest = np.zeros((0, 2, x.size)), 0.0, 0.0
    guess = _GUESSED * float(log_least_tails(cases, x).min())
    for never, furthest in NEVER:
        if guess > furthest or furthest == NEVER[-1][1]:
            coarse = walk(2 * cell, never).pairs(cases, x)
            if (coarse[0].min(axis=0) > np.exp(furthest)).all():
                break
    return combined_tails(walk(cell, never).pairs(cases, x), coarse, cell, furthest)


def log_least_tails(cases: Sequence[Retrieved], x: Floats) -> Floats:
    """Return lower bounds of log P(T >= x), the chances that the first ranks are positive."""
    n, n_pos, _ = np.array(cases, dtype=np.float64).T
    first = np.minimum(np.ceil(x), n_pos)
    return log_binomial(n - first, n_pos - first) - log_binomial(n, n_pos)


def combined_tails(
    fine: Floats, coarse: Floats, cell: float, furthest: float
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the tails and the slopes from two walks, and whether they are too coarse.

    Where the value itself carries weight, the lattice spreads that weight over both sides of it;
    the tails just below, extrapolated to the value, count all of it. No lattice can tell a value
    that carries weight from one right beside it, so that these are called too coarse all the same.
    """
    fine, coarse = (np.log(np.maximum(pairs, _LEAST)) for pairs in (fine, coarse))
    upper = fine[0, 0] <= fine[0, 1]
    smaller, other = (np.where(upper, pairs[:, 0], pairs[:, 1]) for pairs in (fine, coarse))
    slope = np.abs(smaller[1] - smaller[0]) / (NEARBY * cell)
    apart = smaller[0] - other[0]
    steps = np.abs(np.diff(smaller[2:6], axis=0))
    beside = steps[1] - np.minimum(steps[0], steps[2])
    below, other_below = (logs[7] + (logs[7] - logs[6]) / 2 for logs in (smaller, other))
    jump = np.minimum(np.abs(below - smaller[0]), np.abs(smaller[3] - smaller[0]))
    tail = np.minimum(smaller[0] + apart / 3, 0.0)
    lumpy = (np.abs(apart) > _APART) | (beside > _LUMPY) | (jump > _LUMPY)
    heavier = np.where(upper, 1.0, -1.0) * (below - smaller[0]) > 0
    from_below = lumpy & heavier & (np.abs(below - other_below) <= _APART)
    tail = np.where(from_below, np.minimum(below, 0.0), tail)
    tail[tail < furthest] = np.nan
    with np.errstate(divide="ignore"):
        rest = np.log(-np.expm1(np.minimum(tail, -_LEAST)))
    pair = np.where(upper, [tail, rest], [rest, tail])
    slope = np.where(np.isnan(tail), np.nan, np.maximum(slope, _LEAST))
    return np.array([*pair, slope]), lumpy
