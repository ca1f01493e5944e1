"""Tails of sums with random signs by saddlepoints, against an inversion and the convolution.

The inversion of the characteristic function, along a line through the saddlepoint, is exact up to
rounding where sums are nearly continuous.
"""

import numpy as np
import pytest
from scipy.optimize import brentq

from prframe.stats import SignFlipNull, paired_randomization
from prframe.stats.null import sign_flip_tails
from prframe.typing import Floats


def inverted(numbers: Floats) -> float:
    """Return P(S >= s) by ``Re int exp(K(t + iy) - (t + iy) s) / (t + iy) dy / (2 pi)``."""
    total, sizes = abs(numbers.sum()), np.abs(numbers)
    slope = brentq(lambda t: (sizes * np.tanh(t * sizes)).sum() - total, 0, 1e4 / sizes.sum())
    spread = np.sqrt((sizes**2 / np.cosh(slope * sizes) ** 2).sum())
    step = 0.02 / max(spread, 1 / slope)
    z = slope + 1j * step * np.arange(int(12 / spread / step) + 1)
    exponent = np.log(np.cosh(z[:, None] * sizes)).sum(axis=1) - z * total
    values = (np.exp(exponent) / z).real
    return float((values.sum() - values[0] / 2) * step / np.pi)


def differences(kind: str, n: int, shift: float, rng: np.random.Generator) -> Floats:
    """Draw differences of a metric between two systems."""
    drawn = {
        "normal": lambda: rng.normal(size=n),
        "AP": lambda: rng.beta(0.5, 1, n) - rng.beta(0.5, 1, n),
        "reciprocal ranks": lambda: 1 / rng.geometric(0.2, n) - 1.01 / rng.geometric(0.3, n),
        "heavy tails": lambda: rng.standard_t(3, n),
        "few that differ": lambda: rng.normal(size=n) * (rng.random(n) < 0.4),
    }[kind]()
    return np.asarray(drawn + shift * drawn.std() * (drawn != 0))


KINDS = ["normal", "AP", "reciprocal ranks", "heavy tails", "few that differ"]
# These two take longest.
MARKED = [pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS[:2]] + KINDS[2:]


@pytest.mark.slow
@pytest.mark.parametrize("kind", MARKED)
def test_tails_are_those_of_the_inversion(kind: str) -> None:
    rng = np.random.default_rng(1)
    columns = [
        differences(kind, n, shift, rng)
        for n in (100, 300, 1000)
        for shift in (0.0, 0.02, 0.1, 0.2, 0.3)
        for _ in range(2)
    ]
    n_accurate = 0
    for column in columns:
        tails = sign_flip_tails(column[:, None])
        if not tails.accurate[0]:
            continue
        n_accurate += 1
        expected = inverted(column[column != 0])
        assert tails.chance[0] == pytest.approx(expected, rel=1e-4)
    assert n_accurate >= (2 if kind == "heavy tails" else 12)


@pytest.mark.parametrize("width", [0.5, 0.1, 0.02, 1e-3, 1e-6])
@pytest.mark.parametrize("n", [60, 200, 1000])
def test_sums_that_cluster_are_noticed(n: int, width: float) -> None:
    rng = np.random.default_rng(2)
    column = rng.uniform(1 - width, 1 + width, n) * np.where(rng.random(n) < 0.6, 1, -1)
    tails = sign_flip_tails(column[:, None])
    expected = float(SignFlipNull(column * np.sign(column.sum()), method="convolution").p_value())
    if tails.accurate[0]:
        assert tails.chance[0] == pytest.approx(expected, rel=3e-4)
    # The spacing of clusters is 2, and their width about the root of n times that of a number.
    assert not tails.accurate[0] or n**0.5 * width > 0.3


def test_columns_do_not_depend_on_each_other() -> None:
    rng = np.random.default_rng(3)
    columns = np.column_stack([differences(kind, 200, 0.1, rng) for kind in KINDS])
    together = sign_flip_tails(columns)
    for i in range(len(KINDS)):
        alone = sign_flip_tails(columns[:, [i]])
        assert alone.accurate[0] == together.accurate[i]
        assert alone.chance[0] == pytest.approx(together.chance[i], rel=1e-13, nan_ok=True)


@pytest.mark.parametrize(
    "column",
    [
        np.zeros(50),
        np.ones(50),
        np.r_[np.ones(40), -np.ones(40)],
        np.r_[1e6, np.random.default_rng(1).normal(size=99)],
        np.abs(np.random.default_rng(1).normal(size=200)),
        np.r_[np.zeros(90), np.random.default_rng(1).normal(size=10)],
    ],
    ids=["zeros", "all one way", "on a lattice", "one counts", "the largest sum", "few"],
)
def test_what_is_not_nearly_continuous_is_left_to_others(column: Floats) -> None:
    assert not sign_flip_tails(column[:, None]).accurate[0]


def test_sums_of_any_size() -> None:
    column = np.random.default_rng(4).normal(0.1, 1, 300)
    expected = sign_flip_tails(column[:, None])
    assert expected.accurate[0]
    for scale in (1e-300, 1e300, -1.0):
        tails = sign_flip_tails(scale * column[:, None])
        assert tails.accurate[0]
        assert tails.chance[0] == pytest.approx(expected.chance[0])


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize("sign", [1, -1])
def test_p_values_are_those_of_the_convolution(alternative: str, sign: int) -> None:
    rng = np.random.default_rng(5)
    for shift in (0.0, 0.05, 0.2):
        column = sign * differences("AP", 500, shift, rng)
        found = paired_randomization(column, alternative=alternative)
        assert found.method == "randomization-saddlepoint"
        grid = paired_randomization(column, alternative=alternative, method="convolution")
        assert found.p_value == pytest.approx(grid.p_value, rel=3e-4)


def test_no_columns() -> None:
    assert sign_flip_tails(np.zeros((5, 0))).chance.size == 0
    assert not sign_flip_tails(np.zeros((0, 2))).accurate.any()
