"""Upper tails next to the best ranking."""

from itertools import combinations
from math import comb, log

import numpy as np
import pytest

from prframe.stats import APNull
from prframe.stats.null.average_precision.tails.counted.near_best import (
    near_best_bound,
    near_best_log_tail,
)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "n_pos"), [(12, 7), (14, 12), (13, 2), (9, 8), (6, 1)])
def test_lists_and_bounds_against_all_rankings(n: int, n_pos: int) -> None:
    hits = np.arange(1, n_pos + 1)
    ranks = np.array(list(combinations(range(1, n + 1), n_pos)))
    total = np.sort((hits / ranks).sum(axis=1))
    listed = 0
    for target in np.unique(total) - 1e-11:
        log_tail = float(np.log(np.mean(total >= target)))
        found = near_best_log_tail(n, n_pos, target)
        if found is not None:
            listed += 1
            assert found == pytest.approx(log_tail, abs=1e-12)
        assert near_best_bound(n, n_pos, target) >= log_tail - 1e-12
    assert listed >= min(5, n - 1)


@pytest.mark.parametrize(("n", "n_pos"), [(10_000, 9_990), (1_000, 900), (2_000, 1_000)])
def test_second_best_of_many_rankings(n: int, n_pos: int) -> None:
    second = (n_pos - 1 + n_pos / (n_pos + 1)) / n_pos
    assert APNull(n, n_pos).logsf(second) == pytest.approx(log(2) - log(comb(n, n_pos)), rel=1e-9)


@pytest.mark.slow
def test_no_tail_is_above_its_bound() -> None:
    n, n_pos = 1_000, 990
    null = APNull(n, n_pos)
    ap = 1 - np.linspace(1, 90, 12) / (n * n_pos)
    logs = np.array([null.logsf(x) for x in ap])
    bounds = [near_best_bound(n, n_pos, n_pos * x * (1 - 1e-12)) for x in ap]
    assert (logs <= np.array(bounds) + 1e-9).all()
    assert (np.diff(logs) >= 0).all()
    assert null.tails(ap[-1]).method == "lattice"
