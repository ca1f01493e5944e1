"""What people of four trades type first, before they have read anything.

Each guess either runs and gives what its author expects, or is refused with a sentence that leads
to the right call.
"""

import datetime as dt
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import prframe

BM25 = pl.DataFrame(
    {
        "qid": ["q1"] * 3 + ["q2"] * 2,
        "docid": ["d1", "d2", "d3", "d1", "d4"],
        "score": [3.0, 2.0, 1.0, 2.0, 1.0],
        "rel": [1, 0, 2, 0, 1],
    }
)
JUDGED = BM25.rename({"qid": "query_id", "docid": "doc_id", "rel": "label"})
DENSE = pl.DataFrame(
    {
        "query_id": ["q1"] * 3 + ["q2"] * 2,
        "doc_id": ["d3", "d1", "d9", "d4", "d1"],
        "score": [0.9, 0.8, 0.1, 0.7, 0.6],
        "label": [2, 1, 0, 1, 0],
    }
)
QRELS = {"q1": {"d1": 1, "d2": 0, "d3": 2}, "q2": {"d1": 0, "d4": 1}}
RUN = {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}, "q2": {"d1": 2.0, "d4": 1.0}}

Y_TRUE, Y_SCORE = np.array([1, 0, 1, 0, 1, 0]), np.array([0.9, 0.8, 0.7, 0.4, 0.3, 0.2])
ROWS = pd.DataFrame(
    {"y_true": Y_TRUE, "y_score": Y_SCORE, "segment": list("aaabbb"), "part": [0, 0, 1, 1, 1, 0]}
)
NAMED = {"label": "y_true", "score": "y_score"}
MODELS = pd.DataFrame(
    {"id": range(6), "y_true": Y_TRUE, "m1": Y_SCORE, "m2": [0.9, 0.1, 0.8, 0.3, 0.7, 0.2]}
)
LONG = MODELS.melt(["id", "y_true"], var_name="model", value_name="y_score")

PROFILES = pd.DataFrame(
    {
        "Metadata_compound": ["A", "A", "B", "B"],
        "Metadata_Plate": ["P1", "P2", "P1", "P2"],
        "average_precision": [1.0, 5 / 6, 0.5, 14 / 90],
        "n_pos_pairs": [2] * 4,
        "n_total_pairs": [10] * 4,
    }
)
PAIRS: dict[str, Any] = {"ap": "average_precision", "n_pos": "n_pos_pairs", "n": "n_total_pairs"}
DISTANCES = pd.DataFrame({"distance": np.arange(1.0, 11.0), "same": [1, 0, 1] + [0] * 7})

EVENTS = pl.DataFrame(
    {
        "query_id": [1, 1, 1, 2, 2, 2],
        "doc_id": [10, 11, 12, 10, 13, 14],
        "day": [dt.date(2024, 1, 31)] * 3 + [dt.date(2024, 2, 1)] * 3,
        "score": [0.9, 0.8, 0.7, 0.4, 0.3, 0.2],
        "label": [1, 0, 1, 0, 1, 0],
    }
)
TWO = pl.concat(
    [
        EVENTS.with_columns(model=pl.lit("m1")),
        EVENTS.with_columns(model=pl.lit("m2"), score=pl.col("label") + pl.col("score")),
    ]
)


def column(result: Any, name: str) -> list[float]:
    """Return a column of a result as a list."""
    if isinstance(result, pl.LazyFrame):
        result = result.collect()
    return result[name].to_pylist() if hasattr(result[name], "to_pylist") else list(result[name])


RUN_AS_GUESSED: dict[str, tuple[Callable[[], Any], dict[str, list[Any]]]] = {
    "trec_eval's names of measures": (
        lambda: prframe.evaluate(
            JUDGED,
            ["map", "ndcg_cut_10", "recip_rank", "P_5", "Rprec", "recall_10"],
            by="query_id",
        ),
        {"map": [5 / 6, 0.5], "P_5": [0.4, 0.2], "Rprec": [0.5, 0.0], "recall_10": [1.0, 1.0]},
    ),
    "measures with a level of relevance": (
        lambda: prframe.evaluate(
            JUDGED, ["AP(rel=2)", "P(rel=2)@5", "Success@1"], by="query_id", undefined=0
        ),
        {"AP(rel=2)": [1 / 3, 0.0], "P(rel=2)@5": [0.2, 0.0], "Success@1": [1.0, 0.0]},
    ),
    "names of leaderboards": (
        lambda: prframe.evaluate(JUDGED, ["ndcg_at_10", "map_at_10", "mrr_at_10"], by="query_id"),
        {"map_at_10": [5 / 6, 0.5], "mrr_at_10": [1.0, 0.5]},
    ),
    "exponential gains by ranx": (
        lambda: prframe.evaluate(JUDGED, "ndcg_burges@10", by="query_id"),
        {"ndcg_burges@10": [(1 + 3 / 2) / (3 + 1 / np.log2(3)), 1 / np.log2(3)]},
    ),
    "models as columns": (
        lambda: MODELS.pr.evaluate(["AP", "AUC"], label="y_true", score=["m1", "m2"]),
        {"model": ["m1", "m2"], "AUC": [2 / 3, 1.0]},
    ),
    "average precisions of copairs": (
        lambda: prframe.ap_test(PROFILES, **PAIRS),
        {"p_value": [1 / 45, 2 / 45, 11 / 45, 1.0], "null_mean": [0.37146384479717813] * 4},
    ),
    "a test per compound, with a correction": (
        lambda: prframe.ap_test(
            PROFILES, by="Metadata_compound", over="Metadata_Plate", correction="bh", **PAIRS
        ),
        {"map": [11 / 12, (0.5 + 14 / 90) / 2], "n_groups": [2, 2]},
    ),
    "counts that are floats, and negatives for totals": (
        lambda: prframe.ap_test(
            PROFILES.assign(n_neg_pairs=8.0, n_pos_pairs=2.0),
            ap="average_precision",
            n_pos="n_pos_pairs",
            n_neg="n_neg_pairs",
        ),
        {"p_value": [1 / 45, 2 / 45, 11 / 45, 1.0]},
    ),
    "enrichment among the first k": (
        lambda: DISTANCES.assign(near=-DISTANCES["distance"]).pr.topk_test(
            k=2, label="same", score="near"
        ),
        {"hits": [1], "p_value": [1 - 28 / 45]},
    ),
}


@pytest.mark.filterwarnings("ignore::prframe.EmptyFrameWarning")
@pytest.mark.parametrize(("call", "expected"), RUN_AS_GUESSED.values(), ids=RUN_AS_GUESSED)
def test_guesses_that_run(call: Callable[[], Any], expected: dict[str, list[Any]]) -> None:
    result = call()
    for name, values in expected.items():
        found = column(result, name)
        if values and isinstance(values[0], float):
            assert found == pytest.approx(values, rel=1e-12)
        else:
            assert found == values


LED_ON = {
    "Did you mean 'query_id'?": lambda: prframe.evaluate(JUDGED, "AP", by="qid"),
    "Name the column with label='rel'.": lambda: prframe.evaluate(BM25, "AP", by="qid"),
    "Name precomputed values of metrics with values=.": lambda: prframe.compare(
        pl.DataFrame({"bm25": [0.2], "dense": [0.3]}), "bm25", "dense"
    ),
    "Did you mean 'interpolate'? Write recall= for points=.": lambda: BM25.pr.curve(
        label="rel", by="qid", interpolated=True, points=11
    ),
    "a cut-off is part of a metric's name, for example 'nDCG@10'.": lambda: prframe.evaluate(
        JUDGED, "ndcg", k=10, by="query_id"
    ),
    "AP is a metric and no function of arrays;": lambda: prframe.AP(Y_TRUE, Y_SCORE),
    "Name the column with score='y_score'.": lambda: ROWS.pr.evaluate("AUROC"),
    "use 'AP' for the area of steps, or 'AUPRC' for the area of trapezoids.": lambda: (
        ROWS.pr.evaluate("PR-AUC", **NAMED)
    ),
    "Write by= for groupby=.": lambda: ROWS.pr.evaluate("AP", groupby="segment", **NAMED),
    "Write positive= for pos_label=.": lambda: ROWS.pr.evaluate("AP", pos_label=1, **NAMED),
    "name the positive ones, as in positive='yes', or cast them to numbers.": lambda: ROWS.assign(
        y_true="pos"
    ).pr.evaluate("AP", **NAMED),
    "Give each item a row; of several classes take one column, as in proba[:, 1].": lambda: (
        prframe.evaluate(
            {"label": Y_TRUE, "score": np.column_stack([1 - Y_SCORE, Y_SCORE])}, "AUC"
        )
    ),
    "leave them out with missing='drop', or take them as not retrieved with missing='last'.": lambda: (
        ROWS.assign(y_score=[0.9, np.nan, 0.7, 0.4, 0.3, 0.2]).pr.evaluate("AP", **NAMED)
    ),
    "Write n_resamples= for n_boot=.": lambda: ROWS.pr.interval(
        "AP", n_boot=2000, alpha=0.05, random_state=0
    ),
    "Write label= for y_true=. Write score= for y_score=.": lambda: prframe.compare(
        MODELS, "AUC", y_true="y_true", y_score=["m1", "m2"]
    ),
    "name their column with item=, or give the score columns of all models, as in score=[": lambda: (
        LONG.pr.compare("AP", over=None, **NAMED)
    ),
    "F1 of all retrieved items is 'SetF', and the largest F1 of all thresholds 'MaxF1'. Of a "
    "classifier say 'F1(threshold=0.5)'.": lambda: ROWS.pr.evaluate("f1", **NAMED),
    "the largest score is the best one; give distances with the opposite sign.": lambda: (
        DISTANCES.pr.roc(label="same", score="distance", descending=False)
    ),
    "Name precomputed average precisions with ap=.": lambda: prframe.ap_test(PROFILES),
    "test the mean of these rankings with over=": lambda: prframe.ap_test(
        PROFILES, by="Metadata_compound", **PAIRS
    ),
    "see whether n and n_pos are exchanged.": lambda: prframe.ap_test(
        PROFILES, ap="average_precision", n_pos="n_total_pairs", n="n_pos_pairs"
    ),
    "`k` must be a whole number >= 1; got 0.1.": lambda: DISTANCES.pr.topk_test(
        k=0.1, label="same", score="distance"
    ),
    "Make it a column first, for example with with_columns.": lambda: EVENTS.pr.evaluate(
        "AUC", score=pl.col("score").log(), by="query_id"
    ),
    "a path must have no NUL character": lambda: prframe.trec.read_run("runs\0.txt"),
    "`positive` must be": lambda: EVENTS.pr.evaluate(
        "AP", by="query_id", positive=np.array([[1, 2]])
    ),
    "`ties` must be one of": lambda: EVENTS.pr.evaluate(
        "AP", by="query_id", ties=np.array(["best", "worst"])
    ),
    "Give each item a row; of several classes": lambda: (
        EVENTS.group_by("query_id").agg("score", "label").pr.evaluate("AP", by="query_id")
    ),
    ".pr has no 'average_precision_score'; it has metric, ap,": lambda: pl.col(
        "score"
    ).pr.average_precision_score("label"),
    "write several metrics as a list, ['AP', 'nDCG@10'], or in a shell as AP nDCG@10.": lambda: (
        prframe.evaluate(JUDGED, "AP, nDCG@10", by="query_id")
    ),
    "A cut-off is nDCG@10.": lambda: prframe.evaluate(JUDGED, "nDCG(10)", by="query_id"),
    "Did you mean 'hit@1'?": lambda: prframe.evaluate(JUDGED, "Hits@1", by="query_id"),
    "prframe.trec.join(run, qrels) makes a frame of both.": lambda: prframe.evaluate(
        BM25, "AP", qrels=JUDGED
    ),
    "use 'F1(threshold=0.5)' at a score, 'F1@10' at a rank.": lambda: ROWS.pr.evaluate(
        "f1_score", **NAMED
    ),
    "use scikit-learn, as this measures the calibration of probabilities.": lambda: (
        ROWS.pr.evaluate("brier", **NAMED)
    ),
    "Write prior= for prevalence=.": lambda: ROWS.pr.interval("AP", prevalence=0.01, **NAMED),
    "Did you mean 'two-sided'?": lambda: prframe.ap_test(
        PROFILES, by="Metadata_Plate", alternative="two.sided", **PAIRS
    ),
    "Write item= for id=.": lambda: prframe.compare_curves(TWO, model="model", id="doc_id"),
    "Write seed= for rng=.": lambda: prframe.report(TWO, rng=1),
    "Write by_query= for groupby=.": lambda: prframe.trec.evaluate({}, {}, groupby="query_id"),
    "Write system= for model=.": lambda: prframe.trec.join({}, {}, model="run"),
    "There is no over=: results are of single groups, which by= names.": lambda: (
        EVENTS.pr.topk_test(over="query_id")
    ),
}


@pytest.mark.parametrize(("sentence", "call"), LED_ON.items(), ids=LED_ON)
def test_guesses_that_are_led_on(call: Callable[[], Any], sentence: str) -> None:
    with pytest.raises((prframe.PrframeError, TypeError, AttributeError)) as caught:
        call()
    assert sentence in str(caught.value)


def test_names_of_trec_eval_beside_ties_are_told() -> None:
    tied = JUDGED.with_columns(score=1.0)
    with pytest.warns(prframe.TiePolicyWarning, match="For its numbers pass ties='trec'"):
        tied.pr.evaluate(["map", "P_5"], by="query_id", item="doc_id")
