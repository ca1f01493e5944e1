"""Tails of AP with tie blocks of uneven sizes, some of them small and at the top."""

import numpy as np
import pytest

from prframe.stats import APNull
from prframe.stats.null.average_precision.generating_function.walk import Group
from prframe.stats.null.average_precision.tails.null_tails import NullTails
from prframe.stats.null.average_precision.tails.routes import all_tails

# Items, positives, blocks, and a seed of their sizes.
SHAPES = [(100_000, 1000, 200, 3), (100_000, 3000, 100, 5), (20_000, 400, 50, 8)]


def sizes_of_blocks(n, blocks, seed):
    cuts = np.rint(n * np.random.default_rng(seed).random(blocks - 1))
    return np.diff(np.unique([*cuts, 0, n]).astype(int))


def drawn(n, n_pos, sizes, draws, rng):
    """AP of random rankings, of which each block gets its number of positives."""
    hits, total, left = np.zeros(draws, int), np.zeros(draws), n
    for size, end in zip(sizes.tolist(), np.cumsum(sizes).tolist(), strict=True):
        remain = n_pos - hits
        inside = remain if left == size else rng.hypergeometric(remain, left - remain, size)
        hits = hits + inside
        total += inside * hits / end
        left -= size
    return total / n_pos


@pytest.mark.slow
@pytest.mark.parametrize(("n", "n_pos", "blocks", "seed"), SHAPES)
def test_tails_of_uneven_blocks_are_those_of_random_rankings(n, n_pos, blocks, seed):
    sizes = sizes_of_blocks(n, blocks, seed)
    null = APNull(n, n_pos, ties=sizes)
    values = null.mean() + np.array([1, 2, 3, 4]) * null.std()
    draws = 400_000
    ap = drawn(n, n_pos, sizes, draws, np.random.default_rng(2))
    p = null.sf(values)
    share = (ap[:, None] >= values * (1 - 1e-12)).mean(axis=0)
    assert (np.abs(share - p) <= 4 * np.sqrt(p / draws)).all(), (share, p)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "n_pos", "blocks", "seed"), SHAPES)
def test_tails_of_uneven_blocks_fall_with_ap_and_are_no_mere_bounds(n, n_pos, blocks, seed):
    sizes = sizes_of_blocks(n, blocks, seed)
    null = APNull(n, n_pos, ties=sizes)
    z = np.array([2, 4.7, 6.3, 9, 12.7, 19, 32, 60])
    values = null.mean() + z * null.std()
    tails = NullTails([Group(n, n_pos)], None, np.cumsum(sizes))
    (found,) = all_tails([(tails, np.zeros(z.size, int), values)])
    logs = np.array([tail.log_reached for tail in found])
    assert "bound" not in {tail.method for tail in found}
    assert (np.diff(logs) < 0).all(), logs
    # Uneven blocks skew AP upwards, so that its upper tail is heavier than a normal one.
    assert (logs > -0.5 * z**2 - 4).all(), logs


@pytest.mark.slow
def test_tails_of_twenty_uneven_blocks_are_those_on_a_grid():
    # The number of positives and T were walked down the blocks on grids of 600 and 1,800 values of
    # T, where the tilted distribution leaps; the references are extrapolated from both.
    null = APNull(100_000, 300, ties=sizes_of_blocks(100_000, 20, 0))
    values = null.mean() + np.array([8, 20]) * null.std()
    assert null.logsf(values) == pytest.approx([-15.276, -32.562], abs=0.02)
