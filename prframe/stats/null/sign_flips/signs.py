"""Fair signs: rows of them, drawn or all of them, their sums, and chances of single sums."""

from collections.abc import Iterator

import numpy as np
from scipy.special import gammaln

from prframe.typing import Floats, Integers

# So many signs are made at a time, of 8 bytes each.
_CHUNK = 1 << 20
# An atom does not matter if it is less than this share of its tail.
NEGLIGIBLE = 1e-4
# No probability but 0 is smaller.
TINY = float(np.finfo(float).tiny)


def random_signs(
    n: int, n_resamples: int, rng: np.random.Generator, at_once: int = _CHUNK
) -> Iterator[Floats]:
    """Yield rows of n fair signs, -1 or 1, as many rows in all as there are resamples.

    The signs do not depend on how many rows come at once.
    """
    # Each row takes whole words, so that rows may be cut anywhere.
    words = (n + 63) // 64
    rows_at_once = max(1, min(at_once, _CHUNK // max(n, 1)))
    for start in range(0, n_resamples, rows_at_once):
        rows = min(rows_at_once, n_resamples - start)
        drawn = rng.integers(0, 1 << 64, size=(rows, words), dtype=np.uint64)
        bits = drawn.astype("<u8").view(np.uint8)
        yield np.unpackbits(bits, axis=1, count=n).astype(np.float64) * 2 - 1


def all_signs(n: int, at_once: int = _CHUNK) -> Iterator[Floats]:
    """Yield all 2^n rows of n signs, each once, a number of rows at a time."""
    rows_at_once = max(1, min(at_once, _CHUNK // max(n, 1)))
    for start in range(0, 1 << n, rows_at_once):
        numbers = np.arange(start, min(start + rows_at_once, 1 << n))
        yield (numbers[:, None] >> np.arange(n) & 1).astype(np.float64) * 2 - 1


def chance_of_signs(numbers: Floats) -> float:
    """Return the probability that numbers of each size have as many plus signs as observed."""
    return float(np.exp(log_chance_of_signs(numbers)))


def log_chance_of_signs(numbers: Floats) -> float:
    """Return the logarithm of this probability, which may be too small for a float."""
    kind = kinds(np.abs(numbers))
    number, above = np.bincount(kind), np.bincount(kind, weights=numbers > 0)
    ways = gammaln(number + 1) - gammaln(above + 1) - gammaln(number - above + 1)
    return float(ways.sum() - numbers.size * np.log(2))


def least_chance(n: int) -> float:
    """Return the probability of the largest sum of n numbers, or the least float if larger."""
    return max(0.5**n, TINY)


def kinds(sizes: Floats) -> Integers:
    """Return a number for each size, the same for equal ones."""
    return np.unique(np.round(sizes / sizes.max(), 12), return_inverse=True)[1]


def all_sums(numbers: Floats) -> Floats:
    """Return the sums of some numbers under all signs, rising."""
    sums = np.zeros(1)
    for number in numbers:
        sums = np.concatenate([sums - number, sums + number])
    return np.sort(sums)
