"""Scores as sortable integers: the keys by which rows are ranked and ties are found."""

from math import ceil
from typing import cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prframe.errors import PrframeError

# This is the key of the score -inf, which stands for items that are not retrieved.
UNRETRIEVED = int(np.float64(-np.inf).view(np.int64)) ^ 0x7FFF_FFFF_FFFF_FFFF
_LARGEST_KEY = 2**63 - 2


def sortable_keys(score: pl.Series, *, float32: bool) -> pl.Series:
    """Return Int64 keys in the order of the scores; equal scores share a key, as -0.0 and 0.0 do.

    Integers make the search for the end of a tie block exact, which is a search for key + 1.
    """
    if score.dtype.is_integer() and not float32:
        _refuse_large(score)
        # The way through NumPy removes a sorted flag that may not be true.
        return pl.Series(score.cast(pl.Int64).fill_null(UNRETRIEVED).to_numpy())
    numbers = score.cast(pl.Float64)
    # In the array nulls are NaNs.
    values = numbers.to_numpy() + 0.0
    values[np.isnan(values)] = -np.inf
    bits = (rounded(pl.Series(values)) if float32 else values).view(np.int64)
    if bits.min(initial=0) < 0:
        # The bits of floats below 0 sort the wrong way round as integers, so that all but the sign
        # are flipped.
        flip = bits >> 63
        flip &= 0x7FFF_FFFF_FFFF_FFFF
        bits ^= flip
    return pl.Series(bits)


def threshold_key(threshold: float, score: pl.DataType, *, float32: bool) -> int:
    """Return the least key that a score of this dtype has if it reaches the threshold.

    Scores of 32 bits are compared with the threshold in 32 bits, as polars and NumPy do, so that
    a score of 0.7 reaches 0.7.
    """
    if score.is_integer() and not float32:
        return min(max(ceil(threshold), UNRETRIEVED + 1), _LARGEST_KEY + 1)
    single = float32 or score == pl.Float32
    return int(sortable_keys(pl.Series([threshold], dtype=pl.Float64), float32=single).item())


def rounded(numbers: pl.Series) -> NDArray[np.float64]:
    """Round to 32-bit floats; a finite score does not become -inf, so that it stays retrieved."""
    values = numbers.to_numpy()
    least = float(np.finfo(np.float32).min)
    with np.errstate(over="ignore"):
        rounded = np.where(values > -np.inf, np.maximum(values, least), values).astype(np.float32)
    return rounded.astype(np.float64) + 0.0


def _refuse_large(score: pl.Series) -> None:
    """Require integers that have a key, and a key above them."""
    low, high = (cast("int | None", end) for end in (score.min(), score.max()))
    if low is None or high is None or (low > UNRETRIEVED and high <= _LARGEST_KEY):
        return
    raise PrframeError(
        f"integer scores must lie between {UNRETRIEVED + 1} and {_LARGEST_KEY}; "
        f"got {low} to {high}; scale them or cast them to a float."
    )
