"""Sums of the AP of rankings with few positives each, by walks through every number of hits.

A walk for a ladder of slopes tells roughly where the saddlepoint is, and another for slopes about
it gives the generating function there.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from prframe.stats.null.average_precision.generating_function.full_walks import NEVER, WholeWalk
from prframe.stats.null.average_precision.generating_function.lanes import Lanes, Path
from prframe.stats.null.average_precision.generating_function.likely_path import leaning
from prframe.stats.null.average_precision.generating_function.saddlepoint import (
    Approximation,
    Points,
    from_nodes,
    nodes_about,
    refined_tails,
)
from prframe.stats.null.average_precision.generating_function.upward_waves import Complexes
from prframe.stats.null.average_precision.generating_function.walk import (
    Course,
    Group,
    Tilt,
)
from prframe.stats.null.average_precision.sums.terms import (
    COARSE,
    Sum,
    Term,
    bounds,
    centres,
    clustered,
)
from prframe.stats.null.average_precision.tails.tail import Tail
from prframe.typing import Floats, Integers

# The most positives of a ranking for walks of this kind. Sums with a ranking of more positives
# have walks along paths.
MOST_POSITIVES = 160
# Rankings share a walk if the logarithms of their numbers of positives to this base have the same
# whole part.
_ALIKE = 1.7
# The first slopes that are tried, as shares of the steepest of them.
_LADDER = np.geomspace(1 / 60, 1.0, 8)
# For values above the mean the steepest of the first slopes is this many times the slope that a
# normal distribution would have. AP is skewed to the right, so that no steeper one is needed
# there.
_FURTHER_UP = 1.25
# For values below the mean it is this many times that slope. If that is too little, the first
# slopes are laid again, this many times as steep.
_FURTHER_DOWN = 8.0
# It is at least this over the standard deviation of the sum.
_FLATTEST = 0.1
# For the first slopes hits are left out if the natural logarithm of their share is below this.
_SELDOM = -12.0
# For the first slopes one of k rankings stands for all k, k being the positives of a ranking over
# this number. Rankings of few positives are furthest from normal and quickest, so that more are
# taken.
_SAMPLED = 4
# The slope is that at which a polynomial through this many of the first slopes has the value.
_NEAREST = 6
# The number of nodes about that slope at which the generating function is computed.
_NODES = 9
# The nodes reach this far to both sides at first, in units of 1 over the tilted standard deviation
# of the sum.
_REACH = 2.0
# Nodes are laid at most this often. If none of them serve, there is no saddlepoint of this kind.
_TURNS = 10
# A saddlepoint may lie this far from the centre of the nodes, which span -1 to 1. If it lies
# further out, nodes are laid anew about it.
_OUTSIDE = 1.2
# The second to sixth cumulants of the tilted sum, in standard units, may change by this share of
# `_FACTORIALS` if the two outermost nodes are left out. If they change by more, nodes are laid
# closer.
_RESOLVED = 1e-3
# Slopes share nodes if they are at most this share of the reach of the nodes apart.
_TOGETHER = 0.5
# They do not share nodes that reach less far than this.
_CLOSE = 0.5
# First slopes are shared by values whose steepest ones have logarithms to this base with the same
# whole part.
_ALIKE_TOPS = 4.0
# The most slopes of a walk, times its rankings, which bounds the memory.
_AT_ONCE = 1 << 15
# The factorials of the orders of these cumulants.
_FACTORIALS = np.array([2.0, 6.0, 24.0, 120.0, 720.0])
# The mean and the variance of a tilted sum are differences between slopes this far apart, in units
# of 1 over the standard deviation of the sum.
_APART = 0.05


class _Part:
    """Rankings with similar numbers of positives, whose walks go side by side.

    A part gives the generating function of the sum of their AP, as one factor of that of the
    whole sum.

    Attributes
    ----------
    terms : list of Term
    lanes : Lanes
        The steps of each ranking.
    often, scale : ndarray of float, shape (n_terms,)
        How often each term is added, and 1 over its number of positives: AP is T times this.
    limit : float
        The largest slope for AP, in size, at which no value of a walk leaves the range of floats.
    """

    def __init__(self, terms: Sequence[Term], lanes: Lanes) -> None:
        self.terms, self.lanes = list(terms), lanes
        self.often = np.array([term.often for term in terms], dtype=np.float64)
        self.scale = np.array([1.0 / term.n_pos for term in terms])
        self.limit = WholeWalk.limit(1 / self.scale) / float(self.scale.max())
        self._walk = WholeWalk(lanes)

    @classmethod
    def of(cls, terms: Sequence[Term]) -> "_Part":
        """Lay the walks of terms side by side."""
        steps = [term.steps for term in terms]
        return cls(terms, Lanes.of(steps, [term.n_pos for term in terms]))

    def sample(self) -> "_Part":
        """Return a part in which a few of the terms stand for those beside them as well."""
        every = max(1, self.terms[0].n_pos // _SAMPLED)
        begins = np.arange(0, len(self.terms), every)
        chosen = np.minimum(begins + every // 2, len(self.terms) - 1)
        often = np.add.reduceat(self.often, begins).tolist()
        terms = [
            self.terms[place]._replace(often=int(count))
            for place, count in zip(chosen.tolist(), often, strict=True)
        ]
        return _Part(terms, self.lanes.taken(chosen))

    def path_at(self, slope: float) -> Path:
        """Return the most likely paths under a slope."""
        return leaning(self.lanes, slope * self.scale)[0]

    def log_mgf(self, slopes: Floats, never: float = NEVER) -> Floats:
        """Return the sum of log E[exp(slope AP)] over the terms."""
        count = max(1, _AT_ONCE // self.often.size)
        values = [
            self._walk.mgf(slopes[begin : begin + count] * self.scale[:, None], never)
            for begin in range(0, slopes.size, count)
        ]
        return np.asarray(self.often @ np.log(np.concatenate(values, axis=1)))

    def waves(self, slopes: Floats, frequencies: Sequence[Floats]) -> list[Complexes]:
        """Return the characteristic function of the sum under each tilt, at its frequencies."""
        lines = [
            slope + 1j * np.append(0.0, frequency)
            for slope, frequency in zip(slopes.tolist(), frequencies, strict=True)
        ]
        longest = max((line.size for line in lines), default=1)
        count = max(1, _AT_ONCE // self.often.size // longest)
        waves = []
        for begin in range(0, len(lines), count):
            together = lines[begin : begin + count]
            values = self._walk.mgf(np.concatenate(together) * self.scale[:, None])
            ends = np.cumsum([line.size for line in together])[:-1]
            waves += [self._multiplied(value) for value in np.split(values, ends, axis=1)]
        return waves

    def _multiplied(self, value: Complexes) -> Complexes:
        """Return the characteristic function from values by term, the first without frequency."""
        each = (value[:, 1:] / value[:, :1]) ** self.often[:, None]
        return np.asarray(np.prod(each, axis=0))


class WholeSum(Sum):
    """A sum of terms with at most MOST_POSITIVES positives each."""

    def __init__(self, terms: Sequence[Term]) -> None:
        super().__init__(terms)
        alike = groupby(self.terms, key=lambda term: int(np.log(term.n_pos) / np.log(_ALIKE)))
        self._parts = [_Part.of(list(members)) for _, members in alike]
        self._limit = min(part.limit for part in self._parts)

    @property
    def parts(self) -> "list[_Part]":
        """The parts, each with terms whose walks go side by side."""
        return self._parts

    def saddlepoints(self, targets: Floats) -> Points:
        """Return the saddlepoints of values, NaN where slopes are too large."""
        columns = np.full((len(Points._fields), targets.size), np.nan)
        slope, deviation = self._glanced(targets)
        reach = np.full(targets.size, _REACH)
        for _ in range(_TURNS):
            half = reach / deviation
            # Slopes are not numbers where there is no saddlepoint.
            open_ = np.flatnonzero(np.isnan(columns[0]) & (np.abs(slope) + half <= self._limit))
            if not open_.size:
                break
            # Nodes that are close to each other are not shared, as rounding matters there.
            shared = np.where(reach < _CLOSE, 0.0, _TOGETHER) * half
            numbers = clustered(slope[open_], shared[open_])
            values = slope[open_], half[open_], targets[open_]
            points, place, is_resolved = self._about(*values, numbers)
            is_inside = np.abs(place) <= _OUTSIDE
            good = is_inside & is_resolved & (points.second > 0)
            columns[:, open_[good]] = np.array(points)[:, good]
            reach[open_[is_inside]] /= 2
            with np.errstate(invalid="ignore"):
                deviation[open_] = np.sqrt(points.second)
            slope[open_] = np.where(points.second > 0, points.slope, np.nan)
        return Points(*columns)

    def bounds(self, targets: Floats) -> list[Tail]:
        """Return upper bounds of the tails from the steepest slopes that are possible."""
        ends = self._limit * np.array([-1.0, 1.0])
        log_mgf = self._log_mgf(ends)
        side = (targets >= self.mean).astype(np.int64)
        return bounds(ends[side], log_mgf[side], targets)

    def _about(
        self, slope: Floats, half: Floats, targets: Floats, numbers: Integers
    ) -> tuple[Points, Floats, NDArray[np.bool_]]:
        """Return saddlepoints from nodes about slopes, which those of equal numbers share.

        With them come their places among the nodes, and whether fewer nodes tell the same.
        """
        least = np.full(int(numbers.max()) + 1, np.inf)
        np.minimum.at(least, numbers, half)
        nodes = nodes_about(centres(slope, numbers), least, _NODES)
        log_mgf = self._log_mgf(nodes.ravel()).reshape(nodes.shape)[numbers]
        nodes = nodes[numbers]
        points, place = from_nodes(nodes, log_mgf, targets)
        inner, _ = from_nodes(nodes[:, 1:-1], log_mgf[:, 1:-1], targets)
        with np.errstate(invalid="ignore"):
            off = np.abs(np.array(points) - np.array(inner))[2:]
            off /= np.sqrt(points.second) ** np.arange(2, 7)[:, None]
        return points, place, np.all(off < _RESOLVED * _FACTORIALS[:, None], axis=0)

    def _glanced(self, targets: Floats) -> tuple[Floats, Floats]:
        """Return roughly the slopes of values, NaN if they are not among the first slopes.

        With them come roughly the standard deviations of the sum under these slopes.
        """
        normal = (targets - self.mean) / self.deviation**2
        top = np.where(normal > 0, _FURTHER_UP, _FURTHER_DOWN) * np.abs(normal)
        top = np.minimum(np.maximum(top, _FLATTEST / self.deviation), self._limit)
        slopes, deviations = np.full((2, targets.size), np.nan)
        open_ = np.arange(targets.size)
        while open_.size:
            is_up = normal[open_] >= 0
            glance = self._on_ladders(targets[open_], top[open_], is_up)
            slopes[open_], deviations[open_] = glance
            open_ = open_[np.isnan(slopes[open_]) & (top[open_] < self._limit)]
            top[open_] = np.minimum(top[open_] * _FURTHER_DOWN, self._limit)
        return slopes, deviations

    def _on_ladders(
        self, targets: Floats, top: Floats, is_up: NDArray[np.bool_]
    ) -> tuple[Floats, Floats]:
        """Return what `_glanced` does, given the steepest slope to try, up or down, by value."""
        kind = np.stack([is_up, np.floor(np.log(top) / np.log(_ALIKE_TOPS))])
        distinct, number = np.unique(kind, axis=1, return_inverse=True)
        members = [np.flatnonzero(number == alike) for alike in range(distinct.shape[1])]
        furthest = [top[chosen].max() for chosen in members] * np.where(distinct[0] > 0, 1.0, -1.0)
        ladders = np.sort(np.multiply.outer(furthest, np.append(0.0, _LADDER)), axis=1)
        log_mgf = self._rough_log_mgf(ladders.ravel()).reshape(ladders.shape)
        slopes, deviations = np.zeros((2, targets.size))
        for chosen, ladder, values in zip(members, ladders, log_mgf, strict=True):
            slopes[chosen], deviations[chosen] = _on_ladder(ladder, values, targets[chosen])
        return slopes, deviations

    def _log_mgf(self, slopes: Floats) -> Floats:
        """Return the logarithm of the generating function."""
        return np.asarray(sum(part.log_mgf(slopes) for part in self._parts))

    def _rough_log_mgf(self, slopes: Floats) -> Floats:
        """Return roughly what `_log_mgf` does, from a sample of the terms.

        Mean and variance are those of all terms.
        """
        sample = [part.sample() for part in self._parts]
        log_mgf = np.sum([part.log_mgf(slopes, _SELDOM) for part in sample], axis=0)
        often, mean, variance = np.array([term[2:5] for part in sample for term in part.terms]).T
        log_mgf += slopes * (self.mean - often @ mean)
        log_mgf += slopes**2 / 2 * (self.deviation**2 - often @ variance)
        return np.asarray(log_mgf)

    def approximation(self, points: Points, targets: Floats) -> Approximation:
        """Return the tails from six derivatives, all of which are accurate."""
        return refined_tails(points, targets)

    def coarse_waves(self, slopes: Floats, frequencies: Sequence[Floats]) -> list[Floats]:
        """Return the sizes of the characteristic function of terms with few positives."""
        few = [part for part in self._parts if part.lanes.n_pos.max() <= COARSE]
        return [np.abs(wave) for wave in _products(few, slopes, frequencies)]

    def product(self) -> Course:
        """Return the generating function of the sum."""
        return _Product(self._parts, self.deviation)


def _on_ladder(ladder: Floats, log_mgf: Floats, targets: Floats) -> tuple[Floats, Floats]:
    """Return roughly slopes and tilted standard deviations of values; NaN beyond the ladder."""
    means = np.gradient(log_mgf, ladder)
    # A slope comes from a polynomial through the nearest slopes, or lies between two of them.
    above = np.clip(np.searchsorted(means, targets), 1, ladder.size - 1)
    first = np.minimum(np.maximum(0, above - _NEAREST // 2), ladder.size - _NEAREST)
    near = first[:, None] + np.arange(_NEAREST)
    points, _ = from_nodes(ladder[near], log_mgf[near], targets)
    fits = (ladder[above - 1] <= points.slope) & (points.slope <= ladder[above])
    fits &= points.second > 0
    slope = np.where(fits, points.slope, np.interp(targets, means, ladder))
    rough = np.interp(slope, ladder, np.gradient(means, ladder))
    slope[(targets < means[0]) | (targets > means[-1])] = np.nan
    with np.errstate(invalid="ignore"):
        return slope, np.sqrt(np.where(fits, points.second, rough))


def _products(
    parts: Iterable[_Part], slopes: Floats, frequencies: Sequence[Floats]
) -> list[Complexes]:
    """Return the characteristic function of parts under each tilt."""
    products = [np.ones(frequency.size, dtype=np.complex128) for frequency in frequencies]
    for part in parts:
        waves = part.waves(slopes, frequencies)
        products = [product * wave for product, wave in zip(products, waves, strict=True)]
    return products


class _Product(Course):
    """The generating function of a sum, for the inversion."""

    def __init__(self, parts: Sequence[_Part], deviation: float) -> None:
        self._parts, self._deviation = list(parts), deviation
        n, n_pos = (
            sum(int(column.sum()) for column in columns)
            for columns in zip(*((part.lanes.n, part.lanes.n_pos) for part in parts), strict=True)
        )
        self.groups = [Group(n, n_pos)]

    def tilt(self, slope: float) -> Tilt:
        """Return the tilt of the sum, with moments from three slopes."""
        apart = _APART / self._deviation
        slopes = slope + apart * np.array([-1.0, 0.0, 1.0])
        log_mgf = np.sum([part.log_mgf(slopes) for part in self._parts], axis=0)
        below, here, above = log_mgf[:, None]
        mean, variance = (above - below) / 2 / apart, (above - 2 * here + below) / apart**2
        return Tilt(slope, here, mean, variance, [], [])

    def waves(
        self, tilt: Tilt, groups: Iterable[int], frequencies: Floats
    ) -> dict[int, Complexes]:
        """Return the product of the characteristic functions for each of the groups."""
        wave = _products(self._parts, np.array([tilt.slope]), [frequencies])[0]
        return dict.fromkeys(groups, wave)
