"""How far apart T is repeated where its characteristic function is inverted (`inversion`).

With a period L, what lies beyond x + L or below x - L is counted in the tail at x, or is not.
"""

import numpy as np

from prframe.stats.null.average_precision.generating_function.tilts import Tilts
from prframe.stats.null.average_precision.generating_function.walk import Tilt
from prframe.typing import Floats, Integers

# What is counted wrong as T is repeated is at most this share of the tail, by bounds at slopes
# that are so many 1 over tilted standard deviations away, and at 0.
_LEFT_OUT = 1e-3
_AWAY = np.array([1.5, 4.5, 13.5])
# Deviations that are less than this over the slope do not matter.
_NARROW = 1e-3
# They differ by at least this share of the slope.
_NEXT = 1e-9
# If the mean of T is at most this share of the period away from a value, the rest of T is within a
# period of it too, and its share of the sum is taken off. Otherwise this share is negligible. Of
# planned courses it is taken off always, as their periods are chosen for it.
_NEARBY = 0.5


class Periods:
    """What the tails of a course need, and what they get.

    Parameters
    ----------
    tilts : Tilts
    """

    def __init__(self, tilts: Tilts) -> None:
        self._tilts = tilts
        self._beside: dict[float, tuple[Floats, Floats]] = {}

    def needed(self, slope: float, x: Floats, log_tail: Floats) -> float:
        """Return the period that tails need at a slope s, of a planned course.

        With a period L and s > 0, what lies beyond x + L counts at most exp(s L) P(T >= x + L) too
        much, and what lies below x - L at most exp(-s L) P(T < x - L) too little, as all of T is
        taken to be within L of x. The former is at most exp(K(b) - b x - (b - s) L) for any b > s,
        and the latter at most exp(K(b) - b x - (s - b) L) for any b <= 0. For s < 0 it is the
        other way round.
        """
        side = 1.0 if slope > 0 else -1.0
        if slope not in self._beside:
            deviation = float(np.sqrt(self._tilts.at(slope).variance[0]))
            away = _AWAY / max(deviation, _NARROW / abs(slope))
            # Under slopes without end, those beside it would be the same by rounding.
            away = side * np.maximum(away, _NEXT * abs(slope))
            flatter = side * np.minimum(side * (slope - away), 0.0)
            others = np.concatenate([slope + away, flatter, [0.0]])
            self._beside[slope] = others, self._tilts.course.log_mgf(others[None, :])[0]
        others, log_mgf = self._beside[slope]
        excess = log_mgf - others * x[:, None] - log_tail[:, None] - np.log(_LEFT_OUT)
        period = excess / np.abs(others - slope)
        is_steeper = side * (others - slope) > 0
        sides = (period[:, is_side].min(axis=1) for is_side in (is_steeper, ~is_steeper))
        return float(np.maximum(*sides).max())

    def repeated(self, tilt: Tilt, group: Integers, x: Floats, period: float) -> Floats:
        """Return what the other tail adds to the integral, as T is repeated with a period."""
        is_near = np.abs(x - self._tilts.mean[group]) <= _NEARBY * period
        inside = is_near | self._tilts.course.is_planned
        decay = abs(tilt.slope) * period
        log_added = tilt.slope * x - tilt.log_mgf[group] - decay - np.log(-np.expm1(-decay))
        if tilt.slope in self._beside:
            # Far out a walk along a path has a small share of all rankings.
            log_added += self._beside[tilt.slope][1][-1]
        return np.exp(np.where(inside, log_added, -np.inf))
