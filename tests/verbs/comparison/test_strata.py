"""Differences that are pooled over strata of queries, and the test of interaction."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import prframe
from prframe import PrframeError
from prframe.stats import pool_differences
from prframe.stats.paired_values import equality_p_value


def values(seed: int = 1, sizes: tuple[int, ...] = (8, 12, 5), shift: float = 0.1) -> pl.DataFrame:
    """Values of two models; the difference grows from stratum to stratum."""
    rng = np.random.default_rng(seed)
    language = np.repeat(np.arange(len(sizes)), sizes)
    old = rng.uniform(0.2, 0.5, language.size)
    new = old + rng.normal(0.05 + shift * language, 0.05 * (1 + language))
    frame = pl.DataFrame({"language": language, "old": old, "new": new})
    return frame.with_row_index("query_id")


DATA = values()
MODELS = {"values": ["new", "old"]}


def by_stratum(data: pl.DataFrame) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Return means and standard errors of the differences, and the differences."""
    parts = data.partition_by("language", maintain_order=True)
    differences = [(part["new"] - part["old"]).to_numpy() for part in parts]
    means = np.array([part.mean() for part in differences])
    errors = np.array([part.std(ddof=1) / part.size**0.5 for part in differences])
    return means, errors, differences


@pytest.mark.parametrize("pooling", ["random", "fixed"])
def test_the_pooled_difference_is_that_of_the_strata(pooling: str) -> None:
    means, errors, differences = by_stratum(DATA)
    sizes = [part.size for part in differences]
    expected = pool_differences(means, errors, model=pooling, sizes=sizes)
    row = DATA.pr.compare(**MODELS, strata="language", pooling=pooling).row(0, named=True)
    for name, value in {
        "difference": expected.difference,
        "conf_low": expected.low,
        "conf_high": expected.high,
        "p_value": expected.p_value,
        "q": expected.q,
        "i_squared": expected.i_squared,
        "tau": expected.tau,
        "statistic": expected.difference / expected.std_error,
        "n_strata": 3,
        "n": 25,
    }.items():
        assert row[name] == pytest.approx(value, rel=1e-9), name
    assert row["mean_a"] - row["mean_b"] == pytest.approx(expected.difference)
    assert (row["method"], row["test"]) == (f"{pooling}-effects", "pooled")
    assert row["wins"] == sum((part > 0).sum() for part in differences)


def test_interaction_is_the_test_of_welch() -> None:
    meta = pytest.importorskip("statsmodels.stats.oneway")
    differences = by_stratum(DATA)[2]
    expected = meta.anova_oneway(differences, use_var="unequal", welch_correction=True)
    row = DATA.pr.compare(**MODELS, strata="language").row(0, named=True)
    assert row["p_interaction"] == pytest.approx(float(expected.pvalue), rel=1e-9)


def test_numbers_of_statsmodels() -> None:
    """Recorded from statsmodels 0.15: combine_effects, method_re="iterated", and anova_oneway."""
    effects, errors = [0.02, 0.05, 0.01, 0.06, -0.01], [0.01, 0.02, 0.01, 0.02, 0.03]
    pooled = pool_differences(effects, errors)
    assert pooled.difference == pytest.approx(RECORDED["mean_effect_re"], rel=1e-6)
    assert pooled.tau**2 == pytest.approx(RECORDED["tau2"], rel=1e-5)
    assert pooled.q == pytest.approx(RECORDED["q"], rel=1e-9)
    assert pooled.i_squared == pytest.approx(RECORDED["i2"], rel=1e-9)
    sizes = [10, 12, 9, 20, 15]
    p_value = equality_p_value(effects, errors, sizes)
    assert p_value == pytest.approx(RECORDED["welch"], rel=1e-9)


RECORDED = {
    "mean_effect_re": 0.025951755207266513,
    "tau2": 0.00034906751638750974,
    "q": 8.18351063829787,
    "i2": 0.5112122196945075,
    "welch": 0.13429392552222885,
}


def test_groups_metrics_and_order_of_rows() -> None:
    rng = np.random.default_rng(3)
    data = pl.concat(
        [values(seed).with_columns(market=pl.lit(name)) for seed, name in ((1, "a"), (2, "b"))]
    ).with_columns(pl.col("query_id") + 1000 * (pl.col("market") == "b"))
    found = data.pr.compare(**MODELS, by="market", strata="language")
    assert found["market"].to_list() == ["a", "b"]
    alone = data.filter(market="b").drop("market").pr.compare(**MODELS, strata="language")
    numbers = ["difference", "conf_low", "p_value", "p_interaction", "n_strata"]
    assert_frame_equal(found[1:].select(numbers), alone.select(numbers))
    shuffled = data[rng.permutation(data.height)].pr.compare(
        **MODELS, by="market", strata="language"
    )
    assert_frame_equal(shuffled.sort("market"), found)


@pytest.mark.filterwarnings("ignore::prframe.SkewedDifferencesWarning")
def test_metrics_of_rankings() -> None:
    digits = prframe.datasets.load_digits().with_columns(kind="n_relevant")
    two = digits.filter(pl.col("system").is_in(["pixels", "pca"]))
    options = {"model": "system", "n_pos": "n_relevant"}
    found = two.pr.compare(["AP", "P@10"], strata="kind", **options)
    table = two.pr.evaluate("AP", by=["system", "kind", "query_id"], n_pos="n_relevant")
    wide = table.pivot("system", index=["kind", "query_id"], values="AP")
    again = wide.pr.compare(values=["pca", "pixels"], strata="kind")
    for name in ("difference", "p_value", "p_interaction", "q"):
        assert found[name][0] == pytest.approx(again[name][0], rel=1e-9)


def test_clusters_are_the_units() -> None:
    tripled = pl.concat([DATA] * 3).with_columns(user="query_id").with_row_index("copy")
    tripled = tripled.with_columns(query_id=pl.col("copy")).drop("copy")
    found = tripled.pr.compare(**MODELS, strata="language", cluster="user")
    alone = DATA.pr.compare(**MODELS, strata="language")
    for name in ("difference", "conf_low", "p_value", "p_interaction"):
        assert found[name].item() == pytest.approx(alone[name].item(), rel=1e-9)


def test_strata_without_a_standard_error_are_left_out() -> None:
    single = pl.DataFrame({"query_id": [90], "language": [9], "old": [0.1], "new": [0.9]})
    data = pl.concat([DATA, single], how="vertical_relaxed")
    with pytest.warns(prframe.UndefinedMetricWarning) as caught:
        found = data.pr.compare(**MODELS, strata="language")
    assert [str(warning.message) for warning in caught] == [
        "`strata`: in 1 of 1 comparisons some strata are not pooled, and not counted in n, wins, "
        "ties and losses, because two models have fewer than two queries in common there, or "
        "differ by the same in all, or by next to the same beside other strata"
    ]
    assert found["n_strata"].item() == 3
    known = DATA.pr.compare(**MODELS, strata="language")
    counted = ["n", "wins", "ties", "losses"]
    assert found.select(counted).equals(known.select(counted))
    assert found["difference"].item() == known["difference"].item()
    with pytest.warns(prframe.UndefinedMetricWarning, match="fewer than two strata with a stand"):
        found = DATA.filter(language=0).pr.compare(**MODELS, strata="language")
    assert found.row(0, named=True)["p_value"] is None
    assert found.row(0, named=True)["p_interaction"] is None


def test_a_single_cluster_is_a_reason_to_leave_a_stratum_out() -> None:
    with pytest.warns(prframe.UndefinedMetricWarning) as caught:
        found = DATA.pr.compare(**MODELS, strata="language", cluster="language")
    assert [str(warning.message) for warning in caught] == [
        "difference, conf_low, conf_high, p_value, statistic, mean_a, mean_b, q, i_squared, tau, "
        "p_interaction: undefined, hence null, for 1 of 1 groups, in which two models have fewer "
        "than two strata with a standard error",
        "`strata`: in 1 of 1 comparisons some strata are not pooled, and not counted in n, wins, "
        "ties and losses, because two models have fewer than two queries in common there, or all "
        "in a single cluster, or differ by the same in all, or by next to the same beside other "
        "strata",
    ]
    assert found["n_strata"].item() == 0
    with pytest.warns(prframe.UndefinedMetricWarning) as caught:
        DATA.pr.compare(**MODELS, by="language", cluster="language")
    assert "too few values in common, or all in a single cluster, or differ by" in str(
        caught[0].message
    )


@pytest.mark.filterwarnings("ignore::prframe.EmptyFrameWarning")
def test_no_rows() -> None:
    assert DATA.clear().pr.compare(**MODELS, strata="language").height == 0


NOT_OF_THESE = (
    "`strata` pools the mean differences of the strata by their standard errors, and {} is not of "
    "these; leave it out, or compare by=."
)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"correction": "max-t", "within": "by"}, NOT_OF_THESE.format("correction='max-t'")),
        ({"rope": 0.1}, NOT_OF_THESE.format("`rope`")),
        ({"power": 0.8}, NOT_OF_THESE.format("`power`")),
        ({"effect_size": "cliff"}, NOT_OF_THESE.format("`effect_size`")),
        (
            {"strata": "query_id"},
            "`strata` and `over` both name 'query_id'; strata are groups of queries whose "
            "differences are pooled.",
        ),
    ],
)
def test_messages(options: dict[str, Any], message: str) -> None:
    with pytest.raises(PrframeError) as caught:
        DATA.pr.compare(**MODELS, **{"strata": "language"} | options)
    assert str(caught.value) == message


def test_labels_are_no_strata_but_values_have_none() -> None:
    items = DATA.with_columns(label=pl.col("query_id") % 2)
    with pytest.raises(PrframeError) as caught:
        items.pr.compare("AP", score=["new", "old"], strata="label")
    assert str(caught.value) == (
        "`strata` and `label` both name 'label'; strata are groups of queries whose differences "
        "are pooled."
    )
    named = DATA.rename({"language": "label"})
    assert named.pr.compare(**MODELS, strata="label").equals(
        DATA.pr.compare(**MODELS, strata="language")
    )


def test_pooling_on_the_same_items_is_refused_and_leads_to_standard_errors() -> None:
    items = DATA.with_columns(label=pl.col("query_id") % 2)
    with pytest.raises(PrframeError) as caught:
        items.pr.compare("AP", score=["new", "old"], over=None, strata="language")
    assert str(caught.value) == (
        "`strata` are groups of queries, which stand in `over`; on the same items compare by=, and "
        "pool the differences with prframe.stats.pool_differences. Their standard errors are "
        "(conf_high - conf_low) / 3.92 with interval='percentile'."
    )
    rng = np.random.default_rng(1)
    label = rng.random(1000) < 0.3
    rows = pl.DataFrame({"label": label, "part": np.arange(1000) % 2})
    rows = rows.with_columns(
        new=rng.normal(size=1000) + 1.2 * label, old=rng.normal(size=1000) + label
    )
    shared = {"score": ["new", "old"], "over": None, "by": "part"}
    by_test = rows.pr.compare("AUC", **shared, test="delong")
    by_draws = rows.pr.compare("AUC", **shared, interval="percentile", rng=1)
    errors = (by_test["difference"] / by_test["statistic"]).to_numpy()
    drawn = ((by_draws["conf_high"] - by_draws["conf_low"]) / 3.92).to_numpy()
    assert drawn == pytest.approx(errors, rel=0.06)


@pytest.mark.filterwarnings("ignore::prframe.SkewedDifferencesWarning")
@pytest.mark.parametrize("pooling", ["random", "fixed"])
def test_strata_of_few_queries_are_told(pooling: str) -> None:
    with pytest.warns(prframe.CoverageWarning) as warned:
        values(sizes=(5, 5, 5, 5)).pr.compare(**MODELS, strata="language", pooling=pooling)
    (told,) = (each for each in warned if each.category is prframe.CoverageWarning)
    assert str(told.message) == (
        "`strata`: in 1 of 1 comparisons the strata have so few queries that the standard errors "
        "by which they are weighed are far off: the pooled difference is found too often where "
        "there is none, and its interval misses it too often. Take fewer and larger strata, or "
        "compare without strata; where it does not matter, ignore CoverageWarning."
    )


@pytest.mark.filterwarnings("ignore::prframe.SkewedDifferencesWarning")
@pytest.mark.parametrize("seed", range(10))
def test_a_stratum_of_two_queries_that_differ_little_by_chance_is_told(seed: int) -> None:
    """It has nearly all of the weight then, and few errors of weights are left."""
    with pytest.warns(prframe.CoverageWarning):
        values(seed, sizes=(2, 2, 2, 2)).pr.compare(**MODELS, strata="language", pooling="fixed")


@pytest.mark.slow
def test_interaction_is_rarely_found_where_there_is_none() -> None:
    """Six strata of five queries: the chi-squared distribution of Q would reject 12 %."""
    rng, runs = np.random.default_rng(2), 2000
    rejected, by_q = 0, 0
    for _ in range(runs):
        table = rng.normal(size=(6, 5))
        means, errors = table.mean(axis=1), table.std(axis=1, ddof=1) / 5**0.5
        rejected += equality_p_value(means, errors, [5] * 6) <= 0.05
        by_q += pool_differences(means, errors, model="fixed").q_p_value <= 0.05
    assert 0.03 < rejected / runs < 0.09
    assert by_q / runs > 0.15


@pytest.mark.filterwarnings("ignore::prframe.CoverageWarning")
def test_the_order_of_rows_does_not_change_a_bit() -> None:
    data = values(sizes=(8, 12, 5, 7, 9))
    found = data.pr.compare(**MODELS, strata="language")
    for seed in range(8):
        order = np.random.default_rng(seed).permutation(data.height)
        assert data[order].pr.compare(**MODELS, strata="language").equals(found)


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_the_unit_of_the_values_does_not_matter() -> None:
    scaled = DATA.with_columns(pl.col("old", "new") * 2.0**-660)
    found, tiny = (data.pr.compare(**MODELS, strata="language") for data in (DATA, scaled))
    for name in ("difference", "mean_a", "mean_b"):
        assert tiny[name][0] * 2.0**660 == pytest.approx(found[name][0])
    assert tiny["p_value"][0] == pytest.approx(found["p_value"][0])


def test_pooling_asks_for_strata() -> None:
    with pytest.raises(prframe.PrframeError, match="`pooling` is for `strata`"):
        DATA.pr.compare(**MODELS, pooling="fixed")


def test_a_column_of_strata_that_is_not_there_is_called_by_its_argument() -> None:
    with pytest.raises(prframe.MissingColumnError) as caught:
        DATA.pr.compare(**MODELS, strata="langauge")
    assert str(caught.value) == (
        "`strata` names the column 'langauge', which the frame does not have; its columns are "
        "'query_id', 'language', 'old', 'new'. Did you mean 'language'?"
    )


def by_model(strata: list[str]) -> pl.DataFrame:
    """Values of two models, one row each, for the queries 1, 2, ... in turn."""
    half = len(strata) // 2
    return pl.DataFrame(
        {
            "query_id": [*range(half)] * 2,
            "model": ["a"] * half + ["b"] * half,
            "AP": np.random.default_rng(2).random(2 * half),
            "language": strata,
        }
    )


def test_strata_must_not_vary_within_a_query() -> None:
    frame = by_model([*"ddeeed", *"ddeeee"])
    with pytest.raises(PrframeError) as caught:
        frame.pr.compare(values="AP", strata="language")
    assert str(caught.value) == (
        "`strata` 'language' must be the same for all models of a query: 1 of 6 queries differ, "
        "in groups [5]; mend these rows."
    )


def test_queries_of_two_strata_may_have_one_name() -> None:
    frame = by_model([*"dddddd", *"dddddd"])
    twice = pl.concat([frame, by_model([*"eeeeee"] * 2).with_columns(AP=1 - pl.col("AP") ** 2)])
    with pytest.warns(prframe.CoverageWarning) as caught:
        assert twice.pr.compare(values="AP", strata="language")["n"].item() == 12
    assert str(caught[0].message) == (
        "`strata` 'language': 6 of 6 queries are in several strata, in groups [0, 1, 2, 3, 4] and "
        "1 more, and their differences there are taken as independent. If they are the same "
        "queries, the pooled difference is found too often where there is none, and its interval "
        "misses it too often: say over=['language', 'query_id'], cluster='query_id', without "
        "strata. If they have no more than their names in common, rename them, or ignore "
        "CoverageWarning."
    )
    options = {"over": ["language", "query_id"], "cluster": "query_id"}
    assert twice.pr.compare(values="AP", **options)["n"].item() == 12
    undefined = pl.when(pl.col("language") == "e").then(None).otherwise("AP").alias("AP")
    with pytest.warns(prframe.UndefinedMetricWarning):
        twice.with_columns(undefined).pr.compare(values="AP", strata="language")


def test_clusters_of_two_strata_are_told_of() -> None:
    one = by_model([*"dddddd"] * 2)
    other = by_model([*"eeeeee"] * 2).with_columns(
        pl.col("query_id") + 6, AP=1 - pl.col("AP") ** 2
    )
    rows = pl.concat([one, other]).with_columns(topic=pl.col("query_id") % 6)
    rows.pr.compare(values="AP", strata="language")
    with pytest.warns(prframe.CoverageWarning) as caught:
        rows.pr.compare(values="AP", strata="language", cluster="topic")
    said = str(caught[0].message)
    assert "6 of 6 clusters are in several strata, in groups [0, 1" in said
    assert "say over=['language', 'query_id'], cluster='topic', without strata" in said


def test_strata_of_other_units() -> None:
    apart = pl.when(pl.col("language") == 0).then(1e12).otherwise(0.0)
    with pytest.raises(PrframeError) as caught:
        DATA.with_columns(pl.col("new") + apart).pr.compare(**MODELS, strata="language")
    assert str(caught.value) == (
        "`strata`: the models differ in a stratum by more than 10^9 times every standard error, so "
        "that the differences cannot be pooled; see whether the values of all strata are of one "
        "unit, and rankings are matched by the right queries."
    )
