"""A picture of each kind."""

from collections.abc import Callable
from functools import cache
from typing import Any

import polars as pl

import prframe
from prframe import plot

LEVELS = [level / 20 for level in range(1, 20)]
LONG = {
    "pixels": "mxbai-embed-large-v1 + bm25(k1=0.9, b=0.4)",
    "pca": "colbert_v2_msmarco_passage_reranked_top1000",
    "ink": "a very long name of a system with many words in it",
}


def long(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame whose systems have long names."""
    columns = [name for name in ("system", "model_a", "model_b") if name in frame.columns]
    return frame.with_columns(pl.col(columns).replace(LONG))


@cache
def data() -> dict[str, pl.DataFrame]:
    """Return results of verbs on a part of the digits."""
    runs = prframe.datasets.load_digits()
    one = runs.filter(query_id="q0038")
    two = one.filter(pl.col("system").is_in(["pixels", "ink"]))
    of_query: Any = {"n_pos": "n_relevant", "by": ["system", "query_id"]}
    metrics = ["AP", "P@10"]
    few = runs["query_id"].unique(maintain_order=True)[:12].to_list()
    paired: Any = {"model": "system", "item": "item_id", "incomplete": "last", "rng": 1}
    return {
        "one": one,
        "curve": prframe.curve(one, by="system"),
        "curve of two": prframe.curve(two, by="system"),
        "roc": prframe.roc(one, by="system"),
        "gains": prframe.curve(one, by="system", gain=True),
        "band": prframe.band(one, by="system", recall=LEVELS, n_resamples=50, rng=1),
        "band of two": prframe.band(two, by="system", recall=LEVELS, n_resamples=50, rng=1),
        "queries": prframe.curve(runs.filter(pl.col("query_id").is_in(few)), **of_query),
        "values": prframe.evaluate(runs, "AP", **of_query),
        "means": prframe.interval(runs, metrics, by="system", over="query_id", n_pos="n_relevant"),
        "pairs": prframe.compare(runs, metrics, model="system", n_pos="n_relevant", rng=1),
        "curves": prframe.compare_curves(
            one.filter(pl.col("system").is_in(["pixels", "ink", "pca"])),
            recall=LEVELS,
            n_resamples=50,
            **paired,
        ),
    }


PICTURES: dict[str, Callable[[dict[str, pl.DataFrame]], Any]] = {
    "curve": lambda d: plot.curve(d["curve"], iso_f=True),
    "curve with bands": lambda d: plot.curve(
        d["curve of two"], band=d["band of two"], chance={"pixels": 0.44, "ink": 0.05}
    ),
    "curve with chance": lambda d: plot.curve(d["curve"], chance=0.3),
    "curve in panels": lambda d: plot.curve(d["queries"], facet="query_id"),
    "curve over queries": lambda d: plot.curve(d["queries"], over="query_id", facet="system"),
    "bands in panels": lambda d: plot.curve(d["band"], facet="system"),
    "bands of two in panels": lambda d: plot.curve(
        pl.concat(
            d["band of two"].select(pl.lit(query).alias("query"), pl.all()) for query in "ab"
        ),
        facet="query",
    ),
    "roc": lambda d: plot.roc(d["roc"]),
    "gain": lambda d: plot.gain(d["gains"]),
    "curve_difference": lambda d: plot.curve_difference(d["curves"], confidence_level=0.95),
    "one curve_difference": lambda d: plot.curve_difference(d["curves"], pair=("ink", "pixels")),
    "interval": lambda d: plot.interval(d["means"], letters=d["pairs"]),
    "differences": lambda d: plot.interval(d["pairs"]),
    "one interval": lambda d: plot.interval(d["means"].filter(metric="AP")),
    "queries": lambda d: plot.queries(d["values"], "pixels", "pca", metric="AP"),
    "matrix": lambda d: plot.matrix(d["pairs"], metric="AP"),
    "groups": lambda d: plot.groups(d["pairs"], metric="P@10", intervals=d["means"]),
    "ap_null": lambda d: plot.ap_null(d["one"].filter(system="ink")),
    "scores": lambda d: plot.scores(d["one"].filter(system="pixels"), threshold=0.85),
    "scores in panels": lambda d: plot.scores(d["one"], by="system"),
    "long names in panels": lambda d: plot.curve(long(d["curve"]), facet="system"),
    "long names of pairs in panels": lambda d: plot.curve_difference(long(d["curves"])),
    "long names of a pair": lambda d: plot.curve_difference(
        long(d["curves"]), pair=(LONG["pca"], LONG["pixels"])
    ),
    "long names at a scale": lambda d: plot.queries(
        long(d["values"]), LONG["pixels"], LONG["pca"], metric="AP"
    ),
    "long names of rows": lambda d: plot.interval(
        long(d["means"].filter(metric="AP")), letters=long(d["pairs"])
    ),
    "long names of differences": lambda d: plot.interval(long(d["pairs"].filter(metric="AP"))),
    "long names beside sets": lambda d: plot.groups(long(d["pairs"]), metric="P@10"),
}
