"""Tails of the sum of the AP of independent rankings.

The cumulants of the sum under a slope are the sums of those of the rankings: the saddlepoint is
taken where the tilted sum is nearly normal, else the inversion of its characteristic function, to
which the rankings that are least like a normal distribution give theirs and all others their
cumulants. Sums of few values are listed.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from prframe.stats.null.average_precision.counting import ap_atoms
from prframe.stats.null.average_precision.steps import Problem, Tail
from prframe.stats.null.average_precision.walks.own import (
    DECAYS,
    DEVIATIONS,
    FLATTEST,
    are_trusted,
    hit_moments,
    led_on,
)
from prframe.stats.null.average_precision.walks.path import (
    PROBED,
    at_random,
    leaning,
    log_waves,
    returning,
    total_on,
)
from prframe.stats.null.average_precision.walks.rows import Lanes, Path
from prframe.stats.null.average_precision.walks.tilts import Course, Walk, is_far
from prframe.stats.null.average_precision.walks.waves import Waves
from prframe.stats.null.tilted import Complexes, inverted, tails
from prframe.typing import Floats, Integers

# Sums of at most so many values are listed, of rankings of which each takes at most so many.
_LISTED, _LISTED_EACH = 1 << 18, 1 << 12
# The most slopes that are tried. The last one is next to the saddlepoint if the tilted mean is at
# most this many tilted standard deviations from the value; it moves by at most so many units of 1
# over that deviation at a time.
_ROUNDS, _NEXT, _STRIDE = 30, 0.2, 10.0
# Walks along paths serve slopes that move no ranking by more than so many standard deviations.
_REUSED = 0.7
# Rows of walks suffice if less than this share of a tilted walk is in an outermost one.
_LOST = 1e-7
# Rankings enter an inversion by their cumulants if their sum has at most this skewness and excess
# kurtosis, and at least the third share of the variance.
_SKEWED, _PEAKED, _SHARE = 0.15, 0.06, 0.04
# An inversion takes at most so many frequencies.
_MOST = 4096
# The number of rankings that are walked side by side.
_LANES = 64


def sum_tails(problems: Sequence[Problem], total: float, *, only_inversion: bool) -> Tail:
    """Return the tails of a sum of AP, of which the problems say which rankings they are."""
    if not only_inversion and (listed := _listed(problems, total)):
        return listed
    certain = sum(p.mean / p.n_pos for p in problems if not p.deviation)
    varying = _Sum([problem for problem in problems if problem.deviation])
    return varying.tail(total - certain, only_inversion=only_inversion)


def _listed(problems: Sequence[Problem], total: float) -> Tail | None:
    """Return the tails by listing the values of the sum; None where there are many."""
    values, weights = np.zeros(1), np.ones(1)
    known: dict[object, tuple[Floats, Floats] | None] = {}
    for problem in problems:
        key = _key(problem)
        if key not in known:
            known[key] = ap_atoms(problem.items, problem.n_pos, _LISTED_EACH)
        own = known[key]
        if own is None or own[0].size * values.size > _LISTED:
            return None
        sums = np.add.outer(values, own[0]).ravel()
        order = np.argsort(sums)
        sums = sums[order]
        first = np.flatnonzero(np.diff(sums, prepend=-1.0) > 1e-13 * max(total, 1.0))
        values = sums[first]
        weights = np.add.reduceat(np.multiply.outer(weights, own[1]).ravel()[order], first)
    chances = [weights[values >= total].sum(), weights[values < total].sum()]
    with np.errstate(divide="ignore"):
        reached, missed = np.log(np.minimum(chances, 1.0)).tolist()
    return Tail(reached, missed, "exact")


def _key(problem: Problem) -> object:
    """Return what tells rankings apart, whatever the value."""
    return problem._replace(target=0.0).key


class _Part(NamedTuple):
    """Rankings that are walked side by side, how often each comes, and their walks."""

    lanes: Lanes
    often: Floats
    path: Path
    walk: Walk


class _Sum:
    """A sum of AP under slopes."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        keys = [_key(problem) for problem in problems]
        first = [*dict(zip(keys, problems, strict=True)).values()]
        often = np.array([*Counter(keys).values()], dtype=np.float64)
        steps = [problem.steps for problem in first]
        order = sorted(range(often.size), key=lambda k: (steps[k].size.size, first[k].n_pos))
        self._sizes = [
            (Lanes.of([steps[k] for k in own], [first[k].n_pos for k in own]), often[own])
            for own in (order[i : i + _LANES] for i in range(0, len(order), _LANES))
        ]
        self.mean = sum(problem.mean / problem.n_pos for problem in problems)
        self.variance = sum((problem.deviation / problem.n_pos) ** 2 for problem in problems)
        self._spread = max(problem.deviation / problem.n_pos for problem in problems)
        self._near = [at_random(lanes) for lanes, _ in self._sizes]
        self._paths: list[tuple[Path, Course]] = []
        self._built = self._slope_of_parts = np.inf
        self._parts: list[_Part] = []

    def tail(self, total: float, *, only_inversion: bool) -> Tail:
        """Return the tails of a value."""
        slope, is_next = self._slope(total)
        seen = np.array([[slope], *self._cumulants(slope)])
        deviation = float(np.sqrt(seen[3, 0]))
        if not deviation > 0:
            return self._bound(total)
        steep = float(np.copysign(max(abs(slope), FLATTEST / deviation), total - self.mean))
        points = led_on(seen, np.array([total]))
        approximation = tails(points, np.array([total]))
        log_tail = float(approximation.log_tail[0])
        is_upper = bool(points.slope[0] >= 0)
        steepest = max(float(np.abs(slope / lanes.n_pos).max()) for lanes, _ in self._sizes)
        if is_next and is_far(approximation.log_tail, steepest)[0] and not only_inversion:
            return Tail.of(log_tail, "estimate", is_upper=is_upper)
        outside = (hit_moments(part.walk, part.lanes)[2] for part in self._walks(slope))
        if is_next and all(each.max(initial=0.0) <= _LOST for each in outside):
            is_sure = are_trusted(points, approximation)[0] and not only_inversion
            if is_sure and not self._is_clustered(slope, deviation):
                return Tail.of(log_tail, "saddlepoint", is_upper=is_upper)
            if found := self._inverted(steep, total):
                return found
        if not np.isfinite(log_tail):
            return self._bound(total)
        return Tail.of(log_tail, "estimate", is_upper=is_upper)

    def _bound(self, total: float) -> Tail:
        """Return Cantelli's bound, where a slope leaves next to a single value."""
        log_tail = -float(np.log1p((total - self.mean) ** 2 / self.variance))
        return Tail(*((log_tail, 0.0) if total > self.mean else (0.0, log_tail)), "estimate")

    def _slope(self, total: float) -> tuple[float, bool]:
        """Return a slope under which the mean is next to a value, and whether there is one."""
        # Paths are quicker than walks, and their sum is off by much the same under all slopes.
        even = self._on_paths(0.0)[0]
        lack = total - self.mean
        # A skewed sum needs less of a slope than a normal one.
        slope = float(np.sign(lack)) * min(abs(lack) / self.variance, 1 / self.variance**0.5)
        slope, _ = _met(self._on_paths, lack + even, slope, close=1.0)
        return _met(lambda s: self._cumulants(s)[1:3, 0].tolist(), total, slope, close=_NEXT)

    def _on_paths(self, slope: float) -> tuple[float, float]:
        """Return mean and variance of the sum, roughly, by the most likely paths under a slope."""
        mean = variance = 0.0
        self._near = self._leaning(slope)
        for path, (lanes, often) in zip(self._near, self._sizes, strict=True):
            mean += float(often @ (total_on(lanes, path) / lanes.n_pos))
            variance += float(often @ (path.deviation / lanes.n_pos) ** 2)
        return mean, variance

    def _leaning(self, slope: float) -> list[Path]:
        """Return the most likely paths under a slope."""
        return [
            leaning(lanes, slope / lanes.n_pos, near)
            for near, (lanes, _) in zip(self._near, self._sizes, strict=True)
        ]

    def _walks(self, slope: float) -> list[_Part]:
        """Return the walks of all rankings about their paths under a slope, or one next to it."""
        if not abs(slope - self._built) * self._spread <= _REUSED:
            self._built = slope
            self._paths = [
                (path, Course.planned(lanes, path))
                for path, (lanes, _) in zip(self._leaning(slope), self._sizes, strict=True)
            ]
        if slope != self._slope_of_parts:
            self._slope_of_parts = slope
            self._parts = [
                _Part(lanes, often, path, course.walk(slope / lanes.n_pos))
                for (path, course), (lanes, often) in zip(self._paths, self._sizes, strict=True)
            ]
        return self._parts

    def _each(self, slope: float) -> tuple[Floats, Floats]:
        """Return K and four cumulants of every AP under a slope, and how often each comes."""
        columns = []
        for part in self._walks(slope):
            state = np.array(part.walk.tilt.state)
            columns.append(state / part.lanes.n_pos ** np.arange(5.0)[:, None])
        often = np.concatenate([part.often for part in self._walks(slope)])
        return np.concatenate(columns, axis=1), often

    def _cumulants(self, slope: float) -> Floats:
        """Return K and four cumulants of the sum under a slope, shape (5, 1)."""
        each, often = self._each(slope)
        return (each @ often)[:, None]

    def _is_clustered(self, slope: float, deviation: float) -> bool:
        """Whether the sum takes few values, or clusters."""
        log_size = np.zeros(PROBED.size)
        for part in self._walks(slope):
            frequency = PROBED / deviation / part.lanes.n_pos[:, None]
            log_size += part.often @ log_waves(part.lanes, part.path, frequency)
        return bool((np.exp(log_size) > returning(np.array(slope * deviation))).any())

    def _inverted(self, slope: float, total: float) -> Tail | None:
        """Return the tails by inversion; None where it does not converge."""
        each, often = self._each(slope)
        log_mgf, mean, variance, *_ = (float(value) for value in each @ often)
        odd, rest = _split(each, often)
        waves = self._waves(slope, odd)
        period = DEVIATIONS * variance**0.5 + 2 * abs(total - mean) + DECAYS / abs(slope)

        def phi(w: Floats) -> Complexes:
            """Return the characteristic function of the tilted sum."""
            _, centre, second, third, fourth = rest
            log = 1j * w * centre - w**2 / 2 * second - 1j * w**3 / 6 * third
            found = np.exp(log) * (1 + w**4 / 24 * fourth)
            for wave, n_pos, number in waves:
                found = found * wave.at(w / n_pos) ** number
            return np.asarray(found)

        at = np.array([total])
        found = inverted(phi, slope, log_mgf, at, 2 * np.pi / period, close=1e-5, most=_MOST)
        if not (found.converged[0] and np.isfinite(found.log_tail[0])):
            return None
        return Tail.of(float(found.log_tail[0]), "transform", is_upper=slope > 0)

    def _waves(self, slope: float, odd: Integers) -> list[tuple[Waves, float, float]]:
        """Return the characteristic functions of some rankings, with n_pos and how often each."""
        waves, begin = [], 0
        for part in self._walks(slope):
            own = odd[(odd >= begin) & (odd < begin + part.often.size)] - begin
            for lane in own.tolist():
                wave = Waves(part.walk._replace(lane=lane))
                waves.append((wave, float(part.lanes.n_pos[lane]), float(part.often[lane])))
            begin += part.often.size
        return waves


def _met(
    moments: Callable[[float], Sequence[float]], total: float, slope: float, *, close: float
) -> tuple[float, bool]:
    """Return a slope under which a mean is next to a value, and whether one was found."""
    low, high = -np.inf, np.inf
    for _ in range(_ROUNDS):
        mean, variance = moments(slope)
        deviation = max(variance, 1e-300) ** 0.5
        lack = (total - mean) / deviation
        if abs(lack) <= close:
            return slope, True
        low, high = (max(low, slope), high) if lack > 0 else (low, min(high, slope))
        step = slope + float(np.clip(lack, -_STRIDE, _STRIDE)) / deviation
        is_between = np.isfinite(low + high) and not low < step < high
        slope = (low + high) / 2 if is_between else step
    return slope, False


def _split(each: Floats, often: Floats) -> tuple[Integers, Floats]:
    """Return the rankings that are least like a normal distribution, and the others' cumulants."""
    sums = each * often
    variance = sums[2].sum()
    odd = np.maximum(np.abs(sums[3]) / variance**1.5, np.abs(sums[4]) / variance**2)
    order = np.argsort(-odd)
    rest = np.cumsum(sums[:, order[::-1]], axis=1)[:, ::-1]
    second = np.maximum(rest[2], 1e-300)
    is_smooth = np.abs(rest[3]) <= _SKEWED * second**1.5
    is_smooth &= np.abs(rest[4]) <= _PEAKED * second**2
    is_smooth &= rest[2] >= _SHARE * variance
    if not is_smooth.any():
        return order, np.zeros(5)
    first = int(np.argmax(is_smooth))
    return order[:first], rest[:, first]
