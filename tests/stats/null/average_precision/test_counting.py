"""Tails that are counted: of few positives, of few negatives, and of few tie blocks."""

from itertools import combinations
from math import comb, log

import numpy as np
import pytest
from scipy.stats import binomtest

from prframe.stats import APNull
from prframe.stats.null.average_precision.generating_function.steps import Items
from prframe.stats.null.average_precision.tails.counted.counting import sparse_log_tails
from prframe.stats.null.average_precision.tails.counted.few_blocks import FewBlocks


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


def values_of_rankings(n, n_pos, ends):
    """T = n_pos AP of all rankings, by its definition."""
    found = []
    for places in combinations(range(n), n_pos):
        label = np.zeros(n)
        label[list(places)] = 1
        hits = np.cumsum(label)[np.asarray(ends) - 1]
        found.append((np.diff(hits, prepend=0) * hits / ends).sum())
    return np.array(found)


def blocks(rng, n):
    """A depth, and ends of tie blocks down to it."""
    depth = n if rng.random() < 0.5 else int(rng.integers(1, n))
    number = int(rng.integers(1, min(depth, 5) + 1))
    inner = rng.choice(np.arange(1, depth), number - 1, replace=False) if depth > 1 else []
    return depth, np.sort(np.append(inner, depth)).astype(np.int64)


@pytest.mark.parametrize("seed", range(40))
def test_few_negatives_among_tie_blocks_by_enumeration(seed):
    rng = np.random.default_rng(seed)
    n, few = int(rng.integers(8, 13)), int(rng.integers(1, 4))
    depth, ends = blocks(rng, n)
    values = values_of_rankings(n, n - few, ends)
    for x in np.append(rng.choice(values, 4), [0.0, n]) * (1 - 1e-12):
        logs = sparse_log_tails(Items(n, depth, ends), n - few, float(x))
        np.testing.assert_allclose(np.exp(logs), [(values >= x).mean(), (values < x).mean()])


@pytest.mark.parametrize("seed", range(60))
def test_few_tie_blocks_by_enumeration(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 14))
    n_pos = int(rng.integers(1, n))
    depth, ends = blocks(rng, n)
    items = Items(n, depth, ends)
    if not FewBlocks.serve(items, n_pos):
        assert ends.size == 1
        assert depth == n
        return
    values, few = values_of_rankings(n, n_pos, ends), FewBlocks(items, n_pos)
    for x in np.append(rng.choice(values, 4), [0.0, n]) * (1 - 1e-12):
        tail = few.tail(float(x))
        assert tail.method == "exact"
        found = np.exp([tail.log_reached, tail.log_missed])
        np.testing.assert_allclose(
            found, [(values >= x).mean(), (values < x).mean()], rtol=1e-9, atol=1e-14
        )


@pytest.mark.parametrize(
    ("n", "n_pos", "ties"),
    [
        (4000, 270, [1000] * 4),
        (1000, 300, [200, 300, 500]),
        (1000, 993, [100] * 10),
        (50_000, 49_998, [500] * 100),
        (3000, 12, [5, 45, 150, 800, 2000]),
    ],
    ids=str,
)
def test_counts_agree_with_random_rankings_and_with_their_quantiles(n, n_pos, ties):
    null, rng = APNull(n, n_pos, ties), np.random.default_rng(1)
    inside = rng.multivariate_hypergeometric(ties, n_pos, 20_000)
    drawn = (inside * np.cumsum(inside, axis=1) / np.cumsum(ties)).sum(axis=1) / n_pos
    for x in np.quantile(drawn, [0.1, 0.5, 0.99]) * (1 - 1e-12):
        tails = null.tails(x)
        assert tails.method == "exact"
        reached = int((drawn >= x * (1 - 1e-12)).sum())
        assert binomtest(reached, drawn.size, min(float(np.exp(tails.log_sf)), 1.0)).pvalue > 1e-4
    critical = null.isf(0.05)
    assert null.sf(critical) <= 0.05 * (1 + 1e-5)
    assert null.sf(critical - 1e-4 * null.std()) > 0.049


def test_tails_of_few_blocks_keep_their_digits_far_out():
    # The best ranking of all: the positives fill the first block.
    null = APNull(4000, 200, [200, 800, 3000])
    assert null.logsf(1.0) == pytest.approx(-log(comb(4000, 200)), rel=1e-12)
    # With two blocks all ways can be added up in whole numbers.
    null, gain = (
        APNull(4000, 200, [1000, 3000]),
        [j * j / 1000 + (200 - j) / 20 for j in range(201)],
    )
    for j in (0, 30, 60, 120, 199):
        ways = [comb(1000, k) * comb(3000, 200 - k) for k in range(201) if gain[k] >= gain[j]]
        expected = log(sum(ways)) - log(comb(4000, 200))
        assert null.logsf(gain[j] / 200) == pytest.approx(expected, rel=1e-10, abs=1e-13)


@pytest.mark.parametrize(
    ("n_pos", "ties"), [(700, [2500] * 4), (2000, [3000, 3000, 4000]), (9000, [5000, 5000])]
)
def test_few_blocks_serve_as_many_positives_as_the_guide_says(n_pos, ties):
    ends = np.cumsum(ties)
    assert FewBlocks.serve(Items(10_000, 10_000, ends), n_pos)
    assert APNull(10_000, n_pos, ties).tails(0.9).method == "exact"
