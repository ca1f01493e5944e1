"""Sums of the AP of rankings with few positives each, by walks through every number of hits.

A walk for a ladder of slopes tells roughly where the saddlepoint is, and another for slopes about
it gives the generating function there.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby

import numpy as np

from prframe.stats.null.average_precision.generating_function.course import (
    DENSE,
    GROWTH,
    Complexes,
    Course,
    Group,
    Tilt,
)
from prframe.stats.null.average_precision.generating_function.path import Lanes, Path, leaning
from prframe.stats.null.average_precision.generating_function.saddlepoint import (
    Approximation,
    Points,
    from_nodes,
    nodes_about,
    refined_tails,
)
from prframe.stats.null.average_precision.generating_function.whole import NEVER, WholeWalk
from prframe.stats.null.average_precision.sums.terms import COARSE, Sum, Term
from prframe.typing import Floats

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
# For values below the mean it is this many times that slope.
_FURTHER_DOWN = 8.0
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
_TURNS = 6
# A saddlepoint may lie this far from the centre of the nodes, which span -1 to 1. If it lies
# further out, nodes are laid anew about it.
_OUTSIDE = 1.2
# The second to sixth cumulants of the tilted sum, in standard units, may change by this share of
# `_FACTORIALS` if the two outermost nodes are left out. If they change by more, nodes are laid
# closer.
_RESOLVED = 1e-3
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
        steps = [term.items.table(DENSE, GROWTH) for term in terms]
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
        values = self._walk.mgf(slopes * self.scale[:, None], never)
        return np.asarray(self.often @ np.log(values))

    def wave(self, slope: float, frequencies: Floats) -> Complexes:
        """Return the characteristic function of the sum under a tilt."""
        slopes = slope + 1j * np.concatenate([[0.0], frequencies])
        value = self._walk.mgf(slopes * self.scale[:, None])
        return np.asarray(np.prod((value[:, 1:] / value[:, :1]) ** self.often[:, None], axis=0))


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

    def saddlepoint(self, target: float) -> Points | None:
        """Return the saddlepoint of a value; None if the slope is too large."""
        slope, reach = self._glanced(target), _REACH
        for _ in range(_TURNS):
            half = reach / self.tilted_deviation
            if slope is None or abs(slope) + half > self._limit:
                return None
            nodes = nodes_about(np.array([slope]), np.array([half]), _NODES)
            log_mgf = self._log_mgf(nodes[0])
            points, place = from_nodes(nodes, log_mgf, np.array([target]))
            if not points.second[0] > 0:
                return None
            slope, deviation = float(points.slope[0]), float(points.second[0] ** 0.5)
            self.tilted_deviation = deviation
            inner, _ = from_nodes(nodes[:, 1:-1], log_mgf[:, 1:-1], np.array([target]))
            off = np.abs(np.array(points) - np.array(inner))[2:, 0]
            off /= deviation ** np.arange(2, 7)
            if abs(place[0]) <= _OUTSIDE and (off < _RESOLVED * _FACTORIALS).all():
                return points
            if abs(place[0]) <= _OUTSIDE:
                reach /= 2
        return None

    def _glanced(self, target: float) -> float | None:
        """Return roughly the slope of a value, None if it is not among the first slopes."""
        normal = (target - self.mean) / self.deviation**2
        further = _FURTHER_UP if normal > 0 else _FURTHER_DOWN
        top = np.sign(normal) * min(further * abs(normal), self._limit)
        ladder = np.sort(np.append(top * _LADDER, 0.0))
        log_mgf = self._rough_log_mgf(ladder)
        means = np.gradient(log_mgf[0], ladder)
        if not means[0] <= target <= means[-1]:
            return None
        # The slope comes from a polynomial through the nearest slopes, or lies between two of
        # them.
        above = int(np.clip(np.searchsorted(means, target), 1, ladder.size - 1))
        first = min(max(0, above - _NEAREST // 2), ladder.size - _NEAREST)
        near = slice(first, first + _NEAREST)
        points, _ = from_nodes(ladder[None, near], log_mgf[:, near], np.array([target]))
        slope, variance = float(points.slope[0]), float(points.second[0])
        if not (ladder[above - 1] <= slope <= ladder[above] and variance > 0):
            slope = float(np.interp(target, means, ladder))
            variance = float(np.interp(slope, ladder, np.gradient(means, ladder)))
        self.tilted_deviation = variance**0.5
        return slope

    def _log_mgf(self, slopes: Floats) -> Floats:
        """Return the logarithm of the generating function, shape (1, n_slopes)."""
        return np.asarray(sum(part.log_mgf(slopes) for part in self._parts))[None]

    def _rough_log_mgf(self, slopes: Floats) -> Floats:
        """Return roughly what `_log_mgf` does, from a sample of the terms.

        Mean and variance are those of all terms.
        """
        sample = [part.sample() for part in self._parts]
        log_mgf = np.sum([part.log_mgf(slopes, _SELDOM) for part in sample], axis=0)
        often, mean, variance = np.array([term[2:] for part in sample for term in part.terms]).T
        log_mgf += slopes * (self.mean - often @ mean)
        log_mgf += slopes**2 / 2 * (self.deviation**2 - often @ variance)
        return np.asarray(log_mgf)[None]

    def approximation(self, points: Points, target: float) -> Approximation:
        """Return the tail from six derivatives, all of which are accurate."""
        return refined_tails(points, np.array([target]))

    def coarse_waves(self, slope: float, frequencies: Floats) -> Floats:
        """Return the size of the characteristic function of terms with few positives."""
        few = [part for part in self._parts if part.lanes.n_pos.max() <= COARSE]
        return np.abs(_product(few, slope, frequencies))

    def product(self) -> Course:
        """Return the generating function of the sum."""
        return _Product(self._parts, self.deviation)


def _product(parts: Iterable[_Part], slope: float, frequencies: Floats) -> Complexes:
    """Return the characteristic function of parts under a tilt."""
    product = np.ones(frequencies.size, dtype=np.complex128)
    for part in parts:
        product *= part.wave(slope, frequencies)
    return product


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
        return dict.fromkeys(groups, _product(self._parts, tilt.slope, frequencies))
