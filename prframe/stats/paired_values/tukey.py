"""The randomized version of Tukey's honestly significant differences, for all systems at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from prframe import checks
from prframe.draws import TEST_DRAWS
from prframe.errors import PrframeError
from prframe.stats._arrays import random_generator, reals
from prframe.stats._batches import batch_sizes
from prframe.stats._p_values import check_alternative
from prframe.stats._tolerances import EQUAL
from prframe.stats.paired_values.family import SampledTests
from prframe.stats.paired_values.sampled_p_values import counted_p_values
from prframe.typing import Alternative, Floats

# The number of values that are permuted at a time.
_CHUNK = 1 << 20
_TWO = 2
# The rounding error of a sum, relative to the sum of the absolute values of its parts.
_ROUNDING = 4 * float(np.finfo(float).eps)


def tukey_randomization(
    values: ArrayLike,
    pairs: Sequence[tuple[int, int]] | None = None,
    *,
    alternative: Alternative = "two-sided",
    n_resamples: int = TEST_DRAWS,
    rng: int | np.random.Generator | None = None,
) -> SampledTests:
    """Test pairs of systems by the randomized Tukey HSD, with p-values adjusted for all pairs.

    ``p_ij = (1 + #{max_kl |mean_k* - mean_l*| >= |mean_i - mean_j|}) / (B + 1)``, where the values
    of each query are exchanged between the systems at random, query by query.

    Parameters
    ----------
    values : array_like of float, shape (n_systems, n_queries)
        One value per system and query.
    pairs : sequence of (int, int), optional
        The pairs of systems that are compared, over which the maximum is taken. By default all
        pairs, in the order (0, 1), (0, 2), ..., (1, 2), ... .
    alternative : {"two-sided", "less", "greater"}
        The alternative: the difference, first less second, is not 0, below 0, or above 0.
    n_resamples : int >= 1
        Number of draws B.
    rng : int or numpy.random.Generator, optional
        Seed or generator.

    Returns
    -------
    SampledTests
        ``p_values`` and ``std_errors``, their Monte Carlo errors ``sqrt(p (1 - p) / B)``, of shape
        (n_pairs,), and ``method``. Without queries the numbers are NaN.

    Raises
    ------
    PrframeError
        Values that are not finite, or of another shape, pairs of systems that do not exist, or
        options out of range.

    Notes
    -----
    The chance of any p-value <= alpha is at most alpha if the values of each query are
    exchangeable among all systems. For two systems this is the paired randomization test. The
    differences of all pairs are compared with one distribution, which is too wide for systems that
    resemble each other and too narrow for the rest. With 10 near copies among 20 systems of equal
    means, at least one pair has p <= .05 in 9 % of data sets (``python -m
    benchmarks.paired_study``). The maximum of studentized differences (``correction="max-t"`` of
    `compare`) compares each pair with its own spread.

    References
    ----------
    Carterette, *Multiple testing in statistical analysis of systems-based information retrieval
    experiments*, ACM TOIS 2012, section 4.3.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> values = rng.normal(0, 0.1, (3, 40)) + [[0.0], [0.0], [0.1]]
    >>> tukey_randomization(values, rng=2).p_values.round(3)
    array([0.795, 0.   , 0.   ])
    """
    check_alternative(alternative)
    table = reals("values", values)
    if table.ndim != _TWO or not np.isfinite(table).all() or table.shape[0] < _TWO:
        raise PrframeError(
            "`values` must be finite numbers, a row for each of two or more systems and a column "
            f"per query; got an array of shape {table.shape}."
        )
    size = checks.number_of_draws(n_resamples)
    every = list(combinations(range(table.shape[0]), 2))
    compared = every if pairs is None else _known(pairs, table.shape[0])
    first, second = np.array(compared).T
    if not table.shape[1]:
        nothing = np.full(first.size, np.nan)
        return SampledTests(nothing, nothing, "sampled")
    # The mean of each query makes no difference, but its rounding errors would hide small ones.
    size_of_all = float(np.abs(table).sum())
    table = table - table.mean(axis=0)
    totals = table.sum(axis=1)
    observed = totals[first] - totals[second]
    exceeding = np.zeros(first.size, dtype=np.int64)
    slack = EQUAL * float(np.abs(table).sum()) + _ROUNDING * size_of_all
    if alternative == "two-sided":
        observed = np.abs(observed)
    elif alternative == "less":
        observed, first, second = -observed, second, first
    for dealt in _dealt_totals(table, size, random_generator(rng)):
        if alternative == "two-sided" and compared == every:
            most = np.ptp(dealt, axis=1)
        else:
            differences = dealt[:, first] - dealt[:, second]
            most = (np.abs(differences) if alternative == "two-sided" else differences).max(axis=1)
        rising = np.sort(most)
        exceeding += rising.size - np.searchsorted(rising, observed - slack)
    return SampledTests(*counted_p_values(exceeding, size), "sampled")


def _known(pairs: Sequence[tuple[int, int]], n_systems: int) -> list[tuple[int, int]]:
    """Require pairs of two different systems each."""
    known = set(range(n_systems))
    for pair in pairs:
        if len(pair) != _TWO or pair[0] == pair[1] or not known.issuperset(pair):
            raise PrframeError(
                f"`pairs` must be pairs of two systems from 0 to {n_systems - 1}; got {pair}."
            )
    if not len(pairs):
        raise PrframeError("`pairs` must name at least one pair; got none.")
    return [(int(i), int(j)) for i, j in pairs]


def _dealt_totals(table: Floats, n_resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Yield the totals of all systems, the values of each query dealt out anew, some at a time."""
    sizes = [*batch_sizes(n_resamples, table.size, _CHUNK)]
    dealt = np.repeat(table.T[None], sizes[0], axis=0)
    for size in sizes:
        # What was dealt out at random before may be dealt out again.
        rng.permuted(dealt, axis=2, out=dealt)
        yield dealt.sum(axis=1)[:size]
