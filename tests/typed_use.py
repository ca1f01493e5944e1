"""What a type checker must conclude; it is checked, never run."""

from typing import assert_type

import pandas as pd
import polars as pl

import prframe
from prframe import trec


def kinds(pandas: pd.DataFrame, eager: pl.DataFrame, lazy: pl.LazyFrame) -> None:
    assert_type(prframe.evaluate(pandas, "AP", by="query"), pd.DataFrame)
    assert_type(prframe.evaluate(eager, [prframe.nDCG @ 10, "AP"]), pl.DataFrame)
    assert_type(prframe.curve(lazy, ties="order"), pl.LazyFrame)
    assert_type(prframe.roc(pandas, weight="weight"), pd.DataFrame)
    assert_type(prframe.check(eager, k=[5, 10]), pl.DataFrame)
    assert_type(prframe.ap_test(lazy, by="q", method="normal"), pl.LazyFrame)
    assert_type(prframe.rank_test(lazy, phi=["mww", abs], method="exact"), pl.LazyFrame)
    assert_type(prframe.compare(eager, ["AP", prframe.P @ 10], equivalence=0.01), pl.DataFrame)
    assert_type(prframe.compare(lazy, "AP", over=["q", "r"], baseline="x"), pl.LazyFrame)
    assert_type(prframe.band(pandas, by="q", method="smoothed-bootstrap", rng=1), pd.DataFrame)
    assert_type(prframe.band(pandas, over="q", method="t", simultaneous=False), pd.DataFrame)
    assert_type(prframe.compare_curves(lazy, over="q", incomplete="zero"), pl.LazyFrame)
    assert_type(prframe.curve(lazy, over=["q"], recall=11), pl.LazyFrame)
    assert_type(prframe.compare_curves(pandas, ["new", "old"], baseline="old"), pd.DataFrame)
    assert_type(prframe.interval(eager, ["AP", prframe.P @ 10], over="q"), pl.DataFrame)
    assert_type(prframe.interval(lazy, values="value", over="fold"), pl.LazyFrame)
    assert_type(prframe.compare(pandas, values=["new", "old"]), pd.DataFrame)
    assert_type(
        prframe.topk_test(lazy, k=[5, 10], method="jeffreys", correction="bh"), pl.LazyFrame
    )
    assert_type(prframe.tables.letters(pandas, "AP"), pd.DataFrame)
    assert_type(prframe.tables.results(pandas, lazy).to_latex(), str)
    assert_type(prframe.expressions.ap(pl.col("score"), "label"), pl.Expr)


def trec_files(pandas: pd.DataFrame, lazy: pl.LazyFrame) -> None:
    qrels = {"q": {"d": 1}}
    assert_type(trec.join(pandas, "judged.qrels"), pd.DataFrame)
    assert_type(trec.join("runs/*.run", qrels), pl.DataFrame)
    assert_type(trec.join({"bm25": "bm25.run", "dense": lazy}, lazy), pl.DataFrame)
    assert_type(trec.evaluate(lazy, qrels, by_query=True), pl.LazyFrame)
    assert_type(trec.evaluate(["a.run", pandas], qrels, ["map", prframe.P @ 5]), pl.DataFrame)
    assert_type(trec.evaluate({"q": {"d": 0.5}}, qrels, version=10), pl.DataFrame)
    assert_type(trec.read_results(["a.txt", "b.txt"]), pl.DataFrame)
