"""Comparisons in words."""

import polars as pl
import pytest

from prframe import tables

ROW = {
    "metric": "nDCG@10",
    "model_a": "new",
    "model_b": "old",
    "difference": -0.02,
    "conf_low": -0.05,
    "conf_high": 0.01,
    "p_adjusted": 0.25,
    "p_value": 0.125,
    "mean_a": 0.4,
    "mean_b": 0.42,
    "statistic": -1.0,
    "wins": 1,
    "ties": 0,
    "losses": 2,
    "n": 1200,
    "method": "t",
    "test": "t",
    "correction": "holm",
    "n_family": 2,
    "confidence_level": 0.9,
}


def sentence(**other) -> str:
    (written,) = tables.sentences(pl.DataFrame([ROW | other]))
    return written


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ({"p_adjusted": None}, "(paired t-test, p = 0.125; n = 1,200)."),
        ({"p_adjusted": 0.125, "n_family": 1}, "(paired t-test, p = 0.125; n = 1,200)."),
        ({"p_adjusted": None, "p_value": None}, "(paired t-test, p unknown; n = 1,200)."),
        (
            {"alternative": "greater"},
            "(one-sided paired t-test of a positive difference, adjusted p = 0.250, ",
        ),
        (
            {"alternative": "less", "test": "hall"},
            "(one-sided Hall's test of a negative difference, ",
        ),
        (
            {"alternative": "less", "test": None},
            "(one-sided test of a negative difference, adjusted ",
        ),
        ({"alternative": "two-sided"}, "(paired t-test, adjusted p = 0.250, "),
        ({"alternative": None}, "(paired t-test, adjusted p = 0.250, "),
        ({"test": "hall"}, "(Hall's test, adjusted p = 0.250, "),
        ({"correction": None, "n_family": None}, "adjusted p = 0.250; n = 1,200)."),
        ({"conf_low": None, "conf_high": None}, "a difference of \u22120.020 (paired t-test"),
        ({"conf_low": float("-inf")}, "interval [\u2212\u221e, +0.010] ("),
        ({"conf_high": float("inf")}, "interval [\u22120.050, +\u221e] ("),
        (
            {"alternative": "greater", "conf_low": -0.0231, "conf_high": 1.0},
            "difference of \u22120.0200, 90% confidence interval [\u22120.0231, +1.0000] (",
        ),
        (
            {"alternative": "less", "conf_low": -100.0, "conf_high": 0.1},
            "difference of \u22120.020, 90% confidence interval [\u2212100.000, +0.100] (",
        ),
        (
            {"method": "t-corrected"},
            "(paired t-test corrected for overlapping training sets, adjusted p = 0.250, ",
        ),
        ({"p_equivalence": 0.0004}, "family of 2; test of equivalence, p < 0.001; n = 1,200)."),
        ({"wins": None}, "nDCG@10 of new is 0.400 and"),
        ({"difference": None, "mean_a": None}, "Mean nDCG@10 of new and old cannot be compared."),
    ],
)
def test_what_differs(other, told) -> None:
    assert told in sentence(**other)
    assert sentence(**other).startswith("Mean " if other.get("wins", 1) else "nDCG@10 of")


def test_groups_are_named_and_decimals_are_those_of_a_metric() -> None:
    rows = [
        {"language": "en"} | ROW,
        {"language": None} | ROW | {"metric": "AP", "conf_low": -0.021, "conf_high": -0.019},
    ]
    first, second = tables.sentences(pl.DataFrame(rows).to_pandas())
    assert first.startswith("language en: mean nDCG@10 of new is 0.400 and")
    assert second.startswith("language null: mean AP of new is 0.4000 and")
