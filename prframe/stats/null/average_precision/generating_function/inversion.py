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

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prframe.stats.null.average_precision.generating_function.periods import Periods
from prframe.stats.null.average_precision.generating_function.tilts import (
    FURTHEST,
    Tilts,
    offset,
    usual_period,
)
from prframe.stats.null.average_precision.generating_function.upward_waves import Complexes
from prframe.stats.null.average_precision.generating_function.walk import Course, Tilt
from prframe.typing import Floats, Integers

# Beyond this distance of a value from the tilted mean, in tilted standard deviations, the integral
# is not used, and the tail is bounded.
_USELESS = 2 * FURTHEST
# The tail is guessed first, with this factor in units of the slope times the standard deviation.
_GUESSED = 2.5
# Values beside the first one need a period that is longer by less than this factor.
_SPARE = 1.1
# The most periods that are tried after the first one.
_MOST_PERIODS = 4
# Periods are whole powers of this, so that groups share frequencies.
_PERIODS = 2.0
# The least number of frequencies that are added at a time, and which share of those before is.
_CHUNK = 48
_SHARE = 2
# Chunks of an upward course are computed together if they take at most so many times as long as
# the first of them.
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
# If |phi| is no larger than this, more frequencies add nothing.
_GONE = 1e-12
# Phi seems to have died away once this many frequencies in a row have small terms.
_QUIET = 16
# A group with fewer positives than this has few. A walk with merged states is quicker for it, so
# that fewer frequencies are tried.
FEW_POSITIVES = 64
# The most frequencies for a group of few positives. If these do not suffice, the tail is an
# estimate.
_MOST_OF_FEW = 1024
# The most frequencies for other groups, and for those with tie blocks. Where phi of these does not
# die away it comes back, as T is in clusters, and the tail is an estimate at all events.
_MOST, _MOST_OF_TIED = 4096, 1024
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
    tilts : Tilts
    needed : float
        The largest frequency that was needed.
    """

    def __init__(
        self, course: Course, mean: Floats, deviation: Floats, expected: float = 0.0
    ) -> None:
        self.course, self.tilts = course, Tilts(course, mean, deviation)
        self._periods = Periods(self.tilts)
        self._expected, self.needed = expected, 0.0
        self._waves: dict[tuple[float, float], list[dict[int, Complexes]]] = {}
        self._probed: dict[tuple[float, int], Floats] = {}
        self._enough: dict[float, float] = {}

    def log_tails(self, group: Integers, x: Floats) -> LogTails:
        """Return the logarithms of the tail probabilities of values, each in its group.

        Those of a value do not depend on the other values and groups, but for rounding.
        """
        reached, missed = np.full((2, x.size), np.nan)
        converged, bounded = np.zeros((2, x.size), np.bool_)
        tails = LogTails(reached, missed, converged, np.zeros(x.size), bounded)
        upper = x >= self.tilts.mean[group]
        for chosen, sign in ((np.flatnonzero(upper), 1), (np.flatnonzero(~upper), -1)):
            if chosen.size:
                slopes = self.tilts.slopes(group[chosen], x[chosen], sign)
                for slope in np.unique(slopes).tolist():
                    self._fill(tails, slope, chosen[slopes == slope], group, x)
        return tails

    def _fill(
        self, tails: LogTails, slope: float, chosen: Integers, group: Integers, x: Floats
    ) -> None:
        """Write the tails of some of the values, which share a slope, in groups of one period."""
        needed = usual_period(self.tilts.at(slope))[group[chosen]]
        power = np.ceil(np.log(needed) / np.log(_PERIODS))
        for shared in np.unique(power).tolist():
            places = chosen[power == shared]
            at = self._at(slope, group[places], x[places], _PERIODS**shared)
            for whole, part in zip(tails, at, strict=True):
                whole[places] = part

    def at(self, slope: float, group: Integers, x: Floats) -> LogTails:
        """Return the logarithms of the tail probabilities with a slope that is given."""
        tilt = self.tilts.at(slope)
        # A walk that leads nowhere tells nothing of periods.
        if not self.course.is_planned or not np.isfinite(tilt.log_mgf[group]).all():
            return self._at(slope, group, x, float(usual_period(tilt)[group].max()))
        steepness = abs(slope) * np.sqrt(tilt.variance[group])
        guess = tilt.log_mgf[group] - slope * x - np.log1p(_GUESSED * steepness)
        period = self._enough.get(slope) or _SPARE * self._periods.needed(slope, x, guess)
        tails = self._at(slope, group, x, period)
        for _ in range(_MOST_PERIODS):
            needed = self._periods.needed(slope, x, tails.reached if slope > 0 else tails.missed)
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

    def returns(self, group: int, x: float, tails: LogTails) -> bool:
        """Whether phi comes back after it seemed to die away, as it does if T is on a lattice.

        The tail at x is then taken in the middle of a leap, however many frequencies there are.
        """
        sign = 1 if x >= self.tilts.mean[group] else -1
        log_tail = float((tails.reached if sign > 0 else tails.missed)[0])
        slope = sign * float(tails.slope[0])
        tilt = self.tilts.nearest(slope)
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
        period = float(usual_period(tilt)[group])
        frequency = 2 * np.pi / period * np.arange(_PROBED, dtype=np.float64)
        terms = np.abs(self.course.waves(tilt, [group], frequency)[group])
        return np.asarray(terms * 2 / period / np.abs(tilt.slope + 1j * frequency))

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
            first = _first(chunk)
            frequencies = spacing * np.arange(first, _first(last + 1), dtype=np.float64)
            waves = self.course.waves(tilt, missing, frequencies)
            cuts = [_first(each) - first for each in range(chunk + 1, last + 1)]
            for group, wave in waves.items():
                for each, part in zip(known[chunk:], np.split(wave, cuts), strict=True):
                    each[group] = part

    def _last_chunk(self, tilt: Tilt, chunk: int, spacing: float) -> int:
        """Return the last chunk that is computed together with one.

        Upward courses take little longer for many frequencies than for few.
        """
        if not self.course.is_upward:
            return chunk
        first, last = _first(chunk), chunk
        frequencies = spacing * np.arange(first, first + _count(chunk), dtype=np.float64)
        most = _TOGETHER_AT_MOST * self.course.wave_cost(tilt, frequencies)
        while frequencies.size < _MOST:
            more = spacing * np.arange(first, _first(last + 2), dtype=np.float64)
            if frequencies[-1] >= self._expected and self.course.wave_cost(tilt, more) > most:
                break
            frequencies, last = more, last + 1
        return last

    def _tail(
        self, slope: float, group: Integers, x: Floats, period: float
    ) -> tuple[Floats, NDArray[np.bool_], NDArray[np.bool_]]:
        """Return the logarithm of the tail on the side of the slope.

        The other two arrays say whether the frequencies sufficed, and whether the logarithm is no
        more than a bound.
        """
        tilt, sign = self.tilts.at(slope), 1 if slope > 0 else -1
        total, is_open = -self._periods.repeated(tilt, group, x, period), np.ones(x.size, np.bool_)
        known = self._waves.setdefault((slope, period), [])
        n_pos = np.array([self.course.groups[index].n_pos for index in group])
        most = np.where(n_pos < FEW_POSITIVES, _MOST_OF_FEW, _most_of_many(self.course))
        first, chunk, died = 0, 0, 0.0
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
                    large = np.abs(wave * kernel) * np.sqrt(first + count) >= _CLOSE * total[place]
                    died = max(died, float(frequency[large].max(initial=frequency[0])))
                elif last <= _GONE:
                    most[place] = 0
                elif last > _STUBBORN and first + count >= _PATIENCE:
                    # Single rankings carry weight, so that the walk is quicker.
                    most[place] = (
                        min(most[place], _PATIENCE)
                        if n_pos[place] < FEW_POSITIVES
                        else most[place]
                    )
            first, chunk = first + count, chunk + 1
            if is_open.any() and (spent := is_open & (first >= most)).any():
                total[spent] = np.where(total[spent] > 0, -total[spent], np.nan)
                is_open &= ~spent
        self.needed = max(self.needed, died)
        total[offset(tilt, group, x) > _USELESS] = np.nan
        good = total > 0
        with np.errstate(invalid="ignore"):
            value = tilt.log_mgf[group] - tilt.slope * x + np.log(np.abs(total))
        # exp(K(s) - sx) is a bound at any slope.
        bounds = np.isnan(total) | (total == 0)
        value = np.where(bounds, tilt.log_mgf[group] - tilt.slope * x, value)
        # A walk that leads nowhere tells nothing.
        return np.fmin(value, 0.0), good, bounds


def _most_of_many(course: Course) -> int:
    """Return the most frequencies for a group that has not few positives."""
    if course.is_planned:
        return _MOST_PLANNED
    return _MOST_OF_TIED if course.is_tied else _MOST


@cache
def _first(chunk: int) -> int:
    """Return the number of frequencies before a chunk."""
    return _first(chunk - 1) + _count(chunk - 1) if chunk else 0


def _count(chunk: int) -> int:
    """Return the number of frequencies of a chunk, a multiple of 8."""
    return max(_CHUNK, _first(chunk) // _SHARE // 8 * 8)
