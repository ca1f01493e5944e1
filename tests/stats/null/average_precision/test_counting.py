"""Tails of few positives, which are counted with ties and without."""

from itertools import combinations

import numpy as np
import pytest

from prframe.stats import APNull


@pytest.mark.parametrize("n_pos", [1, 2, 3])
@pytest.mark.parametrize(
    ("n", "depth", "ties"),
    [(9, None, [2, 1, 4, 2]), (11, 6, [1, 3, 2]), (11, 6, None), (8, None, [3, 5]), (7, 4, [4])],
    ids=str,
)
def test_few_positives_among_tie_blocks_by_enumeration(n, depth, ties, n_pos):
    null = APNull(n, n_pos, ties, depth=depth)
    retrieved = n if depth is None else depth
    sizes = [1] * retrieved if ties is None else ties
    end = np.repeat(np.cumsum(sizes), sizes)
    values = []
    for places in combinations(range(n), n_pos):
        ends = [end[place] for place in places if place < retrieved]
        values.append(sum(sum(other <= one for other in ends) / one for one in ends) / n_pos)
    for x in sorted(set(values)):
        tails = null.tails(x)
        assert tails.method == "exact"
        assert np.exp(tails.log_sf) == pytest.approx(np.mean(np.array(values) >= x * (1 - 1e-12)))
        assert np.exp(tails.log_cdf) == pytest.approx(np.mean(np.array(values) <= x * (1 + 1e-12)))


def test_three_positives_among_hundreds_of_blocks_are_counted():
    # 489 of 20,000 items are retrieved, in blocks of 1, 2, 3, 1, 2, 3, ...
    ties = np.resize([1, 2, 3], 245)
    null = APNull(20_000, 3, ties.tolist(), depth=489)
    end = np.append(np.repeat(np.cumsum(ties), ties), np.inf)
    # The chance of several retrieved positives is that of one, but for terms in 1/20,000.
    for x in (1 / 3 / 30, 1 / 3 / 100, 1 / 3 / 400):
        tails = null.tails(x)
        first = np.count_nonzero(end <= 1 / x / 3 * (1 + 1e-9))
        none = np.prod((20_000 - first - np.arange(3.0)) / (20_000 - np.arange(3.0)))
        assert tails.method == "exact"
        assert 1 - none <= np.exp(tails.log_sf) < (1 - none) * 1.1


@pytest.mark.parametrize("depth", [10, 8])
def test_three_negatives_by_enumeration(depth):
    n, values = 10, []
    for negatives in combinations(range(n), 3):
        label = np.ones(n)
        label[list(negatives)] = 0
        values.append((label * np.cumsum(label) / np.arange(1, n + 1))[:depth].sum() / (n - 3))
    null = APNull(n, n - 3, depth=depth)
    for x in sorted(set(values)):
        assert null.sf(x) == pytest.approx(np.mean(np.array(values) >= x * (1 - 1e-12)))
