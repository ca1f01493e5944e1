"""Sums of the AP of rankings with few hits, on a lattice, and of others with many, beside it."""

import numpy as np
import pytest
from numpy.polynomial import hermite_e
from scipy.interpolate import PchipInterpolator
from scipy.stats import norm

from prframe.stats.null import APNull
from prframe.stats.null.average_precision.groups import Case, Cases
from prframe.stats.null.average_precision.sums import lattice, smooth
from prframe.stats.null.average_precision.sums.ladder import OnLattice
from prframe.stats.null.average_precision.sums.lattice import lattice_sum_tails
from prframe.stats.null.average_precision.sums.tilted import Rough, RoughSum


@pytest.mark.parametrize("slope", [0.0, 0.3, 4.0])
@pytest.mark.parametrize("z", [-7.0, -0.5, 0.0, 2.0, 9.0])
def test_integrals(z, slope):
    found = smooth._integrals(np.array([z]), slope)
    v = np.linspace(0, 40, 400_001)
    for order, integral in zip([0, 3, 4, 6], found, strict=True):
        polynomial = hermite_e.hermeval(z + v, np.eye(7)[order])
        integrand = np.exp(-slope * v) * polynomial * norm.pdf(z + v)
        size = np.trapezoid(np.abs(integrand), v)
        assert integral[0] == pytest.approx(np.trapezoid(integrand, v), abs=1e-6 * size)


@pytest.mark.parametrize(("n", "n_pos"), [(20_000, 2000), (3000, 900)])
@pytest.mark.parametrize("single", [1000, 100_000])
def test_one_positive_and_many(n, n_pos, single):
    # The AP of one positive is 1 over its rank, so that the sum over all ranks is exact.
    cases, many = Cases([Case(single, 1, single), Case(n, n_pos, n)]), APNull(n, n_pos)
    nodes = many.mean() + many.std() * np.linspace(-6, 12, 73)
    log_reached = PchipInterpolator(nodes, many.logsf(nodes))
    mean, deviation = cases.mean.sum(), np.sqrt(cases.variance.sum())
    values = [many.mean() + step * many.std() for step in (-2.0, 1.0, 4.0)]
    values += [mean + z * deviation for z in (1.0, 3.0)]
    methods = []
    for value in values:
        left = np.clip(value - 1 / np.arange(1, single + 1), nodes[0], None)
        expected = np.log(np.mean(np.where(left > nodes[-1], 0.0, np.exp(log_reached(left)))))
        (tail,) = lattice_sum_tails(cases._terms(), np.array([value]), np.array([-10.0]))
        assert tail.log_reached == pytest.approx(expected, abs=0.01)
        methods.append(tail.method)
    assert methods.count("lattice") >= 3


SETS = [
    [Case(1000, 3, 1000), Case(3000, 400, 3000)],
    [Case(1000, 20, 1000), Case(1000, 150, 1000)],
    [Case(1000, 5, 1000)] * 3 + [Case(2000, 400, 2000, (400,) * 5)],
    [Case(1000, 5, 1000)] * 3 + [Case(2000, 400, 700)],
]


@pytest.mark.parametrize("cases", SETS)
def test_agrees_with_lattices_of_all(cases, monkeypatch):
    groups = Cases(cases)
    mean, deviation = groups.mean.sum(), np.sqrt(groups.variance.sum())
    for z in (-1, 0.5, 2, 8, 30):
        target, tails = np.array([mean + z * deviation]), []
        for most in (600, 100):
            monkeypatch.setattr(lattice, "MOST_HITS", most)
            (tail,) = lattice_sum_tails(groups._terms(), target, np.array([-10.0]))
            assert tail.method == "lattice"
            tails.append(min(tail.log_reached, tail.log_missed))
        assert tails[1] == pytest.approx(tails[0], abs=0.01, rel=1e-4)


def test_what_is_far_from_normal_is_doubted(monkeypatch):
    groups = Cases([Case(10_000, 5, 10_000)] * 5 + [Case(100_000, 100, 100_000)] * 5)
    target = np.array([groups.mean.sum() + 8 * np.sqrt(groups.variance.sum())])
    (expected,) = lattice_sum_tails(groups._terms(), target, np.array([-10.0]))
    monkeypatch.setattr(lattice, "MOST_HITS", 50)
    (tail,) = lattice_sum_tails(groups._terms(), target, np.array([-10.0]))
    assert expected.method == "lattice"
    assert tail is None or tail.method == "estimate"


def test_values_next_to_the_least_sum_are_not_misjudged(monkeypatch):
    # A slope that would suit a normal number is too flat here, ten deviations off.
    groups = Cases([Case(148, 2, 148), Case(734, 34, 734), Case(2945, 90, 2945)])
    target = np.array([groups.mean.sum() - np.sqrt(groups.variance.sum())])
    (expected,) = lattice_sum_tails(groups._terms(), target, np.array([-100.0]))
    monkeypatch.setattr(lattice, "MOST_HITS", 50)
    (tail,) = lattice_sum_tails(groups._terms(), target, np.array([-100.0]))
    assert expected.method == "lattice"
    assert tail.log_missed == pytest.approx(expected.log_missed, rel=1e-3)


def test_what_lies_beyond_a_lattice_bends_the_slope():
    # Under a slope that makes 3 the mean of the weights inside, those beyond would be infinite.
    number = OnLattice(np.array([1.0 - 1e-9, 1e-300, 1e-300, 1e-300, 0.0]), 1e-9)
    slope = RoughSum([(Rough.of(number, 1), 1)]).slope(3.0)
    assert 0 < slope < 5


def test_nearly_all_weight_beyond_a_lattice():
    rng = np.random.default_rng(3)
    sizes = zip(10 ** rng.uniform(2, 4, 10), 10 ** rng.uniform(-2, -1.3, 10), strict=True)
    groups = Cases([Case(int(n), max(1, int(n * share)), int(n)) for n, share in sizes])
    target = np.array([groups.mean.sum() + 60 * np.sqrt(groups.variance.sum())])
    (tail,) = lattice_sum_tails(groups._terms(), target, np.array([-10.0]))
    assert tail is None or tail.log_reached < -300


def test_estimates_next_to_the_largest_sum_are_no_larger_than_bounds():
    sizes = [(166_232, 62), (1398, 1), (445, 1), (649, 538), (209_629, 1)] * 3
    groups = Cases([Case(n, n_pos, n) for n, n_pos in sizes])
    values = np.array([0.9999, 0.999999])
    tails = groups.mean_tails(values)
    # Each AP is at least what the others leave of the sum if all of these are 1.
    needed = 1 - 15 * (1 - values)
    for tail, least in zip(tails, needed, strict=True):
        each = groups.tails(np.full(15, least))
        assert tail.log_reached <= sum(one.log_reached for one in each) * (1 - 1e-9)


def test_values_do_not_spoil_each_other():
    groups = Cases([Case(146, 1, 146, (145, 1)), Case(4666, 1, 4666)] * 6)
    values = np.array([0.00362016, 0.0037, 0.003])
    tails = groups.mean_tails(values)
    alone = [groups.mean_tail(value) for value in values.tolist()]
    assert [tail.method for tail in tails] == ["lattice", "lattice", "exact"]
    for one, other in zip(tails, alone, strict=True):
        assert np.exp(one.log_reached) == pytest.approx(np.exp(other.log_reached), rel=5e-3)
    # No mean is below the least one, (1/146 + 1/4666) / 2.
    assert tails[2] == alone[2] == (0.0, -np.inf, "exact")
    (at_least,) = groups.mean_tails(np.array([(1 / 146 + 1 / 4666) / 2]))
    assert at_least == (0.0, -np.inf, "exact")
