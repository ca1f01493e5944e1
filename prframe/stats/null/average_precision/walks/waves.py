"""Characteristic functions: of one tilted walk, and of many groups that share walks.

From the first step below which what T still gains is nearly normal, its characteristic function is
that of its first four cumulants. Above it, with h hits above a step and the gain M(h) that is
expected below it, the function is walked up:

    V(h) = E[exp(iw (gain - M(h))) | h]
         = sum over j of  P(j | h) E[exp(iw (g - M(h) + M(h + j)))] V(h + j),

where j positives in the step raise T by g. Gains cluster at the top, where steps are small.

Groups without ties share walks through every number of hits: the functions of all of them under
one slope follow from one walk down the ranks. They take the slope of a common ladder whose tilted
mean is nearest to their value.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from prframe.stats.null.average_precision.steps import Problem, Tail
from prframe.stats.null.average_precision.walks.rows import Table
from prframe.stats.null.average_precision.walks.tilts import Course, Tilt, Walk, drifted, is_far
from prframe.stats.null.tilted import Complexes, inverted
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

# Neighbouring slopes of the ladder have this ratio. The flattest one is at most this over the
# standard deviation of T, and there are at most so many.
_RATIO, _FLATTEST, _MOST_SLOPES = 2.0, 0.5, 40
# A value is not inverted further than this from the tilted mean, in tilted standard deviations.
_FURTHEST = 3.0
# The period of T: so many tilted standard deviations, twice the distance to the value, and so many
# units of 1 over the slope. Periods are whole powers of the last number, so that groups share
# frequencies.
_DEVIATIONS, _DECAYS, _PERIODS = 12.0, 6.0, 2.0
# At most so many frequencies are added, until what is left is below this share of the tail.
_MOST, _CLOSE = 1024, 2e-5


class _Rise(NamedTuple):
    """The terms of a step from rows above it to rows below it, with their chances."""

    size: int
    above: Integers
    below: Integers
    share: Floats
    drift: Floats
    variance: Floats


class Waves:
    """The characteristic function of T, tilted, at frequencies that are asked for."""

    # The function has died away at the frequency `reach`, infinite if no part of the walk is
    # nearly normal; `cost` terms are walked per frequency.
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
            skewed = np.minimum(_SKEWED * variance**1.5, _SKEWED_OF_ALL * whole**1.5)
            peaked = np.minimum(_PEAKED * variance**2, _PEAKED_OF_ALL * whole**2)
            is_smooth = (np.abs(cumulants[2:, counts]) <= (skewed, peaked)).all()
            if is_smooth and variance.min() > 0:
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


def turned(share: Floats, drift: Floats, w: Floats, precision: type = np.float64) -> Complexes:
    """Return share * exp(i drift w), rows per share, for equally spaced w, by powers."""
    spacing = float(w[1] - w[0]) if w.size > 1 else 0.0
    fine, coarse = (
        _on_circle(np.multiply.outer(drift, part), precision)
        for part in (spacing * np.arange(min(_STRIDE, w.size)), w[::_STRIDE])
    )
    coarse *= share.astype(precision)[:, None]
    return (coarse[:, :, None] * fine[:, None, :]).reshape(drift.size, -1)[:, : w.size]


def _on_circle(angle: Floats, precision: type) -> Complexes:
    """Return exp(i angle); an angle is below a full turn before it loses digits."""
    turns = angle / (2 * np.pi)
    angle = (2 * np.pi * (turns - np.rint(turns))).astype(precision)
    return np.asarray(np.cos(angle) + 1j * np.sin(angle))


def shared_tails(problems: Sequence[Problem]) -> list[Tail | None]:
    """Return the tails of groups that share walks; None far out and where sums do not converge."""
    # All retrieve as many items, or all items. Those that are fine below have the same n.
    n, n_pos = np.array([(p.items.n, p.n_pos) for p in problems]).T
    groups, place = np.unique([n, n_pos], axis=1, return_inverse=True)
    depth = problems[0].items.depth
    is_whole = all(problem.items.depth == problem.items.n for problem in problems)
    sizes, is_fine = map(tuple, groups.tolist()), problems[0].is_fine_below
    course = _course(*sizes, None if is_whole else depth, is_fine_below=is_fine)
    target, mean, deviation = np.array([problem[2:5] for problem in problems]).T
    tails: list[Tail | None] = [None] * target.size
    for sign in (1, -1):
        chosen = np.flatnonzero((target >= mean) == (sign > 0))
        if not chosen.size:
            continue
        own = place.ravel()[chosen]
        # Slopes are powers of the ratio, whatever other groups there are.
        flat = _RATIO ** np.floor(np.log(_FLATTEST / deviation[chosen]) / np.log(_RATIO))
        for tilt, asked in _by_slope(course, sign * flat, own, target[chosen]):
            inverted = _inverted(course, tilt, own[asked], target[chosen[asked]])
            for at, log_tail in zip(chosen[asked].tolist(), inverted.tolist(), strict=True):
                if np.isfinite(log_tail):
                    tails[at] = Tail.of(log_tail, "transform", is_upper=sign > 0)
    return tails


@lru_cache(maxsize=4)
def _course(
    n: tuple[int, ...], n_pos: tuple[int, ...], depth: int | None, *, is_fine_below: bool
) -> Course:
    """Return a walk, of which searches for quantiles need the same again and again."""
    return Course.shared(np.array(n), np.array(n_pos), depth, is_fine_below=is_fine_below)


@lru_cache(maxsize=16)
def _tilt(course: Course, slope: float) -> Tilt:
    """Return a tilted walk."""
    return course.tilt(np.array([slope]))


def _by_slope(
    course: Course, flattest: Floats, group: Integers, x: Floats
) -> list[tuple[Tilt, Integers]]:
    """Return the tilts of a ladder of slopes, each with the places of its values."""
    tilts: list[Tilt] = []
    best, least = np.zeros(x.size, np.int64), np.full(x.size, np.inf)
    sign = float(np.sign(flattest[0]))
    slope = sign * float(np.abs(flattest).min())
    is_open = np.ones(x.size, np.bool_)
    while is_open.any() and len(tilts) < _MOST_SLOPES:
        tilt = _tilt(course, slope)
        _, mean, variance = (column[group] for column in tilt.state[:3])
        with np.errstate(divide="ignore", invalid="ignore"):
            away = np.abs(x - mean) / np.sqrt(variance)
        # Slopes that are too flat for a group hardly tilt it, and its integral converges slowly.
        serves = abs(slope) >= np.abs(flattest)
        better = is_open & serves & (away < least)
        best[better], least[better] = len(tilts), away[better]
        is_open &= ~serves | (sign * (mean - x) < 0)
        tilts.append(tilt)
        slope *= _RATIO
    is_near = least <= _FURTHEST
    places = [np.flatnonzero((best == k) & is_near) for k in range(len(tilts))]
    return [(tilt, own) for tilt, own in zip(tilts, places, strict=True) if own.size]


def _inverted(course: Course, tilt: Tilt, group: Integers, x: Floats) -> Floats:
    """Return the logarithms of the tails of values under a tilt; NaN where there is none."""
    slope = float(tilt.slopes[0])
    log_mgf, mean, variance = (column[group] for column in tilt.state[:3])
    period = _DEVIATIONS * np.sqrt(variance) + 2 * np.abs(x - mean) + _DECAYS / abs(slope)
    power = np.ceil(np.log(period) / np.log(_PERIODS)).astype(np.int64)
    log_tail = np.full(x.size, np.nan)
    is_open = ~is_far(log_mgf - slope * x, slope)
    for each in np.unique(power[is_open]).tolist():
        own, spacing = np.flatnonzero((power == each) & is_open), 2 * np.pi / _PERIODS**each
        known, inside = np.unique(group[own], return_inverse=True)

        def phi(frequency: Floats, groups: Integers = known, rows: Integers = inside) -> Complexes:
            """Return the characteristic function of the group of each value."""
            return _waves(course, tilt, groups, frequency)[rows].astype(np.complex128)

        found = inverted(phi, slope, log_mgf[own], x[own], spacing, close=_CLOSE, most=_MOST)
        log_tail[own] = np.where(found.converged, found.log_tail, np.nan)
    return log_tail


def _waves(course: Course, tilt: Tilt, groups: Integers, frequency: Floats) -> Complexes:
    """Return the tilted characteristic functions of some groups, a row each."""
    wanted = np.zeros(tilt.state.mean.size, np.bool_)
    wanted[groups] = True
    leaving = [
        (leave, share, np.flatnonzero(wanted[leave.groups]))
        for leave, share in zip(course.exits, tilt.exits, strict=True)
    ]
    leaving = [each for each in leaving if each[2].size]
    most = max(float(leave.table.hits[rows].max()) for leave, _, rows in leaving)
    found = np.zeros((wanted.size, frequency.size), dtype=np.complex64)
    wave: Complexes = np.ones((1, frequency.size), dtype=np.complex64)
    slope = float(tilt.slopes[0])
    for step in range(leaving[-1][0].step + 1):
        for leave, share, rows in leaving:
            if leave.step == step:
                own = Table._make(column[rows] for column in leave.table)
                found[leave.groups[rows]] = _waved(own, share[rows], slope, wave, frequency)
        if step < leaving[-1][0].step:
            table, share = course.tables[step], tilt.shares[step]
            own = Table._make(column[: int(most) + 1] for column in table)
            wave = _waved(own, share[: int(most) + 1], slope, wave, frequency)
    return found[groups]


def _waved(table: Table, share: Floats, slope: float, wave: Complexes, w: Floats) -> Complexes:
    """Take a step; return the characteristic functions after it, a row each."""
    row, term = np.nonzero(share > _NEGLIGIBLE)
    # Terms of neighbouring rows with the same rise follow each other, so that many are added at a
    # time.
    order = np.argsort(row - table.column[row, term], kind="stable")
    row, term = row[order], term[order]
    drift = table.growth[row, term] + drifted(slope, table)[row, term]
    variance = table.variance[row, term]
    # Single precision leaves characteristic functions right to a millionth.
    terms = turned(share[row, term], drift, w, np.float32)
    if variance.any():
        variance, squares = variance.astype(np.float32), (w**2 / -2).astype(np.float32)
        terms *= np.exp(np.multiply.outer(variance, squares))
    terms *= wave[table.column[row, term]]
    after = np.zeros((table.hits.size, w.size), dtype=np.complex64)
    begins = np.flatnonzero(np.diff(row, prepend=-2) != 1).tolist()
    for begin, end in pairwise([*begins, row.size]):
        after[row[begin] : row[begin] + end - begin] += terms[begin:end]
    return after
