"""What a type checker must conclude; it is checked, never run."""

from typing import assert_type

import pandas as pd
import polars as pl

import prframe


def kinds(pandas: pd.DataFrame, eager: pl.DataFrame, lazy: pl.LazyFrame) -> None:
    assert_type(prframe.evaluate(pandas, "AP", by="query"), pd.DataFrame)
    assert_type(prframe.evaluate(eager, [prframe.nDCG @ 10, "AP"]), pl.DataFrame)
    assert_type(prframe.curve(lazy, ties="order"), pl.LazyFrame)
    assert_type(prframe.roc(pandas, weight="weight"), pd.DataFrame)
    assert_type(prframe.check(eager, k=[5, 10]), pl.DataFrame)
    assert_type(prframe.ap_test(lazy, by="q", method="normal"), pl.LazyFrame)
    assert_type(prframe.rank_test(lazy, phi=["mww", abs], method="exact"), pl.LazyFrame)
    assert_type(prframe.compare(eager, ["AP", prframe.P @ 10], rope=0.01), pl.DataFrame)
    assert_type(prframe.compare(lazy, "AP", over=["q", "r"], baseline="x"), pl.LazyFrame)
    assert_type(prframe.band(pandas, by="q", kind="sup", rng=1), pd.DataFrame)
    assert_type(prframe.compare_curves(pandas, ["new", "old"], baseline="old"), pd.DataFrame)
    assert_type(prframe.interval(eager, ["AP", prframe.P @ 10], over="q"), pl.DataFrame)
    assert_type(prframe.interval(lazy, values="value", over="fold"), pl.LazyFrame)
    assert_type(prframe.compare(pandas, values=["new", "old"]), pd.DataFrame)
    assert_type(prframe.topk_test(lazy, k=[5, 10], method="jeffreys"), pl.LazyFrame)
    assert_type(prframe.expressions.ap(pl.col("score"), "label"), pl.Expr)
