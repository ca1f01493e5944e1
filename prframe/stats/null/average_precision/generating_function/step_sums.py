"""The sums over the terms of a step, which walks take one after the other."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from prframe.stats._arrays import row_sums
from prframe.stats.null.average_precision.generating_function.step_terms import Table
from prframe.stats.null.average_precision.generating_function.upward_waves import (
    Singles,
    damped,
    turned,
)
from prframe.typing import Floats

# A term whose tilted chance is at most this is left out of characteristic functions.
NEGLIGIBLE = 1e-10
# The number of terms that are added at a time, which bounds the memory.
_AT_ONCE = 1 << 16
# Sums of weights, and variances, are raised to this before they divide.
_LEAST = 1e-300


class State(NamedTuple):
    """The logarithm of C(t, h) V, and the first three cumulants of the tilted T, by row."""

    log_mgf: Floats
    mean: Floats
    variance: Floats
    third: Floats


def summed(table: Table, level: Floats, slopes: Floats) -> Floats:
    """Take a step with all slopes at once; return the logarithms of C(t, h) V by row."""
    rows, terms = table.log_ways.shape
    at_once = max(1, _AT_ONCE // (terms * slopes.shape[1]))
    parts = []
    for begin in range(0, rows, at_once):
        part = slice(begin, begin + at_once)
        slope = slopes[table.lane[part], None, :]
        exponent = table.growth[part, :, None] * slope
        if table.variance is not None and table.slack is not None:
            variance, slack = table.variance[part, :, None], table.slack[part, :, None]
            exponent += _gained(slope, variance, slack)
        exponent += level[table.column[part]] + table.log_ways[part, :, None]
        largest = _finite(exponent.max(axis=1))
        exponent -= largest[:, None]
        with np.errstate(divide="ignore"):
            parts.append(largest + np.log(_term_sums(np.exp(exponent, out=exponent))))
    return np.concatenate(parts)


def _term_sums(values: Floats) -> Floats:
    """Return sums over the terms of rows, by row and slope, that do not depend on their number."""
    return row_sums(values[:, :, 0])[:, None] if values.shape[2] == 1 else values.sum(axis=1)


def tilted(table: Table, slopes: Floats, state: State) -> tuple[State, Floats]:
    """Take a step with a slope for each lane; return the state after it and terms' chances."""
    drift, slope = table.growth, slopes[table.lane][:, None]
    exponent = table.log_ways + slope * drift + state.log_mgf[table.column]
    if table.variance is not None and table.slack is not None:
        drift = drift + _drifted(slope, table.variance, table.slack)
        exponent += _gained(slope, table.variance, table.slack)
    largest = _finite(exponent.max(axis=1))
    weight = np.exp(exponent - largest[:, None])
    total = row_sums(weight)
    with np.errstate(divide="ignore"):
        log_mgf = largest + np.log(total)
    share = weight / np.maximum(total, _LEAST)[:, None]
    grown = drift + state.mean[table.column]
    mean = row_sums(share * grown)
    away, own = grown - mean[:, None], state.variance[table.column]
    if table.variance is not None:
        own += table.variance
    square = away**2
    third = row_sums(share * (away * (square + 3 * own) + state.third[table.column]))
    return State(log_mgf, mean, row_sums(share * (square + own)), third), share


def _gained(slope: Floats, variance: Floats, slack: Floats) -> Floats:
    """Return log E[exp(slope growth)], less slope times the mean, of growth that is near normal.

    Its derivative is `_drifted`. Steep negative slopes leave the normal distribution behind, but
    no growth is below the least.
    """
    gained = np.asarray(0.5 * slope**2 * variance)
    if (slope >= 0).all():
        return gained
    # Where growth hardly varies this overflows, and is not taken.
    with np.errstate(over="ignore"):
        beyond = -slack * (slope + slack / 2 / np.maximum(variance, _LEAST))
    return np.where(slope * variance >= -slack, gained, beyond)


def _drifted(slope: Floats, variance: Floats, slack: Floats) -> Floats:
    """Return by how much the tilted mean of growth differs from the mean."""
    return np.maximum(slope * variance, -slack)


def _finite(largest: Floats) -> Floats:
    """Return the largest exponents, and 0 where no term is possible."""
    return np.where(np.isfinite(largest), largest, 0.0)


def handed(table: Table, share: Floats, need: Floats, rows: int) -> Floats:
    """Return the chances of the rows before a step from those of the rows after it."""
    weight = share * need[:, None]
    return np.bincount(table.column.ravel(), weight.ravel(), minlength=rows).astype(np.float64)


def waved(
    table: Table, share: Floats, slope: float, wave: Singles, frequencies: Floats
) -> Singles:
    """Take a step; return the characteristic functions after it, a row each."""
    row, term = np.nonzero(share > NEGLIGIBLE)
    # Terms of neighbouring rows with the same rise follow each other, so that many are added at a
    # time.
    order = np.argsort(row - table.column[row, term], kind="stable")
    row, term = row[order], term[order]
    drift = table.growth[row, term]
    variance = None if table.variance is None else table.variance[row, term]
    if variance is not None:
        drift = drift + slope * variance
    terms = turned(share[row, term], drift, frequencies)
    if variance is not None:
        terms *= damped(variance, frequencies)
    terms *= wave.take(table.column[row, term], axis=0)
    after = np.zeros((table.hits.size, frequencies.size), dtype=np.complex64)
    begins = np.flatnonzero(np.diff(row, prepend=-2) != 1).tolist()
    for begin, end in pairwise([*begins, row.size]):
        after[row[begin] : row[begin] + end - begin] += terms[begin:end]
    return after
