"""Tests of few items of a class, or few clusters, are warned of."""

import numpy as np
import polars as pl
import pytest

import prframe


def frame(n_pos: int, n_neg: int, clusters: int | None = None) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    label = np.arange(n_pos + n_neg) < n_pos
    scores = {name: rng.normal(size=label.size) + label for name in ("new", "old")}
    data = pl.DataFrame({"label": label, **scores})
    return (
        data if clusters is None else data.with_columns(cluster=pl.int_range(pl.len()) % clusters)
    )


SIZES = [(14, 30, None, True), (30, 14, None, True), (15, 15, None, False)]
SIZES += [(50, 50, 39, True), (50, 50, 40, False)]


@pytest.mark.parametrize(("n_pos", "n_neg", "clusters", "warned"), SIZES)
def test_few_are_warned_of(n_pos: int, n_neg: int, clusters: int | None, warned: bool) -> None:
    data = frame(n_pos, n_neg, clusters)
    options = {"over": None, "cluster": None if clusters is None else "cluster", "rng": 1}
    if not warned:
        prframe.compare(data, "AUC", ["new", "old"], test="delong", **options)
        return
    with pytest.warns(prframe.CoverageWarning) as caught:
        prframe.compare(data, "AUC", ["new", "old"], test="delong", **options)
    assert str(caught[0].message) == (
        "test='delong': with fewer than 15 positives, 15 negatives or 40 clusters with either it "
        "may reject too often; take test='randomization'; where it does not matter, ignore "
        "CoverageWarning."
    )
    if clusters is None:
        prframe.compare(data, "AUC", ["new", "old"], n_resamples=100, **options)


@pytest.mark.parametrize(
    ("clusters", "alternative", "said"),
    [
        (5, "two-sided", "with so few clusters no p-value is below 0.0625, so .05 is never"),
        (6, "two-sided", "it may reject too often"),
        (4, "greater", "with so few clusters no p-value is below 0.0625, so .05 is never"),
    ],
)
def test_too_few_clusters_to_reach_the_level(clusters: int, alternative: str, said: str) -> None:
    options = {"over": None, "cluster": "cluster", "alternative": alternative, "rng": 1}
    with pytest.warns(prframe.CoverageWarning, match=said):
        prframe.compare(frame(50, 50, clusters), "AP", ["new", "old"], **options)


def test_clusters_that_hold_positives_count() -> None:
    data = frame(30, 600).with_columns(
        cluster=pl.when(pl.col("label")).then(0).otherwise(pl.int_range(630) % 40)
    )
    data = data.with_columns(cluster=pl.when(pl.int_range(630) < 20).then(1).otherwise("cluster"))
    with pytest.warns(prframe.CoverageWarning, match="40 clusters with either it"):
        prframe.compare(data, "AUC", ["new", "old"], over=None, cluster="cluster", test="delong")


def test_groups_are_named() -> None:
    few, many = frame(10, 40).with_columns(by=pl.lit("few")), frame(20, 40)
    parts = pl.concat([few, many.with_columns(by=pl.lit("many"))])
    with pytest.warns(prframe.CoverageWarning, match=r"with either, in groups 'few' it may"):
        parts.pr.compare("AUC", ["new", "old"], by="by", over=None, test="delong")
