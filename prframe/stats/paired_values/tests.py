"""Tests of whether two systems differ on the same queries."""

from __future__ import annotations

from typing import get_args

import numpy as np
from numpy.typing import ArrayLike

from prframe import checks
from prframe.draws import TEST_DRAWS
from prframe.stats.paired_values.family import PairedFamily
from prframe.stats.paired_values.query_tests import (
    QueryTestOptions,
    RandomizationMethod,
    SignedRankMethod,
    ZeroMethod,
    bootstrap_tests,
    randomization_tests,
    signed_ranks,
    signs,
    t_test,
)
from prframe.stats.paired_values.sample import PairedTest, paired_sample
from prframe.typing import Alternative


def paired_randomization(  # noqa: PLR0913
    a: ArrayLike,
    b: ArrayLike | None = None,
    *,
    alternative: Alternative = "two-sided",
    method: RandomizationMethod = "auto",
    n_resamples: int = TEST_DRAWS,
    rng: int | np.random.Generator | None = None,
    cluster: ArrayLike | None = None,
) -> PairedTest:
    """Test whether two systems differ, by exchanging their values query by query.

    ``p = P(|sum_i e_i d_i| >= |sum_i d_i|)`` with fair signs ``e_i``, because two equal systems
    might each have had either value.

    Parameters
    ----------
    a, b : array_like of float, shape (n,)
        Values of two systems on the same queries; if b is missing, a holds the differences.
    alternative : {"two-sided", "less", "greater"}
        The alternative: the mean of a - b is not 0, below 0, or above 0.
    method : {"auto", "exact", "convolution", "sampled"}
        How the p-value is computed. ``"exact"``: all 2^n signs are counted, for n <= 44 or
        differences with a common unit. ``"convolution"``: the distribution is convolved on a fine
        grid, within a few parts in a thousand, or in a hundred for p < .001; see `SignFlipNull`.
        ``"auto"``: counted where that is quick; else by a saddlepoint with a second term, if the
        sum is nearly normal and that term changes the p-value by a thousandth at most, within 1e-4
        of it down to 1e-17 (``pytest tests/stats/null/test_sign_flip_tails.py``); else convolved.
        ``"sampled"``: ``(b + 1) / (B + 1)`` with b of B draws as extreme, or the share of all
        signs if there are not more than B.
    n_resamples : int
        Number of draws B of ``"sampled"``.
    rng : int or numpy.random.Generator, optional
        Seed or generator of these draws.
    cluster : array_like, shape (n,), optional
        Clusters of queries that exchange values together.

    Returns
    -------
    PairedTest
        ``statistic``, the mean difference, ``p_value``, ``std_error``, the Monte Carlo error
        ``sqrt(p (1 - p) / B)`` of a sampled p-value, and ``method``. Without queries the numbers
        are NaN.

    Raises
    ------
    PrframeError
        Values that are not finite, of different lengths, or an unknown option.

    References
    ----------
    Fisher 1935; Robinson, *Saddlepoint approximations for permutation tests*, 1982; Smucker, Allan
    & Carterette, *A comparison of statistical significance tests for information retrieval
    evaluation*, CIKM 2007.

    Examples
    --------
    >>> test = paired_randomization([0.5, 0.4, 0.7, 0.6, 0.9], [0.4, 0.2, 0.5, 0.6, 0.6])
    >>> test.p_value, test.method
    (0.125, 'randomization-exact')
    """
    family = PairedFamily.of([paired_sample(a, b, cluster)])
    checks.one_of("method", method, get_args(RandomizationMethod))
    return randomization_tests(family, QueryTestOptions(alternative, method, n_resamples, rng))[0]


def paired_t_test(
    a: ArrayLike,
    b: ArrayLike | None = None,
    *,
    alternative: Alternative = "two-sided",
    cluster: ArrayLike | None = None,
) -> PairedTest:
    """Test whether the mean of two systems differs, by Student's t.

    ``t = mean(d) / se`` with ``se = std(d) / sqrt(n)`` and n - 1 degrees of freedom.

    Parameters
    ----------
    a, b, alternative
        As in `paired_randomization`.
    cluster : array_like, shape (n,), optional
        Clusters of queries that depend on each other. With them, ``se^2 = c / (c - 1) sum_j (D_j -
        n_j mean)^2 / n^2`` for the sums D_j of the n_j differences of each of c clusters, and the
        degrees of freedom are c - 1.

    Returns
    -------
    PairedTest
        ``statistic`` is t. The p-value is NaN for fewer than two queries or clusters. It is also
        NaN if all differences are equal and not 0; if all are 0, it is 1.

    Raises
    ------
    PrframeError
        As `paired_randomization`.

    Examples
    --------
    >>> test = paired_t_test([0.5, 0.4, 0.7, 0.6, 0.9], [0.4, 0.2, 0.5, 0.6, 0.6])
    >>> round(test.statistic, 3), round(test.p_value, 4)
    (3.138, 0.0349)
    """
    return t_test(paired_sample(a, b, cluster), QueryTestOptions(alternative))


def signed_rank_test(
    a: ArrayLike,
    b: ArrayLike | None = None,
    *,
    alternative: Alternative = "two-sided",
    method: SignedRankMethod = "auto",
    zero_method: ZeroMethod = "wilcox",
) -> PairedTest:
    """Test whether two systems differ, by Wilcoxon's signed ranks.

    ``W = sum of the ranks of |d_i| over d_i > 0``, with mid-ranks for ties, is compared with its
    distribution under fair signs.

    Parameters
    ----------
    a, b, alternative
        As in `paired_randomization`. Differences whose absolute values agree to 12 digits of the
        largest share a rank.
    method : {"auto", "exact", "convolution", "normal"}
        ``"exact"``: counted along the lattice of all sums of these ranks, ties included.
        ``"convolution"``: the same on a coarser grid, for very many queries. ``"auto"``: one of
        these. ``"normal"``: the textbook's approximation, without a correction for continuity.
    zero_method : {"wilcox", "pratt"}
        Differences of 0 are left out before the ranks are given, or after.

    Returns
    -------
    PairedTest
        ``statistic`` is W. The p-value is 1 if all differences are 0, and NaN without queries.

    Raises
    ------
    PrframeError
        As `paired_randomization`.

    References
    ----------
    Wilcoxon, *Individual comparisons by ranking methods*, 1945; Pratt 1959.

    Examples
    --------
    >>> signed_rank_test([0.5, 0.4, 0.7, 0.6, 0.9], [0.4, 0.2, 0.5, 0.6, 0.6])
    PairedTest(statistic=10.0, p_value=0.125, std_error=nan, method='wilcoxon-exact')
    """
    checks.one_of("method", method, get_args(SignedRankMethod))
    checks.one_of("zero_method", zero_method, get_args(ZeroMethod))
    options = QueryTestOptions(alternative, method)
    return signed_ranks(paired_sample(a, b), options, zero_method)


def sign_test(
    a: ArrayLike, b: ArrayLike | None = None, *, alternative: Alternative = "two-sided"
) -> PairedTest:
    """Test whether one system wins more often than the other, by the binomial distribution.

    For ``"greater"``, the p-value is ``P(Binomial(wins + losses, 1/2) >= wins)``; ties are left
    out.

    Parameters
    ----------
    a, b, alternative
        As in `paired_randomization`.

    Returns
    -------
    PairedTest
        ``statistic`` is the number of wins of a. The p-value is 1 without wins and losses, and NaN
        without queries.

    Raises
    ------
    PrframeError
        As `paired_randomization`.

    Examples
    --------
    >>> sign_test([0.5, 0.4, 0.7, 0.6, 0.9], [0.4, 0.2, 0.5, 0.6, 0.6]).p_value
    0.125
    """
    options = QueryTestOptions(alternative)
    return signs(paired_sample(a, b), options)


def paired_bootstrap_test(  # noqa: PLR0913
    a: ArrayLike,
    b: ArrayLike | None = None,
    *,
    alternative: Alternative = "two-sided",
    n_resamples: int = TEST_DRAWS,
    rng: int | np.random.Generator | None = None,
    cluster: ArrayLike | None = None,
) -> PairedTest:
    """Test whether the mean of two systems differs, by the studentized bootstrap.

    ``p = (1 + #{|t*| >= |t|}) / (B + 1)``, where ``t* = (mean* - mean) / se*`` comes from queries
    drawn with replacement.

    Parameters
    ----------
    a, b, alternative, n_resamples, rng, cluster
        As in `paired_randomization`; clusters are drawn whole.

    Returns
    -------
    PairedTest
        ``statistic`` is t. If the differences do not vary, the result is that of `paired_t_test`.

    Raises
    ------
    PrframeError
        As `paired_randomization`.

    References
    ----------
    Sakai, *Evaluating evaluation metrics based on the bootstrap*, SIGIR 2006; Efron & Tibshirani
    1993, section 16.4.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> test = paired_bootstrap_test(rng.normal(0.1, 0.2, 50), rng=2)
    >>> round(test.statistic, 2), round(test.p_value, 3)
    (3.69, 0.001)
    """
    family = PairedFamily.of([paired_sample(a, b, cluster)])
    options = QueryTestOptions(alternative, n_resamples=n_resamples, rng=rng)
    return bootstrap_tests(family, options)[0]
