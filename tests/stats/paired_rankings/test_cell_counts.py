"""Counts in cells of swapped and drawn rankings, and draws of multiplicities."""

import numpy as np
import pytest

from prframe.stats.paired_rankings.multiplicity_draws import drawn_multiplicities
from prframe.stats.paired_rankings.swaps import columns_of, flags_of


@pytest.mark.parametrize("n", [1, 2, 7, 9, 12, 100, 3000])
def test_each_resample_has_as_many_units_as_there_are(n: int) -> None:
    drawn = list(
        drawn_multiplicities(np.ones(n, dtype=np.int64), 150, 64, np.random.default_rng(5))
    )
    assert [part.shape for part in drawn] == [(n, 64), (n, 64), (n, 22)]
    assert all((part.sum(axis=0, dtype=np.int64) == n).all() for part in drawn)


@pytest.mark.parametrize("number", [1, 8, 63, 64, 130])
def test_bits_of_swaps_are_those_of_their_rows(number: int) -> None:
    words = np.random.default_rng(8).integers(0, 256, (9, 24), dtype=np.uint8)
    flags = flags_of(words, number)
    np.testing.assert_array_equal(flags, np.unpackbits(words, axis=1)[:, :number] > 0)
    np.testing.assert_array_equal(columns_of(words, np.ones(number, dtype=np.int64)), flags.T)
