"""Tail probabilities as logarithms, and the probabilities and p-values that follow from them."""

from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from prframe.stats._p_values import from_tails, probability
from prframe.typing import Alternative, Floats

Side: TypeAlias = Literal["upper", "lower"]

BOTH: tuple[Side, ...] = get_args(Side)


class TailProbabilities(NamedTuple):
    """Both tails of values, and the method by which they were computed.

    Attributes
    ----------
    log_sf, log_cdf : float or ndarray of float
        Logarithms of P(X >= x) and P(X <= x), in the shape of x.
    method : str or ndarray of str
        Method of the computation, in the same shape; that of P(X >= x), where the sides differ.

    Examples
    --------
    >>> from prframe.stats import SignFlipNull
    >>> tails = SignFlipNull([1.0, 2.0, 4.0]).tails(3.0)
    >>> round(float(np.exp(tails.log_sf)), 9), round(float(np.exp(tails.log_cdf)), 9), tails.method
    (0.375, 0.75, 'exact')
    """

    log_sf: Floats | float
    log_cdf: Floats | float
    method: NDArray[np.str_] | str


class BothTails(NamedTuple):
    """The logarithms of both tails of rising numbers, and the method of each.

    A side that was not asked for may hold anything.
    """

    upper: Floats
    lower: Floats
    method: NDArray[np.str_]


def sided(upper: Floats, lower: Floats, alternative: Alternative) -> Floats:
    """Return p-values from the logarithms of both tails; a tail that is not needed may be NaN."""
    return from_tails(probability(upper), probability(lower), alternative)


def shaped(values: Floats) -> Floats | float:
    """Return an array, or the number that is its only entry."""
    return float(values) if values.ndim == 0 else values
