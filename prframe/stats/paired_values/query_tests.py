"""The tests of whether two systems differ on the same queries, and what each needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr, stdtr

from prframe import checks
from prframe.draws import TEST_DRAWS
from prframe.errors import ArgumentError
from prframe.stats._arrays import random_generator
from prframe.stats._p_values import check_alternative, from_symmetric, from_tails
from prframe.stats._tolerances import EQUAL_DIGITS
from prframe.stats._units import UnitSums
from prframe.stats.null import SignFlipNull, sign_flip_p_values
from prframe.stats.paired_values.family import PairedFamily
from prframe.stats.paired_values.sample import PairedTest, paired_sample
from prframe.typing import Alternative, Floats

QueryTestName: TypeAlias = Literal["randomization", "t", "wilcoxon", "sign", "bootstrap", "hall"]


@dataclass(frozen=True)
class QueryTestOptions:
    """How pairs are tested; `each` applies a function to each sample or number, as `map` does."""

    alternative: Alternative = "two-sided"
    n_resamples: int = TEST_DRAWS
    rng: int | np.random.Generator | None = None
    each: Callable[[Callable[[Any], PairedTest], Iterable[Any]], Iterable[PairedTest]] = map

    def __post_init__(self) -> None:
        check_alternative(self.alternative)


OfSample: TypeAlias = Callable[[UnitSums, QueryTestOptions], PairedTest]
OfFamily: TypeAlias = Callable[[PairedFamily, QueryTestOptions], list[PairedTest]]


def by_pair(test: OfSample) -> OfFamily:
    """Return the test that takes one pair after the other, without draws that pairs share."""

    def tests(family: PairedFamily, options: QueryTestOptions) -> list[PairedTest]:
        return list(options.each(lambda sample: test(sample, options), family.samples))

    return tests


def randomization_tests(family: PairedFamily, options: QueryTestOptions) -> list[PairedTest]:
    """Test pairs by their sums under all signs, many at once; see `paired_randomization`."""
    tests = [PairedTest(mean, np.nan, np.nan, "randomization") for mean in family.means.tolist()]
    p_values = sign_flip_p_values(family.sums, options.alternative)

    def test(pair: int) -> PairedTest:
        p_value, how = float(p_values[pair]), "saddlepoint"
        if np.isnan(p_value):
            p_value, how = SignFlipNull(family.sums[:, pair]).test(options.alternative)
        return tests[pair]._replace(p_value=p_value, method=f"randomization-{how}")

    pairs = np.flatnonzero((family.sizes > 0).any(axis=0)).tolist()
    for pair, result in zip(pairs, options.each(test, pairs), strict=True):
        tests[pair] = result
    return tests


def t_test(sample: UnitSums, options: QueryTestOptions) -> PairedTest:
    """Test a sample; see `paired_t_test`."""
    n = sample.sums.size
    if n and not sample.sums.any():
        return PairedTest(np.nan, 1.0, np.nan, "t")
    if n <= 1 or sample.constant:
        return PairedTest(np.nan, np.nan, np.nan, "t")
    t = sample.mean / sample.std_error
    p_value = from_symmetric(partial(stdtr, n - 1), t, options.alternative)
    return PairedTest(t, p_value, np.nan, "t")


def signed_ranks(sample: UnitSums, options: QueryTestOptions) -> PairedTest:
    """Test a sample without clusters by Wilcoxon's signed ranks (1945).

    The sum of the ranks of ``|d_i|`` over ``d_i > 0``, with mid-ranks for ties, is compared with
    its distribution under fair signs. Differences of 0 are left out.
    """
    if not sample.sums.size:
        return PairedTest(np.nan, np.nan, np.nan, "wilcoxon")
    ranks = _ranks_with_signs(sample.sums)
    statistic = float(ranks[ranks > 0].sum())
    p_value, how = SignFlipNull(ranks).test(options.alternative)
    return PairedTest(statistic, p_value, np.nan, f"wilcoxon-{how}")


def _ranks_with_signs(differences: Floats) -> Floats:
    """Return the ranks of the absolute differences that are not 0, with their signs."""
    # SciPy is imported here, because importing it takes longer than most evaluations.
    from scipy.stats import rankdata  # noqa: PLC0415

    differences = differences[differences != 0]
    if not differences.size:
        return np.zeros(0)
    sizes = np.abs(differences)
    ranks = rankdata(np.round(sizes / sizes.max(), EQUAL_DIGITS))
    return np.asarray(ranks * np.sign(differences))


def signs(sample: UnitSums, options: QueryTestOptions) -> PairedTest:
    """Test a sample without clusters by its wins, binomial without ties (Dixon & Mood 1946)."""
    wins, losses = int((sample.sums > 0).sum()), int((sample.sums < 0).sum())
    if not sample.sums.size:
        return PairedTest(np.nan, np.nan, np.nan, "sign")
    # By symmetry, P(at least `wins` wins) is the probability of at most `losses` losses.
    upper, lower = bdtr(np.array([losses, wins]), wins + losses, 0.5)
    p_value = float(from_tails(upper, lower, options.alternative))
    return PairedTest(float(wins), p_value, np.nan, "sign")


def bootstrap_tests(family: PairedFamily, options: QueryTestOptions) -> list[PairedTest]:
    """Test pairs by the same resamples, or as the t test where the differences do not vary.

    ``p = (1 + #{|t*| >= |t|}) / (B + 1)``, where ``t* = (mean* - mean) / se*`` comes from queries
    drawn with replacement (Sakai, SIGIR 2006; Efron & Tibshirani 1993, section 16.4).
    """
    size = checks.number_of_draws(options.n_resamples)
    plain = [t_test(sample, options)._replace(method="bootstrap") for sample in family.samples]
    if all(np.isnan(test.statistic) for test in plain):
        return plain
    drawn = family.bootstrap(size, random_generator(options.rng), options.alternative)
    return [
        test if np.isnan(test.statistic) else test._replace(p_value=p_value, std_error=error)
        for test, p_value, error in zip(
            plain, drawn.p_values.tolist(), drawn.std_errors.tolist(), strict=True
        )
    ]


def hall_tests(family: PairedFamily, options: QueryTestOptions) -> list[PairedTest]:
    """Test pairs by t, corrected for skewness (Hall 1992).

    It is ``t + a t^2 / 3 + a^2 t^3 / 27 + a / 6`` with ``a = G / sqrt(n)``, where G is the
    skewness of n differences or cluster sums, and is compared with Student's distribution.
    """
    tests = []
    for sample, a in zip(family.samples, hall_skewness(family).tolist(), strict=True):
        test = t_test(sample, options)._replace(method="hall")
        if not np.isnan(t := test.statistic):
            t = t + a * t**2 / 3 + a**2 * t**3 / 27 + a / 6
            cdf = partial(stdtr, sample.sums.size - 1)
            test = test._replace(statistic=t, p_value=from_symmetric(cdf, t, options.alternative))
        tests.append(test)
    return tests


def hall_skewness(family: PairedFamily) -> Floats:
    """Return a of each pair, its skewness over the root of the number of units."""
    return np.asarray(family.skewness / np.sqrt(np.maximum((family.sizes > 0).sum(axis=0), 1)))


class QueryTest(NamedTuple):
    """A test of whether two systems differ on the same queries.

    `clusters` is whether it takes clusters of queries, `symmetric` whether it needs symmetric
    differences, or many, to say that means differ, and `by_signs` whether its p-value is a share
    of the 2^n signs of n differences.
    """

    of_pairs: OfFamily
    clusters: bool = True
    symmetric: bool = False
    by_signs: bool = False


QUERY_TESTS: dict[str, QueryTest] = {
    "randomization": QueryTest(randomization_tests, symmetric=True, by_signs=True),
    "t": QueryTest(by_pair(t_test), symmetric=True),
    "wilcoxon": QueryTest(by_pair(signed_ranks), clusters=False, symmetric=True, by_signs=True),
    "sign": QueryTest(by_pair(signs), clusters=False, by_signs=True),
    "bootstrap": QueryTest(bootstrap_tests),
    "hall": QueryTest(hall_tests),
}


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
