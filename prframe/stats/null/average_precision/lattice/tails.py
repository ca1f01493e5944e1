"""Tails of T = n_pos AP where single ranks carry weight, from its distribution on a lattice.

A second walk with points twice as far apart tells how much the distance of the points matters:
where the two differ by more than a little, single values of T carry weight near the value in
question, and the lattice is too coarse.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from prframe.stats.null.average_precision.lattice.terms import Plan, Retrieved
from prframe.stats.null.average_precision.lattice.walk import Walk
from prframe.stats.null.average_precision.steps import log_binomial
from prframe.typing import Floats, Integers

# Bases, and numbers of points between 0 and the end of a lattice. Values of T share a lattice if
# their logarithms to the base have the same whole part, and it ends just beyond the largest value
# of that kind. The later ones, whose points are closer to each other, are tried for values for
# which the ones before are too coarse.
_TRIES = ((4.0, 2048), (4.0, 8192))
# A lattice ends this many times as far as the values that may share it.
_MARGIN = 1.01
# Pairs of natural logarithms of chances. Hits, and positives of a step, whose chance is below the
# first number are left out, which does not change tails above the second number by more than
# 1e-11 of themselves. For smaller tails the next pair is taken, and beyond the last pair there is
# no answer.
_NEVER = ((-48.0, -20.0), (-100.0, -72.0))
# The logarithm of a tail is guessed to be this share of that of a lower bound, the chance that the
# first ranks are positive.
_GUESSED = 0.9
# A lattice is too coarse if the natural logarithm of the tail changes by more than the first
# number between the two nearer of the places beside a value than between a nearer and a further
# one, or if two walks differ by more than the second. Both may be the third share of the tail's
# logarithm, if that is more.
_LUMPY, _APART, _SAME_DIGITS = 0.03, 0.02, 1e-4
# A value carries weight where the logarithm of the tail jumps there by more than the first number.
# Beyond the second a lattice cannot tell the value from one right beside it.
_JUMP, _WEIGHTY = 0.002, 0.01
# The least T above 0 is 1 over the depth, for one positive at the last rank. Values of T below
# this share of it are raised to it, which does not change their tails.
_LEAST_RISE = 0.9
_LEAST = float(np.finfo(np.float64).tiny)


def lattice_tails(
    cases: Sequence[Retrieved], x: Floats, ends: Integers | None = None
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the logarithms of both tails of a value of T for each case, and which are rough.

    All cases have the tie blocks whose ends are given, if any. The first array has the shape
    (2, n_cases); it is NaN where the smaller tail is too small for the terms that were taken.
    """
    n, n_pos, depth = np.array(cases, dtype=np.float64).T
    first = np.minimum(np.ceil(x), n_pos)
    guess = _GUESSED * (log_binomial(n - first, n_pos - first) - log_binomial(n, n_pos))
    x = np.maximum(x, _LEAST_RISE / np.maximum(depth, 1))
    tails, rough = np.full((2, x.size), np.nan), np.ones(x.size, np.bool_)
    left = np.arange(x.size)
    for base, points in _TRIES:
        last = base ** (np.log(x[left]) // np.log(base) + 1)
        for end in np.unique(last).tolist():
            chosen = left[last == end]
            top, cell = _MARGIN * end, _MARGIN * end / points
            for never, furthest in _NEVER:
                is_last = furthest == _NEVER[-1][1]
                asked = chosen[(guess[chosen] > furthest) | is_last]
                if not asked.size:
                    continue
                members = [cases[place] for place in asked.tolist()]
                known = tuple(sorted(set(members))), None if ends is None else ends.tobytes()
                coarse = _walk(*known, never, top, 2 * cell).pairs(members, x[asked])
                fine = _walk(*known, never, top, cell).pairs(members, x[asked])
                found, is_rough = _combined(_logs(fine), _logs(coarse))
                smaller = found.min(axis=0)
                enough = smaller > furthest
                tails[:, asked[enough]], rough[asked[enough]] = found[:, enough], is_rough[enough]
                guess[asked] = np.minimum(guess[asked], smaller)
                chosen = np.setdiff1d(chosen, asked[enough])
        left = left[rough[left] & ~np.isnan(tails[0, left])]
        if not left.size:
            break
    return tails, rough


@lru_cache(maxsize=8)
def _walk(
    cases: tuple[Retrieved, ...], ends: bytes | None, never: float, top: float, cell: float
) -> Walk:
    """Return a walk, of which searches for quantiles need the same again and again."""
    return Walk(_plan(cases, ends, never), cases, top, cell)


@lru_cache(maxsize=4)
def _plan(cases: tuple[Retrieved, ...], ends: bytes | None, never: float) -> Plan:
    """Return the terms of walks of two widths."""
    return Plan(cases, None if ends is None else np.frombuffer(ends, np.int64), never)


def _logs(chances: Floats) -> Floats:
    """Return the logarithms of chances, which may be 0."""
    return np.asarray(np.log(np.maximum(chances, _LEAST)))


def _combined(fine: Floats, coarse: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the logarithms of both tails from two walks, and whether they are too coarse.

    `fine` and `coarse` are the logarithms of both tails where `nearby` has it.

    Where the value itself carries weight, the lattice spreads that weight over both sides of it;
    the tails just below, extrapolated to the value, count all of it. No lattice can tell a value
    that carries weight from one right beside it, so that these are called too coarse all the same.
    """
    upper = fine[0, 0] <= fine[0, 1]
    smaller, other = (np.where(upper, pairs[:, 0], pairs[:, 1]) for pairs in (fine, coarse))
    apart = smaller[0] - other[0]
    steps = np.abs(np.diff(smaller[2:6], axis=0))
    beside = steps[1] - np.minimum(steps[0], steps[2])
    below, other_below = (each[7] + (each[7] - each[6]) / 2 for each in (smaller, other))
    jump = np.minimum(np.abs(below - smaller[0]), np.abs(smaller[3] - smaller[0]))
    tail = np.minimum(smaller[0] + apart / 3, 0.0)
    same = _SAME_DIGITS * np.abs(tail)
    most, most_beside = np.maximum(_APART, same), np.maximum(_LUMPY, same)
    rough = (np.abs(apart) > most) | (beside > most_beside) | (jump > _WEIGHTY)
    heavier = np.where(upper, 1.0, -1.0) * (below - smaller[0]) > 0
    from_below = heavier & (jump > _JUMP) & (np.abs(below - other_below) <= _APART)
    tail = np.where(from_below, np.minimum(below, 0.0), tail)
    with np.errstate(divide="ignore"):
        rest = np.log(-np.expm1(np.minimum(tail, -_LEAST)))
    return np.where(upper, [tail, rest], [rest, tail]), rough
