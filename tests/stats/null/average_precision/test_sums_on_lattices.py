"""Sums of many AP, each much less than the sum, on lattices as fine as one of them."""

from itertools import product

import numpy as np
import pytest
from scipy.fft import irfft, rfft
from scipy.stats import binom, hypergeom

from prframe.stats.null.average_precision.groups import Case, Cases
from prframe.stats.null.average_precision.sums.counting import ap_values
from prframe.stats.null.average_precision.sums.ladder import Alike, Grid, Ladder, OnLattice
from prframe.stats.null.average_precision.sums.lattice import lattice_sum_tails
from prframe.stats.null.average_precision.sums.tilted import Rough, RoughSum, Tilted

SMALL = [
    OnLattice(np.array([0.2, 0.0, 0.3, 0.1]), 0.4),
    OnLattice(np.array([0.0, 0.5, 0.5, 0]), 0),
]


def enumerated(numbers: list[OnLattice], at: float) -> float:
    """Return P(S >= at), where a point at the value counts half, as a value beyond is large."""
    found = 0.0
    for values in product(*(range(number.inside.size + 1) for number in numbers)):
        weights = [np.append(number.inside, number.beyond) for number in numbers]
        chance = np.prod([weight[value] for weight, value in zip(weights, values, strict=True)])
        total = sum(
            np.inf if v == n.inside.size else v for v, n in zip(values, numbers, strict=True)
        )
        found += chance * (1.0 if total > at else 0.5 if total == at else 0.0)
    return found


@pytest.mark.parametrize("slope", [0.0, 0.7])
@pytest.mark.parametrize("at", [0, 1, 2])
def test_tails_of_sums_above(slope, at):
    first, second = (Tilted.of(each, slope) for each in SMALL)
    for total, numbers in [
        (first, SMALL[:1]),
        (first.added(second, slope), SMALL),
        (second.added(first, slope), SMALL),
        (first.times(3, slope), SMALL[:1] * 3),
        (second.times(5, slope), SMALL[1:] * 5),
    ]:
        reached, missed = np.exp(total.log_tails(slope, np.array([float(at)])))[:, 0]
        assert reached == pytest.approx(enumerated(numbers, at), rel=1e-9, abs=1e-14)
        assert missed == pytest.approx(1 - enumerated(numbers, at), abs=1e-9)


@pytest.mark.parametrize("at", [1, 2])
def test_tails_of_sums_below(at):
    slope = -1.3
    total = Tilted.of(SMALL[0], slope).added(Tilted.of(SMALL[1], slope), slope)
    reached, missed = np.exp(total.log_tails(slope, np.array([float(at)])))[:, 0]
    assert missed == pytest.approx(1 - enumerated(SMALL, at), rel=1e-9)
    assert reached == pytest.approx(enumerated(SMALL, at), abs=1e-9)


def test_small_tails_keep_their_digits():
    # One of two points, each with probability 1e-9 on the far one, a hundred times.
    each = OnLattice(np.array([1 - 1e-9, 1e-9] + [0.0] * 30), 0.0)
    slope = RoughSum([(Rough.of(OnLattice(np.append(each.inside, 0), 0), 1), 100)]).slope(20.0)
    tails = Tilted.of(each, slope).times(100, slope).log_tails(slope, np.array([19.5]))
    # The linear mean of the tails above 19 and 20, with half of the weight at either.
    above = [binom.sf(k, 100, 1e-9) + binom.pmf(k, 100, 1e-9) / 2 for k in (19, 20)]
    assert tails[0, 0] == pytest.approx(np.log(sum(above) / 2), rel=1e-9)


def test_the_slope_makes_the_value_the_mean():
    rng = np.random.default_rng(1)
    weights = np.pad(rng.random((3, 40)), ((0, 0), (0, 1)))
    numbers = [OnLattice(weight / weight.sum(), 0.0) for weight in weights]
    often = [2, 1, 4]
    terms = [(Rough.of(number, 1), count) for number, count in zip(numbers, often, strict=True)]
    for target in (20.0, 140.0, 250.0):
        slope = RoughSum(terms).slope(target)
        means = [
            np.average(np.arange(41), weights=number.inside * np.exp(slope * np.arange(41)))
            for number in numbers
        ]
        assert np.dot(often, means) == pytest.approx(target, abs=0.5)


def test_a_value_beyond_all_others_needs_no_slope():
    number = Rough.of(OnLattice(np.array([1.0, 0.0, 0.0]), 0.0), 1)
    assert -1e-300 < RoughSum([(number, 3)]).slope(2.0) < 0
    nothing = Rough.of(OnLattice(np.zeros(3), 1.0), 1)
    assert RoughSum([(nothing, 3)]).slope(2.0) == 0


@pytest.mark.parametrize("fine", [1, 3, 20, 130])
@pytest.mark.parametrize("case", [Case(40, 2, 40), Case(60, 1, 30), Case(30, 3, 24, (4,) * 6)])
def test_the_distribution_of_one_ranking(case, fine):
    grid = Grid(1 / 400, fine, 410)
    alike = Alike.of(Cases([case])._terms())
    ((found, often),) = Ladder(alike, grid, -48.0).distributions()
    value, chance = ap_values(alike.terms[0].items, case.n_pos, 100_000)
    assert often == 1
    assert found.inside.size == grid.size
    assert found.inside.sum() + found.beyond == pytest.approx(1, abs=1e-12)
    unit = grid.cell / fine
    mean = unit * (found.inside @ np.arange(grid.size))
    assert mean == pytest.approx(value @ chance, rel=1e-4)
    # Weight is moved by less than a few cells.
    for x in np.linspace(0.02, 0.98, 25):
        below = found.inside[: int(x / unit)].sum()
        assert below <= chance[value <= x + 6 * grid.cell].sum() + 1e-4
        assert below >= chance[value <= x - 6 * grid.cell].sum() - 1e-4


def test_what_lies_beyond_the_lattice():
    # AP is 1 / rank, and the lattice ends at .2.
    alike = Alike.of(Cases([Case(1_000, 1, 1_000)])._terms())
    ((found, _),) = Ladder(alike, Grid(0.2 / 400, 7, 400), -48.0).distributions()
    assert found.beyond == pytest.approx(4.5 / 1000, rel=0.02)


def reciprocal_ranks(
    often: int, n: int, depth: int, totals: np.ndarray, unit: float
) -> np.ndarray:
    """Return P(S >= y) of sums of 1 / rank, of one positive of n each, on a very fine lattice."""
    size = int(1.5 / unit) + 1
    weight = np.bincount(np.rint(1 / np.arange(1, depth + 1) / unit).astype(int), minlength=size)
    weight = weight / n
    weight[0] += 1 - depth / n
    length = 1 << int(np.ceil(np.log2(3 * size)))
    total = irfft(rfft(weight, length) ** often, length)
    return 1 - np.cumsum(total)[np.ceil(totals / unit).astype(int) - 1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("often", "n", "depth", "totals"),
    [
        (300, 20_000, 20_000, [0.13, 0.2, 0.4, 0.6, 0.9, 1.1, 1.2]),
        (1_000, 1_000_000, 1_000_000, [0.012, 0.02, 0.05, 0.2, 0.508, 0.512, 0.9, 1.005, 1.012]),
        (1_000, 1_000_000, 1_000, [0.002, 0.1, 0.5005, 0.504, 0.9, 1.004]),
        (20, 3_000_000, 3_000_000, [0.0002, 0.001, 0.02, 0.2, 0.6]),
    ],
)
def test_many_rankings_with_one_positive(often, n, depth, totals):
    # A sum clusters about 1 / rank for a positive near the top, and how far from it lies what the
    # others add: each of these is far less than a cell of a lattice that holds the sum.
    totals = np.array(totals)
    terms = Cases([Case(n, 1, depth)] * often)._terms()
    expected = reciprocal_ranks(often, n, depth, totals, 5e-7)
    for total, chance in zip(totals, expected, strict=True):
        tail = lattice_sum_tails(terms, np.array([total]), np.array([-20.0]))[0]
        assert tail is not None
        off = 0.02 if tail.method == "lattice" else 0.5
        assert np.exp(tail.log_reached) == pytest.approx(chance, rel=off)


@pytest.mark.slow
@pytest.mark.parametrize("total", [0.2125, 0.2155, 0.2193])
def test_a_thousand_rankings_of_which_one_begins_with_a_positive(total):
    # The other 999 add some .012, each of them a quarter of a cell of a lattice with 4096 cells.
    often, n, n_pos = 1_000, 1_000_000, 5
    rng = np.random.default_rng(7)
    ranks = np.sort(rng.integers(1, n + 1, (2_000, often, n_pos)), axis=2)
    # At most one positive of the first ranking is near the top, and it is put at rank 1.
    ranks[:, 0, 0] = 1
    ranks[:, 1:] += 1
    sums = (np.arange(1, n_pos + 1) / ranks).sum(axis=2).sum(axis=1) / n_pos
    share = (sums >= total).mean()
    # One of the rankings begins with a positive; that two do, or two have one at rank 2, is rare.
    once, rarely = often * n_pos / n, 3e-5
    error = 3 * once * (share * (1 - share) / sums.size) ** 0.5
    tail = lattice_sum_tails(
        Cases([Case(n, n_pos, n)] * often)._terms(), np.array([total]), np.array([-10.0])
    )[0]
    assert tail.method == "lattice"
    assert np.exp(tail.log_reached) == pytest.approx(once * share, rel=0.02, abs=error + rarely)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "top", "n_pos", "often"), [(1_000_000, 1_000, 5, 100), (10_225, 216, 16, 24)]
)
def test_sums_of_two_blocks_are_counted(n, top, n_pos, often):
    # AP depends on the number of positives in the first block alone, and sums take few values.
    inside = np.arange(n_pos + 1)
    chance = hypergeom.pmf(inside, n, n_pos, top)
    values = (inside**2 / top + (n_pos - inside) * n_pos / n) / n_pos
    sums = {0.0: 1.0}
    for _ in range(often):
        after = {}
        for (total, weight), (value, share) in product(
            sums.items(), zip(values, chance, strict=True)
        ):
            if weight * share > 1e-14:
                key = round(total + value, 12)
                after[key] = after.get(key, 0.0) + weight * share
        sums = after
    cases = Cases([Case(n, n_pos, n, (top, n - top))] * often)
    likely = sorted(sums, key=sums.get)[-6:]
    for total in likely:
        reached = sum(weight for other, weight in sums.items() if other >= total * (1 - 1e-9))
        # The sums above are rounded.
        tail = cases.mean_tail(total * (1 - 1e-9) / often)
        assert tail.method == "exact"
        assert np.exp(tail.log_reached) == pytest.approx(reached, rel=1e-6)
