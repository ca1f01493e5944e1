"""Tails of T for groups of any size, by walks along their most likely paths.

A walk through the hits about a path tells the mean of the tilted T, by which the slope is changed,
and where its hits are, which is the next path, until the mean is close to the value. The
saddlepoint is taken where the tilted T is nearly normal and the formula's second term matters
little. Elsewhere the characteristic function is inverted along the same path. Where that does not
converge either, the saddlepoint is an estimate, and says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from prframe.stats.null.average_precision.steps import Problem, Tail
from prframe.stats.null.average_precision.walks.path import (
    are_clustered,
    at_random,
    chosen_paths,
    leaning,
    log_chance,
    most_likely,
    total_on,
)
from prframe.stats.null.average_precision.walks.rows import Lanes, Path
from prframe.stats.null.average_precision.walks.tilts import Course, Walk, drifted, is_far
from prframe.stats.null.average_precision.walks.waves import Waves
from prframe.stats.null.tilted import Approximation, Points, inverted, tails
from prframe.typing import Flags, Floats, Integers

# The most walks of a search. Where they do not suffice there is no saddlepoint.
_ROUNDS = 24
# The tilted mean is next to the value if it is at most this many tilted standard deviations away.
NEXT = 0.3
# A search changes a slope by at most this, in units of 1 over the tilted standard deviation.
_STRIDE = 2.0
# A tilted walk has run out of rows if more than the first share is in an outermost row, and tells
# nothing of other slopes with more than the second. Then rows reach so many times as far, and
# after so many misses in a row the slope goes half the way back.
_LOST, _MISLED = 1e-9, 1e-4
_WIDER, _MISSES = 2.0, 2
_LEAST = 1e-60
# A saddlepoint is taken if skewness and excess kurtosis of the tilted T are below the first
# numbers, and the formula's second term changes the tail by less than the third.
_SKEWED, _PEAKED, _DOUBTED = 0.45, 0.45, 0.006
# The least slope of an inversion, in units of 1 over the tilted standard deviation of T.
FLATTEST = 0.3
# The period of T in an inversion: so many tilted standard deviations, and units of 1 over the
# slope.
DEVIATIONS, DECAYS = 18.0, 12.0
# An inversion takes at most so many frequencies, and terms in all. Otherwise flatter slopes are
# tried, while the logarithm of the bound rises by no more than the last number.
_MOST, _MOST_TERMS = 1 << 14, 6e7
_SHARES, _LOOSE = (1.0, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.6), 9.0
# So many draws from this seed serve if their relative standard error is at most the third number,
# and are the best estimate if it is at most the fourth.
_DRAWS, _SEED, _WORST, _ROUGH = 50_000, 20_010, 0.005, 0.015
# Far out walks of so many rows are wide enough.
_MANY_ROWS = 40_000
# A tail is about the bound exp(K - slope x) over 1 plus so many times slope times deviation.
_SPREAD = float(np.sqrt(2 * np.pi))
# A path leads to a value if T on it is off by less than this share.
_ON = 0.01
# The number of groups that are walked side by side, which bounds the memory.
_LANES = 16


class Searched(NamedTuple):
    """The last walks of a search."""

    # Slope, K, mean and three further cumulants by lane, (6, n_lanes).
    seen: Floats
    # Whether the walk kept within its rows, with the tilted mean next to the value.
    is_next: Flags
    paths: Path
    walks: list[Walk]


def searched(lanes: Lanes, x: Floats, begin: Path) -> Searched:
    """Return walks whose tilted means are next to values of T; `begin` are their first paths."""
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
    """A search for slopes, one for each lane, between `low`, too flat, and `high`, too steep.

    `path` is tried next, and `good` is the last one on which the walk kept within its rows, which
    it missed `misses` times in a row. The last walk was `inside` its rows, or nearly enough to
    tell where to go (`led`), and `lack` tilted standard deviations short of the value.
    """

    path: Path
    good: Path
    low: Floats
    high: Floats
    misses: Integers
    inside: Flags
    led: Flags
    lack: Floats

    @classmethod
    def begun(cls, lanes: Lanes, path: Path) -> "_Search":
        """Begin at some paths, with those of random ranking to fall back on."""
        even, none = np.full(path.slope.size, np.inf), np.zeros(path.slope.size, np.int64)
        return cls(path, at_random(lanes), -even, even, none, none > 0, none > 0, even)

    def look(self, lanes: Lanes, x: Floats) -> tuple[Floats, Walk]:
        """Walk along the paths; return slope, K and the cumulants of T, and the walk."""
        walk = Course.planned(lanes, self.path).walk(self.path.slope)
        tilt = walk.tilt
        mean, scatter, outside = hit_moments(walk, lanes)
        deviation = np.sqrt(np.maximum(tilt.state.variance, _LEAST))
        self.lack = (x - tilt.state.mean) / deviation
        lost = outside.max(axis=1)
        self.led = lost <= _MISLED
        rows = sum(np.bincount(table.lane, minlength=x.size) for table in walk.course.tables)
        is_wide = is_far(tilt.state.log_mgf - self.path.slope * x, self.path.slope)
        is_wide &= self.led | (rows > _MANY_ROWS)
        self.inside = (lost <= _LOST) | is_wide
        self.led |= self.inside
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
        """Choose the slopes to try next."""
        slope, deviation = self.path.slope, self.path.deviation
        # The logarithm of the tilted mean is the more linear in the slope where T leaps.
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


def hit_moments(walk: Walk, lanes: Lanes) -> tuple[Floats, Floats, Floats]:
    """Return mean and deviation of hits at the end of steps, and the chance of outermost rows."""
    # All have the shape (n_lanes, n_steps - 1); rows count beyond which more hits are possible.
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


def walked_tails(problems: Sequence[Problem], *, only_inversion: bool = False) -> list[Tail]:
    """Return the tails; those that are not sure have the method "estimate"."""
    steps = [problem.steps for problem in problems]
    order = sorted(range(len(problems)), key=lambda place: steps[place].size.size)
    found: dict[int, Tail] = {}
    for begin in range(0, len(order), _LANES):
        chosen = order[begin : begin + _LANES]
        lanes = Lanes.of([steps[place] for place in chosen], [problems[p].n_pos for p in chosen])
        batch = [problems[place] for place in chosen]
        own = _side_by_side(lanes, batch, only_inversion=only_inversion)
        found |= dict(zip(chosen, own, strict=True))
    return [found[place] for place in range(len(problems))]


def _side_by_side(
    lanes: Lanes, problems: Sequence[Problem], *, only_inversion: bool
) -> list[Tail]:
    """Return the tails of problems, whose walks go side by side."""
    target = np.array([problem.target for problem in problems])
    begin = most_likely(lanes, target)
    is_smooth = ~are_clustered(lanes, begin)
    seen, is_next, paths, walks = searched(lanes, target, begin)
    points = led_on(seen, target)
    approximation = tails(points, target)
    good = is_next & is_smooth & are_trusted(points, approximation) & (not only_inversion)
    with np.errstate(all="ignore"):
        # Where no walk is next to the value, the nearest one bounds the tail.
        led = np.array([points.slope, points.log_mgf, points.second])
        slope, log_mgf, second = np.where(is_next, led, seen[[0, 1, 3]])
        bound, steepness = log_mgf - slope * target, slope**2 * second
        is_beyond = is_next & is_far(bound, slope)
        # A path that leads to the value tells more.
        is_led = ~is_next & (np.abs(total_on(lanes, begin) - target) < _ON * target)
        bound = np.where(is_led, log_chance(lanes, begin), bound)
        steepness = np.where(is_led, (begin.slope * begin.deviation) ** 2, steepness)
    rough = bound - np.log1p(_SPREAD * np.sqrt(steepness))
    is_clear = is_next & (approximation.doubt < 1)
    rough = np.where(is_clear, approximation.log_tail, rough)
    found: list[Tail] = []
    for lane, problem in enumerate(problems):
        is_upper = bool(slope[lane] >= 0 if is_next[lane] else problem.target >= problem.mean)
        log_tail = float(rough[lane])
        tail = Tail.of(log_tail, "saddlepoint", is_upper=is_upper) if good[lane] else None
        if tail is None and not is_beyond[lane]:
            at = np.array([lane])
            path, walk = (paths, walks[lane]) if is_next[lane] else (begin, None)
            tail = _inverted(lanes.taken(at), path.taken(at), problem, walk)
        if tail is None:
            log_tail = log_tail if np.isfinite(log_tail) else 0.0
            tail = Tail.of(log_tail, "estimate", is_upper=is_upper)
        elif problem.items.is_tied and not is_smooth[lane]:
            # Below the top T is taken to be smooth, which large blocks are not.
            tail = tail._replace(method="estimate")
        found.append(tail)
    return found


def led_on(seen: Floats, x: Floats) -> Points:
    """Return saddlepoints of x next to tilted means, to which four cumulants lead."""
    slope, log_mgf, mean, second, third, fourth = seen
    with np.errstate(all="ignore"):
        lack, away = x - mean, np.zeros(x.size)
        for _ in range(8):
            rise = away * (second + away / 2 * (third + away / 3 * fourth))
            away = away + (lack - rise) / (second + away * (third + away / 2 * fourth))
        move = away * (mean + away / 2 * (second + away / 3 * (third + away / 4 * fourth)))
        curvature, skew = second + away * (third + away / 2 * fourth), third + away * fourth
        return Points(slope + away, log_mgf + move, curvature, skew, fourth)


def are_trusted(points: Points, approximation: Approximation) -> Flags:
    """Whether saddlepoints are accurate."""
    with np.errstate(invalid="ignore"):
        skewness = np.abs(points.third / points.second**1.5)
        kurtosis = np.abs(points.fourth / points.second**2)
        is_normal = (skewness < _SKEWED) & (kurtosis < _PEAKED)
    return np.asarray(is_normal & (approximation.doubt < _DOUBTED))


def _inverted(lane: Lanes, path: Path, problem: Problem, known: Walk | None) -> Tail | None:
    """Invert the characteristic function of a walk along a path; None if it does not converge."""
    # Where one hit at the top makes T large, a flatter slope needs fewer frequencies.
    side, at = (1.0 if problem.target >= problem.mean else -1.0), np.array([problem.target])
    steep = side * max(abs(float(path.slope[0])), FLATTEST / float(path.deviation[0]))
    least = np.inf
    for share in _SHARES:
        slope = share * steep
        walk = known if known and slope == known.tilt.slopes[known.lane] else None
        if walk is None:
            same = path._replace(slope=np.array([slope]))
            own = same if share == 1 else leaning(lane, slope, path)
            walk = Course.planned(lane, own).walk(own.slope)
        log_mgf, mean, variance = (float(each[walk.lane]) for each in walk.tilt.state[:3])
        bound = log_mgf - slope * problem.target
        least = min(least, bound)
        if not variance > 0 or bound > least + _LOOSE:
            return None
        waves, away = Waves(walk), abs(problem.target - mean)
        period = DEVIATIONS * variance**0.5 + 2 * away + DECAYS / abs(slope)
        count = waves.reach * period / (2 * np.pi)
        if count < _MOST and count * waves.cost < _MOST_TERMS:
            spacing, most = 2 * np.pi / period, int(count) + 128
            found = inverted(waves.at, slope, log_mgf, at, spacing, close=1e-5, most=most)
            if found.converged[0] and np.isfinite(found.log_tail[0]):
                return Tail.of(float(found.log_tail[0]), "transform", is_upper=slope > 0)
            return None
        if not np.isfinite(waves.reach):
            return None
    return None


def drawn_tails(problems: Sequence[Problem]) -> list[Tail | None]:
    """Return the tails by draws."""
    return [_drawn_tail(problem) for problem in problems]


def _drawn_tail(problem: Problem) -> Tail | None:
    """Return the tails from tilted draws, always the same; None where few of them count."""
    # With K the logarithm of the mean weight, P(T >= t) is the mean of exp(K - slope T) over t.
    lanes = Lanes.of([problem.steps], [problem.n_pos])
    target = np.array([problem.target])
    found = searched(lanes, target, most_likely(lanes, target))
    if not found.is_next[0]:
        return None
    walk = found.walks[0]
    slope, total = float(walk.tilt.slopes[0]), _draws(walk, np.random.default_rng(_SEED))
    is_upper = slope >= 0
    is_met = total >= problem.target if is_upper else total < problem.target
    weight = np.where(is_met, np.exp(-slope * (total - problem.target)), 0.0)
    mean = float(weight.mean())
    if not mean or (error := weight.std() / mean / _DRAWS**0.5) > _ROUGH:
        return None
    log_tail = float(walk.tilt.state.log_mgf[0] - slope * problem.target + np.log(mean))
    method = "monte-carlo" if error <= _WORST else "estimate"
    return Tail.of(log_tail, method, is_upper=is_upper)


def _draws(walk: Walk, rng: np.random.Generator) -> Floats:
    """Return values of T, drawn from the last step up."""
    row, total = np.zeros(_DRAWS, np.int64), np.zeros(_DRAWS)
    slope = float(walk.tilt.slopes[walk.lane])
    for table, share, _ in walk.upward():
        sums = np.cumsum(share, axis=1)
        sums /= np.maximum(sums[:, -1:], _LEAST)
        chance, term = rng.random(_DRAWS), np.zeros(_DRAWS, np.int64)
        for column in sums.T[:-1]:
            term += chance >= column[row]
        total += (table.growth + drifted(slope, table))[row, term]
        if table.variance.any():
            scatter = np.sqrt(table.variance)[row, term]
            total += scatter * rng.standard_normal(_DRAWS)
        row = table.column[row, term]
    return total
