"""Numbers of hits that count in sums over the hypergeometric distribution."""

import numpy as np
import pytest

from prframe.stats.null.hypergeometric import plausible_hits, probability


@pytest.mark.parametrize(("n", "n_pos", "k"), [(5, 3, 4), (60, 7, 60), (300, 200, 150), (9, 9, 2)])
def test_all_possible_hits_of_small_groups_are_plausible(n: int, n_pos: int, k: int) -> None:
    expected = range(max(0, k - (n - n_pos)), min(k, n_pos) + 1)
    assert plausible_hits(n, n_pos, k).tolist() == list(expected)


@pytest.mark.parametrize(
    ("n", "n_pos", "k"), [(10**7, 10**5, 10**6), (10**6, 10**5, 20), (10**8, 10**6, 100)]
)
def test_hits_that_are_left_out_have_no_weight(n: int, n_pos: int, k: int) -> None:
    hits = plausible_hits(n, n_pos, k).astype(float)
    beyond = np.array([hits[0] - 1, hits[-1] + 1])
    table = np.broadcast_arrays(np.concatenate([hits, beyond]), float(n), float(n_pos), float(k))
    chance = probability(*table)
    assert chance[:-2].sum() == pytest.approx(1, abs=1e-9)
    assert (chance[-2:] < 1e-40).all()
