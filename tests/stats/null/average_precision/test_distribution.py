"""The null distribution of AP: enumeration, recorded tails, closed forms, bounds, p-values."""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import comb, lgamma, log

import numpy as np
import pytest
from numpy.typing import NDArray

import prframe
from prframe.stats import APNull

# n, n_pos, AP, P(AP >= AP), found by a recursion on a lattice and by tilted simulation, to 2 %.
RECORDED = [
    (100, 5, 0.47, 1.07e-3),
    (300, 10, 0.2390, 1.019e-3),
    (1000, 20, 0.105, 1.115e-3),
    (1000, 100, 0.15, 2.13e-3),
    (5000, 50, 0.05, 1.085e-4),
]
TIES = [[12], [3, 1, 4], [1, 1, 5, 2], [2, 2, 2, 2, 2], [1, 6, 1, 1], [5, 1, 1, 1, 1, 2], [4, 7]]


@cache
def all_values(n: int, n_pos: int, blocks: tuple[int, ...]) -> Counter[Fraction]:
    """Count the values of AP over all rankings; AP counts at the ends of blocks."""
    ends = np.repeat(np.cumsum(blocks), blocks).tolist()
    values: Counter[Fraction] = Counter()
    for chosen in combinations(range(n), n_pos):
        reached = [ends[place] for place in chosen]
        hits = [sum(other <= end for other in reached) for end in reached]
        values[sum(map(Fraction, hits, reached), Fraction(0)) / n_pos] += 1
    return values


def agrees_with_enumeration(null: APNull, blocks: list[int]) -> None:
    """Compare probabilities, quantiles at and between the atoms, and the support."""
    count = all_values(null.n, null.n_pos, tuple(blocks))
    values = sorted(count)
    x = np.array([float(value) for value in values])
    chance = np.array([count[value] for value in values]) / comb(null.n, null.n_pos)
    cdf, sf = np.cumsum(chance), np.cumsum(chance[::-1])[::-1]
    assert null.support() == pytest.approx((x[0], x[-1]), rel=1e-13)
    assert null.sf(x) == pytest.approx(sf, rel=1e-10)
    assert null.cdf(x) == pytest.approx(cdf, rel=1e-10)
    assert np.exp(null.logsf(x)) == pytest.approx(sf, rel=1e-10)
    assert null.sf((x[1:] + x[:-1]) / 2) == pytest.approx(sf[1:], rel=1e-10)
    some = np.unique(np.linspace(0, x.size - 1, 4).astype(int))
    assert null.isf(np.minimum(sf, 1)[some]) == pytest.approx(x[some], rel=1e-11)
    assert null.ppf(np.minimum(cdf, 1)[some]) == pytest.approx(x[some], rel=1e-11)
    # A level between two that are attained: the rarer value, the larger value.
    some = some[1:]
    assert null.isf((sf[some] + sf[some - 1]) / 2) == pytest.approx(x[some], rel=1e-11)
    assert null.ppf((cdf[some] + cdf[some - 1]) / 2) == pytest.approx(x[some], rel=1e-11)
    assert np.isnan(null.isf(sf[-1] / 2))
    assert [null.sf(x[0] - 1e-6), null.cdf(x[0] - 1e-6)] == [1, 0]
    assert [null.sf(x[-1] + 1e-6), null.cdf(x[-1] + 1e-6)] == [0, 1]


@pytest.mark.slow
@pytest.mark.parametrize("n", range(1, 11))
def test_all_small_rankings(n: int) -> None:
    for n_pos in range(1, n + 1):
        if n < 6 or n_pos in {2, n - 1} or (n, n_pos) == (8, 4):
            agrees_with_enumeration(APNull(n, n_pos), [1] * n)


@pytest.mark.slow
@pytest.mark.parametrize("blocks", TIES, ids=str)
def test_all_small_tied_rankings(blocks: list[int]) -> None:
    for n_pos in {1, sum(blocks) // 2, sum(blocks) - 1}:
        agrees_with_enumeration(APNull(sum(blocks), n_pos, ties=blocks), blocks)


def rankings(n: int, n_pos: int) -> NDArray[np.float64]:
    """Return AP of every ranking, in order: every number of n bits is one."""
    bits = np.arange(1 << n, dtype=np.uint32)
    bits = bits[np.bitwise_count(bits) == n_pos]
    hits, total = np.zeros(bits.size), np.zeros(bits.size)
    for rank in range(1, n + 1):
        hit = (bits >> (rank - 1)) & 1
        hits += hit
        total += hit * hits / rank
    return np.sort(total / n_pos)


@pytest.mark.parametrize("method", ["auto", "exact", "lattice"])
@pytest.mark.parametrize("n_pos", [6, 11])
def test_twenty_two_items(n_pos: int, method: str) -> None:
    values = rankings(22, n_pos)
    null = APNull(22, n_pos, method=method)
    for level in (1e-4, 0.01, 0.7):
        x = values[int((1 - level) * values.size)]
        sf = (values >= x * (1 - 1e-12)).mean()
        cdf = (values <= x * (1 + 1e-12)).mean()
        assert null.sf(x) == pytest.approx(sf, rel=1e-2 if method != "exact" else 1e-9)
        assert null.cdf(x) == pytest.approx(cdf, rel=1e-2 if method != "exact" else 1e-9)


@pytest.mark.parametrize(("n", "n_pos", "ap", "p"), RECORDED)
def test_recorded_tails(n: int, n_pos: int, ap: float, p: float) -> None:
    assert APNull(n, n_pos).sf(ap) == pytest.approx(p, rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "n_pos", "ties"),
    [(400, 25, None), (150, 120, None), (300, 20, [4] * 75)],
)
def test_the_walk_and_the_transform_agree(n: int, n_pos: int, ties: list[int] | None) -> None:
    walk, transform = (
        APNull(n, n_pos, ties, method=method) for method in ("lattice", "transform")
    )
    high = walk.mean() + walk.std() * np.array([1.0, 3.0])
    low = walk.mean() - walk.std() * np.array([0.5, 1.0])
    # The inversion is exact to 1e-3 here; the walk is half a per cent off.
    assert walk.sf(high) == pytest.approx(transform.sf(high), rel=1e-2)
    assert walk.cdf(low) == pytest.approx(transform.cdf(low), rel=5e-3)


def log_near_the_top(n: int, n_pos: int, x: float, n_bins: int = 2000) -> float:
    """Count rankings by what each positive loses to the m negatives above it, m/(i + m)."""
    room = n_pos * (1 - x)
    most = min(n - n_pos, int(n_pos * room / (1 - room)) + 1)
    count = np.zeros((most + 1, n_bins + 1))
    count[0, 0] = 1
    for i in range(1, n_pos + 1):
        so_far, count = np.cumsum(count, axis=0), np.zeros_like(count)
        for m in range(most + 1):
            start, part = divmod(m / (i + m) / room * n_bins, 1)
            for at, share in ((int(start), 1 - part), (int(start) + 1, part)):
                if at <= n_bins:
                    count[m, at:] += share * so_far[m, : n_bins + 1 - at]
    ways = lgamma(n + 1) - lgamma(n_pos + 1) - lgamma(n - n_pos + 1)
    return log(count[:, :-1].sum() + count[:, -1].sum() / 2) - ways


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "n_pos", "ap", "within"), [(1000, 30, 0.99, 0.01), (5000, 300, 0.999, 0.2)]
)
def test_near_the_top_beyond_doubles(n: int, n_pos: int, ap: float, within: float) -> None:
    # The tail is smaller than e^-1100 in the second case, so that chances must stay logarithms.
    expected = log_near_the_top(n, n_pos, ap)
    assert APNull(n, n_pos).logsf(ap) == pytest.approx(expected, abs=within)


def log_mgf(n: int, n_pos: int, slope: float) -> float:
    """Return log E[exp(slope n_pos AP)], rank by rank."""
    value = np.full(n_pos + 1, -np.inf)
    value[0] = 0
    hits = np.arange(n_pos + 1)
    for rank in range(1, n + 1):
        share = np.minimum(hits / rank, 1)
        with np.errstate(divide="ignore"):
            stay = np.log1p(-share) + value
            value[1:] = np.log(share[1:]) + slope * share[1:] + value[:-1]
        value[0] = -np.inf
        value = np.logaddexp(stay, value)
    return float(value[-1])


@pytest.mark.slow
@pytest.mark.parametrize(("ap", "slope"), [(0.5, 3.53), (0.9, 6.3)])
def test_many_positives_far_out(ap: float, slope: float) -> None:
    # log P(T >= x) is below K(s) - sx, and at the right slope by no more than a few units.
    n, n_pos = 20_000, 1000
    found = APNull(n, n_pos).logsf(ap)
    bound = log_mgf(n, n_pos, slope) - slope * n_pos * ap
    assert bound - 12 < found < bound + 0.05


@pytest.mark.slow
def test_one_positive_and_one_negative_in_closed_form() -> None:
    for n in (50, 5000, 10**9):
        ranks = np.array([1, 2, 3, 10, n])
        assert APNull(n, 1).sf(1 / ranks) == pytest.approx(ranks / n, rel=1e-12)
    n = 3000
    # The negative at rank r costs the positives below it 1/k each.
    lost = np.cumsum(1 / np.arange(n, 0, -1.0))[::-1] - 1 / np.arange(1, n + 1)
    values = 1 - lost / (n - 1)
    some = values[[0, 10, 1500, 2990, 2999]]
    null = APNull(n, n - 1)
    assert null.sf(some) == pytest.approx([(values >= x * (1 - 1e-13)).mean() for x in some])
    assert null.cdf(some) == pytest.approx([(values <= x * (1 + 1e-13)).mean() for x in some])


def test_two_positives_by_a_double_sum() -> None:
    n = 2000
    first, last = np.triu_indices(n, 1)
    values = (1 / (first + 1) + 2 / (last + 1)) / 2
    null = APNull(n, 2)
    for x in (0.001, 0.003, 0.02, 0.3, 5 / 6):
        assert null.sf(x) == pytest.approx((values >= x * (1 - 1e-12)).mean(), rel=5e-3)


@pytest.mark.slow
def test_the_best_ranking() -> None:
    for n, n_pos in ((30, 3), (1000, 20), (1900, 900)):
        assert APNull(n, n_pos).sf(1.0) == pytest.approx(1 / comb(n, n_pos), rel=1e-10)
    # Smaller than any float, but not nothing.
    null = APNull(50_000, 300)
    assert null.sf(0.9) > 0
    assert null.logsf(1.0) == pytest.approx(-log(comb(50_000, 300)), rel=1e-12)
    assert null.logsf(1.0) < null.logsf(0.99) < null.logsf(0.9) < -745
    # One positive in the second block and two in the last are worse than three in the last.
    assert APNull(12, 3, ties=[4, 4, 4]).support() == pytest.approx(((1 / 8 + 2 / 4) / 3, 3 / 4))


@pytest.mark.slow
@pytest.mark.parametrize("n_pos", [12, 60])
def test_it_falls_with_ap_and_stays_within_its_bounds(n_pos: int) -> None:
    null = APNull(300, n_pos)
    x = np.linspace(*null.support(), 25)
    found = null.sf(x)
    assert (np.diff(found) <= 0).all()
    assert found[0] == 1
    assert (found > 0).all()
    for place in (2, 9, 20):
        low, high = null.sf_bounds(float(x[place]))
        # What is bounded is the truth, from which an approximation differs.
        assert low * 0.995 <= found[place] <= high * 1.005


@pytest.mark.slow
def test_bounds_have_the_shape_of_the_values() -> None:
    null = APNull(60, 12)
    x = np.array([[0.3, 0.5], [0.7, 1.0]])
    low, high = null.sf_bounds(x)
    assert np.shape(low) == np.shape(high) == x.shape
    for place, value in np.ndenumerate(x):
        assert (low[place], high[place]) == null.sf_bounds(float(value))
    assert all(isinstance(bound, float) for bound in null.sf_bounds(0.4))
    assert [np.shape(bound) for bound in null.sf_bounds([])] == [(0,), (0,)]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "n_pos"), [(500, 10), (300, 100)])
def test_critical_values_are_inverse(n: int, n_pos: int) -> None:
    null = APNull(n, n_pos)
    for q in (0.2, 0.01, 1e-6):
        assert null.sf(null.isf(q)) == pytest.approx(q, rel=0.01)
        assert null.cdf(null.ppf(q)) == pytest.approx(q, rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize(("n_pos", "ties"), [(6, None), (50, None), (6, [3] * 40)])
def test_p_values_of_draws_are_uniform(n_pos: int, ties: list[int] | None) -> None:
    null = APNull(120, n_pos, ties)
    draws = null.rvs(4000, rng=11)
    assert (null.rvs(4000, rng=11) == draws).all()
    assert abs(draws.mean() - null.mean()) < 5 * null.std() / np.sqrt(draws.size)
    for level in (0.01, 0.1, 0.5):
        critical = null.isf(level)
        p = null.sf(critical)
        share = (draws >= critical * (1 - 1e-12)).mean()
        # The level is nearly attained; four deviations.
        assert level * 0.9 < p <= level * (1 + 1e-9)
        assert abs(share - p) < 4 * np.sqrt(p / draws.size)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: APNull(3, 4), "`n_pos` must be at most n = 3; got 4."),
        (lambda: APNull(0, 1), "`n` must be a whole number >= 1; got 0."),
        (lambda: APNull(5, 0), "`n_pos` must be a whole number >= 1; got 0."),
        (
            lambda: APNull(5, 2, method="exakt"),
            "`method` must be one of 'auto', 'exact', 'lattice', 'saddlepoint', 'transform'; got "
            "'exakt'. Did you mean 'exact'?",
        ),
        (
            lambda: APNull(1000, 100, method="exact").sf(0.5),
            "method 'exact' counts up to 4194304 rankings; there are 10^140 of 100 positives "
            "among 1000 items; use method 'auto'.",
        ),
        (
            lambda: APNull(5000, 1000).sf_bounds(0.22),
            "method 'lattice' and `sf_bounds` take more than 400 positives and more than 400 "
            "negatives only where few rankings are as good, or as bad; got 1000 positives among "
            "5000 items; use `sf` with method 'auto'.",
        ),
        (lambda: APNull(5, 2).cdf("a"), "`x` must be numbers; got 'a'."),
        (lambda: APNull(5, 2).isf(0), "`q` must lie in (0, 1]; got 0."),
        (lambda: APNull(5, 2).ppf(1.5), "`q` must lie in (0, 1]; got 1.5."),
        (lambda: APNull(5, 2).stats("mx"), "`moments` must be letters of 'mvsk'; got 'mx'."),
        (
            lambda: APNull(5, 2).sf_bounds(0.5, cell=1),
            "`cell` must be a number > 0 and < 1; got 1.",
        ),
        (lambda: APNull(5, 2).sf_bounds("a"), "`x` must be numbers; got 'a'."),
        (lambda: APNull(5, 2).rvs(0), "`size` must be a whole number >= 1; got 0."),
    ],
)
def test_refusals(call: Callable[[], object], message: str) -> None:
    with pytest.raises(prframe.PrframeError) as caught:
        call()
    assert str(caught.value) == message


def test_bounds_of_nan_are_nan() -> None:
    null = APNull(12, 4)
    low, high = null.sf_bounds([np.nan, 0.5])
    assert np.isnan([low[0], high[0]]).all()
    assert (low[1], high[1]) == null.sf_bounds(0.5)


@pytest.mark.parametrize("depth", [7, 14, 18])
def test_ap_does_not_vary_where_all_items_are_positive_and_few_are_retrieved(depth):
    null = APNull(30, 30, depth=depth)
    assert null.mean() == pytest.approx(depth / 30, rel=1e-12)
    assert (null.var(), null.std()) == (0.0, 0.0)
