"""Sums of the AP of any rankings, each of which has a walk along a path of its own.

The generating function of the sum is the product of those of the rankings (`Course`), with one
slope for all.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from prframe.stats.null.average_precision.generating_function.lanes import Lanes, Path
from prframe.stats.null.average_precision.generating_function.likely_path import at_random, leaning
from prframe.stats.null.average_precision.generating_function.path_search import LOST
from prframe.stats.null.average_precision.generating_function.saddlepoint import (
    Approximation,
    Points,
    from_nodes,
    nodes_about,
    tails,
)
from prframe.stats.null.average_precision.generating_function.sunken_path import (
    are_rare,
    sunken_at,
    total_at,
)
from prframe.stats.null.average_precision.generating_function.upward_waves import Complexes
from prframe.stats.null.average_precision.generating_function.walk import (
    Course,
    Group,
    Tilt,
)
from prframe.stats.null.average_precision.sums.terms import COARSE, Sum, Term
from prframe.typing import Floats

# The most walks of a search for a slope. If none of them is close, there is no saddlepoint.
_LOOKS = 40
# A slope changes by at most this between two walks, in units of 1 over the largest standard
# deviation of any ranking's AP.
_STRIDE = 2.0
# After this many walks the search for a value above the mean begins anew, at a slope from
# bisection by the most likely paths.
_PATIENCE = 14
# The bisection begins with slopes for AP from 0 to this times the most positives of a ranking.
_STEEPEST = 20.0
# The number of halvings of the bisection.
_HALVINGS = 12
# Slopes of low sums are at most this in size; their logarithms are halved so often.
_STEEPEST_BELOW, _HALVINGS_BELOW = 1e15, 24
# A slope is close if the tilted mean of the sum is at most this many tilted standard deviations
# from the value.
_CLOSE = 1.0
# The nodes about a close slope reach this far to both sides, in units of 1 over the tilted
# standard deviation of the sum.
_REACH = 0.5
# The rows of a walk that has run out of them reach this many times as far in the next one.
_WIDER = 1.6


class _Part:
    """Terms with similar numbers of positives, whose walks go side by side."""

    def __init__(self, terms: Sequence[Term]) -> None:
        self.often = np.array([term.often for term in terms], dtype=np.float64)
        self.scale = np.array([1.0 / term.n_pos for term in terms])
        steps = [term.steps for term in terms]
        self.lanes = Lanes.of(steps, [term.n_pos for term in terms])
        self.path = at_random(self.lanes)
        self.good = self.path
        self.course = Course.planned(self.lanes, self.path)

    def lean(self, slope: float) -> float:
        """Follow the most likely paths for a slope; return the sum on them."""
        self.path, total = leaning(self.lanes, slope * self.scale)
        return float(self.often @ (total * self.scale))

    def sink(self, slope: float) -> float:
        """Return the sum on the paths of rare positives under a negative slope."""
        return float(self.often @ (total_at(self.lanes, slope * self.scale) * self.scale))

    def path_at(self, slope: float) -> Path:  # noqa: ARG002 - the last paths are near enough
        """Return the paths at the last slope that was tried, which is near the one given."""
        return self.path

    def lay(self) -> None:
        """Plan a course with rows about the paths."""
        self.course = Course.planned(self.lanes, self.path)

    def look(self, slope: float) -> "_Look":
        """Walk with a slope, and move the paths to where the walks are."""
        seen = self.course.whereabouts(self.lanes, slope * self.scale)
        inside = seen.outside.max(axis=1) <= LOST
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

    This deviation is that of the AP of a single ranking.
    """

    is_inside: bool
    mean: float
    variance: float
    deviation: float


class PathSum(Sum):
    """A sum of any terms, with a walk along a path for each."""

    def __init__(self, terms: Sequence[Term]) -> None:
        super().__init__(terms)
        alike = groupby(self.terms, key=lambda term: int(np.log2(term.n_pos)))
        self._parts = [_Part(list(members)) for _, members in alike]

    @property
    def parts(self) -> "list[_Part]":
        """The parts, each with terms whose walks go side by side."""
        return self._parts

    def _search(self, target: float) -> tuple[float, float] | None:
        """Find a slope under which the mean is near a value; the paths are then those under it.

        With it comes the standard deviation of the sum under the slope.
        """
        slope, last, misses = self._low_guess(target), 0.0, 0
        seen: dict[float, float] = {}
        for turn in range(_LOOKS):
            if turn == _PATIENCE and target > self.mean:
                # The value is too far away for small changes of the slope.
                slope, misses = self._guess(target), 0
            looks = self._looks(slope, misses)
            if looks is None:
                # Wider rows are tried first; if they do not suffice, the slope has changed too
                # much.
                misses += 1
                if misses > 1:
                    slope, misses = (slope + last) / 2, 0
                continue
            last, misses = slope, 0
            variance = sum(look.variance for look in looks)
            seen[slope] = sum(look.mean for look in looks)
            if min(variance, seen[slope]) <= 0:
                # Slopes grow without end, until rounding is all that is left of the walk.
                return None
            lack = target - seen[slope]
            if abs(lack) <= _CLOSE * variance**0.5:
                return float(slope + lack / variance), variance**0.5
            most = _STRIDE / max(look.deviation for look in looks)
            step = slope + float(np.clip(lack / variance, -most, most))
            slope = _between(seen, target, step)
        return None

    def _looks(self, slope: float, misses: int) -> "list[_Look] | None":
        """Walk with a slope; None if a walk ran out of rows, after which others are planned."""
        looks = [part.look(slope) for part in self._parts]
        if not all(look.is_inside for look in looks):
            self._lay(goes_back=misses > 0)
            return None
        for part in self._parts:
            part.good = part.path
        return looks

    def _lay(self, *, goes_back: bool) -> None:
        """Plan walks with wider rows, or about the last paths that kept within theirs."""
        for part in self._parts:
            if goes_back:
                part.path = part.good
            part.lay()

    def _low_guess(self, target: float) -> float:
        """Return roughly the slope of a low sum over rare positives, 0 for other sums.

        Walks are then laid along the paths under this slope.
        """
        is_rare = all(are_rare(part.lanes).all() for part in self._parts)
        if not (is_rare and self.terms[0].is_low):
            return 0.0
        flat, steep, middle = 1.0, _STEEPEST_BELOW, 1.0
        for _ in range(_HALVINGS_BELOW):
            middle = float(np.sqrt(flat * steep))
            is_flat = sum(part.sink(-middle) for part in self._parts) > target
            flat, steep = (middle, steep) if is_flat else (flat, middle)
        for part in self._parts:
            part.path = part.good = sunken_at(part.lanes, -middle * part.scale)
            part.lay()
        return -middle

    def _guess(self, target: float) -> float:
        """Return roughly the slope under which the mean is a value, by the most likely paths."""
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

    def saddlepoints(self, targets: Floats) -> Points:
        """Return the saddlepoints of values, NaN where they are not near the slopes of searches.

        The paths then lie about the saddlepoint of the last value.
        """
        each = [self._saddlepoint(target) for target in targets.tolist()]
        return Points(*np.array(each, dtype=np.float64).reshape(-1, len(Points._fields)).T)

    def _saddlepoint(self, target: float) -> list[float]:
        """Return the columns of the saddlepoint of a value."""
        slope_and_deviation = self._search(target)
        if slope_and_deviation is None:
            return [np.nan] * len(Points._fields)
        return self._near(*slope_and_deviation, target)

    def _near(self, slope: float, deviation: float, target: float) -> list[float]:
        """Return the columns of the saddlepoint of a value near a slope; NaN if it is not near."""
        nodes = nodes_about(np.array([slope]), np.array([_REACH / deviation]))
        log_mgf = sum(
            part.often @ part.course.log_mgf(nodes * part.scale[:, None]) for part in self._parts
        )
        points, place = from_nodes(nodes, np.atleast_2d(log_mgf), np.array([target]))
        fits = (np.abs(place) <= 1) & (points.second > 0)
        return [float(column[0]) if fits[0] else np.nan for column in points]

    def under(self, slope: float) -> tuple[Points, float] | None:
        """Return the saddlepoint of the tilted mean under a slope, and this mean.

        Its slope is the given one but for rounding of the mean. None is returned where no walk
        keeps within its rows.
        """
        at, last, misses = 0.0, 0.0, 0
        for _ in range(_LOOKS):
            looks = self._looks(at, misses)
            if looks is None:
                misses += 1
                if misses > 1:
                    at, misses = (at + last) / 2, 0
                continue
            mean, variance = sum(look.mean for look in looks), sum(look.variance for look in looks)
            if min(mean, variance) <= 0:
                return None
            if at == slope:
                columns = self._near(at, variance**0.5, mean)
                points = Points(*(np.array([column]) for column in columns))
                return None if np.isnan(columns[0]) else (points, mean)
            most = _STRIDE / max(look.deviation for look in looks)
            last, misses = at, 0
            at = slope if abs(slope - at) <= most else at + float(np.sign(slope - at)) * most
        return None

    def product(self) -> Course:
        """Return the generating function of the sum, along the present paths."""
        return _product(self._parts)

    def approximation(self, points: Points, targets: Floats) -> Approximation:
        """Return the tails from four derivatives; the rows do not suffice for higher ones."""
        return tails(points, targets)

    def coarse_waves(self, slopes: Floats, frequencies: Sequence[Floats]) -> list[Floats]:
        """Return the sizes of the characteristic function of terms with few positives."""
        coarse = [part for part in self._parts if part.lanes.n_pos.max() <= COARSE]
        if not coarse:
            return [np.ones(frequency.size) for frequency in frequencies]
        product = _product(coarse)
        return [
            np.abs(product.waves(product.tilt(slope), [0], frequency)[0])
            for slope, frequency in zip(slopes.tolist(), frequencies, strict=True)
        ]


def _product(parts: Sequence[_Part]) -> "_Product":
    """Return the generating function of the terms of some parts, along the present paths."""
    courses = [
        Course.planned(part.lanes.taken(lane), part.path.taken(lane))
        for part in parts
        for lane in np.arange(part.scale.size)[:, None]
    ]
    often = np.concatenate([part.often for part in parts])
    return _Product(courses, often, np.concatenate([part.scale for part in parts]))


def _between(seen: dict[float, float], target: float, step: float) -> float:
    """Return a slope between those on both sides of the target, or `step` if one side has none.

    The logarithm of the mean is interpolated.
    """
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
        """Return the tilt of the sum, for which every group is tilted."""
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
        """Return the product of the characteristic functions for each of the groups."""
        product = np.ones(frequencies.size, dtype=np.complex128)
        own = self._tilts[tilt.slope]
        for each, (course, often, scale) in zip(own, self._courses, strict=True):
            product *= course.waves(each, [0], frequencies * scale)[0] ** often
        return dict.fromkeys(groups, product)
