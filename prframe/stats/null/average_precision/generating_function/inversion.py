"""Tails of T = n_pos AP from its generating function, which keep their digits far out.

For any real s != 0 where T, tilted by exp(sT), is around x,

    P(T >= x) = V(s) exp(-sx) (1/2 pi) int phi(w) exp(-iwx) / (s + iw) dw        (s > 0)

with phi the characteristic function of the tilted T; for s < 0 the negative of the right side is
P(T < x). The tilt makes the factor before the integral as small as the tail, so the integral
needs no more digits than the answer. Frequencies lie 2 pi / L apart, which repeats T with period
L; they end where phi has died away. If T lies between x - L and x + L, the sum over all of them
gives, with q = exp(-|s| L),

    (P(T >= x) + q P(T < x)) / (1 - q)  =  P(T >= x) + q / (1 - q),

as the kernel of the sum is exp(-s (T - x)), repeated. The last term is known, and taken off.
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prframe.stats.null.average_precision.generating_function.upward_waves import Complexes
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
# standard deviations. Beyond twice this distance the integral is not used, and the tail is
# bounded.
_OFFSET = 3.0
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
# What is counted wrong as T is repeated is at most this share of the tail, by bounds at slopes
# that are so many 1 over tilted standard deviations away, and at 0.
_LEFT_OUT = 1e-3
_AWAY = np.array([1.5, 4.5, 13.5])
# Deviations that are less than this over the slope do not matter.
_NARROW = 1e-3
# The tail is guessed first, with this factor in units of the slope times the standard deviation.
_GUESSED = 2.5
# Values beside the first one need a period that is longer by less than this factor.
_SPARE = 1.1
# The most periods that are tried after the first one.
_MOST_PERIODS = 4
# If the mean of T is at most this share of the period away from a value, the rest of T is within a
# period of it too, and its share of the sum is taken off. Otherwise this share is negligible. Of
# planned courses it is taken off always, as their periods are chosen for it.
_NEARBY = 0.5
# Periods are whole powers of this, so that groups share frequencies.
_PERIODS = 2.0
# The number of frequencies that are added at a time; after three times there are twice as many,
# and more later on.
_CHUNK = 48
# Chunks of an upward course are computed together if they take no longer than all before, or no
# more than this many times as long as the first of them.
_TOGETHER_AT_MOST = 1.5
# Frequencies are added until what is left is below this share of the tail.
_CLOSE = 2e-4
# If phi comes back after it seemed to die away, its terms add up in phase. Their sum is taken to
# be this many times the root of the sum of their squares.
_TOGETHER = 2.5
# This sum may be at most this share of the integral. If it is more, T is on a lattice, and the
# tail is not trusted.
_HALF_A_LEAP = 5e-3
# If |phi| is larger than this after `_PATIENCE` frequencies, it hardly dies away in time. Groups
# of few positives then get no more frequencies.
_STUBBORN = 0.2
_PATIENCE = 96
# Phi seems to have died away once this many frequencies in a row have small terms.
_QUIET = 16
# A group with fewer positives than this has few. A walk with merged states is quicker for it, so
# that fewer frequencies are tried.
FEW_POSITIVES = 64
# The most frequencies for a group of few positives. If these do not suffice, the tail is an
# estimate.
_MOST_OF_FEW = 1024
# The most frequencies for other groups.
_MOST = 4096
# The most frequencies for planned courses, for which they are quicker.
_MOST_PLANNED = 16384
# The number of frequencies among which phi is searched for coming back.
_PROBED = 1024


class LogTails(NamedTuple):
    """The logarithms of P(T >= x) and P(T < x), whether the frequencies sufficed, and the slope.

    Where they did not suffice, the smaller tail is an estimate, or an upper bound as marked.
    """

    reached: Floats
    missed: Floats
    converged: NDArray[np.bool_]
    slope: Floats
    bounded: NDArray[np.bool_]


class Inversion:
    """Tails of T for the groups of a course.

    Parameters
    ----------
    course : Course
    mean, deviation : ndarray of float, shape (n_groups,)
        Of T, by group.
    expected : float, optional
        The frequency up to which the functions of upward courses are computed together, as they
        are expected to have died away there.

    Attributes
    ----------
    needed : float
        The largest frequency that was needed.
    """

    def __init__(
        self, course: Course, mean: Floats, deviation: Floats, expected: float = 0.0
    ) -> None:
        self.course, self.mean, self.deviation = course, mean, deviation
        self._expected, self.needed = expected, 0.0
        self._tilts: dict[float, Tilt] = {}
        self._waves: dict[tuple[float, float], list[dict[int, Complexes]]] = {}
        self._probed: dict[tuple[float, int], Floats] = {}
        self._spent: dict[tuple[float, float], float] = {}
        self._beside: dict[float, tuple[Floats, Floats]] = {}
        self._enough: dict[float, float] = {}

    def log_tails(self, group: Integers, x: Floats) -> LogTails:
        """Return the logarithms of the tail probabilities of values, each in its group.

        Those of a value do not depend on the other values and groups, but for rounding.
        """
        reached, missed = np.full((2, x.size), np.nan)
        converged, bounded = np.zeros((2, x.size), np.bool_)
        tails = LogTails(reached, missed, converged, np.zeros(x.size), bounded)
        upper = x >= self.mean[group]
        for chosen, sign in ((np.flatnonzero(upper), 1), (np.flatnonzero(~upper), -1)):
            if chosen.size:
                slopes = self._slopes(group[chosen], x[chosen], sign)
                for power in np.unique(slopes).tolist():
                    self._fill(tails, sign * _RATIO**power, chosen[slopes == power], group, x)
        return tails

    def _fill(
        self, tails: LogTails, slope: float, chosen: Integers, group: Integers, x: Floats
    ) -> None:
        """Write the tails of some of the values, which share a slope, in groups of one period."""
        needed = self._periods(self.tilt_at(slope))[group[chosen]]
        power = np.ceil(np.log(needed) / np.log(_PERIODS))
        for shared in np.unique(power).tolist():
            places = chosen[power == shared]
            at = self._at(slope, group[places], x[places], _PERIODS**shared)
            for whole, part in zip(tails, at, strict=True):
                whole[places] = part

    def at(self, slope: float, group: Integers, x: Floats) -> LogTails:
        """Return the logarithms of the tail probabilities with a slope that is given."""
        tilt = self.tilt_at(slope)
        # A walk that leads nowhere tells nothing of periods.
        if not self.course.is_planned or not np.isfinite(tilt.log_mgf[group]).all():
            return self._at(slope, group, x, float(self._periods(tilt)[group].max()))
        steepness = abs(slope) * np.sqrt(tilt.variance[group])
        guess = tilt.log_mgf[group] - slope * x - np.log1p(_GUESSED * steepness)
        period = self._enough.get(slope) or _SPARE * self._needed(slope, x, guess)
        tails = self._at(slope, group, x, period)
        for _ in range(_MOST_PERIODS):
            needed = self._needed(slope, x, tails.reached if slope > 0 else tails.missed)
            if not needed > period:
                break
            period = _SPARE * needed
            tails = self._at(slope, group, x, period)
        self._enough[slope] = period
        return tails

    def _at(self, slope: float, group: Integers, x: Floats, period: float) -> LogTails:
        """Return what `at` does, with a period that is given."""
        log_tail, good, bounds = self._tail(slope, group, x, period)
        with np.errstate(divide="ignore"):
            # 1 minus an upper bound is no upper bound, so that the other tail is bounded by 1.
            rest = np.where(good, np.log(-np.expm1(log_tail)), 0.0)
        reached, missed = (log_tail, rest) if slope > 0 else (rest, log_tail)
        return LogTails(reached, missed, good, np.full(x.size, abs(slope)), bounds)

    def _needed(self, slope: float, x: Floats, log_tail: Floats) -> float:
        """Return the period that tails need at a slope s, of a planned course.

        With a period L and s > 0, what lies beyond x + L counts at most exp(s L) P(T >= x + L) too
        much, and what lies below x - L at most exp(-s L) P(T < x - L) too little, as all of T is
        taken to be within L of x. The former is at most exp(K(b) - b x - (b - s) L) for any b > s,
        and the latter at most exp(K(b) - b x - (s - b) L) for any b <= 0. For s < 0 it is the
        other way round.
        """
        side = 1.0 if slope > 0 else -1.0
        if slope not in self._beside:
            deviation = float(np.sqrt(self.tilt_at(slope).variance[0]))
            away = side * _AWAY / max(deviation, _NARROW / abs(slope))
            flatter = side * np.minimum(side * (slope - away), 0.0)
            others = np.concatenate([slope + away, flatter, [0.0]])
            self._beside[slope] = others, self.course.log_mgf(others[None, :])[0]
        others, log_mgf = self._beside[slope]
        excess = log_mgf - others * x[:, None] - log_tail[:, None] - np.log(_LEFT_OUT)
        period = excess / np.abs(others - slope)
        is_steeper = side * (others - slope) > 0
        sides = (period[:, is_side].min(axis=1) for is_side in (is_steeper, ~is_steeper))
        return float(np.maximum(*sides).max())

    def returns(self, group: int, x: float, tails: LogTails) -> bool:
        """Whether phi comes back after it seemed to die away, as it does if T is on a lattice.

        The tail at x is then taken in the middle of a leap, however many frequencies there are.
        """
        sign = 1 if x >= self.mean[group] else -1
        log_tail = float((tails.reached if sign > 0 else tails.missed)[0])
        slope = sign * float(tails.slope[0])
        tilt = min(self._tilts.values(), key=lambda known: abs(known.slope - slope))
        total = np.exp(log_tail - tilt.log_mgf[group] + tilt.slope * x)
        if (tilt.slope, group) not in self._probed:
            self._probed[tilt.slope, group] = self._terms(tilt, group)
        terms = self._probed[tilt.slope, group]
        small = terms * np.sqrt(np.arange(_PROBED) + 1) < _CLOSE * total
        quiet = np.convolve(small, np.ones(_QUIET), mode="valid") == _QUIET
        died = int(np.argmax(quiet)) if quiet.any() else _PROBED
        return bool(_TOGETHER * np.sqrt((terms[died:] ** 2).sum()) > _HALF_A_LEAP * total)

    def _terms(self, tilt: Tilt, group: int) -> Floats:
        """Return the sizes of the terms of the integral at the frequencies that are probed."""
        period = float(self._periods(tilt)[group])
        frequency = 2 * np.pi / period * np.arange(_PROBED, dtype=np.float64)
        terms = np.abs(self.course.waves(tilt, [group], frequency)[group])
        return np.asarray(terms * 2 / period / np.abs(tilt.slope + 1j * frequency))

    def tilt(self, sign: int, power: float) -> Tilt:
        """Return the tilt with a slope of +-2^power."""
        return self.tilt_at(sign * _RATIO**power)

    def tilt_at(self, slope: float) -> Tilt:
        """Return the tilt with a slope, which is computed only once."""
        if slope not in self._tilts:
            self._tilts[slope] = self.course.tilt(slope)
        return self._tilts[slope]

    def _slopes(self, group: Integers, x: Floats, sign: int) -> Floats:
        """Choose the slope with the shortest period for each value, as a power.

        The tilted mean rises with the slope, so that its place is searched step by step, from
        where it is if T is normal. The slopes on either side are compared, and the next one.
        """
        high = self._beyond(group, x, sign)
        best = high.astype(np.float64)
        least = np.full(x.size, np.inf)
        for away in (-1.0, 0.0, 1.0, _BETWEEN):
            powers = np.maximum(high + away, self._flattest[group])
            open_ = np.isinf(least) | (away != _BETWEEN)
            for power in np.unique(powers[open_]).tolist():
                places = np.flatnonzero(open_ & (powers == power))
                cost = self._cost(self.tilt(sign, power), group[places], x[places])
                better = cost < least[places]
                best[places[better]], least[places[better]] = power, cost[better]
        for place in np.flatnonzero(np.isinf(least)).tolist():
            ends = float(high[place] - 1), float(high[place])
            best[place] = self.between(int(group[place]), float(x[place]), sign, *ends)
        return best

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
                mean[own] = self.tilt(sign, each).mean[group[places[own]]]
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
        near = self._offset(tilt, group, x) <= _OFFSET
        return np.where(near, self._periods(tilt)[group], np.inf)

    def between(self, group: int, x: float, sign: int, low: float, high: float) -> float:
        """Find a slope near which the tilted T leaps beyond x, as a power."""
        power = low
        for _ in range(_MOST_SLOPES):
            power = (low + high) / 2
            tilt = self.tilt(sign, power)
            if self._offset(tilt, np.array([group]), np.array([x]))[0] <= _OFFSET:
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
        ends = [sign * (self.tilt(sign, power).mean[0] - x) >= 0 for power in (low, high)]
        if ends != [False, True]:
            return None
        for _ in range(_MOST_SLOPES):
            power = (low + high) / 2
            tilt = self.tilt(sign, power)
            if self._offset(tilt, *at)[0] <= _ABOUT:
                return float(sign * _RATIO**power)
            low, high = (low, power) if sign * (tilt.mean[0] - x) >= 0 else (power, high)
        return None

    @staticmethod
    def _offset(tilt: Tilt, group: Integers, x: Floats) -> Floats:
        """Return how many tilted standard deviations values are from the tilted mean."""
        return np.asarray(np.abs(tilt.mean[group] - x) / np.sqrt(tilt.variance[group] + _TINY))

    @staticmethod
    def _periods(tilt: Tilt) -> Floats:
        """Return the periods that the groups need at a tilt."""
        return (_OFFSET + _BEYOND) * np.sqrt(tilt.variance) + _DECAY / abs(tilt.slope)

    def _repeated(self, tilt: Tilt, group: Integers, x: Floats, period: float) -> Floats:
        """Return what the other tail adds to the integral, as T is repeated with a period."""
        is_near = np.abs(x - self.mean[group]) <= _NEARBY * period
        inside = is_near | self.course.is_planned
        decay = abs(tilt.slope) * period
        log_added = tilt.slope * x - tilt.log_mgf[group] - decay - np.log(-np.expm1(-decay))
        if tilt.slope in self._beside:
            # Far out a walk along a path has a small share of all rankings.
            log_added += self._beside[tilt.slope][1][-1]
        return np.exp(np.where(inside, log_added, -np.inf))

    def _look_up(
        self,
        known: list[dict[int, Complexes]],
        tilt: Tilt,
        needed: set[int],
        place: tuple[int, float],
    ) -> None:
        """Add the functions of some groups at the frequencies of a chunk, and maybe of later ones.

        `place` is the number of the chunk, and how far frequencies are apart.
        """
        chunk, spacing = place
        last = chunk
        if chunk == len(known):
            last = self._last_chunk(tilt, chunk, spacing)
            known.extend({} for _ in range(chunk, last + 1))
        if missing := needed - known[chunk].keys():
            counts = [_count(each) for each in range(last + 1)]
            first, end = sum(counts[:chunk]), sum(counts)
            waves = self.course.waves(
                tilt, missing, spacing * np.arange(first, end, dtype=np.float64)
            )
            cuts = np.cumsum(counts[chunk:-1])
            for group, wave in waves.items():
                for each, part in zip(known[chunk:], np.split(wave, cuts), strict=True):
                    each[group] = part

    def _last_chunk(self, tilt: Tilt, chunk: int, spacing: float) -> int:
        """Return the last chunk that is computed together with one.

        Upward courses take little longer for many frequencies than for few.
        """
        if not self.course.is_upward:
            return chunk
        first = sum(_count(each) for each in range(chunk))
        frequencies = spacing * np.arange(first, first + _count(chunk), dtype=np.float64)
        cost = self.course.wave_cost(tilt, frequencies)
        key = tilt.slope, spacing
        most = max(_TOGETHER_AT_MOST * cost, self._spent.get(key, 0.0))
        last = chunk
        while frequencies.size < _MOST:
            end = first + frequencies.size + _count(last + 1)
            more = spacing * np.arange(first, end, dtype=np.float64)
            further = self.course.wave_cost(tilt, more)
            if further > most and frequencies[-1] >= self._expected:
                break
            frequencies, cost, last = more, further, last + 1
        self._spent[key] = self._spent.get(key, 0.0) + cost
        return last

    def _tail(
        self, slope: float, group: Integers, x: Floats, period: float
    ) -> tuple[Floats, NDArray[np.bool_], NDArray[np.bool_]]:
        """Return the logarithm of the tail on the side of the slope.

        The other two arrays say whether the frequencies sufficed, and whether the logarithm is no
        more than a bound.
        """
        tilt, sign = self.tilt_at(slope), 1 if slope > 0 else -1
        total, is_open = -self._repeated(tilt, group, x, period), np.ones(x.size, np.bool_)
        known = self._waves.setdefault((slope, period), [])
        n_pos = np.array([self.course.groups[index].n_pos for index in group])
        most_of_many = _MOST_PLANNED if self.course.is_planned else _MOST
        most = np.where(n_pos < FEW_POSITIVES, _MOST_OF_FEW, most_of_many)
        first, chunk = 0, 0
        while is_open.any():
            count = _count(chunk)
            frequency = 2 * np.pi / period * np.arange(first, first + count)
            needed = set(group[is_open].tolist())
            self._look_up(known, tilt, needed, (chunk, 2 * np.pi / period))
            kernel = 2 / period / (tilt.slope + 1j * frequency)
            if first == 0:
                kernel[0] /= 2
            for place in np.flatnonzero(is_open).tolist():
                wave = known[chunk][int(group[place])]
                total[place] += (
                    sign * (wave * np.exp(-1j * frequency * x[place]) * kernel).real.sum()
                )
                last = np.abs(wave[-16:]).max()
                if last * abs(kernel[-1]) * np.sqrt(first + count) < _CLOSE * total[place]:
                    is_open[place] = False
                elif last > _STUBBORN and first + count >= _PATIENCE:
                    # Single rankings carry weight, so that the walk is quicker.
                    most[place] = (
                        min(most[place], _PATIENCE)
                        if n_pos[place] < FEW_POSITIVES
                        else most[place]
                    )
            first, chunk = first + count, chunk + 1
            self.needed = max(self.needed, float(frequency[-1]))
            if is_open.any() and (spent := is_open & (first >= most)).any():
                total[spent] = np.where(total[spent] > 0, -total[spent], np.nan)
                is_open &= ~spent
        offset = self._offset(tilt, group, x)
        total[offset > 2 * _OFFSET] = np.nan
        good = total > 0
        with np.errstate(invalid="ignore"):
            value = tilt.log_mgf[group] - tilt.slope * x + np.log(np.abs(total))
        # exp(K(s) - sx) is a bound at any slope.
        bounds = np.isnan(total) | (total == 0)
        value = np.where(bounds, tilt.log_mgf[group] - tilt.slope * x, value)
        # A walk that leads nowhere tells nothing.
        return np.fmin(value, 0.0), good, bounds


def _count(chunk: int) -> int:
    """Return the number of frequencies of a chunk."""
    return int(_CHUNK * 2 ** min(max(chunk - 2, 0), 3))
