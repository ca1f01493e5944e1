"""Intervals of means over queries that come in clusters, such as the queries of a user."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import prframe
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


def test_a_query_of_several_groups_may_be_of_several_clusters() -> None:
    of_group = [ROWS, ROWS.with_columns(pl.col("user").replace("k", "b"))]
    frame = pl.concat(part.with_columns(group=pl.lit(i)) for i, part in enumerate(of_group))
    found = prframe.interval(frame, "AP", by="group", **OPTIONS)
    expected = pl.concat(prframe.interval(part, "AP", **OPTIONS) for part in of_group)
    assert_frame_equal(found.drop("group"), expected)
    assert found["std_error"].n_unique() == 2


def test_few_clusters_are_warned_of_where_their_sums_are_skewed() -> None:
    """Three of twenty users carry the mean of many queries."""
    of_user = np.append(RNG.uniform(0.01, 0.02, 17), [0.7, 0.8, 0.9])
    values = pl.DataFrame({"user": np.repeat(np.arange(20), 10), "AP": np.repeat(of_user, 10)})
    values = values.with_columns(query_id=pl.int_range(pl.len()))
    options: dict[str, Any] = {"values": "AP", "over": "query_id"}
    # Two hundred values are not few.
    prframe.interval(values, **options)
    with pytest.warns(prframe.CoverageWarning, match="a few values decide 1 of 1 means"):
        prframe.interval(values, cluster="user", **options)
    prframe.interval(values, cluster="user", method="hall", **options)
    # Shares of users, all of whose queries are 0 or 1.
    shares = values.with_columns(AP=(pl.col("AP") > 0.5).cast(pl.Float64))
    prframe.interval(shares, cluster="user", **options)
    with pytest.warns(prframe.CoverageWarning, match="a few values decide 1 of 1 means"):
        prframe.interval(shares, cluster="user", method="t", **options)
