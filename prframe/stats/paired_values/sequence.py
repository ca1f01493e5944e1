"""Comparisons of queries that arrive one by one, valid however often one looks at them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from prframe import checks
from prframe.errors import ArgumentError, PrframeError
from prframe.stats._p_values import LEAST, check_alternative
from prframe.stats._tolerances import RESIDUE
from prframe.stats.paired_values.sample import paired_differences
from prframe.typing import Alternative, Floats

# No stake is larger than this share of what may be lost.
_LARGEST_STAKE = 0.5


class ConfidenceSequence(NamedTuple):
    """Means, intervals and p-values after each query; all arrays have the shape (n,).

    Attributes
    ----------
    mean : ndarray of float
        The mean difference of the queries so far.
    low, high : ndarray of float
        With the probability of `confidence_level`, all of these intervals contain the mean.
    p_value : ndarray of float
        If the mean is 0, the smallest of all p-values is at most a with the probability a or less.

    Examples
    --------
    >>> from prframe.stats import paired_confidence_sequence
    >>> paired_confidence_sequence([0.1, 0.3, 0.2]).mean.round(2)
    array([0.1, 0.2, 0.2])
    """

    mean: Floats
    low: Floats
    high: Floats
    p_value: Floats


def paired_confidence_sequence(
    a: ArrayLike,
    b: ArrayLike | None = None,
    *,
    limits: tuple[float, float] = (-1.0, 1.0),
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
) -> ConfidenceSequence:
    """Return intervals for a mean difference that hold at all times (empirical Bernstein).

    The differences are scaled to [0, 1]. With m_i and s_i^2 the means and variances of the first i
    of them, shrunk to 1/2 and 1/4 by one more value, with the stakes
    ``l_i = min(sqrt(2 L / (s_{i-1}^2 i log(1 + i))), 1/2)``, ``L = log(2 / alpha)``, and with
    ``psi(l) = -log(1 - l) - l``, the interval after t queries is ::

        sum_i l_i x_i / sum_i l_i  +/-  (L + sum_i (x_i - m_{i-1})^2 psi(l_i)) / sum_i l_i

    for i from 1 to t; ends never widen again. One-sided bounds have ``L = log(1 / alpha)``.

    Parameters
    ----------
    a, b : array_like of float, shape (n,)
        Values of two systems on all queries so far, in order of their arrival; if b is missing,
        a holds the differences. Whoever looks again gives all of them again, and reads the end.
    limits : (float, float)
        The least and the largest difference that can occur.
    alternative : {"two-sided", "less", "greater"}
        The alternative: the mean of a - b is not 0, below 0, or above 0.
    confidence_level : float in (0, 1)
        The level, 1 - alpha. The p-value is valid for all levels, and most powerful at this one.

    Returns
    -------
    ConfidenceSequence
        A p-value is at most alpha if and only if 0 is outside of the interval.

    Raises
    ------
    PrframeError
        Differences that are not finite or beyond the limits, limits that do not rise, or an
        unknown option.

    Notes
    -----
    The bounds need no assumption but the limits, which are known in advance and not read off the
    data, and that a query has the same mean whatever the queries before were. Queries of one day,
    user or session that have something in common violate that: give their means, one for each
    day, instead. The bounds are wider than Student's interval for a number of queries that was
    fixed in advance, which is wrong if one looks more than once.

    References
    ----------
    Waudby-Smith & Ramdas, *Estimating means of bounded random variables by betting*, 2024,
    theorem 2; Howard, Ramdas, McAuliffe & Sekhon 2021.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> sequence = paired_confidence_sequence(rng.normal(0.06, 0.1, 400).clip(-1, 1))
    >>> int(np.argmax(sequence.p_value <= 0.05)) + 1
    307
    """
    check_alternative(alternative)
    level = float(checks.number("confidence_level", confidence_level, above=0, below=1))
    differences = paired_differences(a, b)
    least, most = _limits(limits)
    width = most - least
    if ((differences < least - RESIDUE * width) | (differences > most + RESIDUE * width)).any():
        raise PrframeError(
            f"differences must lie within `limits`, {least:g} to {most:g}; they reach from "
            f"{differences.min():g} to {differences.max():g}; say in limits= how far differences "
            "can reach."
        )
    x = np.clip((differences - least) / width, 0.0, 1.0)
    sides = 2 if alternative == "two-sided" else 1
    threshold = np.log(sides / (1 - level))
    number = np.arange(1, x.size + 1)
    means = (0.5 + np.cumsum(x)) / (number + 1)
    before = np.concatenate([[0.5], means[:-1]])
    variances = (0.25 + np.cumsum((x - means) ** 2)) / (number + 1)
    variance_before = np.concatenate([[0.25], variances[:-1]])
    stakes = np.minimum(
        np.sqrt(2 * threshold / (variance_before * number * np.log1p(number))), _LARGEST_STAKE
    )
    staked = np.cumsum(stakes)
    centre = np.cumsum(stakes * x) / staked
    penalty = np.cumsum((x - before) ** 2 * (-np.log1p(-stakes) - stakes))
    reach = (threshold + penalty) / staked
    low = np.maximum.accumulate(np.maximum(centre - reach, 0.0))
    high = np.minimum.accumulate(np.minimum(centre + reach, 1.0))
    zero = -least / width
    # The logarithms of what bets that the mean is above, or below, have won.
    won = np.stack([staked * (centre - zero), staked * (zero - centre)]) - penalty
    # Limits beyond 0 say by themselves on which side of it the mean is.
    won[0, :] = np.inf if zero < 0 else won[0]
    won[1, :] = np.inf if zero > 1 else won[1]
    if alternative != "two-sided":
        won = won[:1] if alternative == "greater" else won[1:]
    largest = np.maximum.accumulate(won.max(axis=0))
    low = np.zeros_like(low) if alternative == "less" else low
    high = np.ones_like(high) if alternative == "greater" else high
    return ConfidenceSequence(
        np.cumsum(differences) / number,
        least + width * low,
        least + width * high,
        np.clip(sides * np.exp(-largest), LEAST, 1.0),
    )


def _limits(limits: tuple[float, float]) -> tuple[float, float]:
    """Return the limits of differences, which must be finite and rise."""
    try:
        values = np.asarray(limits, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.shape != (2,) or not np.isfinite(values).all() or values[0] >= values[1]:
        raise ArgumentError(
            f"`limits` must be two finite numbers that rise; got {checks.brief(limits)}."
        )
    return float(values[0]), float(values[1])
