"""Scores as sortable integers: the keys by which rows are ranked and ties are found."""

from fractions import Fraction
from math import ceil
from typing import cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prframe.errors import PrframeError

# This is the key of the score -inf, which stands for items that are not retrieved.
UNRETRIEVED = int(np.float64(-np.inf).view(np.int64)) ^ 0x7FFF_FFFF_FFFF_FFFF
_LARGEST_KEY = 2**63 - 2
# Decimals of so many digits are ranked by their units, whole numbers of 64 bits.
_DIGITS = 18


def sortable_keys(score: pl.Series, *, float32: bool) -> pl.Series:
    """Return Int64 keys in the order of the scores; equal scores, also -0.0 and 0.0, share one."""
    if score.dtype.is_integer() and not float32:
        _refuse_large(score)
        # The way through NumPy removes a sorted flag that may not be true.
        return pl.Series(score.cast(pl.Int64).fill_null(UNRETRIEVED).to_numpy())
    if _has_units(score.dtype) and not float32:
        return score.to_physical().cast(pl.Int64).fill_null(UNRETRIEVED)
    is_decimal = score.dtype == pl.Decimal and not float32
    numbers = as_floats(score) if is_decimal else score.cast(pl.Float64)
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


def _has_units(score: pl.DataType) -> bool:
    """Return whether scores are decimals of few digits."""
    return isinstance(score, pl.Decimal) and (score.precision or _DIGITS + 1) <= _DIGITS


def threshold_key(threshold: float, score: pl.DataType, *, float32: bool) -> int:
    """Return the least key of a score that reaches the threshold, in the score's precision."""
    if (score.is_integer() or _has_units(score)) and not float32:
        scale = score.scale if isinstance(score, pl.Decimal) else 0
        units: int = ceil(Fraction(repr(threshold)) * 10**scale)
        return min(max(units, UNRETRIEVED + 1), _LARGEST_KEY + 1)
    number = pl.Series([threshold], dtype=pl.Float64)
    if score == pl.Float16:
        least = float(np.finfo(np.float16).min)
        number = number.clip(least).cast(pl.Float16).cast(pl.Float64)
    return int(sortable_keys(number, float32=float32 or score == pl.Float32).item())


def as_floats(score: pl.Series) -> pl.Series:
    """Return scores as 64-bit floats, which must tell them apart as the scores do."""
    numbers = score.cast(pl.Float64)
    again = numbers.cast(score.dtype, strict=False) if score.dtype.is_integer() else score
    is_decimal = score.dtype == pl.Decimal
    if (again != score).any() or (is_decimal and numbers.n_unique() < score.n_unique()):
        raise PrframeError(
            "scores are taken as 64-bit floats, which must hold them exactly; these cannot hold "
            f"integers beyond 2^53 or decimals of so many digits, such as {score.max()!r}. "
            "Subtract a constant from the scores, or rank them first, for example with "
            "rank('dense')."
        )
    return numbers


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
