"""Randomization of two rankings of the same items, which exchange the ranks of an item."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
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
from prframe.stats.paired_rankings.pools import pools_of
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
# Given the sizes of pools for either side of the coin, yields that side and rows of swaps.
_Draw: TypeAlias = Callable[[Sequence[Integers]], Iterator[tuple[int, _Bits]]]


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
    different rankings, but for tie blocks of both that are one level. Items with the same mid-rank
    in both rankings keep it.
    """
    joint = joint_levels(levels)
    # Items with the same mid-rank in both models keep it, as a swap could break a model's ties.
    differs = joint[0, 0] // 2 != joint[0, 1] // 2
    # This is 2^n <= n_resamples, without computing a huge number.
    exact = units.number < n_resamples.bit_length()
    draw = _all_swaps if exact else partial(_swaps, n_resamples, rng)
    if isinstance(evaluate, CellEvaluator):
        parts = _swapped_counts(joint, differs, evaluate, units, n_resamples, draw)
    else:
        parts = _swapped_levels(joint, differs, evaluate, units, draw)
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
    draw: _Draw,
) -> Iterator[Floats]:
    """Yield differences of metrics that take levels."""
    tables = merged_for(evaluate, joint)
    sizes = np.ones(units.number, dtype=np.int64)
    for coin, bits in draw([sizes, sizes]):
        first, second = tables[coin]
        swaps = flags_of(bits, units.number)
        for rows in batches(len(swaps), first.size, items_at_once(evaluate)):
            swapped = units.spread(swaps[rows]) & differs
            given = evaluate(np.where(swapped, second, first))
            yield given - evaluate(np.where(swapped, first, second))


def _swapped_counts(  # noqa: PLR0913, PLR0917
    joint: Integers,
    differs: Flags,
    evaluate: CellEvaluator,
    units: Units,
    n_resamples: int,
    draw: _Draw,
) -> Iterator[Floats]:
    """Yield differences of metrics that take counts in cells."""
    tables = [enough_levels(levels, evaluate) for levels in joint]
    pools = [pools_of(table, evaluate, units, n_resamples, differs) for table in tables]
    counts = [
        CellCounts.swapped(table, differs, pool) for table, pool in zip(tables, pools, strict=True)
    ]
    both = [counts_of_both(table, evaluate) for table in tables]
    sizes = [pool.sizes for pool in pools]
    for coin, bits in draw(sizes):
        for given in counts[coin](columns_of(bits, sizes[coin])):
            # What the first ranking has lost the second has won.
            yield differences_of(given, both[coin], evaluate)


def _all_swaps(sizes: Sequence[Integers]) -> Iterator[tuple[int, _Bits]]:
    """Return all swaps, with either coin, in which the last unit stays where it is."""
    for coin, units in enumerate(sizes):
        for rows in batches(1 << (units.size - 1), 1, rows_at_once(units.size)):
            number = np.arange(rows.start, rows.stop)
            yield coin, np.packbits((number[:, None] >> np.arange(units.size)) & 1 > 0, axis=1)


def _swaps(
    n_resamples: int, rng: np.random.Generator, sizes: Sequence[Integers]
) -> Iterator[tuple[int, _Bits]]:
    """Draw swaps, a bit per item; those with the first side of the coin come first."""
    heads = int(rng.binomial(n_resamples, 0.5))
    for coin, total in enumerate((heads, n_resamples - heads)):
        n_bytes = sum(_bytes_of(number, size) for number, size in _runs(sizes[coin]))
        for rows in batch_sizes(total, 1, rows_at_once(sizes[coin].size)):
            yield coin, _coins(rows, n_bytes, rng)


def _coins(rows: int, n_bytes: int, rng: np.random.Generator) -> _Bits:
    """Toss fair coins; a row takes whole words, so that chunks of any size have the same draws."""
    words = rng.integers(0, 1 << _WORD, (rows, -(-n_bytes * _BYTE // _WORD)), dtype=np.uint64)
    return words.view(np.uint8)


def _runs(sizes: Integers) -> Iterator[tuple[int, int]]:
    """Yield how many pools of each size there are, and the size."""
    for alike in np.split(sizes, np.flatnonzero(np.diff(sizes)) + 1):
        yield alike.size, int(alike[0])


def _bytes_of(number: int, size: int) -> int:
    """Return how many bytes have a bit for each item of so many pools of one size."""
    return -(-number * size // _BYTE)


def flags_of(bits: _Bits, number: int) -> Flags:
    """Return the first bits of each row as flags, shape (rows, number)."""
    return np.unpackbits(bits, axis=1, count=number).view(np.bool_)


def columns_of(bits: _Bits, sizes: Integers) -> NDArray[np.uint8]:
    """Return how many of the bits of each pool are set in each row, shape (n_pools, rows).

    Pools of one size stand together and begin with a byte. Bytes are transposed before their bits
    are told apart, since there are fewer.
    """
    turned = np.ascontiguousarray(bits.T)
    counts, start = [], 0
    for number, size in _runs(sizes):
        part = turned[start : (start := start + _bytes_of(number, size))]
        each = np.empty((len(part), _BYTE // size, len(bits)), dtype=np.uint8)
        for place in range(_BYTE // size):
            shift, mask = _BYTE - (place + 1) * size, (1 << size) - 1
            np.bitwise_and(part >> shift, mask, out=each[:, place])
        if size > 1:
            np.bitwise_count(each, out=each)
        counts.append(each.reshape(-1, len(bits))[:number])
    return counts[0] if len(counts) == 1 else np.concatenate(counts)
