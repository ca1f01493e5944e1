"""Linear rank statistics of several rankings of the same items, and their differences."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prframe.errors import ArgumentError, PrframeError
from prframe.stats._arrays import comparable, known, positive_labels, scored_twice
from prframe.stats._p_values import from_normal
from prframe.stats.intervals import Confidence, wald_interval
from prframe.stats.rank_statistics.statistic import RankStatistic, RankSum, rank_null, scale_of
from prframe.stats.rankings import RankedCells
from prframe.stats.score_functions import Phi, ScoreGeneratingFunction, parse_phi
from prframe.typing import Alternative, Floats

_TWO = 2
# A variance of a difference below this part of the variances of both estimates is rounding. Its
# square root is the part of the larger estimate below which a difference is.
_NO_VARIANCE = 1e-13


class RankCovariance(NamedTuple):
    """Estimates of W_phi of several rankings, and their covariance matrix."""

    estimates: Floats
    covariance: Floats


class RankDifference(NamedTuple):
    """The difference of two estimates of W_phi, first less second; NaN for undefined numbers."""

    difference: float
    std_error: float
    z: float
    p_value: float
    conf_low: float
    conf_high: float


def rank_covariance(scores: ArrayLike, label: ArrayLike, phi: Phi = "mww") -> RankCovariance:
    """Return rank statistics of several rankings of the same items, and their covariance.

    It is ``(n_pos cov_pos + n_neg cov_neg) / n_pos^2``, where cov_pos and cov_neg are the
    covariances, within each class, of the items' values in the Hajek projections of all rankings
    (Clemencon, Limnios & Vayatis 2021, Prop. 4): DeLong's matrix (1988) for any phi.

    Parameters
    ----------
    scores : array_like of float, shape (n_rankings, N)
        Scores of each ranking; higher ranks first.
    label : array_like of bool or number, shape (N,)
        True, or above 0, for positives; two of each class at least.
    phi : str, ScoreGeneratingFunction or callable
        See `parse_phi`; not DCG, which has no such projection.

    Returns
    -------
    RankCovariance
        ``estimates``, shape (n_rankings,), as `rank_statistic` gives them, and ``covariance``.

    Raises
    ------
    PrframeError
        Scores of another shape or NaN, fewer than two items of a class, or DCG.

    Examples
    --------
    >>> scores = [[5, 4, 3, 2, 1], [1, 5, 2, 4, 3]]
    >>> result = rank_covariance(scores, [True, True, False, True, False])
    >>> result.estimates.round(4)
    array([0.6333, 0.5667])
    >>> result.covariance.round(4)
    array([[ 0.0089, -0.0044],
           [-0.0044,  0.0178]])
    """
    tables, positive = np.atleast_2d(known("scores", comparable(scores))), positive_labels(label)
    if tables.ndim != _TWO or tables.shape[1:] != positive.shape:
        raise PrframeError(
            f"`scores` must have a row per ranking and a column per label; got shapes "
            f"{tables.shape} and {positive.shape}."
        )
    n_pos, n_neg = int(positive.sum()), int((~positive).sum())
    if min(n_pos, n_neg) < _TWO:
        raise PrframeError(
            f"a covariance needs two items of each class; got {n_pos} positives and {n_neg} "
            "negatives."
        )
    function = parse_phi(phi).of_size(n_pos + n_neg)
    if not function.projected:
        raise ArgumentError(f"{function.name} has no standard error, and so no covariance.")
    estimated = [_effects(row, positive, function) for row in tables]
    effects = np.stack([effect for _, effect in estimated])
    parts = [np.cov(effects[:, members]) * members.sum() for members in (positive, ~positive)]
    scale = scale_of(function, n_pos, n_neg).stretch / n_pos
    covariance = np.atleast_2d(parts[0] + parts[1]) * scale**2
    return RankCovariance(np.array([estimate for estimate, _ in estimated]), covariance)


def paired_rank_test(  # noqa: PLR0913
    score_a: ArrayLike,
    score_b: ArrayLike,
    label: ArrayLike,
    phi: Phi = "mww",
    *,
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
) -> RankDifference:
    """Test whether one ranking of some items has a larger W_phi than another one.

    ``z = (W_a - W_b) / se`` with ``se^2 = var_a + var_b - 2 cov``, see `rank_covariance`. For
    phi(u) = u it is DeLong's (1988), and the difference of AUC is this difference over the share
    of negatives.

    Parameters
    ----------
    score_a, score_b : array_like of float, shape (N,)
        Scores of the same items by two models.
    label, phi
        As in `rank_covariance`.
    alternative : {"two-sided", "less", "greater"}
        The alternative: the difference a - b is not 0, below 0, or above 0.
    confidence_level : float in (0, 1)
        Coverage of the interval; one-sided alternatives bound one end, as in `scipy.stats`.

    Returns
    -------
    RankDifference
        ``difference``, ``std_error``, ``z``, ``p_value``, ``conf_low``, ``conf_high``. If the two
        rankings agree in all that W depends on, z is NaN, the p-value 1 and the interval 0. If
        they differ and nothing varies, as one is perfect and one inverted, these are all NaN.

    Raises
    ------
    PrframeError
        As `rank_covariance`, and for unknown options.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> label = np.arange(200) < 80
    >>> good = label + rng.normal(size=200)
    >>> worse = good + rng.normal(size=200)
    >>> result = paired_rank_test(good, worse, label)
    >>> round(result.difference, 2), round(result.z, 2)
    (0.07, 4.31)
    """
    confidence = Confidence(confidence_level, alternative)
    scores, positive = scored_twice(score_a, score_b, label)
    return rank_difference(rank_covariance(scores, positive, phi), confidence)


def rank_difference(estimated: RankCovariance, confidence: Confidence) -> RankDifference:
    """Compare two estimates by the normal distribution; see `paired_rank_test`."""
    estimates, covariance = estimated
    difference = float(estimates[0] - estimates[1])
    contrast = np.array([1.0, -1.0])
    square = float(contrast @ covariance @ contrast)
    # Rankings that differ in nothing but rounding do not differ.
    least = max(float(np.trace(covariance)), _NO_VARIANCE * float(np.abs(estimates).max()) ** 2)
    error = square**0.5 if square > _NO_VARIANCE * least else 0.0
    if not error:
        same = abs(difference) <= _NO_VARIANCE**0.5 * float(np.abs(estimates).max())
        p_value, end = (1.0, 0.0) if same else (np.nan, np.nan)
        return RankDifference(difference, error, np.nan, p_value, end, end)
    low, high = wald_interval(difference, error, confidence)
    z = difference / error
    return RankDifference(difference, error, z, from_normal(z, confidence.alternative), low, high)


def _effects(
    score: Floats, positive: NDArray[np.bool_], phi: ScoreGeneratingFunction
) -> tuple[float, Floats]:
    """Return the estimate of a ranking, and each item's value in the projection of W."""
    # Every level is a cell of its own, as the value of each item is needed.
    levels, level = np.unique(-score, return_inverse=True)
    counts = [
        np.bincount(level[members], minlength=levels.size) for members in (positive, ~positive)
    ]
    cells = RankedCells(*counts)
    of_pos, of_neg = RankSum(cells, phi).effects
    null = rank_null(phi, counts[0] + counts[1], cells.n_pos)
    estimate = RankStatistic(phi, cells, null).estimate
    return estimate, np.where(positive, of_pos[level], of_neg[level])
