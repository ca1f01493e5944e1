"""Resampled precision-recall curves at levels of recall, at a cost that does not grow with n.

A smoothed bootstrap sample has n*_+ positives and n*_- negatives. The places of its positives are
given by their false positive rates under the smoothed distributions, ``V = alpha(U)`` with U
uniform. The curve at M levels depends on the U at M ranks alone, whose spacings are gamma
variables divided by their sum. Given these, the numbers of negatives between two thresholds are
binomial. No array of size n is drawn or sorted, and the distribution is that of the full sample.
"""

from dataclasses import dataclass

import numpy as np

from prframe.stats.curves.kernels import ClassKernel
from prframe.stats.curves.precision_recall import precision
from prframe.stats.rankings import ClassScores, positives_at
from prframe.typing import Floats, Integers

# The largest error of a chord of the table, relative to the rate, and in items of either class.
_RELATIVE, _ITEMS = 1e-3, 1e-3
_ROUNDS = 20
_KNOTS = 150


@dataclass(frozen=True)
class SmoothedROC:
    """False positive rate by recall under the smoothed distributions, linear between knots.

    Attributes
    ----------
    recall, fpr : ndarray, non-decreasing
        The knots, from (0, 0) to the shares that are retrieved.
    n_pos, n_neg : int
        The numbers of items of the classes.
    """

    recall: Floats
    fpr: Floats
    n_pos: int
    n_neg: int

    @property
    def n(self) -> int:
        """The number of all items."""
        return self.n_pos + self.n_neg


@dataclass(frozen=True)
class Resamples:
    """Bootstrap samples of n items.

    Attributes
    ----------
    n_pos : ndarray, shape (samples,)
        Positives.
    found : ndarray, shape (samples, levels)
        Positives at the levels of recall, which need not be whole numbers.
    false : ndarray, shape (samples, levels)
        Negatives above these positives; inf where they are not retrieved.
    """

    n_pos: Integers
    found: Floats
    false: Floats

    @property
    def precision(self) -> Floats:
        """The precision, shape (samples, levels)."""
        return precision(self.found, self.false)


def smoothed_roc(
    kernels: tuple[ClassKernel, ClassKernel], positives: ClassScores, negatives: ClassScores
) -> SmoothedROC:
    """Tabulate the smoothed ROC curve, with knots where it bends."""
    t = _first_thresholds(*kernels)
    recall, fpr = (kernel.sf(t) for kernel in kernels)
    few = _ITEMS / positives.total, _ITEMS / negatives.total
    left = np.arange(t.size - 1)
    for _ in range(_ROUNDS):
        if not left.size:
            break
        middle = (t[left] + t[left + 1]) / 2
        between_recall, between_fpr = (kernel.sf(middle) for kernel in kernels)
        width, height = recall[left + 1] - recall[left], fpr[left + 1] - fpr[left]
        part = np.divide(between_recall - recall[left], width, where=width > 0, out=width * 0)
        error = np.abs(fpr[left] + part * height - between_fpr)
        bent = (width > few[0]) & (error > np.maximum(_RELATIVE * between_fpr, few[1]))
        places = left + 1
        t, recall, fpr = (
            np.insert(values, places, new)
            for values, new in ((t, middle), (recall, between_recall), (fpr, between_fpr))
        )
        # Each insertion moves the later pieces by one; both halves of a bent piece are checked.
        moved = (left + np.arange(left.size))[bent]
        left = np.sort(np.concatenate([moved, moved + 1]))
    recall, fpr = (
        np.maximum.accumulate(np.concatenate([[0.0], values, [kernel.retrieved]]))
        for values, kernel in zip((recall, fpr), kernels, strict=True)
    )
    return SmoothedROC(recall, fpr, positives.total, negatives.total)


def _first_thresholds(*kernels: ClassKernel) -> Floats:
    """Return descending thresholds across the scores of both classes."""
    parts = [np.zeros(1)]
    for kernel in kernels:
        if kernel.nodes.size:
            some = np.linspace(0, kernel.nodes.size - 1, _KNOTS).astype(np.intp)
            tail = kernel.bandwidth * np.arange(1, 9)
            parts += [kernel.nodes[some], kernel.nodes[0] - tail, kernel.nodes[-1] + tail]
    return np.unique(np.concatenate(parts))[::-1]


def resample(
    roc: SmoothedROC,
    recall: Floats,
    prevalence: float,
    size: int,
    rng: np.random.Generator,
) -> Resamples:
    """Draw samples whose labels are positive with a given probability; levels in any order."""
    order = np.argsort(recall, kind="stable")
    n_pos = _positives(roc.n, prevalence, size, rng)
    found = positives_at(recall[order, None], n_pos)
    share = _recall_at_ranks(np.ceil(found), n_pos, rng)
    # The transposed order, sample by sample, looks up ascending numbers, which is quicker.
    fpr = np.ascontiguousarray(np.interp(share.T, roc.recall, roc.fpr).T)
    false = _negatives_above(fpr, roc.n - n_pos, rng)
    false[share > roc.recall[-1]] = np.inf
    back = np.argsort(order)
    return Resamples(n_pos, found[back].T, false[back].T)


def _positives(n: int, prevalence: float, size: int, rng: np.random.Generator) -> Integers:
    """Draw the numbers of positives, given that samples have positives and negatives."""
    n_pos = rng.binomial(n, prevalence, size)
    while (wrong := (n_pos == 0) | (n_pos == n)).any():
        n_pos[wrong] = rng.binomial(n, prevalence, wrong.sum())
    return n_pos


def _recall_at_ranks(ranks: Floats, n_pos: Integers, rng: np.random.Generator) -> Floats:
    """Draw the smoothed recall at the positives of these ranks, shape (levels, samples)."""
    reached = np.cumsum(rng.standard_gamma(np.diff(ranks, axis=0, prepend=0.0)), axis=0)
    return np.asarray(reached / (reached[-1] + rng.standard_gamma(n_pos + 1 - ranks[-1])))


def _negatives_above(fpr: Floats, n_neg: Integers, rng: np.random.Generator) -> Floats:
    """Draw the numbers of negatives above thresholds of these rates, shape (levels, samples)."""
    above = np.empty(fpr.shape)
    before, left = np.zeros(n_neg.size), n_neg.copy()
    for level, rate in enumerate(fpr):
        # Of the negatives below the last threshold, this part lies above the next one.
        rest = np.maximum(1 - before, np.finfo(float).tiny)
        left -= rng.binomial(left, np.minimum((rate - before) / rest, 1.0))
        above[level] = n_neg - left
        before = rate
    return above
