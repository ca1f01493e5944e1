"""Intervals of means over queries that come in clusters, such as the queries of a user."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import prframe
from prframe.errors import ArgumentError, PrframeError
from prframe.stats import mean_interval
from prframe.stats.intervals import Confidence

RNG = np.random.default_rng(4)
QUERIES, ITEMS = 24, 12
USERS = np.repeat(list("kbfadc"), [1, 6, 2, 5, 7, 3])
UNIT = Confidence(0.95, limits=(0.0, 1.0))
METHODS = ("auto", "t", "logit", "hall", "percentile", "bca")
OPTIONS: dict[str, Any] = {"over": "query_id", "cluster": "user", "rng": 1, "n_resamples": 200}


def ranked() -> pl.DataFrame:
    """Return rankings in which positives stand out the more the better the user is served."""
    query = np.repeat(np.arange(QUERIES), ITEMS)
    label = np.tile(np.arange(ITEMS) < 4, QUERIES)
    served = np.unique(USERS, return_inverse=True)[1][query]
    return pl.DataFrame(
        {
            "query_id": query,
            "user": USERS[query],
            "label": label,
            "score": RNG.normal(size=query.size) + 0.4 * served * label,
        }
    )


ROWS = ranked()
VALUES = prframe.evaluate(ROWS, ["AP", "AUC"], by=["query_id", "user"])


@pytest.mark.parametrize("method", METHODS)
def test_intervals_are_those_of_the_values_of_queries(method: str) -> None:
    options = OPTIONS | {"method": method, "n_resamples": 5000}
    found = prframe.interval(ROWS, ["AP", "AUC"], **options)
    at_hand = prframe.interval(VALUES, values=["AP", "AUC"], **options)
    assert_frame_equal(found, at_hand, rel_tol=1e-12)
    for name, row in zip(("AP", "AUC"), found.rows(named=True), strict=True):
        # Resamples of other orders are others.
        tolerance = 0.02 if method in {"percentile", "bca"} else 1e-12
        expected = mean_interval(VALUES[name], method, UNIT, 5000, 2, cluster=VALUES["user"])
        assert row["metric"] == name
        assert row["method"] == expected.method
        assert row["estimate"] == pytest.approx(expected.estimate, rel=1e-12)
        ours = [row["std_error"], row["conf_low"], row["conf_high"]]
        theirs = [expected.std_error, expected.low, expected.high]
        assert ours == pytest.approx(theirs, rel=1e-12, abs=tolerance)


def test_they_are_those_of_a_difference_from_nothing() -> None:
    """`compare` has the same standard error and interval of a mean difference."""
    table = VALUES.select("query_id", "user", size="AP", nothing=pl.lit(0.0))
    pair = table.pr.compare(values=["size", "nothing"], test="t", cluster="user")
    found = table.pr.interval(values="size", over="query_id", cluster="user")
    ours = found.select("estimate", "conf_low", "conf_high").row(0)
    theirs = pair.select("difference", "conf_low", "conf_high").row(0)
    assert ours == pytest.approx(theirs, rel=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_clusters_of_one_query_are_none(method: str) -> None:
    options = OPTIONS | {"method": method}
    alone = prframe.interval(ROWS, ["AP", "AUC"], **options | {"cluster": "query_id"})
    renamed = ROWS.with_columns(user=-pl.col("query_id"))
    for found in (alone, prframe.interval(renamed, ["AP", "AUC"], **options)):
        expected = prframe.interval(ROWS, ["AP", "AUC"], **options | {"cluster": None})
        assert_frame_equal(found, expected, check_exact=True)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Enum(sorted(set(USERS)))])
def test_the_order_of_rows_changes_nothing(method: str, dtype: Any) -> None:
    frame = ROWS.cast({"user": dtype})
    expected = prframe.interval(ROWS, "AP", method=method, **OPTIONS)
    for seed in range(3):
        shuffled = frame.sample(fraction=1, shuffle=True, seed=seed)
        found = prframe.interval(shuffled, "AP", method=method, **OPTIONS)
        assert_frame_equal(found, expected, rel_tol=1e-14)


def test_every_kind_of_frame() -> None:
    expected = prframe.interval(ROWS, ["AP", "AUC"], **OPTIONS)
    for frame in (ROWS.lazy(), ROWS.to_pandas(), ROWS.to_arrow()):
        found: Any = prframe.interval(frame, ["AP", "AUC"], **OPTIONS)
        if isinstance(found, pl.LazyFrame):
            found = found.collect()
        elif isinstance(found, pd.DataFrame):
            found = pl.from_pandas(found)
        elif not isinstance(found, pl.DataFrame):
            found = pl.from_arrow(found)
        assert_frame_equal(found, expected, check_dtypes=False, rel_tol=1e-12)


def test_groups_and_layouts_of_values() -> None:
    system = pl.col("query_id") % 2
    values = VALUES.with_columns(system=system)
    found = prframe.interval(
        ROWS.with_columns(system=system), ["AP", "AUC"], by="system", **OPTIONS
    )
    long = values.unpivot(
        ["AP", "AUC"], index=["system", "query_id", "user"], variable_name="metric"
    )
    parts = [
        prframe.interval(part, values=["AP", "AUC"], **OPTIONS).insert_column(
            0, part["system"].head(1).new_from_index(0, 2)
        )
        for part in values.partition_by("system", maintain_order=True)
    ]
    assert_frame_equal(found, pl.concat(parts), rel_tol=1e-12)
    options = OPTIONS | {"by": "system"}
    assert_frame_equal(prframe.interval(long, values="value", **options), found, rel_tol=1e-12)


def test_seeds_of_a_query_are_a_cluster() -> None:
    """Where each query has as many seeds, the interval is that of the means of queries."""
    values = RNG.uniform(size=(15, 3))
    table = pl.DataFrame(
        {
            "query_id": np.repeat(np.arange(15), 3),
            "seed": np.tile(np.arange(3), 15),
            "AP": values.ravel(),
        }
    )
    found = table.pr.interval(values="AP", over=["query_id", "seed"], cluster="query_id")
    means = table.group_by("query_id").agg(pl.col("AP").mean())
    expected = means.pr.interval(values="AP", over="query_id")
    assert_frame_equal(found, expected, rel_tol=1e-12)


@pytest.mark.parametrize("name", ["by0", "by1", "by2", "metric", "value", "cluster", "row", "AP"])
def test_clusters_may_have_the_names_of_working_columns(name: str) -> None:
    expected = prframe.interval(ROWS, "AP", **OPTIONS)
    found = prframe.interval(ROWS.rename({"user": name}), "AP", **OPTIONS | {"cluster": name})
    assert_frame_equal(found, expected)


@pytest.mark.parametrize("method", METHODS)
def test_a_single_cluster_has_no_interval(method: str) -> None:
    frame = ROWS.with_columns(user=pl.lit("a"))
    with pytest.warns(prframe.UndefinedMetricWarning) as caught:
        found = prframe.interval(frame, ["AP", "AUC"], method=method, **OPTIONS)
    assert [str(warning.message) for warning in caught] == [
        "conf_low, conf_high: undefined, hence null, for 1 of 1 groups, which hold too little for "
        "an interval of 'AP', 'AUC', or nothing that varies, or lie in a single cluster"
    ]
    assert found["estimate"].to_list() == pytest.approx(VALUES.select("AP", "AUC").mean().row(0))
    for column in ("std_error", "conf_low", "conf_high"):
        assert found[column].null_count() == 2


def test_queries_without_a_value_and_their_clusters_do_not_enter() -> None:
    empty = ROWS.filter(pl.col("query_id") < 2).with_columns(
        pl.col("query_id") + 100, label=pl.lit(value=False), user=pl.lit("new")
    )
    with pytest.warns(prframe.UndefinedMetricWarning, match="for 2 of 26 groups"):
        found = prframe.interval(pl.concat([ROWS, empty]), "AP", **OPTIONS)
    assert_frame_equal(found, prframe.interval(ROWS, "AP", **OPTIONS))


@pytest.mark.parametrize("missing", [None, float("nan")])
@pytest.mark.parametrize("kind", [pl.DataFrame, pl.LazyFrame])
def test_queries_of_no_cluster_are_refused_as_in_compare(missing: float | None, kind: Any) -> None:
    numbers = [missing, *range(1, QUERIES)]
    frame = kind(VALUES.sort("query_id").with_columns(user=pl.Series(numbers, dtype=pl.Float64)))
    message = (
        r"`cluster` 'user' must be one value, and no null, for each group of `over`, in groups "
        r"\[0\]; mend these rows, "
        r"or, if numbers begin anew in each 'user', name it in `over` too."
    )
    for call in (
        lambda: frame.pr.interval(values="AP", over="query_id", cluster="user"),
        lambda: frame.pr.compare(values=["AP", "AUC"], over="query_id", cluster="user"),
    ):
        with pytest.raises(PrframeError, match=message):
            call().lazy().collect()


def test_clusters_that_vary_within_queries_are_refused_before_anything_is_warned_of() -> None:
    frame = ROWS.with_columns(user=pl.int_range(pl.len()))
    with pytest.raises(PrframeError) as caught:
        prframe.interval(frame, "AP", **OPTIONS)
    assert str(caught.value) == (
        "`cluster` 'user' must be one value, and no null, for each group of `over`, in groups "
        "[0, 1, 2, 3, 4] and 19 more; mend these rows, "
        "or, if numbers begin anew in each 'user', name it in `over` too."
    )


def test_a_query_of_several_groups_may_be_of_several_clusters() -> None:
    of_group = [ROWS, ROWS.with_columns(pl.col("user").replace("k", "b"))]
    frame = pl.concat(part.with_columns(group=pl.lit(i)) for i, part in enumerate(of_group))
    found = prframe.interval(frame, "AP", by="group", **OPTIONS)
    expected = pl.concat(prframe.interval(part, "AP", **OPTIONS) for part in of_group)
    assert_frame_equal(found.drop("group"), expected)
    assert found["std_error"].n_unique() == 2


def test_rows_that_are_ignored_may_be_of_any_cluster() -> None:
    rows = ROWS.with_columns(pl.col("label").cast(pl.Int8))
    ignored = rows.with_columns(label=pl.lit(-1, pl.Int8), user=pl.lit("z"))
    found = prframe.interval(pl.concat([rows, ignored]), "AP", ignore=-1, **OPTIONS)
    assert_frame_equal(found, prframe.interval(ROWS, "AP", **OPTIONS))


@pytest.mark.parametrize("resampling", ["cv", 0.25, "items"])
def test_clusters_do_not_go_with_resampling(resampling: Any) -> None:
    with pytest.raises(ArgumentError, match="`resampling` and `cluster` each say how groups"):
        prframe.interval(ROWS, "AP", resampling=resampling, **OPTIONS)


def test_few_clusters_are_warned_of_where_their_sums_are_skewed() -> None:
    """Three of twenty users carry the mean of many queries."""
    of_user = np.append(RNG.uniform(0.01, 0.02, 17), [0.7, 0.8, 0.9])
    values = pl.DataFrame({"user": np.repeat(np.arange(20), 10), "AP": np.repeat(of_user, 10)})
    values = values.with_columns(query_id=pl.int_range(pl.len()))
    options: dict[str, Any] = {"values": "AP", "over": "query_id"}
    # Two hundred values are not few.
    prframe.interval(values, **options)
    with pytest.warns(prframe.CoverageWarning, match="few of the values carry 1 of 1 means"):
        prframe.interval(values, cluster="user", **options)
    prframe.interval(values, cluster="user", method="hall", **options)
    # Shares of users, all of whose queries are 0 or 1.
    shares = values.with_columns(AP=(pl.col("AP") > 0.5).cast(pl.Float64))
    prframe.interval(shares, cluster="user", **options)
    with pytest.warns(prframe.CoverageWarning, match="few of the values carry 1 of 1 means"):
        prframe.interval(shares, cluster="user", method="t", **options)
