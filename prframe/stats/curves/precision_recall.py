"""The precision-recall curve as a function of recall, empirical or smoothed.

The source is Clemencon & Vayatis, *Nonparametric estimation of the precision-recall curve*, ICML
2009. With G and H the distributions of the scores of positives and negatives and p the share of
positives, ``PR(b) = p b / (p b + (1 - p) alpha(b))``, where ``alpha(b) = 1 - H(G^-1(1 - b))`` is
the false positive rate at recall b. (The paper prints G for its inverse in eq. (3).)
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prframe.stats._tolerances import EQUAL
from prframe.stats.curves.kernels import ClassKernel, class_kernels
from prframe.stats.rankings import (
    ClassScores,
    positives_at,
    recall_levels,
    two_classes,
    weight_of_negatives,
)
from prframe.typing import Bandwidth, Floats, KernelName

Counts: TypeAlias = NDArray[np.float64] | NDArray[np.intp]


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
        Scores of the items of either class, in any order. Items with -inf are not retrieved, and
        the levels of recall that the others do not reach are beyond them.
    recall : array_like of float in (0, 1]
        Levels.
    bandwidth : {"scott", "silverman", "robust", "undersmoothed"} or float > 0, optional
        Standard deviation of the kernel, or a pair of such for positives and negatives.
        With ``s`` the standard deviation of the n finite scores of a class: ``s n^(-1/5)``;
        ``s (3n/4)^(-1/5)``; ``0.9 min(s, IQR / 1.349) n^(-1/5)``; ``s n^(-1/3)``. Without it the
        curve is not smoothed.
    kernel : {"gaussian", "box"}
        Its shape: the density of a normal distribution, or that of a uniform one, which reaches
        ``sqrt(3)`` bandwidths to either side.
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
    interpolation of Davis & Goadrich 2006. A constant scorer has precision n_pos/n throughout.
    At the last positive of a block, precision is that of the curve. At recall ``j / n_pos`` the
    threshold is the j-th positive, whereas the generalised inverse of the paper, taken literally,
    is the positive after it; at all other levels both agree.

    A class whose scores are all equal takes the standard deviation of the scores of both classes.
    Apart from sorting, the cost grows with the number of levels times log n, or times 2,000 with
    smoothing.

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
    positive_scores, negative_scores = two_classes(positives, negatives, n_pos, n_neg)
    if bandwidth is None:
        return empirical_precision(positive_scores, negative_scores, levels)
    first, second = class_kernels(positive_scores, negative_scores, bandwidth, kernel)
    false = negative_scores.total * smoothed_fpr(first, second, levels)
    return precision(levels * positive_scores.total, false)


def empirical_precision(positives: ClassScores, negatives: ClassScores, recall: Floats) -> Floats:
    """Return the empirical precision of eq. (3) at the levels."""
    hits = positives_at(recall, positives.total)
    return precision(hits, false_positives(positives, negatives, hits))


def precision(hits: Floats, false: Floats) -> Floats:
    """Return ``found / (found + false)``; 0 at levels that are never reached, with false = inf."""
    return np.asarray(hits / (hits + false))


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


def false_positives(positives: ClassScores, negatives: ClassScores, hits: Floats) -> Floats:
    """Return the negatives above numbers of positives, in proportion within ties.

    The result is infinite for numbers of positives that are not retrieved.
    """
    reached = hits <= positives.ascending.size
    if not positives.ascending.size:
        return np.full(hits.shape, np.inf)
    rank = np.where(reached, np.ceil(hits), 1).astype(np.intp)
    threshold = positives.ascending[positives.ascending.size - rank]
    tp, fp = ((side.above(threshold), side.at_least(threshold)) for side in (positives, negatives))
    return np.where(reached, in_proportion(hits, tp, fp), np.inf)


def in_proportion(hits: Floats, tp: tuple[Counts, Counts], fp: tuple[Counts, Counts]) -> Floats:
    """Return the negatives passed on the way to so many positives within tie blocks.

    `tp` and `fp` are the positives and the negatives above each block, and up to its end.
    """
    share = (hits - tp[0]) / (tp[1] - tp[0])
    return np.asarray(fp[0] + share * (fp[1] - fp[0]))


def smoothed_fpr(positives: ClassKernel, negatives: ClassKernel, recall: Floats) -> Floats:
    """Return the smoothed false positive rate at the levels; inf where recall is not reached."""
    rate = negatives.sf(positives.isf(recall))
    return np.where(recall <= positives.retrieved * (1 + EQUAL), rate, np.inf)
