"""The characteristic function of one tilted walk, from the last ranks up, at few frequencies.

What T still gains below a rank, given the hits above it, varies the less the further down the rank
is, so that its characteristic function changes slowly with the frequency. Far down it is computed
at frequencies far apart. Each time that the gain has become too variable for these, the functions
at the frequencies half-way between them are interpolated. Nearly all terms of a walk belong to
steps far down, which so take a small part of the time.

With h hits above a step and the mean gain M(h) below it, the functions are

    V(h) = E[exp(iw (gain - M(h))) | h]
         = sum over j of  P(j | h) E[exp(iw (g - M(h) + M(h + j)))] V(h + j),

where j positives in the step raise T by g.

They are computed in single precision, which leaves them right to a millionth: angles are turned in
double precision before, and the tilt has made the integral over them about as small as 1 already.
"""

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import floor, log2
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from prframe.stats.null.average_precision.generating_function.step_terms import Table
from prframe.typing import Floats, Integers

Complexes: TypeAlias = NDArray[np.complex128]
Singles: TypeAlias = NDArray[np.complex64]

# A term whose tilted chance is at most this is left out, and the others make up for it.
_NEGLIGIBLE = 1e-9
# A row counts for how variable the gain is if its tilted chance is above this.
_COUNTS = 1e-8
# The gain is taken to be within this many standard deviations of its mean.
_REACH = 6.0
# Neighbouring frequencies, times how far the gain is from its mean, may be this far apart. What is
# interpolated between them is off by 1e-8 of itself then.
_APART = 1.4
# So many frequencies on either side go into an interpolated function.
_BESIDE = 8
# Fewer frequencies than this are not halved, as most of those needed would lie outside.
_FEWEST = 16
# Of this many frequencies exp(i drift frequency) is that of the one before times exp(i drift
# spacing). Further ones are these times exp(i drift leap), where a leap is so many frequencies.
_POWERS = 8
# Exponents at the largest frequency are at least minus this, so that they are single floats.
_DAMPED = 1e30
# The number of terms that are added at a time, times that of frequencies, which bounds the memory.
_AT_ONCE = 1 << 18


@dataclass(frozen=True)
class _Rise:
    """The terms of a step: from rows above it to rows below it, with their chances.

    Attributes
    ----------
    size : int
        Number of rows above the step.
    above, below : ndarray of int, shape (n_terms,)
        Rows above and below the step. Terms whose rows above follow each other are in a run.
    runs : list of pair of int
        The first term of each run, and the end of its terms.
    share, drift : ndarray of float, shape (n_terms,)
        The chance of the term given the row above, and by how much it moves the mean of T.
    variance : ndarray of float, shape (n_terms,), optional
    deviation : float
        The largest standard deviation of the gain of T from here on.
    """

    size: int
    above: Integers
    below: Integers
    runs: list[tuple[int, int]]
    share: Floats
    drift: Floats
    variance: Floats | None
    deviation: float


class UpwardWaves:
    """The characteristic function of T, tilted.

    Parameters
    ----------
    tables : sequence of Table
        The terms of all steps, the last of which has a single row.
    shares : sequence of ndarray of float
        The tilted chance of each term given its row.
    needs : sequence of ndarray of float
        The tilted chances of the rows above each step.
    slope : float
        The slope of the tilt.
    """

    def __init__(
        self, tables: list[Table], shares: list[Floats], needs: list[Floats], slope: float
    ) -> None:
        self._rises: list[_Rise] = []
        mean, variance = np.zeros(1), np.zeros(1)
        after = np.ones(1)
        for table, share, need in zip(tables[::-1], shares[::-1], needs[::-1], strict=True):
            rise, mean, variance = _rise(table, share, (need, after), slope, (mean, variance))
            self._rises.append(rise)
            after = need
        self._mean = float(mean[0])

    def at(self, frequencies: Floats) -> Complexes:
        """Return the function at equally spaced frequencies, or at one, or at none."""
        if not frequencies.size:
            return np.empty(0, dtype=np.complex128)
        if frequencies.size == 1:
            # A second one, whose value is not asked for, makes the spacing known.
            first = float(frequencies[0])
            return self.at(np.array([first, first + (first or 1.0)]))[:1]
        spacing = float(frequencies[1] - frequencies[0])
        levels = self._levels(spacing, frequencies.size)
        is_from_zero = bool(frequencies[0] == 0)
        spans = _spans(frequencies.size, levels[0], is_from_zero=is_from_zero)
        wave = np.ones((1, spans[-1][1] - spans[-1][0]), dtype=np.complex64)
        for place, rise in enumerate(self._rises):
            level = levels[place]
            points = frequencies[0] + spacing * 2.0**level * np.arange(*spans[level])
            wave = _risen(rise, wave, points)
            for lower in range(level - 1, [*levels, 0][place + 1] - 1, -1):
                begin = spans[lower + 1][0]
                if is_from_zero:
                    # Functions at negative frequencies are conjugates of those at positive ones.
                    begin = 1 - _BESIDE
                    wave = np.concatenate([wave[:, -begin:0:-1].conj(), wave], axis=1)
                wave = _between(wave, begin, spans[lower])
        turn = np.exp(1j * self._mean * frequencies)
        return np.asarray(wave[0, : frequencies.size] * turn, dtype=np.complex128)

    def cost(self, frequencies: Floats) -> float:
        """Return how many terms these frequencies take, each counted once per frequency."""
        spacing = float(frequencies[1] - frequencies[0])
        levels = self._levels(spacing, frequencies.size)
        spans = _spans(frequencies.size, levels[0], is_from_zero=bool(frequencies[0] == 0))
        counts = [end - first for first, end in spans]
        pairs = zip(self._rises, levels, strict=True)
        return float(sum(rise.share.size * counts[level] for rise, level in pairs))

    def _levels(self, spacing: float, count: int) -> list[int]:
        """Return how often the frequencies of each step are halved."""
        level = max(floor(log2(count / _FEWEST)), 0)
        levels = []
        # The functions above a step are those that are interpolated.
        for rise in self._rises[:-1]:
            width = _REACH * rise.deviation * spacing
            while level and width * 2.0**level > _APART:
                level -= 1
            levels.append(level)
        return [*levels, 0]


def _rise(
    table: Table,
    share: Floats,
    needs: tuple[Floats, Floats],
    slope: float,
    gain: tuple[Floats, Floats],
) -> tuple[_Rise, Floats, Floats]:
    """Return the terms of a step, and mean and variance of the gain by row above it.

    `needs` are the tilted chances of the rows above and below the step, `gain` is the mean and the
    variance of the gain below it.
    """
    before, after = needs
    chance = share * after[:, None]
    below, place = np.nonzero(chance > _NEGLIGIBLE)
    above = table.column[below, place]
    # Terms of one row above are told apart, so that the first ones of neighbours are in one run.
    order = np.argsort(above, kind="stable")
    number = np.arange(above.size) - np.searchsorted(above[order], above[order])
    order = order[np.argsort(number, kind="stable")]
    above, below, place = above[order], below[order], place[order]
    chance = chance[below, place]
    chance /= _added(above, chance, before.size)[above]
    drift = table.growth[below, place]
    own = None if table.variance is None else table.variance[below, place]
    if own is not None:
        drift = drift + slope * own
    mean = _added(above, chance * (drift + gain[0][below]), before.size)
    drift = drift + gain[0][below] - mean[above]
    scatter = drift**2 + gain[1][below] + (0.0 if own is None else own)
    variance = _added(above, chance * scatter, before.size)
    # A walk that leads nowhere has no row that counts.
    deviation = float(np.sqrt(variance[before > _COUNTS].max(initial=0.0)))
    breaks = np.flatnonzero(np.diff(above, prepend=-2) != 1).tolist()
    runs = list(pairwise([*breaks, above.size]))
    return _Rise(before.size, above, below, runs, chance, drift, own, deviation), mean, variance


def _added(rows: Integers, values: Floats, count: int) -> Floats:
    """Add up values by row."""
    return np.asarray(np.bincount(rows, values, count), dtype=np.float64)


def _spans(count: int, most: int, *, is_from_zero: bool) -> list[tuple[int, int]]:
    """Return the first place of the frequencies, and their end, for 0, 1, ... halvings."""
    first, end = 0, count
    spans = []
    for level in range(most + 1):
        if level:
            first = 0 if is_from_zero else first // 2 - _BESIDE + 1
            end = -(-(end - 1) // 2) + _BESIDE
        end += -(end - first) % _POWERS
        spans.append((first, end))
    return spans


def _between(wave: Singles, begin: int, span: tuple[int, int]) -> Singles:
    """Return functions at twice as many frequencies, from those that begin at a place."""
    inner = wave.shape[1] - 2 * _BESIDE + 1
    finer = np.empty((wave.shape[0], 2 * inner + 1), dtype=np.complex64)
    finer[:, ::2] = wave[:, _BESIDE - 1 : _BESIDE + inner]
    middle = np.zeros((wave.shape[0], inner), dtype=np.complex64)
    for away, weight in enumerate(_weights().tolist()):
        left, right = _BESIDE - 1 - away, _BESIDE + away
        middle += weight * (wave[:, left : left + inner] + wave[:, right : right + inner])
    finer[:, 1::2] = middle
    first = span[0] - 2 * (begin + _BESIDE - 1)
    return finer[:, first : first + span[1] - span[0]]


@cache
def _weights() -> Floats:
    """Return the weights of the frequencies beside one that is half-way between two of them.

    The function exp(iwy) is to be 1 at w = 0 if it is interpolated from w = 1/2, 3/2, ... on both
    sides, for all y up to a bound.
    """
    y = _APART * np.cos(np.linspace(0, np.pi / 2, 50 * _BESIDE))
    waves = 2 * np.cos(np.multiply.outer(y, np.arange(_BESIDE) + 0.5))
    return np.asarray(np.linalg.lstsq(waves, np.ones(y.size), rcond=None)[0], dtype=np.float64)


def _risen(rise: _Rise, wave: Singles, frequencies: Floats) -> Singles:
    """Take a step up; return the functions above it, a row each."""
    result = np.zeros((rise.size, frequencies.size), dtype=np.complex64)
    at_once = max(_AT_ONCE // max(rise.share.size, 1) // _POWERS, 1) * _POWERS
    for begin in range(0, frequencies.size, at_once):
        part = slice(begin, begin + at_once)
        terms = turned(rise.share, rise.drift, frequencies[part])
        if rise.variance is not None:
            terms *= damped(rise.variance, frequencies[part])
        terms *= wave[rise.below, part]
        for first, end in rise.runs:
            row = rise.above[first]
            result[row : row + end - first, part] += terms[first:end]
    return result


def damped(variance: Floats, frequencies: Floats) -> NDArray[np.float32]:
    """Return exp(-variance frequency^2 / 2), a row per variance and a column per frequency."""
    largest = float(np.abs(frequencies).max(initial=0.0)) or 1.0
    half = np.maximum(-0.5 * variance * largest**2, -_DAMPED).astype(np.float32)
    square = ((frequencies / largest) ** 2).astype(np.float32)
    exponent = np.multiply.outer(half, square)
    return np.asarray(np.exp(exponent, out=exponent))


def turned(share: Floats, drift: Floats, frequencies: Floats) -> Singles:
    """Return share * exp(i drift frequency), with a row per share and a column per frequency.

    Frequencies are equally spaced, and a multiple of 8 in number, or none.
    """
    if not frequencies.size:
        return np.empty((drift.size, 0), dtype=np.complex64)
    spacing = frequencies[1] - frequencies[0]
    turns = [frequencies[0], spacing, _POWERS * spacing]
    first, once, leap = _circled(np.multiply.outer(turns, drift))
    fine = _products(first * share, once, _POWERS)
    coarse = _products(np.ones_like(leap), leap, frequencies.size // _POWERS)
    each, every = coarse.T.astype(np.complex64), fine.T.astype(np.complex64)
    # No other way to multiply each of some by each of others is as quick for so few.
    result = np.matmul(each[:, :, None], every[:, None, :])
    return np.asarray(result.reshape(drift.size, frequencies.size))


def _circled(angle: Floats) -> Complexes:
    """Return exp(i angle)."""
    result = np.empty(angle.shape, dtype=np.complex128)
    np.cos(angle, out=result.real)
    np.sin(angle, out=result.imag)
    return result


def _products(first: Complexes, factor: Complexes, count: int) -> Complexes:
    """Return so many rows: the first one, and each of the others that before it times a factor."""
    result = np.empty((count, first.size), dtype=np.complex128)
    result[0] = first
    for number in range(1, count):
        np.multiply(result[number - 1], factor, out=result[number])
    return result
