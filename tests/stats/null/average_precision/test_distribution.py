"""The null distribution of AP: enumeration, closed forms, quantiles, random labels."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from scipy.stats import binomtest

from prframe.stats import APNull
from prframe.stats.null.average_precision.groups import Case, Cases
from prframe.typing import Floats
from tests.refusals import refusals

# Values of AP that differ by less are equal.
EQUAL = 1e-12
# n, n_pos, AP, P(AP >= AP), found by a recursion on a lattice and by tilted simulation, to 2 %.
RECORDED = [
    (100, 5, 0.47, 1.07e-3),
    (300, 10, 0.2390, 1.019e-3),
    (1000, 20, 0.105, 1.115e-3),
    (1000, 100, 0.15, 2.13e-3),
    (5000, 50, 0.05, 1.085e-4),
]


def values_of(n: int, n_pos: int, ends: Floats) -> Floats:
    """Return AP of all rankings by its definition, rising; AP counts at the ends of blocks."""
    label = np.zeros((comb(n, n_pos), n))
    np.put_along_axis(label, np.array(list(combinations(range(n), n_pos))), 1.0, axis=1)
    hits = np.cumsum(label, axis=1)[:, ends - 1]
    return np.sort((np.diff(hits, prepend=0, axis=1) * hits / ends).sum(axis=1) / n_pos)


def all_blocks(depth: int) -> list[Floats]:
    """Return the ends of blocks of every way to tie the retrieved items."""
    inner = range(1, depth)
    ways = [cuts for number in range(depth) for cuts in combinations(inner, number)]
    return [np.array([*cuts, depth]) for cuts in ways]


def agrees_with_enumeration(null: APNull, values: Floats) -> None:
    """Compare tails and quantiles at and between all values, which rise."""
    x = values[np.diff(values, prepend=-1.0) > EQUAL]
    sf = (values >= x[:, None] - EQUAL).mean(axis=1)
    cdf = (values <= x[:, None] + EQUAL).mean(axis=1)
    assert null.support() == pytest.approx((x[0], x[-1]), rel=1e-13)
    assert null.sf(x) == pytest.approx(sf, rel=1e-9)
    assert null.cdf(x) == pytest.approx(cdf, rel=1e-9)
    assert null.sf((x[1:] + x[:-1]) / 2) == pytest.approx(sf[1:], rel=1e-9)
    assert [null.tails(value).method for value in x[[0, -1]]] == ["exact", "exact"]


SMALL = [(n, depth) for n in range(1, 8) for depth in range(1, n + 1)]


@pytest.mark.parametrize(
    ("n", "depth"), [pytest.param(*s, marks=pytest.mark.slow if s[0] > 4 else ()) for s in SMALL]
)
def test_all_small_rankings(n: int, depth: int) -> None:
    for ends in all_blocks(depth):
        for n_pos in range(1, n + 1):
            null = APNull(n, n_pos, np.diff(ends, prepend=0).tolist(), depth=depth)
            agrees_with_enumeration(null, values_of(n, n_pos, ends))


@pytest.mark.parametrize("n_pos", [1, 2, 4, 6, 7])
def test_small_rankings_without_ties(n_pos: int) -> None:
    for depth in (8, 5):
        null = APNull(8, n_pos, depth=depth)
        agrees_with_enumeration(null, values_of(8, n_pos, np.arange(1, depth + 1)))


@pytest.mark.parametrize("method", ["auto", "exact", "lattice", "saddlepoint", "transform"])
@pytest.mark.parametrize("n_pos", [6, 10])
def test_each_method_among_sixteen_items(n_pos: int, method: str) -> None:
    values = values_of(16, n_pos, np.arange(1, 17))
    null = APNull(16, n_pos, method=method)
    for level in (0.01, 0.1, 0.7):
        x = values[int((1 - level) * values.size)]
        sf, cdf = (values >= x - EQUAL).mean(), (values <= x + EQUAL).mean()
        within = 1e-9 if method in {"auto", "exact"} else 0.02
        if null.tails(x).method != "estimate":
            assert null.sf(x) == pytest.approx(sf, rel=within)
            assert null.cdf(x) == pytest.approx(cdf, rel=within)


@pytest.mark.parametrize(("n", "n_pos", "ap", "p"), RECORDED)
def test_recorded_tails(n: int, n_pos: int, ap: float, p: float) -> None:
    assert APNull(n, n_pos).sf(ap) == pytest.approx(p, rel=0.02)


def test_one_positive_and_one_negative_in_closed_form() -> None:
    for n in (50, 10**7):
        ranks = np.array([1, 2, 3, 10, n])
        assert APNull(n, 1).sf(1 / ranks) == pytest.approx(ranks / n, rel=1e-12)
    n = 3000
    # The negative at rank r costs the positives below it 1/k each.
    lost = np.cumsum(1 / np.arange(n, 0, -1.0))[::-1] - 1 / np.arange(1, n + 1)
    values = 1 - lost / (n - 1)
    for x in values[[10, 1500, 2990]]:
        assert APNull(n, n - 1).sf(x) == pytest.approx((values >= x - 1e-13).mean(), rel=0.01)


@pytest.mark.slow
def test_two_positives_by_a_double_sum() -> None:
    n = 2000
    first, last = np.triu_indices(n, 1)
    values = (1 / (first + 1) + 2 / (last + 1)) / 2
    for x in (0.001, 0.003, 0.02, 0.3, 5 / 6):
        expected = (values >= x * (1 - EQUAL)).mean()
        assert APNull(n, 2).sf(x) == pytest.approx(expected, rel=5e-3)


SHAPES = [
    (300, 12, None, None),
    (300, 60, None, None),
    (300, 250, None, None),
    (300, 40, [5] * 60, None),
    (300, 40, [1] * 20 + [80], 100),
    (4000, 400, None, 500),
]


@pytest.mark.slow
def test_a_group_has_the_same_tail_alone_and_among_others() -> None:
    rng = np.random.default_rng(3)
    cases = [Case(n, m, d or n, t and tuple(t)) for n, m, t, d in SHAPES]
    cases += [Case(int(n), int(n * rng.uniform(0.01, 0.9)) + 1, int(n)) for n in [90, 250, 300]]
    group = Cases(cases)
    ap = group.mean + np.sqrt(group.variance) * rng.uniform(-1, 6, len(cases))
    for case, value, tail in zip(cases, ap, group.tails(ap), strict=True):
        alone = Cases([case]).tails(np.array([value]))[0]
        assert alone.method == tail.method
        assert alone[:2] == pytest.approx(tail[:2], abs=1e-9)


RANDOM = [
    pytest.param(n, m, ties, marks=pytest.mark.slow if n > 100 else ())
    for n, m, ties in [
        (101, 3, None),
        (100, 30, None),
        (100, 80, [4] * 25),
        (3000, 90, None),
        (3000, 1500, [5] * 600),
        (50_000, 500, None),
        (50_000, 20_000, [50] * 1000),
        (300_000, 3000, None),
    ]
]


@pytest.mark.parametrize(("n", "n_pos", "ties"), RANDOM)
def test_p_values_of_random_labels_are_uniform(n: int, n_pos: int, ties) -> None:
    rng, draws, label = np.random.default_rng(n_pos), 1500 if n < 10_000 else 300, np.arange(n)
    ends = np.repeat(np.cumsum(ties), ties) if ties else np.arange(1, n + 1)
    ap = np.zeros(draws)
    for draw in range(draws):
        hit = rng.permutation(label) < n_pos
        ap[draw] = (np.cumsum(hit)[ends - 1] / ends)[hit].mean()
    null = APNull(n, n_pos, ties)
    x = np.quantile(ap, [0.05, 0.3, 0.7, 0.95, 0.99])
    for value, p in zip(x, null.sf(x), strict=True):
        reached = int((ap >= value * (1 - EQUAL)).sum())
        assert binomtest(reached, draws, min(p, 1.0)).pvalue > 1e-4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "n_pos", "ties"), [(300, 100, None), (500, 10, None), (300, 60, [5] * 60)], ids=str
)
def test_critical_values_keep_their_level(n: int, n_pos: int, ties: list[int] | None) -> None:
    null = APNull(n, n_pos, ties)
    assert null.sf(null.isf(0.01)) == pytest.approx(0.01, rel=0.01)
    assert null.cdf(null.ppf(0.2)) == pytest.approx(0.2, rel=0.01)


@pytest.mark.parametrize(
    ("n", "n_pos", "q"),
    [
        (100, 1, 0.05),
        (10, 3, 0.025),
        (10**7, 1, 1e-6),
        pytest.param(1000, 2, 1e-3, marks=pytest.mark.slow),
    ],
)
def test_levels_are_not_exceeded_by_rounding(n: int, n_pos: int, q: float) -> None:
    null = APNull(n, n_pos)
    assert null.sf(null.isf(q)) <= q


def test_random_values_have_the_moments() -> None:
    null = APNull(120, 50, [3] * 40)
    draws = null.rvs(4000, rng=11)
    assert (null.rvs(4000, rng=11) == draws).all()
    assert abs(draws.mean() - null.mean()) < 5 * null.std() / np.sqrt(draws.size)


test_refusals = refusals(
    {
        "`n_pos` must be at most n = 3; got 4.": lambda: APNull(3, 4),
        "`method` must be one of 'auto', 'exact', 'lattice', 'saddlepoint', 'transform'; got "
        "'exakt'. Did you mean 'exact'?": lambda: APNull(5, 2, method="exakt"),
        "`q` must lie in (0, 1]; got 1.5.": lambda: APNull(5, 2).ppf(1.5),
        "`size` must be a whole number >= 1; got 0.": lambda: APNull(5, 2).rvs(0),
    }
)
