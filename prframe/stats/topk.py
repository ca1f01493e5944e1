"""The positives among the first k: what chance would put there, and what they say of a rate."""

from typing import NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prframe import checks
from prframe.stats.hypergeometric import both_tails, lower_tail, upper_tail
from prframe.stats.inputs import at_most, counts
from prframe.typing import Alternative, IntervalMethod

Floats = NDArray[np.float64]

_TAILS = {"greater": upper_tail, "less": lower_tail, "two-sided": both_tails}
# P-values are never 0: what is smaller than any normal float is given as the smallest.
_LEAST = np.finfo(np.float64).tiny


class TopkTest(NamedTuple):
    """Law of precision at k under random selection, and the p-value; arrays of one shape."""

    null_mean: Floats
    null_std: Floats
    p_value: Floats


class Interval(NamedTuple):
    """Ends of an interval; arrays of one shape."""

    low: Floats
    high: Floats


def hypergeometric_topk(
    hits: ArrayLike,
    n: ArrayLike,
    n_pos: ArrayLike,
    k: ArrayLike,
    alternative: Alternative = "greater",
) -> TopkTest:
    """Test the hits among the first k against random selection of k items, exactly.

    ``P(X = x) = C(n_pos, x) C(n - n_pos, k - x) / C(n, k)``; of precision ``X / k`` the mean is
    ``p = n_pos / n`` and the variance ``p (1 - p) / k * (n - k) / (n - 1)``.

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
        ``null_mean`` and ``null_std`` of precision (0 for k = 0, which has nothing to hit with)
        and ``p_value``, arrays of the common shape.

    Raises
    ------
    PrframeError
        Numbers that are not whole or out of range, or an unknown alternative.

    Notes
    -----
    Under the null hypothesis ``P(p_value <= a) <= a`` for every a. Far out in the tail a p-value
    keeps 12 digits, whatever n; one below 2.2e-308 is given as that. The time grows with the
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
    checks.one_of("alternative", alternative, get_args(Alternative))
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
    some = np.maximum(k, 1)
    share = np.where(k > 0, n_pos / n, 0.0)
    variance = share * ((n - n_pos) / n) / some * (n - k) / np.maximum(n - 1, 1)
    p_value = np.clip(_TAILS[alternative](hits, n, n_pos, k), _LEAST, 1.0)
    return TopkTest(share, np.sqrt(variance), p_value)


def proportion_interval(
    hits: ArrayLike,
    trials: ArrayLike,
    confidence_level: float = 0.95,
    method: IntervalMethod = "clopper-pearson",
    prior: float = 1.0,
) -> Interval:
    """Enclose a proportion of which `hits` out of `trials` are seen.

    For precision at k the trials are the k positions, for recall the positives.

    Parameters
    ----------
    hits, trials : array_like of int
        Successes (0..trials) and trials (>= 0).
    confidence_level : float in (0, 1)
        Coverage, or posterior probability; either tail is left half of the rest.
    method : {"clopper-pearson", "jeffreys", "posterior"}
        ``"clopper-pearson"``: all proportions that neither one-sided exact binomial test rejects;
        it covers at least as often as it says. ``"jeffreys"``: quantiles of
        Beta(hits + 1/2, misses + 1/2), with the end 0 where nothing is hit and the end 1 where
        everything is; it covers about as often as it says. ``"posterior"``: quantiles of
        Beta(hits + prior, misses + prior) as they are, the belief about the proportion after the
        data.
    prior : float > 0
        With ``"posterior"``: 1 for a uniform prior, 1/2 for Jeffreys'.

    Returns
    -------
    Interval
        ``low`` and ``high``, arrays of the common shape; 0 and 1 without trials, but for
        ``"posterior"``, which then returns the quantiles of the prior.

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
    # On use: SciPy takes longer to import than most evaluations take.
    from scipy.special import betainccinv, betaincinv  # noqa: PLC0415

    checks.one_of("method", method, get_args(IntervalMethod))
    tail = (1 - checks.number("confidence_level", confidence_level, above=0, below=1)) / 2
    weight = float(checks.number("prior", prior, above=0)) if method == "posterior" else 0.5
    hits, trials = np.broadcast_arrays(
        counts("hits", hits, at_least=0), counts("trials", trials, at_least=0)
    )
    at_most(("hits", hits), ("trials", trials))
    misses = trials - hits
    if method == "clopper-pearson":
        # Quantiles of Beta(hits, misses + 1) and of Beta(hits + 1, misses).
        low = betaincinv(np.maximum(hits, 1), misses + 1, tail)
        high = betainccinv(hits + 1, np.maximum(misses, 1), tail)
    else:
        low = betaincinv(hits + weight, misses + weight, tail)
        high = betainccinv(hits + weight, misses + weight, tail)
    bounded = method != "posterior"
    low = np.where(bounded & (hits == 0), 0.0, low)
    return Interval(low, np.where(bounded & (misses == 0), 1.0, high))
