"""The test of the number of positives among the first k against random selection."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from prframe.stats._arrays import at_most, counts
from prframe.stats._p_values import LEAST, check_alternative
from prframe.stats.null.hypergeometric import both_tails, lower_tail, upper_tail
from prframe.typing import Alternative, Floats

_TAILS = {"greater": upper_tail, "less": lower_tail, "two-sided": both_tails}


class TopkTest(NamedTuple):
    """The null mean and standard deviation of precision at k, and the p-value.

    All are arrays of one shape.
    """

    null_mean: Floats
    null_std: Floats
    p_value: Floats


def hypergeometric_topk(
    hits: ArrayLike,
    n: ArrayLike,
    n_pos: ArrayLike,
    k: ArrayLike,
    alternative: Alternative = "greater",
) -> TopkTest:
    """Test the hits among the first k against random selection of k items, exactly.

    Chance gives x hits with probability ``C(n_pos, x) C(n - n_pos, k - x) / C(n, k)``. The mean of
    precision at k is ``p = n_pos / n``, its variance ``p (1 - p) / k * (n - k) / (n - 1)``.

    Parameters
    ----------
    hits : array_like of int
        Positives among the first k; no more than there can be.
    n, n_pos, k : array_like of int
        All items (>= 1), the positives among them (0..n), those selected (0..n).
    alternative : {"greater", "less", "two-sided"}
        P(X >= hits); P(X <= hits); or the sum over all outcomes that are no more likely than the
        observed one, as in Fisher's exact test (which this is).

    Returns
    -------
    TopkTest
        ``null_mean`` and ``null_std`` of precision (0 for k = 0, where no item is selected) and
        ``p_value``, arrays of the common shape.

    Raises
    ------
    PrframeError
        Numbers that are not whole or out of range, or an unknown alternative.

    Notes
    -----
    Under the null hypothesis ``P(p_value <= a) <= a`` for every a. Far out in the tail a p-value
    keeps 10 digits, whatever n; one below 2.2e-308 is given as that. The time grows with the
    standard deviation of the hits. Outcomes that are equally likely up to 1e-10 of their
    probability count as equally likely.

    References
    ----------
    Zhang & Su 2012, eq. (4).

    Examples
    --------
    >>> test = hypergeometric_topk(hits=[2, 4], n=100, n_pos=10, k=10)
    >>> test.null_mean
    array([0.1, 0.1])
    >>> test.p_value.round(5)
    array([0.26153, 0.00822])
    """
    check_alternative(alternative)
    hits, n, n_pos, k = np.broadcast_arrays(
        counts("hits", hits, at_least=0),
        counts("n", n),
        counts("n_pos", n_pos, at_least=0),
        counts("k", k, at_least=0),
    )
    at_most(("n_pos", n_pos), ("n", n))
    at_most(("k", k), ("n", n))
    at_most(("hits", hits), ("min(k, n_pos)", np.minimum(k, n_pos)))
    at_most(("k - hits", k - hits), ("n - n_pos", n - n_pos))
    selected = np.maximum(k, 1)
    share = np.where(k > 0, n_pos / n, 0.0)
    variance = share * ((n - n_pos) / n) / selected * (n - k) / np.maximum(n - 1, 1)
    p_value = np.clip(_TAILS[alternative](hits, n, n_pos, k), LEAST, 1.0)
    return TopkTest(share, np.sqrt(variance), p_value)
