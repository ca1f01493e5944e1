"""Moments under random selection: enumeration in rational arithmetic, and the printed formulas."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import nhypergeom

import prframe
from prframe.stats import (
    ap_null_moments,
    delta_moments,
    hit_rank_covariance,
    hit_rank_joint_pmf,
    hit_rank_moments,
    hit_rank_pmf,
    precision_null_moments,
    recall_null_moments,
    reciprocal_hit_rank_covariance,
    reciprocal_hit_rank_moments,
)

SIZES = [(n, n_pos) for n in (1, 4, 7) for n_pos in range(1, n + 1)]


def rankings(n: int, n_pos: int) -> Iterator[tuple[int, ...]]:
    """Yield the ranks of the positives, 1-based, of every ranking."""
    return combinations(range(1, n + 1), n_pos)


def covariance(first: list[Fraction], second: list[Fraction]) -> Fraction:
    """Return the covariance over equally likely cases."""
    count = len(first)
    products = sum((a * b for a, b in zip(first, second, strict=True)), Fraction(0))
    return products / count - sum(first, Fraction(0)) * sum(second, Fraction(0)) / count**2


@pytest.mark.parametrize(("n", "n_pos"), SIZES)
def test_recall_and_precision(n: int, n_pos: int) -> None:
    k = np.arange(1, n + 1)
    recall, precision = recall_null_moments(n, n_pos, k), precision_null_moments(n, n_pos, k)
    for depth in range(1, n + 1):
        hits = [Fraction(sum(rank <= depth for rank in ranks)) for ranks in rankings(n, n_pos)]
        mean, variance = sum(hits, Fraction(0)) / len(hits), covariance(hits, hits)
        for found, by in ((recall, n_pos), (precision, depth)):
            assert found.mean[depth - 1] == pytest.approx(float(mean / by), rel=1e-14)
            want = float(variance / by**2)
            assert found.variance[depth - 1] == pytest.approx(want, rel=1e-13, abs=0)


@pytest.mark.parametrize(("n", "n_pos"), SIZES)
def test_ranks_of_the_positives(n: int, n_pos: int) -> None:
    which = np.arange(1, n_pos + 1)
    found = hit_rank_moments(n, n_pos, which)
    both = hit_rank_covariance(n, n_pos, which[:, None], which)
    assert (np.diag(both) == found.variance).all()
    columns = [list(map(Fraction, column)) for column in zip(*rankings(n, n_pos), strict=True)]
    for i, first in enumerate(columns):
        assert found.mean[i] == pytest.approx(float(sum(first) / len(first)), rel=1e-14)
        for j, second in enumerate(columns):
            want = float(covariance(first, second))
            assert both[i, j] == pytest.approx(want, rel=1e-13, abs=0)


def by_delta_method(mean: np.ndarray, both: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Return eq. (12), and the terms of eq. (13): variances of i/L_i, covariances of i/L_i, j/L_j."""
    i = np.arange(1.0, mean.size + 1)
    u = np.diag(both) / mean**2
    own = (i / mean) ** 2 * u * (1 - u)
    pairs = both * np.outer(i, i) / np.outer(mean, mean) ** 2
    return float(np.mean(i / mean * (1 + u))), own, pairs


@pytest.mark.parametrize(("n", "n_pos"), [*SIZES, (30, 12), (1000, 100), (700, 699)])
def test_delta_moments_term_by_term(n: int, n_pos: int) -> None:
    i = np.arange(1, n_pos + 1)
    both = hit_rank_covariance(n, n_pos, i[:, None], i)
    mean, own, pairs = by_delta_method(hit_rank_moments(n, n_pos, i).mean, both)
    variance = (own.sum() + 2 * np.triu(pairs, 1).sum()) / n_pos**2
    found = delta_moments(n, n_pos)
    assert found.mean == pytest.approx(mean, rel=1e-13)
    assert found.variance == pytest.approx(variance, rel=1e-11, abs=0)


@pytest.mark.parametrize(
    ("n", "n_pos", "mean", "variance", "as_printed"),
    [(1000, 100, 0.1037, 0.0001392, 0.000265), (2000, 500, 0.2522, 0.000142, 0.000280)],
)
def test_where_table_iii_comes_from(
    n: int, n_pos: int, mean: float, variance: float, as_printed: float
) -> None:
    # Eqs (8) to (10) as printed.
    i = np.arange(1.0, n_pos + 1)
    means = i * n / n_pos
    variances = i * n * (i * n + i + n - n_pos) / (n_pos * (n_pos + 1)) - means**2
    low, high = np.minimum.outer(i, i), np.maximum.outer(i, i)
    products = low * (n - 1) * (n * high + n - n_pos) / (n_pos * (n_pos - 1))
    both = products - np.outer(means, means)
    _, _, pairs = by_delta_method(means, both)
    np.fill_diagonal(both, variances)
    printed, own, _ = by_delta_method(means, both)
    assert printed == pytest.approx(mean, abs=5e-5)
    twice = (own.sum() + 2 * np.triu(pairs, 1).sum()) / n_pos**2
    assert twice == pytest.approx(as_printed, abs=5e-7)
    # Their variance results when the sum over pairs is taken once, with the pairs i = j.
    once = (own.sum() + np.triu(pairs).sum()) / n_pos**2
    assert once == pytest.approx(variance, abs=5e-7 if n == 2000 else 5e-8)
    # None of this is the truth.
    exact = ap_null_moments(n, n_pos)
    assert abs(exact.mean - mean) > 4e-4
    assert exact.variance < 0.94 * variance


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
        (recall_null_moments, (3, 4, 1), "`n_pos` must be at most n; got n_pos = 4 with n = 3."),
        (precision_null_moments, (3, 2, 4), "`k` must be at most n; got k = 4 with n = 3."),
        (hit_rank_moments, (3, 2, 3), "`i` must be at most n_pos; got i = 3 with n_pos = 2."),
        (hit_rank_covariance, (3, 2, 1, 3), "`j` must be at most n_pos; got j = 3 with n_pos = 2."),
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
