"""Moments of AP under random ranking: enumeration in rational arithmetic, recorded values, size."""

from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from prframe.stats import ap_null_moments
from tests.refusals import refusals
from tests.stats.null.rankings import ap_of_all

# (n, n_pos, mean, variance) in exact arithmetic, recorded with the original program pranker.
RECORDED = [
    (2, 1, 0.75, 0.0625),
    (4, 2, 0.6805555555555556, 0.04031635802469136),
    (10, 2, 0.37146384479717814, 0.04059064396449023),
    (10, 9, 0.9214329805996473, 0.00431139224436917),
    (20, 18, 0.9136723139849667, 0.0026988503595084495),
    (50, 5, 0.16427111845911188, 0.007748925593662177),
    (100, 2, 0.061450807750372, 0.0074898785395199905),
    (100, 95, 0.952114837130121, 0.0003850120980695883),
    (300, 30, 0.11590099495742326, 0.000618685904340516),
    (500, 5, 0.021492775943267775, 0.0007229468308233328),
    (1000, 50, 0.05616736468220503, 0.00010865310464303507),
    (2000, 100, 0.05341143056449713, 4.13286719168457e-05),
    (10000, 10, 0.0018779696399648302, 1.7105370125310846e-05),
    (100000, 10, 0.00021089148006730508, 1.6553274662644915e-06),
    (1000000, 10, 2.3392606188204683e-05, 1.6464406856383752e-07),
]


def by_enumeration(n: int, n_pos: int, blocks: list[int]) -> tuple[Fraction, Fraction]:
    """Average over every placement of the positives."""
    values = ap_of_all(n, n_pos, blocks)
    mean = sum(values, Fraction(0)) / len(values)
    return mean, sum(((value - mean) ** 2 for value in values), Fraction(0)) / len(values)


@pytest.mark.parametrize("n", range(1, 11))
def test_all_small_rankings(n: int) -> None:
    for n_pos in range(1, n + 1):
        mean, variance = by_enumeration(n, n_pos, [1] * n)
        found = ap_null_moments(n, n_pos)
        assert found.mean == pytest.approx(float(mean), rel=1e-13)
        assert found.variance == pytest.approx(float(variance), rel=1e-12, abs=1e-16)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=5), st.data())
def test_ties(blocks: list[int], data: st.DataObject) -> None:
    n = sum(blocks)
    n_pos = data.draw(st.integers(1, n))
    if n > 10:
        blocks, n = blocks[:2], sum(blocks[:2])
        n_pos = min(n_pos, n)
    mean, variance = by_enumeration(n, n_pos, blocks)
    found = ap_null_moments(n, n_pos, ties=blocks)
    assert found.mean == pytest.approx(float(mean), rel=1e-13)
    assert found.variance == pytest.approx(float(variance), rel=1e-11, abs=1e-15)


@pytest.mark.parametrize(("n", "n_pos", "mean", "variance"), RECORDED)
def test_recorded_values(n: int, n_pos: int, mean: float, variance: float) -> None:
    found = ap_null_moments(n, n_pos)
    tolerance = 1e-12 if n <= 100_000 else 1e-9
    assert found.mean == pytest.approx(mean, rel=tolerance)
    assert found.variance == pytest.approx(variance, rel=tolerance)


def test_the_table_of_zhang_and_su() -> None:
    # Their Table III prints .0001286 and .000096 from simulation, .0001392 and .000142 from theory.
    found = ap_null_moments([1000, 2000], [100, 500])
    assert found.mean == pytest.approx([0.105843, 0.252693], abs=5e-7)
    assert found.variance == pytest.approx([0.00013015, 0.0000989296], rel=1e-4)


test_refusals = refusals(
    {
        "`n_pos` must be at most n; got n_pos = 4 with n = 3.": (3, 4),
        "`n_pos` must be whole numbers >= 1; got 1.5.": (3, 1.5),
        "`n` must be whole numbers >= 1; got '3'.": ("3", 1),
        "`ties` must be the sizes of blocks that add up to n; they add up to 2, and n is 3.": (
            3,
            1,
            [1, 1],
        ),
    },
    ap_null_moments,
)
