"""DeLong's covariance of AUCs of the same items, whose clusters are independent."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from prframe.errors import PrframeError
from prframe.stats._units import units_of
from prframe.stats.rank_statistics import RankCovariance
from prframe.stats.rankings import CellEvaluator, RocArea, checked_levels


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
    >>> found = auc_covariance(levels, [True, True, False, True, False])
    >>> found.estimates.round(4)
    array([0.8333, 0.6667])
    >>> found.covariance.round(4)
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
        what = "items" if cluster is None else "clusters"
        raise PrframeError(
            f"DeLong's test needs two {what} with positives and two with negatives; got {n_pos} "
            f"and {n_neg}."
        )
    influence = np.concatenate([evaluate.influence(row) for row in rows])
    pos, neg = (units.sums(influence * of) for of in (positive, ~positive))
    across = units.number / (units.number - 1) * pos @ neg.T
    within = n_pos / (n_pos - 1) * pos @ pos.T + n_neg / (n_neg - 1) * neg @ neg.T
    return RankCovariance(evaluate(rows)[0], within + across + across.T)
