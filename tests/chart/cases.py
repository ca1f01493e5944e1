"""A chart of each kind."""

from collections.abc import Callable
from typing import Any

import polars as pl

from prframe import chart

CHARTS: dict[str, Callable[[dict[str, pl.DataFrame]], Any]] = {
    "curve": lambda d: chart.curve(d["curve"], iso_f=True),
    "curve with bands": lambda d: chart.curve(
        d["curve of two"], band=d["band of two"], chance={"pixels": 0.44, "ink": 0.05}
    ),
    "curve with chance": lambda d: chart.curve(d["curve"], chance=0.3),
    "curve in panels": lambda d: chart.curve(d["queries"], facet="query_id"),
    "curve over queries": lambda d: chart.curve(d["queries"], over="query_id", facet="system"),
    "bands in panels": lambda d: chart.curve(d["band"], facet="system"),
    "roc": lambda d: chart.roc(d["roc"]),
    "interval": lambda d: chart.interval(d["means"], letters=d["pairs"]),
    "differences": lambda d: chart.interval(d["pairs"]),
}
