"""Walks down the ranks with the distribution of T = n_pos AP on a lattice.

Let row h hold the distribution of T over all rankings of t items with h positives. The last m of
the t ranks hold j of the positives with a hypergeometric chance, and T grows by g, so that

    row h of t  =  sum over j of  P(j | h) times row h - j of t - m, moved by g.

As with generating functions (`Course`) one walk down the ranks holds this for every number of
retrieved items (= t) and of positives among them (= h), and so for every n and n_pos. T is kept on
a lattice from 0 to the value in question; weight between two points is shared between them, which
keeps the mean. All terms are positive, so that no digits are lost far out.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import daxpy

from prframe.stats._arrays import running_sums
from prframe.stats.null.average_precision.tails.plain.few_hits import FewHits
from prframe.stats.null.average_precision.tails.plain.plans import (
    Block,
    Plans,
    Retrieved,
    likely_hits,
    ranges,
)
from prframe.typing import Floats, Integers

# The slope of the tail's logarithm is taken between the value and a point that is this many points
# of the lattice above it.
NEARBY = 40.0
# To see whether single values of T carry weight, tails are taken at this many points of the
# lattice on both sides of the value, and at three times this distance.
_BESIDE = 2.5
# As weight between two points is shared by them, some of it lies beyond the largest T that the
# hits allow, by at most this many points of the lattice.
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
    return np.asarray(cell * np.array([0.0, NEARBY, *around]))


class _Left:
    """The distributions above a rank, from which last steps begin."""

    def __init__(self, rows: _Rows, above: int) -> None:
        self.rows, self.above = rows, above
        self._known = 0, np.zeros((2, 0, 0))

    def survival(self, first: int, end: int) -> tuple[int, Floats]:
        """Return P(T >= x) and P(T < x) at the points of the lattice, by number of hits.

        There are those of at least the rows that are asked for, and the place of the first of
        them comes first.
        """
        begin, survival = self._known
        if survival.size:
            last = begin + survival.shape[1]
            if begin <= first and end <= last:
                return self._known
            first, end = min(first, begin), max(end, last)
        weight = self.rows.weight[first:end]
        # A point stands for all values that are nearer to it than to its neighbours.
        sums = running_sums(weight[:, ::-1], weight)
        survival = np.array([sums[:, ::-1, 0], sums[:, :, 1]])
        survival -= weight / 2
        survival[0] += self.rows.beyond[first:end, None]
        self._known = first, survival
        return self._known


class _Move(NamedTuple):
    """What a step does to the distributions, which leads to `number` rows from the hits `low` on.

    Weight of the row `source` times `factor` goes to the row `target`; that from the point `keep`
    on, of which there is some where this `is_cut`, falls off the lattice. `pieces` are all weight
    that does not: the number of points, the factor, and the first point before and after the step.
    """

    low: int
    number: int
    source: Integers
    target: Integers
    factor: Floats
    keep: Integers
    is_cut: NDArray[np.bool_]
    pieces: Sequence[list[Any]]


class Walk:
    """A walk to the last step of each case, for values of T up to `top`, by points `cell` apart.

    Chances whose logarithm is below `never` do not count. Without cases there are those of the
    plans.
    """

    def __init__(
        self,
        plans: Plans,
        top: float,
        cell: float,
        never: float,
        cases: Sequence[Retrieved] | None = None,
    ) -> None:
        self.cell = cell
        self._plan = plans.at(never)
        self.width = int(np.ceil(top / cell + NEARBY)) + 2
        cases = plans.cases if cases is None else cases
        self._most = max(case.n_pos for case in cases)
        steps, depths = self._plan.steps, sorted({case.depth for case in cases})
        leave = dict(zip(depths, np.searchsorted(steps.end, depths).tolist(), strict=True))
        self._left: dict[int, _Left] = {}
        self._few_hits: dict[Retrieved, FewHits] = {}
        self._ends: dict[int, _Rows] = {}
        rows = _Rows(0, np.eye(1, self.width), np.zeros(1))
        moves = self._moves(leave[depths[-1]])
        for step in range(leave[depths[-1]] + 1):
            leaving = [depth for depth in depths if leave[depth] == step]
            if leaving:
                self._left |= dict.fromkeys(leaving, _Left(rows, int(steps.above[step])))
            if step < leave[depths[-1]]:
                rows = self._moved(rows, next(moves))

    def pairs(self, cases: Sequence[Retrieved], x: Floats) -> Floats:
        """Return P(T >= y) and P(T < y), where y - x are the distances of `nearby`.

        The result is an ndarray of float of shape (8, 2, n_cases).
        """
        offsets = nearby(self.cell)
        chances = self._of_few_hits(cases, x)
        above = np.array([self._left[case.depth].above for case in cases])
        has_more = np.array([self._has_more_hits(case) for case in cases])
        for rank in np.unique(above[has_more]).tolist():
            places = np.flatnonzero((above == rank) & has_more)
            chosen = [cases[place] for place in places.tolist()]
            chances[:, :, places] += self._last(chosen, x[places] + offsets[:, None])
        return chances

    def _of_few_hits(self, cases: Sequence[Retrieved], x: Floats) -> Floats:
        """Return what few hits add to `pairs`.

        As their tails are certain, those beside a value are taken at the value.
        """
        chances = np.zeros((nearby(self.cell).size, 2, x.size))
        for place, (case, value) in enumerate(zip(cases, x.tolist(), strict=True)):
            few = self._few(case)
            if few.most >= 0:
                chances[:, :, place] = few.tails(value)
                chances[1, :, place] = few.tails(value + NEARBY * self.cell)
        return chances

    def _few(self, case: Retrieved) -> FewHits:
        """Return the chances of the few hits of a case that are counted."""
        if case not in self._few_hits:
            self._few_hits[case] = FewHits(case, self._plan.items.ends, self._plan.never)
        return self._few_hits[case]

    def _has_more_hits(self, case: Retrieved) -> bool:
        """Whether a case may have more hits than those that are counted."""
        return likely_hits(case, self._plan.never) > self._few(case).most

    def weights(self, case: Retrieved) -> tuple[Floats, float]:
        """Return the weights of the points in the distribution of T of a case, and that beyond."""
        _, retrieved, share = self._plan.shares([case])
        rows = self._at_depth(case.depth)
        row = retrieved - rows.low
        inside = (row >= 0) & (row < rows.beyond.size)
        row, share = row[inside], share[inside]
        return share @ rows.weight[row], float(share @ rows.beyond[row])

    def _at_depth(self, depth: int) -> _Rows:
        """Return the distributions at a depth."""
        if depth not in self._ends:
            rows, above = self._left[depth].rows, self._left[depth].above
            if above < depth:
                cut = self._plan.items.between(np.array([above]), np.array([depth]))
                rows = self._moved(rows, next(self._block_moves(self._plan.block(cut))))
            self._ends[depth] = rows
        return self._ends[depth]

    def _moves(self, steps: int) -> Iterator[_Move]:
        """Yield the moves of the first steps."""
        for block in self._plan.blocks():
            if steps <= 0:
                break
            yield from self._block_moves(block, steps)
            steps -= block.low.size

    def _block_moves(self, block: Block, steps: int = 1) -> Iterator[_Move]:
        """Yield the moves of the first steps of a block."""
        block, width = block.among(steps, self._most), self.width
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
        inside = np.flatnonzero((keep > 0) & (factor > 0))
        columns = (keep, factor, source * width, target * width + shift)
        pieces = [column[inside].tolist() for column in columns]
        cuts = np.searchsorted(inside, ends).tolist()
        numbers = (block.high - block.low + 1).tolist()
        for place, (low, number) in enumerate(zip(block.low.tolist(), numbers, strict=True)):
            own = slice(int(ends[place]), int(ends[place + 1]))
            stay = slice(cuts[place], cuts[place + 1])
            yield _Move(
                low,
                number,
                source[own],
                target[own],
                factor[own],
                keep[own],
                keep[own] < occupied[own],
                [column[stay] for column in pieces],
            )

    def _moved(self, rows: _Rows, move: _Move) -> _Rows:
        """Return the distributions at the end of a step."""
        source, factor = move.source, move.factor
        cut = np.flatnonzero(move.is_cut)
        lost = factor * rows.beyond[source]
        lost[cut] += factor[cut] * sums_from(rows.weight, source[cut], move.keep[cut])
        beyond: Floats = np.bincount(move.target, lost, move.number).astype(np.float64)
        weight = np.zeros((move.number, self.width))
        count, share, begin, end = move.pieces
        every = repeat(rows.weight.ravel()), repeat(weight.ravel()), count, share
        # No loop of Python's own is as quick.
        deque(map(daxpy, *every, begin, repeat(1), end, repeat(1)), maxlen=0)
        return _Rows(move.low, weight, beyond)

    def _last(self, cases: Sequence[Retrieved], x: Floats) -> Floats:
        """Take the last steps of cases, which begin at one rank; return both tails of values.

        `x` has the shape (n_offsets, n_cases), and the result (n_offsets, 2, n_cases).
        """
        index = {case: place for place, case in enumerate(dict.fromkeys(cases))}
        depth = np.array([case.depth for case in index])
        left = self._left[int(depth[0])]
        low = left.rows.low
        cuts = self._plan.items.between(np.full(depth.size, left.above), depth)
        of, retrieved, share = self._plan.shares(list(index))
        few = np.array([self._few(case).most for case in index])
        more = retrieved > few[of]
        of, retrieved, share = of[more], retrieved[more], share[more]
        rows = np.full(depth.size, low), np.full(depth.size, low + left.rows.beyond.size - 1)
        terms = self._plan.terms(cuts, of, retrieved, rows, np.log(share))
        again, growth, chance = terms.split(self.cell)
        order = np.argsort(of[terms.row[again]], kind="stable")
        again, growth, chance = again[order], growth[order], chance[order]
        row, met = terms.row[again], terms.above[again]
        factor = chance * share[row]
        least, survival = left.survival(int(met.min()) - low, int(met.max()) - low + 1)
        number = np.bincount(of[row], minlength=depth.size)
        begin = np.cumsum(number) - number
        case = np.array([index[each] for each in cases])
        chances = np.zeros((x.shape[0], 2, x.shape[1]))
        at_once = max(1, _AT_ONCE // (int(number.max()) * x.shape[0]))
        for first in range(0, case.size, at_once):
            part = slice(first, first + at_once)
            value, place = ranges(number[case[part]])
            term = begin[case[part]][value] + place
            each = self._at(survival, met[term] - low - least, x[:, part][:, value] - growth[term])
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


def sums_from(weight: Floats, row: Integers, begin: Integers) -> Floats:
    """Return the sums of rows from a column on, which is different for each."""
    width = weight.shape[1]
    first = int(begin.min(initial=width - 1))
    half = -(-weight.shape[0] // 2)
    last = weight[:, : first - 1 if first else None : -1]
    sums = running_sums(last[:half], last[half:])
    return np.where(begin < width, sums[row % half, width - 1 - begin, row // half], 0.0)
