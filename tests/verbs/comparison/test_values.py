"""The verb `compare` of precomputed values, against the way from scores, SciPy and definitions."""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import prframe
from prframe.stats.paired_values import QUERY_TESTS
from tests.compared_runs import runs, without_nan
from tests.refusals import refusals

# Small samples of metrics are skewed, which is of no concern to what is tested here.
pytestmark = pytest.mark.filterwarnings("ignore::prframe.SkewedDifferencesWarning")

# A metric with many ties, and two whose range is not that of AP.
METRICS = ["AP", "DCG", "NumRelRet", "P@4"]
DATA = runs().with_columns(
    half=pl.col("query_id").is_in(["q001", "q003", "q004", "q007", "q011"]),
    cluster=pl.col("query_id").str.slice(2).cast(pl.Int64) // 3,
)


def evaluated(data: pl.DataFrame = DATA, metrics: list[str] = METRICS) -> pl.DataFrame:
    """Return a row per model and query, and a column per metric."""
    return prframe.evaluate(data, metrics, by=["half", "cluster", "model", "query_id"])


def long(values: pl.DataFrame, metrics: list[str] = METRICS) -> pl.DataFrame:
    """Return a row per model, query and metric."""
    keys = ["half", "cluster", "model", "query_id"]
    return values.unpivot(metrics, index=keys, variable_name="metric")


def by_model(values: pl.DataFrame) -> pl.DataFrame:
    """Return a row per query and metric, and a column per model."""
    keys = ["half", "cluster", "query_id", "metric"]
    return long(values).pivot("model", index=keys, values="value", maintain_order=True)


LAYOUTS: dict[str, tuple[Callable[[pl.DataFrame], pl.DataFrame], Any]] = {
    "a column per metric": (lambda values: values, METRICS),
    "a row per metric": (long, "value"),
    "a column per model": (by_model, ["x", "y", "z"]),
}
layouts = pytest.mark.parametrize(("arranged", "values"), LAYOUTS.values(), ids=LAYOUTS)

OPTIONS: dict[str, dict[str, Any]] = {
    **{test: {"test": test, "n_resamples": 99} for test in QUERY_TESTS},
    "max-t within by": {"correction": "max-t", "within": "by", "by": "half", "n_resamples": 99},
    "hall's interval": {"interval": "hall", "alternative": "less"},
    "one-sided power": {"power": 0.8, "alternative": "greater", "confidence_level": 0.9},
    "baselines": {"baseline": ["z", "x"]},
    "over two columns": {"over": ["half", "query_id"]},
    "clusters": {"cluster": "cluster"},
    "clusters among the queries": {"cluster": "half", "over": ["half", "query_id"]},
}
options = pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)


@layouts
@options
def test_values_are_those_of_the_scores(
    arranged: Callable[[pl.DataFrame], pl.DataFrame], values: Any, options: dict[str, Any]
) -> None:
    expected = without_nan(prframe.compare(DATA, METRICS, rng=1, **options))
    found = prframe.compare(arranged(evaluated()), values=values, rng=1, **options)
    assert_frame_equal(found, expected, rel_tol=1e-12, abs_tol=1e-12)
    assert found.schema == expected.schema


def test_undefined_values_are_warned_of() -> None:
    values = pl.DataFrame(
        {
            "query_id": ["q1", "q2", "q3", "q4"] * 2,
            "model": ["a"] * 4 + ["b"] * 4,
            "AP": [0.1, 0.5, None, 0.4, 0.3, 0.2, 0.9, float("nan")],
            "RR": [1.0, 0.5, 0.25, 1, 0.5, 0.5, 1, 1],
        }
    )
    message = (
        "AP: undefined, so null or NaN, for 2 of 8 groups, whose precomputed value is null or NaN, in groups "
        "('a', 'q3'), ('b', 'q4')"
    )
    with pytest.warns(prframe.UndefinedMetricWarning) as caught:
        found = prframe.compare(values, values=["AP", "RR"])
    assert [str(one.message) for one in caught] == [message]
    assert found["n"].to_list() == [2, 4]
    # A value in its place is warned of no more.
    assert prframe.compare(values, values=["AP"], undefined=0)["n"].to_list() == [4]


@pytest.mark.parametrize(
    ("name", "factor", "limits"),
    [
        ("AP", 1.0, (-1.0, 1.0)),
        ("map_cut_10", 1.0, (-1.0, 1.0)),
        # In percent the values are not within the range of the metric.
        ("AP", 100.0, (-np.inf, np.inf)),
        ("DCG", 1.0, (-np.inf, np.inf)),
        ("accuracy", 1.0, (-np.inf, np.inf)),
        ("P", 1.0, (-np.inf, np.inf)),
        ("", 1.0, (-np.inf, np.inf)),
    ],
)
def test_intervals_know_the_range_of_a_metric(
    name: str, factor: float, limits: tuple[float, float]
) -> None:
    values = pl.DataFrame(
        {
            "query_id": [1, 2, 3] * 2,
            "model": ["a"] * 3 + ["b"] * 3,
            name: factor * np.array([0, 0.5, 1, 1, 0.4, 0]),
        }
    )
    low, high = (
        prframe.compare(values, values=[name], alternative=alternative)
        for alternative in ("greater", "less")
    )
    assert (high["conf_low"].item(), low["conf_high"].item()) == limits
    both = prframe.compare(values, values=[name]).row(0, named=True)
    assert (both["conf_low"] == -1) == (limits[0] == -1)


def test_order_of_rows_and_seed() -> None:
    values = long(evaluated())
    drawn: dict[str, Any] = {"test": "bootstrap", "rng": 3}
    drawn |= {"values": "value", "n_resamples": 99, "baseline": "x"}
    expected = prframe.compare(values, **drawn)
    shuffled = prframe.compare(values.sample(fraction=1, shuffle=True, seed=2), **drawn)
    keys = ["metric", "model_a"]
    assert_frame_equal(shuffled.sort(keys), expected.sort(keys), rel_tol=1e-12)


def test_dtypes_of_values_and_metrics() -> None:
    values = long(evaluated()).with_columns(pl.col("value").round(3))
    expected = prframe.compare(values, values="value", test="t")
    for dtypes in (
        {"value": pl.Decimal(10, 3)},
        {"metric": pl.Categorical},
        {"value": pl.Float32},
    ):
        found = prframe.compare(values.cast(dtypes), values="value", test="t")
        assert_frame_equal(found, expected, rel_tol=1e-4, abs_tol=1e-6)
    whole = pl.DataFrame({"query_id": [1, 2], "a": [1, 2], "b": [4, 9]})
    assert prframe.compare(whole, values=["a", "b"])["difference"].to_list() == [-5]


AT_HAND = pl.DataFrame(
    {
        "query_id": ["q1", "q2", "q3"] * 2,
        "model": ["a"] * 3 + ["b"] * 3,
        "AP": [0.1, 0.5, 0.7, 0.2, 0.4, 0.9],
        "RR": [1.0, 0.5, 0.25, 0.5, 0.5, 1],
    }
)
MODELS = AT_HAND.pivot("model", index="query_id", values="AP")
METRIC_ROWS = AT_HAND.unpivot(["AP", "RR"], index=["query_id", "model"], variable_name="metric")
INFINITE = pl.when(pl.col("query_id") == "q2").then(float("inf")).otherwise("AP").alias("AP")
RANKED = (
    "`{}` says how items are ranked and which count; precomputed values (values=) are asked for neither, "
    "so leave it out."
)
EITHER = (
    "give either `metrics`, which are computed from scores and labels, or in `values` the columns "
    "that hold values of metrics; got {}."
)


test_refusals = refusals(
    {
        EITHER.format("both"): (AT_HAND, {"metrics": "AP"}),
        EITHER.format("neither"): (AT_HAND, {"values": None}),
        "`values` are those of queries, for example, whose column stands in over=; over=None "
        "compares rankings of the same items, which takes scores and labels.": (
            AT_HAND,
            {"over": None},
        ),
        RANKED.format("score"): (AT_HAND, {"score": ["score", "RR"]}),
        "`missing` is for scores; precomputed values that are null or NaN are undefined and do not "
        "enter, so leave it out.": (AT_HAND, {"missing": "drop"}),
        "`values` names the column 'map', which the frame does not have; its columns are "
        "'query_id', 'model', 'AP', 'RR'. Did you mean 'AP'?": (AT_HAND, {"values": "map"}),
        "`over` names the column 'query_id', which the frame does not have; its columns are "
        "'topic', 'model', 'AP', 'RR'. Did you mean 'topic'?": (
            AT_HAND.rename({"query_id": "topic"}),
            {},
        ),
        "`values` names 'model', which other arguments name too; name the columns that hold values "
        "of metrics.": (AT_HAND, {"values": ["AP", "model"]}),
        "`values` must be numeric; 'AP' is String.": (AT_HAND.cast({"AP": pl.String}), {}),
        "`values` 'AP' must be finite: 2 of 6 rows, in groups ('a', 'q2'), ('b', 'q2'); mend or "
        "drop these rows.": (AT_HAND.with_columns(INFINITE), {}),
        "`values` must be one for each 'model', 'query_id', and 2 of 7 rows share these, in groups "
        "('a', 'q1'); name in over= or by= what else tells these rows apart, or take their mean "
        "first.": (pl.concat([AT_HAND, AT_HAND[:1]]), {}),
        "`values` must be one for each 'model', 'query_id', 'metric', and 2 of 13 rows share these, "
        "in groups ('a', 'q1', 'AP'); name in over= or by= what else tells these rows apart, or "
        "take their mean first.": (pl.concat([METRIC_ROWS, METRIC_ROWS[:1]]), {"values": "value"}),
        "`values` must be one for each 'query_id', and 4 of 5 rows share these, in groups 'q2', "
        "'q3'; name in over= or by= what else tells these rows apart, or take their mean first.": (
            pl.concat([MODELS, MODELS[1:]]),
            {"values": ["a", "b"]},
        ),
        "`metric` 'metric' must not contain nulls: 6 of 12 rows, in groups ('a', 'q1'), ('a', "
        "'q2'), ('a', 'q3'), ('b', 'q1'), ('b', 'q2') and 1 more; name these metrics, or drop the "
        "rows.": (
            METRIC_ROWS.with_columns(pl.col("metric").replace("RR", None)),
            {"values": "value", "model": "model"},
        ),
        "`model` 'model' must not contain nulls or NaN: 3 rows; name these models, or drop the rows.": (
            AT_HAND.with_columns(pl.col("model").replace("b", None)),
            {},
        ),
        "`values` names one column, 'a', and the frame has no column 'model'; name the one that "
        "tells the models apart with model=, or in values= a column for each model.": (
            MODELS,
            {"values": "a"},
        ),
        "`over` names the column 'query_id', which the frame does not have; its columns are 'seed', "
        "'a', 'b'. Name the column of queries, folds or seeds with over=, or number the rows, for "
        "example by with_row_index('query_id').": (
            MODELS.rename({"query_id": "seed"}),
            {"values": ["a", "b"]},
        ),
        "a comparison takes two models or more; got 'a' alone.": (AT_HAND[:3], {}),
        "`model` names the column 'system', which the frame does not have; its columns are "
        "'query_id', 'a', 'b'.": (MODELS, {"values": ["a", "b"], "model": "system"}),
        "of the 3 groups of `over` 'a' lacks 1, in groups 'q1'; count the missing as 0 with incomplete='zero', or leave them out with "
        "'pairwise' (what two models have in common) or 'common' (what all have).": (
            AT_HAND[1:],
            {},
        ),
        "of the 3 groups of `over` with 'RR' 'b' lacks 1, in groups 'q3'; count the missing as 0 with incomplete='zero', or leave them out "
        "with 'pairwise' (what two models have in common) or 'common' (what all have).": (
            METRIC_ROWS[:-1],
            {"values": "value"},
        ),
        "`cluster` 'cluster' must be one value, and no null, for each group of `over`, in groups "
        "'q1', 'q2', 'q3'; mend these rows, or, if numbers begin anew in each 'cluster', name it "
        "in `over` too.": (AT_HAND.with_columns(cluster=pl.int_range(6)), {"cluster": "cluster"}),
        "`by` names 'metric', which is also a column of the result; rename it.": (
            METRIC_ROWS,
            {"values": "value", "by": "metric"},
        ),
        **{
            RANKED.format(name): (AT_HAND, {name: value})
            for name, value in {
                "score": "RR",
                "weight": "RR",
                "ties": "worst",
                "float32": True,
                "positive": 2,
                "n_pos": 3,
            }.items()
        },
    },
    lambda data, options: prframe.compare(data, **{"values": "AP"} | options),
)


@pytest.mark.parametrize("test", ["t", "sign", "hall", "wilcoxon", "randomization"])
@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_no_p_value_is_zero(test: str, alternative: str) -> None:
    differences = 0.5 + np.linspace(-1e-6, 1e-6, 1500)
    frame = pl.DataFrame({"query_id": range(1500), "a": differences, "b": np.zeros(1500)})
    found = frame.pr.compare(
        values=["a", "b"], test=test, alternative=alternative, equivalence=0.9, n_resamples=100
    )
    smallest = float(np.finfo(np.float64).tiny)
    for column in ("p_value", "p_adjusted", "p_equivalence"):
        assert smallest <= found[column].item() < 1e-290


def test_values_that_are_taken_for_scores_are_told_of() -> None:
    with pytest.raises(prframe.errors.MissingColumnError) as caught:
        evaluated().pr.compare("AP", model="model")
    assert str(caught.value).endswith(
        "Name the column with score=. Name precomputed values of metrics with values='AP'."
    )
