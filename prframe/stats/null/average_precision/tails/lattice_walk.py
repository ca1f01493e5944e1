"""Walks down the ranks with the distribution of T = n_pos AP on a lattice.

Let row h hold the distribution of T over all rankings of t items with h positives. The last m of
the t ranks hold j of the positives with a hypergeometric chance, and T grows by g, so that

    row h of t  =  sum over j of  P(j | h) times row h - j of t - m, moved by g.

As with generating functions (`Course`) one walk down the ranks holds this for every number of
retrieved items (= t) and of positives among them (= h), and so for every n and n_pos. T is kept on
a lattice from 0 to the value in question; weight between two points is shared between them, which
keeps the mean. All terms are positive, so that no digits are lost far out.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.blas import daxpy

from prframe.stats.null.average_precision.generating_function.steps import (
    Items,
    Steps,
    log_binomial,
)
from prframe.stats.null.average_precision.generating_function.walk import DENSE, GROWTH
from prframe.stats.null.average_precision.tails.sizes import Sizes
from prframe.typing import Floats, Integers

# The slope of the tail's logarithm is taken between the value and a point that is this many points
# of the lattice above it.
NEARBY = 40.0
# To see whether single values of T carry weight, tails are taken at this many points of the
# lattice on both sides of the value, and at three times this distance.
_BESIDE = 2.5
# Growth of T that varies by at most this standard deviation, in points of the lattice, is replaced
# by its mean. Growth that varies more becomes two values.
_NARROW = 0.2
# As weight between two points is shared by them, some of it lies beyond the largest T that the
# hits allow, by at most this many points of the lattice.
_DRIFT = 100
# The number of values that are interpolated at a time, which bounds the memory.
_AT_ONCE = 1 << 18


class Retrieved(NamedTuple):
    """The numbers of items, of positives among them, and of items that are retrieved."""

    n: int
    n_pos: int
    depth: int


class _Rows(NamedTuple):
    """The distributions of T for the hits `low`, ... at a rank, on the lattice and beyond it."""

    low: int
    weight: Floats
    beyond: Floats


class _Terms(NamedTuple):
    """The terms of steps: the row of hits at their end, hits above, growth, and the chance.

    Growth scatters with the standard deviation `spread`.
    """

    row: Integers
    above: Integers
    growth: Floats
    spread: Floats
    chance: Floats

    def split(self, cell: float) -> "tuple[Integers, Integers, Floats, Floats]":
        """Return row, hits above, growth and chance of terms whose growth is certain.

        Growth that varies is two values with its mean and variance, or one where the lattice
        itself spreads it as much.
        """
        two = np.flatnonzero(self.spread > _NARROW * cell)
        again = np.concatenate([np.arange(self.row.size), two])
        growth, chance = self.growth[again], self.chance[again]
        growth[two] -= self.spread[two]
        growth[self.row.size :] += self.spread[two]
        chance[two] /= 2
        chance[self.row.size :] /= 2
        return self.row[again], self.above[again], np.maximum(growth, 0.0), chance


def likely_hits(case: Retrieved, never: float) -> int:
    """Return how many retrieved positives have a chance with a logarithm above `never`."""
    n, n_pos, depth = case
    hits = np.arange(min(depth, n_pos) + 1)
    log_chance = log_binomial(depth, hits) + log_binomial(n - depth, n_pos - hits)
    log_chance -= log_binomial(n, n_pos)
    return int(hits[log_chance > never].max(initial=0))


def walk_terms(hits: int, items: Items) -> float:
    """Return roughly the number of terms of a walk to so many hits."""
    steps = items.table(DENSE, GROWTH)
    share = steps.size / np.maximum(steps.end, 1)
    return float((min(hits, 1e6) * (4 + 2 * np.minimum(hits * share, steps.size))).sum())


def nearby(cell: float) -> Floats:
    """Return the distances from a value at which tails are taken: 0, further on, and beside it."""
    around = _BESIDE * np.array([-3.0, -1.0, 1.0, 3.0, -6.0, -2.0])
    return np.asarray(cell * np.array([0.0, NEARBY, *around]))


class Shape(NamedTuple):
    """Cases, and the ends of the tie blocks, if any, which all of them have.

    `sizes` is the range of their sizes, or a larger one; it says which hits and terms count.
    """

    cases: Sequence[Retrieved]
    ends: Integers | None
    sizes: Sizes

    @classmethod
    def of(cls, cases: Sequence[Retrieved], ends: Integers | None) -> "Shape":
        """Return the shape of cases that need not give the same digits among others."""
        return cls(cases, ends, Sizes.among(case[:2] for case in cases))


class _Left(NamedTuple):
    """P(T >= x) and P(T < x) at the points, for the hits `low`, ... above a rank."""

    survival: Floats
    rows: _Rows
    above: int


class Plans:
    """What walks with points of any distance have in common: their hits, and the terms of steps.

    Parameters
    ----------
    shape : Shape
    """

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self._known: dict[float, _Plan] = {}

    def at(self, never: float) -> "_Plan":
        """Return the plan in which chances whose logarithm is below `never` do not count."""
        if never not in self._known:
            self._known[never] = _Plan(self._shape, never)
        return self._known[never]


class _Plan:
    """The hits that are likely at the end of each step, and the terms of the steps."""

    def __init__(self, shape: Shape, never: float) -> None:
        self.never = never
        self.depths = sorted({case.depth for case in shape.cases})
        depth = self.depths[-1]
        self.items = Items(depth, depth, shape.ends)
        self.steps = self.items.table(DENSE, GROWTH)
        self._most = max(case.n_pos for case in shape.cases)
        self._sizes = shape.sizes
        self._moves: dict[tuple[int, int], tuple[Integers, _Terms]] = {}

    def move(self, step: Steps, low: int, rows: int) -> tuple[Integers, _Terms]:
        """Return the likely hits at the end of a step from so many rows, and the terms."""
        place = int(step.above[0]), int(step.end[0])
        if place not in self._moves:
            hits, log_chance = self._likely(place[1])
            only = np.zeros(hits.size, np.int64)
            self._moves[place] = hits, self.terms(step, only, hits, (low, rows), log_chance)
        return self._moves[place]

    def shares(self, cases: Sequence[Retrieved]) -> tuple[Integers, Integers, Floats]:
        """Return the cases, the likely numbers of retrieved positives, and their chances."""
        n, n_pos, depth = np.array(cases).T
        low = np.maximum(0, n_pos - (n - depth))
        of, place = _ranges(np.minimum(depth, n_pos) - low + 1)
        retrieved = low[of] + place
        log_share = log_binomial(depth[of], retrieved)
        log_share += log_binomial((n - depth)[of], n_pos[of] - retrieved)
        log_share -= log_binomial(n, n_pos)[of]
        likely = log_share > self.never
        return of[likely], retrieved[likely], np.exp(log_share[likely])

    def _likely(self, end: int) -> tuple[Integers, Floats]:
        """Return the hits that a case may have at a rank, and the logarithms of their chances."""
        hits = np.arange(min(end, self._most) + 1)
        log_chance = self._sizes.log_chance(hits, end)
        likely = np.flatnonzero(log_chance > self.never)
        between = slice(int(likely[0]), int(likely[-1]) + 1)
        return hits[between], log_chance[between]

    def terms(
        self,
        steps: Steps,
        of: Integers,
        hits: Integers,
        rows: tuple[int, int],
        log_chance_of_hits: Floats,
    ) -> "_Terms":
        """Return the terms of steps for hits at the ends of these, of which the chances are given.

        All steps are taken from the same rows, given as the least hits and their number, and `of`
        has the step of each number of hits.
        """
        above, size, end = (column[of] for column in (steps.above, steps.size, steps.end))
        low, number_of_rows = rows
        least = np.maximum(0, hits - (low + number_of_rows - 1))
        row, place = _ranges(np.maximum(np.minimum(size, hits - low) - least + 1, 0))
        j = least[row] + place
        met = hits[row] - j
        log_chance = log_binomial(size[row], j) + log_binomial(above[row], met)
        log_chance -= log_binomial(end, hits)[row]
        likely = log_chance + log_chance_of_hits[row] > self.never
        row, met, number, chance = row[likely], met[likely], j[likely], np.exp(log_chance[likely])
        step = of[row]
        growth = number * (met + 1) * steps.single[step]
        growth += number * (number - 1) * steps.pair[step]
        share = number * (1 - number / np.maximum(steps.size, 1)[step]) * steps.spread[step]
        spread = np.sqrt(share) * (met + number / 2)
        return _Terms(row, met, growth, spread, chance)


class Walk:
    """A walk to the last step of each case, for values of T up to `top`, by points `cell` apart.

    Chances whose logarithm is below `never` do not count.
    """

    def __init__(self, plans: Plans, top: float, cell: float, never: float) -> None:
        self._add_multiple: Any = daxpy
        self.cell = cell
        self._plan = plans.at(never)
        self.width = int(np.ceil(top / cell + NEARBY)) + 2
        steps, depths = self._plan.steps, self._plan.depths
        leave = dict(zip(depths, np.searchsorted(steps.end, depths).tolist(), strict=True))
        self._left: dict[int, _Left] = {}
        self._ends: dict[int, tuple[int, Floats]] = {}
        rows = _Rows(0, np.eye(1, self.width), np.zeros(1))
        for step in range(leave[depths[-1]] + 1):
            leaving = [depth for depth in depths if leave[depth] == step]
            left = _Left(self._survival(rows), rows, int(steps.above[step])) if leaving else None
            if left is not None:
                self._left |= dict.fromkeys(leaving, left)
            if step < leave[depths[-1]]:
                rows = self._moved(rows, steps.at(step))

    def pairs(self, cases: Sequence[Retrieved], x: Floats) -> Floats:
        """Return P(T >= y) and P(T < y), where y - x are the distances of `nearby`.

        The result is an ndarray of float of shape (8, 2, n_cases).
        """
        offsets = nearby(self.cell)
        chances = np.zeros((offsets.size, 2, x.size))
        above = np.array([self._left[case.depth].above for case in cases])
        for rank in np.unique(above).tolist():
            places = np.flatnonzero(above == rank)
            chosen = [cases[place] for place in places.tolist()]
            chances[:, :, places] = self._last(chosen, x[places] + offsets[:, None])
        return chances

    def reached(self, case: Retrieved, x: Floats) -> Floats:
        """Return P(T >= x) for many values of a case, `top` at most."""
        _, retrieved, share = self._plan.shares([case])
        low, survival = self._at_depth(case.depth)
        inside = (retrieved >= low) & (retrieved < low + survival.shape[0])
        mixed = share[inside] @ survival[retrieved[inside] - low]
        value = np.interp(x / self.cell, np.arange(mixed.size), mixed)
        return np.where(x > 0, value, 1.0)

    def _at_depth(self, depth: int) -> tuple[int, Floats]:
        """Return the least number of hits at a depth, and P(T >= x) at the points for each."""
        if depth not in self._ends:
            _, rows, above = self._left[depth]
            if above < depth:
                cut = self._plan.items.between(np.array([above]), np.array([depth]))
                rows = self._moved(rows, cut)
            self._ends[depth] = rows.low, self._survival(rows)[0]
        return self._ends[depth]

    def _moved(self, rows: _Rows, step: Steps) -> _Rows:
        """Return the distributions at the end of a step."""
        hits, terms = self._plan.move(step, rows.low, rows.weight.shape[0])
        low, high = int(hits[0]), int(hits[-1])
        row, above, growth, chance = terms.split(self.cell)
        place, part = np.divmod(growth / self.cell, 1.0)
        shift = np.concatenate([place, place + 1]).astype(np.int64)
        factor = np.concatenate([(1 - part) * chance, part * chance])
        source, target = np.tile(above - rows.low, 2), np.tile(row, 2)
        width = self.width
        # T is at most the number of hits, plus a little where it was shared between points.
        most = (above / self.cell).astype(np.int64) + _DRIFT
        occupied = np.tile(np.minimum(width, most), 2)
        keep = np.clip(width - shift, 0, occupied)
        is_cut = keep < occupied
        lost = factor * rows.beyond[source]
        lost[is_cut] += factor[is_cut] * sums_from(rows.weight, source[is_cut], keep[is_cut])
        beyond: Floats = np.bincount(target, lost, high - low + 1).astype(np.float64)
        weight = np.zeros((high - low + 1, width))
        inside = (keep > 0) & (factor > 0)
        columns = (keep, factor, source * width, target * width + shift)
        before, after, add_multiple = rows.weight.ravel(), weight.ravel(), self._add_multiple
        for count, share, begin, end in zip(*(c[inside].tolist() for c in columns), strict=True):
            add_multiple(before, after, count, share, begin, 1, end, 1)
        return _Rows(low, weight, beyond)

    @staticmethod
    def _survival(rows: _Rows) -> Floats:
        """Return P(T >= x) and P(T < x) at the points of the lattice, by number of hits."""
        # A point stands for all values that are nearer to it than to its neighbours.
        survival = np.empty((2, *rows.weight.shape))
        np.cumsum(rows.weight[:, ::-1], axis=1, out=survival[0, :, ::-1])
        np.cumsum(rows.weight, axis=1, out=survival[1])
        survival -= rows.weight / 2
        survival[0] += rows.beyond[:, None]
        return survival

    def _last(self, cases: Sequence[Retrieved], x: Floats) -> Floats:
        """Take the last steps of cases, which begin at one rank; return both tails of values.

        `x` has the shape (n_offsets, n_cases), and the result (n_offsets, 2, n_cases).
        """
        index = {case: place for place, case in enumerate(dict.fromkeys(cases))}
        depth = np.array([case.depth for case in index])
        survival, (low, *_), above = self._left[int(depth[0])]
        cuts = self._plan.items.between(np.full(depth.size, above), depth)
        of, retrieved, share = self._plan.shares(list(index))
        rows = low, survival.shape[1]
        terms = self._plan.terms(cuts, of, retrieved, rows, np.log(share)).split(self.cell)
        order = np.argsort(of[terms[0]], kind="stable")
        row, met, growth, chance = (
            terms[0][order],
            terms[1][order],
            terms[2][order],
            terms[3][order],
        )
        factor = chance * share[row]
        number = np.bincount(of[row], minlength=depth.size)
        begin = np.cumsum(number) - number
        case = np.array([index[each] for each in cases])
        chances = np.zeros((x.shape[0], 2, x.shape[1]))
        at_once = max(1, _AT_ONCE // (int(number.max()) * x.shape[0]))
        for first in range(0, case.size, at_once):
            part = slice(first, first + at_once)
            value, place = _ranges(number[case[part]])
            term = begin[case[part]][value] + place
            each = self._at(survival, met[term] - low, x[:, part][:, value] - growth[term])
            starts = np.flatnonzero(place == 0)
            chances[:, :, part] = np.add.reduceat(each * factor[term], starts, axis=2)
        return chances

    def _at(self, survival: Floats, row: Integers, x: Floats) -> Floats:
        """Return P(T >= x) and P(T < x) between the points of the lattice, given hits.

        `x` has the shape (n_offsets, n_rows), and the result (n_offsets, 2, n_rows).
        """
        place, share = np.divmod(np.maximum(x, 0.0) / self.cell, 1.0)
        index = place.astype(np.int64)
        value = (1 - share) * survival[:, row, index] + share * survival[:, row, index + 1]
        value = np.where(x > 0, value, np.array([1.0, 0.0])[:, None, None])
        return np.moveaxis(value, 0, 1)


def _ranges(number: Integers) -> tuple[Integers, Integers]:
    """Return the places of numbers, each so many times, and 0, 1, ... for each of these."""
    of = np.repeat(np.arange(number.size), number)
    return of, np.arange(of.size) - (np.cumsum(number) - number)[of]


def sums_from(weight: Floats, row: Integers, begin: Integers) -> Floats:
    """Return the sums of rows from a column on, which is different for each."""
    first = int(begin.min(initial=weight.shape[1]))
    sums = np.zeros((weight.shape[0], weight.shape[1] - first + 1))
    np.cumsum(weight[:, : first - 1 if first else None : -1], axis=1, out=sums[:, 1:])
    return np.asarray(sums[row, weight.shape[1] - begin])
