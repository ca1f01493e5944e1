"""The probability that one system is better than another, given their counts."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincc, betaln, expit, log_expit, polygamma

from prframe import checks
from prframe.draws import GAMMA_DRAWS
from prframe.errors import ArgumentError, PrframeError
from prframe.stats._arrays import counts, random_generator
from prframe.typing import Floats

Measure: TypeAlias = Literal["precision", "recall", "f"]

_CELLS = 3
# The quadrature is over log-odds = mean + spread * sinh(u); beyond this u the density is 0.
_REACH, _POINTS = 4.6, 801


class Comparison(NamedTuple):
    """Probability that the first system is better, and its Monte Carlo standard error."""

    probability: Floats
    std_error: Floats


def posterior_comparison(  # noqa: PLR0913
    first: ArrayLike,
    second: ArrayLike,
    measure: Measure = "precision",
    *,
    beta: float = 1.0,
    prior: float = 1.0,
    n_resamples: int = GAMMA_DRAWS,
    rng: int | np.random.Generator | None = None,
) -> Comparison:
    """Return the probability that one system is better than another, given their counts.

    Precision has the posterior distribution Beta(tp + prior, fp + prior), recall Beta(tp + prior,
    fn + prior). F is distributed as ``(1 + beta^2) a / ((1 + beta^2) a + beta^2 b + c)`` with
    independent gamma variates a, b, c of shapes tp + prior, fn + prior and fp + prior. The two
    systems are independent (Goutte & Gaussier, *A probabilistic interpretation of precision,
    recall and F-score*, ECIR 2005).

    Parameters
    ----------
    first, second : array_like of int, shape (..., 3)
        True positives, false positives and false negatives of either system.
    measure : {"precision", "recall", "f"}
        What is larger for the better system.
    beta : float > 0
        For ``"f"``, the weight of recall against precision.
    prior : float > 0
        Pseudo-counts added to every count: 1 for a uniform prior, 1/2 for Jeffreys'.
    n_resamples : int
        Number of draws for F with a `beta` other than 1.
    rng : int or numpy.random.Generator, optional
        Seed or generator of these draws.

    Returns
    -------
    Comparison
        ``probability`` that the first is better, and ``std_error``, its Monte Carlo error, which
        is 0 except for F with a `beta` other than 1. Arrays of the common shape without the last
        axis. Without draws the probability is accurate to about 1e-12.

    Raises
    ------
    PrframeError
        Counts that are not whole numbers, three by three, or an option out of range.

    See Also
    --------
    paired_posterior_comparison : For systems that were run on the same items.

    Examples
    --------
    >>> better = posterior_comparison([40, 10, 20], [30, 20, 10], "precision")
    >>> round(float(better.probability), 4)
    0.9848
    """
    checks.one_of("measure", measure, get_args(Measure))
    beta = float(checks.number("beta", beta, above=0))
    if beta != 1 and measure != "f":
        raise ArgumentError(f"`beta` weighs recall in F; it has no meaning for {measure!r}.")
    prior = float(checks.number("prior", prior, above=0))
    draws = checks.number_of_draws(n_resamples)
    first_counts, second_counts = np.broadcast_arrays(
        _table("first", first), _table("second", second)
    )
    if beta == 1:
        probability = _first_greater(
            *_beta(first_counts, measure, prior), *_beta(second_counts, measure, prior)
        )
        return Comparison(probability, np.zeros_like(probability))
    generator = random_generator(rng)
    better = _draw_f(first_counts, beta, prior, draws, generator) > _draw_f(
        second_counts, beta, prior, draws, generator
    )
    count = better.sum(axis=0)
    # The error counts one more draw of either outcome, so that it is not 0 in clear cases.
    share = (count + 1) / (draws + 2)
    return Comparison(count / draws, np.sqrt(share * (1 - share) / draws))


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
    return tp, {"precision": fp, "recall": fn, "f": fp + fn}[measure]


def _draw_f(
    table: Floats, beta: float, prior: float, draws: int, generator: np.random.Generator
) -> Floats:
    """Draw true positives over weighted errors, of which F is an increasing function."""
    shapes = table + prior
    gammas = generator.standard_gamma(shapes, size=(draws, *shapes.shape))
    tp, fp, fn = np.moveaxis(gammas, -1, 0)
    return np.asarray(tp / (fp + beta**2 * fn))


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
