"""A confidence interval for the threshold at which F1 is largest, by tests of all thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, nan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc

from prframe import checks
from prframe.stats.intervals.ends import Confidence
from prframe.stats.intervals.means import IntervalEstimate
from prframe.stats.rankings import RankedCells, weight_of_negatives
from prframe.typing import Floats, Integers

if TYPE_CHECKING:
    from scipy.sparse import csr_array

METHOD = "inverted-test"


def best_threshold_interval(
    cells: RankedCells,
    scores: tuple[ArrayLike, ArrayLike],
    confidence: Confidence | None = None,
    *,
    prior: float | None = None,
    clusters: csr_array | None = None,
) -> IntervalEstimate:
    """Return the thresholds whose F1 is not significantly less than the largest one of the sample.

    `scores` are those of positives and of negatives in any order, -inf if not retrieved; `prior`
    is the share of positives if it is not that of the sample. The estimate is the highest score at
    which F1 is largest, without a standard error. The lower end is -inf where retrieving all items
    is not excluded. All numbers are NaN if no positive is retrieved, and the ends if one is or
    there is one cluster.

    Let f be half of the largest F1. A threshold is as good as the best one if a share f of the m
    items between them is positive. Of a positives, ``Z = a - f m`` then has mean 0 and as variance
    the sum of squares over items, or clusters, of ``z + q m / K``: K is the number of positives
    and of items above the best threshold; z is ``1 - f`` of positives and ``-f`` of negatives
    between the two; q is ``2 f - 1`` and f of positives and negatives above the best one, f of
    positives below it. The binomial test of a in m with the share f takes both numbers divided by
    the ratio of that variance to ``m f (1 - f)``. It rejects at one less the level, as a threshold
    can be worse in one direction alone.
    """
    checks.instance("cells", cells, RankedCells)
    confidence = Confidence.of(confidence)
    ends = _Ends.of(cells, scores, prior)
    if not ends.best:
        return IntervalEstimate(nan, nan, nan, nan, METHOD)
    estimate = ends.score(ends.best)
    if ends.tp[-1] == 1 or (clusters is not None and clusters.shape[0] == 1):
        return IntervalEstimate(estimate, nan, nan, nan, METHOD)
    between = ends.between()
    ratio = between.ratio(cells, ends, clusters)
    kept = np.flatnonzero(between.p_values(ratio) >= 1 - confidence.level)
    # F1 of no item is 0.
    first, last = int(kept[kept > 0][0]), int(kept[-1])
    further = _negatives_further(between, ratio, last, ends.run_after(last), confidence)
    low, high = confidence.ends(ends.alike_down_to(last, further), ends.score(first))
    return IntervalEstimate(estimate, nan, low, high, METHOD)


def _negatives_further(
    between: _Between, ratio: Floats, last: int, run: int, confidence: Confidence
) -> int:
    """Return how many negatives below the last end that is kept may be retrieved as well."""
    n_neg = between.neg[last] + np.arange(1, run + 1)
    pos, below = np.full(run, between.pos[last]), np.zeros(run, dtype=bool)
    more = between._replace(pos=pos, neg=n_neg, is_above=below)
    p_values = more.p_values(np.full(run, ratio[last]))
    return int(np.count_nonzero(p_values >= 1 - confidence.level))


@dataclass(frozen=True, eq=False)
class _Ends:
    """The numbers of items that are retrieved up to the end of each cell, or of no cell.

    `tp` and `fp` begin with 0; `best` is where F1 is largest, `f` half of it and `divisor` its
    divisor there. `weight` is how often a negative counts; scores `pos` and `neg` fall.
    """

    tp: Integers
    fp: Integers
    best: int
    f: float
    divisor: float
    weight: float
    pos: Floats
    neg: Floats

    @classmethod
    def of(
        cls, cells: RankedCells, scores: tuple[ArrayLike, ArrayLike], prior: float | None
    ) -> _Ends:
        """Count, and find the best end."""
        pos, neg = (-np.sort(-np.asarray(some, dtype=np.float64)) for some in scores)
        tp, fp = (np.insert(np.cumsum(counts[:-1]), 0, 0) for counts in (cells.pos, cells.neg))
        n_pos, n_neg = cells.n_pos, cells.n_neg
        weight = 1.0 if prior is None else float(weight_of_negatives(n_pos, n_neg, prior))
        divisors = np.maximum(tp + weight * fp + n_pos, 1)
        halves = tp / divisors
        best = int(np.argmax(halves))
        return cls(tp, fp, best, halves[best], divisors[best], weight, pos, neg)

    def score(self, end: int) -> float:
        """Return the least score up to an end."""
        tp, fp = self.tp[end], self.fp[end]
        return float(min(self.pos[tp - 1] if tp else inf, self.neg[fp - 1] if fp else inf))

    def run_after(self, end: int) -> int:
        """Return how many negatives follow an end before the next positive."""
        if end + 1 == self.tp.size or self.tp[end + 1] > self.tp[end]:
            return 0
        return int(self.fp[end + 1] - self.fp[end])

    def alike_down_to(self, end: int, further: int) -> float:
        """Return above which score thresholds retrieve `further` more negatives than an end.

        It is the next lower score, or -inf after all retrieved items. Equal scores are a value of
        their own: the threshold is not below it.
        """
        tp, fp = self.tp[end], self.fp[end] + further
        if tp == self.tp[-1] and fp == self.fp[-1]:
            return -inf
        least = float(self.neg[fp - 1]) if further else self.score(end)
        alike = sum(int(np.count_nonzero(some == least)) for some in (self.pos, self.neg))
        following = max(
            some[number] if number < some.size else -inf
            for some, number in ((self.pos, tp), (self.neg, fp))
        )
        return least if alike > 1 else float(following)

    def between(self) -> _Between:
        """Return what is between the best end and each end."""
        pos, neg = np.abs(self.tp - self.tp[self.best]), np.abs(self.fp - self.fp[self.best])
        is_above = np.arange(self.tp.size) < self.best
        return _Between(pos, neg, is_above, self.f, self.weight)


class _Between(NamedTuple):
    """The numbers of items between the best end and others, and whether these are above it.

    With a share f of positives, negatives counting `weight` times, both ends are as good.
    """

    pos: Integers
    neg: Integers
    is_above: np.ndarray
    f: float
    weight: float

    @property
    def share(self) -> float:
        """The share of positives among items with which both ends are as good."""
        return self.weight * self.f / (1 - self.f + self.weight * self.f)

    @property
    def variance(self) -> Floats:
        """That of Z if nothing but the share of positives between the ends varies."""
        number = (self.pos + self.neg).astype(np.float64)
        return number * self.weight * self.f * (1 - self.f)

    def p_values(self, ratio: Floats) -> Floats:
        """Return how likely at most, or above at least, so many positives are with that share."""
        pos, neg = self.pos / ratio, self.neg / ratio
        with np.errstate(invalid="ignore"):
            at_most = 1 - betainc(pos + 1, neg, self.share)
            at_least = betainc(pos, neg + 1, self.share)
        at_most, at_least = np.where(neg > 0, at_most, 1.0), np.where(pos > 0, at_least, 1.0)
        return np.where(self.is_above, at_least, at_most).astype(np.float64)

    def ratio(self, cells: RankedCells, ends: _Ends, clusters: csr_array | None) -> Floats:
        """Return the variance of Z, divided by the one of the items between the ends, if more."""
        if clusters is None:
            variance = self._variance_of_items(cells, ends)
        else:
            variance = _variance_of_clusters(self, ends, clusters)
        # There is nothing between the best end and itself.
        ratio = variance / np.where(self.variance > 0, self.variance, inf)
        return np.asarray(np.maximum(ratio, 1.0), dtype=np.float64)

    def _variance_of_items(self, cells: RankedCells, ends: _Ends) -> Floats:
        """Return the sum of squares over items, as many of which are positive as is expected."""
        f, weight, n = self.f, self.weight, self.pos + self.neg
        pos, neg = n * self.share, n * (1 - self.share)
        tp, fp = ends.tp[ends.best], ends.fp[ends.best]
        others = (2 * f - 1) ** 2 * tp + (f * weight) ** 2 * fp + f**2 * (cells.n_pos - tp)
        above = (2 * f - 1) * (1 - f) * pos - (f * weight) ** 2 * neg
        both = np.where(self.is_above, above, f * (1 - f) * pos)
        part = (pos + weight * neg) / ends.divisor
        return np.asarray(part**2 * others + 2 * part * both + self.variance)


def _variance_of_clusters(between: _Between, ends: _Ends, clusters: csr_array) -> Floats:
    """Return the sum of squares over clusters, times c / (c - 1) for c clusters."""
    f, weight, best = between.f, between.weight, ends.best
    n_clusters, n_cells = clusters.shape[0], clusters.shape[1] // 2
    counts = clusters.tocoo()
    cluster, column = counts.row.astype(np.int64), counts.col.astype(np.int64)
    cell, is_positive = column % n_cells, column < n_cells
    number = np.where(is_positive, 1.0, weight) * counts.data
    above = (cell < best).astype(np.float64)
    of_items = np.where(is_positive, f + above * (f - 1), above * f) * number
    q = np.bincount(cluster, weights=of_items, minlength=n_clusters).astype(np.float64)
    z = np.where(is_positive, 1 - f, -f) * number
    squares, both = np.zeros((2, n_cells))
    # The last cell was not retrieved.
    lower, upper = np.flatnonzero((cell >= best) & (cell < n_cells - 1)), np.flatnonzero(above)
    for here, places, step in (
        (lower, slice(best + 1, None), cell - best),
        (upper, slice(best - 1, None, -1), best - 1 - cell),
    ):
        if here.size:
            squares[places], both[places] = _running_squares(
                cluster[here], step[here], z[here], q, n_steps=squares[places].size
            )
    part = (between.pos + weight * between.neg) / ends.divisor
    variance = part**2 * (q @ q) + 2 * part * both + squares
    return np.asarray(variance * n_clusters / (n_clusters - 1))


def _running_squares(
    cluster: Integers, step: Integers, z: Floats, q: Floats, *, n_steps: int
) -> tuple[Floats, Floats]:
    """Return the sums over clusters of z squared and of z times q, up to each step."""
    order = np.lexsort((step, cluster))
    cluster, step, added = cluster[order], step[order], z[order]
    total = np.cumsum(added)
    first = np.flatnonzero(np.diff(cluster, prepend=-1))
    of_others = np.repeat((total - added)[first], np.diff(first, append=cluster.size))
    before = total - added - of_others
    squares, products = (
        np.cumsum(np.bincount(step, weights=terms, minlength=n_steps)).astype(np.float64)
        for terms in (2 * before * added + added**2, q[cluster] * added)
    )
    return squares, products
