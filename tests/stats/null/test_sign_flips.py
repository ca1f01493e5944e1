"""The law of a sum with random signs, against enumeration, other libraries and simulation."""

from collections import Counter
from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from scipy.special import bdtrc
from scipy.stats import norm

from prframe.errors import PrframeError
from prframe.stats import SignFlipNull, paired_randomization
from prframe.stats.null.sign_flips.grid import SignFlipGrid
from prframe.stats.null.sign_flips.signs import all_signs, random_signs
from prframe.stats.null.sign_flips.units import lack_unit


def enumerated(numbers, x):
    """Return P(S >= x) from all signs."""
    sums = np.array([np.dot(signs, numbers) for signs in product([-1, 1], repeat=len(numbers))])
    return (sums >= x - 1e-9).mean()


SETS = {
    "few": [1.0],
    "lattice": [0.1, 0.2, 0.3, 0.1, -0.4, 0.0, 0.2, 0.7],
    "halves": [0.31, -1.7, 0.02, 0.55, 1.234, -0.9, 2.2, 0.4, 0.77],
    "ranks": list(np.arange(1.0, 12.0)),
    "reciprocal ranks": [1 / 2 - 1 / 3, 1 / 4 - 1, 1 / 5, 1 / 7 - 1 / 3, 1 / 6 - 1 / 8, 0.5],
}


@pytest.mark.parametrize("numbers", SETS.values(), ids=SETS)
def test_exact_tails_are_enumerated(numbers):
    null = SignFlipNull(numbers, method="exact")
    assert null.how == "exact"
    for x in [-9.0, *np.linspace(-3, 3, 25), 0.0, sum(numbers), 99.0]:
        assert null.sf(x) == pytest.approx(enumerated(numbers, x), abs=1e-12)
    assert null.std() == pytest.approx(np.sqrt(np.sum(np.square(numbers))))


@pytest.mark.parametrize("numbers", SETS.values(), ids=SETS)
@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_p_values_are_enumerated(numbers, alternative):
    total = np.sum(numbers)
    signs = np.array(list(product([-1, 1], repeat=len(numbers))))
    sums = signs @ np.array(numbers)
    expected = {
        "two-sided": (np.abs(sums) >= abs(total) - 1e-9).mean(),
        "less": (sums <= total + 1e-9).mean(),
        "greater": (sums >= total - 1e-9).mean(),
    }[alternative]
    assert SignFlipNull(numbers).p_value(alternative=alternative) == pytest.approx(
        expected, abs=1e-12
    )


@pytest.mark.parametrize("seed", range(8))
def test_sums_of_whole_numbers_are_counted_one_by_one(seed):
    rng = np.random.default_rng(seed)
    places = np.sort(rng.integers(1, [3, 9, 40, 300][seed % 4], rng.integers(1, 45)))
    ways = Counter({0: 1})
    for place in places.tolist():
        either = Counter({s + place: n for s, n in ways.items()})
        either.update({s - place: n for s, n in ways.items()})
        ways = either
    # Whole numbers up to 2^53 are floats, and so are their shares of a power of two.
    total = int(places.sum())
    above = np.cumsum([ways[x] for x in range(total, -total - 1, -1)])[::-1]
    expected = (above / 2**places.size).tolist()
    grid = SignFlipGrid.of_places(places, 1.0, 1.0)
    assert [grid.from_place(x) for x in range(-total, total + 1)] == expected
    assert grid.from_place(total + 1) == 0


@pytest.mark.parametrize("large", [1, 50, 5_000])
def test_sums_out_of_reach_take_nothing_from_the_others(large):
    # There are 2,500 ones, the sums of which may reach beyond 40 standard deviations.
    grid = SignFlipGrid.of_places(np.append(np.ones(2_500, np.int64), large), 1.0, 1.0)
    n_plus = [(2_500 + x + 1) // 2 for x in (2 - large, 2 + large)]
    ways = sum(comb(2_500, k) for least in n_plus for k in range(max(least, 0), 2_501))
    assert grid.upward.size <= 40 * np.sqrt(2_500 + large**2) + large + 2
    assert grid.from_place(2.0) == pytest.approx(float(Fraction(ways, 2**2_501)), rel=1e-12)
    assert grid.upward[0] == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("kind", ["normal", "heavy", "few large", "repeated"])
@pytest.mark.parametrize("n", [25, 30, 36])
def test_the_convolution_is_within_a_few_parts_in_a_thousand_of_counting(kind, n):
    rng = np.random.default_rng(n)
    numbers = {
        "normal": lambda: rng.normal(size=n),
        "heavy": lambda: rng.standard_t(1.5, size=n),
        "few large": lambda: np.append(rng.normal(size=n - 5) * 1e-3, rng.normal(size=5)),
        "repeated": lambda: rng.choice([1.0, np.sqrt(2), np.pi], size=n),
    }[kind]()
    exact, grid = (
        SignFlipNull(numbers, method="exact"),
        SignFlipNull(numbers, method="convolution"),
    )
    assert (exact.how, grid.how) == ("exact", "convolution")
    assert grid.p_value(alternative="two-sided") == pytest.approx(
        exact.p_value(alternative="two-sided"), rel=3e-3
    )
    if kind != "repeated":
        for z in (-1, 0.25, 1, 2, 3, 4, 4.7):
            expected = exact.sf(z * exact.std())
            if expected > 1e-8:
                assert grid.sf(z * exact.std()) == pytest.approx(expected, rel=3e-3)


@pytest.mark.parametrize("n", [25, 200])
@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_a_grid_that_holds_the_lattice_rounds_nothing(n, alternative):
    # Differences of P@10: many ways lead to the same sum.
    numbers = np.random.default_rng(n).integers(-3, 5, n) / 10
    expected = SignFlipNull(numbers, method="exact").p_value(alternative=alternative)
    found = SignFlipNull(numbers, method="convolution")
    assert found.how == "convolution"
    assert found.p_value(alternative=alternative) == pytest.approx(expected, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("z", [0.5, 1, 2, 3, 4])
def test_many_numbers_agree_with_the_inversion_of_their_characteristic_function(z):
    rng = np.random.default_rng(3)
    quality = rng.beta(1.2, 2, 200)
    values = np.clip(quality + rng.normal(0, 0.12, (2, 200)), 0, 1)
    null = SignFlipNull(values[0] - values[1], method="convolution")
    # P(S >= x) = 1/2 - 1/pi int sin(t x) prod cos(t d_i) / t dt, for what has no atom at x.
    t = np.linspace(1e-9, 60 / null.std(), 200_001)
    x = z * null.std()
    law = np.prod([np.cos(t * d) for d in values[0] - values[1]], axis=0)
    expected = 0.5 - np.trapezoid(np.sin(t * x) * law / t, t) / np.pi
    assert null.sf(x) == pytest.approx(expected, rel=3e-4)


@pytest.mark.slow
def test_heavy_atoms_count_in_full():
    # Three sizes that have no common unit: the sum itself may be reached in many ways.
    sizes = np.repeat([1.0, np.sqrt(2), np.pi], 14)
    signs = np.random.default_rng(1).choice([-1.0, 1.0], size=sizes.size)
    exact, grid = (
        SignFlipNull(sizes * signs, method="exact"),
        SignFlipNull(sizes * signs, method="convolution"),
    )
    for alternative in ("two-sided", "less", "greater"):
        assert grid.p_value(alternative=alternative) == pytest.approx(
            exact.p_value(alternative=alternative), rel=3e-3
        )


@pytest.mark.parametrize("n", [3, 10, 200, 2000])
def test_equal_numbers_follow_the_binomial_law(n):
    null = SignFlipNull(np.full(n, 0.1))
    assert null.how == "exact"
    for wins in {n // 2, n // 2 + 1, (2 * n) // 3, n}:
        expected = bdtrc(wins - 1, n, 0.5)
        assert null.sf(0.1 * (2 * wins - n)) == pytest.approx(expected, rel=1e-9)


def test_far_tails_do_not_vanish():
    null = SignFlipNull(np.random.default_rng(1).normal(size=500), method="convolution")
    tails = [null.sf(z * null.std()) for z in range(3, 15)]
    assert (np.diff(np.log(tails)) < 0).all()
    assert tails[-1] > 0
    everything = SignFlipNull(np.abs(np.random.default_rng(2).normal(size=60)))
    assert everything.p_value(alternative="two-sided") == pytest.approx(2.0**-59, rel=1e-12)


def test_many_numbers_agree_with_the_normal_law():
    null = SignFlipNull(np.random.default_rng(1).normal(size=20_000))
    assert null.sf(2 * null.std()) == pytest.approx(0.02275, rel=0.01)


def test_nothing_and_zeros():
    assert SignFlipNull([]).p_value(alternative="two-sided") == 1
    assert SignFlipNull([0.0, 0.0]).sf(0.0) == 1
    assert SignFlipNull([0.0, 2.0]).sf(2.0) == 0.5


@pytest.mark.parametrize(
    ("numbers", "method", "message"),
    [
        ([1.0, np.nan], "auto", "finite"),
        ([[1.0]], "auto", "list of finite"),
        (["a"], "auto", "must be numbers"),
        ([1.0], "best", "`method`"),
        (np.random.default_rng(1).normal(size=45), "exact", "at most 44"),
    ],
)
def test_what_it_refuses(numbers, method, message):
    with pytest.raises(PrframeError, match=message):
        SignFlipNull(numbers, method=method)


def test_random_signs_are_fair_and_do_not_depend_on_the_chunk():
    rows = [
        np.concatenate(list(random_signs(11, 1000, np.random.default_rng(1), at_once)))
        for at_once in (1, 7, 1 << 20)
    ]
    assert all(np.array_equal(rows[0], other) for other in rows[1:])
    assert set(np.unique(rows[0])) == {-1.0, 1.0}
    assert np.abs(rows[0].mean(axis=0)).max() < 5 / np.sqrt(1000)
    correlation = np.corrcoef(rows[0].T) - np.eye(11)
    assert np.abs(correlation).max() < 5 / np.sqrt(1000)


def test_all_signs_come_once():
    rows = np.concatenate(list(all_signs(5, at_once=3)))
    assert {tuple(row) for row in rows} == set(product([-1.0, 1.0], repeat=5))
    assert len(rows) == 32


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("few", [1, 2, 5, 20])
@pytest.mark.parametrize("small", [1e-4, 1e-5, 1e-9])
def test_large_numbers_do_not_drown_small_ones(few, small, seed):
    rng = np.random.default_rng(seed)
    numbers = np.append(rng.normal(0.5, 1, few), small * rng.normal(0.5, 1, 36 - few))
    exact = SignFlipNull(numbers, method="exact").p_value(alternative="two-sided")
    assert SignFlipNull(numbers).p_value(alternative="two-sided") == pytest.approx(exact, rel=0.01)


@pytest.mark.parametrize("numbers", SETS.values(), ids=SETS)
@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_convolution_of_few_numbers_is_enumeration(numbers, alternative):
    exact = SignFlipNull(numbers, method="exact").p_value(alternative=alternative)
    assert SignFlipNull(numbers, method="convolution").p_value(
        alternative=alternative
    ) == pytest.approx(exact)


@pytest.mark.slow
@pytest.mark.parametrize("n", [20_000, 100_000, 300_000])
@pytest.mark.parametrize("z", [0.5, 3.0, 6.0])
def test_very_many_numbers_follow_edgeworths_expansion(n, z):
    numbers = np.random.default_rng(n).normal(size=n)
    numbers += (z - numbers.sum() / np.sqrt(n)) / np.sqrt(n)
    squares = (numbers**2).sum()
    z = numbers.sum() / np.sqrt(squares)
    kurtosis = -2 * (numbers**4).sum() / squares**2
    expected = norm.sf(z) + norm.pdf(z) * kurtosis / 24 * (z**3 - 3 * z)
    assert SignFlipNull(numbers).p_value() == pytest.approx(expected, rel=0.005)


@pytest.mark.slow
@pytest.mark.parametrize("n", [20_000, 100_000])
def test_very_many_equal_numbers_are_binomial(n):
    wins = n // 2 + round(1.5 * np.sqrt(n))
    numbers = np.repeat([0.1, -0.1], [wins, n - wins])
    expected = bdtrc(wins - 1, n, 0.5)
    assert SignFlipNull(numbers).p_value() == pytest.approx(expected, rel=0.003)


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300])
@pytest.mark.parametrize("method", ["auto", "convolution"])
def test_the_unit_does_not_matter(scale, method):
    numbers = np.random.default_rng(1).normal(0.3, 1, 40)
    expected = SignFlipNull(numbers, method=method)
    found = SignFlipNull(numbers * scale, method=method)
    assert found.p_value(alternative="two-sided") == pytest.approx(
        expected.p_value(alternative="two-sided"), rel=1e-6
    )
    assert found.std() == pytest.approx(expected.std() * scale)


def few_sizes(rng, n):
    """Draw differences of reciprocal ranks, which take few values."""
    return 1 / rng.geometric(0.3, n) - 1.01 / rng.geometric(0.3, n)


@pytest.mark.parametrize(
    "drawn",
    [
        lambda rng, n: rng.normal(size=n),
        lambda rng, n: rng.uniform(0.999, 1.001, n) * rng.choice([-1, 1], n),
        few_sizes,
    ],
    ids=["continuous", "near a lattice", "few sizes"],
)
@pytest.mark.parametrize("shift", [-0.1, 0.0, 0.05, 0.3])
@pytest.mark.parametrize("n", [200, 1000, 20_000])
def test_the_grid_about_a_sum_is_the_whole_grid_there(drawn, shift, n):
    numbers = drawn(np.random.default_rng(6), n) + shift
    total, sizes = numbers.sum(), np.sort(np.abs(numbers))
    whole, about = SignFlipGrid.rounded(sizes), SignFlipGrid.rounded(sizes, about=total)
    spread = np.sqrt((sizes**2).sum())
    x = total + spread * np.array([-0.01, 0.0, 0.01, 0.5, 1.0])
    assert about.unit == whole.unit
    np.testing.assert_allclose(about.at_least(x), whole.at_least(x), rtol=1e-10, atol=1e-300)


def test_common_units_are_never_denied():
    rng = np.random.default_rng(7)
    on_lattice = rng.integers(1, 500, (50, 60)) * rng.uniform(0.001, 1, (50, 1))
    assert not lack_unit(np.sort(on_lattice)).any()
    assert lack_unit(np.sort(np.abs(rng.normal(size=(50, 60))))).all()
    gaps = np.sort(on_lattice * (rng.random(on_lattice.shape) < 0.1) + 0.0)
    assert not lack_unit(gaps[gaps[:, -1] > 0]).any()


def near_a_unit(kind, rng, n):
    """Return numbers that nearly, but not quite, are multiples of a unit."""
    numbers = {
        "two values": lambda: np.where(rng.random(n) < 0.5, 1, 2 + 1e-4 * rng.random(n)),
        "noise": lambda: rng.integers(1, 6, n) + 1e-3 * rng.normal(size=n),
        "one off": lambda: np.where(np.arange(n) < 1, 1.003, rng.integers(1, 4, n)),
        "thirds to two digits and noise": lambda: (
            np.round(rng.integers(1, 4, n) / 3, 2) + 1e-6 * rng.random(n)
        ),
        "sevenths to four digits": lambda: np.round(rng.integers(1, 11, n) / 7, 4),
        "near 0 or 1": lambda: np.where(rng.random(n) < 0.5, 1e-3 * rng.random(n), 1),
        "near 1": lambda: 1 + 0.02 * rng.random(n),
        "two odd ones": lambda: np.append(np.ones(n - 2), [1.006, 1.108]),
        "one odd one and noise": lambda: np.append(1 + 1e-5 * rng.random(n - 1), 2.7182818),
    }[kind]()
    return numbers * rng.choice([-1, 1], n, p=[0.3, 0.7])


NEAR = (
    "two values",
    "noise",
    "one off",
    "thirds to two digits and noise",
    "sevenths to four digits",
    "near 0 or 1",
    "near 1",
    "two odd ones",
    "one odd one and noise",
)


@pytest.mark.parametrize("kind", NEAR)
@pytest.mark.parametrize("seed", range(4))
def test_sums_that_cluster_are_told_apart(kind, seed):
    numbers = near_a_unit(kind, np.random.default_rng(seed), 34)
    exact = SignFlipNull(numbers, method="exact").p_value(alternative="two-sided")
    null = SignFlipNull(numbers, method="convolution")
    assert null.p_value(alternative="two-sided") == pytest.approx(exact, rel=0.01)


@pytest.mark.parametrize("seed", range(12))
def test_a_few_odd_numbers_do_not_hide_the_unit(seed):
    rng, n = np.random.default_rng(seed), 34
    alike = 1 + 10.0 ** -rng.integers(3, 7) * rng.random(n - 1 - seed % 3) * (seed % 2)
    numbers = np.append(alike, rng.uniform(0.2, 6, n - alike.size))
    numbers *= rng.choice([-1, 1], n, p=[0.3, 0.7])
    exact = SignFlipNull(numbers, method="exact").p_value()
    assert SignFlipNull(numbers, method="convolution").p_value() == pytest.approx(exact, rel=0.05)


def counted_along(places):
    """Return P(S >= sum) of whole numbers, sum by sum."""
    most = int(np.abs(places).sum())
    chance, reached = np.zeros(2 * most + 1), 0
    chance[most] = 1.0
    for place in np.sort(np.abs(places)):
        low, high = most - reached, most + reached + 1
        moved = np.zeros_like(chance)
        moved[low + place : high + place] += chance[low:high] / 2
        moved[low - place : high - place] += chance[low:high] / 2
        chance, reached = moved, reached + place
    return chance[most + places.sum() :].sum()


@pytest.mark.slow
@pytest.mark.parametrize("n", [60, 162, 225])
@pytest.mark.parametrize("kind", ["precisions at 3, printed", "noise"])
def test_many_sums_that_cluster_are_told_apart(n, kind):
    rng = np.random.default_rng(n)
    if kind == "noise":
        places = 1000 * rng.integers(1, 4, n) + rng.integers(0, 5, n)
        places = places * rng.choice([-1, 1], n, p=[0.43, 0.57])
    else:
        printed = np.array([0, 3333, 6667, 10000])
        places = rng.choice(printed, n) - rng.choice(printed, n, p=[0.4, 0.3, 0.2, 0.1])
        places = places[places != 0]
    null = SignFlipNull(places * 1e-4, method="convolution")
    assert null.p_value() == pytest.approx(counted_along(places), rel=1e-3)
    assert null.sf(places.sum() * 1e-4) == pytest.approx(counted_along(places), rel=1e-3)


@pytest.mark.parametrize("n", [12, 60, 400])
def test_multiples_in_single_precision_are_multiples(n):
    rng = np.random.default_rng(n)
    first, second = rng.integers(0, 4, n), rng.integers(0, 4, n)
    stored = (np.float32(first / 3) - np.float32(second / 3)).astype(float)
    null, whole = SignFlipNull(stored), SignFlipNull(first - second)
    assert null.how == "exact"
    for alternative in ("greater", "less", "two-sided"):
        expected = whole.p_value(alternative=alternative)
        assert null.p_value(alternative=alternative) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("scale", [1e-170, 1e-300, 1e150, 1e300])
def test_sums_that_cluster_are_told_apart_at_any_scale(scale):
    numbers = near_a_unit("two values", np.random.default_rng(1), 40)
    expected = SignFlipNull(numbers, method="convolution").p_value()
    scaled = SignFlipNull(scale * numbers, method="convolution").p_value()
    assert scaled == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("number", [20, 31, 72, 73, 120, 400])
def test_no_probability_is_above_one(number: int) -> None:
    for numbers in (
        [1.0, *[-1.0] * number, -number - 1.0],
        [1.0] * number + [-2.0] * number,
        np.linspace(-3, 1, number).round(1),
    ):
        null = SignFlipNull(numbers)
        for alternative in ("greater", "less", "two-sided"):
            assert 0 < null.p_value(alternative=alternative) <= 1
            assert 0 < paired_randomization(numbers, alternative=alternative).p_value <= 1
        assert null.logsf(null.support()[0]) <= 0
        assert null.logsf(null.support()[0] + 2.0) <= 0
