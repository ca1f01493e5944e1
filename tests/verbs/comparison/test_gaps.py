"""The verb `compare` where values are missing: queries, models, metrics, strata, clusters."""

import warnings
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.stats
from polars.testing import assert_frame_equal

import prframe
from prframe.stats.paired_values import QUERY_TESTS, PairedFamily, QueryTestOptions, paired_sample
from tests.compared_runs import MODELS, pair, runs, table, without_nan

# Small samples of metrics are skewed, which is of no concern to what is tested here.
pytestmark = pytest.mark.filterwarnings("ignore::prframe.SkewedDifferencesWarning")

DATA = runs()
FULL: dict[str, Any] = {"power": 0.8, "n_resamples": 200, "rng": 1}
TESTS = tuple(QUERY_TESTS)
EACH = [*((test, "t") for test in TESTS), ("t", "hall")]
lacking = pytest.mark.filterwarnings("ignore::prframe.UndefinedMetricWarning")


def compared(frame: pl.DataFrame, metrics: Any = "AP", **options: Any) -> pl.DataFrame:
    """Return a comparison in which nothing is NaN."""
    return without_nan(prframe.compare(frame, metrics, **options))


def warned(call: Callable[[], pl.DataFrame]) -> tuple[pl.DataFrame, list[str]]:
    """Return a result, and what was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", prframe.SkewedDifferencesWarning)
        found = call()
    assert {one.category for one in caught} <= {prframe.UndefinedMetricWarning}
    return found, [str(one.message) for one in caught]


def p_value_of(test: str, differences: list[float]) -> float | None:
    """Return the p-value of differences, or None if the test says nothing of them."""
    family = PairedFamily.of([paired_sample(differences)])
    (found,) = QUERY_TESTS[test].of_pairs(family, QueryTestOptions(n_resamples=200, rng=1))
    return None if np.isnan(found.p_value) else found.p_value


# Model z has no rows for q003, y none for q004 and q005.
GAPS = DATA.filter(
    ~((pl.col("model") == "z") & (pl.col("query_id") == "q003"))
    & ~((pl.col("model") == "y") & pl.col("query_id").is_in(["q004", "q005"]))
)


def filled(policy: str) -> pd.DataFrame:
    """Return the values of all models after a policy for missing ones."""
    values = table(GAPS, "AP")
    return {"pairwise": values, "common": values.dropna(), "zero": values.fillna(0.0)}[policy]


@pytest.mark.parametrize("policy", ["pairwise", "common", "zero"])
def test_missing_queries(policy: str) -> None:
    found = compared(GAPS, test="t", incomplete=policy)
    for row in found.rows(named=True):
        a, b = pair(filled(policy), row)
        expected = scipy.stats.ttest_rel(a, b)
        assert row["n"] == a.size
        assert row["mean_a"] == pytest.approx(a.mean())
        assert row["mean_b"] == pytest.approx(b.mean())
        assert row["statistic"] == pytest.approx(expected.statistic)
        assert row["p_value"] == pytest.approx(expected.pvalue)
        ends = expected.confidence_interval()
        assert (row["conf_low"], row["conf_high"]) == pytest.approx(tuple(ends))
        assert row["effect_size"] == pytest.approx((a - b).mean() / (a - b).std(ddof=1))
    sizes = {"pairwise": [10, 11, 9], "common": [9] * 3, "zero": [12] * 3}
    assert found["n"].to_list() == sizes[policy]


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["pairwise", "common"])
@pytest.mark.parametrize(
    "options",
    [
        {"test": "bootstrap"},
        {"correction": "max-t"},
    ],
    ids=str,
)
def test_what_is_sampled_leaves_missing_queries_out(policy: str, options: dict[str, Any]) -> None:
    """All draws are over all queries; those that a pair has not must have no effect."""
    draws: dict[str, Any] = {"n_resamples": 20_000, "rng": 1, "incomplete": policy}
    found = compared(GAPS, **options, **draws)
    for row in found.rows(named=True):
        own = GAPS.filter(pl.col("model").is_in([row["model_a"], row["model_b"]]))
        kept = pl.Series(filled(policy)[[row["model_a"], row["model_b"]]].dropna().index.to_list())
        own = own.filter(pl.col("query_id").is_in(kept.implode()))
        (alone,) = compared(own, **options, **(draws | {"rng": 2})).rows(named=True)
        errors = {"p_value": 0.02, "conf_low": 0.02, "conf_high": 0.02}
        for name, error in errors.items():
            assert row[name] == pytest.approx(alone[name], abs=error)
        assert row["p_adjusted"] >= row["p_value"]


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"test": test} for test in TESTS], ids=str)
def test_an_undefined_metric_takes_one_query_out(options: dict[str, Any]) -> None:
    nothing = pl.col("query_id") == "q003"
    hurt = DATA.with_columns(label=pl.when(nothing).then(0).otherwise("label"))
    options = {"correction": None, **FULL, **options}
    found, said = warned(lambda: compared(hurt, ["AP", "P@4"], **options))
    assert said == [
        "AP: undefined, so null or NaN, for 3 of 36 groups, which have no positives, in groups "
        "('x', 'q003'), ('y', 'q003'), ('z', 'q003')"
    ]
    # P@4 has a value for such a query: bit for bit what it is without the other metric.
    assert found.filter(metric="P@4").equals(compared(hurt, "P@4", **options))
    expected = compared(DATA.filter(~nothing), **options)
    if "bootstrap" in options.values():
        # There is one query more to draw.
        expected = expected.drop("p_value", "p_std_error")
    assert_frame_equal(found.filter(metric="AP").select(expected.columns), expected)


def test_a_value_for_undefined_metrics() -> None:
    hurt = DATA.with_columns(
        label=pl.when(pl.col("query_id") != "q003").then("label").otherwise(0)
    )
    zero = compared(hurt, test="t", undefined=0.0)
    values = table(DATA, "AP")
    values.loc["q003"] = 0.0
    for row in zero.rows(named=True):
        expected = scipy.stats.ttest_rel(*pair(values, row))
        assert (row["n"], row["p_value"]) == (12, pytest.approx(expected.pvalue))


@pytest.mark.filterwarnings("ignore::prframe.UnlistedItemsWarning")
@lacking
def test_a_query_undefined_for_one_model() -> None:
    own = (pl.col("query_id") == "q003") & (pl.col("model") == "z")
    hurt = DATA.with_columns(label=pl.when(own).then(0).otherwise("label"))
    found = compared(hurt, test="t")
    assert found["n"].to_list() == [12, 11, 11]
    untouched = ["p_value", "difference", "conf_low", "conf_high", "wins"]
    first = compared(DATA, test="t").head(1)
    assert found.head(1).select(untouched).equals(first.select(untouched))
    for row in found.rows(named=True):
        expected = scipy.stats.ttest_rel(*pair(table(hurt, "AP"), row))
        assert row["p_value"] == pytest.approx(expected.pvalue)


@pytest.mark.filterwarnings("ignore::prframe.UnlistedItemsWarning")
@lacking
def test_zero_is_for_missing_queries_and_undefined_for_the_others() -> None:
    own = (pl.col("query_id") == "q000") & (pl.col("model") == "z")
    hurt = GAPS.with_columns(label=pl.when(own).then(0).otherwise("label"))
    assert compared(hurt, incomplete="zero")["n"].to_list() == [12, 11, 11]
    assert compared(hurt, incomplete="zero", undefined=0.0)["n"].to_list() == [12] * 3
    assert compared(hurt, undefined=0.0, incomplete="pairwise")["n"].to_list() == [10, 11, 9]


@lacking
def test_joint_laws_of_a_pair_without_a_common_query() -> None:
    apart = DATA.filter(
        (pl.col("model") == "z")
        | ((pl.col("model") == "x") == pl.col("query_id").is_in(["q000", "q001", "q002"]))
    )
    found = compared(apart, incomplete="pairwise", correction="max-t", rng=1)
    nulls = found["p_adjusted"].is_null().to_list()
    assert nulls == [True, False, False]


@pytest.mark.parametrize(("test", "interval"), EACH)
def test_identical_models(test: str, interval: str) -> None:
    alike = DATA.filter(model="x").with_columns(model=pl.lit(["a", "b"])).explode("model")
    found, said = warned(lambda: compared(alike, test=test, interval=interval, **FULL))
    row = found.row(0, named=True)
    expected = {"difference": 0, "p_value": 1, "p_adjusted": 1, "effect_size": 0, "wins": 0}
    expected |= {"ties": 12, "losses": 0, "n": 12, "conf_low": 0, "conf_high": 0}
    assert {name: row[name] for name in expected} == expected
    assert (row["detectable_difference"], row["n_needed"]) == (None, None)
    assert said == []


@pytest.mark.parametrize(("test", "interval"), EACH)
@lacking
def test_one_query(test: str, interval: str) -> None:
    found = compared(DATA.filter(query_id="q001"), test=test, interval=interval, **FULL)
    expected = p_value_of(test, [1 / 3])
    assert found["n"].to_list() == [1] * 3
    assert found["p_value"].to_list() == [expected] * 3
    assert found["method"].is_null().to_list() == [expected is None] * 3
    for name in ("conf_low", "conf_high", "effect_size", "detectable_difference", "n_needed"):
        assert found[name].null_count() == 3


@pytest.mark.slow
@lacking
def test_strata_are_as_filters_give_them() -> None:
    data = GAPS.with_columns(
        half=pl.when(pl.col("query_id") > "q005").then(pl.lit("late")),
        kind=pl.col("query_id").str.slice(3).cast(pl.Int64) % 2,
    )
    options: dict[str, Any] = {"incomplete": "pairwise", "correction": "max-t", "within": "by"}
    found = compared(data, ["AP", "P@4"], by=["half", "kind"], **FULL, **options)
    assert found.select("half", "kind").unique(maintain_order=True).rows() == [
        (None, 0),
        (None, 1),
        ("late", 0),
        ("late", 1),
    ]
    for half, kind in product([None, "late"], [0, 1]):
        key = pl.col("half").eq_missing(pl.lit(half)) & (pl.col("kind") == kind)
        part = compared(data.filter(key), ["AP", "P@4"], **FULL, **options)
        assert_frame_equal(found.filter(key).drop("half", "kind"), part, check_exact=True)


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_clusters_are_exchanged_whole(alternative: str) -> None:
    # Sizes 1 to 4.
    data = DATA.with_columns(
        cluster=pl.col("query_id").replace_strict(
            {f"q{i:03}": name for i, name in enumerate("bccdddaaaaef")}
        )
    )
    place = [list("bccdddaaaaef").index(name) for name in "bccdddaaaaef"]
    signs = np.array(list(product([-1, 1], repeat=6)))
    found = compared(data, cluster="cluster", alternative=alternative)
    for row in found.rows(named=True):
        d = np.subtract(*pair(table(DATA, "AP"), row))
        sums = np.bincount(place, weights=d)[np.unique(place)]
        sizes = np.bincount(place)[np.unique(place)]
        total, drawn = sums.sum(), signs @ sums
        extreme = {
            "two-sided": np.abs(drawn) >= abs(total) - 1e-9,
            "less": drawn <= total + 1e-9,
            "greater": drawn >= total - 1e-9,
        }[alternative]
        assert row["p_value"] == pytest.approx(extreme.mean())
        assert (row["n"], row["difference"]) == (12, pytest.approx(d.mean()))
        # The sandwich with c / (c - 1), and Student's quantile of c - 1 degrees of freedom.
        error = np.sqrt(6 / 5 * ((sums - sizes * d.mean()) ** 2).sum()) / 12
        level = 0.975 if alternative == "two-sided" else 0.95
        reach = scipy.stats.t.ppf(level, 5) * error
        ends = np.clip([d.mean() - reach, d.mean() + reach], -1, 1)
        ends[0] = -1 if alternative == "less" else ends[0]
        ends[1] = 1 if alternative == "greater" else ends[1]
        assert (row["conf_low"], row["conf_high"]) == pytest.approx(tuple(ends))


def test_all_undefined() -> None:
    options: dict[str, Any] = {"correction": "max-t", **FULL}
    found, said = warned(lambda: compared(DATA.with_columns(label=0), **options))
    assert found["n"].to_list() == [0] * 3
    assert found["p_value"].null_count() == found["p_adjusted"].null_count() == 3
    assert len(said) == 2
    assert MODELS[0] == found["model_a"][0]
