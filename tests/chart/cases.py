"""A chart of each kind."""

from collections.abc import Callable
from typing import Any

import polars as pl

from prframe import chart
from tests.plot.cases import TOLD

CHARTS: dict[str, Callable[[dict[str, pl.DataFrame]], Any]] = {
    "curve": lambda d: chart.curve(d["curve"], iso_f=True),
    "curve with bands": lambda d: chart.curve(
        d["curve of two"], band=d["band of two"], chance={"pixels": 0.44, "ink": 0.05}
    ),
    "curve of logarithms": lambda d: chart.curve(d["curve"], x_log=True, chance=0.3),
    "curve in panels": lambda d: chart.curve(d["queries"], facet="query_id"),
    "curve over queries": lambda d: chart.curve(d["queries"], over="query_id", facet="system"),
    "bands in panels": lambda d: chart.curve(d["band"], facet="system"),
    "roc": lambda d: chart.roc(d["roc"]),
    "gain": lambda d: chart.gain(d["gains"]),
    "curve_difference": lambda d: chart.curve_difference(d["curves"], confidence_level=0.95),
    "one curve_difference": lambda d: chart.curve_difference(d["curves"], pair=("ink", "pixels")),
    "interval": lambda d: chart.interval(d["means"], letters=d["pairs"], **TOLD),
    "differences": lambda d: chart.interval(d["pairs"]),
    "queries": lambda d: chart.queries(d["values"], "pixels", "pca", metric="AP"),
    "matrix": lambda d: chart.matrix(d["pairs"], metric="AP", **TOLD),
    "groups": lambda d: chart.groups(d["pairs"], metric="P@10", intervals=d["means"], **TOLD),
    "ap_null": lambda d: chart.ap_null(d["one"].filter(system="ink")),
    "check": lambda d: chart.check(d["check"]),
    "scores": lambda d: chart.scores(d["one"].filter(system="pixels"), threshold=0.85),
    "scores in panels": lambda d: chart.scores(d["one"], by="system"),
}
