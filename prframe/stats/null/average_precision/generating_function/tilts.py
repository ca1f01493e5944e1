"""Tilts of T = n_pos AP, of which those are chosen whose mean is next to a value.

The mean of T tilted by exp(sT) rises with the slope s, so that its place is searched step by step.
Slopes are powers of two unless there is none whose tilted mean is near, so that values share them.
"""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from prframe.stats.null.average_precision.generating_function.walk import Course, Tilt
from prframe.typing import Floats, Integers

# The slopes that are tried are whole powers of this, so that values share them.
_RATIO = 2.0
# The flattest slope that is tried is at most this over the standard deviation of T.
_FLATTEST = 0.5
# The most slopes that are tried in one direction, and the most halvings of a search between two.
_MOST_SLOPES = 64
# Where a value is far from the tilted means at two neighbouring slopes, one between them is tried,
# this power away from the steeper one.
_BETWEEN = -0.5
# A slope may be taken if the value is at most this far from the tilted mean of T, in tilted
# standard deviations.
FURTHEST = 3.0
# A slope's tilted mean is about a value if it is at most this far from it.
_ABOUT = 1.0
# It is searched from this many powers below a slope to this many above it.
_FLATTER, _STEEPER = 2.0, 0.75
# Variances of T are raised by this before they divide.
_TINY = 1e-300
# The period of T reaches this many tilted standard deviations beyond the furthest value.
_BEYOND = 8.0
# From there on it reaches this much further, divided by the slope, as tails may be heavier than
# those of a normal distribution.
_DECAY = 2.0


class Tilts:
    """The tilts of a course, each of which is computed only once.

    Parameters
    ----------
    course : Course
    mean, deviation : ndarray of float, shape (n_groups,)
        Of T, by group.
    """

    def __init__(self, course: Course, mean: Floats, deviation: Floats) -> None:
        self.course, self.mean, self.deviation = course, mean, deviation
        self._known: dict[float, Tilt] = {}

    def at(self, slope: float) -> Tilt:
        """Return the tilt with a slope."""
        if slope not in self._known:
            self._known[slope] = self.course.tilt(slope)
        return self._known[slope]

    def nearest(self, slope: float) -> Tilt:
        """Return the tilt with the nearest slope of those that are known."""
        return min(self._known.values(), key=lambda known: abs(known.slope - slope))

    def slopes(self, group: Integers, x: Floats, sign: int) -> Floats:
        """Choose the slope of a sign with the shortest period for each value.

        The search begins where the tilted mean is at the value if T is normal. The slopes on
        either side of it are compared, and the next one.
        """
        high = self._beyond(group, x, sign)
        best = high.astype(np.float64)
        least = np.full(x.size, np.inf)
        for away in (-1.0, 0.0, 1.0, _BETWEEN):
            powers = np.maximum(high + away, self._flattest[group])
            open_ = np.isinf(least) | (away != _BETWEEN)
            for power in np.unique(powers[open_]).tolist():
                places = np.flatnonzero(open_ & (powers == power))
                cost = self._cost(self._power(sign, power), group[places], x[places])
                better = cost < least[places]
                best[places[better]], least[places[better]] = power, cost[better]
        for place in np.flatnonzero(np.isinf(least)).tolist():
            ends = float(high[place] - 1), float(high[place])
            best[place] = self._between(int(group[place]), float(x[place]), sign, *ends)
        return np.array([sign * _RATIO**power for power in best.tolist()])

    @cached_property
    def _flattest(self) -> Integers:
        """The power of the flattest slope that is tried, by group."""
        power = np.floor(np.log(_FLATTEST / self.deviation) / np.log(_RATIO))
        return np.asarray(power, dtype=np.int64)

    def _beyond(self, group: Integers, x: Floats, sign: int) -> Integers:
        """Return the least powers of slopes whose tilted mean is beyond the values."""
        first = self._flattest[group]
        normal = np.abs(x - self.mean[group]) / self.deviation[group] ** 2
        power = np.floor(np.log(np.maximum(normal, _TINY)) / np.log(_RATIO))
        power = np.clip(power.astype(np.int64), first, first + _MOST_SLOPES)

        def is_beyond(places: Integers, powers: Integers) -> NDArray[np.bool_]:
            """Whether the tilted means are beyond the values."""
            mean = np.zeros(places.size)
            for each in np.unique(powers).tolist():
                own = powers == each
                mean[own] = self._power(sign, each).mean[group[places[own]]]
            return np.asarray(sign * (mean - x[places]) >= 0)

        places = np.arange(x.size)
        while (places := places[~is_beyond(places, power[places])]).size:
            power[places] += 1
            places = places[power[places] < first[places] + _MOST_SLOPES]
        places = np.flatnonzero(power > first)
        while (places := places[is_beyond(places, power[places] - 1)]).size:
            power[places] -= 1
            places = places[power[places] > first[places]]
        return np.asarray(power)

    def _cost(self, tilt: Tilt, group: Integers, x: Floats) -> Floats:
        """Return the period that values need at a slope, infinite if its mean is far from them."""
        near = offset(tilt, group, x) <= FURTHEST
        return np.where(near, usual_period(tilt)[group], np.inf)

    def _between(self, group: int, x: float, sign: int, low: float, high: float) -> float:
        """Find a slope near which the tilted T leaps beyond x, as a power."""
        power = low
        for _ in range(_MOST_SLOPES):
            power = (low + high) / 2
            tilt = self._power(sign, power)
            if offset(tilt, np.array([group]), np.array([x]))[0] <= FURTHEST:
                break
            if sign * (tilt.mean[group] - x) >= 0:
                high = power
            else:
                low = power
        return power

    def slope_at(self, x: float, slope: float) -> float | None:
        """Return a slope near one that is given with x about the tilted mean; None without one.

        T and x are those of the first group.
        """
        if not slope:
            return None
        sign, at = (1 if slope > 0 else -1), (np.array([0]), np.array([x]))
        middle = float(np.log(abs(slope)) / np.log(_RATIO))
        low, high = middle - _FLATTER, middle + _STEEPER
        # Where the tilted T leaps far below the slope, the search begins further down.
        while self._is_beyond(x, sign, low) and low > self._flattest[0]:
            low, high = low - _FLATTER, low
        if self._is_beyond(x, sign, low) or not self._is_beyond(x, sign, high):
            return None
        for _ in range(_MOST_SLOPES):
            power = (low + high) / 2
            tilt = self._power(sign, power)
            if offset(tilt, *at)[0] <= _ABOUT:
                return float(sign * _RATIO**power)
            low, high = (low, power) if self._is_beyond(x, sign, power) else (power, high)
        return None

    def _is_beyond(self, x: float, sign: int, power: float) -> bool:
        """Whether the tilted mean of the first group is at a value or beyond it."""
        return bool(sign * (self._power(sign, power).mean[0] - x) >= 0)

    def _power(self, sign: int, power: float) -> Tilt:
        """Return the tilt with a slope of +-2^power."""
        return self.at(sign * _RATIO**power)


def offset(tilt: Tilt, group: Integers, x: Floats) -> Floats:
    """Return how many tilted standard deviations values are from the tilted mean."""
    return np.asarray(np.abs(tilt.mean[group] - x) / np.sqrt(tilt.variance[group] + _TINY))


def usual_period(tilt: Tilt) -> Floats:
    """Return the period that each group usually needs at a tilt."""
    return (FURTHEST + _BEYOND) * np.sqrt(tilt.variance) + _DECAY / abs(tilt.slope)
