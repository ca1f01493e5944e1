"""The chances that the positives below the first ranks add something to T, on lattices.

They are found from the bottom of the ranking upwards. With h hits above rank t, let F_t(h, y) be
the chance that the ranks below t add y or more. A step of m ranks holds j hits with a
hypergeometric chance, and these add g, so that

    F_t(h, y)  =  sum over j of  P(j | h) F_{t+m}(h + j, y - g).

Lattices end at powers of four, so that a small lack has a lattice as fine for it as that of a
large one. Between its points F is the parabola through three of them, so that its error falls with
the third power of the distance of points, as does that of the sums. Where many positives are left,
what they add is nearly normal, and steps begin there.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import daxpy

from prframe.stats.null.average_precision.generating_function.steps import log_binomial
from prframe.stats.null.average_precision.tails.first_ranks.lists import first_ranks
from prframe.stats.null.average_precision.tails.first_ranks.lower_ranks import (
    added_by_many,
    first_of_many,
)
from prframe.stats.null.average_precision.tails.first_ranks.steps import StepTerms, Terms
from prframe.typing import Floats, Integers

# Each lattice ends at a power of this.
BASE = 4.0
# A step takes at most this share of the rank. With an eighth of it logarithms of tails differ by
# some 1e-4 at most.
_GROWTH = 0.16
# A step of several ranks may spread the growth of T by one hit over this many points.
_SPREAD = 8.0
# Growth whose variance, in squared points of the lattice, is more than this is two values.
_WIDE = 0.5
# Every so many columns of the lattices are probed for chances that are not negligible.
_PROBED = 32


class _Move(NamedTuple):
    """What a step does to the lattices: terms by row, those of the second from `cuts` on.

    Rows of the second lattice are counted after those of the first, and `furthest` are the largest
    shifts by lattice.
    """

    low: int
    rows: int
    row: Integers
    after: Integers
    shift: Integers
    factor: Floats
    cuts: list[int]
    furthest: list[int]


class Others:
    """The chances that the ranks below the first ones add something, on two lattices.

    `points` are the numbers of points from 0 to a power of four. There is a table for each. Its
    first rows are the chances after fewer hits than lists may have, below the first ranks; the
    others those after the most hits of a list, by the rank of the last of them.
    """

    def __init__(self, steps: StepTerms, hits: int, power: int, points: tuple[int, int]) -> None:
        self._steps, self._hits, self._top = steps, hits, BASE**power
        self._points = points
        self._first = first_ranks(steps.case, hits)
        self._negligible = float(np.exp(steps.never))
        shape = hits + self._first + 1
        self._tables = [np.zeros((shape, points + 2)) for points in self._points]
        self._walk()

    def reached(self, row: Integers, lack: Floats) -> Floats:
        """Return the chances in some rows, by number of points."""
        chances = []
        for table, points in zip(self._tables, self._points, strict=True):
            base, weights = parabola(lack * (points / self._top))
            index = np.minimum(base, points - 1).astype(np.int64)
            chances.append(
                sum(weight * table[row, index + each] for each, weight in enumerate(weights))
            )
        return np.array(chances)

    def _walk(self) -> None:
        """Walk up from the bottom to the first ranks."""
        cuts, both = self._begun(self._cuts())
        low = int(self._steps.likely(cuts[-1])[0][0])
        self._keep(cuts[-1], low, both)
        pairs = zip(cuts[-2::-1], cuts[:0:-1], strict=True)
        moves = self._moves([self._steps.at(*pair) for pair in pairs])
        for above, move in zip(cuts[-2::-1], moves, strict=True):
            both, low = self._moved(move, both), move.low
            self._keep(above, low, both)
        self._keep_above(cuts[0], low, both)

    def _begun(self, cuts: list[int]) -> tuple[list[int], list[Floats]]:
        """Return the ends of steps down to the last one, and the chances below that."""
        case, last = self._steps.case, first_of_many(self._steps.case, np.array(cuts))
        if last is None:
            hits, _ = self._steps.likely(cuts[-1])
            # A point of a lattice stands for all values that are nearer to it than to its
            # neighbours.
            return cuts, [np.full((hits.size, 1), 0.5) for _ in self._points]
        # There is at least one step.
        cuts = cuts[: max(last, 1) + 1]
        hits, _ = self._steps.likely(cuts[-1])
        lacks = [np.arange(points + 2.0) * (self._top / points) for points in self._points]
        added = [added_by_many(case, cuts[-1], hits, lack) for lack in lacks]
        return cuts, [self._trimmed(rows) for rows in added]

    def _cuts(self) -> list[int]:
        """Return the ends of the steps: first ranks, and parts of shares of the rank.

        Steps above which any hit adds all that may be lacking are left out.
        """
        cuts, depth = [*range(1, self._first + 1)], self._steps.case.depth
        cell = self._top / self._points[-1]
        while cuts[-1] < depth:
            begin = cuts[-1]
            size = min(max(1, int(_GROWTH * begin)), depth - begin)
            # These steps are left out.
            is_enough = begin + size <= 1 / self._top
            apart = size if is_enough else max(1.0, _SPREAD * cell * begin**2)
            parts = int(np.ceil(size / apart))
            cuts += [begin + size * part // parts for part in range(1, parts + 1)]
        return cuts[max(int(np.searchsorted(cuts, 1 / self._top, side="right")) - 1, 0) :]

    def _keep(self, rank: int, low: int, both: list[Floats]) -> None:
        """Keep the rows that lists ask for."""
        for table, rows in zip(self._tables, both, strict=True):
            width = rows.shape[1]
            if rank <= self._first and low <= self._hits < low + len(rows):
                table[self._hits + rank, :width] = rows[self._hits - low]
            if rank == self._first:
                end = min(self._hits, low + len(rows))
                table[low:end, :width] = rows[: max(end - low, 0)]

    def _keep_above(self, rank: int, low: int, both: list[Floats]) -> None:
        """Keep rows above a rank, from those there, where any hit in between is enough."""
        most, (n, n_pos, _) = self._hits, self._steps.case
        above = np.arange(1, min(rank, self._first + 1))
        hits, row = np.full(above.size, most), most + above
        if rank > self._first:
            fewer = np.arange(most)
            hits, row = np.append(hits, fewer), np.append(row, fewer)
            above = np.append(above, np.full(most, self._first))
        log_none = log_binomial(n - rank, n_pos - hits) - log_binomial(n - above, n_pos - hits)
        none = np.exp(log_none)[:, None]
        for table, rows in zip(self._tables, both, strict=True):
            after = np.zeros((most + 1, table.shape[1]))
            end = min(most + 1, low + len(rows))
            after[low:end, : rows.shape[1]] = rows[: max(end - low, 0)]
            table[row] = none * after[hits] + (1 - none)

    def _moves(self, steps: Sequence[Terms]) -> Iterator[_Move]:
        """Yield what each of the steps does to both lattices."""
        both, rows = len(self._points), np.array([terms.rows for terms in steps])
        row, after, growth, spread, chance = (
            np.tile(np.concatenate(column), both) for column in list(zip(*steps, strict=True))[2:]
        )
        step = np.repeat(np.arange(len(steps)), [terms.row.size for terms in steps])
        lattice, step = np.repeat(np.arange(both), step.size), np.tile(step, both)
        points = np.array(self._points)[lattice]
        cell = self._top / points
        again, shift, factor = _on_points(growth / cell, spread / cell, chance)
        # Terms are in the order of the steps, and of the lattices within a step.
        unit = both * step[again] + lattice[again]
        order = np.argsort(unit, kind="stable")
        again, factor = again[order], factor[order]
        # What is lacking may be less than the growth, and is reached then.
        shift = np.minimum(shift[order], points[again] + 2).astype(np.int64)
        row, after = row[again] + lattice[again] * rows[step[again]], after[again]
        ends = np.searchsorted(unit[order], np.arange(both * len(steps) + 1))
        furthest = np.maximum.reduceat(shift, ends[:-1])
        for number, each in enumerate(steps):
            units = slice(both * number, both * (number + 1))
            begin, *cuts = ends[units].tolist()
            own = slice(begin, int(ends[units.stop]))
            columns = row[own], after[own], shift[own], factor[own]
            cuts = [cut - begin for cut in cuts]
            yield _Move(each.low, each.rows, *columns, cuts, furthest[units].tolist())

    def _moved(self, move: _Move, both: list[Floats]) -> list[Floats]:
        """Return the chances before a step from those after it, without negligible last ones."""
        rows, add_multiple = move.rows, daxpy
        shape = len(self._points) * rows, max(move.furthest)
        reached = sums_beyond(move.row, move.shift, move.factor, shape)
        columns = (np.split(column, move.cuts) for column in move[2:6])
        result = []
        for lattice, (row, after, shift, factor) in enumerate(zip(*columns, strict=True)):
            points, far, before = (
                self._points[lattice],
                move.furthest[lattice],
                both[lattice].shape[1],
            )
            width = min(before + far, points + 2)
            moved = np.zeros((rows, width))
            moved[:, :far] = reached[lattice * rows : (lattice + 1) * rows, :far]
            inside = (factor != 0) & (shift < width)
            begin = after * before
            to = (row - lattice * rows) * width + shift
            terms = np.minimum(width - shift, before), factor, begin, to
            source, target = both[lattice].ravel(), moved.ravel()
            for count, times, x, y in zip(*(c[inside].tolist() for c in terms), strict=True):
                add_multiple(source, target, count, times, x, 1, y, 1)
            result.append(self._trimmed(moved))
        return result

    def _trimmed(self, rows: Floats) -> Floats:
        """Return rows without their last columns, if these are negligible."""
        # Chances fall from column to column, so that a few of them tell where they are negligible.
        likely = np.flatnonzero((rows[:, ::_PROBED] > self._negligible).any(axis=0))
        width = _PROBED * (int(likely.max(initial=0)) + 1)
        return np.ascontiguousarray(rows[:, :width])


def parabola(place: Floats, variance: Floats | float = 0.0) -> tuple[Floats, list[Floats]]:
    """Return the first of three whole places, and their weights.

    The weights have the mean of the place and its variance. One of them may be negative.
    """
    base = np.maximum(np.rint(place) - 1, 0.0)
    x = place - base
    half = variance / 2
    weights = [(x - 1) * (x - 2) / 2 + half, x * (2 - x) - variance, x * (x - 1) / 2 + half]
    return base, weights


def _on_points(growth: Floats, spread: Floats, chance: Floats) -> tuple[Integers, Floats, Floats]:
    """Return the places of terms, the points that these come to, and the chance of each.

    Growth that varies widely is two values first, with its mean and variance.
    """
    variance, number = spread**2, growth.size
    two = np.flatnonzero(variance > _WIDE)
    again = np.concatenate([np.arange(number), two])
    growth, chance, variance = growth[again], chance[again], variance[again]
    growth[two] -= spread[two]
    growth[number:] += spread[two]
    chance[two] /= 2
    chance[number:] /= 2
    variance[two] = variance[number:] = 0.0
    base, weights = parabola(np.maximum(growth, 0.0), variance)
    shift = np.concatenate([base + each for each in range(len(weights))])
    factor = np.concatenate(weights) * np.tile(chance, len(weights))
    return np.tile(again, len(weights)), shift, factor


def sums_beyond(row: Integers, place: Integers, value: Floats, shape: tuple[int, int]) -> Floats:
    """Return the sum of the values that are beyond each column of a row, given their places.

    Values are added up from the furthest place on, which is at most the number of columns.
    """
    rows, columns = shape
    # There are few places, so that runs of columns have one sum; the last run of each row has 0.
    end = np.append(row * (columns + 1) + place, np.arange(1, rows + 1) * (columns + 1) - 1)
    distinct, index = np.unique(end, return_inverse=True)
    values = np.bincount(index[: value.size], value, distinct.size)
    of, column = np.divmod(distinct, columns + 1)
    number = np.bincount(of, minlength=rows)
    from_last = np.cumsum(number)[of] - 1 - np.arange(of.size)
    sums = np.zeros((rows, int(number.max())))
    sums[of, from_last] = values
    sums = np.cumsum(sums, axis=1)[of, from_last]
    length = np.where(np.diff(of, prepend=-1) > 0, column, np.diff(column, prepend=0))
    return np.repeat(sums, length).reshape(shape)
