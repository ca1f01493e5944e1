"""Relations of linear rank statistics and the ROC curve, both functions of positives' ranks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from prframe import checks
from prframe.errors import PrframeError
from prframe.stats._arrays import at_most, counts, fractions
from prframe.stats.score_functions import Phi, parse_phi
from prframe.typing import Floats


def roc_from_ranks(ranks: ArrayLike, n_neg: int) -> Floats:
    """Return the empirical ROC curve from the ranks of the positives alone.

    ``gamma_j = (1/n) sum_i 1{j >= N - R_i - i + 2}``, where R_i is the i-th largest rank of n
    positives among N items: the true positive rate at false positive rates from (j - 1)/m to j/m
    (Clemencon, Limnios & Vayatis 2021, eq. 2.8).

    Parameters
    ----------
    ranks : array_like of int, shape (n,)
        Ranks of the positives among all items, rising with the scores: distinct numbers from 1 to
        ``n + n_neg``.
    n_neg : int
        Number of negatives m, >= 1.

    Returns
    -------
    ndarray of float, shape (n_neg,)
        ``gamma_1 <= ... <= gamma_m``, whose mean is AUC.

    Raises
    ------
    PrframeError
        Ranks that are not distinct whole numbers within their range, or no negatives.

    Examples
    --------
    Positives are the best and the third best of five items.

    >>> roc_from_ranks([5, 3], n_neg=3)
    array([0.5, 1. , 1. ])
    """
    n_neg = checks.whole_number("n_neg", n_neg, at_least=1)
    numbers = counts("ranks", ranks)
    if numbers.ndim != 1 or not numbers.size:
        raise PrframeError(
            f"`ranks` must be a list of at least one rank; got shape {numbers.shape}."
        )
    total = numbers.size + n_neg
    at_most(("ranks", numbers), ("n_pos + n_neg", np.full_like(numbers, total)))
    best_first = -np.sort(-numbers)
    if (same := np.diff(best_first) == 0).any():
        raise PrframeError(
            f"`ranks` must be distinct; got {best_first[1:][same][0]:.0f} more than once."
        )
    negatives_above = total - best_first - np.arange(numbers.size)
    return np.searchsorted(negatives_above, np.arange(1, n_neg + 1)) / numbers.size


def ranking_performance(
    fpr: ArrayLike,
    tpr: ArrayLike,
    prevalence: float,
    phi: Phi = "mww",
    n: int | None = None,
) -> float:
    """Return the W_phi-ranking performance measure of a ROC curve.

    It is ``W_phi = E phi(F(X)) = (1/p) int_0^1 phi(u) du - ((1 - p)/p) int_0^1
    phi(p (1 - ROC(a)) + (1 - p)(1 - a)) da``, where X is the score of a positive and F the
    distribution function of the scores of all items, p of them positive (Clemencon, Limnios &
    Vayatis 2021, Definition 2 and Lemma 3, eq. 3.4). For ``phi(u) = u`` it is
    ``p/2 + (1 - p) AUC``. The metric ``W`` tends to it.

    Parameters
    ----------
    fpr, tpr : array_like of float in [0, 1], shape (k,)
        Corners of the curve, a broken line that rises from (0, 0) to (1, 1). Segments that slope
        stand for tied scores in random order.
    prevalence : float in (0, 1)
        Share p of positives.
    phi : str, ScoreGeneratingFunction or callable
        As `parse_phi` understands it.
    n : int, optional
        Number of items, for functions that depend on it ("dcg").

    Returns
    -------
    float
        Without error for broken lines.

    Raises
    ------
    PrframeError
        Rates that do not rise from (0, 0) to (1, 1), a prevalence that is not within (0, 1), or
        a function that is not known.

    Examples
    --------
    >>> fpr, tpr = [0, 0.2, 1], [0, 0.8, 1]
    >>> round(ranking_performance(fpr, tpr, prevalence=0.3), 4)
    0.71
    """
    fpr, tpr = fractions("fpr", fpr), fractions("tpr", tpr)
    p = checks.number("prevalence", prevalence, above=0, below=1)
    _check_curve(fpr, tpr)
    function = parse_phi(phi)
    if n is not None:
        function = function.of_size(checks.whole_number("n", n, at_least=1))
    u = np.clip(p * (1 - tpr) + (1 - p) * (1 - fpr), 0.0, 1.0)
    length, area = -np.diff(u), -np.diff(function.integral(u))
    rises = length > 0
    return float(np.diff(tpr)[rises] @ (area[rises] / length[rises]))


class RocDistances(NamedTuple):
    """Distances of two ROC curves: the largest vertical one, and the area between them."""

    sup: float
    area: float


def roc_distances(
    fpr: ArrayLike, tpr: ArrayLike, best_fpr: ArrayLike, best_tpr: ArrayLike
) -> RocDistances:
    """Return the distances of a ROC curve from another one, such as the best one, ROC*.

    These are ``d_inf = sup over 0 < a < 1 of |ROC(a) - ROC*(a)|`` and ``d_1 = int_0^1 |ROC(a) -
    ROC*(a)| da`` (Clemencon, Limnios & Vayatis 2021, eqs 2.3 and 2.4).

    Parameters
    ----------
    fpr, tpr, best_fpr, best_tpr : array_like of float in [0, 1]
        Corners of both curves, broken lines that rise from (0, 0) to (1, 1).

    Returns
    -------
    RocDistances
        ``sup``, which is d_inf, and ``area``, which is d_1, both within [0, 1] and without error
        for broken lines.

    Raises
    ------
    PrframeError
        Rates that do not rise from (0, 0) to (1, 1).

    Examples
    --------
    >>> distances = roc_distances([0, 0.2, 1], [0, 0.6, 1], [0, 0.2, 1], [0, 0.8, 1])
    >>> round(distances.sup, 4), round(distances.area, 4)
    (0.2, 0.1)
    """
    fpr, tpr = fractions("fpr", fpr), fractions("tpr", tpr)
    best_fpr, best_tpr = fractions("best_fpr", best_fpr), fractions("best_tpr", best_tpr)
    _check_curve(fpr, tpr)
    _check_curve(best_fpr, best_tpr, ("best_fpr", "best_tpr"))
    at = np.unique(np.concatenate([fpr, best_fpr]))
    right, left = _limits(fpr, tpr, at)
    best_right, best_left = _limits(best_fpr, best_tpr, at)
    # Between the corners of both, the difference goes straight from one value to another.
    begin, end = (right - best_right)[:-1], (left - best_left)[1:]
    sizes = np.abs(begin) + np.abs(end)
    # Lines that change their sign leave two triangles, others a trapezium.
    triangles = np.divide(begin**2 + end**2, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    means = np.where(begin * end < 0, triangles, sizes) / 2
    largest = max(np.abs(begin).max(), np.abs(end).max())
    return RocDistances(float(largest), float(np.diff(at) @ means))


def _limits(fpr: Floats, tpr: Floats, at: Floats) -> tuple[Floats, Floats]:
    """Return the limits of a curve at rates, from the right and from the left."""
    # Of corners with one rate, the last is the limit from the right, the first from the left.
    last = np.append(fpr[1:] > fpr[:-1], True)
    first = np.insert(fpr[1:] > fpr[:-1], 0, True)
    right = np.interp(at, fpr[last], tpr[last])
    left = np.interp(at, fpr[first], tpr[first])
    is_corner = np.isin(at, fpr)
    between = np.interp(at, fpr, tpr)
    return np.where(is_corner, right, between), np.where(is_corner, left, between)


def _check_curve(fpr: Floats, tpr: Floats, names: tuple[str, str] = ("fpr", "tpr")) -> None:
    """Require corners of a curve that rises from (0, 0) to (1, 1)."""
    if fpr.ndim != 1 or fpr.shape != tpr.shape:
        first, second = names
        raise PrframeError(
            f"`{first}` and `{second}` must be lists of one length; "
            f"got shapes {fpr.shape} and {tpr.shape}."
        )
    for name, rates in zip(names, (fpr, tpr), strict=True):
        ends = rates[[0, -1]].tolist() if rates.size else []
        if ends != [0, 1]:
            raise PrframeError(f"`{name}` must begin with 0 and end with 1; got {ends}.")
        if not (np.diff(rates) >= 0).all():
            raise PrframeError(f"`{name}` must be sorted, rising from 0 to 1.")


def concentration_radius(
    n_pos: int, n_neg: int, phi: Phi = "mww", delta: float = 0.05, n_rules: int = 1
) -> float:
    """Return a bound for the distance of linear rank statistics from their means.

    ``C3 sqrt(log(C2 / delta) / n_pos)`` with ``C2 = 2 n_rules``, ``C3^2 = (c_pos^2 +
    c_neg^2 n_neg / n_pos) / 2``: with probability at least 1 - delta, the statistics W of all
    scoring rules, means of phi(rank / (N + 1)) over the positives, are no farther from E W
    (Clemencon, Limnios & Vayatis 2021, Theorem 5, for finitely many rules).

    Parameters
    ----------
    n_pos, n_neg : int
        Positives and negatives, >= 1.
    phi : str, ScoreGeneratingFunction or callable
        As `parse_phi` understands it.
    delta : float in (0, 1)
        Probability of an exception.
    n_rules : int
        Number of scoring rules, >= 1, chosen before the sample was seen.

    Returns
    -------
    float
        A diagnostic, not an interval: between normal distributions it was 2.4 to 4 times the
        actual quantile at ``delta = 0.05`` for "mww", and up to 15 times for functions that are
        steep at the top.

    Raises
    ------
    PrframeError
        An argument out of its range.

    Notes
    -----
    The bound is that of McDiarmid (1989) for independent items without ties, with the union bound.
    Exchange of one positive changes the sum over positives by at most c_pos, the sum of the n_neg
    largest of the steps ``phi(r / (N + 1)) - phi((r - 1) / (N + 1))``, 1 < r <= N; of one negative
    by at most c_neg, the sum of the n_pos largest.

    Examples
    --------
    For AUC, ``(N + 1) / n_neg`` times W but for a constant:

    >>> radius = concentration_radius(100, 400, "mww")
    >>> print(f"{radius * 501 / 400:.4f} {np.sqrt(500 * np.log(40) / (2 * 100 * 400)):.4f}")
    0.1518 0.1518
    """
    n_pos = checks.whole_number("n_pos", n_pos, at_least=1)
    n_neg = checks.whole_number("n_neg", n_neg, at_least=1)
    checks.number("delta", delta, above=0, below=1)
    n_rules = checks.whole_number("n_rules", n_rules, at_least=1)
    total = n_pos + n_neg
    scores = parse_phi(phi).of_size(total)(np.arange(1, total + 1) / (total + 1))
    largest_first = -np.sort(-np.diff(scores))
    of_positive, of_negative = largest_first[:n_neg].sum(), largest_first[:n_pos].sum()
    squares = n_pos * of_positive**2 + n_neg * of_negative**2
    return float(np.sqrt(squares * np.log(2 * n_rules / delta) / 2) / n_pos)
