"""Differences that are pooled over strata of queries, and the test of interaction."""

from typing import Any

import numpy as np
import polars as pl
import pytest

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


@pytest.mark.filterwarnings("ignore::prframe.CoverageWarning")
def test_the_order_of_rows_does_not_change_a_bit() -> None:
    data = values(sizes=(8, 12, 5, 7, 9))
    found = data.pr.compare(**MODELS, strata="language")
    for seed in range(8):
        order = np.random.default_rng(seed).permutation(data.height)
        assert data[order].pr.compare(**MODELS, strata="language").equals(found)


def test_pooling_asks_for_strata() -> None:
    with pytest.raises(prframe.PrframeError, match="`pooling` is for `strata`"):
        DATA.pr.compare(**MODELS, pooling="fixed")


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


def test_strata_of_other_units() -> None:
    apart = pl.when(pl.col("language") == 0).then(1e12).otherwise(0.0)
    with pytest.raises(PrframeError) as caught:
        DATA.with_columns(pl.col("new") + apart).pr.compare(**MODELS, strata="language")
    assert str(caught.value) == (
        "`strata`: the models differ in a stratum by more than 10^9 times every standard error, so "
        "that the differences cannot be pooled; see whether the values of all strata are of one "
        "unit, and rankings are matched by the right queries."
    )
