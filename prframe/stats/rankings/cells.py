"""A ranking cut into cells of items that no metric here can tell apart.

From the best to the worst, each tie block that holds positives is one cell, with the negatives
tied in it, and so is each run of negatives between such blocks. The last cell, which may be empty,
holds the items that were not retrieved. There are at most ``2 n_pos + 2`` cells. Items drawn with
replacement fall into the same cells, in the same order. A resample is therefore a draw of new
counts, and nothing is sorted again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prframe.errors import PrframeError
from prframe.stats._arrays import counts, known, positive_labels
from prframe.typing import Floats, Integers

Numbers = NDArray[Any]


@dataclass(frozen=True, eq=False)
class RankedCells:
    """Positives and negatives in each cell of a ranking, best first.

    See `cells_from_scores`, which makes them from items.

    Attributes
    ----------
    pos, neg : ndarray of int, shape (n_cells,)
        Counts. The last cell, which may be empty, holds what was not retrieved.

    Raises
    ------
    PrframeError
        Counts that are negative or not whole, or arrays that are not of one length >= 1.

    Examples
    --------
    A ranking +--+-, and one more positive that is not retrieved:

    >>> cells = RankedCells(pos=[1, 0, 1, 0, 1], neg=[0, 2, 0, 1, 0])
    >>> cells.n, cells.n_pos
    (6, 3)
    """

    pos: Integers
    neg: Integers

    def __post_init__(self) -> None:
        for name in ("pos", "neg"):
            whole = counts(name, getattr(self, name), at_least=0).astype(np.int64)
            object.__setattr__(self, name, whole)
        if self.pos.shape != self.neg.shape or self.pos.ndim != 1 or not self.pos.size:
            raise PrframeError(
                "`pos` and `neg` must be counts of the same cells, at least one; got shapes "
                f"{self.pos.shape} and {self.neg.shape}."
            )

    @cached_property
    def n_pos(self) -> int:
        """The number of all positives."""
        return int(self.pos.sum())

    @cached_property
    def n_neg(self) -> int:
        """The number of all negatives."""
        return int(self.neg.sum())

    @cached_property
    def n(self) -> int:
        """The number of all items."""
        return self.n_pos + self.n_neg

    @cached_property
    def n_pure(self) -> int:
        """The number of retrieved positives above all negatives."""
        mixed = np.append(np.flatnonzero(self.neg[:-1]), self.neg.size - 1)
        return int(self.pos[: mixed[0]].sum())


def cells_from_hits(  # noqa: PLR0913
    tp_start: ArrayLike,
    tp_end: ArrayLike,
    fp_start: ArrayLike,
    fp_end: ArrayLike,
    *,
    n: int,
    n_pos: int,
    n_neg: int,
) -> RankedCells:
    """Return the cells of a ranking that is given by its retrieved positives, in order of rank.

    `tp_start` and `fp_start` count the positives and negatives above the tie block of each,
    `tp_end` and `fp_end` those up to its end. `n` items are retrieved, of `n_pos` and `n_neg` in
    all.
    """
    columns = np.array([tp_start, tp_end, fp_start, fp_end], dtype=np.int64)
    n_hits = columns.shape[1]
    missed = n_pos - n_hits, n_neg - (n - n_hits)
    first = np.flatnonzero(np.diff(columns[1] + columns[3], prepend=-1))
    above, tp, negatives_above, fp = columns[:, first]
    # Runs of negatives and blocks with hits alternate; the last run is behind all hits.
    pos = np.zeros(2 * first.size + 1, dtype=np.int64)
    neg = np.zeros_like(pos)
    pos[1::2] = tp - above
    neg[1::2] = fp - negatives_above
    neg[::2] = np.append(negatives_above, n - n_hits) - np.insert(fp, 0, 0)
    occupied = pos + neg > 0
    return RankedCells(np.append(pos[occupied], missed[0]), np.append(neg[occupied], missed[1]))


def cells_from_scores(score: ArrayLike, label: ArrayLike) -> tuple[RankedCells, Integers]:
    """Group the items of a ranking into cells, and return the cells and the cell of each item.

    Parameters
    ----------
    score : array_like of float, shape (n,)
        Higher ranks first; -inf is not retrieved. No NaN.
    label : array_like of bool or number, shape (n,)
        True, or above 0, for positives.

    Returns
    -------
    cells : RankedCells
    cell : ndarray of int, shape (n,)
        Index of each item's cell.

    Raises
    ------
    PrframeError
        Lengths that differ, or a score that is NaN.

    Examples
    --------
    >>> cells, cell = cells_from_scores([0.9, 0.5, 0.4, 0.5], [False, True, False, False])
    >>> cells.pos, cells.neg
    (array([0, 1, 0, 0]), array([1, 1, 1, 0]))
    >>> cell
    array([0, 1, 2, 1])
    """
    scores, labels = known("score", score), positive_labels(label)
    if scores.shape != labels.shape or scores.ndim != 1:
        raise PrframeError(
            f"`score` and `label` must be of one length; got shapes {scores.shape} "
            f"and {labels.shape}."
        )
    levels, level = np.unique(-scores, return_inverse=True)
    has_pos = np.bincount(level, labels, minlength=levels.size) > 0
    opens = has_pos | np.insert(has_pos[:-1], 0, values=True)
    retrieved = levels < np.inf
    of_level = np.cumsum(opens & retrieved) - 1
    last = int(of_level.max(initial=-1)) + 1
    cell = np.where(retrieved, of_level, last)[level]
    pos = np.bincount(cell[labels], minlength=last + 1)
    neg = np.bincount(cell[~labels], minlength=last + 1)
    return RankedCells(pos, neg), cell


def least_precision(
    cells: RankedCells, recall: Floats, tail: float, prior: float | None = None, each: float = 1.0
) -> Floats:
    """Return precision at levels below which, but for a tail, the population has no negative.

    All negatives are above such a level, so that precision is ``p b / (p b + 1 - p)`` at recall b,
    and nowhere is it less. Infinite at other levels (`pure_bottom`). An unknown share p of
    positives has the value below which it is with the probability of the tail; an item counts as
    `each` of an independent one.
    """
    if prior is None:
        from scipy.special import betaincinv  # noqa: PLC0415

        prior = float(betaincinv(each * cells.n_pos + 0.5, each * cells.n_neg + 0.5, tail))
    found = prior * recall
    is_pure = pure_bottom(cells, recall, each) >= tail
    return np.where(is_pure, found / (found + 1 - prior), np.inf)


def pure_top(cells: RankedCells, recall: Floats, each: float = 1.0) -> Floats:
    """Return how probable it is that no negative of the population stands above each level.

    That is ``P(Beta(j + 1, n_pos - j) >= recall)`` for j positives before the first negative of
    the sample and what is tied with it; 0 if j = 0. `each` is the weight of a positive.
    """
    return _pure(cells.pos, cells.neg, recall, each)


def pure_bottom(cells: RankedCells, recall: Floats, each: float = 1.0) -> Floats:
    """Return how probable it is that no negative of the population stands below each level.

    It is ``P(Beta(j + 1, n_pos - j) >= 1 - recall)`` for j positives after the last negative; 0 if
    there are none, or positives that are not retrieved.
    """
    pos, neg = cells.pos[::-1], cells.neg[::-1]
    if pos[0] or not pos[: np.argmax(neg > 0)].any():
        return np.zeros(recall.shape)
    return _pure(pos, neg, 1 - recall, each)


def _pure(pos: Integers, neg: Integers, shares: Floats, each: float) -> Floats:
    """Return how probable it is that no negative is among the first shares of the positives."""
    first, n_pos = int(np.argmax(neg > 0)) if neg.any() else neg.size, int(pos.sum())
    before = int(pos[:first].sum())
    if before == n_pos:
        return np.ones(shares.shape)
    if pos[first] and not before:
        return np.zeros(shares.shape)
    return _beyond(each * before + 1, each * (n_pos - before), shares.tobytes())


@lru_cache(maxsize=256)
def _beyond(a: float, b: float, shares: bytes) -> Floats:
    """Return the chances of a beta variate above shares, which groups have in common."""
    # SciPy is imported here, as metrics of sets are evaluated without it.
    from scipy.special import betaincc  # noqa: PLC0415

    return np.asarray(betaincc(a, b, np.frombuffer(shares)))


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


def local_precision(pos: Numbers, neg: Numbers, k: int, depth: float) -> float:
    """Return the precision among the ranks within ceil(k^(4/5) / 2) of k."""
    reach = np.ceil(k**0.8 / 2)
    tp, rank = (np.insert(counts, 0, 0.0) for counts in running(pos, neg))
    ends = np.clip([k - reach, k + reach], 0.0, depth)
    return float(np.diff(np.interp(ends, rank, tp))[0] / np.diff(ends)[0])
