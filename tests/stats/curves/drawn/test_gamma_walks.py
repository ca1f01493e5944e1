"""Gamma weights that groups share: their law, and that no group depends on another."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import stats

from prframe.stats.curves import drawn_weights
from prframe.stats.curves.drawn.gamma_walks import GammaWalk, Streams, add_up

LATTICES = {"halves": ([0.0], 0.5), "wholes": ([0.0, 0.25, 0.5, 1.0], 1.0)}


def walk(name: str, most: int = 1000) -> GammaWalk:
    return GammaWalk(*LATTICES[name], Streams([2000, 1000], [(7, 1), (8, 1)]), most=most)


@pytest.mark.parametrize("most", [1000, 1])
@pytest.mark.parametrize("name", LATTICES)
def test_sums_have_gamma_distributions(name: str, most: int) -> None:
    shapes = np.array([0.5, 1.0, 3.0, 3.0, 12.0])
    sums = walk(name, most).at(shapes)
    for shape, draws in zip(shapes, sums, strict=True):
        assert stats.kstest(draws, stats.gamma(shape).cdf).pvalue > 0.001
    assert (sums[2] == sums[3]).all()
    # What is added between two shapes does not depend on what was there.
    assert stats.kstest(sums[4] - sums[3], stats.gamma(9).cdf).pvalue > 0.001
    assert abs(stats.spearmanr(sums[3], sums[4] - sums[3]).statistic) < 4 / np.sqrt(3000)


@pytest.mark.parametrize("most", [1000, 1])
@pytest.mark.parametrize("name", LATTICES)
def test_who_asks_first_does_not_matter(name: str, most: int) -> None:
    few, many = np.array([0.5, 2.0]), np.arange(40.0)
    one, other, third = walk(name, most), walk(name, most), walk(name, most)
    first = one.at(few), one.at(many)
    second = other.at(many), other.at(few)
    np.testing.assert_array_equal(first[0], second[1])
    np.testing.assert_array_equal(first[1], second[0])
    with ThreadPoolExecutor(4) as pool:
        for draws in pool.map(third.at, [few, many] * 8):
            np.testing.assert_array_equal(draws, first[len(draws) == many.size])


def test_shapes_are_rounded_to_the_lattice() -> None:
    sums = walk("wholes")
    np.testing.assert_array_equal(sums.at(np.array([0.3, 0.45])), sums.at(np.array([0.25, 0.5])))


def test_blocks_differ_and_the_seed_repeats() -> None:
    one, other = (drawn_weights(2500, np.random.default_rng(3)) for _ in range(2))
    shapes = np.arange(5.0)
    assert [block.n_draws for block in one] == [2048, 452]
    for block, again in zip(one, other, strict=True):
        np.testing.assert_array_equal(block.negatives.at(shapes), again.negatives.at(shapes))
        assert (block.negatives.at(shapes)[1:] != block.positives.at(shapes)[1:]).all()
    assert np.unique([draw for block in one for draw in block.negatives.at(shapes)[1]]).size > 2490


def test_draws_stand_side_by_side() -> None:
    sizes, keys = [500, 500, 200], [(7, 1), (8, 1), (9, 1)]
    for most in (1000, 1):
        whole = GammaWalk(*LATTICES["wholes"], Streams(sizes, keys), most).at(np.arange(40.0))
        parts = [
            GammaWalk(*LATTICES["wholes"], Streams([size], [key]), most).at(np.arange(40.0))
            for size, key in zip(sizes, keys, strict=True)
        ]
        np.testing.assert_array_equal(whole, np.concatenate(parts, axis=1))
        assert whole.dtype == np.float32


def test_running_sums() -> None:
    rows = np.random.default_rng(1).random((6, 4))
    expected = np.cumsum(rows, axis=0)
    np.testing.assert_array_equal(add_up(rows), expected)
