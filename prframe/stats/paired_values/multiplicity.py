"""P-values adjusted for the number of tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from prframe import checks
from prframe.errors import PrframeError
from prframe.stats._arrays import fractions
from prframe.typing import Floats

if TYPE_CHECKING:
    from collections.abc import Callable

# The factors by which the j-th smallest of m p-values is multiplied.
_FACTORS: dict[str, Callable[[Floats, int], Floats]] = {
    "bonferroni": lambda _, m: np.full(m, float(m)),
    "holm": lambda j, m: m + 1 - j,
    "bh": lambda j, m: m / j,
    "by": lambda j, m: m / j * (1 / j).sum(),
}
METHODS = tuple(sorted(_FACTORS))


def adjust_p_values(p_values: ArrayLike, method: str) -> Floats:
    """Adjust p-values of one family of tests for their number.

    With ``p_1 <= ... <= p_m`` the adjusted value of ``p_j`` is ``m p_j`` (Bonferroni), the largest
    ``(m + 1 - i) p_i`` over ``i <= j`` (Holm 1979), the smallest ``(m / i) p_i`` over ``i >= j``
    (Benjamini & Hochberg 1995), or that times ``1 + 1/2 + ... + 1/m`` (Benjamini & Yekutieli
    2001). None is above 1.

    Parameters
    ----------
    p_values : array_like of float in [0, 1], shape (n_tests,)
        NaN for a test that was not made; it stays NaN and does not count.
    method : {"bh", "bonferroni", "by", "holm"}
        Bonferroni and Holm bound the chance of any false rejection for every dependence.
        Benjamini-Hochberg bounds the expected share of false rejections for independent and
        positively dependent tests, Benjamini-Yekutieli for every dependence.

    Returns
    -------
    ndarray of float in [0, 1], shape (n_tests,)
        In the same order. Rejecting all hypotheses with a value <= alpha keeps the bound alpha.

    Raises
    ------
    PrframeError
        Numbers outside [0, 1], more than one dimension, or an unknown method.

    Examples
    --------
    >>> adjust_p_values([0.01, 0.04, 0.03, float("nan")], "holm")
    array([0.03, 0.06, 0.06,  nan])
    >>> adjust_p_values([0.01, 0.04, 0.03, float("nan")], "bh")
    array([0.03, 0.04, 0.04,  nan])
    """
    checks.one_of("method", method, METHODS)
    given = fractions("p_values", p_values)
    if given.ndim != 1:
        raise PrframeError(f"`p_values` must have one dimension; got shape {given.shape}.")
    m = int(np.count_nonzero(~np.isnan(given)))
    # Sorting puts NaN at the end.
    order = np.argsort(given, kind="stable")[:m]
    steps = given[order] * _FACTORS[method](np.arange(1.0, m + 1), m)
    if method == "holm":
        steps = np.maximum.accumulate(steps)
    elif method != "bonferroni":
        steps = np.minimum.accumulate(steps[::-1])[::-1]
    adjusted = np.full(given.shape, np.nan)
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted
