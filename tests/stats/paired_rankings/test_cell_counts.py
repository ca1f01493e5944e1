"""Counts in cells of swapped and drawn rankings, and draws of multiplicities."""

import numpy as np
import pytest
from scipy import stats

from prframe.stats import (
    AveragePrecision,
    CellEvaluator,
    PrecisionAt,
    PrecisionAtRecall,
    RocArea,
    ranking_levels,
)
from prframe.stats._units import units_of
from prframe.stats.paired_rankings.cell_counts import (
    CellCounts,
    counts_of_both,
    differences_of,
    enough_levels,
    metrics_of,
)
from prframe.stats.paired_rankings.multiplicity_draws import drawn_multiplicities, sums_of_columns
from prframe.stats.paired_rankings.pools import Pools
from prframe.stats.paired_rankings.swaps import columns_of, flags_of

METRICS = [
    [AveragePrecision()],
    [PrecisionAtRecall(0.6), AveragePrecision()],
    [AveragePrecision(), RocArea(), PrecisionAt(9)],
]


def sample(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Levels of two rankings with ties and items that are not retrieved, and labels."""
    rng = np.random.default_rng(seed)
    label = rng.random(n) < 0.2
    scores = np.round(label + rng.normal(size=(2, n)), 1)
    scores[rng.random(scores.shape) < 0.1] = -np.inf
    return ranking_levels(scores), label


@pytest.mark.parametrize("n_clusters", [None, 40])
@pytest.mark.parametrize("metrics", METRICS)
@pytest.mark.parametrize("n", [5, 400])
def test_drawn_counts_give_the_metrics_of_drawn_items(
    n: int, metrics: list, n_clusters: int | None
) -> None:
    levels, label = sample(n, 1)
    evaluate = CellEvaluator(label, metrics)
    units = units_of(None if n_clusters is None else np.arange(n) % n_clusters, n)
    times = np.random.default_rng(2).integers(0, 4, (units.number, 30), dtype=np.uint8)
    counts = CellCounts.drawn(enough_levels(levels[0], evaluate), Pools.of_units(evaluate, units))
    expected = evaluate(levels[:1], units.spread(times.T).astype(np.int64))
    np.testing.assert_allclose(metrics_of(next(counts(times)), evaluate), expected, atol=1e-12)


@pytest.mark.parametrize("n_clusters", [None, 40])
@pytest.mark.parametrize("metrics", METRICS)
def test_swapped_counts_give_the_metrics_of_swapped_levels(
    metrics: list, n_clusters: int | None
) -> None:
    levels, label = sample(400, 3)
    evaluate = CellEvaluator(label, metrics)
    units = units_of(None if n_clusters is None else np.arange(400) % n_clusters, 400)
    rng = np.random.default_rng(4)
    bits, moves = rng.random((units.number, 30)) < 0.5, rng.random(400) < 0.7
    fewer = enough_levels(levels, evaluate)
    counts = CellCounts.swapped(fewer, moves, Pools.of_units(evaluate, units))
    swapped = units.spread(bits.T) & moves
    given = evaluate(np.where(swapped, levels[1], levels[0]))
    other = evaluate(np.where(swapped, levels[0], levels[1]))
    (drawn,) = counts(bits.view(np.uint8))
    np.testing.assert_allclose(metrics_of(drawn, evaluate), given, atol=1e-12)
    differences = differences_of(drawn, counts_of_both(fewer, evaluate), evaluate)
    np.testing.assert_allclose(differences, given - other, atol=1e-12)


def test_a_large_cell_is_counted() -> None:
    # All negatives are in one cell, of which 8 bits would not hold the count.
    label = np.arange(1000) < 3
    level = np.where(label, 2, 1)
    evaluate, units = CellEvaluator(label, [RocArea()]), units_of(None, 1000)
    counts = CellCounts.drawn(level, Pools.of_units(evaluate, units))
    (counts,) = counts(np.full((1000, 2), 3, dtype=np.uint8))
    np.testing.assert_array_equal(counts, [[9, 0, 0, 0, 2991, 0]] * 2)


@pytest.mark.parametrize("n", [1, 2, 7, 9, 12, 100, 3000])
def test_each_resample_has_as_many_units_as_there_are(n: int) -> None:
    drawn = list(
        drawn_multiplicities(np.ones(n, dtype=np.int64), 150, 64, np.random.default_rng(5))
    )
    assert [part.shape for part in drawn] == [(n, 64), (n, 64), (n, 22)]
    assert all((part.sum(axis=0, dtype=np.int64) == n).all() for part in drawn)


@pytest.mark.parametrize("n", [2, 5, 12, 60, 400])
def test_multiplicities_are_multinomial(n: int) -> None:
    draws = 200_000 // n
    times = np.concatenate(
        list(
            drawn_multiplicities(np.ones(n, dtype=np.int64), draws, 500, np.random.default_rng(6))
        ),
        axis=1,
    ).astype(np.int64)
    law = stats.binom(n, 1 / n)
    # Each count is binomial.
    most = int(law.isf(50 / times.size))
    seen = np.bincount(np.minimum(times, most).ravel(), minlength=most + 1)
    chance = np.append(law.pmf(np.arange(most)), law.sf(most - 1))
    deviation = (seen / times.size - chance) / np.sqrt(chance * (1 - chance) / times.size)
    assert np.abs(deviation).max() < 4.5
    # No unit comes up more often than others.
    sums = (times.sum(axis=1) - draws) / np.sqrt(draws * (1 - 1 / n))
    assert np.abs(sums).max() < 4.5


@pytest.mark.parametrize("rows", [1, 7, 8, 1003])
def test_sums_of_bytes_are_those_of_wider_numbers(rows: int) -> None:
    drawn = np.random.default_rng(7).integers(0, 32, (rows, 5), dtype=np.uint8)
    drawn[:, 0] = 31
    np.testing.assert_array_equal(sums_of_columns(drawn), drawn.sum(axis=0, dtype=np.int64))


@pytest.mark.parametrize("number", [1, 8, 63, 64, 130])
def test_bits_of_swaps_are_those_of_their_rows(number: int) -> None:
    words = np.random.default_rng(8).integers(0, 256, (9, 24), dtype=np.uint8)
    flags = flags_of(words, number)
    np.testing.assert_array_equal(flags, np.unpackbits(words, axis=1)[:, :number] > 0)
    np.testing.assert_array_equal(columns_of(words, np.ones(number, dtype=np.int64)), flags.T)
