"""The verb `interval` of precomputed values, against the way from scores and SciPy."""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.stats
from polars.testing import assert_frame_equal

import prframe
from tests.compared_runs import runs, without_nan
from tests.refusals import refusals

# Within [0, 1], with many ties, and without an upper bound.
METRICS = ["AP", "P@4", "DCG"]
DATA = runs().with_columns(half=pl.col("query_id") > "q006")
lacking = pytest.mark.filterwarnings("ignore::prframe.UndefinedMetricWarning")


def evaluated(data: pl.DataFrame = DATA, metrics: list[str] = METRICS) -> pl.DataFrame:
    """Return a row per model and query, and a column per metric."""
    return prframe.evaluate(data, metrics, by=["half", "model", "query_id"])


def long(values: pl.DataFrame, metrics: list[str] = METRICS) -> pl.DataFrame:
    """Return a row per model, query and metric."""
    keys = ["half", "model", "query_id"]
    return values.unpivot(metrics, index=keys, variable_name="metric")


LAYOUTS: dict[str, tuple[Callable[[pl.DataFrame], pl.DataFrame], Any]] = {
    "a column per metric": (lambda values: values, METRICS),
    "a row per metric": (long, "value"),
}
layouts = pytest.mark.parametrize(("arranged", "values"), LAYOUTS.values(), ids=LAYOUTS)

OPTIONS: list[dict[str, Any]] = [
    {"by": "model"},
    {"by": ["model", "half"]},
    {"over": ["model", "query_id"]},
    *({"by": "model", "method": method} for method in ("t", "percentile", "bca")),
    {"by": "model", "alternative": "less", "confidence_level": 0.9},
    {"by": "model", "alternative": "greater", "method": "bca"},
]


@layouts
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_values_are_those_of_the_scores(
    arranged: Callable[[pl.DataFrame], pl.DataFrame], values: Any, options: dict[str, Any]
) -> None:
    given = {"over": "query_id", "rng": 1, "n_resamples": 99} | options
    expected = without_nan(prframe.interval(DATA, METRICS, **given))
    found = prframe.interval(arranged(evaluated()), values=values, **given)
    assert_frame_equal(found, expected, rel_tol=1e-12, abs_tol=1e-12)
    assert found.schema == expected.schema


@lacking
def test_undefined_values_do_not_enter() -> None:
    # AUC is undefined without negatives.
    data = DATA.filter((pl.col("query_id") != "q007") | (pl.col("label") > 0))
    metrics = ["AP", "AUC"]
    options: dict[str, Any] = {"by": "model", "over": "query_id"}
    expected = prframe.interval(data, metrics, **options)
    values = evaluated(data, metrics)
    assert values["AUC"].null_count() == 3
    for frame, named in ((values, metrics), (long(values, metrics), "value")):
        for given in (frame, frame.fill_null(float("nan"))):
            found = prframe.interval(given, values=named, **options)
            assert_frame_equal(found, expected, rel_tol=1e-12, abs_tol=1e-12)


SCORES = np.random.default_rng(3).normal(61, 12, 15).round(1)
SIDES = ("two-sided", "less", "greater")


@pytest.mark.parametrize("alternative", SIDES)
def test_unbounded_values_have_students_interval(alternative: Any) -> None:
    frame = pl.DataFrame({"seed": range(15), "accuracy": SCORES})
    options: dict[str, Any] = {"over": "seed", "alternative": alternative, "confidence_level": 0.9}
    (row,) = prframe.interval(frame, values="accuracy", **options).rows(named=True)
    ends = scipy.stats.ttest_1samp(SCORES, 0, alternative=alternative).confidence_interval(0.9)
    assert row["metric"] == "accuracy"
    assert row["method"] == "t"
    assert row["estimate"] == pytest.approx(SCORES.mean(), rel=1e-12)
    assert row["std_error"] == pytest.approx(scipy.stats.sem(SCORES), rel=1e-12)
    assert row["conf_low"] == pytest.approx(ends.low, rel=1e-12)
    assert row["conf_high"] == pytest.approx(ends.high, rel=1e-12)


AT_HAND = pl.DataFrame(
    {"query_id": ["q1", "q2", "q3"], "AP": [0.1, 0.5, 0.7], "ms": [12.0, 15, 11]}
)
METRIC_ROWS = AT_HAND.unpivot(["AP", "ms"], index="query_id", variable_name="metric")
# What is said of a call, in part.


test_refusals = refusals(
    {
        "that hold values of metrics; got both.": (AT_HAND, {"metrics": "AP"}),
        "that hold values of metrics; got neither.": (AT_HAND, {"values": None}),
        "whose column stands in over=; without over= an": (AT_HAND, {"over": None}),
        "`missing` is for scores; precomputed values that": (AT_HAND, {"missing": "drop"}),
        "`resampling` and `cluster` each say how groups depend on each other;": (
            AT_HAND,
            {"cluster": "ms", "resampling": 0.25},
        ),
        "`values` names the column 'AQ', which the frame": (AT_HAND, {"values": "AQ"}),
        "`values` names 'query_id', which": (AT_HAND, {"values": ["AP", "query_id"]}),
        "`values` must be numeric; 'AP' is String.": (AT_HAND.cast({"AP": pl.String}), {}),
        "`values` 'AP' must be finite: 1 of 3 rows, in groups 'q2';": (
            AT_HAND.with_columns(AP=1 / (pl.col("AP") - 0.5)),
            {},
        ),
        "one for each 'query_id', and 4 of 5 rows share these, in groups 'q2', 'q3';": (
            pl.concat([AT_HAND, AT_HAND[1:]]),
            {},
        ),
        "for each 'query_id', 'metric', and 2 of 7 rows share these, in groups ('q1', 'AP');": (
            pl.concat([METRIC_ROWS, METRIC_ROWS[:1]]),
            {"values": "value"},
        ),
        "`metric` 'metric' must not contain nulls: 3 of 6 rows, in groups 'q1', 'q2', 'q3';": (
            METRIC_ROWS.with_columns(pl.col("metric").replace("AP", None)),
            {"values": "value"},
        ),
        "`method` of a mean over groups must": (AT_HAND, {"method": "logit-t"}),
        "is for metrics within [0, 1], which 'ms' may exceed; take 't', 'percentile' or 'bca'.": (
            AT_HAND,
            {"values": ["AP", "ms"], "method": "logit"},
        ),
        **{
            f"`{name}` says how items are ranked and which count;": (AT_HAND, {name: value})
            for name, value in (("score", "ms"), ("label", "ms"), ("weight", "ms"), ("n_pos", 3))
        },
    },
    lambda data, options: prframe.interval(data, **{"values": "AP", "over": "query_id"} | options),
    whole=False,
)
