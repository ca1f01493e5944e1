"""What all null distributions answer alike: enumeration, quantiles, moments, p-values, draws."""

from itertools import combinations, product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from prframe.stats import APNull, LinearRankNull, SignFlipNull
from prframe.stats.null.base import NullDistribution
from tests.refusals import refusals
from tests.stats.null.rankings import ap_of_all

Floats = NDArray[np.float64]
SCORES = [0.0, 0.3, 0.35, 1.0, 1.7, 2.2, 2.21, 4.0]
NUMBERS = [0.31, -1.7, 0.02, 0.55, 1.234, -0.9, 2.2, 0.4]


def ap_values(n: int, n_pos: int, depth: int, blocks: list[int] | None = None) -> Floats:
    return np.array(ap_of_all(n, n_pos, blocks or [1] * depth, float))


def sums(scores: list[float], n_pos: int) -> Floats:
    return np.array([sum(chosen) for chosen in combinations(scores, n_pos)])


def flipped(numbers: list[float]) -> Floats:
    return np.array(list(product([-1, 1], repeat=len(numbers)))) @ np.array(numbers)


CASES: dict[str, tuple[NullDistribution, Floats]] = {
    "ap": (APNull(9, 4), ap_values(9, 4, 9)),
    "ap tied": (APNull(9, 3, ties=[2, 3, 4]), ap_values(9, 3, 9, [2, 3, 4])),
    "ap to a depth": (APNull(9, 4, depth=5), ap_values(9, 4, 5)),
    "ap of few left": (APNull(9, 6, depth=7), ap_values(9, 6, 7)),
    "ap tied to a depth": (APNull(9, 4, ties=[2, 1, 3], depth=6), ap_values(9, 4, 6, [2, 1, 3])),
    "ap of one": (APNull(7, 3, depth=1), ap_values(7, 3, 1)),
    "scores": (LinearRankNull(SCORES, 3), sums(SCORES, 3)),
    "one score": (LinearRankNull(SCORES, 1), sums(SCORES, 1)),
    "all scores but one": (LinearRankNull(SCORES, 7), sums(SCORES, 7)),
    "two scores": (LinearRankNull([1.0, 3.0], 1), sums([1.0, 3.0], 1)),
    "ranks": (LinearRankNull(range(1, 9), 5), sums(list(range(1, 9)), 5)),
    "tied ranks": (
        LinearRankNull([0, 2, 7], 4, sizes=[3, 4, 2]),
        sums([0.0] * 3 + [2.0] * 4 + [7.0] * 2, 4),
    ),
    "signs": (SignFlipNull(NUMBERS), flipped(NUMBERS)),
    "signed ranks": (SignFlipNull(range(1, 9)), flipped(list(range(1, 9)))),
}


@pytest.fixture(params=CASES.values(), ids=CASES)
def case(request: pytest.FixtureRequest) -> tuple[NullDistribution, Floats]:
    return request.param


def atoms(values: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the distinct values, P(X >= x) and P(X <= x)."""
    values = np.sort(values)
    distinct = values[np.diff(values, prepend=-np.inf) > 1e-9]
    above = np.array([(values >= x - 1e-9).mean() for x in distinct])
    return distinct, above, np.array([(values <= x + 1e-9).mean() for x in distinct])


@pytest.mark.slow
def test_probabilities_are_those_of_all_cases(case: tuple[NullDistribution, Floats]) -> None:
    null, values = case
    x, above, below = atoms(values)
    assert null.support() == pytest.approx((x[0], x[-1]), rel=1e-12)
    assert null.sf(x) == pytest.approx(above, rel=1e-9)
    assert null.cdf(x) == pytest.approx(below, rel=1e-9)
    assert np.exp(null.logsf(x)) == pytest.approx(above, rel=1e-9)
    assert np.exp(null.logcdf(x)) == pytest.approx(below, rel=1e-9)
    between = (x[1:] + x[:-1]) / 2
    assert null.sf(between) == pytest.approx(above[1:], rel=1e-9)
    assert null.cdf(between) == pytest.approx(below[:-1], rel=1e-9)
    far = [-np.inf, x[0] - 0.1, x[-1] + 0.1, np.inf]
    assert np.array_equal(null.sf(far), [1, 1, 0, 0])
    assert np.array_equal(null.cdf(far), [0, 0, 1, 1])
    assert np.array_equal(null.logsf(far), [0, 0, -np.inf, -np.inf])
    assert np.array_equal(null.p_value(x), null.sf(x))
    assert np.array_equal(null.p_value(x, "less"), null.cdf(x))
    both = np.minimum(2 * np.minimum(above, below), 1)
    assert null.p_value(x, "two-sided") == pytest.approx(both, rel=1e-9)
    tails = null.tails(x[None, :2])
    assert np.array_equal(tails.log_sf, null.logsf(x[None, :2]))
    assert np.array_equal(tails.log_cdf, null.logcdf(x[None, :2]))
    assert np.array_equal(tails.method, [["exact"] * 2])
    assert null.tails(float(x[0])).method == "exact"


@pytest.mark.slow
def test_quantiles_are_attained(case: tuple[NullDistribution, Floats]) -> None:
    null, values = case
    x, above, below = atoms(values)
    some = np.unique(np.linspace(0, x.size - 1, 12).astype(int))
    x, above, below = x[some], above[some], below[some]
    assert null.isf(np.minimum(above, 1)) == pytest.approx(x, rel=1e-9, abs=1e-9)
    assert null.ppf(np.minimum(below, 1)) == pytest.approx(x, rel=1e-9, abs=1e-9)
    # A level between two that are attained: the rarer value, the larger value.
    assert null.isf(np.minimum(above * 1.000001, 1)) == pytest.approx(x, rel=1e-9, abs=1e-9)
    assert null.ppf(below * 0.999999) == pytest.approx(x, rel=1e-9, abs=1e-9)
    assert np.isnan(null.isf(above[-1] / 2))
    assert null.ppf(below[0] / 2) == pytest.approx(x[0])


def test_moments_are_those_of_all_cases(case: tuple[NullDistribution, Floats]) -> None:
    null, values = case
    found = null.stats("mvsk")
    expected = [values.mean(), values.var(), stats.skew(values), stats.kurtosis(values)]
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert (null.mean(), null.var()) == null.stats() == found[:2]
    assert null.std() == pytest.approx(values.std(), rel=1e-9)
    assert null.stats("ks") == found[2:]


def test_draws_are_from_the_distribution(case: tuple[NullDistribution, Floats]) -> None:
    null, values = case
    drawn = null.rvs(4000, rng=5)
    assert drawn.shape == (4000,)
    assert np.array_equal(drawn, null.rvs(4000, rng=np.random.default_rng(5)))
    x, above, _ = atoms(values)
    share = np.array([(drawn >= value - 1e-9).mean() for value in x])
    assert np.abs(share - above).max() < 4 * 0.5 / np.sqrt(drawn.size)


CONSTANT = {
    "all positive": APNull(5, 5),
    "all tied": APNull(6, 2, ties=[6]),
    "nothing retrieved": APNull(6, 2, depth=0),
    "nothing retrieved in blocks": APNull(6, 2, ties=[], depth=0),
    "one block": LinearRankNull([2.0], 3, sizes=[7]),
    "all drawn": LinearRankNull([1.0, 2.0], 2),
    "no numbers": SignFlipNull([0.0, 0.0]),
}


@pytest.mark.parametrize("null", CONSTANT.values(), ids=CONSTANT)
def test_what_never_varies(null: NullDistribution) -> None:
    x = null.mean()
    assert null.support() == pytest.approx((x, x), rel=1e-12)
    assert [null.sf(x), null.cdf(x), null.p_value(x, "two-sided")] == [1, 1, 1]
    assert [null.var(), null.std()] == [0, 0]
    assert np.isnan(null.stats("sk")).all()
    assert null.ppf([0.1, 1.0]) == pytest.approx([x, x], rel=1e-12)
    assert null.isf(1.0) == pytest.approx(x, rel=1e-12)
    assert np.isnan(null.isf(0.5))
    assert null.rvs(3, rng=1) == pytest.approx([x] * 3)


LARGE: dict[str, NullDistribution] = {
    "ap": APNull(1000, 100),
    "ap to a depth": APNull(5000, 100, depth=800),
    "many positives": APNull(300, 150),
    "rank sum": LinearRankNull(np.arange(1, 2001), 300),
    "normal scores": LinearRankNull(stats.norm.ppf(np.arange(1, 501) / 501), 60),
    "normal approximation": LinearRankNull(np.arange(500) ** 2.0, 200, method="normal"),
    "signs": SignFlipNull(np.random.default_rng(1).normal(size=300)),
    "whole numbers": SignFlipNull(np.random.default_rng(1).integers(1, 9, 500)),
}


@pytest.mark.slow
@pytest.mark.parametrize("null", LARGE.values(), ids=LARGE)
def test_probabilities_are_monotone(null: NullDistribution) -> None:
    x = np.clip(null.mean() + null.std() * np.linspace(-4, 4, 21), *null.support())
    x = np.random.default_rng(2).permutation(x)
    order = np.argsort(x)
    assert (np.diff(null.logsf(x)[order]) <= 0).all()
    assert (np.diff(null.logcdf(x)[order]) >= 0).all()
    assert (np.diff(null.p_value(x)[order]) <= 0).all()


MADE = [
    APNull(10, 2),
    APNull(10, 2, np.array([2, 3]), depth=5),
    APNull(10, 2).using("exact"),
    LinearRankNull([1.5, -0.0, 1.5, 4], 2, step=0.5),
    SignFlipNull([0.1, 0.0, -2.0], method="convolution"),
]


@pytest.mark.parametrize("null", MADE, ids=repr)
def test_the_repr_is_a_call_that_makes_the_same(null: NullDistribution) -> None:
    made = eval(repr(null))  # noqa: S307
    assert repr(made) == repr(null)
    assert (made.mean(), made.std(), made.support()) == (null.mean(), null.std(), null.support())


def test_long_lists_are_cut_short() -> None:
    assert repr(APNull(202, 2, ties=[2] * 101)) == (
        "APNull(n=202, n_pos=2, ties=[2, 2, 2, ..., 2, 2, 2])"
    )


@pytest.mark.parametrize("null", [APNull(9, 3), LinearRankNull(SCORES, 3), SignFlipNull(NUMBERS)])
def test_what_is_nan_has_no_probability(null: NullDistribution) -> None:
    x = np.array([[null.mean(), np.nan], [null.support()[1], null.support()[0]]])
    missing = np.isnan(x)
    for method in ("sf", "logsf", "cdf", "logcdf", "p_value"):
        ask = getattr(null, method)
        found = ask(x)
        assert np.array_equal(np.isnan(found), missing)
        assert np.array_equal(found[~missing], ask(x[~missing]))
        assert np.isnan(ask(np.nan))
        assert isinstance(ask(np.nan), float)
        assert np.isnan(ask([np.nan, np.nan])).all()
    assert np.isnan(null.p_value(np.nan, "two-sided"))
    assert np.isnan(null.p_value(np.nan, "less"))
    tails = null.tails(x)
    assert np.array_equal(np.isnan(tails.log_sf), missing)
    assert np.array_equal(tails.method == "undefined", missing)
    assert null.tails(np.nan).method == "undefined"
    # No value is as rare as that, so that the quantile does not exist.
    rare = null.isf([0.5, 1e-9])
    assert np.array_equal(np.isnan(rare), [False, True])
    assert np.array_equal(np.isnan(null.sf(rare)), [False, True])


test_refusals = refusals(
    {
        "`x` must be numbers; got 'a'.": lambda null: null.tails("a"),
        "`statistic` must be numbers; got 'greater'; name the argument: "
        "alternative='greater'.": lambda null: null.p_value("greater"),
        "`alternative` must be one of 'greater', 'less', 'two-sided'; got 'more'.": lambda null: (
            null.p_value(1.0, "more")
        ),
        "`q` must lie in (0, 1]; got [0.5, 0].": lambda null: null.isf([0.5, 0]),
        "`q` must lie in (0, 1]; got nan.": lambda null: null.ppf(float("nan")),
        "`moments` must be letters of 'mvsk'; got ''.": lambda null: null.stats(""),
        "`size` must be a whole number >= 1; got 0.": lambda null: null.rvs(0),
        "`rng` must be a whole number >= 0 or a numpy.random.Generator; got 'a'.": lambda null: (
            null.rvs(1, "a")
        ),
    },
    lambda call: call(SignFlipNull(NUMBERS)),
)


test_refusals_of_a_depth = refusals(
    {
        "`depth` must be at most n = 5; got 6.": lambda: APNull(5, 2, depth=6),
        "`depth` must be a whole number >= 0; got -1.": lambda: APNull(5, 2, depth=-1),
        "`ties` must be the sizes of blocks that add up to depth = 4; they add up to 5.": lambda: (
            APNull(5, 2, ties=[2, 3], depth=4)
        ),
        "`ties` must be the sizes of blocks that add up to n; they add up to 4, and n is 5; "
        "if no more items are retrieved, give depth=4.": lambda: APNull(5, 2, ties=[2, 2]),
    }
)


@pytest.mark.slow
def test_a_depth_agrees_with_draws() -> None:
    null = APNull(400, 40, depth=60, ties=[4] * 15)
    drawn = null.rvs(40_000, rng=4)
    skewness, kurtosis = null.stats("sk")
    assert drawn.mean() == pytest.approx(null.mean(), abs=5 * null.std() / 200)
    assert drawn.std() == pytest.approx(null.std(), rel=0.02)
    assert stats.skew(drawn) == pytest.approx(skewness, abs=0.1)
    assert stats.kurtosis(drawn) == pytest.approx(kurtosis, rel=0.3)
    for level in (0.5, 0.05, 0.005):
        p = null.sf(null.isf(level))
        assert (drawn >= null.isf(level) * (1 - 1e-9)).mean() == pytest.approx(
            p, rel=0.3, abs=0.01
        )
    assert repr(null) == f"APNull(n=400, n_pos=40, ties={[4] * 15}, depth=60)"
    assert APNull(40, 4, depth=40).sf(0.5) == APNull(40, 4).sf(0.5)
