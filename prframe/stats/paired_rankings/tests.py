"""Tests of the difference of a metric between two rankings of the same items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from prframe.errors import PrframeError
from prframe.stats._p_values import of_small_sample, sampled_p_value
from prframe.stats._units import Units, units_of
from prframe.stats.intervals import Confidence, percentile_interval
from prframe.stats.paired_rankings.rankings import PairedRankings
from prframe.stats.paired_rankings.unseen import Margin, correlation_from, correlation_of
from prframe.stats.paired_values import PairedTest, paired_randomization
from prframe.stats.rank_statistics import RankCovariance, rank_difference
from prframe.stats.rankings import CellEvaluator, RocArea, checked_levels, joint_ranks
from prframe.typing import Alternative, Flags, Floats, Integers


class RankingComparison(NamedTuple):
    """The comparison of a metric in two rankings; NaN for undefined numbers.

    Examples
    --------
    >>> from prframe.stats import AveragePrecision, compare_rankings
    >>> compared = compare_rankings([3, 2, 1], [1, 2, 3], [True, False, False], AveragePrecision())
    >>> round(compared.difference, 3), compared.p_value, compared.method
    (0.667, 0.75, 'randomization-exact')
    """

    value_a: float
    value_b: float
    difference: float
    conf_low: float
    conf_high: float
    statistic: float
    p_value: float
    p_std_error: float
    method: str


def untested(value_a: float, value_b: float) -> RankingComparison:
    """Return two values, with nothing said of their difference."""
    numbers = dict.fromkeys(RankingComparison._fields[3:-1], np.nan)
    return RankingComparison(value_a, value_b, value_a - value_b, **numbers, method="")


def swap_tests(
    rankings: PairedRankings,
    pair: tuple[int, int],
    alternatives: Sequence[Alternative],
    n_resamples: int,
    rng: np.random.Generator,
) -> list[PairedTest]:
    """Test two rankings by swaps of their ranks, which are drawn unless AUC is the metric."""
    label, metrics = rankings.evaluate.label, rankings.evaluate.statistics
    levels = rankings.levels[list(pair)]
    tests = {
        row: area_swap_test(levels, label, rankings.units, alternatives[row])
        for row, metric in enumerate(metrics)
        if isinstance(metric, RocArea)
    }
    if drawn := [row for row in range(len(metrics)) if row not in tests]:
        some = CellEvaluator(label, [metrics[row] for row in drawn])
        chosen = PairedRankings(levels, some, rankings.cluster)
        swaps = chosen.randomization(0, 1, n_resamples, rng)
        differences = np.subtract(*chosen.values().T).tolist()
        method = "randomization-exact" if swaps.exact else "randomization"
        for row, observed, null in zip(drawn, differences, swaps.differences, strict=True):
            p = sampled_p_value(observed, null, alternatives[row], exact=swaps.exact)
            tests[row] = PairedTest(observed, *p, method)
    return [tests[row] for row in range(len(metrics))]


def resampled_comparison(  # noqa: PLR0913, PLR0917
    values: Floats,
    replicates: Floats,
    confidences: Sequence[Confidence],
    n_units: int,
    tests: Sequence[PairedTest] | None = None,
    margin: Margin | None = None,
) -> list[RankingComparison]:
    """Compare two rankings by their resamples, metric by metric.

    Quantiles and p-values are corrected for the number of units; see `Confidence.expanded`. One
    unit has no interval. Without `tests`, p-values come from the resampled differences less the
    observed one. `margin` extends intervals to those of both rankings.
    """
    comparisons = []
    for row, ((a, b), confidence) in enumerate(zip(values, confidences, strict=True)):
        difference, drawn = float(a - b), replicates[row, 0] - replicates[row, 1]
        if tests is None:
            counted = sampled_p_value(difference, drawn - difference, confidence.alternative)
            p = of_small_sample(*counted, n_units, confidence.alternative)
            test = PairedTest(difference, *p, "bootstrap")
        else:
            test = tests[row]
        low, high = np.nan, np.nan
        # Resamples of one positive do not vary as samples do.
        if n_units != 1:
            low, high = percentile_interval(drawn, confidence.expanded(n_units))
        if margin is not None:
            correlation = correlation_of(*replicates[row])
            low, high = margin.extended(row, (low, high), correlation, confidence)
        numbers = (low, high, difference, test.p_value, test.std_error)
        comparisons.append(
            RankingComparison(float(a), float(b), difference, *numbers, test.method)
        )
    return comparisons


def delong_comparison(
    rankings: PairedRankings, pair: tuple[int, int], confidence: Confidence, margin: Margin | None
) -> RankingComparison:
    """Compare the AUC of two rankings by the normal distribution; see `auc_covariance`.

    Rankings that do not differ have the values that `paired_rank_test` describes.
    """
    areas = auc_covariance(rankings.levels[list(pair)], rankings.evaluate.label, rankings.cluster)
    found = rank_difference(areas, confidence)
    ends = found.conf_low, found.conf_high
    if margin is not None:
        ends = margin.extended(0, ends, correlation_from(areas.covariance), confidence)
    a, b = areas.estimates.tolist()
    return RankingComparison(a, b, a - b, *ends, found.z, found.p_value, np.nan, "delong")


def area_swap_test(
    levels: Integers, positive: Flags, units: Units, alternative: Alternative
) -> PairedTest:
    """Test whether two rankings differ in AUC, by all swaps of the ranks of units.

    The result is that of `paired_randomization`; NaN without positives or without negatives.
    """
    if positive.all() or not positive.any():
        return PairedTest(np.nan, np.nan, np.nan, "randomization")
    weights = units.sums(swap_weights(levels, positive))
    return paired_randomization(weights, alternative=alternative)


def swap_weights(levels: Integers, positive: Flags) -> Floats:
    """Return what each item adds to the difference of two AUC, or takes from it once swapped.

    They are whole numbers c with ``4 n_pos n_neg (AUC_a - AUC_b) = sum_i s_i c_i``, where s_i is
    -1 for items that are swapped, else 1. With the ranks a_i and b_i of an item in both rankings,
    and psi = 1 or 1/2 where the first of two ranks is better or equal, a positive i and a negative
    j add, times n_pos n_neg, ``(s_i + s_j) / 2 (psi(a_i, a_j) - psi(b_i, b_j)) + (s_i - s_j) / 2
    (psi(a_i, b_j) - psi(b_i, a_j))``. Summed over negatives, the weight of a positive is twice the
    number of their ranks, in both rankings, between a_i and b_i, equal ones counting half; that of
    a negative is the same of positives, with the other sign.
    """
    ranks = joint_ranks(levels)
    weights = np.zeros(positive.size)
    for one, other, sign in ((positive, ~positive, 1), (~positive, positive, -1)):
        each = np.bincount(ranks[:, other].ravel(), minlength=int(ranks.max()) + 1)
        # Twice the number of ranks of the other class that are worse, equal ones counting half.
        worse = 2 * np.cumsum(each) - each
        weights[one] = sign * (worse[ranks[0, one]] - worse[ranks[1, one]])
    return weights


def auc_covariance(
    levels: ArrayLike, label: ArrayLike, cluster: ArrayLike | None = None
) -> RankCovariance:
    """Return the AUC of rankings of the same items, and their covariance matrix.

    ``f_pos sum_c P_c P_c' + f_neg sum_c N_c N_c' + f sum_c (P_c N_c' + N_c P_c')``, where P_c and
    N_c are the sums of the influence of the positives and of the negatives of cluster c on all
    AUCs. The factors f_pos, f_neg and f are ``m / (m - 1)`` for the number m of clusters with
    positives, of clusters with negatives, and of all clusters.

    Parameters
    ----------
    levels : array_like of int, shape (n_rankings, N)
        As `ranking_levels` returns them.
    label : array_like of bool or number, shape (N,)
        True, or above 0, for positives.
    cluster : array_like, shape (N,), optional
        The cluster of each item, numbers or names.

    Returns
    -------
    RankCovariance
        ``estimates``, shape (n_rankings,), and ``covariance``.

    Raises
    ------
    PrframeError
        Arrays of other shapes, or a class in fewer than two items or clusters.

    Notes
    -----
    Without clusters the matrix is DeLong's, which is also that of `rank_covariance` divided by the
    squared share of negatives.

    References
    ----------
    DeLong, DeLong & Clarke-Pearson 1988; Obuchowski, *Nonparametric analysis of clustered ROC
    curve data*, Biometrics 1997.

    Examples
    --------
    >>> from prframe.stats import ranking_levels
    >>> levels = ranking_levels([[5, 4, 3, 2, 1], [1, 5, 2, 4, 3]])
    >>> areas = auc_covariance(levels, [True, True, False, True, False])
    >>> areas.estimates.round(4)
    array([0.8333, 0.6667])
    >>> areas.covariance.round(4)
    array([[ 0.0556, -0.0278],
           [-0.0278,  0.1111]])
    """
    rows, evaluate = checked_levels(levels), CellEvaluator(label, [RocArea()])
    positive = evaluate.label
    if positive.shape != rows.shape[1:]:
        raise PrframeError(
            f"`label` must have one entry per item, {rows.shape[1]}; got shape {positive.shape}."
        )
    units = units_of(cluster, positive.size)
    n_pos, n_neg = (units.number_among(of) for of in (positive, ~positive))
    if min(n_pos, n_neg) < 2:  # noqa: PLR2004 - a variance needs two
        kind = "items" if cluster is None else "clusters"
        raise PrframeError(
            f"DeLong's test needs two {kind} with positives and two with negatives; got {n_pos} "
            f"and {n_neg}."
        )
    influence = np.concatenate([evaluate.influence(row) for row in rows])
    pos, neg = (units.sums(influence * of) for of in (positive, ~positive))
    across = units.number / (units.number - 1) * pos @ neg.T
    within = n_pos / (n_pos - 1) * pos @ pos.T + n_neg / (n_neg - 1) * neg @ neg.T
    return RankCovariance(evaluate(rows)[0], within + across + across.T)
