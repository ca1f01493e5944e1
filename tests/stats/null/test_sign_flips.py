"""The distribution of a sum with random signs, against enumeration, walks and other formulas."""

from itertools import product

import numpy as np
import pytest
from scipy.special import bdtrc
from scipy.stats import norm

from prframe.errors import PrframeError
from prframe.stats import SignFlipNull
from prframe.stats.null.sign_flips.sums import multiples

SETS = {
    "few": [1.0],
    "lattice": [0.1, 0.2, 0.3, 0.1, -0.4, 0.0, 0.2, 0.7],
    "halves": [0.31, -1.7, 0.02, 0.55, 1.234, -0.9, 2.2, 0.4, 0.77],
    "ranks": list(np.arange(1.0, 12.0)),
    "reciprocal ranks": [1 / 2 - 1 / 3, 1 / 4 - 1, 1 / 5, 1 / 7 - 1 / 3, 1 / 6 - 1 / 8, 0.5],
    "nothing": [],
    "zeros": [0.0, 0.0],
}
SIDES = ("two-sided", "less", "greater")


def lacking(places: np.ndarray) -> np.ndarray:
    """Return the probabilities that numbers with a minus sign add up to at most 0, 1, ...

    The numbers are whole, and not so many that 2^-n is no float.
    """
    chance, reached = np.zeros(int(places.sum()) + 1), 0
    chance[0] = 1.0
    for place in places.tolist():
        moved = chance[: reached + 1] / 2
        chance[: reached + 1] = moved
        chance[place : place + reached + 1] += moved
        reached += place
    return np.minimum(np.cumsum(chance), 1.0)


@pytest.mark.parametrize("numbers", SETS.values(), ids=SETS)
@pytest.mark.parametrize("method", ["auto", "exact"])
def test_tails_and_p_values_are_enumerated(numbers, method):
    sums = np.array(list(product([-1, 1], repeat=len(numbers)))) @ np.array(numbers)
    null, total = SignFlipNull(numbers, method=method), float(np.sum(numbers))
    x = np.array([-9.0, *np.linspace(-3, 3, 25), 0.0, np.abs(numbers).sum(), 99.0])
    assert set(null.tails(x).method) == {"exact"}
    assert null.sf(x) == pytest.approx([(sums >= each - 1e-9).mean() for each in x], abs=1e-12)
    assert null.cdf(x) == pytest.approx([(sums <= each + 1e-9).mean() for each in x], abs=1e-12)
    expected = {
        "two-sided": (np.abs(sums) >= abs(total) - 1e-9).mean(),
        "less": (sums <= total + 1e-9).mean(),
        "greater": (sums >= total - 1e-9).mean(),
    }
    for side, share in expected.items():
        assert null.p_value(alternative=side) == pytest.approx(share, abs=1e-12)


def walked(places, above=0):
    """Return P(S >= sum + above) of whole numbers, number by number."""
    lack = int(np.abs(places).sum() - places.sum() - above) // 2
    chance = np.zeros(lack + 1)
    chance[0] = 1.0
    for place in np.sort(np.abs(places)).tolist():
        moved = chance / 2
        chance = moved.copy()
        chance[place:] += moved[: max(lack + 1 - place, 0)]
    return float(chance.sum())


def average_precisions(rng, n):
    """Draw differences of AP."""
    return rng.beta(0.5, 1, n) - rng.beta(0.5, 1, n)


# Whole numbers, so fine that a walk along them has the tails of what they stand for.
KINDS = {
    "normal": lambda rng, n: 1e3 * rng.normal(size=n),
    "heavy tails": lambda rng, n: 300 * rng.standard_t(2, n),
    "AP": lambda rng, n: 1e3 * average_precisions(rng, n),
    "P@10": lambda rng, n: rng.integers(0, 5, n),
    "reciprocal ranks": lambda rng, n: 2520 * (1 / rng.geometric(0.3, n) - 1 / rng.geometric(0.3)),
    "many zeros": lambda rng, n: 1e3 * rng.normal(size=n) * (rng.random(n) < 0.4),
    "one dominates": lambda rng, n: np.append(100 * rng.normal(size=n - 1), 5000),
    "close to a lattice": lambda rng, n: 1000 * rng.integers(1, 5, n) + 3 * rng.normal(size=n),
    "close to one number": lambda rng, n: rng.integers(1000, 1021, n),
    "thirds, printed": lambda rng, n: np.round(1e4 * rng.integers(1, 4, n) / 3),
}


def signed(sizes, z, rng):
    """Give sizes signs so that their sum is about z standard deviations."""
    tilt = z / np.sqrt((sizes**2).sum())
    return sizes * np.where(rng.random(sizes.size) < 1 / (1 + np.exp(-2 * tilt * sizes)), 1, -1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [35, 120])
@pytest.mark.parametrize("method", ["auto", "convolution"])
def test_p_values_are_within_a_percent_or_estimates(kind, n, method):
    rng = np.random.default_rng(n)
    for z in (0.3, 3.0, 6.0):
        sizes = np.abs(np.rint(KINDS[kind](rng, n)))
        places = signed(sizes[sizes > 0], z, rng)
        expected = walked(places.astype(np.int64))
        p_value, how = SignFlipNull(0.01 * places, method=method).test("greater")
        if how == "estimate":
            assert np.log(p_value) == pytest.approx(np.log(expected), rel=0.05)
        else:
            assert p_value == pytest.approx(expected, rel=1e-9 if how == "exact" else 0.01)


@pytest.mark.parametrize("n", [3, 10, 200, 2000, 20_000])
def test_equal_numbers_are_binomial(n):
    null = SignFlipNull(np.full(n, 0.1))
    for wins in {n // 2, n // 2 + 1, n // 2 + int(n**0.5), n}:
        expected = bdtrc(wins - 1, n, 0.5)
        assert null.sf(0.1 * (2 * wins - n)) == pytest.approx(expected, rel=1e-9, abs=1e-300)


@pytest.mark.slow
@pytest.mark.parametrize("n", [20_000, 300_000])
@pytest.mark.parametrize("z", [0.5, 3.0, 6.0])
def test_very_many_numbers_follow_edgeworths_expansion(n, z):
    numbers = np.random.default_rng(n).normal(size=n)
    numbers += (z - numbers.sum() / np.sqrt(n)) / np.sqrt(n)
    squares = (numbers**2).sum()
    z = numbers.sum() / np.sqrt(squares)
    kurtosis = -2 * (numbers**4).sum() / squares**2
    expected = norm.sf(z) + norm.pdf(z) * kurtosis / 24 * (z**3 - 3 * z)
    assert SignFlipNull(numbers).p_value() == pytest.approx(expected, rel=0.005)


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300])
@pytest.mark.parametrize("method", ["auto", "convolution"])
@pytest.mark.parametrize("n", [20, 60])
def test_the_unit_does_not_matter(scale, method, n):
    numbers = np.random.default_rng(1).normal(0.3, 1, n)
    expected, found = (SignFlipNull(x, method=method) for x in (numbers, numbers * scale))
    for alternative in SIDES:
        p_value = expected.p_value(alternative=alternative)
        assert found.p_value(alternative=alternative) == pytest.approx(p_value, rel=1e-6)
    assert found.std() == pytest.approx(expected.std() * scale)


@pytest.mark.parametrize("n", [12, 60, 400])
def test_multiples_in_single_precision_are_multiples(n):
    rng = np.random.default_rng(n)
    first, second = rng.integers(0, 4, n), rng.integers(0, 4, n)
    stored = (np.float32(first / 3) - np.float32(second / 3)).astype(float)
    null, whole = SignFlipNull(stored), SignFlipNull(first - second)
    for alternative in SIDES:
        p_value, how = null.test(alternative)
        assert (p_value, how) == (pytest.approx(whole.p_value(alternative=alternative)), "exact")


def test_units():
    rng = np.random.default_rng(7)
    for unit in rng.uniform(0.001, 1, 50).tolist():
        places = np.sort(np.append(rng.integers(1, 500, 60), 1))
        found = multiples(places * unit)
        assert found is not None
        np.testing.assert_array_equal(found[0], places)
        assert found[1] == pytest.approx(unit)
        assert multiples(places * unit, at_least=1.01 * unit) is None
        assert multiples(np.sort(rng.random(60))) is None
    assert multiples(np.zeros(0)) is None
    assert lacking(np.array([1, 2, 4])).tolist() == [(k + 1) / 8 for k in range(8)]


@pytest.mark.parametrize(
    ("numbers", "method", "message"),
    [
        ([1.0, np.nan], "auto", "finite"),
        ([[1.0]], "auto", "list of finite"),
        ([1.0], "best", "`method`"),
        (np.random.default_rng(1).normal(size=45), "exact", "at most 44"),
    ],
)
def test_what_it_refuses(numbers, method, message):
    with pytest.raises(PrframeError, match=message):
        SignFlipNull(numbers, method=method)
