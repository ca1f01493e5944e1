"""Inversion of the characteristic function of random signs, against counting and other formulas."""

import numpy as np
import pytest
from numpy.typing import NDArray

from prframe.stats import SignFlipNull
from prframe.stats.null import sign_flip_tails
from prframe.stats.null.sign_flips.inversion import inverted_log_tail

Floats = NDArray[np.float64]
LAWS = ["normal", "lognormal", "t(3)", "uniform"]


def sizes(law: str, n: int, seed: int) -> Floats:
    """Return rising, positive numbers, whose squares add up to 1."""
    rng = np.random.default_rng(seed)
    drawn = {
        "normal": rng.normal(size=n),
        "lognormal": rng.lognormal(size=n),
        "t(3)": rng.standard_t(3, n),
        "uniform": rng.random(n),
    }[law]
    rising = np.sort(np.abs(drawn))
    return np.asarray(rising / np.sqrt((rising**2).sum()))


@pytest.mark.parametrize("law", LAWS)
def test_tails_are_those_of_all_signs(law: str) -> None:
    numbers = sizes(law, 40, 1)
    exact = SignFlipNull(numbers, method="exact")
    found = [(z, inverted_log_tail(numbers, z)) for z in np.linspace(0.0, 2.5, 11).tolist()]
    for z, log_tail in found:
        assert log_tail is not None
        assert log_tail == pytest.approx(exact.logsf(z), abs=2e-5)
    # Beyond there are too few sums for a smooth function, and none is given.
    most = float(numbers.sum())
    assert inverted_log_tail(numbers, most * 0.999) is None


@pytest.mark.parametrize("law", LAWS)
def test_negative_sums_have_the_other_tail(law: str) -> None:
    numbers = sizes(law, 100, 2)
    null = SignFlipNull(numbers)
    for z in (0.1, 1.0, 2.5):
        both = null.sf(-z) + null.sf(z)
        assert both == pytest.approx(1.0, abs=1e-9)
        assert null.cdf(-z) == pytest.approx(null.sf(z), rel=1e-9)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("n", [200, 2000, 8000])
def test_tails_are_those_of_a_fine_grid(law: str, n: int) -> None:
    numbers = sizes(law, n, n)
    own, grid = SignFlipNull(numbers), SignFlipNull(numbers, method="convolution")
    z = np.array([-2.0, 0.0, 1.0, 2.0, 4.0, 6.0])
    assert own.logsf(z) == pytest.approx(grid.logsf(z), abs=5e-3)
    assert own.logsf(z[:4]) == pytest.approx(grid.logsf(z[:4]), abs=1e-4)
    assert inverted_log_tail(numbers, 4.0) == pytest.approx(own.logsf(4.0), rel=1e-12)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("n", [3000, 20_000, 100_000])
@pytest.mark.parametrize("z", [8.0, 15.0, 30.0])
def test_far_tails_are_those_of_saddlepoints(law: str, n: int, z: float) -> None:
    # The second-order expansion shares nothing with the inversion but the tilt.
    rng = np.random.default_rng(n)
    numbers = sizes(law, n, n)
    signs = np.where(rng.random(n) < 0.5 + z / 2 / np.sqrt(n), 1, -1)
    observed = numbers * signs
    p_value = SignFlipNull(observed).p_value()
    expansion = sign_flip_tails(observed[:, None]).chance[0]
    assert p_value == pytest.approx(expansion, rel=2e-3)


def test_logarithms_go_on_where_probabilities_are_no_floats() -> None:
    null = SignFlipNull(sizes("normal", 20_000, 3))
    z = np.array([30.0, 40.0, 50.0, 60.0])
    logs = np.asarray(null.logsf(z))
    # The sums of n numbers are a little lighter in the tails than a normal distribution.
    normal = -(z**2) / 2 - np.log(z) - np.log(2 * np.pi) / 2
    assert (logs < normal).all()
    assert logs == pytest.approx(normal, rel=0.12)
    assert (null.sf(z[2:]) < 1e-300).all()


def test_tails_fall_where_methods_meet() -> None:
    numbers = sizes("lognormal", 60, 4)
    null = SignFlipNull(numbers)
    x = np.linspace(-1, 1, 400) * numbers.sum()
    assert (np.diff(null.logsf(x)) <= 0).all()
    assert (np.diff(null.logcdf(x)) >= 0).all()


def test_sums_that_cluster_are_not_inverted() -> None:
    rng = np.random.default_rng(5)
    numbers = np.sort(rng.integers(1, 6, 200) + 1e-4 * rng.random(200))
    numbers /= np.sqrt((numbers**2).sum())
    assert inverted_log_tail(numbers, 3.0) is None
    smooth = np.sort(rng.uniform(1, 6, 200))
    smooth /= np.sqrt((smooth**2).sum())
    assert inverted_log_tail(smooth, 3.0) is not None


@pytest.mark.parametrize("kind", ["smooth", "repeated"])
def test_logarithms_next_to_the_largest_sum(kind: str) -> None:
    rng = np.random.default_rng(6)
    numbers = rng.exponential(size=2000) + 0.01
    if kind == "repeated":
        numbers = np.repeat(numbers[:100], 20)
    null = SignFlipNull(numbers)
    x = np.array([0.8, 0.9, 0.95, 0.99, 0.999, 1.0]) * numbers.sum()
    logs = np.array([null.logsf(value) for value in x.tolist()])
    assert (np.diff(logs) < 0).all()
    assert null.logsf(x) == pytest.approx(logs, rel=1e-12)
    assert null.logcdf(-x) == pytest.approx(logs, rel=1e-12)
    assert logs[-1] == pytest.approx(-2000 * np.log(2), rel=1e-12)
    # No tail is above Chernoff's bound, which has the minimum over all tilts.
    tilt = np.geomspace(1e-2, 1e3, 2000)[:, None] / numbers.max()
    factor = np.logaddexp(tilt * numbers, -tilt * numbers).sum(axis=1) - 2000 * np.log(2)
    bound = (factor[:, None] - tilt * x).min(axis=0)
    assert (logs <= bound + 1e-2).all()
    assert logs[:-1] == pytest.approx(bound[:-1], rel=0.01)
