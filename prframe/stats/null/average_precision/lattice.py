"""Tails of T = n_pos AP where single ranks carry weight, from its distribution on a lattice.

Row h holds the distribution of T over all rankings of t items with h positives. The last m of the
t ranks hold j of the positives with a hypergeometric chance, and T grows by g, so that

    row h of t  =  sum over j of  P(j | h) times row h - j of t - m, moved by g.

One walk down the ranks holds this for every number of retrieved items (= t) and of positives among
them (= h). T is kept on a lattice from 0 to the value in question; weight between two points is
shared between them, which keeps the mean. All terms are positive, so no digits are lost far out.
A second walk with points twice as far apart tells whether the lattice is too coarse, as it is
where single values of T carry weight near the value in question.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.blas import daxpy

from prframe.stats.null.average_precision.lattice_terms import Block, Plan
from prframe.stats.null.average_precision.steps import Retrieved, log_binomial, ranges
from prframe.typing import Flags, Floats, Integers

# Bases and numbers of points of lattices. Values of T share one if their logarithms to the base
# have the same whole part. Values for which the first is too coarse take the second.
_TRIES = ((4.0, 2048), (4.0, 8192))
# A lattice ends this many times as far as the values that may share it, and so many points on.
_MARGIN = 1.01
# Pairs of logarithms: hits, and positives of a step, of smaller chance than the first are left
# out, which serves tails above the second. Beyond the last pair there is no answer.
_NEVER = ((-48.0, -20.0), (-100.0, -72.0))
# The logarithm of a tail is guessed to be this share of that of a lower bound, the chance that the
# first ranks are positive.
_GUESSED = 0.9
# A lattice is too coarse if the logarithm of the tail changes by more than the first number
# between the nearer places beside a value than elsewhere, or two walks differ by more than the
# second. Both may be the third share of the logarithm, if that is more.
_LUMPY, _APART, _SAME_DIGITS = 0.03, 0.02, 1e-4
# A value carries weight where the logarithm of the tail jumps there by more than the first number.
# Beyond the second a lattice cannot tell the value from one right beside it.
_JUMP, _WEIGHTY = 0.002, 0.01
# Values of T below this share of the least T above 0, 1 over the depth, are raised to it.
_LEAST_RISE = 0.9
_LEAST = float(np.finfo(np.float64).tiny)
# A lattice ends this many points beyond the largest value.
_MORE = 40.0
# Tails are taken at this many points of the lattice on both sides of a value, and three times as
# far off, to see whether single values carry weight.
_BESIDE = 2.5
# As points share the weight between them, some lies beyond the largest T, by at most this many.
_DRIFT = 100
# The number of values that are interpolated at a time, which bounds the memory.
_AT_ONCE = 1 << 18


class _Rows(NamedTuple):
    """The distributions of T for the hits `low`, ... at a rank, on the lattice and beyond it."""

    low: int
    weight: Floats
    beyond: Floats


def nearby(cell: float) -> Floats:
    """Return the distances from a value at which tails are taken: 0, further on, and beside it."""
    around = _BESIDE * np.array([-3.0, -1.0, 1.0, 3.0, -6.0, -2.0])
    return np.asarray(cell * np.array([0.0, _MORE, *around]))


class _Move(NamedTuple):
    """What a step does to the distributions; it leads to `number` rows from the hits `low` on."""

    low: int
    number: int
    # Weight of the row `source` times `factor` goes to the row `target`; that from the point
    # `keep` on, if any, falls off the lattice.
    source: Integers
    target: Integers
    factor: Floats
    keep: Integers
    is_cut: Flags
    # All weight that stays: numbers of points, factors, first points before and after the step.
    pieces: Sequence[list[Any]]


class Walk:
    """A walk to the last step of each case, for T up to `top`, by points `cell` apart."""

    def __init__(self, plan: Plan, cases: Sequence[Retrieved], top: float, cell: float) -> None:
        self.cell, self._plan = cell, plan
        self._width = int(np.ceil(top / cell + _MORE)) + 2
        steps, depths = plan.steps, sorted({case.depth for case in cases})
        leave = dict(zip(depths, np.searchsorted(steps.end, depths).tolist(), strict=True))
        self._left: dict[int, tuple[_Rows, int]] = {}
        rows, last = _Rows(0, np.eye(1, self._width), np.zeros(1)), leave[depths[-1]]
        moves = (move for block in plan.blocks() for move in self._block_moves(block))
        for step in range(last + 1):
            leaving = [depth for depth in depths if leave[depth] == step]
            self._left |= dict.fromkeys(leaving, (rows, int(steps.above[step])))
            if step < last:
                rows = self._moved(rows, next(moves))

    def pairs(self, cases: Sequence[Retrieved], x: Floats) -> Floats:
        """Return P(T >= y) and P(T < y), y - x being those of `nearby`; shape (8, 2, n_cases)."""
        chances = np.zeros((8, 2, x.size))
        above = np.array([self._left[case.depth][1] for case in cases])
        for rank in np.unique(above).tolist():
            places = np.flatnonzero(above == rank)
            chosen = [cases[place] for place in places.tolist()]
            chances[:, :, places] = self._last(chosen, x[places] + nearby(self.cell)[:, None])
        return chances

    def _block_moves(self, block: Block) -> Iterator[_Move]:
        """Yield the moves of the steps of a block."""
        width = self._width
        again, growth, chance = block.terms.split(self.cell)
        part, whole = np.modf(growth / self.cell)
        point = whole.astype(np.int64)
        # Weight goes to the points below and above. Where growth is two values these may coincide.
        again = np.tile(again, 2)
        order = np.argsort(again, kind="stable")
        again = again[order]
        shift = np.append(point, point + 1)[order]
        factor = np.append((1 - part) * chance, part * chance)[order]
        is_new = (np.diff(again, prepend=-1) != 0) | (np.diff(shift, prepend=-1) != 0)
        first = np.flatnonzero(is_new)
        again, shift = again[first], shift[first]
        factor = np.add.reduceat(factor, first) if first.size else factor
        row, above = block.terms.row[again], block.terms.above[again]
        step = block.step[row]
        ends = np.searchsorted(step, np.arange(block.low.size + 1))
        source, target = above - block.low_above[step], block.hits[row] - block.low[step]
        # T is at most the number of hits, plus a little where it was shared between points.
        occupied = np.minimum(width, (above / self.cell).astype(np.int64) + _DRIFT)
        keep = np.clip(width - shift, 0, occupied)
        is_inside = np.flatnonzero((keep > 0) & (factor > 0))
        columns = (keep, factor, source * width, target * width + shift)
        pieces = [column[is_inside].tolist() for column in columns]
        cuts = np.searchsorted(is_inside, ends).tolist()
        numbers = (block.high - block.low + 1).tolist()
        for place, (low, number) in enumerate(zip(block.low.tolist(), numbers, strict=True)):
            own = slice(int(ends[place]), int(ends[place + 1]))
            stay = slice(cuts[place], cuts[place + 1])
            each = source[own], target[own], factor[own], keep[own]
            is_cut = keep[own] < occupied[own]
            yield _Move(low, number, *each, is_cut, [column[stay] for column in pieces])

    def _moved(self, rows: _Rows, move: _Move) -> _Rows:
        """Return the distributions at the end of a step."""
        lost = move.factor * rows.beyond[move.source]
        cut = np.flatnonzero(move.is_cut)
        if cut.size:
            furthest = self._width - int(move.keep[cut].min())
            sums = np.zeros((rows.weight.shape[0], furthest + 1))
            np.cumsum(rows.weight[:, : -furthest - 1 : -1], axis=1, out=sums[:, 1:])
            lost[cut] += move.factor[cut] * sums[move.source[cut], self._width - move.keep[cut]]
        beyond = np.bincount(move.target, lost, move.number).astype(np.float64)
        weight = np.zeros((move.number, self._width))
        count, share, begin, end = move.pieces
        every: list[Any] = [repeat(rows.weight.ravel()), repeat(weight.ravel()), count, share]
        # No loop of Python's own is as quick.
        deque(map(daxpy, *every, begin, repeat(1), end, repeat(1)), maxlen=0)
        return _Rows(move.low, weight, beyond)

    def _last(self, cases: Sequence[Retrieved], x: Floats) -> Floats:
        """Take cases' last steps from a rank; return tails of x, (n_offsets, 2, n_cases)."""
        index = {case: place for place, case in enumerate(dict.fromkeys(cases))}
        depth = np.array([case.depth for case in index])
        left, above = self._left[int(depth[0])]
        cuts = self._plan.items.between(np.full(depth.size, above), depth)
        of, retrieved, share = self._plan.shares(list(index))
        rows = np.full(depth.size, left.low), np.full(depth.size, left.low + left.beyond.size - 1)
        terms = self._plan.terms(cuts, rows, (of, retrieved, np.log(share)))
        again, growth, chance = terms.split(self.cell)
        order = np.argsort(of[terms.row[again]], kind="stable")
        again, growth, chance = again[order], growth[order], chance[order]
        row, met = terms.row[again], terms.above[again] - left.low
        factor = chance * share[row]
        least = int(met.min(initial=0))
        own = slice(least, int(met.max(initial=0)) + 1)
        weight, beyond = left.weight[own], left.beyond[own, None]
        # P(T >= x) and P(T < x) at the points of the lattice, by number of hits.
        reached = np.cumsum(weight[:, ::-1], axis=1)[:, ::-1] + beyond
        survival = np.array([reached, np.cumsum(weight, axis=1)]) - weight / 2
        number = np.bincount(of[row], minlength=depth.size)
        begin = np.cumsum(number) - number
        case = np.array([index[each] for each in cases])
        chances = np.zeros((x.shape[0], 2, x.shape[1]))
        at_once = max(1, _AT_ONCE // (int(number.max()) * x.shape[0]))
        for first in range(0, case.size, at_once):
            part = slice(first, first + at_once)
            value, place = ranges(number[case[part]])
            term = begin[case[part]][value] + place
            each = self._at(survival, met[term] - least, x[:, part][:, value] - growth[term])
            starts = np.flatnonzero(place == 0)
            chances[:, :, part] = np.add.reduceat(each * factor[term], starts, axis=2)
        return chances

    def _at(self, survival: Floats, row: Integers, x: Floats) -> Floats:
        """Return P(T >= x) and P(T < x), (n_offsets, 2, n_rows), given hits; x lacks the 2."""
        place, share = np.divmod(np.maximum(x, 0.0) / self.cell, 1.0)
        index = place.astype(np.int64)
        value = (1 - share) * survival[:, row, index] + share * survival[:, row, index + 1]
        value = np.where(x > 0, value, np.array([1.0, 0.0])[:, None, None])
        return np.moveaxis(value, 0, 1)


def lattice_tails(
    cases: Sequence[Retrieved], x: Floats, ends: Integers | None = None
) -> tuple[Floats, Flags]:
    """Return the logarithms of both tails, (2, n_cases), NaN if too small, and which are rough."""
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
                walks = [_walk(*known, never, top, width) for width in (cell, 2 * cell)]
                found, is_rough = _combined(*(walk.pairs(members, x[asked]) for walk in walks))
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


def _combined(fine: Floats, coarse: Floats) -> tuple[Floats, Flags]:
    """Return the logarithms of both tails from two walks, and whether they are too coarse."""
    # Where the value itself carries weight, the lattice spreads that weight over both sides of it;
    # the tails just below, extrapolated to the value, count all of it.
    fine, coarse = (np.log(np.maximum(chances, _LEAST)) for chances in (fine, coarse))
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
