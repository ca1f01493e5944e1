"""Skewness and kurtosis of AP under random ranking: enumeration, a recursion, limits."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from prframe.stats import APNull
from tests.stats.null.rankings import ap_of_all

# The walk takes ranks together from the 257th on.
WITHIN = 1e-3


def by_enumeration(n_pos: int, blocks: list[int]) -> tuple[float, float]:
    """Return skewness and excess kurtosis over every placement of the positives."""
    values = ap_of_all(sum(blocks), n_pos, blocks)
    mean = sum(values) / Fraction(len(values))
    second, third, fourth = (
        sum((value - mean) ** k for value in values) / Fraction(len(values)) for k in (2, 3, 4)
    )
    if second == 0:
        return np.nan, np.nan
    return float(third) / float(second) ** 1.5, float(fourth / second**2 - 3)


def by_recursion(n: int, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Walk up the ranks with the central moments given 0..most hits, in extended precision."""
    hits = np.arange(most + 1).astype(np.longdouble)
    mean, second, third, fourth = np.zeros((4, most + 1), np.longdouble)
    for rank in range(1, n + 1):
        p = np.minimum(hits / rank, 1)
        # With a hit at this rank there was one fewer before it.
        before = [np.concatenate([m[:1], m[:-1]]) for m in (mean, second, third, fourth)]
        center = p * (hits / rank + before[0]) + (1 - p) * mean
        new = np.zeros((3, most + 1), np.longdouble)
        for weight, shift, (_, m2, m3, m4) in (
            (p, hits / rank + before[0] - center, before),
            (1 - p, mean - center, (mean, second, third, fourth)),
        ):
            new[0] += weight * (m2 + shift**2)
            new[1] += weight * (m3 + 3 * shift * m2 + shift**3)
            new[2] += weight * (m4 + 4 * shift * m3 + 6 * shift**2 * m2 + shift**4)
        mean, (second, third, fourth) = center, new
    return third[1:] / second[1:] ** 1.5, fourth[1:] / second[1:] ** 2 - 3


def agrees_with_enumeration(blocks: list[int], ties: list[int] | None) -> None:
    n = sum(blocks)
    found = [APNull(n, n_pos, ties=ties).stats("sk") for n_pos in range(1, n + 1)]
    expected = np.array([by_enumeration(n_pos, blocks) for n_pos in range(1, n + 1)])
    assert pytest.approx(expected, rel=1e-10, abs=1e-11, nan_ok=True) == np.array(found)


@pytest.mark.parametrize("n", range(1, 11))
def test_all_small_rankings(n: int) -> None:
    agrees_with_enumeration([1] * n, None)


@pytest.mark.parametrize("n", range(1, 7))
def test_all_ties_of_few_items(n: int) -> None:
    for inner in product([False, True], repeat=n - 1):
        cuts = [0, *(place for place, is_cut in enumerate(inner, 1) if is_cut), n]
        blocks = np.diff(cuts).tolist()
        agrees_with_enumeration(blocks, blocks)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "most"), [(200, 199), (300, 60), (9000, 60)])
def test_a_slow_recursion(n: int, most: int) -> None:
    skewness, kurtosis = by_recursion(n, most)
    some = np.unique(np.geomspace(1, most, 12).astype(int))
    found = np.array([APNull(n, n_pos).stats("sk") for n_pos in some.tolist()])
    want = np.array([skewness, kurtosis], dtype=np.float64).T[some - 1]
    assert found == pytest.approx(want, rel=WITHIN)


@pytest.mark.slow
def test_the_limits_of_many_items() -> None:
    n = 2 * 10**7
    # For large n only h/n matters: the sums become integrals, which are powers of p.
    p = np.array([0.1, 0.3, 0.5, 0.9])
    found = np.array([APNull(n, round(share * n)).stats("sk") for share in p.tolist()]).T
    v = p * (1 - p)
    assert found[0] * n**0.5 == pytest.approx((8 - 10 * p) / v**0.5, rel=WITHIN)
    fall, bend = 3 * p**2 - 4 * p**3, 32 * p**3 - 90 * p**4 + 60 * p**5
    fourth = (1 - 6 * v) * p**4 - 6 * (1 - 2 * p) * p**2 * fall + 3 * fall**2 + 4 * p * bend
    assert found[1] * n == pytest.approx(fourth / (v * p**4), rel=WITHIN, abs=1e-6 * n)
