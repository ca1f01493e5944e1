"""Few, skewed differences: the warning of `compare`, and tests that allow for skewness."""

import warnings

import numpy as np
import polars as pl
import pytest
from scipy import stats

import prframe
from prframe.stats import PairedFamily, pool_differences
from prframe.stats.intervals import Confidence
from prframe.stats.paired_values import QUERY_TESTS, QueryTestOptions, few_for_shared_skewness
from prframe.verbs.comparison.over_queries import student_intervals

SKEWED = [0.9, 0.5] + [-0.1, -0.08, -0.06] * 5
OPTIONS = QueryTestOptions()
EVEN = [0.1, -0.1, 0.2, -0.3, 0.05] * 4


def values(*groups: list[float]) -> pl.DataFrame:
    """Return the values of two models whose differences are given, for each group."""
    parts = [
        pl.DataFrame({"a": [0.5 + d for d in group], "b": [0.5] * len(group)}).with_columns(
            pl.int_range(len(group)).alias("query_id"), pl.lit(f"g{number}").alias("group")
        )
        for number, group in enumerate(groups)
    ]
    return pl.concat(parts)


def messages(frame: pl.DataFrame, **options: object) -> list[str]:
    """Return what `compare` says of skewness."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        frame.pr.compare(values=["a", "b"], rng=1, **options)
    return [
        str(item.message) for item in caught if item.category is prframe.SkewedDifferencesWarning
    ]


@pytest.mark.parametrize("test", ["randomization", "t", "wilcoxon"])
def test_few_skewed_differences_are_told_once(test: str) -> None:
    assert messages(values(SKEWED, EVEN, SKEWED), by="group", test=test) == [
        "the differences of 2 of 3 comparisons are few and skewed, in groups ['g0', 'g2']: "
        f"test={test!r} may then reject too often where the means are equal, above all one-sided, "
        "and its interval miss. Take test='hall', or test='bootstrap' with interval='hall', "
        "which allow for skewness; where it does not matter, ignore SkewedDifferencesWarning."
    ]
    (whole,) = messages(values(SKEWED), test=test, interval="hall")
    assert "Take test='hall', or test='bootstrap', which allow for skewness; " in whole
    assert whole.startswith("the differences of 1 of 1 comparisons are few and skewed: test=")


def test_the_pairs_that_differ_by_skewed_values_are_named() -> None:
    frame = values(SKEWED).with_columns(c=0.5 + pl.Series(SKEWED) / 2)
    with pytest.warns(prframe.SkewedDifferencesWarning) as caught:
        frame.pr.compare(values=["a", "b", "c"], rng=1)
    assert str(caught[0].message).startswith(
        "the differences of 3 of 3 comparisons are few and skewed (value of a and b, value of a "
        "and c, value of b and c): "
    )
    many = values(SKEWED).with_columns(
        pl.Series(name, SKEWED) * i + 0.5 for i, name in enumerate("cdef", 2)
    )
    with pytest.warns(
        prframe.SkewedDifferencesWarning, match=r"value of a and f and \d+ more\): "
    ):
        many.pr.compare(values=list("abcdef"), rng=1)


@pytest.mark.parametrize("test", ["bootstrap", "hall", "sign"])
def test_tests_that_need_no_symmetry_say_nothing_beside_halls_interval(test: str) -> None:
    assert not messages(values(SKEWED), test=test, interval="hall")


HEAD = "the differences of 1 of 1 comparisons are few and skewed: "
TAIL = "; where it does not matter, ignore SkewedDifferencesWarning."


def test_joint_corrections_are_of_the_randomization_test_alone() -> None:
    (message,) = messages(values(SKEWED), correction="max-t", interval="hall")
    assert message == (
        f"{HEAD}test='randomization' may then reject too often where the means are equal, above "
        "all one-sided. Take test='hall', or test='bootstrap', which allow for skewness. Either "
        f"takes correction='holm'{TAIL}"
    )


def test_halls_test_takes_its_interval() -> None:
    assert not messages(values(SKEWED), test="hall")


def test_equivalence_is_told_whatever_the_test() -> None:
    (symmetric,) = messages(values(SKEWED), equivalence=0.2)
    assert ", and its interval miss, and p_equivalence be too small. Take test=" in symmetric
    (interval,) = messages(values(SKEWED), test="bootstrap", equivalence=0.2)
    assert "too often, and p_equivalence be too small. Take interval='hall'" in interval
    assert messages(values(SKEWED), test="hall", equivalence=0.2) == [
        f"{HEAD}p_equivalence, of two t tests, may then be too small. See instead whether the "
        "interval with confidence_level=0.9 is within the margin, which is such a test at .05"
        f"{TAIL}"
    ]


def in_strata(*groups: list[float]) -> pl.DataFrame:
    """Return the values of each group as those of a stratum, with queries of its own."""
    frame = values(*groups).rename({"group": "stratum"})
    return frame.with_columns(query_id=pl.struct("stratum", "query_id").rank("dense"))


@pytest.mark.parametrize("pooling", ["random", "fixed"])
def test_strata_of_few_skewed_differences_are_told(pooling: str) -> None:
    strata = {"strata": "stratum", "pooling": pooling}
    assert messages(in_strata(SKEWED, SKEWED[1:]), **strata) == [
        f"{HEAD}where large ones are rare, a stratum without any has a small standard error and "
        "so a large weight, by which the pooled difference is off, and its test may reject too "
        "often where the means are equal. Compare without `strata`, with test='hall', where all "
        f"queries weigh the same{TAIL}"
    ]
    assert not messages(in_strata(EVEN, EVEN[:15]), **strata)
    both = pl.concat(
        [
            in_strata(SKEWED, SKEWED).with_columns(kind=pl.lit("skewed")),
            in_strata(EVEN, EVEN).with_columns(kind=pl.lit("even")),
        ]
    )
    (told,) = messages(both, by="kind", **strata)
    assert told.startswith(HEAD.replace("1 of 1", "1 of 2").removesuffix(": ") + ", in groups ")


def test_skewness_is_scipys_of_the_units_with_values() -> None:
    rng = np.random.default_rng(4)
    sums, sizes = 1e3 + rng.gamma(1, size=(14, 3)), np.ones((14, 3))
    sizes[[2, 5], 1] = sums[[2, 5], 1] = 0
    sums[:, 2] = 7.0
    family = PairedFamily(sums, sizes)
    kept = sums[sizes[:, 1] > 0, 1]
    expected = [stats.skew(sums[:, 0], bias=False), stats.skew(kept, bias=False), 0.0]
    assert family.skewness == pytest.approx(expected, rel=1e-9)
    assert PairedFamily(sums[:2], sizes[:2]).skewness.tolist() == [0, 0, 0]
    limit, uneven = 25 * family.skewness**2, np.abs(family.unevenness)
    assert family.few_for_skewness.tolist() == [
        limit[0] >= 14 and uneven[0] > 3.1485 / 14**0.5,
        limit[1] >= 12 and uneven[1] > 3.148 / 12**0.5,
        False,
    ]


def lin_mudholkar(values: np.ndarray) -> float:
    """Return artanh of the correlation of values with the cube root of the others' variance."""
    others = [np.var(np.delete(values, i)) ** (1 / 3) for i in range(values.size)]
    return float(np.arctanh(np.corrcoef(values, others)[0, 1]))


def test_unevenness_is_lin_and_mudholkars_of_the_units_with_values() -> None:
    rng = np.random.default_rng(4)
    sums, sizes = 5.0 + rng.gamma(1, size=(14, 3)), np.ones((14, 3))
    sizes[[2, 5], 1] = sums[[2, 5], 1] = 0
    sums[:, 2] = 7.0
    kept = sums[sizes[:, 1] > 0, 1]
    expected = [lin_mudholkar(sums[:, 0]), lin_mudholkar(kept), 0.0]
    assert PairedFamily(sums, sizes).unevenness == pytest.approx(expected, rel=1e-9)
    assert PairedFamily(sums[:2], sizes[:2]).unevenness.tolist() == [0, 0, 0]


@pytest.mark.slow
@pytest.mark.parametrize("n", [15, 25, 50])
@pytest.mark.parametrize("shape", [0.5, 1.0, 4.0])
def test_sizes_where_differences_are_skewed(n: int, shape: float) -> None:
    """Hall's test keeps its level, and the t test seldom rejects without a warning."""
    samples = 4000
    sums = np.random.default_rng(n).gamma(shape, size=(n, samples)) - shape
    family = PairedFamily(sums, np.ones_like(sums))
    error = 3 * (0.05 * 0.95 / samples) ** 0.5
    rejected = {
        name: np.array([t.p_value <= 0.05 for t in QUERY_TESTS[name].of_pairs(family, OPTIONS)])
        for name in ("hall", "t")
    }
    assert 0.035 - error < rejected["hall"].mean() < 0.065 + error
    assert (rejected["t"] & ~family.few_for_skewness).mean() < 0.065 + error
    if shape < 1:
        assert rejected["t"].mean() > 0.065
        assert family.few_for_skewness.mean() > 0.85


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize(
    "values_", [SKEWED, EVEN, [0.2, 0.3, 0.5] * 4, [1e-9 * d for d in SKEWED]]
)
def test_halls_interval_ends_where_its_test_begins_to_reject(alternative, values_) -> None:
    frame = pl.DataFrame({"query_id": range(len(values_)), "a": values_, "b": 0.0})
    options = {"values": ["a", "b"], "test": "hall", "alternative": alternative}
    row = frame.pr.compare(**options).row(0, named=True)
    ends = [row["conf_low"], row["conf_high"]]
    finite = [end for end in ends if np.isfinite(end)]
    assert len(finite) == (2 if alternative == "two-sided" else 1)
    for end in finite:
        moved = frame.with_columns(pl.col("a") - end).pr.compare(**options)
        assert moved["p_value"].item() == pytest.approx(0.05, rel=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", prframe.SkewedDifferencesWarning)
        named = frame.pr.compare(**options | {"test": "t", "interval": "hall"})
    assert [named["conf_low"].item(), named["conf_high"].item()] == ends


def test_halls_interval_of_two_queries_is_students_and_of_clusters_that_of_their_sums() -> None:
    frame = pl.DataFrame({"query_id": [1, 2], "a": [0.5, 0.7], "b": [0.4, 0.4]})
    hall, t = (frame.pr.compare(values=["a", "b"], test=test) for test in ("hall", "t"))
    assert hall["conf_low"].item() == t["conf_low"].item()
    skewed = pl.DataFrame({"query_id": range(len(SKEWED)), "a": SKEWED, "b": 0.0})
    options = {"values": ["a", "b"], "test": "hall"}
    halves = pl.concat([skewed, skewed.with_columns(query_id=pl.col("query_id") + 100)])
    halves = halves.with_columns(topic=pl.col("query_id") % 100)
    whole, parts = skewed.pr.compare(**options), halves.pr.compare(cluster="topic", **options)
    for name in ("conf_low", "conf_high", "p_value"):
        assert parts[name].item() == pytest.approx(whole[name].item(), rel=1e-12)


def with_wins(share: float, size: float, shape: tuple[int, ...]) -> np.ndarray:
    """Draw large wins and small losses, whose mean is 0."""
    rng = np.random.default_rng(shape)
    loss = -share * size / (1 - share)
    return np.where(rng.random(shape) < share, size, loss) + rng.normal(0, 0.03, shape)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("share", "size", "n"),
    [(0.15, 0.34, 15), (0.15, 0.34, 25), (0.05, 0.57, 15), (0.05, 0.57, 50)],
)
def test_samples_that_lack_the_wins_are_rejected_and_hardly_more(
    share: float, size: float, n: int
) -> None:
    """What no criterion tells apart from normal differences; the guide has the numbers."""
    samples = 4000
    sums = with_wins(share, size, (n, samples))
    family = PairedFamily(sums, np.ones_like(sums))
    rejects = np.array([t.p_value <= 0.05 for t in QUERY_TESTS["t"].of_pairs(family, OPTIONS)])
    unwarned = rejects & ~family.few_for_skewness
    lacking = (sums < size / 2).all(axis=0)
    error = 3 * (lacking.mean() / samples) ** 0.5
    assert lacking.mean() == pytest.approx((1 - share) ** n, abs=error + 1e-9)
    # Of the samples without a win, all but those that look skewed by chance are rejected unwarned.
    assert (unwarned & lacking).sum() > 0.8 * lacking.sum()
    assert (unwarned & ~lacking).mean() < 0.025


SPARSE = {
    "wins": lambda rng, shape: np.where(rng.random(shape) < 0.2, rng.exponential(size=shape), 0),
    "both": lambda rng, shape: np.where(rng.random(shape) < 0.2, rng.normal(0.5, 1, shape), 0),
    "heavy": lambda rng, shape: rng.standard_t(3, shape),
    "lognormal": lambda rng, shape: rng.lognormal(size=shape),
}
MEANS = {"wins": 0.2, "both": 0.1, "heavy": 0.0, "lognormal": np.exp(0.5)}


@pytest.mark.slow
@pytest.mark.parametrize("n", [15, 25, 50])
@pytest.mark.parametrize("name", list(SPARSE))
def test_students_interval_of_sparse_and_heavy_differences_rarely_misses_untold(
    name: str, n: int
) -> None:
    samples = 4000
    sums = SPARSE[name](np.random.default_rng(n), (n, samples))
    family = PairedFamily(sums, np.ones_like(sums))
    low, high = student_intervals(family, Confidence(0.95)).T
    # Where all differences are 0 the interval is [0, 0].
    misses = ((low > MEANS[name]) | (high < MEANS[name])) & sums.any(axis=0)
    error = 3 * (0.05 * 0.95 / samples) ** 0.5
    assert (misses & ~family.few_for_skewness).mean() < 0.065 + error
    if name == "wins":
        assert misses.mean() > 0.1
        assert family.few_for_skewness.mean() > 0.9


@pytest.mark.slow
@pytest.mark.parametrize(("k", "n"), [(2, 15), (4, 15), (4, 50), (8, 25), (20, 5)])
def test_strata_of_normal_differences_are_rarely_told_and_skewed_ones_mostly(
    k: int, n: int
) -> None:
    rng = np.random.default_rng([k, n])
    shape, everything = (k, n, 2000), np.ones((k, 2000), dtype=bool)

    def told(values_: np.ndarray) -> float:
        strata = [PairedFamily(part, np.ones_like(part)) for part in values_]
        return float(few_for_shared_skewness(strata, everything).mean())

    assert told(rng.normal(size=shape)) < 0.065 + 4 * (0.05 * 0.95 / 2000) ** 0.5
    assert told(rng.gamma(0.5, size=shape)) > 0.9


@pytest.mark.slow
def test_pooled_differences_that_are_skewed_are_rejected_too_often_and_told() -> None:
    samples = 400
    strata = np.random.default_rng(5).exponential(size=(4, 15, samples)) - 1
    families = [PairedFamily(part, np.ones_like(part)) for part in strata]
    told = few_for_shared_skewness(families, np.ones((4, samples), dtype=bool))
    means, errors = (
        np.array([getattr(f, name) for f in families]) for name in ("means", "std_errors")
    )
    rejects = np.array(
        [
            pool_differences(means[:, i], errors[:, i], model="fixed").p_value <= 0.05
            for i in range(samples)
        ]
    )
    assert rejects.mean() > 0.15
    assert (rejects & ~told).mean() < 0.03
