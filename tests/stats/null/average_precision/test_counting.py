"""Tails by counting rankings, from hit to hit and from block to block."""

from itertools import combinations
from math import comb

import numpy as np
import pytest

from prframe.stats.null import APNull
from prframe.stats.null.average_precision.counting import _by_blocks, _by_hits, counted_tails
from prframe.stats.null.average_precision.groups import Case, Cases


@pytest.mark.parametrize(
    ("n", "n_pos", "depth"), [(9, 1, 9), (12, 2, 12), (12, 3, 9), (11, 4, 11), (12, 5, 7)]
)
def test_both_ways_enumerate(n: int, n_pos: int, depth: int) -> None:
    hits = np.arange(1, n_pos + 1)
    ranks = np.array(list(combinations(range(1, n + 1), n_pos)))
    ap = np.where(ranks <= depth, hits / ranks, 0.0).sum(axis=1) / n_pos
    x = np.unique(ap.round(13))[1:]
    group = Cases([Case(n, n_pos, depth)] * x.size)
    problems = [group._problem(place, value) for place, value in enumerate(x.tolist())]
    expected = [np.mean(ap >= value - 1e-12) for value in x]
    for way in (_by_blocks(problems, 1 << 16), [_by_hits(one, 1 << 16) for one in problems]):
        assert np.exp([tail.log_reached for tail in way if tail]) == pytest.approx(expected)


def test_three_positives_among_a_million() -> None:
    # The first two ranks and any third one, and eight rankings that begin with 1, 3 or 1, 4.
    n = 10**6
    tails = APNull(n, 3).tails(2 / 3)
    assert tails.method == "exact"
    assert tails.log_sf == pytest.approx(np.log((n - 2 + 8) / comb(n, 3)), abs=1e-9)


def test_what_has_too_many_states_is_not_counted() -> None:
    group = Cases([Case(10**6, 3, 10**6)])
    assert counted_tails([group._problem(0, 2e-5)], 1 << 13) == [None]
