"""Running sums of two arrays at a time."""

import numpy as np

from prframe.stats._arrays import running_sums


def test_running_sums_are_those_of_each_array_to_the_last_bit():
    rng = np.random.default_rng(1)
    first, second = rng.random((3, 300)), rng.random((2, 300)) ** 40
    sums = running_sums(first, second[:, ::-1])
    assert (sums[:, :, 0] == np.cumsum(first, axis=1)).all()
    assert (sums[:2, :, 1] == np.cumsum(second[:, ::-1], axis=1)).all()
