"""The characteristic function of one tilted walk, from the last ranks up.

From the first step below which what T still gains is nearly normal, its characteristic function is
that of its first four cumulants. Above it, with h hits above a step and the gain M(h) that is
expected below it, the function is walked up:

    V(h) = E[exp(iw (gain - M(h))) | h]
         = sum over j of  P(j | h) E[exp(iw (g - M(h) + M(h + j)))] V(h + j),

where j positives in the step raise T by g. Gains cluster at the top, where steps are small.
"""

from typing import NamedTuple

import numpy as np

from prframe.stats.null.average_precision.walks.tilts import Walk, drifted
from prframe.stats.null.tilted import Complexes
from prframe.typing import Floats, Integers

# A term whose tilted chance is at most the first number is left out, and the others make up for
# it. A row counts if its tilted chance is above the second one.
_NEGLIGIBLE, _COUNTS = 1e-10, 1e-6
# What lies below a step is nearly normal if skewness and excess kurtosis are below these in size,
# for all rows that count.
_SKEWED, _PEAKED, _SKEWED_OF_ALL, _PEAKED_OF_ALL = 0.4, 0.3, 0.12, 0.04
# A characteristic function has died away at so many units of 1 over the standard deviation.
_GONE = 6.5
# Functions are computed for so many terms times frequencies at a time, which bounds the memory.
_AT_ONCE = 1 << 19
# Of so many frequencies each exp(i drift w) is a product with that of the first one.
_STRIDE = 8


class _Rise(NamedTuple):
    """The terms of a step from rows above it to rows below it, with their chances."""

    size: int
    above: Integers
    below: Integers
    share: Floats
    drift: Floats
    variance: Floats


class Waves:
    """The characteristic function of T, tilted, at frequencies that are asked for.

    It has died away at the frequency `reach`, infinite if no part of the walk is nearly normal;
    `cost` terms are walked per frequency.
    """

    def __init__(self, walk: Walk) -> None:
        whole = float(walk.tilt.state.variance[walk.lane])
        slope = float(walk.tilt.slopes[walk.lane])
        cumulants, after = np.zeros((4, 1)), np.ones(1)
        rises: list[_Rise] = []
        self._bulk, self._rises, self.reach = cumulants, rises, np.inf
        for table, share, need in walk.upward():
            below, place = np.nonzero(share * after[:, None] > _NEGLIGIBLE)
            above = table.column[below, place]
            order = np.argsort(above, kind="stable")
            above, below, place = above[order], below[order], place[order]
            chance = share[below, place] * after[below]
            chance /= np.bincount(above, chance, need.size)[above]
            own = table.variance[below, place]
            drift = table.growth[below, place] + drifted(slope, table)[below, place]
            rise = _Rise(need.size, above, below, chance, drift, own)
            cumulants, rise = _risen_cumulants(rise, cumulants)
            rises.append(rise)
            after = need
            counts = need > _COUNTS
            variance = np.maximum(cumulants[1, counts], 0.0)
            most = (
                np.minimum(_SKEWED * variance**1.5, _SKEWED_OF_ALL * whole**1.5),
                np.minimum(_PEAKED * variance**2, _PEAKED_OF_ALL * whole**2),
            )
            if (np.abs(cumulants[2:, counts]) <= most).all() and variance.min() > 0:
                self._bulk, rises = cumulants, []
                self._rises, self.reach = rises, _GONE / float(np.sqrt(variance.min()))
        self._mean = float(cumulants[0, 0])
        self.cost = float(sum(rise.share.size for rise in self._rises)) + 1

    def at(self, frequencies: Floats) -> Complexes:
        """Return the function at equally spaced frequencies."""
        at_once = max(_STRIDE, int(_AT_ONCE / self.cost))
        parts = np.split(frequencies, range(at_once, frequencies.size, at_once))
        return np.concatenate([self._at(part) for part in parts])

    def _at(self, w: Floats) -> Complexes:
        """Return the function at a few frequencies."""
        _, variance, third, fourth = self._bulk[:, :, None]
        wave = np.exp(-(w**2) / 2 * variance - 1j * w**3 / 6 * third) * (1 + w**4 / 24 * fourth)
        for rise in self._rises:
            terms = turned(rise.share, rise.drift, w) * wave[rise.below]
            if rise.variance.any():
                terms *= np.exp(np.multiply.outer(rise.variance / -2, w**2))
            starts = np.flatnonzero(np.diff(rise.above, prepend=-1))
            wave = np.zeros((rise.size, w.size), dtype=np.complex128)
            wave[rise.above[starts]] = np.add.reduceat(terms, starts, axis=0)
        return np.asarray(wave[0] * np.exp(1j * self._mean * w))


def _risen_cumulants(rise: _Rise, below: Floats) -> tuple[Floats, _Rise]:
    """Return the cumulants of the gain by row above a step, and the step with centred drifts."""
    grown = rise.drift + below[0, rise.below]
    mean = np.bincount(rise.above, rise.share * grown, rise.size)
    away = grown - mean[rise.above]
    _, v, third, fourth = below[:, rise.below]
    v = v + rise.variance
    square = away**2
    fourth = square * (square + 6 * v) + 4 * away * third + fourth + 3 * v**2
    moments = square + v, away * (square + 3 * v) + third, fourth
    second, skew, peak = (np.bincount(rise.above, rise.share * m, rise.size) for m in moments)
    cumulants = np.array([mean, second, skew, peak - 3 * second**2], dtype=np.float64)
    return cumulants, rise._replace(drift=away)


def turned(share: Floats, drift: Floats, w: Floats) -> Complexes:
    """Return share * exp(i drift w), rows per share, for equally spaced w, by powers."""
    spacing = float(w[1] - w[0]) if w.size > 1 else 0.0
    fine = np.exp(1j * np.multiply.outer(drift, spacing * np.arange(min(_STRIDE, w.size))))
    coarse = np.exp(1j * np.multiply.outer(drift, w[::_STRIDE])) * share[:, None]
    terms = np.matmul(coarse[:, :, None], fine[:, None, :])
    return np.asarray(terms.reshape(drift.size, -1)[:, : w.size])
