"""The probability that one system is better than another, given their counts."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincc, betaln, expit, log_expit, polygamma

from prframe import checks
from prframe.errors import PrframeError
from prframe.stats._arrays import counts
from prframe.typing import Floats

Measure: TypeAlias = Literal["precision", "recall", "f1"]

_CELLS = 3
# The quadrature is over log-odds = mean + spread * sinh(u); beyond this u the density is 0.
_REACH, _POINTS = 4.6, 801


def posterior_comparison(
    first: ArrayLike, second: ArrayLike, measure: Measure = "precision", *, prior: float = 1.0
) -> Floats:
    """Return the probability that one system is better than another, given their counts.

    Precision has the posterior distribution Beta(tp + prior, fp + prior), recall Beta(tp + prior,
    fn + prior). F1 is ``2 a / (2 a + b + c)`` with independent gamma variates a, b, c of shapes
    tp + prior, fn + prior and fp + prior, and grows with ``a / (a + b + c)``. The two systems are
    independent (Goutte & Gaussier, *A probabilistic interpretation of precision, recall and
    F-score*, ECIR 2005).

    Parameters
    ----------
    first, second : array_like of int, shape (..., 3)
        True positives, false positives and false negatives of either system.
    measure : {"precision", "recall", "f1"}
        What is larger for the better system.
    prior : float > 0
        Pseudo-counts added to every count: 1 for a uniform prior, 1/2 for Jeffreys'.

    Returns
    -------
    ndarray of float
        P(first is better), to about 1e-12, of the common shape without the last axis.

    Raises
    ------
    PrframeError
        Counts that are not whole numbers, three by three, or an option out of range.

    See Also
    --------
    paired_posterior_comparison : For systems that were run on the same items.

    Examples
    --------
    >>> posterior_comparison([40, 10, 20], [30, 20, 10], "precision").round(4).item()
    0.9848
    """
    checks.one_of("measure", measure, get_args(Measure))
    prior = float(checks.number("prior", prior, above=0))
    one, other = np.broadcast_arrays(_table("first", first), _table("second", second))
    return _first_greater(*_beta(one, measure, prior), *_beta(other, measure, prior))


def paired_posterior_comparison(
    only_first: ArrayLike, only_second: ArrayLike, *, prior: float = 1.0
) -> Floats:
    """Return the probability that one system is better than another on the same items.

    Each relevant item is found by both systems, by one alone or by none, with a Dirichlet
    posterior. The first system has more recall if ``only the first`` is more probable than ``only
    the second``, that is if a share with the distribution Beta(only_first + prior, only_second +
    prior) exceeds 1/2 (Goutte & Gaussier 2005).

    Parameters
    ----------
    only_first, only_second : array_like of int
        Relevant items that one system retrieves and the other does not.
    prior : float > 0
        Pseudo-counts added to every count: 1 for a uniform prior, 1/2 for Jeffreys'.

    Returns
    -------
    ndarray of float
        P(first is better), of the common shape. If both retrieve k items, it holds for precision
        at k too.

    Raises
    ------
    PrframeError
        Counts that are not whole numbers, or a prior that is not above 0.

    Examples
    --------
    >>> paired_posterior_comparison([1, 10, 10], [1, 2, 10]).round(4)
    array([0.5   , 0.9888, 0.5   ])
    """
    a, b = np.broadcast_arrays(
        counts("only_first", only_first, at_least=0),
        counts("only_second", only_second, at_least=0),
    )
    weight = float(checks.number("prior", prior, above=0))
    return np.asarray(betaincc(a + weight, b + weight, 0.5), dtype=np.float64)


def _table(name: str, values: ArrayLike) -> Floats:
    """Require true positives, false positives and false negatives."""
    table = counts(name, values, at_least=0)
    if table.ndim == 0 or table.shape[-1] != _CELLS:
        raise PrframeError(
            f"`{name}` must hold true positives, false positives and false negatives along its "
            f"last axis; got an array of shape {table.shape}."
        )
    return table


def _beta(table: Floats, measure: Measure, prior: float) -> tuple[Floats, Floats]:
    """Return the Beta parameters of a measure; F1 grows with ``tp / (tp + fp + fn)``."""
    tp, fp, fn = np.moveaxis(table, -1, 0) + prior
    return tp, {"precision": fp, "recall": fn, "f1": fp + fn}[measure]


def _first_greater(a: Floats, b: Floats, c: Floats, d: Floats) -> Floats:
    """Return P(X > Y) for X ~ Beta(a, b) and Y ~ Beta(c, d), by the trapezoidal rule.

    The integral is over the log-odds of the narrower variate, where the integrand is smooth.
    """
    a, b, c, d = (v[..., None] for v in np.broadcast_arrays(a, b, c, d))
    swapped = 1 / a + 1 / b > 1 / c + 1 / d
    a, c = np.where(swapped, c, a), np.where(swapped, a, c)
    b, d = np.where(swapped, d, b), np.where(swapped, b, d)
    u, step = np.linspace(-_REACH, _REACH, _POINTS, retstep=True)
    # The standard deviation of the log-odds.
    spread = np.sqrt(polygamma(1, a) + polygamma(1, b))
    odds = np.log(a / b) + spread * np.sinh(u)
    density = np.exp(a * log_expit(odds) + b * log_expit(-odds) - betaln(a, b))
    # Each side is computed near its own end, 0 or 1, where it does not lose digits.
    below = np.where(odds < 0, betainc(c, d, expit(odds)), betaincc(d, c, expit(-odds)))
    above = np.where(odds < 0, betaincc(c, d, expit(odds)), betainc(d, c, expit(-odds)))
    weights = density * spread * np.cosh(u) * step
    total = (weights * np.where(swapped, above, below)).sum(axis=-1)
    return np.asarray(total / weights.sum(axis=-1))
