"""Randomization of two rankings of the same items, which exchange the ranks of an item."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from prframe.stats._batches import batch_sizes, batches
from prframe.stats._units import Units
from prframe.stats.paired_rankings.cell_counts import (
    CellCounts,
    counts_of_both,
    differences_of,
    enough_levels,
    rows_at_once,
)
from prframe.stats.paired_rankings.wide_cells import wide_cells
from prframe.stats.rankings import (
    CellEvaluator,
    Evaluator,
    items_at_once,
    joint_levels,
    merged_for,
)
from prframe.typing import Flags, Floats, Integers

_WORD, _BYTE = 64, 8
# Rows of swaps, eight units to a byte.
_Bits: TypeAlias = NDArray[np.uint8]


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
    >>> from prframe.stats import CellEvaluator, PairedRankings, RocArea
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
    different rankings. Items with the same mid-rank in both rankings keep it.
    """
    joint = joint_levels(levels)
    # Items with the same mid-rank in both models keep it, as a swap could break a model's ties.
    differs = joint[0, 0] // 2 != joint[0, 1] // 2
    # This is 2^n <= n_resamples, without computing a huge number.
    exact = units.number < n_resamples.bit_length()
    at_once = units.number, rows_at_once(units.number) * units.number
    if exact:
        draws = _all_swaps(units.number, *at_once)
    else:
        draws = _swaps(units.number, *at_once, n_resamples, rng)
    if isinstance(evaluate, CellEvaluator):
        parts = _swapped_counts(joint, differs, evaluate, units, draws)
    else:
        parts = _swapped_levels(joint, differs, evaluate, units, draws)
    differences = np.concatenate(list(parts), axis=1)
    if exact:
        # In the other half of the swaps both rankings change places.
        differences = np.concatenate([differences, -differences], axis=1)
    return SwapDistribution(differences, exact)


def _swapped_levels(
    joint: Integers,
    differs: Flags,
    evaluate: Evaluator,
    units: Units,
    draws: Iterable[tuple[int, _Bits]],
) -> Iterator[Floats]:
    """Yield differences of metrics that take levels."""
    tables = merged_for(evaluate, joint)
    for coin, bits in draws:
        first, second = tables[coin]
        swaps = flags_of(bits, units.number)
        for rows in batches(len(swaps), first.size, items_at_once(evaluate)):
            swapped = units.spread(swaps[rows]) & differs
            given = evaluate(np.where(swapped, second, first))
            yield given - evaluate(np.where(swapped, first, second))


def _swapped_counts(
    joint: Integers,
    differs: Flags,
    evaluate: CellEvaluator,
    units: Units,
    draws: Iterable[tuple[int, _Bits]],
) -> Iterator[Floats]:
    """Yield differences of metrics that take counts in cells."""
    tables = [wide_cells(enough_levels(levels, evaluate), evaluate) for levels in joint]
    counts = [CellCounts.swapped(table.levels, differs, evaluate, units) for table in tables]
    both = [counts_of_both(table.levels, evaluate) for table in tables]
    for coin, bits in draws:
        given = counts[coin](columns_of(bits, units.number))
        # What the first ranking has lost the second has won.
        yield differences_of(given, both[coin], evaluate, tables[coin].wide)


def _all_swaps(n_units: int, width: int, held: int) -> Iterator[tuple[int, _Bits]]:
    """Return all swaps, with either coin, in which the last unit stays where it is."""
    for coin in (0, 1):
        for rows in batches(1 << (n_units - 1), width, held):
            number = np.arange(rows.start, rows.stop)
            yield coin, np.packbits((number[:, None] >> np.arange(n_units)) & 1 > 0, axis=1)


def _swaps(
    n_units: int, width: int, held: int, n_resamples: int, rng: np.random.Generator
) -> Iterator[tuple[int, _Bits]]:
    """Draw swaps; those with the first side of the coin come first."""
    heads = int(rng.binomial(n_resamples, 0.5))
    for coin, total in enumerate((heads, n_resamples - heads)):
        for size in batch_sizes(total, width, held):
            yield coin, _coins(size, n_units, rng)


def _coins(rows: int, columns: int, rng: np.random.Generator) -> _Bits:
    """Toss fair coins; a row takes whole words, so that chunks of any size have the same draws."""
    words = rng.integers(0, 1 << _WORD, (rows, -(-columns // _WORD)), dtype=np.uint64)
    return words.view(np.uint8)


def flags_of(bits: _Bits, number: int) -> Flags:
    """Return the first bits of each row as flags, shape (rows, number)."""
    return np.unpackbits(bits, axis=1, count=number).view(np.bool_)


def columns_of(bits: _Bits, number: int) -> NDArray[np.uint8]:
    """Return the first bits of each row as numbers, shape (number, rows).

    Bytes are transposed before their bits are told apart, since there are fewer.
    """
    turned = np.ascontiguousarray(bits.T)
    each = np.empty((len(turned), _BYTE, len(bits)), dtype=np.uint8)
    for place in range(_BYTE):
        np.bitwise_and(turned >> (_BYTE - 1 - place), 1, out=each[:, place])
    return each.reshape(-1, len(bits))[:number]
