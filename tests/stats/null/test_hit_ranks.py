"""The ranks of the positives: enumeration in rational arithmetic, and what AP is made of."""

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from scipy.stats import nhypergeom

import prframe
from prframe.stats import (
    ap_null_moments,
    hit_rank_covariance,
    hit_rank_joint_pmf,
    hit_rank_moments,
    hit_rank_pmf,
    reciprocal_hit_rank_covariance,
    reciprocal_hit_rank_moments,
)

SIZES = [(n, n_pos) for n in range(1, 9) for n_pos in range(1, n + 1)]


def covariance(first: list[Fraction], second: list[Fraction]) -> Fraction:
    """Return the covariance over equally likely cases."""
    count = len(first)
    products = sum((a * b for a, b in zip(first, second, strict=True)), Fraction(0))
    return products / count - sum(first, Fraction(0)) * sum(second, Fraction(0)) / count**2


@pytest.mark.parametrize(("n", "n_pos"), SIZES)
def test_enumeration(n: int, n_pos: int) -> None:
    rankings = list(combinations(range(1, n + 1), n_pos))
    which, k = np.arange(1, n_pos + 1), np.arange(1, n + 1)
    pmf = hit_rank_pmf(n, n_pos, which[:, None], k)
    mean, variance = reciprocal_hit_rank_moments(n, n_pos, which)
    both = reciprocal_hit_rank_covariance(n, n_pos, which[:, None], which)
    assert (np.diag(both) == variance).all()
    reciprocals = [[Fraction(1, rank) for rank in ranks] for ranks in zip(*rankings, strict=True)]
    for i, column in enumerate(reciprocals):
        for rank in k:
            share = sum(ranks[i] == rank for ranks in rankings) / len(rankings)
            assert pmf[i, rank - 1] == pytest.approx(share, rel=1e-13, abs=0)
        assert mean[i] == pytest.approx(float(sum(column) / len(column)), rel=1e-14)
        for j, other in enumerate(reciprocals):
            want = float(covariance(column, other))
            assert both[i, j] == pytest.approx(want, rel=1e-13, abs=0)


@pytest.mark.parametrize(("n", "n_pos"), [(4, 2), (6, 3), (7, 5), (5, 5)])
def test_pairs_by_enumeration(n: int, n_pos: int) -> None:
    rankings = list(combinations(range(1, n + 1), n_pos))
    for i, j in combinations(range(n_pos), 2):
        share = np.zeros((n, n))
        for ranks in rankings:
            share[ranks[i] - 1, ranks[j] - 1] += 1 / len(rankings)
        k = np.arange(1, n + 1)
        joint = hit_rank_joint_pmf(n, n_pos, i + 1, j + 1, k[:, None], k)
        assert joint == pytest.approx(share, rel=1e-12, abs=0)


@pytest.mark.parametrize(("n", "n_pos", "i", "j"), [(60, 7, 2, 5), (40, 30, 1, 30), (50, 2, 1, 2)])
def test_pairs_add_up(n: int, n_pos: int, i: int, j: int) -> None:
    k = np.arange(1, n + 1)
    joint = hit_rank_joint_pmf(n, n_pos, i, j, k[:, None], k)
    first, second = hit_rank_pmf(n, n_pos, i, k), hit_rank_pmf(n, n_pos, j, k)
    assert joint.sum(axis=1) == pytest.approx(first, rel=1e-12)
    assert joint.sum(axis=0) == pytest.approx(second, rel=1e-12)
    mean, other = hit_rank_moments(n, n_pos, [i, j]).mean
    want = hit_rank_covariance(n, n_pos, i, j)
    assert (k - mean) @ joint @ (k - other) == pytest.approx(want, rel=1e-11)
    centred = 1 / k - (first / k).sum(), 1 / k - (second / k).sum()
    want = centred[0] @ joint @ centred[1]
    assert reciprocal_hit_rank_covariance(n, n_pos, j, i) == pytest.approx(want, rel=1e-11)


def test_equation_7_as_printed_is_no_distribution() -> None:
    n, n_pos, i, j = 12, 5, 2, 4
    ways = sum(
        comb(s - 1, i - 1) * comb(t - s - 1, j - i - 1) * comb(n - t, n_pos - j)
        for s, t in combinations(range(1, n + 1), 2)
    )
    assert ways == comb(n, n_pos)
    # As printed they add up to n (n - 1) / (n_pos (n_pos - 1)).
    assert Fraction(ways, comb(n - 2, n_pos - 2)) == Fraction(n * (n - 1), n_pos * (n_pos - 1))


@pytest.mark.parametrize(("n", "n_pos", "i"), [(1000, 100, 1), (1000, 100, 37), (300, 299, 150)])
def test_negative_hypergeometric(n: int, n_pos: int, i: int) -> None:
    k = np.arange(1, n + 1)
    # SciPy counts the negatives above the i-th positive.
    want = nhypergeom(n, n - n_pos, i).pmf(k - i)
    assert hit_rank_pmf(n, n_pos, i, k) == pytest.approx(want, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize(("n", "n_pos"), [(1000, 100), (400, 399), (150, 1), (90, 90)])
def test_average_precision_is_made_of_them(n: int, n_pos: int) -> None:
    i = np.arange(1, n_pos + 1)
    mean = reciprocal_hit_rank_moments(n, n_pos, i).mean
    both = reciprocal_hit_rank_covariance(n, n_pos, i[:, None], i)
    exact = ap_null_moments(n, n_pos)
    assert (i * mean).mean() == pytest.approx(exact.mean, rel=1e-14)
    assert i @ both @ i / n_pos**2 == pytest.approx(exact.variance, rel=1e-12, abs=0)


@pytest.mark.parametrize(("n", "n_pos", "i"), [(6000, 10, 10), (3000, 2999, 2000)])
def test_nothing_cancels(n: int, n_pos: int, i: int) -> None:
    k = np.arange(1, n + 1)
    pmf = hit_rank_pmf(n, n_pos, i, k)
    mean, variance = reciprocal_hit_rank_moments(n, n_pos, i)
    assert mean == pytest.approx((pmf / k).sum(), rel=1e-12)
    assert variance == pytest.approx((pmf * (1 / k - mean) ** 2).sum(), rel=1e-11, abs=0)


def test_sizes_of_all_kinds_together() -> None:
    n, n_pos = np.array([[30], [5], [1500]]), np.array([[4], [5], [3]])
    mean, variance = reciprocal_hit_rank_moments(n, n_pos, [1, 2, 3])
    for row, (size, positives) in enumerate(zip(n.ravel(), n_pos.ravel(), strict=True)):
        alone = reciprocal_hit_rank_moments(size, positives, [1, 2, 3])
        assert (mean[row] == alone.mean).all()
        assert (variance[row] == alone.variance).all()
    assert (variance[1] == 0).all()
    assert hit_rank_pmf([[10], [20]], 4, [1, 2, 3], 5).shape == (2, 3)


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (hit_rank_pmf, (3, 2, 1, 4), "`k` must be at most n; got k = 4 with n = 3."),
        (hit_rank_joint_pmf, (3, 2, 2, 2, 1, 2), "`i` must be below `j`; got i = 2 with j = 2."),
        (hit_rank_joint_pmf, (3, 2, 1, 2, 1, 9), "`t` must be at most n; got t = 9 with n = 3."),
        (reciprocal_hit_rank_covariance, (3, 2, 1, 3), "`j` must be at most n_pos; got j = 3 with n_pos = 2."),
    ],
)  # fmt: skip
def test_refusals(function, arguments, message: str) -> None:
    with pytest.raises(prframe.PrframeError) as caught:
        function(*arguments)
    assert str(caught.value) == message
