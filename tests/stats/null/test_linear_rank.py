"""The null distribution of linear rank statistics, against enumeration and simulation."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from prframe.errors import PrframeError
from prframe.stats import LinearRankNull, parse_phi
from prframe.stats.null.subset_sums.counting import Lattice, LatticeDistribution, SubsetTables, Urn

SAME = 1e-9


def sums(scores, n_pos):
    """All sums of n_pos of the scores."""
    return np.array([sum(chosen) for chosen in combinations(scores, n_pos)])


def ranks(n):
    return np.arange(1, n + 1) / (n + 1)


@given(
    blocks=st.lists(
        st.tuples(st.sampled_from([-1.5, 0.0, 0.1, 0.25, 0.3, 1.0, 2.0]), st.integers(1, 4)),
        min_size=1,
        max_size=5,
    ),
    data=st.data(),
)
def test_exact_tails_are_those_of_all_choices(blocks, data):
    values, sizes = zip(*blocks, strict=True)
    items = np.repeat(values, sizes)
    n_pos = data.draw(st.integers(1, items.size))
    null, all_sums = LinearRankNull(values, n_pos, sizes), sums(items, n_pos)
    assert null.mean() == pytest.approx(all_sums.mean(), abs=1e-12)
    assert null.var() == pytest.approx(all_sums.var(), abs=1e-12)
    assert null.support() == pytest.approx((all_sums.min(), all_sums.max()), abs=1e-12)
    w = data.draw(st.sampled_from([*all_sums, all_sums.min() - 0.01, all_sums.max() + 0.01, 0.07]))
    above, below, method = null.using("exact").tails(w)
    assert method == "exact"
    assert np.exp(above) == pytest.approx((all_sums >= w - SAME).mean(), rel=1e-12)
    assert np.exp(below) == pytest.approx((all_sums <= w + SAME).mean(), rel=1e-12)


def test_tables_and_walk_agree_where_neither_can_be_enumerated():
    urn = Urn(np.arange(1.0, 34.0), np.ones(33, np.int64), 15)
    tables, walk = SubsetTables.of(urn), LatticeDistribution.of(urn, Lattice.of(urn.values))
    for w in (175.0, 255.0, 320.0, 380.0):
        assert tables.tails(w) == pytest.approx(walk.tails(w), rel=1e-11)


FUNCTIONS = ["dcg", "local-auc", "logrank", "mww", "p-norm-push(q=20)", "rtb", "van-der-waerden"]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(("n", "n_pos"), [(30, 12), (33, 5), (33, 28)])
def test_what_is_not_counted_is_within_a_percent_or_an_estimate(name, n, n_pos):
    null = LinearRankNull(parse_phi(name).of_size(n)(ranks(n)), n_pos)
    low, high = null.support()
    for w in null.mean() + null.std() * np.array([-3.0, -1.2, 0.1, 1.7, 3.5]):
        exact = null.using("exact").tails(w)
        assert exact.method == "exact"
        # Where a few dozen subsets are left, no smooth function has their number.
        if not low < w < high or min(exact.log_sf, exact.log_cdf) < np.log(300 / comb(n, n_pos)):
            continue
        found = null.using("saddlepoint").tails(w)
        off = 0.01 if found.method in {"saddlepoint", "inversion"} else 0.3
        assert found.log_sf == pytest.approx(exact.log_sf, abs=off)
        assert found.log_cdf == pytest.approx(exact.log_cdf, abs=off)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dcg", "dcg(k=10)", "local-auc", "p-norm-push(q=20)", "rtb"])
@pytest.mark.parametrize(("n", "n_pos"), [(400, 12), (100, 33), (1000, 100)])
def test_sums_that_clump_have_the_tails_of_draws(name, n, n_pos):
    draws = 40_000
    phi = parse_phi(name).of_size(n)
    null = LinearRankNull(phi(ranks(n)), n_pos)
    drawn = np.sort(null.rvs(draws, rng=1))
    for level in (0.5, 0.9, 0.99):
        w = drawn[int(level * draws)]
        share = (drawn >= w - SAME).mean()
        found = null.using("saddlepoint").tails(w)
        # Half of a value that is likely by itself is missing from an estimate.
        off = {"estimate": 0.5, "monte-carlo": 0.05}.get(found.method, 0.02)
        error = 4 * (share / draws) ** 0.5
        assert np.exp(found.log_sf) == pytest.approx(share, abs=error + off * share)


@pytest.mark.parametrize(
    ("n", "depth", "n_pos"), [(1796, 100, 173), (5000, 100, 5), (99_999, 1000, 50)]
)
def test_lists_that_are_cut_off_have_the_tails_of_draws(n, depth, n_pos):
    # Sums clump by how many positives are listed: saddlepoints of all were up to 3 times too small.
    listed = ranks(n)[-depth:]
    null = LinearRankNull([ranks(n)[:-depth].mean(), *listed], n_pos, [n - depth, *[1] * depth])
    drawn = np.sort(null.rvs(20_000, rng=1))
    for level in (0.5, 0.9, 0.99):
        w = drawn[int(level * drawn.size)]
        share = (drawn >= w - SAME).mean()
        error = 4 * (share / drawn.size) ** 0.5
        assert null.sf(w) == pytest.approx(share, abs=error + 0.02 * share)


def test_draws_have_the_moments():
    null = LinearRankNull([0.0, 1.0, 3.0], 4, sizes=[5, 2, 3])
    drawn = null.rvs(20_000, rng=3)
    assert drawn.mean() == pytest.approx(null.mean(), abs=5 * null.std() / 20_000**0.5)
    assert drawn.var() == pytest.approx(null.var(), rel=0.05)


def test_one_value_has_no_other_tail():
    null = LinearRankNull([2.0], 3, sizes=[7])
    assert (null.sf(6.0), null.cdf(6.0), null.var()) == (1.0, 1.0, 0.0)
    assert (null.sf(6.1), null.cdf(5.9)) == (0.0, 0.0)
    assert LinearRankNull([1.0, 2.0], 2, method="normal").tails(3.0)[:2] == (0.0, 0.0)


@pytest.mark.slow
def test_saddlepoints_settle_for_a_million_scores():
    """Heights lose digits in long sums; steps must not be halved for that."""
    null = LinearRankNull(ranks(1_000_000) ** 1000, 10_000)
    tail = null.tails(null.mean() + 0.1 * null.std())
    assert np.exp(tail.log_sf) == pytest.approx(stats.norm.sf(0.1), abs=0.03)


def test_orders_of_a_few_ranks_count_among_many_items():
    # Of five retrieved items the best, third and fourth are positive, as are two of the others.
    n = 10**11
    values, sizes = [*np.arange(n - 4, n + 1) / (n + 1), (n - 4) / 2 / (n + 1)], [1] * 5 + [n - 5]
    w = sum(values[place] for place in (4, 2, 1, 5, 5))
    three, more = 4 * comb(n - 5, 2), 5 * (n - 5) + 1
    assert LinearRankNull(values, 5, sizes).sf(w) == pytest.approx((three + more) / comb(n, 5))


def test_more_items_are_refused_than_floats_can_rank():
    message = r"^`sizes` must add up to at most 10,000,000,000,000; got 10,000,000,000,001"
    with pytest.raises(PrframeError, match=message):
        LinearRankNull([0.0, 1.0], 2, [1, 10**13])
