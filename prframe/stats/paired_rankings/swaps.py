"""Randomization of two rankings of the same items, which exchange the ranks of an item."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from prframe.stats._batches import batch_sizes, batches
from prframe.stats._units import Units
from prframe.stats.rankings import Evaluator, items_at_once, joint_levels, merged_for
from prframe.typing import Flags, Floats, Integers

# The number of coins that are tossed with one random number.
_WORD = 64


class SwapDistribution(NamedTuple):
    """Differences of metrics under the null hypothesis that ranks are exchangeable.

    Attributes
    ----------
    differences : ndarray of float, shape (n_metrics, n_swaps)
        NaN where a metric is not defined.
    exact : bool
        Whether the swaps are all that are possible, each once.

    Examples
    --------
    >>> from prframe.stats import RocArea
    >>> from prframe.stats.paired_rankings import PairedRankings
    >>> from prframe.stats.rankings import CellEvaluator
    >>> evaluate = CellEvaluator([True, False], [RocArea()])
    >>> PairedRankings([[2, 1], [1, 2]], evaluate).randomization(0, 1, n_resamples=100)
    SwapDistribution(differences=array([[ 1.,  1.,  1., -1., -1., -1., -1.,  1.]]), exact=True)
    """

    differences: Floats
    exact: bool


def swap_distribution(
    levels: Integers,
    evaluate: Evaluator,
    units: Units,
    n_resamples: int,
    rng: np.random.Generator,
) -> SwapDistribution:
    """Return differences of metrics after the ranks of units of items have been swapped.

    Parameters
    ----------
    levels : ndarray of int, shape (2, N)
        Levels of two rankings.
    evaluate : Evaluator
    units : Units
        The units of items that are swapped together.
    n_resamples : int
        Number of swaps that are sampled; if there are not more than these, all are enumerated.
    rng : numpy.random.Generator

    Returns
    -------
    SwapDistribution

    Notes
    -----
    Mid-ranks are swapped, see `joint_levels`. One coin per swap orders equal mid-ranks of
    different rankings, but for tie blocks of both that are one level. Items with the same mid-rank
    in both rankings keep it.
    """
    joint = joint_levels(levels)
    # Items with the same mid-rank in both models keep it, as a swap could break a model's ties.
    differs = joint[0, 0] // 2 != joint[0, 1] // 2
    # This is 2^n <= n_resamples, without computing a huge number.
    exact = units.number < n_resamples.bit_length()
    tables = [merged_for(evaluate, table) for table in joint]
    held = max(1, items_at_once(evaluate) // levels.shape[1])
    parts = []
    for coin, swaps in (
        _all_swaps(units.number, held) if exact else _swaps(units.number, n_resamples, held, rng)
    ):
        swapped, (first, second) = units.spread(swaps) & differs, tables[coin]
        given = evaluate(np.where(swapped, second, first))
        parts.append(given - evaluate(np.where(swapped, first, second)))
    differences = np.concatenate(parts, axis=1)
    if exact:
        # In the other half of the swaps both rankings change places.
        differences = np.concatenate([differences, -differences], axis=1)
    return SwapDistribution(differences, exact)


def _all_swaps(n: int, held: int) -> Iterator[tuple[int, Flags]]:
    """Yield all swaps of n units, with either coin, in which the last unit stays where it is."""
    for coin in (0, 1):
        for rows in batches(1 << (n - 1), 1, held):
            number = np.arange(rows.start, rows.stop)
            yield coin, (number[:, None] >> np.arange(n)) & 1 > 0


def _swaps(
    n: int, n_resamples: int, held: int, rng: np.random.Generator
) -> Iterator[tuple[int, Flags]]:
    """Draw swaps of n units; those with the first side of the coin come first."""
    heads = int(rng.binomial(n_resamples, 0.5))
    for coin, total in enumerate((heads, n_resamples - heads)):
        for size in batch_sizes(total, 1, held):
            # A row takes whole numbers, so that chunks of any size have the same draws.
            words = rng.integers(0, 1 << _WORD, (size, -(-n // _WORD)), dtype=np.uint64)
            yield coin, np.unpackbits(words.view(np.uint8), axis=1, count=n).view(np.bool_)
