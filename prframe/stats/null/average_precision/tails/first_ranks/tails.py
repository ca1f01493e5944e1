"""Tails of T = n_pos AP where the first few hits decide, which are listed one by one.

A hit at one of the first ranks adds so much to T that values of T gather in clusters, which are
narrow if positives are rare. A lattice from 0 to the value in question may be too coarse for them.
Here the first hits are listed with their ranks, and what the others add is compared with what is
then lacking:

    P(T >= x)  =  sum over lists of  P(list) P(others add >= x - sum of the list).
"""

from typing import NamedTuple

import numpy as np

from prframe.stats.null.average_precision.tails.first_ranks.lists import Lists, listed
from prframe.stats.null.average_precision.tails.first_ranks.others import BASE, Others
from prframe.stats.null.average_precision.tails.first_ranks.steps import BELOW, StepTerms
from prframe.stats.null.average_precision.tails.plain.lattice import log_least_tails
from prframe.stats.null.average_precision.tails.plain.plans import Retrieved
from prframe.typing import Floats, Integers

# The most hits of a list, by the whole part of the value of T; the last one is for all values
# beyond.
_HITS = 2, 3, 5, 5, 7, 7, 8, 9, 10, 11, 12, 13, 14, 15
# Lower bounds of tails are rounded down to a multiple of this, so that values share lattices.
_ROUNDED = 10.0
# The numbers of points of the two lattices. The natural logarithms of the tails from them may
# differ by `_APART`. If they differ by more, the next lattices are tried; after the last ones
# there is no answer.
_TRIES = ((512, 1024), (1024, 2048), (2048, 4096))
_APART = 0.01
# The standard deviation of what m positives add is about sqrt(2 / m) of the mean. Where more than
# this are retrieved, it is less than five points of the first lattices, whose errors do not fall
# with the third power of the distance of points yet. These lattices are left out.
_MANY = 5000
# Deep in the tail, where the logarithm of what does not matter is below the first number, the few
# hits below the lists are uneven too. First lattices agreed there by chance while p was up to 5 %
# off. Where at most so many positives are retrieved, the second lattices come first, or the third.
_DEEP, _SOME, _FEW = -70.0, 100, 32
# The error falls by this factor from the first lattice to the second.
_SMALLER = 8
# There is no answer either if the lower tail is smaller than this, as it is 1 less the upper one.
_LEAST_REST = 0.01
# Lattices of large lacks are left out if they would add at most this share of the tail.
_NEGLIGIBLE = 1e-7
# Lists that have at most this share of the tail among them have no lattice of their own, but the
# next coarser one that there is.
_SMALL = 5e-5
# A rough search makes do with lists of so many hits less, and with a chance that does not matter
# whose logarithm is so much larger.
_FEWER, _LARGER = 2, 10.0
# Further hits add at least one more than the hits before them, divided by the depth. A lack below
# this share of that is raised to it, which changes no chance.
_LEAST_RISE = 0.9


class Extent(NamedTuple):
    """The most hits of a list, and the logarithm of a chance that does not matter to the tail."""

    hits: int
    never: float


class FirstRanks:
    """Tails of a case without ties, whose lattices are kept for further values.

    Parameters
    ----------
    case : Retrieved
    """

    def __init__(self, case: Retrieved) -> None:
        self.case = case
        self._lists: dict[int, Lists] = {}
        self._below: dict[tuple[int, Extent, tuple[int, int]], Others] = {}
        self._steps: dict[Extent, StepTerms] = {}
        self._known: dict[tuple[float, Extent], float | None] = {}

    def extent(self, x: float) -> Extent:
        """Return how far lists and lattices reach for the tail of a value."""
        hits = _HITS[min(int(x), len(_HITS) - 1)]
        return Extent(min(self.case.n_pos, hits), self._never(x))

    def nearest(self, extent: Extent) -> Extent:
        """Return the extent of lattices at hand that a rough search makes do with, if any."""
        if extent in self._steps:
            return extent
        hits, never = extent.hits - _FEWER, extent.never + _LARGER
        known = [each for each in self._steps if each.hits >= hits and each.never <= never]
        return max(known, key=lambda each: each.never, default=extent)

    def log_tail(self, x: float, extent: Extent | None = None) -> float | None:
        """Return log P(T >= x); None if the lattices are too coarse, or the tail is too small."""
        extent = extent or self.extent(x)
        if (x, extent) not in self._known:
            self._known[x, extent] = self._log_tail(x, extent)
        return self._known[x, extent]

    def _log_tail(self, x: float, extent: Extent) -> float | None:
        """Compute log P(T >= x)."""
        for points in _TRIES[self._first_try(extent.never) :]:
            coarse, fine = self._reached(x, extent, points).tolist()
            if coarse <= 0 or not 0 < fine < 1 - _LEAST_REST:
                return None
            apart = float(np.log(fine / coarse))
            if abs(apart) <= _APART:
                return float(np.log(fine)) + apart / (_SMALLER - 1)
        return None

    def _first_try(self, never: float) -> int:
        """Return the first lattices whose difference tells how far they are off."""
        retrieved = self.case.n_pos * self.case.depth / self.case.n
        if never < _DEEP and retrieved <= _SOME:
            return 2 if retrieved <= _FEW else 1
        return int(retrieved > _MANY)

    def rest_of_run(self, hits: int, lack: float) -> float:
        """Return the chance that others add a lack if all of so many first ranks are hits."""
        # Others add at least one term more, at the last rank.
        lacks = np.array([max(lack, _LEAST_RISE * (hits + 1) / self.case.depth)])
        extent = Extent(hits, self._never(float(hits)))
        below = self._others(int(_powers(lacks)[0]), extent, _TRIES[-1])
        coarse, fine = below.reached(np.array([2 * hits]), lacks)[:, 0]
        return float(np.clip(fine + (fine - coarse) / (_SMALLER - 1), 0.0, 1.0))

    def _never(self, x: float) -> float:
        """Return the logarithm of a chance that does not matter to the tail of a value."""
        least = float(log_least_tails([self.case], np.array([x]))[0])
        return _ROUNDED * ((least - BELOW) // _ROUNDED)

    def _others(self, end: int, extent: Extent, points: tuple[int, int]) -> Others:
        """Return the chances of others on lattices up to a power of four, which are kept."""
        key = end, extent, points
        if key not in self._below:
            if extent not in self._steps:
                self._steps[extent] = StepTerms(self.case, *extent)
            self._below[key] = Others(self._steps[extent], extent.hits, end, points)
        return self._below[key]

    def _reached(self, x: float, extent: Extent, points: tuple[int, int]) -> Floats:
        """Return P(T >= x) from lattices of both numbers of points."""
        row, lack, chance, certain = self._open(x, extent.hits)
        reached, power = np.full(len(points), certain), _powers(lack)
        ends = np.unique(power).tolist()
        # Lists that lack about 1 decide most often, and tell then which of the others matter.
        first = max(int(np.searchsorted(ends, 0, side="right")) - 1, 0)
        others = None
        for end in ends[first:]:
            larger = self._others(end, extent, points)
            others = others or larger
            inside, beyond = power == end, power > end
            reached += larger.reached(row[inside], lack[inside]) @ chance[inside]
            furthest = np.full(int(beyond.sum()), BASE**end)
            further = larger.reached(row[beyond], furthest) @ chance[beyond]
            if (further <= _NEGLIGIBLE * reached).all():
                break
        for end in ends[:first][::-1]:
            inside = power == end
            if others is None or chance[inside].sum() > _SMALL * reached[0]:
                others = self._others(end, extent, points)
            reached += others.reached(row[inside], lack[inside]) @ chance[inside]
        return reached

    def _open(self, x: float, hits: int) -> tuple[Integers, Floats, Floats, float]:
        """Return the lists to which others must add, and the chance of those that reach x.

        Of each list there are the row of what others add, what it lacks, and its chance.
        """
        n, n_pos, depth = self.case
        if hits not in self._lists:
            self._lists[hits] = listed(self.case, hits)
        lists = self._lists[hits]
        lack, rest = x - lists.total, n_pos - lists.hits
        # Positives that are left add no less than if each stood at the last rank.
        least = rest * (lists.hits + (rest + 1) / 2) / n if depth == n else np.zeros(rest.size)
        open_ = np.flatnonzero((lack > least) & (rest > 0) & (lists.rank < depth))
        certain = float(lists.chance[lack <= least].sum())
        lack = np.maximum(lack[open_], _LEAST_RISE * (lists.hits[open_] + 1) / depth)
        return lists.row[open_], lack, lists.chance[open_], certain


def _powers(lack: Floats) -> Integers:
    """Return the powers at which the lattices of what is lacking end."""
    return np.asarray(np.ceil(np.log(lack) / np.log(BASE)), np.int64)
