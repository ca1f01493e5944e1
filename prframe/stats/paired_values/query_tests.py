"""The list of tests of whether two systems differ on the same queries, and what each needs.

`compare`, its messages and its documentation take their tests from this list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from textwrap import fill
from typing import Any, Literal, TypeAlias, cast, get_args

import numpy as np
from scipy.special import bdtr, stdtr

from prframe import checks
from prframe.draws import TEST_DRAWS
from prframe.stats._arrays import random_generator
from prframe.stats._p_values import check_alternative, from_normal, from_symmetric, from_tails
from prframe.stats._tolerances import EQUAL_DIGITS
from prframe.stats._units import UnitSums
from prframe.stats.null import SignFlipMethod, SignFlipNull, sign_flip_p_values
from prframe.stats.paired_values.family import PairedFamily
from prframe.stats.paired_values.sample import PairedTest
from prframe.typing import Alternative, Floats

QueryTestName: TypeAlias = Literal["randomization", "t", "wilcoxon", "sign", "bootstrap", "hall"]
RandomizationMethod: TypeAlias = Literal["auto", "exact", "convolution", "sampled"]
SignedRankMethod: TypeAlias = Literal["auto", "exact", "convolution", "normal"]


@dataclass(frozen=True)
class QueryTestOptions:
    """How pairs are tested; `each` applies a function to each sample or number, as `map` does."""

    alternative: Alternative = "two-sided"
    method: str = "auto"
    n_resamples: int = TEST_DRAWS
    rng: int | np.random.Generator | None = None
    each: Callable[[Callable[[Any], PairedTest], Iterable[Any]], Iterable[PairedTest]] = map

    def __post_init__(self) -> None:
        """Require an alternative."""
        check_alternative(self.alternative)


OfSample: TypeAlias = Callable[[UnitSums, QueryTestOptions], PairedTest]
OfFamily: TypeAlias = Callable[[PairedFamily, QueryTestOptions], list[PairedTest]]


def by_pair(test: OfSample) -> OfFamily:
    """Return the test that takes one pair after the other, without draws that pairs share."""

    def tests(family: PairedFamily, options: QueryTestOptions) -> list[PairedTest]:
        return list(options.each(lambda sample: test(sample, options), family.samples))

    return tests


def randomization_tests(family: PairedFamily, options: QueryTestOptions) -> list[PairedTest]:
    """Test pairs by random signs; see `paired_randomization`."""
    sampled = options.method == "sampled"
    return (_drawn_signs if sampled else _all_signs)(family, options)


def _all_signs(family: PairedFamily, options: QueryTestOptions) -> list[PairedTest]:
    """Test pairs by the distribution of their sums under all signs, many of them at once."""
    tests = [PairedTest(mean, np.nan, np.nan, "randomization") for mean in family.means.tolist()]
    method = cast("SignFlipMethod", options.method)
    if options.method == "auto":
        p_values = sign_flip_p_values(family.sums, options.alternative)
    else:
        p_values = np.full(len(tests), np.nan)

    def test(pair: int) -> PairedTest:
        p_value, how = float(p_values[pair]), "saddlepoint"
        if np.isnan(p_value):
            null = SignFlipNull(family.sums[:, pair], method=method)
            p_value, how = null.test(options.alternative)
        return tests[pair]._replace(p_value=p_value, method=f"randomization-{how}")

    pairs = np.flatnonzero((family.sizes > 0).any(axis=0)).tolist()
    for pair, result in zip(pairs, options.each(test, pairs), strict=True):
        tests[pair] = result
    return tests


def _drawn_signs(family: PairedFamily, options: QueryTestOptions) -> list[PairedTest]:
    """Test pairs by the same draws of signs."""
    size = checks.number_of_draws(options.n_resamples)
    drawn = family.sign_flips(size, random_generator(options.rng), options.alternative)
    name = "randomization"
    return [
        PairedTest(mean, p_value, error, name if np.isnan(mean) else f"{name}-{drawn.method}")
        for mean, p_value, error in zip(family.means.tolist(), *drawn.by_pair(), strict=True)
    ]


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
    """Test a sample without clusters; see `signed_rank_test`."""
    if not sample.sums.size:
        return PairedTest(np.nan, np.nan, np.nan, "wilcoxon")
    ranks = _ranks_with_signs(sample.sums)
    statistic = float(ranks[ranks > 0].sum())
    if options.method == "normal":
        p_value = 1.0
        if ranks.size:
            z = float(ranks.sum() / np.sqrt((ranks**2).sum()))
            p_value = from_normal(z, options.alternative)
        return PairedTest(statistic, p_value, np.nan, "wilcoxon-normal")
    null = SignFlipNull(ranks, method=cast("SignFlipMethod", options.method))
    p_value, how = null.test(options.alternative)
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
    """Test a sample without clusters; see `sign_test`."""
    wins, losses = int((sample.sums > 0).sum()), int((sample.sums < 0).sum())
    if not sample.sums.size:
        return PairedTest(np.nan, np.nan, np.nan, "sign")
    # By symmetry, P(at least `wins` wins) is the probability of at most `losses` losses.
    upper, lower = bdtr(np.array([losses, wins]), wins + losses, 0.5)
    p_value = float(from_tails(upper, lower, options.alternative))
    return PairedTest(float(wins), p_value, np.nan, "sign")


def bootstrap_tests(family: PairedFamily, options: QueryTestOptions) -> list[PairedTest]:
    """Test pairs by the same resamples, or as the t test where the differences do not vary."""
    size = checks.number_of_draws(options.n_resamples)
    plain = [t_test(sample, options)._replace(method="bootstrap") for sample in family.samples]
    if all(np.isnan(test.statistic) for test in plain):
        return plain
    drawn = family.bootstrap(size, random_generator(options.rng), options.alternative)
    return [
        test if np.isnan(test.statistic) else test._replace(p_value=p_value, std_error=error)
        for test, p_value, error in zip(plain, *drawn.by_pair(), strict=True)
    ]


def hall_tests(family: PairedFamily, options: QueryTestOptions) -> list[PairedTest]:
    """Test pairs by t, corrected for skewness (Hall 1992).

    It is ``t + a t^2 / 3 + a^2 t^3 / 27 + a / 6`` with ``a = G / sqrt(n)``, where G is the
    skewness of n differences or cluster sums, and is compared with Student's distribution.
    """
    tests = []
    for sample, bend in zip(family.samples, hall_bends(family).tolist(), strict=True):
        test = t_test(sample, options)._replace(method="hall")
        if not np.isnan(t := test.statistic):
            t = t + bend * t**2 / 3 + bend**2 * t**3 / 27 + bend / 6
            cdf = partial(stdtr, sample.sums.size - 1)
            test = test._replace(statistic=t, p_value=from_symmetric(cdf, t, options.alternative))
        tests.append(test)
    return tests


def hall_bends(family: PairedFamily) -> Floats:
    """Return a of each pair, its skewness over the root of the number of units."""
    return np.asarray(family.skewness / np.sqrt(np.maximum((family.sizes > 0).sum(axis=0), 1)))


@dataclass(frozen=True, eq=False)
class QueryTest:
    """A test of whether two systems differ on the same queries.

    `asks`, `p_value`, `statistic` and `function` (of `prframe.stats`) are for the documentation.
    `methods` are the options of `method`. `clusters` is whether it takes clusters of queries,
    `symmetric` whether it needs symmetric differences, or many, to say that means differ, and
    `by_signs` whether its p-value is a share of the 2^n signs of n differences.
    """

    of_pairs: OfFamily
    asks: str
    p_value: str
    statistic: str
    function: str | None = None
    methods: tuple[str, ...] = ("auto",)
    clusters: bool = True
    symmetric: bool = False
    by_signs: bool = False


QUERY_TESTS: dict[str, QueryTest] = {
    "randomization": QueryTest(
        randomization_tests,
        asks="could the two models have exchanged their values, query by query?",
        p_value='from all sign assignments, without sampling ("-exact", ..., "-estimate")',
        statistic="the mean difference",
        function="paired_randomization",
        methods=get_args(RandomizationMethod),
        symmetric=True,
        by_signs=True,
    ),
    "t": QueryTest(
        by_pair(t_test),
        asks="is the mean difference 0?",
        p_value="Student's distribution",
        statistic="t",
        function="paired_t_test",
        symmetric=True,
    ),
    "wilcoxon": QueryTest(
        by_pair(signed_ranks),
        asks="is the mean of the signed ranks 0, ties included?",
        p_value="counted",
        statistic="the rank sum of a's wins",
        function="signed_rank_test",
        methods=get_args(SignedRankMethod),
        clusters=False,
        symmetric=True,
        by_signs=True,
    ),
    "sign": QueryTest(
        by_pair(signs),
        asks="do wins and losses balance?",
        p_value="binomial",
        statistic="the wins of a",
        function="sign_test",
        clusters=False,
        by_signs=True,
    ),
    "bootstrap": QueryTest(
        bootstrap_tests,
        asks="is the mean difference 0?",
        p_value="drawn, studentized",
        statistic="t",
        function="paired_bootstrap_test",
    ),
    "hall": QueryTest(
        hall_tests,
        asks="is the mean difference 0, where differences are skewed?",
        p_value="Student's distribution of a t that is corrected for skewness (Hall 1992)",
        statistic="the corrected t",
    ),
}


def described_tests(indent: str) -> str:
    """Return what each test asks and computes, as a list in a docstring."""
    items = []
    for name, test in QUERY_TESTS.items():
        sentences = [
            f'- "{name}": {test.asks} P-value: {test.p_value}. Statistic: {test.statistic}.',
            "" if test.clusters else "Does not support `cluster`.",
            "" if test.function is None else f"See `prframe.stats.{test.function}`.",
        ]
        text = " ".join(filter(None, sentences))
        items.append(fill(text, 95, initial_indent=indent, subsequent_indent=indent + "  "))
    return "\n".join(items)
