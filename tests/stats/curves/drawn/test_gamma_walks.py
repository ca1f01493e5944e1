"""Gamma weights that groups share: their law, and that no group depends on another."""

import numpy as np

from prframe.stats.curves import drawn_weights


def test_blocks_differ_and_the_seed_repeats() -> None:
    one, other = (drawn_weights(2500, np.random.default_rng(3)) for _ in range(2))
    shapes = np.arange(5.0)
    assert [block.n_draws for block in one] == [2048, 452]
    for block, again in zip(one, other, strict=True):
        np.testing.assert_array_equal(block.negatives.at(shapes), again.negatives.at(shapes))
        assert (block.negatives.at(shapes)[1:] != block.positives.at(shapes)[1:]).all()
    assert np.unique([draw for block in one for draw in block.negatives.at(shapes)[1]]).size > 2490
