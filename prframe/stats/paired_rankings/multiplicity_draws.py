"""Draws with replacement as numbers of times that each unit comes up, many at once."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from prframe.stats._batches import batch_sizes, batches
from prframe.typing import Integers

# A Poisson variate with a mean of at most 8 is below this, except in one of 10^34 draws.
_LIMIT = 64
# Independent Poisson variates with this many standard deviations below the number of units in all
# leave some to be drawn one by one, and rarely are too many.
_SHORT = 3.0
_BYTE = 256
# So many variates add up to less than that.
_TOGETHER = _BYTE // _LIMIT
# So many bytes are compared at a time, few enough for the processor's cache.
_AT_ONCE = 1 << 18


def drawn_multiplicities(
    sizes: Integers, n_resamples: int, at_once: int, rng: np.random.Generator
) -> Iterator[NDArray[np.uint8]]:
    """Draw n of n units with replacement, and count how often those of each pool come up.

    Independent Poisson variates are multinomial, given their sum. What is lacking in that sum is
    drawn one by one, and what is too much is taken away at random.

    Parameters
    ----------
    sizes : ndarray of int, shape (n_pools,)
        How many units each pool has, at most 8; pools of the same size stand together.
    n_resamples : int
    at_once : int
        How many resamples are drawn together; other numbers give other draws.
    rng : numpy.random.Generator

    Yields
    ------
    ndarray of int, shape (n_pools, at most at_once)
    """
    n = int(sizes.sum())
    rate = max(0.0, 1 - _SHORT / np.sqrt(n))
    alike = np.split(sizes, np.flatnonzero(np.diff(sizes)) + 1)
    pool = np.repeat(np.arange(sizes.size), sizes)
    for size in batch_sizes(n_resamples, 1, at_once):
        drawn = np.empty((sizes.size, size), dtype=np.uint8)
        start = 0
        for each in alike:
            rows = slice(start, start := start + each.size)
            _poisson(rate * each[0], drawn[rows].reshape(-1), rng)
        lacking = n - sums_of_columns(drawn)
        for column in np.flatnonzero(lacking < 0):
            times = drawn[:, column].astype(np.int64)
            surplus = rng.multivariate_hypergeometric(times, -int(lacking[column]))
            drawn[:, column] = times - surplus
        resample = np.repeat(np.arange(size), np.maximum(lacking, 0))
        place = pool[rng.integers(0, n, resample.size)] * size + resample
        np.add.at(drawn.reshape(-1), place, np.uint8(1))
        yield drawn


def sums_of_columns(drawn: NDArray[np.uint8]) -> Integers:
    """Return the sums of columns; a few rows are added up in bytes first, which hold them."""
    n, size = drawn.shape
    whole = n // _TOGETHER * _TOGETHER
    few = drawn[:whole].reshape(_TOGETHER, -1)
    bytewise = np.add.reduce(few, axis=0, dtype=np.uint8).reshape(-1, size)
    sums = bytewise.sum(axis=0, dtype=np.uint32) + drawn[whole:].sum(axis=0, dtype=np.uint32)
    return np.asarray(sums, dtype=np.int64)


def _poisson(rate: float, drawn: NDArray[np.uint8], rng: np.random.Generator) -> None:
    """Fill an array with Poisson variates, from random bytes.

    A byte stands for the whole 256ths of each probability. For what is left of 1 another number is
    drawn, among what is left of each probability.
    """
    chance = np.exp(-rate) * np.cumprod(np.append(1.0, rate / np.arange(1, _LIMIT)))
    whole = np.floor(chance * _BYTE)
    ends = np.cumsum(whole)
    # Numbers below the first of these have no byte, and nor have those from the last on.
    least = np.count_nonzero(ends == 0)
    ends = np.unique(ends[least:])
    left = np.cumsum(chance * _BYTE - whole)
    drawn.fill(least)
    for part in batches(drawn.size, 1, _AT_ONCE):
        counts = drawn[part]
        words = rng.integers(0, 1 << 64, -(-counts.size // 8), dtype=np.uint64)
        random = words.astype("<u8", copy=False).view(np.uint8)[: counts.size]
        beyond = np.empty(counts.size, dtype=np.bool_)
        for end in ends[:-1].astype(np.uint8):
            # A flag is read as the byte that it is, since the sum would convert it in pieces.
            counts += np.greater_equal(random, end, out=beyond).view(np.uint8)
        if ends[-1] < _BYTE:
            rest = np.flatnonzero(random >= np.uint8(ends[-1]))
            chosen = rng.random(rest.size) * left[-1]
            counts[rest] = np.searchsorted(left[:-1], chosen, side="right")
