"""Intervals for a proportion, from counts."""

from __future__ import annotations

from typing import get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainccinv, betaincinv

from prframe import checks
from prframe.stats._arrays import Interval, at_most, counts
from prframe.typing import IntervalMethod


def proportion_interval(
    hits: ArrayLike,
    trials: ArrayLike,
    confidence_level: float = 0.95,
    method: IntervalMethod = "clopper-pearson",
    prior: float = 1.0,
) -> Interval:
    """Enclose a proportion, given `hits` out of `trials`.

    For precision at k the trials are the k positions, for recall the positives.

    Parameters
    ----------
    hits, trials : array_like of int
        Successes (0..trials) and trials (>= 0).
    confidence_level : float in (0, 1)
        Coverage, or posterior probability; half of the rest is left to each tail.
    method : {"clopper-pearson", "jeffreys", "posterior"}
        ``"clopper-pearson"``: all proportions that neither one-sided exact binomial test rejects;
        it covers at least as often as it says. ``"jeffreys"``: quantiles of
        Beta(hits + 1/2, misses + 1/2), with the lower end 0 if there are no hits and the upper end
        1 if there are no misses; it covers about as often as it says. ``"posterior"``: quantiles
        of Beta(hits + prior, misses + prior) without such exceptions, which describe the belief
        about the proportion after the data.
    prior : float > 0
        The prior of ``"posterior"``: 1 for a uniform prior, 1/2 for Jeffreys'.

    Returns
    -------
    Interval
        ``low`` and ``high``, arrays of the common shape. Without trials they are 0 and 1, or with
        ``"posterior"`` the quantiles of the prior.

    Raises
    ------
    PrframeError
        Numbers that are not whole or out of range, or an unknown method.

    References
    ----------
    Clopper & Pearson 1934; Brown, Cai & DasGupta 2001, section 4.1.2, for the ends of Jeffreys'
    interval; Goutte & Gaussier 2005 for the posterior.

    Examples
    --------
    >>> for method in ("clopper-pearson", "jeffreys", "posterior"):
    ...     low, high = proportion_interval(0, 10, method=method)
    ...     print(f"{low:.4f} {high:.4f}")
    0.0000 0.3085
    0.0000 0.2172
    0.0023 0.2849
    """
    checks.one_of("method", method, get_args(IntervalMethod))
    tail = (1 - checks.number("confidence_level", confidence_level, above=0, below=1)) / 2
    weight = float(checks.number("prior", prior, above=0)) if method == "posterior" else 0.5
    hits, trials = np.broadcast_arrays(
        counts("hits", hits, at_least=0), counts("trials", trials, at_least=0)
    )
    at_most(("hits", hits), ("trials", trials))
    misses = trials - hits
    if method == "clopper-pearson":
        # The ends are quantiles of Beta(hits, misses + 1) and of Beta(hits + 1, misses).
        low = betaincinv(np.maximum(hits, 1), misses + 1, tail)
        high = betainccinv(hits + 1, np.maximum(misses, 1), tail)
    else:
        low = betaincinv(hits + weight, misses + weight, tail)
        high = betainccinv(hits + weight, misses + weight, tail)
    bounded = method != "posterior"
    low = np.where(bounded & (hits == 0), 0.0, low)
    return Interval(low, np.where(bounded & (misses == 0), 1.0, high))
