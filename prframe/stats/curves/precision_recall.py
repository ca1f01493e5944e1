"""The precision-recall curve as a function of recall, empirical or smoothed, and its levels.

The source is Clemencon & Vayatis, *Nonparametric estimation of the precision-recall curve*, ICML
2009. With G and H the distributions of the scores of positives and negatives and p the share of
positives, ``PR(b) = p b / (p b + (1 - p) alpha(b))``, where ``alpha(b) = 1 - H(G^-1(1 - b))`` is
the false positive rate at recall b. (The paper prints G for its inverse in eq. (3).)
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike

from prframe import checks
from prframe.errors import ArgumentError
from prframe.stats._tolerances import EQUAL
from prframe.stats.curves.kernels import class_kernels
from prframe.stats.rankings import (
    ClassScores,
    RankedCells,
    cells_from_hits,
    positives_at,
    recall_levels,
    two_classes,
    weight_of_negatives,
)
from prframe.typing import Bandwidth, Floats, KernelName

_LEVELS = 181
# More levels than this lie closer than a curve can be read or drawn.
_MOST_LEVELS = 1_000_000
LEVELS_TWICE = "`recall` and `recall_range` both name levels; give one of them."


def pr_curve(  # noqa: PLR0913
    positives: ArrayLike,
    negatives: ArrayLike,
    recall: ArrayLike,
    *,
    bandwidth: Bandwidth | None = None,
    kernel: KernelName = "gaussian",
    n_pos: int | None = None,
    n_neg: int | None = None,
) -> Floats:
    """Return precision at levels of recall.

    It is ``n_pos b / (n_pos b + n_neg alpha(b))`` at level b, where ``alpha(b)`` is the share of
    the negatives above the positive of descending rank ``ceil(n_pos b)``, or the kernel estimate
    of that rate.

    Parameters
    ----------
    positives, negatives : array_like of float, shape (number of the class,)
        Scores of the items of either class, in any order. -inf: not retrieved.
    recall : array_like of float in (0, 1]
        Levels.
    bandwidth : {"scott", "silverman", "robust", "undersmoothed"} or float > 0, optional
        Standard deviation of the kernel, or a pair of such for positives and negatives.
        With ``s`` the standard deviation of the n finite scores of a class: ``s n^(-1/5)``;
        ``s (3n/4)^(-1/5)``; ``0.9 min(s, IQR / 1.349) n^(-1/5)``; ``s n^(-1/3)``. Without it the
        curve is not smoothed.
    kernel : {"gaussian", "box"}
        The density of a normal distribution, or that of a uniform one, which reaches ``sqrt(3)``
        bandwidths to either side.
    n_pos, n_neg : int, optional
        Totals that include items never listed, which count as not retrieved.

    Returns
    -------
    ndarray of float
        Precision, of the shape of `recall`; 0 at levels that the retrieved positives do not reach.

    Raises
    ------
    PrframeError
        No positives, NaN scores, totals below what is listed, or levels out of range.

    Notes
    -----
    Within a block of tied scores, false positives grow in proportion to the positives, as in the
    interpolation of Davis & Goadrich 2006: a constant scorer has precision n_pos/n throughout.
    At recall ``j / n_pos`` the threshold is the j-th positive; in the paper it is the one after.
    A class whose scores are all equal takes the standard deviation of the scores of both classes.

    References
    ----------
    Clemencon & Vayatis 2009, eq. (3) and section 2.3.

    Examples
    --------
    >>> pr_curve([0.9, 0.7, 0.4], [0.8, 0.3], [1 / 3, 2 / 3, 1]).round(4)
    array([1.    , 0.6667, 0.75  ])
    >>> pr_curve([0.9, 0.7, 0.4], [0.8, 0.3], [1 / 3, 2 / 3, 1], bandwidth="scott").round(4)
    array([0.6486, 0.6617, 0.6   ])
    """
    levels = recall_levels(recall)
    classes = two_classes(positives, negatives, n_pos, n_neg)
    if bandwidth is None:
        return empirical_precision(cells_of_classes(*classes), levels)
    first, second = class_kernels(*classes, bandwidth, kernel)
    reached = levels <= first.retrieved * (1 + EQUAL)
    rate = np.where(reached, second.sf(first.isf(levels)), np.inf)
    return precision(levels * classes[0].total, classes[1].total * rate)


def precision(hits: Floats, false: Floats) -> Floats:
    """Return ``hits / (hits + false)``; 0 at levels that are never reached, with false = inf."""
    return np.asarray(hits / (hits + false))


def empirical_precision(cells: RankedCells, recall: Floats) -> Floats:
    """Return the empirical precision of eq. (3) at the levels."""
    return precision(positives_at(recall, cells.n_pos), false_positives(cells, recall))


def false_positives(cells: RankedCells, recall: Floats) -> Floats:
    """Return the negatives above each level, in proportion within ties; inf if not reached."""
    start, end, low, high = hit_blocks(cells)
    hits = positives_at(recall, cells.n_pos)
    if not end.size:
        return np.full(hits.shape, np.inf)
    block = np.searchsorted(end, hits)
    reached = block < end.size
    block = np.where(reached, block, 0)
    share = (hits - start[block]) / (end - start)[block]
    return np.where(reached, low[block] + share * (high - low)[block], np.inf)


def hit_blocks(cells: RankedCells) -> tuple[Floats, Floats, Floats, Floats]:
    """Return positives above and to the end of each block with hits, and such negatives."""
    tp, fp = (np.cumsum(counts[:-1], dtype=np.float64) for counts in (cells.pos, cells.neg))
    with_hits = cells.pos[:-1] > 0
    pos, neg = cells.pos[:-1][with_hits], cells.neg[:-1][with_hits]
    tp, fp = tp[with_hits], fp[with_hits]
    return tp - pos, tp, fp - neg, fp


def cells_of_classes(positives: ClassScores, negatives: ClassScores) -> RankedCells:
    """Return the cells of a ranking that is given by the sorted scores of its classes."""
    threshold, pos = np.unique(-positives.ascending, return_counts=True)
    above, up_to = negatives.above(-threshold), negatives.at_least(-threshold)
    hits = (np.cumsum(pos) - pos, np.cumsum(pos), above, up_to)
    return cells_from_hits(
        *(np.repeat(column, pos) for column in hits),
        n=positives.ascending.size + negatives.ascending.size,
        n_pos=positives.total,
        n_neg=negatives.total,
    )


def precision_at_prior(
    precision: Floats, n_pos: float, n_neg: float, prior: float | None
) -> Floats:
    """Return precision in a population in which a given share is positive, if one is given.

    A negative counts w times there, and ``PR' = PR / (PR + w (1 - PR))``.
    """
    if prior is None:
        return precision
    weight = weight_of_negatives(n_pos, n_neg, prior)
    return np.asarray(precision / (precision + weight * (1 - precision)))


def spaced_levels(recall: object) -> Floats | None:
    """Return evenly spaced levels from 0 to 1 if a whole number of them is given, else None."""
    if not isinstance(recall, Integral) or isinstance(recall, bool):
        return None
    number = int(recall)
    if number < 2:  # noqa: PLR2004 - the two ends
        raise ArgumentError(
            "`recall` as a whole number is that of evenly spaced levels from 0 to 1, at least 2; "
            f"got {number}. A single level is a float, for example 1.0."
        )
    if number > _MOST_LEVELS:
        raise ArgumentError(
            "`recall` as a whole number is that of evenly spaced levels, at most "
            f"{_MOST_LEVELS:,}; got {number:,}. For a row at each threshold leave it out."
        )
    return even_levels(number)


def band_levels(
    recall: float | Sequence[float] | None, recall_range: tuple[float, float] | None
) -> Floats:
    """Return the levels that a caller names, or evenly spaced ones.

    Of a whole number of levels, 0 and 1 are left out: there is no band.
    """
    if recall is not None:
        if recall_range is not None:
            raise ArgumentError(LEVELS_TWICE)
        if (spaced := spaced_levels(recall)) is not None:
            if spaced.size == 2:  # noqa: PLR2004 - the two ends
                raise ArgumentError(
                    "`recall` as a whole number is at least 3 for a band, which has no level at "
                    "0 and 1; got 2."
                )
            return rising_levels(spaced[1:-1])
        return rising_levels([recall] if isinstance(recall, Real) else recall)
    low, high = range_ends((0.05, 0.95) if recall_range is None else recall_range)
    return np.linspace(low, high, _LEVELS)


def range_ends(recall_range: tuple[float, float], *, closed: bool = False) -> tuple[float, float]:
    """Require the first and the last level, both within (0, 1), or [0, 1] if that is closed."""
    if not (isinstance(recall_range, (tuple, list)) and len(recall_range) == 2):  # noqa: PLR2004
        raise ArgumentError(
            "`recall_range` must be the first and the last level; got "
            f"{checks.brief(recall_range)}."
        )
    if closed:
        low, high = (checks.fraction("recall_range", end) for end in recall_range)
    else:
        low, high = (checks.number("recall_range", e, above=0, below=1) for e in recall_range)
    if low >= high:
        raise ArgumentError(f"`recall_range` must rise; got {checks.brief(recall_range)}.")
    return low, high


def even_levels(number: int) -> Floats:
    """Return equally spaced levels from 0 to 1, each as exact as its quotient."""
    return np.arange(number) / (number - 1)


def rising_levels(recall: ArrayLike) -> Floats:
    """Require at least one level of recall, and levels that rise within (0, 1)."""
    levels = recall_levels(recall, below_one=True)
    if levels.ndim != 1 or not levels.size or (np.diff(levels) <= 0).any():
        raise ArgumentError(
            f"`recall` must be a list of rising levels, each once; got {checks.brief(recall)}."
        )
    return levels
