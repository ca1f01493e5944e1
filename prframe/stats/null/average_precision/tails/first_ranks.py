"""Tails of T = n_pos AP where the first few hits decide, which are listed one by one.

A hit at one of the first ranks adds so much to T that values of T gather in clusters, which are
narrow if positives are rare. A lattice from 0 to the value in question may be too coarse for them.
Here the first hits are listed with their ranks, and what the others add is compared with what is
then lacking:

    P(T >= x)  =  sum over lists of  P(list) P(others add >= x - sum of the list).

The chances of the others are found from the bottom of the ranking upwards. With h hits above rank
t, let F_t(h, y) be the chance that the ranks below t add y or more. A step of m ranks holds j hits
with a hypergeometric chance, and these add g, so that

    F_t(h, y)  =  sum over j of  P(j | h) F_{t+m}(h + j, y - g).

This is done on lattices that end at powers of four, so that a small lack has a lattice as fine for
it as that of a large one.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import daxpy

from prframe.stats.null.average_precision.generating_function.steps import Items, log_binomial
from prframe.stats.null.average_precision.generating_function.walk import GROWTH
from prframe.stats.null.average_precision.tails.plain.lattice import log_least_tails
from prframe.stats.null.average_precision.tails.plain.plans import (
    Retrieved,
    split_growth,
)
from prframe.typing import Floats, Integers

# The most hits of a list, by the whole part of the value of T. Values beyond have no lists, as
# their tails are smooth.
_HITS = 2, 3, 5, 5, 7, 7, 8, 9, 10, 11, 12, 13, 14, 15
# How many of the first ranks may hold hits that are listed, by the most hits of a list. There are
# some 30,000 lists. More hits than are listed fill all of the first ranks.
_RANKS = {1: 1024, 2: 256, 3: 56, 4: 30, 5: 22, 6: 18, 7: 16} | dict.fromkeys(range(8, 16), 15)
# The numbers of points of the two lattices.
_POINTS = 1024, 2048
# Each lattice ends at a power of this.
_BASE = 4.0
# A step of several ranks may spread the growth of T by one hit over this many points.
_SPREAD = 8.0
# Hits, and positives of a step, are left out if the natural logarithm of their chance, times that
# of the tail given them, is this much below that of a lower bound of the tail.
_BELOW = 18.0
# This is rounded down to a multiple of this, so that values share lattices.
_ROUNDED = 10.0
# The natural logarithms of the tails from the two lattices may differ by this. If they differ by
# more, there is no answer.
_APART = 0.02
# There is no answer either if the lower tail is smaller than this, as it is 1 less the upper one.
_LEAST_REST = 0.01
# Lattices of large lacks are left out if they would add at most this share of the tail.
_NEGLIGIBLE = 1e-7
# Lists that have at most this share of the tail among them have no lattice of their own, but one
# up to so many powers of four coarser than it would be.
_SMALL, _COARSER = 5e-5, 3
# Every so many columns of the lattices are probed for chances that are not negligible.
_PROBED = 32
# Further hits add at least one more than the hits before them, divided by the depth. A lack below
# this share of that is raised to it, which changes no chance.
_LEAST_RISE = 0.9


class _Lists(NamedTuple):
    """Lists of first hits.

    `hits` is their number, `rank` that below which others may stand, `total` what they add to T.
    `row` is that of the chances of others in a table of `_Below`.
    """

    hits: Integers
    rank: Integers
    total: Floats
    chance: Floats
    row: Integers


class _Terms(NamedTuple):
    """The terms of a step: the hits above, those at its end, and how T grows with what chance.

    Hits above are counted from `low`, and are `rows` in number.
    """

    low: int
    rows: int
    row: Integers
    after: Integers
    growth: Floats
    spread: Floats
    chance: Floats


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


class FirstRanks:
    """Tails of a case without ties, whose lattices are kept for further values.

    Parameters
    ----------
    case : Retrieved
    """

    def __init__(self, case: Retrieved) -> None:
        self.case = case
        self._lists: dict[int, _Lists] = {}
        self._below: dict[tuple[int, int, float], _Below] = {}
        self._steps: dict[tuple[int, float], _StepTerms] = {}

    def log_tail(self, x: float) -> float | None:
        """Return log P(T >= x); None if the lattices are too coarse, or the tail is too small."""
        if x >= len(_HITS):
            return None
        hits = min(self.case.n_pos, _HITS[int(x)])
        least = float(log_least_tails([self.case], np.array([x]))[0])
        never = _ROUNDED * ((least - _BELOW) // _ROUNDED)
        coarse, fine = self._reached(x, hits, never).tolist()
        if coarse <= 0 or not 0 < fine < 1 - _LEAST_REST:
            return None
        log_fine, apart = float(np.log(fine)), float(np.log(fine / coarse))
        return log_fine + apart / 3 if abs(apart) <= _APART else None

    def rest_of_run(self, hits: int, lack: float) -> float:
        """Return the chance that others add a lack if all of so many first ranks are hits."""
        least = float(log_least_tails([self.case], np.array([float(hits)]))[0])
        never = _ROUNDED * ((least - _BELOW) // _ROUNDED)
        # Others add at least one term more, at the last rank.
        lack = max(lack, _LEAST_RISE * (hits + 1) / self.case.depth)
        key = int(np.ceil(np.log(lack) / np.log(_BASE))), hits, never
        if key not in self._below:
            self._below[key] = _Below(_StepTerms(self.case, hits, never), hits, key[0])
        coarse, fine = self._below[key].reached(np.array([2 * hits]), np.array([lack]))[:, 0]
        return float(np.clip(fine + (fine - coarse) / 3, 0.0, 1.0))

    def _reached(self, x: float, hits: int, never: float) -> Floats:
        """Return P(T >= x) from both lattices, from lists of up to so many hits."""
        n, n_pos, depth = self.case
        if hits not in self._lists:
            self._lists[hits] = _listed(self.case, hits)
        lists = self._lists[hits]
        lack, rest = x - lists.total, n_pos - lists.hits
        # Positives that are left add no less than if each stood at the last rank.
        least = rest * (lists.hits + (rest + 1) / 2) / n if depth == n else np.zeros(rest.size)
        reached = np.full(len(_POINTS), lists.chance[lack <= least].sum())
        open_ = np.flatnonzero((lack > least) & (rest > 0) & (lists.rank < depth))
        lack = np.maximum(lack[open_], _LEAST_RISE * (lists.hits[open_] + 1) / depth)
        row, chance = lists.row[open_], lists.chance[open_]
        power = np.ceil(np.log(lack) / np.log(_BASE)).astype(np.int64)
        power = _without_small(power, chance, reached[0])
        for end in np.unique(power).tolist():
            key = end, hits, never
            if key not in self._below:
                own = _StepTerms(self.case, hits, never)
                terms = self._steps.setdefault((hits, never), own)
                self._below[key] = _Below(terms, hits, end)
            inside, beyond = power == end, power > end
            reached += self._below[key].reached(row[inside], lack[inside]) @ chance[inside]
            furthest = np.full(int(beyond.sum()), _BASE**end)
            further = self._below[key].reached(row[beyond], furthest) @ chance[beyond]
            if (further <= _NEGLIGIBLE * reached).all():
                break
        return reached


def _without_small(power: Integers, chance: Floats, tail: float) -> Integers:
    """Return the powers at which lattices end, few lists having been given larger ones.

    `tail` is a lower bound of the tail to which the lists add.
    """
    power, since = power.copy(), None
    ends = np.unique(power).tolist()
    for end, after in pairwise(ends):
        inside = power == end
        since = end if since is None else since
        if chance[inside].sum() <= _SMALL * tail and after - since <= _COARSER:
            power[inside] = after
        else:
            since = None
    return power


def _first_ranks(case: Retrieved, hits: int) -> int:
    """Return how many of the first ranks may hold hits of lists with up to so many hits."""
    return min(_RANKS.get(hits, hits), case.depth)


def _listed(case: Retrieved, most: int) -> _Lists:
    """List up to `most` hits among the first ranks, which hold no others if there are fewer."""
    n, n_pos, _ = case
    first = _first_ranks(case, most)
    ranks = np.arange(1, first + 1)
    rank, total = np.zeros(1, np.int64), np.zeros(1)
    parts = []
    for hits in range(most + 1):
        end = rank if hits == most else np.full(rank.size, first)
        ways = log_binomial(n - end, n_pos - hits) - log_binomial(n, n_pos)
        row = most + rank if hits == most else np.full(rank.size, hits)
        parts.append((np.full(rank.size, hits), end, total, np.exp(ways), row))
        if hits < most:
            before, place = np.nonzero(ranks > rank[:, None])
            rank, total = ranks[place], total[before] + (hits + 1) / ranks[place]
    return _Lists(*(np.concatenate(column) for column in zip(*parts, strict=True)))


class _StepTerms:
    """The terms of the steps of a case with lists of so many hits, which lattices share."""

    def __init__(self, case: Retrieved, listed: int, never: float) -> None:
        self.case, self.never = case, never
        self._listed = listed
        self._items = Items(case.n, case.depth)
        self._known: dict[tuple[int, int], _Terms] = {}
        self._hits: dict[int, tuple[Integers, Floats]] = {}

    def at(self, above: int, end: int) -> _Terms:
        """Return the terms of a step."""
        if (above, end) not in self._known:
            self._known[above, end] = self._terms(above, end)
        return self._known[above, end]

    def likely(self, rank: int) -> tuple[Integers, Floats]:
        """Return the likely numbers of hits at a rank, and the logarithms of their chances."""
        if rank not in self._hits:
            self._hits[rank] = self._likely(rank)
        return self._hits[rank]

    def _likely(self, rank: int) -> tuple[Integers, Floats]:
        """Compute the likely numbers of hits at a rank."""
        n, n_pos, _ = self.case
        hits = np.arange(max(0, n_pos - (n - rank)), min(rank, n_pos) + 1)
        log_chance = log_binomial(rank, hits) + log_binomial(n - rank, n_pos - hits)
        log_chance -= log_binomial(n, n_pos)
        likely = log_chance + self._log_rest(rank, hits) > self.never
        return hits[likely], log_chance[likely]

    def _log_rest(self, rank: int, hits: Integers) -> Floats:
        """Return rough bounds of the logarithm of the tail, given the hits above a rank.

        Where there are r times as many as expected, lists of k hits are r^k times as likely.
        """
        n, n_pos, _ = self.case
        more = np.log(np.maximum(hits * n / (rank * n_pos), 1.0))
        return np.minimum(self.never + _BELOW + self._listed * more, 0.0)

    def _terms(self, above: int, end: int) -> _Terms:
        """Compute the terms of a step."""
        n, n_pos, _ = self.case
        size = end - above
        met, log_chance = self.likely(above)
        low, high = (int(hits) for hits in self.likely(end)[0][[0, -1]])
        number = np.arange(max(0, low - int(met[-1])), min(size, high - int(met[0])) + 1)
        after = met[:, None] + number
        log_share = log_binomial(size, number) + log_binomial(n - end, n_pos - after)
        log_share -= log_binomial(n - above, n_pos - met)[:, None]
        rest = np.maximum(self._log_rest(above, met)[:, None], self._log_rest(end, after))
        likely = log_share + log_chance[:, None] + rest > self.never
        row, column = np.nonzero(likely & (low <= after) & (after <= high))
        step = self._items.between(np.array([above]), np.array([end]))
        hits, j = met[row], number[column]
        growth = j * (hits + 1) * step.single[0] + j * (j - 1) * step.pair[0]
        spread = np.sqrt(j * (1 - j / size) * step.spread[0]) * (hits + j / 2)
        share = np.exp(log_share[row, column])
        return _Terms(int(met[0]), met.size, row, hits + j - low, growth, spread, share)


class _Below:
    """The chances that the ranks below the first ones add something, on lattices.

    There is a table for each number of points. Its first rows are the chances after fewer hits
    than lists may have, below the first ranks; the others those after the most hits of a list, by
    the rank of the last of them.
    """

    def __init__(self, steps: _StepTerms, hits: int, power: int) -> None:
        self._steps, self._hits, self._top = steps, hits, _BASE**power
        self._first = _first_ranks(steps.case, hits)
        self._negligible = float(np.exp(steps.never))
        shape = hits + self._first + 1
        self._tables = [np.zeros((shape, points + 2)) for points in _POINTS]
        self._walk()

    def reached(self, row: Integers, lack: Floats) -> Floats:
        """Return the chances in some rows, by number of points."""
        chances = []
        for table, points in zip(self._tables, _POINTS, strict=True):
            place, share = np.divmod(lack * (points / self._top), 1.0)
            index = place.astype(np.int64)
            chances.append((1 - share) * table[row, index] + share * table[row, index + 1])
        return np.array(chances)

    def _walk(self) -> None:
        """Walk up from the bottom to the first ranks."""
        cuts = self._cuts()
        hits, _ = self._steps.likely(cuts[-1])
        # A point of a lattice stands for all values that are nearer to it than to its neighbours.
        both = [np.full((hits.size, 1), 0.5) for _ in _POINTS]
        low = int(hits[0])
        self._keep(cuts[-1], low, both)
        pairs = zip(cuts[-2::-1], cuts[:0:-1], strict=True)
        moves = self._moves([self._steps.at(*pair) for pair in pairs])
        for above, move in zip(cuts[-2::-1], moves, strict=True):
            both, low = self._moved(move, both), move.low
            self._keep(above, low, both)
        self._keep_above(cuts[0], low, both)

    def _cuts(self) -> list[int]:
        """Return the ends of the steps: first ranks, and parts of shares of the rank.

        Steps above which any hit adds all that may be lacking are left out.
        """
        cuts, depth = [*range(1, self._first + 1)], self._steps.case.depth
        cell = self._top / _POINTS[-1]
        while cuts[-1] < depth:
            begin = cuts[-1]
            size = min(max(1, int(GROWTH * begin)), depth - begin)
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

    def _moves(self, steps: Sequence[_Terms]) -> Iterator[_Move]:
        """Yield what each of the steps does to both lattices."""
        both, rows = len(_POINTS), np.array([terms.rows for terms in steps])
        row, after, growth, spread, chance = (
            np.tile(np.concatenate(column), both) for column in list(zip(*steps, strict=True))[2:]
        )
        step = np.repeat(np.arange(len(steps)), [terms.row.size for terms in steps])
        lattice, step = np.repeat(np.arange(both), step.size), np.tile(step, both)
        points = np.array(_POINTS)[lattice]
        cell = self._top / points
        again, growth, chance = split_growth(growth, spread, chance, cell)
        place, part = np.divmod(growth / cell[again], 1.0)
        shift = np.concatenate([place, place + 1])
        factor = np.concatenate([(1 - part) * chance, part * chance])
        again = np.tile(again, 2)
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
        shape = len(_POINTS) * rows, max(move.furthest)
        reached = sums_beyond(move.row, move.shift, move.factor, shape)
        columns = (np.split(column, move.cuts) for column in move[2:6])
        result = []
        for lattice, (row, after, shift, factor) in enumerate(zip(*columns, strict=True)):
            points, far, before = _POINTS[lattice], move.furthest[lattice], both[lattice].shape[1]
            width = min(before + far, points + 2)
            moved = np.zeros((rows, width))
            moved[:, :far] = reached[lattice * rows : (lattice + 1) * rows, :far]
            inside = (factor > 0) & (shift < width)
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
