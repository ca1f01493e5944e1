"""All systems at once: the randomized version of Tukey's honestly significant differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from prframe import checks
from prframe.errors import PrframeError
from prframe.stats._arrays import random_generator, reals
from prframe.stats._batches import batch_sizes
from prframe.stats._p_values import check_alternative
from prframe.stats._tolerances import EQUAL
from prframe.stats.paired_values.family import SampledTests
from prframe.stats.paired_values.sampled_p_values import counted_p_values
from prframe.typing import Alternative, Floats

# Values that are permuted at a time.
_CHUNK = 1 << 20
_TWO = 2
# Rounding of a sum, in its parts.
_ROUNDING = 4 * float(np.finfo(float).eps)


def tukey_randomization(
    values: ArrayLike,
    pairs: Sequence[tuple[int, int]] | None = None,
    *,
    alternative: Alternative = "two-sided",
    n_resamples: int = 10_000,
    rng: int | np.random.Generator | None = None,
) -> SampledTests:
    """Test pairs of systems, with p-values adjusted for all of them: the randomized Tukey HSD.

    ``p_ij = (1 + #{max_kl |mean_k* - mean_l*| >= |mean_i - mean_j|}) / (B + 1)``, the values of
    each query being dealt out to the systems at random, query by query.

    Parameters
    ----------
    values : array_like of float, shape (n_systems, n_queries)
        One value per system and query.
    pairs : sequence of (int, int), optional
        The pairs of systems that are compared, and over which the maximum is; absent: all, in the
        order (0, 1), (0, 2), ..., (1, 2), ... .
    alternative : {"two-sided", "less", "greater"}
        That the difference, first less second, is not 0, below it, or above.
    n_resamples : int >= 1
        Draws B.
    rng : int or numpy.random.Generator, optional
        Seed or generator.

    Returns
    -------
    SampledTests
        ``p_values`` and ``std_errors``, their Monte Carlo errors ``sqrt(p (1 - p) / B)``, of shape
        (n_pairs,), and ``method``. NaN without queries.

    Raises
    ------
    PrframeError
        Values that are not finite, or of another shape, pairs of systems that are not there, or
        options out of range.

    Notes
    -----
    The chance of any p-value <= alpha is at most alpha if the values of each query are
    exchangeable among all systems. For two systems this is the paired randomization test. The
    differences of all pairs are measured against one distribution: too wide for systems that
    resemble each other and too narrow for the rest. With 10 near copies among 20 systems of equal
    means, some pair has p <= .05 in 9 % of data sets (``python -m benchmarks.paired_study``). The
    maximum of studentized differences (``correction="max-t"`` of `compare`) measures each pair
    against its own spread.

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
    size = checks.whole_number("n_resamples", n_resamples, at_least=1)
    every = list(combinations(range(table.shape[0]), 2))
    some = every if pairs is None else _known(pairs, table.shape[0])
    first, second = np.array(some).T
    if not table.shape[1]:
        nothing = np.full(first.size, np.nan)
        return SampledTests(nothing, nothing, "sampled")
    # What is alike for all systems makes no difference, but would drown small ones.
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
        if alternative == "two-sided" and some == every:
            most = np.ptp(dealt, axis=1)
        else:
            differences = dealt[:, first] - dealt[:, second]
            most = (np.abs(differences) if alternative == "two-sided" else differences).max(axis=1)
        rising = np.sort(most)
        exceeding += rising.size - np.searchsorted(rising, observed - slack)
    return SampledTests(*counted_p_values(exceeding, size), "sampled")


def _known(pairs: Sequence[tuple[int, int]], n_systems: int) -> list[tuple[int, int]]:
    """Require pairs of two systems each."""
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
    sizes = batch_sizes(n_resamples, table.size, _CHUNK)
    dealt = np.repeat(table.T[None], sizes[0], axis=0)
    for size in sizes:
        # What was dealt out at random before may be dealt out again.
        rng.permuted(dealt, axis=2, out=dealt)
        yield dealt.sum(axis=1)[:size]
