"""Mean curves over queries that come in clusters, such as the queries of users."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.typing import NDArray
from polars.testing import assert_frame_equal
from scipy.stats import t as student

import prframe
from benchmarks import verb_coverage
from prframe import PrframeError
from prframe.stats import mean_interval
from prframe.stats.intervals import Confidence, mean_band

Floats = NDArray[np.float64]
LEVELS = [0.0, 0.1, 0.3, 0.5, 0.7, 1.0]
SIZES = [1, 5, 2, 4, 1, 3, 4]
USERS = np.repeat(list("kbfadce"), SIZES)
QUERIES, ITEMS = len(USERS), 25
UNIT = Confidence(limits=(0, 1))
OPTIONS: dict[str, Any] = {
    "over": "query",
    "cluster": "user",
    "recall": LEVELS,
    "n_resamples": 199,
    "rng": 3,
}
SEED = int(np.random.default_rng(3).integers(1 << 62))


def runs() -> pl.DataFrame:
    """Two models that serve some users better than others."""
    rng = np.random.default_rng(2)
    query = np.repeat(np.arange(QUERIES), ITEMS)
    label = np.tile(np.arange(ITEMS) < 5, QUERIES)
    parts = []
    for model, skill in (("a", 1.0), ("b", 0.6)):
        served = skill + 0.7 * rng.normal(size=len(SIZES))
        apart = served[np.unique(USERS, return_inverse=True)[1][query]]
        score = rng.normal(size=query.size) + apart * label
        rows = {"query": query, "user": USERS[query], "item": np.tile(np.arange(ITEMS), QUERIES)}
        parts.append(pl.DataFrame(rows | {"score": score, "label": label, "model": model}))
    return pl.concat(f.with_columns(pl.col("model").cast(pl.String)) for f in parts)


RUNS = runs()
ALONE = RUNS.filter(model="a").drop("model")
CALLS: dict[str, Callable[..., Any]] = {
    "band": lambda rows, **options: prframe.band(rows, **{"by": "model"} | OPTIONS | options),
    "compare_curves": lambda rows, **options: prframe.compare_curves(rows, **OPTIONS | options),
}
every = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
both = pytest.mark.parametrize("simultaneous", [True, False])
skewed = pytest.mark.filterwarnings(
    "ignore::prframe.CoverageWarning", "ignore::prframe.SkewedDifferencesWarning"
)


def table(rows: pl.DataFrame) -> Floats:
    """The curve of each query, a row each."""
    drawn = prframe.curve(rows, by="query", recall=LEVELS)
    return drawn["precision"].to_numpy().reshape(-1, len(LEVELS))


def in_order(curves: Floats) -> tuple[Floats, list[int]]:
    """Curves in order, and their clusters in the order of their first ones."""
    order = np.lexsort(curves.T[::-1])
    names = USERS[order].tolist()
    return curves[order], [names.index(name) for name in names]


@pytest.mark.parametrize("model", ["a", "b"])
def test_whole_clusters_are_drawn(model: str) -> None:
    found = CALLS["band"](RUNS, anchor=True).filter(model=model)
    curves, cluster = in_order(table(RUNS.filter(model=model)))
    band = mean_band(curves, UNIT, 199, np.random.default_rng(SEED), cluster)
    single = [mean_interval(values, "logit", UNIT, cluster=cluster) for values in curves.T]
    low = np.fmin(band.low, [each.low for each in single])
    high = np.fmax(band.high, [each.high for each in single])
    low[0] = high[0] = 1  # The anchor.
    assert found["precision"].to_list() == pytest.approx(curves.mean(axis=0).tolist())
    np.testing.assert_allclose(found["conf_low"], low, rtol=1e-12)
    np.testing.assert_allclose(found["conf_high"], high, rtol=1e-12)
    assert found["n"].unique().to_list() == [QUERIES]


@skewed
@pytest.mark.parametrize("method", ["auto", "t", "logit", "hall", "percentile", "bca"])
def test_single_levels_are_intervals_of_clusters(method: str) -> None:
    levels = [0.1, 0.3, 0.5]
    options = OPTIONS | {"by": "model"}
    band = prframe.band(RUNS, simultaneous=False, method=method, **options | {"recall": levels})
    names = [f"Prec@{level}" for level in levels]
    options.pop("recall")
    intervals = prframe.interval(RUNS, names, method=method, **options)
    for ours, theirs in (
        ("precision", "estimate"),
        ("conf_low", "conf_low"),
        ("conf_high", "conf_high"),
    ):
        assert band[ours].to_list() == pytest.approx(intervals[theirs].to_list(), rel=1e-12)


def test_the_standard_error_of_a_level_is_that_of_a_ratio() -> None:
    """Student's interval at each level, written out."""
    found = prframe.band(ALONE, simultaneous=False, method="t", anchor=False, **OPTIONS)
    curves, c = table(ALONE), len(SIZES)
    for level, low, high in found.select("recall", "conf_low", "conf_high").rows():
        values = curves[:, LEVELS.index(level)]
        squares = 0.0
        for user in set(USERS):
            own = values[user == USERS]
            squares += (own.sum() - len(own) * values.mean()) ** 2
        reach = student.ppf(0.975, c - 1) * (c / (c - 1) * squares) ** 0.5 / len(values)
        if level:
            ends = values.mean() - reach, values.mean() + reach
            assert (low, high) == pytest.approx(np.clip(ends, 0, 1), rel=1e-12)


@skewed
@every
@both
def test_clusters_of_one_query_are_none(call: Callable[..., Any], simultaneous: bool) -> None:
    options = {"simultaneous": simultaneous}
    expected = call(RUNS, cluster=None, **options)
    assert_frame_equal(call(RUNS, cluster="query", **options), expected, check_exact=True)
    renamed = RUNS.with_columns(user=-pl.col("query"))
    assert_frame_equal(call(renamed, **options), expected, check_exact=True)


@pytest.mark.parametrize("test", ["randomization", "bootstrap"])
def test_clusters_of_one_query_are_none_in_compare(test: Any) -> None:
    renamed = RUNS.with_columns(user=-pl.col("query"))
    options: dict[str, Any] = {"over": "query", "test": test, "interval": "bca", "rng": 1}
    found = prframe.compare(renamed, "AP", cluster="user", **options)
    assert_frame_equal(found, prframe.compare(RUNS, "AP", **options), check_exact=True)


@skewed
@both
def test_clusters_of_one_size_are_their_mean_curves(simultaneous: bool) -> None:
    rows = ALONE.with_columns(user=pl.col("query") // 4)
    options = OPTIONS | {"simultaneous": simultaneous, "anchor": False}
    found = prframe.band(rows, method="auto" if simultaneous else "t", **options)
    curves = prframe.curve(rows, by="query", recall=LEVELS, anchor=False)["precision"].to_numpy()
    curves = curves.reshape(5, 4, len(LEVELS))
    # Clusters are in order of their first curves.
    first = [min(of_user.tolist()) for of_user in curves]
    means = curves.mean(axis=1)[sorted(range(5), key=first.__getitem__)]
    ends = [mean_interval(v, "logit" if simultaneous else "t", UNIT) for v in means.T]
    low, high = (np.array([getattr(end, side) for end in ends]) for side in ("low", "high"))
    if simultaneous:
        band = mean_band(means, UNIT, 199, np.random.default_rng(SEED))
        low, high = np.fmin(low, band.low), np.fmax(high, band.high)
    np.testing.assert_allclose(found["conf_low"], low, rtol=1e-10)
    np.testing.assert_allclose(found["conf_high"], high, rtol=1e-10)


def of_users(differences: Floats) -> Floats:
    """Sums over the queries of each user."""
    return np.array([differences[user == USERS].sum(axis=0) for user in sorted(set(USERS))])


def test_the_p_value_counts_all_signs_of_clusters() -> None:
    found = CALLS["compare_curves"](RUNS, anchor=True)
    assert found["method"].unique().to_list() == ["max-t-exact"]
    differences = table(RUNS.filter(model="a")) - table(RUNS.filter(model="b"))
    sums = of_users(differences)[:, 1:]
    norms = np.sqrt((sums**2).sum(axis=0))
    drawn = [
        np.abs(np.array(signs) @ sums / norms).max()
        for signs in product([1, -1], repeat=len(sums))
    ]
    p_value = np.mean(np.array(drawn) >= np.abs(sums.sum(axis=0) / norms).max() - 1e-9)
    assert found["p_value"].to_list() == pytest.approx([p_value] * len(LEVELS))
    assert found["difference"].to_list() == pytest.approx(differences.mean(axis=0).tolist())
    band = mean_band(
        differences, Confidence(limits=(-1, 1)), 199, np.random.default_rng(SEED), USERS
    )
    single = CALLS["compare_curves"](RUNS, simultaneous=False, anchor=True)
    low = np.fmin(band.low, single["conf_low"])
    np.testing.assert_allclose(found["conf_low"], low, rtol=1e-12)
    np.testing.assert_allclose(found["conf_high"], np.fmax(band.high, single["conf_high"]))


def test_single_levels_are_compared_as_metrics() -> None:
    levels = [0.1, 0.3, 0.5]
    options = dict(OPTIONS)
    found = prframe.compare_curves(RUNS, simultaneous=False, **options | {"recall": levels})
    options.pop("recall")
    metrics = prframe.compare(RUNS, [f"Prec@{level}" for level in levels], **options)
    for name in ("difference", "conf_low", "conf_high", "p_value"):
        assert found[name].to_list() == pytest.approx(metrics[name].to_list(), rel=1e-12)
    assert found["method"].to_list() == metrics["method"].to_list()


@skewed
@every
@both
@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Enum(sorted(set(USERS)))])
def test_the_order_of_rows_changes_nothing(
    call: Callable[..., Any], dtype: Any, simultaneous: bool
) -> None:
    options = {"simultaneous": simultaneous}
    if call is CALLS["compare_curves"]:
        options["baseline"] = "b"
    expected = call(RUNS, **options)
    shuffled = RUNS.cast({"user": dtype}).sample(fraction=1, shuffle=True, seed=4)
    found = call(shuffled, **options)
    assert_frame_equal(found, expected, check_row_order=False, rel_tol=1e-12)


@every
def test_every_kind_of_frame(call: Callable[..., Any]) -> None:
    expected = call(RUNS)
    assert_frame_equal(call(RUNS.lazy()).collect(), expected, rel_tol=1e-12)
    of_pandas = call(RUNS.to_pandas())
    assert isinstance(of_pandas, pd.DataFrame)
    found = pl.from_pandas(of_pandas)
    assert_frame_equal(found, expected, check_dtypes=False, rel_tol=1e-12)
    of_arrow: Any = pl.from_arrow(call(RUNS.to_arrow()))
    assert_frame_equal(of_arrow, expected, rel_tol=1e-12)


@skewed
@every
@both
def test_a_group_is_itself_alone(call: Callable[..., Any], simultaneous: bool) -> None:
    """A query may be of another user in another group."""
    moved = RUNS.with_columns(pl.col("user").replace("k", "b"))
    rows = pl.concat([RUNS.with_columns(part=1), moved.with_columns(part=2)])
    options: dict[str, Any] = {"simultaneous": simultaneous}
    by = "part" if call is CALLS["compare_curves"] else ["part", "model"]
    drawn = call(rows, by=by, **options)
    for part, own in ((1, RUNS), (2, moved)):
        found = drawn.filter(part=part).drop("part")
        assert_frame_equal(found, call(own, **options), check_exact=True)


def test_models_in_columns() -> None:
    wide = RUNS.pivot("model", index=["query", "user", "item", "label"], values="score")
    found = prframe.compare_curves(wide, ["a", "b"], **OPTIONS)
    assert_frame_equal(found, CALLS["compare_curves"](RUNS))


@every
def test_seeds_of_a_query_are_a_cluster(call: Callable[..., Any]) -> None:
    rows = RUNS.with_columns(seed=pl.col("query") % 4, query=pl.col("query") // 4)
    found = call(rows, over=["query", "seed"], cluster="query")
    expected = call(RUNS.with_columns(user=pl.col("query") // 4))
    assert_frame_equal(found, expected, rel_tol=1e-12)


@every
@pytest.mark.parametrize("name", ["by0", "by1", "by2", "cluster", "0", "unit", "precision", "n"])
def test_clusters_may_have_the_names_of_working_columns(
    call: Callable[..., Any], name: str
) -> None:
    found = call(RUNS.rename({"user": name}), cluster=name)
    assert_frame_equal(found, call(RUNS))


def test_the_cluster_of_queries_that_do_not_enter() -> None:
    """Neither queries without positives nor those that one model lacks count as clusters."""
    without = ALONE.with_columns(label=pl.col("label") & (pl.col("user") != "b"))
    with pytest.warns(prframe.UndefinedMetricWarning, match="for 5 of 20 groups"):
        found = prframe.band(without, **OPTIONS)
    assert_frame_equal(found, prframe.band(ALONE.filter(pl.col("user") != "b"), **OPTIONS))
    lacking = RUNS.filter((pl.col("model") == "a") | (pl.col("user") != "b"))
    found = CALLS["compare_curves"](lacking, incomplete="pairwise")
    assert_frame_equal(found, CALLS["compare_curves"](RUNS.filter(pl.col("user") != "b")))


@every
def test_rows_that_are_ignored_may_be_of_any_cluster(call: Callable[..., Any]) -> None:
    rows = RUNS.with_columns(pl.col("label").cast(pl.Int8))
    ignored = rows.with_columns(label=pl.lit(-1, pl.Int8), user=pl.lit("z"))
    assert_frame_equal(call(pl.concat([rows, ignored]), ignore=-1), call(RUNS))


@both
def test_a_single_cluster_has_no_band(simultaneous: bool) -> None:
    rows = RUNS.with_columns(user=pl.lit("a"))
    options = {"simultaneous": simultaneous}
    with pytest.warns(prframe.UndefinedMetricWarning) as caught:
        band = CALLS["band"](rows, **options)
    with pytest.warns(prframe.UndefinedMetricWarning) as caught_too:
        compared = CALLS["compare_curves"](rows, **options)
    assert [str(warning.message) for warning in [*caught, *caught_too]] == [
        "conf_low, conf_high: undefined, hence null, for 2 of 2 groups, which have fewer than two "
        "clusters, or clusters that all agree, in groups ['a', 'b']",
        "conf_low, conf_high: undefined, hence null, for 1 of 1 groups, in which two models have "
        "too few curves in common, or all in a single cluster, or differ by the same in all",
    ]
    for found, whole in ((band, "precision"), (compared, "difference")):
        assert found.select("conf_low", "conf_high").null_count().row(0) == (found.height,) * 2
        assert found[whole].null_count() == 0


@every
@pytest.mark.parametrize("missing", [None, float("nan")])
@pytest.mark.parametrize("kind", [pl.DataFrame, pl.LazyFrame])
def test_queries_of_no_cluster_are_refused(
    call: Callable[..., Any], missing: float | None, kind: Any
) -> None:
    number = pl.col("query").cast(pl.Float64)
    frame = kind(
        RUNS.with_columns(user=pl.when(pl.col("query") == 3).then(missing).otherwise(number))
    )
    with pytest.raises(PrframeError) as caught:
        call(frame).lazy().collect()
    assert str(caught.value) == (
        "`cluster` 'user' must be one value, and no null, for each group of `over`, in groups "
        "[3]; mend these rows, "
        "or, if numbers begin anew in each 'user', name it in `over` too."
    )


def test_few_clusters_are_warned_of_where_their_sums_are_skewed() -> None:
    """Three of twenty users carry the mean of many queries at single levels."""
    user = np.repeat(np.arange(20), 10)
    # The positive comes first, or last of forty.
    place = np.where(user[:, None] < 17, 39, np.arange(1, 11) % 3)
    place = place[np.arange(200), np.arange(200) % 10]
    label = np.arange(40) == place[:, None]
    rows = pl.DataFrame(
        {
            "query": np.repeat(np.arange(200), 40),
            "user": np.repeat(user, 40),
            "score": np.tile(-np.arange(40.0), 200),
            "label": label.ravel(),
        }
    )
    options = OPTIONS | {"recall": [0.5], "simultaneous": False}
    prframe.band(rows, **options | {"cluster": None})
    with pytest.warns(prframe.CoverageWarning, match="few of the values carry 1 of 1 levels"):
        prframe.band(rows, **options)
    prframe.band(rows, method="hall", **options)


@pytest.mark.slow
@pytest.mark.parametrize("n_clusters", [15, 30])
def test_coverage_with_common_noise_in_clusters(n_clusters: int) -> None:
    samples, rng = 600, np.random.default_rng(n_clusters)
    true = verb_coverage.mean_curve(rng)
    rows = verb_coverage.drawn_queries(rng, samples, n_clusters, (4, 4))
    found = verb_coverage.curve_shares(rows, true, "user")
    # Nominal 95 %; a band may err by .02, that of a difference be too wide besides.
    assert found.curve.coverage == pytest.approx(0.95, abs=0.02 + 3 * np.sqrt(0.05 / samples))
    assert found.difference.coverage > 0.93 - 3 * np.sqrt(0.05 / samples)
    assert found.rejected == pytest.approx(0.05, abs=3 * np.sqrt(0.05 / samples))
    # Taken as independent, queries tell too much.
    wrong = verb_coverage.curve_shares(rows, true, None)
    assert wrong.curve.coverage < 0.88
    assert wrong.rejected > 0.1
