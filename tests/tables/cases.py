"""Intervals and comparisons that tests write out."""

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

import polars as pl

HOSTILE = [
    *("50% binary", "a&b", "x_y", "\\", "#", "{}", "~", "^", "$1", "a|b", "[x]", "<script>"),
    *("größer", "λ-Ranker", "日本", "\N{GRINNING FACE}", "--", "**bold**", "`code`", "\\\\[2pt]"),
    *("two\nlines", "", "naïve “quotes”", "Łódź", "Ærø", "x²≥1", "\"'", "*", "- item"),
]


def intervals(
    models: Sequence[Any], metrics: Sequence[str] = ("AP",), std_error: float = 0.01
) -> pl.DataFrame:
    rows = [
        {
            "system": model,
            "metric": metric,
            "estimate": 0.9 - 0.01 * place,
            "std_error": std_error,
            "conf_low": 0.88 - 0.01 * place,
            "conf_high": 0.92 - 0.01 * place,
            "method": "logit",
        }
        for place, model in enumerate(models)
        for metric in metrics
    ]
    return pl.DataFrame(rows)


def comparison(
    models: Sequence[Any],
    apart: Iterable[tuple[Any, Any]] = (),
    metrics: Sequence[str] = ("AP",),
) -> pl.DataFrame:
    apart = set(apart)
    rows = [
        {
            "metric": metric,
            "model_a": a,
            "model_b": b,
            "mean_a": 0.9 - 0.01 * models.index(a),
            "mean_b": 0.9 - 0.01 * models.index(b),
            "difference": 0.01 * (models.index(b) - models.index(a)),
            "conf_low": 0.0,
            "conf_high": 0.1,
            "p_value": 0.01 if (a, b) in apart else 0.2,
            "p_adjusted": 0.02 if (a, b) in apart else 0.4,
            "n": 50,
            "method": "randomization-exact",
        }
        for metric in metrics
        for a, b in combinations(models, 2)
    ]
    return pl.DataFrame(rows)
