"""Saddlepoints of values, and the paths that tilted walks take to them, found together.

A walk through the hits about a path tells the mean of the tilted T, by which the slope is changed,
and where its hits are, which is the next path, until the mean is close to the value.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from prframe.stats.null.average_precision.generating_function.lanes import Lanes, Path
from prframe.stats.null.average_precision.generating_function.likely_path import (
    at_random,
    chosen_paths,
    most_likely,
    resampled,
)
from prframe.stats.null.average_precision.generating_function.saddlepoint import (
    Points,
    from_nodes,
    nodes_about,
)
from prframe.stats.null.average_precision.generating_function.walk import Course
from prframe.typing import Floats, Integers

# The nodes reach this far to both sides, in units of 1 over the tilted standard deviation.
_REACH = 0.5
# The most walks of a search for slopes. Where they do not suffice there is no saddlepoint.
_ROUNDS = 24
# The most walks of a search that begins at a path of a neighbouring value.
_FEW_ROUNDS = 3
# Slopes are rounded to this many parts of a power of two.
_DIGITS = float(1 << 20)
# A slope is close if the value is at most this many tilted standard deviations from the tilted
# mean. Nodes are laid about such a slope; others are changed.
_CLOSE = 1.0
# There is no need of a saddlepoint if the skewness of the tilted T is above this in size, as it
# would not be trusted.
_TOO_SKEWED = 0.65
# The tilted mean is next to the value if it is at most this far from it.
_NEXT = 0.3
# A search changes a slope by at most this, in units of 1 over the tilted standard deviation.
_STRIDE = 2.0
# A tilted walk has run out of rows if more than this share of it is in an outermost row.
LOST = 1e-9
# It tells nothing of other slopes if more than this share is.
_MISLED = 1e-4
# The rows of a walk that has run out of them reach this many times as far in the next one; if it
# tells where to go, those that do so at and around steps with more than this share outermost.
_NEARLY_LOST = 1e-11
_WIDER = 2.0
# The rows of a walk along a path that walks of few steps led to reach this many times as far.
_ROOM = 1.1
# If walks have run out of rows more often than this in a row, the slope goes half the way back.
_MISSES = 2
# Variances are raised to this before they divide.
_LEAST = 1e-60

# The function returns lanes of fewer steps through the items of the lanes at some places.
Coarse: TypeAlias = Callable[[Integers], Lanes]


def along_paths(
    lanes: Lanes,
    x: Floats,
    begin: Path | None = None,
    coarse: Coarse | None = None,
    futile: NDArray[np.bool_] | None = None,
) -> tuple[Points, Path]:
    """Return the saddlepoints of a value for each lane, and the paths that lead there.

    Walks go along the most likely paths, unless others are given, which are then moved to where
    the walks were. A path's deviation is then that of the tilted T. Where no saddlepoint is found,
    or where it is `futile` to look for one, the path is the last one on which a walk kept within
    its rows.

    Where the first walks do not suffice, or are futile, `coarse` gives lanes of fewer steps
    through the same items, which lead close to the paths in a part of the time.
    """
    begin = most_likely(lanes, x) if begin is None else begin
    futile = np.zeros(x.size, np.bool_) if futile is None else futile
    if coarse is None:
        return _searched(lanes, x, begin, futile)[:2]
    results = (*np.full((len(Points._fields), x.size), np.nan), *(part.copy() for part in begin))
    first, left = np.flatnonzero(~futile), np.arange(x.size)
    if first.size:
        own = lanes.taken(first), x[first], begin.taken(first)
        points, paths, is_done = _searched(*own, futile[first], rounds=1)
        _write(results, (*points, *paths), first)
        left = np.setdiff1d(left, first[is_done])
    if left.size:
        own_lanes, few = lanes.taken(left), coarse(left)
        start = resampled(begin.taken(left), own_lanes, few)
        near = resampled(_approached(few, x[left], start), few, own_lanes)
        # With more rows than these few steps needed the first walk keeps within its rows.
        near = near._replace(scatter=_ROOM * near.scatter)
        points, paths, _ = _searched(own_lanes, x[left], near, futile[left])
        _write(results, (*points, *paths), left)
    return Points(*results[: len(Points._fields)]), Path(*results[len(Points._fields) :])


def _write(wholes: Sequence[Floats], parts: Sequence[Floats], places: Integers) -> None:
    """Write the rows of arrays at some places."""
    for whole, part in zip(wholes, parts, strict=True):
        whole[places] = part


def _searched(
    lanes: Lanes, x: Floats, begin: Path, futile: NDArray[np.bool_], rounds: int = _ROUNDS
) -> tuple[Points, Path, NDArray[np.bool_]]:
    """Return saddlepoints and paths from so many walks at most, and whether these sufficed.

    They do once there is a saddlepoint, or once the tilted mean is next to the value. If there is
    no saddlepoint then, T is far from normal, or one is futile, and none is accurate.
    """
    columns = np.full((len(Points._fields), x.size), np.nan)
    search = _Search.begun(lanes, begin)
    paths = [column.copy() for column in search.path]
    left, is_done = np.arange(x.size), np.zeros(x.size, np.bool_)
    for _ in range(rounds):
        course = Course.planned(lanes, search.path)
        lack, deviation = search.look(course, lanes, x[left])
        is_close = search.inside & ~search.skewed & (np.abs(lack) <= _CLOSE)
        close = np.flatnonzero(is_close & ~futile[left])
        if close.size:
            centre = rounded(search.path.slope + lack / deviation)
            half = rounded(_REACH / deviation)
            columns[:, left[close]] = _about(course, centre, half, close, x[left])
        for whole, part in zip(paths, search.good, strict=True):
            whole[left] = part
        is_next = search.inside & (np.abs(lack) <= _NEXT)
        is_done[left] = is_next | ~np.isnan(columns[0, left])
        again = np.flatnonzero(~is_done[left])
        if not again.size:
            break
        search.move(lack, deviation, x[left])
        search.keep(again)
        lanes, left = lanes.taken(again), left[again]
    return Points(*columns), Path(*paths), is_done


def _approached(lanes: Lanes, x: Floats, begin: Path) -> Path:
    """Return paths on which the tilted mean is next to the value, or those to begin with."""
    search = _Search.begun(lanes, begin)
    paths, left = [column.copy() for column in begin], np.arange(x.size)
    for _ in range(_ROUNDS):
        lack, deviation = search.look(Course.planned(lanes, search.path), lanes, x[left])
        is_next = search.led & (np.abs(lack) <= _NEXT)
        for whole, part in zip(paths, search.path, strict=True):
            whole[left[is_next]] = part[is_next]
        again = np.flatnonzero(~is_next)
        if not again.size:
            break
        search.move(lack, deviation, x[left])
        search.keep(again)
        lanes, left = lanes.taken(again), left[again]
    return Path(*paths)


def moved_paths(lanes: Lanes, x: Floats, begin: Path) -> Path | None:
    """Return the paths of values, from those of neighbouring ones; None if that takes long."""
    search = _Search.begun(lanes, begin)
    for _ in range(_FEW_ROUNDS):
        lack, deviation = search.look(Course.planned(lanes, search.path), lanes, x)
        if (search.inside & (np.abs(lack) <= _CLOSE)).all():
            return search.good
        # The mean tells where to go even if the walk has run out of rows, of which it gets more.
        slope = search.path.slope + np.clip(lack, -_STRIDE, _STRIDE) / deviation
        search.path = search.path._replace(slope=slope)
    return None


@dataclass
class _Search:
    """A search for slopes, one for each lane.

    Attributes
    ----------
    path : Path
        The paths that are tried.
    good : Path
        The last ones on which the walk kept within its rows.
    low, high : ndarray of float
        Slopes that are too flat, and too steep.
    misses : ndarray of int
        How often in a row the walk ran out of rows.
    inside : ndarray of bool
        Whether the last walk kept within its rows.
    skewed : ndarray of bool
        Whether T was skewed beyond any use of a saddlepoint.
    led : ndarray of bool
        Whether it did so nearly enough to tell where to go.
    """

    path: Path
    good: Path
    low: Floats
    high: Floats
    misses: Integers
    inside: NDArray[np.bool_]
    skewed: NDArray[np.bool_]
    led: NDArray[np.bool_]

    @classmethod
    def begun(cls, lanes: Lanes, path: Path) -> "_Search":
        """Begin at some paths, with those of random ranking to fall back on."""
        even = np.full(path.slope.size, np.inf)
        none = np.zeros(path.slope.size, np.int64)
        return cls(path, at_random(lanes), -even, even, none, *[none > 0] * 3)

    def look(self, course: Course, lanes: Lanes, x: Floats) -> tuple[Floats, Floats]:
        """Walk along the paths; return how many deviations T is short of x, and the deviations."""
        seen = course.whereabouts(lanes, self.path.slope)
        deviation = np.sqrt(np.maximum(seen.variance, _LEAST))
        lack = (x - seen.total) / deviation
        outside, self.skewed = seen.outside.max(axis=1), np.abs(seen.skewness) > _TOO_SKEWED
        self.inside, self.led = outside <= LOST, outside <= _MISLED
        self.misses = np.where(self.led, 0, self.misses + 1)
        hits = self.path.hits.copy()
        hits[:, 1:-1] = np.where(lanes.size[:, 1:] > 0, seen.mean, hits[:, 1:-1])
        needed = np.maximum(seen.deviation, self.path.scatter)
        short = _about_these(seen.outside > _NEARLY_LOST)
        wider = needed * np.where(short | ~self.led[:, None], _WIDER, 1.0)
        scatter = np.where(self.inside[:, None], seen.deviation, wider)
        self.path = Path(hits, self.path.slope, deviation, scatter)
        self.good = chosen_paths(self.inside, self.path, self.good)
        slope = self.path.slope
        self.low = np.where(self.led & (lack > 0), np.maximum(self.low, slope), self.low)
        self.high = np.where(self.led & (lack < 0), np.minimum(self.high, slope), self.high)
        return lack, deviation

    def move(self, lack: Floats, deviation: Floats, x: Floats) -> None:
        """Choose the slopes to try next.

        The logarithm of the tilted mean is more nearly linear in the slope than the mean where
        single hits at the top make T large.
        """
        slope, mean = self.path.slope, x - lack * deviation
        with np.errstate(divide="ignore", invalid="ignore"):
            away = np.where(mean > 0, np.log(x / mean) * mean / deviation, lack)
        step = slope + np.clip(away, -_STRIDE, _STRIDE) / deviation
        with np.errstate(invalid="ignore"):
            middle = np.where(np.isfinite(self.low + self.high), (self.low + self.high) / 2, step)
        step = np.where((step <= self.low) | (step >= self.high), middle, step)
        # A walk that ran out of rows is given more of them; if it does so again and again, its
        # slope has changed too much and goes back.
        lost = self.misses > _MISSES
        back = (slope + self.good.slope) / 2
        step = np.where(self.led, step, np.where(lost, back, slope))
        self.path = chosen_paths(lost, self.good, self.path)._replace(slope=step)
        self.misses = np.where(lost, 0, self.misses)

    def keep(self, lanes: Integers) -> None:
        """Keep some of the lanes."""
        self.path, self.good = self.path.taken(lanes), self.good.taken(lanes)
        self.low, self.high, self.misses = self.low[lanes], self.high[lanes], self.misses[lanes]


def _about_these(steps: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return steps and those around them, by lane."""
    around = steps.copy()
    for away in (1, 2, 4, 8):
        after = around[:, :-away].copy()
        around[:, :-away] |= around[:, away:]
        around[:, away:] |= after
    return around


def _about(course: Course, centre: Floats, half: Floats, chosen: Integers, x: Floats) -> Floats:
    """Return the saddlepoints of some lanes from nodes about a slope; NaN where there is none."""
    nodes = nodes_about(centre, half)
    points, place = from_nodes(nodes[chosen], course.log_mgf(nodes)[chosen], x[chosen])
    return np.where((np.abs(place) <= 1) & (points.second > 0), np.array(points), np.nan)


def rounded(slopes: Floats) -> Floats:
    """Return slopes with fewer digits, so that they are the same where others differ by rounding.

    High derivatives tell slopes apart that differ in their last digits.
    """
    share, power = np.frexp(slopes)
    return np.asarray(np.ldexp(np.rint(share * _DIGITS), power) / _DIGITS)
