"""`compare` where data are awkward: names that clash, numbers at the edge, options that collide."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import prframe
from prframe.errors import PrframeError, UndefinedMetricWarning
from prframe.stats import cohen_dz, queries_needed
from prframe.stats.paired_values import QUERY_TESTS

# Small samples of metrics are skewed, which is of no concern to what is tested here.
pytestmark = pytest.mark.filterwarnings("ignore::prframe.SkewedDifferencesWarning")

INDEPENDENT = [name for name, test in QUERY_TESTS.items() if not test.clusters]


def frame(n_queries=12, n_models=3, n_items=8):
    """Return labelled scores, later models being better."""
    rng = np.random.default_rng(1)
    query = np.repeat(np.arange(n_queries), n_items)
    label = rng.random(query.size) < 0.4
    label[::n_items], label[1::n_items] = True, False
    parts = [
        pl.DataFrame(
            {
                "model": f"m{model}",
                "query_id": query,
                "item": np.arange(query.size),
                "label": label,
                "score": rng.normal(size=query.size) + label * (0.2 + 0.4 * model),
            }
        )
        for model in range(n_models)
    ]
    return pl.concat(parts)


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_queries_needed_know_the_alternative(alternative):
    found = prframe.compare(frame(), "AP", alternative=alternative, power=0.8)
    values = prframe.evaluate(frame(), "AP", by=["model", "query_id"])
    table = values.pivot("model", index="query_id", values="AP")
    rows = found.select("model_a", "model_b", "difference", "detectable_difference", "n_needed")
    for a, b, difference, detectable, needed in rows.rows():
        assert (detectable < 0) == (alternative == "less")
        if {"less": difference > 0, "greater": difference < 0}.get(alternative, False):
            assert needed is None
            continue
        effect = cohen_dz((table[a] - table[b]).to_numpy())
        assert needed == queries_needed(effect, 1.0, alternative=alternative)
    assert found["n_needed"].null_count() == {"less": 1, "greater": 2}.get(alternative, 0)


@pytest.mark.filterwarnings("ignore::prframe.UnlistedItemsWarning")
@pytest.mark.filterwarnings("ignore::prframe.NoNegativesWarning")
def test_without_a_spread_there_is_no_design():
    # Of the positives one of three is listed, or one of seven.
    rows = [("m0", query, query, -1.0) for query in range(3)]
    rows += [("m1", query, query, -1.0) for query in range(3)]
    tied = pl.DataFrame(rows, schema=["model", "query_id", "item", "score"], orient="row")
    tied = tied.with_columns(
        label=True, n_pos=pl.when(pl.col("model") == "m0").then(3).otherwise(7)
    )
    with pytest.warns(
        UndefinedMetricWarning, match="^conf_low, conf_high, effect_size: undefined"
    ):
        found = prframe.compare(tied, "AP", n_pos="n_pos", power=0.8)
    assert found["difference"].item() == pytest.approx(1 / 3 - 1 / 7)
    assert found["detectable_difference"].item() is None
    assert found["n_needed"].item() is None


@pytest.mark.parametrize(("power", "level"), [(0.03, 0.95), (0.8, 0.1), (0.8, 1 - 1e-9)])
def test_power_must_be_above_the_level(power, level):
    with pytest.raises(PrframeError, match="`power` must be above the level of the test"):
        prframe.compare(frame(), "AP", power=power, confidence_level=level)


@pytest.mark.parametrize("column", ["model", "cluster"])
def test_nothing_may_be_called_nan(column):
    third = pl.col("query_id") == 3
    named = frame().with_columns(
        cluster=pl.col("query_id") // 3, model=pl.col("model").str.tail(1)
    )
    named = named.with_columns(pl.col("model", "cluster").cast(pl.Float64))
    named = named.with_columns(pl.when(~third).then(column).otherwise(np.nan).alias(column))
    with pytest.raises(PrframeError, match=f"`{column}` '{column}' must"):
        prframe.compare(named, "AP", cluster="cluster")


@pytest.mark.parametrize("kind", [np.array, pl.Series, tuple])
def test_baselines_may_be_an_array(kind):
    names = ["m0", "m2"]
    found = prframe.compare(frame(), "AP", baseline=kind(names))
    assert_frame_equal(found, prframe.compare(frame(), "AP", baseline=names))


def test_models_without_items_in_common_are_refused():
    first = pl.col("query_id") % 3 == 0
    lacking = frame().filter(~(first & (pl.col("model") == "m0")))
    lacking = lacking.with_columns(third=pl.col("query_id") % 3).drop("query_id")
    options = {"over": None, "item": "item", "incomplete": "common", "n_resamples": 100}
    with pytest.raises(PrframeError, match=r"items in common, in groups \[0\]"):
        prframe.compare(lacking, "AP", by="third", **options)
    assert prframe.compare(lacking, "AP", **options)["n"].to_list() == [64] * 3


@pytest.mark.parametrize(
    "option", [*({"test": test} for test in INDEPENDENT), {"rope": 0.1}, {"power": 0.8}]
)
def test_what_knows_no_clusters_is_refused(option):
    thirds = frame().with_columns(third=pl.col("query_id") // 4)
    assert prframe.compare(thirds, "AP", **option).height == 3
    with pytest.raises(PrframeError, match="knows no clusters"):
        prframe.compare(thirds, "AP", cluster="third", **option)


@pytest.mark.parametrize("interval", ["percentile", "bca"])
def test_one_cluster_of_items_tells_nothing(interval):
    one = frame().with_columns(cluster=pl.lit(1)).drop("query_id")
    options = {"over": None, "item": "item", "cluster": "cluster", "interval": interval}
    with pytest.warns(UndefinedMetricWarning, match="too few items or clusters of a class"):
        found = prframe.compare(one, "AP", **options)
    assert found["p_value"].to_list() == [1.0] * 3
    assert found.select("conf_low", "conf_high").null_count().row(0) == (3, 3)
    with pytest.warns(UndefinedMetricWarning, match="without variance"):
        found = prframe.compare(one, "AP", test="bootstrap", **options)
    assert found["p_value"].null_count() == 3


@pytest.mark.parametrize("option", [{"interval": "bca"}, {"power": 0.8}, {"interval": "hall"}])
@pytest.mark.parametrize("exponent", [-330, -660, -1000])
def test_the_unit_of_values_does_not_matter(option, exponent):
    """Powers of small differences would underflow."""
    values = np.random.default_rng(2).exponential(size=12)
    large, small = (
        prframe.compare(
            {"query_id": [*range(12)], "a": values * unit, "b": np.zeros(12)},
            values=["a", "b"],
            rng=1,
            n_resamples=200,
            **option,
        )
        for unit in (1.0, 2.0**exponent)
    )
    in_units, without = ["difference", "conf_low", "conf_high"], ["p_value", "effect_size"]
    if "power" in option:
        in_units, without = [*in_units, "detectable_difference"], [*without, "n_needed"]
    assert_frame_equal(large.select(in_units), small.select(pl.col(in_units) * 2.0**-exponent))
    assert_frame_equal(large.select(without), small.select(without))
