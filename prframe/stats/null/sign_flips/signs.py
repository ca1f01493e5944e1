"""Fair signs: rows of them, drawn or all of them."""

from collections.abc import Iterator

import numpy as np

from prframe.typing import Floats

# This many signs are made at a time, of 8 bytes each.
_CHUNK = 1 << 20


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
