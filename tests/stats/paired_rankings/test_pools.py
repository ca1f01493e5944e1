"""Items in the same cells, which are drawn and swapped together."""

from collections import Counter

import numpy as np
import pytest
from scipy import stats

from prframe.stats import AveragePrecision, CellEvaluator, PairedRankings, ranking_levels
from prframe.stats._units import units_of
from prframe.stats.paired_rankings import pools as pools_module
from prframe.stats.paired_rankings.cell_counts import CellCounts
from prframe.stats.paired_rankings.multiplicity_draws import drawn_multiplicities
from prframe.stats.paired_rankings.pools import Pools, pools_of
from prframe.stats.paired_rankings.swaps import columns_of

SIZES = np.repeat([8, 4, 2, 1], [3, 5, 1, 7])


def sample() -> tuple[np.ndarray, CellEvaluator, np.ndarray]:
    """Few levels of two rankings, labels, and which items may move."""
    rng = np.random.default_rng(1)
    levels, label = rng.integers(0, 4, (2, 500)), rng.random(500) < 0.3
    return levels, CellEvaluator(label, [AveragePrecision()]), rng.random(500) < 0.8


def test_pools_have_the_items_of_each_cell() -> None:
    levels, evaluate, moves = sample()
    pools = Pools.of_items(levels, evaluate, moves)
    kinds = list(zip(*levels, evaluate.label, moves, strict=True))
    pooled = Counter()
    for item, size in zip(pools.item, pools.sizes, strict=True):
        pooled[kinds[item]] += int(size)
    assert pooled == Counter(kinds)
    assert set(pools.sizes) == {8, 4, 2, 1}
    assert (np.diff(pools.sizes) <= 0).all()
    np.testing.assert_array_equal(pools.evaluate.label, evaluate.label[pools.item])


def test_pools_do_not_depend_on_the_order_of_items() -> None:
    levels, evaluate, moves = sample()
    order = np.random.default_rng(2).permutation(500)
    turned = CellEvaluator(evaluate.label[order], evaluate.statistics)
    first = Pools.of_items(levels, evaluate, moves)
    other = Pools.of_items(levels[:, order], turned, moves[order])
    np.testing.assert_array_equal(first.sizes, other.sizes)
    np.testing.assert_array_equal(levels[:, first.item], levels[:, order[other.item]])


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


def test_counts_of_pools_are_those_of_their_items() -> None:
    levels, evaluate, moves = sample()
    pools = Pools.of_items(levels, evaluate, moves)
    rng = np.random.default_rng(4)
    times = rng.integers(0, 3 * pools.sizes[:, None], (pools.sizes.size, 6)).astype(np.uint8)
    n_cells = levels.max() + 1
    cells = np.where(evaluate.label, n_cells, 2 * n_cells) - 1 - levels
    of_pools = cells[:, pools.item]
    expected = [np.bincount(of_pools[0], column, 2 * n_cells) for column in times.T]
    (counts,) = CellCounts.drawn(levels[0], pools)(times)
    np.testing.assert_array_equal(counts, expected)
    heads = rng.integers(0, pools.sizes[:, None] + 1, (pools.sizes.size, 6)).astype(np.uint8)
    stays = pools.sizes[:, None] - heads * moves[pools.item][:, None]
    expected = [
        np.bincount(of_pools.ravel(), np.append(column, pools.sizes - column), 2 * n_cells)
        for column in stays.T
    ]
    (counts,) = CellCounts.swapped(levels, moves, pools)(heads)
    np.testing.assert_array_equal(counts, expected)


@pytest.mark.parametrize("n_small", [7, 400])
def test_each_pool_comes_up_as_often_as_its_units(n_small: int) -> None:
    sizes = np.repeat([8, 4, 2, 1], [3, 5, 1, n_small])
    n, draws = sizes.sum(), 3_000
    parts = list(drawn_multiplicities(sizes, draws, 700, np.random.default_rng(5)))
    times = np.concatenate(parts, axis=1).astype(np.int64)
    assert (times.sum(axis=0) == n).all()
    for size in (8, 4, 2, 1):
        law, seen = stats.binom(n, size / n), times[sizes == size]
        bounds = np.arange(law.ppf(0.001), law.isf(0.001) + 1)
        expected = law.cdf(bounds)
        share = [(seen <= bound).mean() for bound in bounds]
        error = np.sqrt(expected * (1 - expected) / seen.size)
        assert np.abs((share - expected) / error).max() < 4.5


def test_heads_are_the_bits_of_each_pool() -> None:
    bits = np.random.default_rng(6).integers(0, 256, (9, 16), dtype=np.uint8)
    heads = columns_of(bits, SIZES)
    assert heads.shape == (SIZES.size, 9)
    for row, byte in enumerate(bits):
        each = np.unpackbits(byte)
        eights, fours, two = each[:24].reshape(3, 8), each[24:44].reshape(5, 4), each[48:50]
        expected = [*eights.sum(1), *fours.sum(1), two.sum(), *each[56:63]]
        np.testing.assert_array_equal(heads[:, row], expected)


def test_pooled_draws_vary_as_single_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    label = rng.random(3000) < 0.1
    levels = ranking_levels(label + rng.normal(size=3000) + rng.normal(0, 0.5, (2, 3000)))
    rankings = PairedRankings(levels, CellEvaluator(label, [AveragePrecision()]))

    def draws() -> tuple[np.ndarray, np.ndarray]:
        resampled = rankings.replicates(2000, 8)[0]
        return resampled[0] - resampled[1], rankings.randomization(0, 1, 2000, 8).differences[0]

    single = draws()
    monkeypatch.setattr(pools_module, "_MANY", 0)
    for alone, pooled in zip(single, draws(), strict=True):
        assert not np.array_equal(alone, pooled)
        assert stats.ks_2samp(alone, pooled).pvalue > 0.01
