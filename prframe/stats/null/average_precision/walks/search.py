"""Slopes under which the mean of T is at a value, and the paths that tilted walks take there.

A walk through the hits about a path tells the mean of the tilted T, by which the slope is changed,
and where its hits are, which is the next path, until the mean is close to the value.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prframe.stats.null.average_precision.walks.path import at_random, chosen_paths
from prframe.stats.null.average_precision.walks.rows import Lanes, Path
from prframe.stats.null.average_precision.walks.tilts import Course, Walk
from prframe.typing import Floats, Integers

# The most walks of a search. Where they do not suffice there is no saddlepoint.
_ROUNDS = 24
# The tilted mean is next to the value if it is at most this many tilted standard deviations away;
# the four cumulants lead the rest of the way.
NEXT = 0.3
# A search changes a slope by at most this, in units of 1 over the tilted standard deviation.
_STRIDE = 2.0
# A tilted walk has run out of rows if more than the first share of it is in an outermost row, and
# tells nothing of other slopes if more than the second share is.
_LOST, _MISLED = 1e-9, 1e-4
# The rows of a walk that has run out of them reach this many times as far in the next one.
_WIDER = 2.0
# If walks have run out of rows more often than this in a row, the slope goes half the way back.
_MISSES = 2
_LEAST = 1e-60


class Searched(NamedTuple):
    """The last walks of a search.

    Attributes
    ----------
    seen : ndarray of float, shape (6, n_lanes)
        Slope, K, mean and three further cumulants.
    is_next : ndarray of bool
        Whether the walk kept within its rows, with the tilted mean next to the value.
    paths : Path
    walks : list of Walk
    """

    seen: Floats
    is_next: NDArray[np.bool_]
    paths: Path
    walks: list[Walk]


def searched(lanes: Lanes, x: Floats, begin: Path) -> Searched:
    """Return walks whose tilted means are next to values.

    Parameters
    ----------
    lanes : Lanes
    x : ndarray of float, shape (n_lanes,)
        Values of T.
    begin : Path
        The paths of the first walks.
    """
    columns, is_next = np.full((6, x.size), np.nan), np.zeros(x.size, np.bool_)
    search = _Search.begun(lanes, begin)
    paths, left = [column.copy() for column in begin], np.arange(x.size)
    walks: dict[int, Walk] = {}
    for _ in range(_ROUNDS):
        seen, walk = search.look(lanes, x[left])
        for lane, place in enumerate(left.tolist()):
            walks[place] = walk._replace(lane=lane)
        arrived = search.inside & (np.abs(search.lack) <= NEXT)
        columns[:, left] = np.where(search.inside, seen, columns[:, left])
        for whole, part in zip(paths, search.good, strict=True):
            whole[left] = part
        is_next[left] = arrived
        again = np.flatnonzero(~arrived)
        if not again.size:
            break
        search.move(x[left])
        search.keep(again)
        lanes, left = lanes.taken(again), left[again]
    return Searched(columns, is_next, Path(*paths), [walks[place] for place in range(x.size)])


@dataclass
class _Search:
    """A search for slopes, one for each lane.

    Attributes
    ----------
    path, good : Path
        The paths that are tried, and the last ones on which the walk kept within its rows.
    low, high : ndarray of float
        Slopes that are too flat, and too steep.
    misses : ndarray of int
        How often in a row the walk ran out of rows.
    inside, led : ndarray of bool
        Whether the last walk kept within its rows, or nearly enough to tell where to go.
    lack : ndarray of float
        How many tilted standard deviations T is short of the value.
    """

    path: Path
    good: Path
    low: Floats
    high: Floats
    misses: Integers
    inside: NDArray[np.bool_]
    led: NDArray[np.bool_]
    lack: Floats

    @classmethod
    def begun(cls, lanes: Lanes, path: Path) -> "_Search":
        """Begin at some paths, with those of random ranking to fall back on."""
        even, none = np.full(path.slope.size, np.inf), np.zeros(path.slope.size, np.int64)
        return cls(path, at_random(lanes), -even, even, none, none > 0, none > 0, even)

    def look(self, lanes: Lanes, x: Floats) -> tuple[Floats, Walk]:
        """Walk along the paths; return slope, K and the cumulants of T, and the walk."""
        course = Course.planned(lanes, self.path)
        tilt = course.tilt(self.path.slope)
        walk = Walk(course, tilt, course.needs(tilt), 0)
        mean, scatter, outside = whereabouts(walk, lanes)
        deviation = np.sqrt(np.maximum(tilt.state.variance, _LEAST))
        self.lack = (x - tilt.state.mean) / deviation
        lost = outside.max(axis=1)
        self.inside, self.led = lost <= _LOST, lost <= _MISLED
        self.misses = np.where(self.led, 0, self.misses + 1)
        hits = self.path.hits.copy()
        hits[:, 1:-1] = np.where(lanes.size[:, 1:] > 0, mean, hits[:, 1:-1])
        wider = _WIDER * np.maximum(scatter, self.path.scatter)
        scatter = np.where(self.inside[:, None], scatter, wider)
        slope = self.path.slope
        self.path = Path(hits, slope, deviation, scatter)
        self.good = chosen_paths(self.inside, self.path, self.good)
        self.low = np.where(self.led & (self.lack > 0), np.maximum(self.low, slope), self.low)
        self.high = np.where(self.led & (self.lack < 0), np.minimum(self.high, slope), self.high)
        return np.array([slope, *tilt.state]), walk

    def move(self, x: Floats) -> None:
        """Choose the slopes to try next.

        The logarithm of the tilted mean is more nearly linear in the slope than the mean where
        single hits at the top make T large.
        """
        slope, deviation = self.path.slope, self.path.deviation
        mean = x - self.lack * deviation
        with np.errstate(divide="ignore", invalid="ignore"):
            away = np.where(mean > 0, np.log(x / mean) * mean / deviation, self.lack)
            step = slope + np.clip(away, -_STRIDE, _STRIDE) / deviation
            middle = np.where(np.isfinite(self.low + self.high), (self.low + self.high) / 2, step)
        step = np.where((step <= self.low) | (step >= self.high), middle, step)
        # A walk that ran out of rows is given more of them; if it does so again and again, its
        # slope has changed too much and goes back.
        lost = self.misses > _MISSES
        step = np.where(self.led, step, np.where(lost, (slope + self.good.slope) / 2, slope))
        self.path = chosen_paths(lost, self.good, self.path)._replace(slope=step)
        self.misses = np.where(lost, 0, self.misses)

    def keep(self, lanes: Integers) -> None:
        """Keep some of the lanes."""
        self.path, self.good = self.path.taken(lanes), self.good.taken(lanes)
        self.low, self.high, self.misses = self.low[lanes], self.high[lanes], self.misses[lanes]


def whereabouts(walk: Walk, lanes: Lanes) -> tuple[Floats, Floats, Floats]:
    """Return where tilted walks are at the end of each step but the last.

    These are mean and standard deviation of the hits, and the chance of outermost rows beyond
    which hits are possible; ndarrays of float of shape (n_lanes, n_steps - 1).
    """
    count = lanes.n.size
    tables = walk.course.tables
    mean, deviation, outside = np.zeros((3, count, len(tables)))
    for step, (table, need) in enumerate(zip(tables, walk.needs[1:], strict=True)):
        lane, hits = table.lane, table.hits
        mean[:, step] = np.bincount(lane, need * hits, count)
        far = (hits - mean[lane, step]) ** 2
        deviation[:, step] = np.sqrt(np.bincount(lane, need * far, count))
        end = lanes.end[lane, step]
        low = np.maximum(0.0, lanes.n_pos[lane] - (lanes.n[lane] - end))
        high = np.minimum(end, lanes.n_pos[lane])
        first, last = np.diff(lane, prepend=-1) > 0, np.diff(lane, append=count) > 0
        stride = np.where(first, 0.0, np.diff(hits, prepend=0.0))
        edge = (first & (hits > low)) | (last & (hits + stride < high))
        outside[:, step] = np.bincount(lane, need * edge, count)
    return mean, deviation, outside
