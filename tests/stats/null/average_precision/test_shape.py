"""Skewness and kurtosis of AP under random ranking: enumeration, a recursion, limits."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from prframe.stats import ap_null_shape

# The walk takes ranks together from the 257th on.
WITHIN = 1e-3


def standardised(values: list[Fraction], weights: list[int]) -> tuple[float, float]:
    """Return skewness and excess kurtosis."""
    pairs = list(zip(values, weights, strict=True))
    mean = sum(weight * value for value, weight in pairs) / Fraction(sum(weights))
    second, third, fourth = (
        sum(weight * (value - mean) ** k for value, weight in pairs) / Fraction(sum(weights))
        for k in (2, 3, 4)
    )
    if second == 0:
        return np.nan, np.nan
    return float(third) / float(second) ** 1.5, float(fourth / second**2 - 3)


def by_enumeration(n_pos: int, blocks: list[int]) -> tuple[float, float]:
    """Go through every placement of the positives; AP counts at the ends of blocks."""
    ends = np.repeat(np.cumsum(blocks), blocks).tolist()
    values = []
    for chosen in combinations(ends, n_pos):
        hits = [sum(other <= end for other in chosen) for end in chosen]
        values.append(
            sum((Fraction(h, end) for h, end in zip(hits, chosen, strict=True)), Fraction(0))
        )
    return standardised(values, [1] * len(values))


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


def compositions(n: int) -> Iterator[list[int]]:
    """Yield every way to cut n items into blocks."""
    if n == 0:
        yield []
    for first in range(1, n + 1):
        yield from ([first, *rest] for rest in compositions(n - first))


@pytest.mark.parametrize("n", range(1, 11))
def test_all_small_rankings(n: int) -> None:
    found = ap_null_shape(n, np.arange(1, n + 1))
    expected = [by_enumeration(n_pos, [1] * n) for n_pos in range(1, n + 1)]
    assert (
        pytest.approx(np.array(expected), rel=1e-11, abs=1e-12, nan_ok=True) == np.array(found).T
    )


@pytest.mark.parametrize("n", range(1, 7))
def test_all_ties_of_few_items(n: int) -> None:
    for blocks in compositions(n):
        found = ap_null_shape(n, np.arange(1, n + 1), ties=blocks)
        expected = [by_enumeration(n_pos, blocks) for n_pos in range(1, n + 1)]
        assert (
            pytest.approx(np.array(expected), rel=1e-10, abs=1e-11, nan_ok=True)
            == np.array(found).T
        )


@pytest.mark.slow
@pytest.mark.parametrize(("n", "most"), [(200, 199), (300, 60), (9000, 60)])
def test_a_slow_recursion(n: int, most: int) -> None:
    skewness, kurtosis = by_recursion(n, most)
    found = ap_null_shape(n, np.arange(1, most + 1))
    assert found.skewness == pytest.approx(skewness.astype(float), rel=WITHIN)
    assert found.kurtosis == pytest.approx(kurtosis.astype(float), rel=WITHIN)


@pytest.mark.slow
def test_the_limits_of_many_items() -> None:
    n = 2 * 10**7
    # For large n only h/n matters: the sums become integrals, which are powers of p.
    p = np.array([0.1, 0.3, 0.5, 0.9])
    found = ap_null_shape(n, np.round(p * n))
    v = p * (1 - p)
    assert found.skewness * n**0.5 == pytest.approx((8 - 10 * p) / v**0.5, rel=WITHIN)
    fall, bend = 3 * p**2 - 4 * p**3, 32 * p**3 - 90 * p**4 + 60 * p**5
    fourth = (1 - 6 * v) * p**4 - 6 * (1 - 2 * p) * p**2 * fall + 3 * fall**2 + 4 * p * bend
    assert found.kurtosis * n == pytest.approx(fourth / (v * p**4), rel=WITHIN, abs=1e-6 * n)


@pytest.mark.slow
def test_single_blocks_are_no_ties() -> None:
    n, n_pos = 20_000, [1, 40, 7000]
    plain, tied = ap_null_shape(n, n_pos), ap_null_shape(n, n_pos, ties=[1] * n)
    assert tied.skewness == pytest.approx(plain.skewness, rel=WITHIN)
    assert tied.kurtosis == pytest.approx(plain.kurtosis, rel=WITHIN)
