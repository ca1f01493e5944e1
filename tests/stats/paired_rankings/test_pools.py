"""Items in the same cells, which are drawn and swapped together."""

from collections import Counter

import numpy as np

from prframe.stats import AveragePrecision, CellEvaluator
from prframe.stats._units import units_of
from prframe.stats.paired_rankings.pools import Pools, pools_of
from prframe.stats.paired_rankings.swaps import columns_of

SIZES = np.repeat([8, 4, 2, 1], [3, 5, 1, 7])


def sample() -> tuple[np.ndarray, CellEvaluator, np.ndarray]:
    """Few levels of two rankings, labels, and which items may move."""
    rng = np.random.default_rng(1)
    levels, label = rng.integers(0, 4, (2, 500)), rng.random(500) < 0.3
    return levels, CellEvaluator(label, [AveragePrecision()]), rng.random(500) < 0.8


def test_many_rankings_are_pooled_too() -> None:
    rng = np.random.default_rng(3)
    levels = rng.integers(0, 300, (9, 200))
    levels = np.concatenate([levels, levels[:, :150]], axis=1)
    pools = Pools.of_items(levels, CellEvaluator(np.arange(350) < 0, [AveragePrecision()]))
    assert Counter(pools.sizes.tolist()) == {2: 150, 1: 50}


def test_clusters_and_few_draws_are_not_pooled() -> None:
    levels, evaluate, _ = sample()
    alone, clusters = units_of(None, 500), units_of(np.arange(500) // 2, 500)
    assert pools_of(levels, evaluate, alone, 10_000).sizes.tolist() == [1] * 500
    assert pools_of(levels, evaluate, clusters, 1 << 40).sizes.tolist() == [1] * 250
    assert pools_of(levels, evaluate, alone, 1 << 40).sizes.size < 250


def test_heads_are_the_bits_of_each_pool() -> None:
    bits = np.random.default_rng(6).integers(0, 256, (9, 16), dtype=np.uint8)
    heads = columns_of(bits, SIZES)
    assert heads.shape == (SIZES.size, 9)
    for row, byte in enumerate(bits):
        each = np.unpackbits(byte)
        eights, fours, two = each[:24].reshape(3, 8), each[24:44].reshape(5, 4), each[48:50]
        expected = [*eights.sum(1), *fours.sum(1), two.sum(), *each[56:63]]
        np.testing.assert_array_equal(heads[:, row], expected)
