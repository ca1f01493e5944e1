"""Spark's own evaluators on the same data: equal where definitions agree, and how else they differ."""

import numpy as np
import polars as pl
import pytest

import prframe
from tests.spark.conftest import MODE
from tests.spark.test_verbs import pytestmark as quiet

pytestmark = [
    quiet,
    pytest.mark.slow,
    pytest.mark.skipif(MODE == "connect", reason="pyspark.ml is compared on a classic session"),
]

RNG = np.random.default_rng(1)
N = 400
DATA = pl.DataFrame(
    {
        "query": RNG.integers(0, 12, N),
        "score": RNG.permutation(N).astype(np.float64),
        "label": (RNG.random(N) < 0.3).astype(np.int64),
    }
).with_columns(label=pl.when(pl.col("query") > 0).then("label").otherwise(0))
SAME = {
    "meanAveragePrecision": "AP",
    "precisionAtK": "P@10",
    "ndcgAtK": "nDCG@10",
    "recallAtK": "R@10",
}


def of_ranking_evaluator(session, name: str) -> float:
    """Return what pyspark.ml makes of arrays of items in order of rank."""
    from pyspark.ml.evaluation import RankingEvaluator

    ranked = DATA.sort("query", "score", descending=[False, True])
    items = ranked.with_columns(item=pl.int_range(pl.len()).over("query").cast(pl.Float64))
    relevant = pl.col("item").filter(pl.col("label") > 0)
    arrays = items.group_by("query").agg(prediction="item", label=relevant)
    frame = session.createDataFrame(arrays.select("prediction", "label").to_arrow())
    return RankingEvaluator(metricName=name, k=10).evaluate(frame)


def of_binary_evaluator(session, name: str, data: pl.DataFrame, bins: int) -> float:
    """Return what pyspark.ml makes of all rows as one ranking, with scores in bins."""
    from pyspark.ml.evaluation import BinaryClassificationEvaluator

    frame = session.createDataFrame(data.cast({"label": pl.Float64}).to_arrow())
    evaluator = BinaryClassificationEvaluator(
        rawPredictionCol="score", metricName=name, numBins=bins
    )
    return evaluator.evaluate(frame)


@pytest.mark.parametrize("name", SAME)
def test_means_agree_with_undefined_as_0(session, name) -> None:
    values = prframe.evaluate(DATA, SAME[name], by="query", undefined=0)
    assert of_ranking_evaluator(session, name) == pytest.approx(values[SAME[name]].mean())


def test_mean_ap_at_k_is_divided_by_the_smaller_of_k_and_the_positives(session) -> None:
    n_pos = pl.col("label").sum()
    values = prframe.evaluate(DATA, "AP@10", by="query", undefined=0)
    sizes = DATA.group_by("query").agg(factor=n_pos / pl.min_horizontal(n_pos, 10).clip(1))
    mean = values.join(sizes, on="query").select(pl.col("AP@10") * pl.col("factor")).mean().item()
    spark = of_ranking_evaluator(session, "meanAveragePrecisionAtK")
    assert spark == pytest.approx(mean)
    assert spark > values["AP@10"].mean() + 0.001


def test_auc_agrees_without_bins(session) -> None:
    tied = DATA.with_columns((pl.col("score") / 20).floor())
    for data in (DATA, tied):
        auc = prframe.evaluate(data, "AUC")["AUC"].item()
        assert of_binary_evaluator(session, "areaUnderROC", data, 0) == pytest.approx(auc)
    auc = prframe.evaluate(DATA, "AUC")["AUC"].item()
    assert abs(of_binary_evaluator(session, "areaUnderROC", DATA, 10) - auc) > 1e-5


def test_area_under_precision_and_recall_agrees_without_ties_alone(session) -> None:
    tied = DATA.with_columns((pl.col("score") / 20).floor())
    for data, agrees in ((DATA, True), (tied, False)):
        area = prframe.evaluate(data, "AUPRC")["AUPRC"].item()
        spark = of_binary_evaluator(session, "areaUnderPR", data, 0)
        assert (abs(spark - area) < 1e-9) is agrees
