"""The smoothed bootstrap of the precision-recall curve and its confidence band.

The source is Clemencon & Vayatis, *Nonparametric estimation of the precision-recall curve*, ICML
2009. The curve of a sample at M levels depends on the false positive rates ``alpha(U)`` of M
positives alone, with U the order statistics of uniform numbers, whose spacings are gamma variables
over their sum. Given these, the numbers of negatives between two thresholds are binomial.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from prframe import checks
from prframe.draws import INTERVAL_DRAWS
from prframe.errors import ArgumentError, EffectiveSampleSizeWarning, warn
from prframe.stats._arrays import Interval, random_generator
from prframe.stats._tolerances import EQUAL
from prframe.stats.curves.kernels import ClassKernel, class_kernels
from prframe.stats.curves.precision_recall import (
    cells_of_classes,
    empirical_precision,
    precision,
)
from prframe.stats.rankings import both_classes, positives_at, recall_levels
from prframe.typing import Bandwidth, Floats, Integers, KernelName

# The largest error of a chord of the smoothed ROC curve, as a part of the rate, and in items.
_RELATIVE, _ITEMS = 1e-3, 1e-3
_ROUNDS = 20
_KNOTS = 150
# Effective resamples are few if they are fewer than this number, or than this part of all.
_FEW, _FEW_PART = 100, 0.1


@dataclass(frozen=True, eq=False)
class PRBootstrap:
    """The empirical precision-recall curve and its bootstrap replicates.

    Attributes
    ----------
    recall : ndarray, shape (levels,)
        Levels of recall.
    precision : ndarray, shape (levels,)
        The empirical curve there.
    replicates : ndarray, shape (n_resamples, levels)
        The curves of the bootstrap samples.
    weights : ndarray, shape (n_resamples,)
        Importance weights, which add up to 1; uniform without importance sampling.
    prevalence : float
        The probability of a positive with which labels were drawn.
    """

    recall: Floats
    precision: Floats
    replicates: Floats = field(repr=False)
    weights: Floats = field(repr=False)
    prevalence: float

    @property
    def effective_sample_size(self) -> float:
        """The number of unweighted resamples worth as much, ``(sum w)^2 / sum w^2``."""
        # The weights add up to 1, and their squares cannot overflow.
        return float(1 / (self.weights**2).sum())

    def radius(self, confidence_level: float = 0.95) -> float:
        """Return the radius of the ball of curves that holds replicates of this weight.

        It is the least r with ``sum_i w_i 1{max_b |PR*_i(b) - PR(b)| <= r} >= confidence_level``,
        where b runs over the levels of recall; in the paper, ``r(delta) / sqrt(n)``.
        """
        level = checks.number("confidence_level", confidence_level, above=0, below=1)
        farthest = np.abs(self.replicates - self.precision).max(axis=1)
        order = np.argsort(farthest)
        # A level of .95 is reached by 95 of 100 draws, whatever their weights' sum is rounded to.
        reached = np.cumsum(self.weights[order]) >= level - EQUAL
        return float(farthest[order[np.argmax(reached)]])

    def band(self, confidence_level: float = 0.95) -> Interval:
        """Return the ends of the ball around the empirical curve, cut off at 0 and 1.

        This is step 4 of Algorithm 1 of Clemencon & Vayatis 2009.
        """
        radius = self.radius(confidence_level)
        low, high = self.precision - radius, self.precision + radius
        return Interval(np.maximum(low, 0.0), np.minimum(high, 1.0))


def pr_bootstrap(  # noqa: PLR0913
    positives: ArrayLike,
    negatives: ArrayLike,
    recall: ArrayLike,
    *,
    n_resamples: int = INTERVAL_DRAWS,
    bandwidth: Bandwidth = "scott",
    kernel: KernelName = "gaussian",
    importance: float | None = None,
    rng: int | np.random.Generator | None = None,
    n_pos: int | None = None,
    n_neg: int | None = None,
) -> PRBootstrap:
    """Resample the precision-recall curve from the smoothed distributions of the scores.

    Each sample has n items, whose labels are positive with the observed prevalence, and whose
    scores come from kernel estimates of the two distributions. Its curve is not smoothed.

    Parameters
    ----------
    positives, negatives, bandwidth, kernel, n_pos, n_neg
        As in `pr_curve`.
    recall : array_like of float in (0, 1], shape (levels,)
        Levels.
    n_resamples, rng
        Number of bootstrap samples, and a seed or generator.
    importance : float in [1/n, 1 - 1/n], optional
        The prevalence with which labels are drawn, the observed one by default; the samples are
        weighted for it.

    Returns
    -------
    PRBootstrap
        Curve, replicates and weights, and from these the radius and the band.

    Raises
    ------
    PrframeError
        No positives or no negatives, NaN scores, totals below what is listed, or options out of
        range.

    Warns
    -----
    EffectiveSampleSizeWarning
        The weighted samples are worth fewer than 100 unweighted ones, or than a tenth of their
        number.

    Notes
    -----
    Samples without a positive or without a negative are drawn again.

    References
    ----------
    Clemencon & Vayatis 2009, Algorithm 1 and Theorem 2, whose box ``1{-1 <= u <= 1}`` lacks the
    factor 1/2 that makes it a density.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> positives, negatives = rng.normal(1, 1, 100), rng.normal(0, 1, 900)
    >>> curve = pr_bootstrap(positives, negatives, [0.2, 0.5, 0.8], rng=2)
    >>> curve.precision.round(2), round(curve.radius(0.9), 2)
    (array([0.31, 0.31, 0.19]), 0.11)
    """
    levels = recall_levels(recall)
    if levels.ndim != 1 or not levels.size:
        raise ArgumentError(
            f"`recall` must be a list of one level or more; got {checks.brief(recall)}."
        )
    size = checks.number_of_draws(n_resamples)
    generator = random_generator(rng)
    classes = both_classes(positives, negatives, n_pos, n_neg)
    n = classes[0].total + classes[1].total
    if importance is not None:
        # A sample of both classes is to be expected.
        importance = checks.number("importance", importance, at_least=1 / n, at_most=1 - 1 / n)
    roc = _smoothed_roc(*class_kernels(*classes, bandwidth, kernel))
    observed = classes[0].total / n
    drawn = observed if importance is None else importance
    positive = _positives(n, drawn, size, generator)
    replicates = _precision_of_samples(roc, levels, positive, n, generator)
    weights = np.full(size, 1 / size)
    if drawn != observed:
        weights = _importance_weights(positive, n, observed, drawn)
    center = empirical_precision(cells_of_classes(*classes), levels)
    curve = PRBootstrap(levels, center, replicates, weights, drawn)
    is_weighted = bool((weights != weights[0]).any())
    if is_weighted and curve.effective_sample_size < max(_FEW, _FEW_PART * size):
        warn(
            f"The {size} resamples drawn with prevalence {curve.prevalence:.3g} are worth "
            f"{curve.effective_sample_size:.1f} unweighted ones; draw with importance=None, "
            "or nearer to the data.",
            EffectiveSampleSizeWarning,
        )
    return curve


def _importance_weights(n_pos: Integers, n: int, prevalence: float, drawn: float) -> Floats:
    """Return the normalised likelihood ratios of samples drawn with another prevalence.

    Those are proportional to ``(p / p~)^k ((1 - p) / (1 - p~))^(n - k)`` with k positives.
    """
    ratio = np.log(prevalence / drawn), np.log1p(-prevalence) - np.log1p(-drawn)
    logs = n_pos * ratio[0] + (n - n_pos) * ratio[1]
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())


def _smoothed_roc(*kernels: ClassKernel) -> tuple[Floats, Floats]:
    """Tabulate the smoothed ROC curve as recall and rate, from 0 to what is retrieved."""
    t = _first_thresholds(*kernels)
    recall, fpr = (kernel.sf(t) for kernel in kernels)
    few = [_ITEMS / kernel.total for kernel in kernels]
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
    return recall, fpr


def _first_thresholds(*kernels: ClassKernel) -> Floats:
    """Return descending thresholds across the scores of both classes."""
    parts = [np.zeros(1)]
    for kernel in kernels:
        if kernel.nodes.size:
            places = np.linspace(0, kernel.nodes.size - 1, _KNOTS).astype(np.intp)
            tail = kernel.bandwidth * np.arange(1, 9)
            parts += [kernel.nodes[places], kernel.nodes[0] - tail, kernel.nodes[-1] + tail]
    return np.unique(np.concatenate(parts))[::-1]


def _precision_of_samples(
    roc: tuple[Floats, Floats], recall: Floats, n_pos: Integers, n: int, rng: np.random.Generator
) -> Floats:
    """Draw the curves of samples of n items, shape (samples, levels); levels in any order."""
    order = np.argsort(recall, kind="stable")
    hits = positives_at(recall[order, None], n_pos)
    ranks = np.ceil(hits)
    reached = np.cumsum(rng.standard_gamma(np.diff(ranks, axis=0, prepend=0.0)), axis=0)
    share = reached / (reached[-1] + rng.standard_gamma(n_pos + 1 - ranks[-1]))
    # The transposed order, sample by sample, looks up ascending numbers, which is quicker.
    fpr = np.ascontiguousarray(np.interp(share.T, *roc).T)
    false = _negatives_above(fpr, n - n_pos, rng)
    false[share > roc[0][-1]] = np.inf
    return precision(hits, false)[np.argsort(order)].T


def _positives(n: int, prevalence: float, size: int, rng: np.random.Generator) -> Integers:
    """Draw the numbers of positives, given that samples have positives and negatives."""
    n_pos = rng.binomial(n, prevalence, size)
    while (wrong := (n_pos == 0) | (n_pos == n)).any():
        n_pos[wrong] = rng.binomial(n, prevalence, wrong.sum())
    return n_pos


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
