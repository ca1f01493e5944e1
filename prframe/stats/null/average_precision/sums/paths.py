"""Sums of the AP of any rankings, each walked to along a path of its own.

The generating function of the sum is the product of those of the rankings (`Course`), with one
slope for all.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from prframe.stats.null.average_precision.generating_function.course import (
    DENSE,
    GROWTH,
    Complexes,
    Course,
    Group,
    Tilt,
)
from prframe.stats.null.average_precision.generating_function.path import (
    Lanes,
    Path,
    at_random,
    leaning,
)
from prframe.stats.null.average_precision.generating_function.saddlepoint import (
    LOST,
    Approximation,
    Points,
    from_nodes,
    nodes_about,
    tails,
)
from prframe.stats.null.average_precision.sums.terms import COARSE, Sum, Term
from prframe.typing import Floats

# Looks for a slope; by how many deviations of any ranking's T it changes at most.
_LOOKS, _STRIDE = 40, 2.0
# After so many the search begins anew, between 0 and so much per unit of T, halved so often.
_PATIENCE, _STEEPEST, _HALVINGS = 14, 20.0, 12
# A slope is close if the sum is so many tilted deviations off; its nodes reach so far.
_CLOSE, _REACH = 1.0, 0.5
# How much wider the rows are where a walk ran out of them.
_WIDER = 1.6


class _Part:
    """Terms with about as many positives, which are walked to side by side."""

    def __init__(self, terms: Sequence[Term]) -> None:
        self.often = np.array([term.often for term in terms], dtype=np.float64)
        self.scale = np.array([1.0 / term.n_pos for term in terms])
        steps = [term.items.table(DENSE, GROWTH) for term in terms]
        self.lanes = Lanes.of(steps, [term.n_pos for term in terms])
        self.path = at_random(self.lanes)
        self.good = self.path
        self.course = Course.planned(self.lanes, self.path)

    def lean(self, slope: float) -> float:
        """Follow the most likely paths for a slope; return the sum on them."""
        self.path, total = leaning(self.lanes, slope * self.scale)
        return float(self.often @ (total * self.scale))

    def path_at(self, slope: float) -> Path:  # noqa: ARG002 - that of the last look
        """Return the paths at the slope that was looked at last, which is near the one given."""
        return self.path

    def lay(self) -> None:
        """Lay rows about the paths."""
        self.course = Course.planned(self.lanes, self.path)

    def look(self, slope: float) -> "_Look":
        """Look where the walks are under a slope, and let the paths go there."""
        seen = self.course.whereabouts(self.lanes, slope * self.scale)
        inside = seen.outside <= LOST
        hits = self.path.hits.copy()
        hits[:, 1:-1] = seen.mean
        wider = np.maximum(seen.deviation, self.path.scatter) * _WIDER
        scatter = np.where(inside[:, None], seen.deviation, wider)
        self.path = Path(hits, slope * self.scale, self.path.deviation, scatter)
        each = np.sqrt(seen.variance) * self.scale
        total, variance = self.often @ (seen.total * self.scale), self.often @ each**2
        return _Look(bool(inside.all()), float(total), float(variance), float(each.max()))


class _Look(NamedTuple):
    """Whether walks kept within their rows; mean and variance of a sum, and the largest deviation.

    The last is that of the AP of one ranking.
    """

    is_inside: bool
    mean: float
    variance: float
    deviation: float


class PathSum(Sum):
    """A sum of any terms."""

    def __init__(self, terms: Sequence[Term]) -> None:
        super().__init__(terms)
        alike = groupby(self.terms, key=lambda term: int(np.log2(term.n_pos)))
        self._parts = [_Part(list(some)) for _, some in alike]

    @property
    def parts(self) -> "list[_Part]":
        """Terms that are walked to side by side."""
        return self._parts

    def _search(self, target: float) -> float | None:
        """Find a slope under which the mean is near a value; the walks are then seen there."""
        slope, last, misses = 0.0, 0.0, 0
        seen: dict[float, float] = {}
        for turn in range(_LOOKS):
            if turn == _PATIENCE and target > self.mean:
                # Too far for small changes of the slope.
                slope, misses = self._guess(target), 0
            looks = [part.look(slope) for part in self._parts]
            if not all(look.is_inside for look in looks):
                # The rows are laid anew, and wider; then the slope has changed too much.
                misses += 1
                if misses > 1:
                    slope, misses = (slope + last) / 2, 0
                    for part in self._parts:
                        part.path = part.good
                for part in self._parts:
                    part.lay()
                continue
            for part in self._parts:
                part.good = part.path
            last, misses = slope, 0
            self.tilted_deviation = float(np.sqrt(sum(look.variance for look in looks)))
            seen[slope] = sum(look.mean for look in looks)
            lack = target - seen[slope]
            if abs(lack) <= _CLOSE * self.tilted_deviation:
                return float(slope + lack / self.tilted_deviation**2)
            most = _STRIDE / max(look.deviation for look in looks)
            step = slope + float(np.clip(lack / self.tilted_deviation**2, -most, most))
            slope = _between(seen, target, step)
        return None

    def _guess(self, target: float) -> float:
        """Return about the slope under which the mean is a value, by the most likely paths."""
        low, high = 0.0, _STEEPEST / float(min(part.scale.min() for part in self._parts))
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            if sum(part.lean(middle) for part in self._parts) < target:
                low = middle
            else:
                high = middle
        for part in self._parts:
            part.lean(low)
            part.lay()
        return low

    def saddlepoint(self, target: float) -> Points | None:
        """Return the saddlepoint of a value, NaN if it is not where it was looked for."""
        slope = self._search(target)
        if slope is None:
            return None
        nodes = nodes_about(np.array([slope]), np.array([_REACH / self.tilted_deviation]))
        log_mgf = sum(
            part.often @ part.course.log_mgf(nodes * part.scale[:, None]) for part in self._parts
        )
        points, place = from_nodes(nodes, np.atleast_2d(log_mgf), np.array([target]))
        fits = (np.abs(place) <= 1) & (points.second > 0)
        return Points(*(np.where(fits, part, np.nan) for part in points))

    def product(self) -> Course:
        """Return the generating function of the sum, where the walks are."""
        return _product(self._parts)

    def approximation(self, points: Points, target: float) -> Approximation:
        """Return the tail; the rows of paths do not suffice for derivatives beyond the fourth."""
        return tails(points, np.array([target]))

    def coarse_waves(self, slope: float, frequencies: Floats) -> Floats:
        """Return the size of the characteristic function of terms with few positives."""
        coarse = [part for part in self._parts if part.lanes.n_pos.max() <= COARSE]
        if not coarse:
            return np.ones(frequencies.size)
        product = _product(coarse)
        return np.abs(product.waves(product.tilt(slope), [0], frequencies)[0])


def _product(parts: Sequence[_Part]) -> "_Product":
    """Return the generating function of the terms of some parts, where the walks are."""
    courses = [
        Course.planned(part.lanes.taken(lane), part.path.taken(lane))
        for part in parts
        for lane in np.arange(part.scale.size)[:, None]
    ]
    often = np.concatenate([part.often for part in parts])
    return _Product(courses, often, np.concatenate([part.scale for part in parts]))


def _between(seen: dict[float, float], target: float, step: float) -> float:
    """Return a slope between those seen, by the logarithm of the mean; a step, if they are not."""
    below = max((slope for slope, mean in seen.items() if mean < target), default=None)
    above = min((slope for slope, mean in seen.items() if mean > target), default=None)
    if below is None or above is None:
        return step
    low, high = np.log(seen[below]), np.log(seen[above])
    share = (np.log(target) - low) / (high - low)
    return float(below + np.clip(share, 0.1, 0.9) * (above - below))


class _Product(Course):
    """The generating function of the sum of the AP of independent groups.

    That of AP = T/n_pos at a slope is that of T at slope / n_pos, and those of a sum multiply.
    """

    def __init__(self, courses: Sequence[Course], often: Floats, scale: Floats) -> None:
        self._courses = list(zip(courses, often.tolist(), scale.tolist(), strict=True))
        each = [course.groups[0] for course in courses]
        self.groups = [Group(sum(group.n for group in each), sum(group.n_pos for group in each))]
        self._tilts: dict[float, list[Tilt]] = {}

    def tilt(self, slope: float) -> Tilt:
        """Tilt every group."""
        own = [course.tilt(slope * scale) for course, _, scale in self._courses]
        self._tilts[slope] = own
        log_mgf, mean, variance = np.zeros((3, 1))
        for tilt, (_, often, scale) in zip(own, self._courses, strict=True):
            log_mgf += often * tilt.log_mgf
            mean += often * scale * tilt.mean
            variance += often * scale**2 * tilt.variance
        return Tilt(slope, log_mgf, mean, variance, [], [])

    def waves(
        self, tilt: Tilt, groups: Iterable[int], frequencies: Floats
    ) -> dict[int, Complexes]:
        """Multiply the characteristic functions."""
        product = np.ones(frequencies.size, dtype=np.complex128)
        own = self._tilts[tilt.slope]
        for each, (course, often, scale) in zip(own, self._courses, strict=True):
            product *= course.waves(each, [0], frequencies * scale)[0] ** often
        return dict.fromkeys(groups, product)
