"""Column names are an interface: frozen here."""

import polars as pl
import pytest

from prframe import trec

DATA = pl.DataFrame({"q": [1, 1], "score": [2.0, 1.0], "label": [1, 0], "w": [1.0, 2.0]})
COUNTS = {"threshold": pl.Float64, "k": pl.Int64, "tp": pl.Int64, "fp": pl.Int64}
WEIGHTED = COUNTS | {"tp": pl.Float64, "fp": pl.Float64}
RATES = {"recall": pl.Float64, "precision": pl.Float64}


@pytest.mark.parametrize(
    ("result", "columns"),
    [
        (lambda: DATA.pr.curve(by="q"), COUNTS | RATES),
        (lambda: DATA.pr.curve(by="q", weight="w"), WEIGHTED | RATES),
        (lambda: DATA.pr.curve(by="q", order="input"), COUNTS | RATES),
        (lambda: DATA.pr.curve(by="q", recall=[0.5]), COUNTS | RATES),
        (lambda: DATA.pr.curve(by="q", over="w"), RATES | {"n": pl.Int64}),
        (lambda: DATA.pr.roc(by="q"), COUNTS | {"fpr": pl.Float64, "tpr": pl.Float64}),
        (lambda: DATA.pr.evaluate(["AP", "P@1"], by="q"), {"AP": pl.Float64, "P@1": pl.Float64}),
        (
            lambda: DATA.pr.evaluate(["AP", "P@1"], by="q", layout="long"),
            {"metric": pl.String, "value": pl.Float64},
        ),
        (
            lambda: DATA.pr.ap_test(by="q", correction="bh"),
            {
                "n": pl.Int64,
                "n_pos": pl.Int64,
                "ap": pl.Float64,
                "normalized_ap": pl.Float64,
                "null_mean": pl.Float64,
                "null_std": pl.Float64,
                "z": pl.Float64,
                "p_value": pl.Float64,
                "log10_p_value": pl.Float64,
                "method": pl.String,
                "p_adjusted": pl.Float64,
            },
        ),
        (
            lambda: DATA.pr.ap_test(by="q", over="w"),
            {
                "n_groups": pl.Int64,
                "map": pl.Float64,
                "null_mean": pl.Float64,
                "null_std": pl.Float64,
                "z": pl.Float64,
                "p_value": pl.Float64,
                "log10_p_value": pl.Float64,
                "method": pl.String,
            },
        ),
        (
            lambda: DATA.pr.rank_test(by="q", correction="bh"),
            {
                "phi": pl.String,
                "n_pos": pl.Int64,
                "n_neg": pl.Int64,
                "statistic": pl.Float64,
                "null_mean": pl.Float64,
                "null_std": pl.Float64,
                "z": pl.Float64,
                "p_value": pl.Float64,
                "estimate": pl.Float64,
                "std_error": pl.Float64,
                "conf_low": pl.Float64,
                "conf_high": pl.Float64,
                "method": pl.String,
                "p_adjusted": pl.Float64,
            },
        ),
        (
            lambda: DATA.pr.compare(
                "AP",
                ["score", "w"],
                by="q",
                over="label",
                correction="max-t",
                within="by",
                power=0.8,
                rng=1,
            ),
            {
                "metric": pl.String,
                "model_a": pl.String,
                "model_b": pl.String,
                "difference": pl.Float64,
                "conf_low": pl.Float64,
                "conf_high": pl.Float64,
                "p_adjusted": pl.Float64,
                "p_value": pl.Float64,
                "effect_size": pl.Float64,
                "mean_a": pl.Float64,
                "mean_b": pl.Float64,
                "statistic": pl.Float64,
                "wins": pl.Int64,
                "ties": pl.Int64,
                "losses": pl.Int64,
                "n": pl.Int64,
                "method": pl.String,
                "test": pl.String,
                "correction": pl.String,
                "n_family": pl.Int64,
                "confidence_level": pl.Float64,
                "p_std_error": pl.Float64,
                "p_adjusted_std_error": pl.Float64,
                "detectable_difference": pl.Float64,
                "n_needed": pl.Int64,
            },
        ),
        (
            lambda: DATA.pr.compare(
                "AP", model="w", by="q", over="label", correction=None, incomplete="pairwise"
            ),
            {
                "metric": pl.String,
                "model_a": pl.Float64,
                "model_b": pl.Float64,
                "difference": pl.Float64,
                "conf_low": pl.Float64,
                "conf_high": pl.Float64,
                "p_value": pl.Float64,
                "effect_size": pl.Float64,
                "mean_a": pl.Float64,
                "mean_b": pl.Float64,
                "statistic": pl.Float64,
                "wins": pl.Int64,
                "ties": pl.Int64,
                "losses": pl.Int64,
                "n": pl.Int64,
                "method": pl.String,
                "test": pl.String,
                "correction": pl.String,
                "n_family": pl.Int64,
                "confidence_level": pl.Float64,
                "p_std_error": pl.Float64,
            },
        ),
        (
            lambda: DATA.pr.band(by="q", rng=1, n_resamples=50),
            {
                "recall": pl.Float64,
                "precision": pl.Float64,
                "conf_low": pl.Float64,
                "conf_high": pl.Float64,
                "method": pl.String,
                "confidence_level": pl.Float64,
                "simultaneous": pl.Boolean,
            },
        ),
        (
            lambda: DATA.pr.band(by="q", over="w", rng=1, n_resamples=50),
            {
                "recall": pl.Float64,
                "precision": pl.Float64,
                "conf_low": pl.Float64,
                "conf_high": pl.Float64,
                "method": pl.String,
                "confidence_level": pl.Float64,
                "simultaneous": pl.Boolean,
                "n": pl.Int64,
            },
        ),
        (
            lambda: DATA.pr.compare_curves(
                ["score", "w"], by="q", over="label", rng=1, n_resamples=50
            ),
            {
                "model_a": pl.String,
                "model_b": pl.String,
                "recall": pl.Float64,
                "precision_a": pl.Float64,
                "precision_b": pl.Float64,
                "difference": pl.Float64,
                "conf_low": pl.Float64,
                "conf_high": pl.Float64,
                "p_value": pl.Float64,
                "method": pl.String,
                "p_std_error": pl.Float64,
                "n": pl.Int64,
            },
        ),
        (
            lambda: DATA.pr.compare_curves(["score", "w"], by="q", rng=1, n_resamples=50),
            {
                "model_a": pl.String,
                "model_b": pl.String,
                "recall": pl.Float64,
                "precision_a": pl.Float64,
                "precision_b": pl.Float64,
                "difference": pl.Float64,
                "conf_low": pl.Float64,
                "conf_high": pl.Float64,
                "p_value": pl.Float64,
                "method": pl.String,
                "p_std_error": pl.Float64,
            },
        ),
        (
            lambda: DATA.pr.interval("AP", by="q", rng=1, n_resamples=50),
            {
                "metric": pl.String,
                "estimate": pl.Float64,
                "std_error": pl.Float64,
                "conf_low": pl.Float64,
                "conf_high": pl.Float64,
                "method": pl.String,
                "confidence_level": pl.Float64,
            },
        ),
        (
            lambda: DATA.pr.topk_test(by="q", k=[1, 2]),
            {
                "k": pl.Int64,
                "hits": pl.Int64,
                "precision": pl.Float64,
                "recall": pl.Float64,
                "null_mean": pl.Float64,
                "null_std": pl.Float64,
                "p_value": pl.Float64,
                "conf_low": pl.Float64,
                "conf_high": pl.Float64,
                "method": pl.String,
            },
        ),
        (
            lambda: DATA.pr.topk_test(by="q", k=[1, 2], correction="by"),
            {
                "k": pl.Int64,
                "hits": pl.Int64,
                "precision": pl.Float64,
                "recall": pl.Float64,
                "null_mean": pl.Float64,
                "null_std": pl.Float64,
                "p_value": pl.Float64,
                "conf_low": pl.Float64,
                "conf_high": pl.Float64,
                "method": pl.String,
                "p_adjusted": pl.Float64,
            },
        ),
        (
            lambda: DATA.pr.evaluate("AP", by="q", over="w", geometric_mean=True),
            {
                "metric": pl.String,
                "mean": pl.Float64,
                "std": pl.Float64,
                "n": pl.Int64,
                "n_undefined": pl.Int64,
                "geometric_mean": pl.Float64,
            },
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::prframe.UndefinedMetricWarning")
def test_columns_after_the_keys(result, columns: dict[str, pl.DataType]) -> None:
    expected = {"q": pl.Int64, **columns}
    assert dict(result().schema) == expected
    assert list(result().columns) == list(expected)


def test_a_joined_run() -> None:
    run = pl.DataFrame({"system": ["a"], "qid": ["1"], "docno": ["d"], "score": [1.0]})
    qrels = pl.DataFrame({"qid": ["1"], "docno": ["d"], "label": [1]})
    assert dict(trec.join(run, qrels).schema) == {
        "system": pl.String,
        "query_id": pl.String,
        "doc_id": pl.String,
        "score": pl.Float64,
        "label": pl.Int64,
        "judged": pl.Boolean,
    }
