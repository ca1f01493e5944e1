"""The columns that every verb returns, after the `by` columns: names, dtypes, order.

Column names are an interface: they change only with an entry in ``docs/adr``.
"""

from collections.abc import Iterable

import polars as pl

from prframe.typing import Schema


def _counts(*, weighted: bool) -> dict[str, pl.DataType]:
    """Return the columns that open a curve; weighted counts are sums of weights."""
    count = pl.Float64() if weighted else pl.Int64()
    return {"threshold": pl.Float64(), "k": pl.Int64(), "tp": count, "fp": count}


def curve(*, weighted: bool) -> Schema:
    """Return the columns of a precision-recall curve."""
    return _counts(weighted=weighted) | {"recall": pl.Float64(), "precision": pl.Float64()}


def roc(*, weighted: bool) -> Schema:
    """Return the columns of a ROC curve."""
    return _counts(weighted=weighted) | {"fpr": pl.Float64(), "tpr": pl.Float64()}


def evaluate_wide(metrics: Iterable[str]) -> Schema:
    """Return one column per metric."""
    return {metric: pl.Float64() for metric in metrics}


def evaluate_long() -> Schema:
    """Return the columns of one row per group and metric."""
    return {"metric": pl.String(), "value": pl.Float64()}


def evaluate_summary(*, geometric_mean: bool) -> Schema:
    """Return the columns of one row per group of `by` and metric."""
    columns: dict[str, pl.DataType] = {
        "metric": pl.String(),
        "mean": pl.Float64(),
        "std": pl.Float64(),
        "n": pl.Int64(),
        "n_undefined": pl.Int64(),
    }
    return columns | ({"geometric_mean": pl.Float64()} if geometric_mean else {})


def ap_test(*, corrected: bool) -> Schema:
    """Return the columns of tests of AP."""
    numbers = ("ap", "normalized_ap", "null_mean", "null_std", "z", "p_value", "log10_p_value")
    return {"n": pl.Int64(), "n_pos": pl.Int64()} | _tested(numbers, corrected=corrected)


def ap_test_over(*, corrected: bool) -> Schema:
    """Return the columns of tests of mean AP."""
    numbers = ("map", "null_mean", "null_std", "z", "p_value", "log10_p_value")
    return {"n_groups": pl.Int64()} | _tested(numbers, corrected=corrected)


def _tested(numbers: Iterable[str], *, corrected: bool) -> dict[str, pl.DataType]:
    """Return the columns that end a test."""
    columns: dict[str, pl.DataType] = {name: pl.Float64() for name in numbers}
    columns["method"] = pl.String()
    return columns | ({"p_adjusted": pl.Float64()} if corrected else {})


def topk_test() -> Schema:
    """Return the columns of tests and intervals at cut-offs."""
    numbers = ("precision", "recall", "null_mean", "null_std", "p_value", "conf_low", "conf_high")
    counts: dict[str, pl.DataType] = {"k": pl.Int64(), "hits": pl.Int64()}
    return counts | {name: pl.Float64() for name in numbers} | {"method": pl.String()}


def band() -> Schema:
    """Return the columns of a confidence band."""
    numbers = ("recall", "precision", "conf_low", "conf_high")
    return {name: pl.Float64() for name in numbers} | {"method": pl.String()}


def compare_curves() -> Schema:
    """Return the columns of a comparison of curves, after those of the models."""
    curves = ("recall", "precision_a", "precision_b", "difference")
    numbers = (*curves, "conf_low", "conf_high", "p_value")
    return {name: pl.Float64() for name in numbers} | {"method": pl.String()}


def interval() -> Schema:
    """Return the columns of confidence intervals."""
    numbers = ("estimate", "std_error", "conf_low", "conf_high")
    floats: dict[str, pl.DataType] = {name: pl.Float64() for name in numbers}
    return {"metric": pl.String()} | floats | {"method": pl.String()}


def check() -> Schema:
    """Return the columns of a report on the data."""
    return {
        "kind": pl.String(),
        "severity": pl.String(),
        "count": pl.Int64(),
        "example": pl.String(),
    }


def rank_test(*, corrected: bool) -> Schema:
    """Return the columns of tests by linear rank statistics."""
    counts: dict[str, pl.DataType] = {
        "phi": pl.String(),
        "n_pos": pl.Int64(),
        "n_neg": pl.Int64(),
    }
    numbers = ("statistic", "null_mean", "null_std", "z", "p_value")
    ends = ("estimate", "std_error", "conf_low", "conf_high")
    return counts | _tested((*numbers, *ends), corrected=corrected)


def compare(*, corrected: bool, joint: bool, rope: bool, power: bool) -> dict[str, pl.DataType]:
    """Return the columns of a comparison, but for the two models, which stand after the metric."""
    floats = ["mean_a", "mean_b", "difference", "conf_low", "conf_high"]
    floats += ["statistic", "p_value", "p_std_error", *(["p_adjusted"] if corrected else [])]
    floats += ["p_adjusted_std_error"] if joint else []
    counts = ("wins", "ties", "losses", "n")
    columns: dict[str, pl.DataType] = {"metric": pl.String()}
    columns |= dict.fromkeys([*floats, "effect_size"], pl.Float64())
    columns |= dict.fromkeys(counts, pl.Int64()) | {"method": pl.String()}
    columns |= dict.fromkeys(("prob_a", "prob_rope", "prob_b") if rope else (), pl.Float64())
    if power:
        columns |= {"detectable_difference": pl.Float64(), "n_needed": pl.Int64()}
    return columns
