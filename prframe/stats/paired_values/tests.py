"""Tests of whether two systems differ on the same queries."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from prframe import checks
from prframe.draws import TEST_DRAWS
from prframe.errors import ArgumentError
from prframe.stats.paired_values.family import PairedFamily
from prframe.stats.paired_values.query_tests import (
    QueryTestOptions,
    bootstrap_tests,
    randomization_tests,
    signed_ranks,
    signs,
    t_test,
)
from prframe.stats.paired_values.sample import PairedTest, paired_sample
from prframe.typing import Alternative


def paired_randomization(
    a: ArrayLike,
    b: ArrayLike | None = None,
    *,
    alternative: Alternative = "two-sided",
    cluster: ArrayLike | None = None,
) -> PairedTest:
    """Test whether two systems differ, by exchanging their values query by query.

    ``p = P(|sum_i e_i d_i| >= |sum_i d_i|)`` with fair signs ``e_i``, because two equal systems
    might each have had either value (Fisher 1935; Smucker, Allan & Carterette, CIKM 2007). Nothing
    is drawn.

    Parameters
    ----------
    a, b : array_like of float, shape (n,)
        Values of two systems on the same queries; if b is missing, a holds the differences.
        Values that differ by 1e-12 of their size or less count as equal.
    alternative : {"two-sided", "less", "greater"}
        The alternative: the mean of a - b is not 0, below 0, or above 0.
    cluster : array_like, shape (n,), optional
        Clusters of queries that exchange values together.

    Returns
    -------
    PairedTest
        ``statistic``, the mean difference, ``p_value`` and ``method``; NaN without queries. Signs
        are counted where that is quick ("exact"); else p is from a saddlepoint with a second term
        (Robinson 1982), where that term is below a thousandth; else from the characteristic
        function ("convolution"). All are within 1 % down to 1e-12. Where sums lie in narrow
        clusters, the method may be an "estimate"; see `SignFlipNull`.

    Raises
    ------
    PrframeError
        Values that are not finite, of different lengths, or an unknown option. The other tests of
        paired values raise it likewise.

    Examples
    --------
    >>> test = paired_randomization([0.5, 0.4, 0.7, 0.6, 0.9], [0.4, 0.2, 0.5, 0.6, 0.6])
    >>> test.p_value, test.method
    (0.125, 'randomization-exact')
    """
    family = PairedFamily.of([paired_sample(a, b, cluster)])
    return randomization_tests(family, QueryTestOptions(alternative))[0]


def paired_t_test(
    a: ArrayLike,
    b: ArrayLike | None = None,
    *,
    alternative: Alternative = "two-sided",
    cluster: ArrayLike | None = None,
    test_train_ratio: float = 0.0,
) -> PairedTest:
    """Test whether the mean of two systems differs, by Student's t.

    ``t = mean(d) / se`` with ``se = std(d) / sqrt(n)`` has n - 1 degrees of freedom.

    Parameters
    ----------
    a, b, alternative
        As in `paired_randomization`.
    cluster : array_like, shape (n,), optional
        Clusters of queries. With them, ``se^2 = c / (c - 1) sum_j (D_j - n_j mean)^2 / n^2`` for
        the sums D_j of the n_j differences of each of c clusters, with c - 1 degrees of freedom.
    test_train_ratio : float >= 0
        For folds of the same data: the size n_2 of a test set divided by the size n_1 of its
        training set, 1 / (k - 1) for k folds. Then ``se^2 = (1/n + n_2/n_1) std(d)^2`` (Nadeau &
        Bengio, *Inference for the generalization error*, 2003, section 5.1). It takes no clusters.

    Returns
    -------
    PairedTest
        ``statistic`` is t. The p-value is NaN for fewer than two queries or clusters, or if all
        differences are equal and not 0; if all are 0, it is 1.

    Examples
    --------
    >>> test = paired_t_test([0.5, 0.4, 0.7, 0.6, 0.9], [0.4, 0.2, 0.5, 0.6, 0.6])
    >>> round(test.statistic, 3), round(test.p_value, 4)
    (3.138, 0.0349)

    If these were five folds of one cross-validation:

    >>> folds = [0.5, 0.4, 0.7, 0.6, 0.9], [0.4, 0.2, 0.5, 0.6, 0.6]
    >>> round(paired_t_test(*folds, test_train_ratio=1 / 4).p_value, 4)
    0.1046
    """
    ratio = float(checks.number("test_train_ratio", test_train_ratio, at_least=0))
    if ratio and cluster is not None:
        raise ArgumentError(
            "`test_train_ratio` is for folds, which depend on each other as a whole; leave out "
            "`cluster`."
        )
    sample = replace(paired_sample(a, b, cluster), test_train_ratio=ratio)
    return t_test(sample, QueryTestOptions(alternative))


def paired_equivalence_test(
    a: ArrayLike,
    b: ArrayLike | None = None,
    *,
    margin: float,
    cluster: ArrayLike | None = None,
    test_train_ratio: float = 0.0,
) -> PairedTest:
    """Test whether the means of two systems differ by less than a margin (two one-sided tests).

    The p-value is the larger one of the two, ``P(T >= (margin - |mean(d)|) / se)`` with n - 1
    degrees of freedom (Schuirmann 1987).

    Parameters
    ----------
    a, b, cluster, test_train_ratio
        As in `paired_t_test`.
    margin : float > 0
        The difference from which on the systems are not equivalent.

    Returns
    -------
    PairedTest
        ``statistic`` is ``(margin - |mean(d)|) / se``. It and the p-value are NaN for fewer than
        two queries or clusters, and if all differences are equal.

    Examples
    --------
    >>> test = paired_equivalence_test([0.5, 0.4, 0.7, 0.6], [0.4, 0.5, 0.6, 0.7], margin=0.3)
    >>> round(test.statistic, 3), round(test.p_value, 4)
    (5.196, 0.0069)
    """
    # The t test checks the values and the ratio.
    paired_t_test(a, b, cluster=cluster, test_train_ratio=test_train_ratio)
    margin = float(checks.number("margin", margin, above=0))
    sample = replace(paired_sample(a, b, cluster), test_train_ratio=float(test_train_ratio))
    family = replace(PairedFamily.of([sample]), test_train_ratio=sample.test_train_ratio)
    statistic, p_value = (float(x[0]) for x in family.equivalence(margin))
    return PairedTest(statistic, p_value, np.nan, "tost")


def signed_rank_test(
    a: ArrayLike, b: ArrayLike | None = None, *, alternative: Alternative = "two-sided"
) -> PairedTest:
    """Test whether two systems differ, by Wilcoxon's signed ranks (1945).

    ``W = sum of the ranks of |d_i| over d_i > 0``, with mid-ranks for ties, is compared with its
    distribution under fair signs. Differences of 0 are left out.

    Parameters
    ----------
    a, b, alternative
        As in `paired_randomization`. Differences whose absolute values agree to 12 digits of the
        largest share a rank.

    Returns
    -------
    PairedTest
        ``statistic`` is W. The p-value is counted, on a grid for very many queries; 1 if all
        differences are 0, and NaN without queries.

    Examples
    --------
    >>> signed_rank_test([0.5, 0.4, 0.7, 0.6, 0.9], [0.4, 0.2, 0.5, 0.6, 0.6])
    PairedTest(statistic=10.0, p_value=0.125, std_error=nan, method='wilcoxon-exact')
    """
    return signed_ranks(paired_sample(a, b), QueryTestOptions(alternative))


def sign_test(
    a: ArrayLike, b: ArrayLike | None = None, *, alternative: Alternative = "two-sided"
) -> PairedTest:
    """Test whether one system wins more often than the other, by the binomial distribution.

    For ``"greater"``, the p-value is ``P(Binomial(wins + losses, 1/2) >= wins)``; ties are left
    out (Dixon & Mood 1946).

    Parameters
    ----------
    a, b, alternative
        As in `paired_randomization`.

    Returns
    -------
    PairedTest
        ``statistic`` is the number of wins of a. The p-value is 1 without wins and losses, and NaN
        without queries.

    Examples
    --------
    >>> sign_test([0.5, 0.4, 0.7, 0.6, 0.9], [0.4, 0.2, 0.5, 0.6, 0.6]).p_value
    0.125
    """
    return signs(paired_sample(a, b), QueryTestOptions(alternative))


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
    drawn with replacement (Sakai, SIGIR 2006; Efron & Tibshirani 1993, section 16.4).

    Parameters
    ----------
    a, b, alternative, n_resamples, rng, cluster
        As in `paired_randomization`; clusters are drawn whole. `n_resamples` is the number of
        draws, and `rng` their seed or generator.

    Returns
    -------
    PairedTest
        ``statistic`` is t, and ``std_error`` the Monte Carlo error ``sqrt(p (1 - p) / B)``. If the
        differences do not vary, the result is that of `paired_t_test`.

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
