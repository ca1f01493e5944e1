"""Tails of T = n_pos AP where single ranks carry weight, from its distribution on a lattice.

A walk down the ranks gives the distribution (`walk`). A second walk with points twice as
far apart tells how much the distance of the points matters: where the two differ by more than a
little, single values of T carry weight near the value in question.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from prframe.stats.null.average_precision.generating_function.steps import (
    log_binomial,
)
from prframe.stats.null.average_precision.tails.plain.plans import Plans, Retrieved, Shape
from prframe.stats.null.average_precision.tails.plain.sizes import Sizes
from prframe.stats.null.average_precision.tails.plain.walk import NEARBY, Walk
from prframe.typing import Floats, Integers

# A lattice has a row for each likely number of hits. Where more hits than this are likely it would
# be slow, and other methods are used.
MOST_HITS = 600
# Bases, and numbers of points between 0 and the end of a lattice. Values of T share a lattice if
# their logarithms to the base have the same whole part, and it ends just beyond the largest value
# of that kind. The later ones, whose points are closer to each other, are tried for values for
# which the ones before are too coarse.
TRIES = ((4.0, 2048), (4.0, 8192), (1.25, 8192))
# A lattice ends this many times as far as the values that may share it.
_MARGIN = 1.01
# Values share lattices that end at a power of this. Cases with tie blocks, which share them with
# no others, mostly have a single value: their lattices, whose points are as far apart, end sooner.
_ENDS, _ENDS_OF_TIED = 4.0, 2**0.5
# Pairs of natural logarithms of chances. Hits, and positives of a step, whose chance is below the
# first number are left out, which does not change tails above the second number by more than
# 1e-11 of themselves. For smaller tails the next pair is taken, and beyond the last pair there is
# no answer. Chances are the largest in a range of sizes (`Sizes`), so that it does not matter
# what other groups there are.
NEVER = ((-48.0, -20.0), (-83.0, -55.0), (-158.0, -130.0))
# Further pairs, for tails that no quicker method gives. The last ones are as small as floats.
DEEPER = (*NEVER, (-288.0, -260.0), (-428.0, -400.0), (-706.0, -692.0))
# The logarithm of a tail is guessed to be this share of that of a lower bound (`log_least_tails`).
# The guess decides which pair of `NEVER` is tried first.
_GUESSED = 0.9
# The natural logarithm of the tail may change by this much more between the two nearer of these
# places than between a nearer and a further one. If it changes by more, the lattice is too coarse.
_LUMPY = 0.03
# The natural logarithms of the tails from two walks, one with points twice as far apart, may
# differ by this. If they differ by more, the lattice is too coarse.
_APART = 0.02
# Both may also be this share of the tail's logarithm, if that is more.
_SAME_DIGITS = 1e-4
# The least T above 0 is 1 over the depth, for one positive at the last rank. Values of T below
# this share of it are raised to it, which does not change their tails.
_LEAST_RISE = 0.9
# Tails and slopes are raised to this before their logarithm is taken, or a quotient.
_LEAST = float(np.finfo(np.float64).tiny)


# Pairs as those of `NEVER`.
Levels: TypeAlias = tuple[tuple[float, float], ...]
# A base and a number of points (`TRIES`).
Try: TypeAlias = tuple[float, int]
# A function of the end of a lattice and the distance of its points, and one that makes it for
# cases, given the logarithm of chances that do not count.
_Walks: TypeAlias = Callable[[float, float], Walk]
_Made: TypeAlias = Callable[[Sequence[Retrieved], float], _Walks]


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
    cases: Sequence[Retrieved],
    x: Floats,
    ends: Integers | None = None,
    tries: Sequence[Try] = TRIES[:2],
) -> LatticeTails:
    """Return the tails of a value of T for each case, with at most MOST_HITS likely hits.

    All cases have the tie blocks whose ends are given, if any. The tails of a value do not depend
    on the other cases and values.
    """
    sizes = [_sizes(case, ends) for case in cases]
    columns, lumpy = np.full((3, x.size), np.nan), np.ones(x.size, np.bool_)
    for shared in dict.fromkeys(sizes):
        chosen = np.flatnonzero([each == shared for each in sizes])
        own = [cases[place] for place in chosen.tolist()]
        plans = Plans(Shape(own, ends, shared))

        def walks(members: Sequence[Retrieved], never: float, plans: Plans = plans) -> _Walks:
            """Return what makes walks for cases."""
            return partial(Walk, plans, never=never, cases=members)

        guess = _GUESSED * log_least_tails(own, x[chosen])
        *part, lumpy[chosen] = _tried(walks, own, x[chosen], guess, (tries, NEVER, _ENDS))
        columns[:, chosen] = part
    reached, missed, slope = columns
    return LatticeTails(reached, missed, slope, lumpy)


def _sizes(case: Retrieved, ends: Integers | None) -> Sizes:
    """Return the range of sizes with which a case shares walks."""
    return Sizes.around(case.n, case.n_pos) if ends is None else Sizes.among([case[:2]])


class Lattice:
    """The tails of a case, whose walks are kept for further values.

    Parameters
    ----------
    case : Retrieved
    ends : ndarray of int, optional
        Ends of the tie blocks.
    """

    def __init__(self, case: Retrieved, ends: Integers | None = None) -> None:
        self._case = case
        self._plans = Plans(Shape([case], ends, _sizes(case, ends)))
        self._ends = _ENDS if ends is None else _ENDS_OF_TIED
        self._walks: dict[tuple[float, float, float], Walk] = {}
        self._smaller: dict[float, float] = {}

    def tails(
        self, x: Floats, tries: Sequence[Try] = TRIES, levels: Levels = NEVER
    ) -> LatticeTails:
        """Return the tails of values of T, as `lattice_tails` does."""
        cases, values = [self._case] * x.size, x.tolist()
        guess = _GUESSED * log_least_tails(cases, x)
        # Closer lattices need not find out again which chances are too large to be left out.
        guess = np.minimum(guess, [self._smaller.get(value, 0.0) for value in values])
        tails = _tried(self._made, cases, x, guess, (tries, levels, self._ends))
        smaller = np.fmin(np.minimum(tails.reached, tails.missed), 0.0).tolist()
        self._smaller |= dict(zip(values, smaller, strict=True))
        return tails

    def _made(self, _: Sequence[Retrieved], never: float) -> _Walks:
        """Return what makes walks, each of them only once."""

        def walk(top: float, cell: float) -> Walk:
            """Return a walk."""
            if (top, cell, never) not in self._walks:
                self._walks[top, cell, never] = Walk(self._plans, top, cell, never)
            return self._walks[top, cell, never]

        return walk


def _tried(
    walks: _Made,
    cases: Sequence[Retrieved],
    x: Floats,
    guess: Floats,
    kinds_of_lattices: tuple[Sequence[Try], Levels, float],
) -> LatticeTails:
    """Return the tails from one lattice after the other, until they are not too coarse.

    `guess` has about the logarithms of the smaller tails, or more. Lattices end at powers of their
    bases, or at those of the last of `kinds_of_lattices` where these come first.
    """
    tries, levels, ends = kinds_of_lattices
    x = np.maximum(x, [_LEAST_RISE / case.depth for case in cases])
    columns, lumpy = np.full((3, x.size), np.nan), np.ones(x.size, np.bool_)
    open_ = np.arange(x.size)
    for base, points in tries:
        furthest = _next_power(x[open_], base)
        last = np.minimum(furthest, _next_power(x[open_], ends))
        for end in np.unique(last).tolist():
            chosen = open_[last == end]
            cell = _MARGIN * float(furthest[last == end][0]) / points
            members = [cases[place] for place in chosen.tolist()]
            columns[:, chosen], lumpy[chosen] = _compared(
                walks, members, (x[chosen], guess[chosen]), (_MARGIN * end, cell), levels
            )
        open_ = open_[lumpy[open_] & ~np.isnan(columns[2, open_])]
        if not open_.size:
            break
    reached, missed, slope = columns
    return LatticeTails(reached, missed, slope, lumpy)


def _next_power(x: Floats, base: float) -> Floats:
    """Return the first power of a base beyond each value."""
    return np.asarray(base ** (np.log(x) // np.log(base) + 1))


def _compared(
    walks: _Made,
    cases: Sequence[Retrieved],
    values: tuple[Floats, Floats],
    size: tuple[float, float],
    levels: Levels,
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return tails, slopes, and whether a lattice is too coarse, from walks of two widths.

    Values come with guesses of their tails. `size` is where the lattice ends, and how far its
    points are apart. Each value has the first of the levels that is small enough for its own tail.
    """
    x, guess = values
    columns, lumpy = np.full((3, x.size), np.nan), np.ones(x.size, np.bool_)
    (top, cell), open_ = size, np.arange(x.size)
    for never, furthest in levels:
        is_last = furthest == levels[-1][1]
        chosen = open_[(guess[open_] > furthest) | is_last]
        if not chosen.size:
            continue
        members = [cases[place] for place in chosen.tolist()]
        walk = walks(members, never)
        coarse = walk(top, 2 * cell).pairs(members, x[chosen])
        enough = (coarse[0].min(axis=0) > np.exp(furthest)) | is_last
        good = chosen[enough]
        if good.size:
            fine = walk(top, cell).pairs([cases[place] for place in good.tolist()], x[good])
            columns[:, good], lumpy[good] = combined_tails(
                logs(fine), logs(coarse[:, :, enough]), cell, furthest
            )
        open_ = np.setdiff1d(open_, good)
    return columns, lumpy


def log_least_tails(cases: Sequence[Retrieved], x: Floats) -> Floats:
    """Return lower bounds of log P(T >= x), the chances that the first ranks are positive."""
    n, n_pos, _ = np.array(cases, dtype=np.float64).T
    first = np.minimum(np.ceil(x), n_pos)
    return log_binomial(n - first, n_pos - first) - log_binomial(n, n_pos)


def logs(pairs: Floats) -> Floats:
    """Return the logarithms of chances, which may be 0."""
    return np.asarray(np.log(np.maximum(pairs, _LEAST)))


def combined_tails(
    fine: Floats, coarse: Floats, cell: float, furthest: float
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the tails and the slopes from two walks, and whether they are too coarse.

    `fine` and `coarse` are the logarithms of both tails where `nearby` has it.

    Where the value itself carries weight, the lattice spreads that weight over both sides of it;
    the tails just below, extrapolated to the value, count all of it. No lattice can tell a value
    that carries weight from one right beside it, so that these are called too coarse all the same.
    """
    upper = fine[0, 0] <= fine[0, 1]
    smaller, other = (np.where(upper, pairs[:, 0], pairs[:, 1]) for pairs in (fine, coarse))
    slope = np.abs(smaller[1] - smaller[0]) / (NEARBY * cell)
    apart = smaller[0] - other[0]
    steps = np.abs(np.diff(smaller[2:6], axis=0))
    beside = steps[1] - np.minimum(steps[0], steps[2])
    below, other_below = (each[7] + (each[7] - each[6]) / 2 for each in (smaller, other))
    jump = np.minimum(np.abs(below - smaller[0]), np.abs(smaller[3] - smaller[0]))
    tail = np.minimum(smaller[0] + apart / 3, 0.0)
    same = _SAME_DIGITS * np.abs(tail)
    most, most_beside = np.maximum(_APART, same), np.maximum(_LUMPY, same)
    lumpy = (np.abs(apart) > most) | (beside > most_beside) | (jump > most_beside)
    heavier = np.where(upper, 1.0, -1.0) * (below - smaller[0]) > 0
    from_below = lumpy & heavier & (np.abs(below - other_below) <= _APART)
    tail = np.where(from_below, np.minimum(below, 0.0), tail)
    tail[tail < furthest] = np.nan
    with np.errstate(divide="ignore"):
        rest = np.log(-np.expm1(np.minimum(tail, -_LEAST)))
    pair = np.where(upper, [tail, rest], [rest, tail])
    slope = np.where(np.isnan(tail), np.nan, np.maximum(slope, _LEAST))
    return np.array([*pair, slope]), lumpy
