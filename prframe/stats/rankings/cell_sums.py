"""Running sums over the cells of a ranking, and quantities computed from them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prframe.typing import Floats

Numbers = NDArray[Any]


def as_arrays(pos: ArrayLike, neg: ArrayLike) -> tuple[Numbers, Numbers]:
    """Return both counts as arrays; integers, which add up faster, stay integers."""
    return np.asarray(pos), np.asarray(neg)


def running(pos: Numbers, neg: Numbers) -> tuple[Numbers, Numbers]:
    """Return the positives and all items up to the end of each cell but the last."""
    tp = np.cumsum(pos[..., :-1], axis=-1)
    return tp, tp + np.cumsum(neg[..., :-1], axis=-1)


def backward(values: Floats) -> Floats:
    """Return the sums from each cell to the last."""
    return np.cumsum(values[::-1])[::-1]


def ratio(top: Numbers | float, bottom: Numbers, empty: float = np.nan) -> Floats:
    """Divide, and return `empty` where the divisor is 0."""
    nothing = bottom == 0
    ratio = top / (bottom + nothing)
    if empty and nothing.any():
        ratio = np.where(nothing, empty, ratio)
    return np.asarray(ratio)


def weight_of_negatives(n_pos: Numbers | float, n_neg: Numbers | float, prior: float) -> Floats:
    """Return how often a negative counts for a given share to be positive; 1 where there is none.

    That is ``n_pos (1 - prior) / (n_neg prior)``.
    """
    odds = (1 - prior) / prior
    return ratio(n_pos * odds, np.asarray(n_neg), 1.0)


def share_above(cut: Numbers | int, above: Numbers, size: Numbers) -> Floats:
    """Return the share of each cell that is among the first `cut` items."""
    return ratio(np.clip(cut - above, 0, size), size, 0.0)


def local_precision(pos: Floats, neg: Floats, k: int, depth: float) -> float:
    """Return the precision among the ranks within ceil(k^(4/5) / 2) of k."""
    reach = np.ceil(k**0.8 / 2)
    tp, rank = (np.insert(counts, 0, 0.0) for counts in running(pos, neg))
    ends = np.clip([k - reach, k + reach], 0.0, depth)
    return float(np.diff(np.interp(ends, rank, tp))[0] / np.diff(ends)[0])
