"""Differences of two systems, of their curves and query by query, before they are drawn."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from prframe import checks
from prframe._preparation import wording
from prframe._preparation.results import Result, read, whole
from prframe.errors import PrframeError

# Differences that are smaller are those of rounding.
EQUAL = 1e-12


def curve_differences(
    compare_curves_result: object, pair: tuple[object, object] | None
) -> tuple[Result, list[pl.DataFrame]]:
    """Return a result of `compare_curves`, and the rows of each pair, or of one, along recall."""
    result = read(compare_curves_result, "compare_curves", "compare_curves_result")
    result.require_one_group("compare_curves_result")
    parts = result.rows.partition_by(["model_a", "model_b"], maintain_order=True)
    names = [(part["model_a"][0], part["model_b"][0]) for part in parts]
    if pair is not None:
        checks.one_of("pair", tuple(pair), names, in_order=True)  # type: ignore[arg-type]
        parts = [parts[names.index((pair[0], pair[1]))]]
    return result, [part.sort("recall") for part in parts]


def curve_difference_text(parts: Sequence[pl.DataFrame]) -> str:
    """Say in words and numbers how curves differ."""
    return f"Difference of precision, {' '.join(map(_pair_text, parts))}"


def _pair_text(rows: pl.DataFrame) -> str:
    """Say how two curves differ."""
    recall, difference = rows["recall"].to_numpy(), rows["difference"].to_numpy()
    at = np.unique(np.searchsorted(recall, [0.2, 0.5, 0.8]).clip(0, len(recall) - 1))
    values = wording.joined(
        [wording.number(float(difference[place]), signed=True) for place in at]
    )
    levels = wording.joined([f"{recall[place]:g}" for place in at])
    apart = rows.filter((pl.col("conf_low") > 0) | (pl.col("conf_high") < 0)).height
    return (
        f"{rows['model_a'][0]} minus {rows['model_b'][0]}: {values} at recall {levels}; the band "
        f"leaves out 0 at {apart} of {len(recall)} levels."
    )


@dataclass(frozen=True)
class QueryDifferences:
    """How much better a system is than another, query by query.

    Attributes
    ----------
    pairs : polars.DataFrame
        ``name`` and ``difference``, the largest first.
    mean : float
    note, text : str
        What the picture says below, and in place of itself.
    """

    pairs: pl.DataFrame
    mean: float
    note: str
    text: str


def query_differences(
    per_query: object,
    systems: tuple[object, object],
    metric: str,
    roles: dict[str, str],
    text: str | None,
) -> QueryDifferences:
    """Prepare the differences of two systems."""
    pairs, left_out = _paired(per_query, systems, metric, roles, text)
    difference = pairs["difference"].to_numpy()
    mean = float(difference.mean())
    wins, losses = int((difference > EQUAL).sum()), int((difference < -EQUAL).sum())
    ties, shown = len(difference) - wins - losses, wording.number(mean, signed=True)
    tally = f"{wins} larger, {ties} equal, {losses} smaller; mean {shown} (dashed)"
    lacking = f"; {left_out} left out without a pair of values" if left_out else ""
    ends = f" Largest: {_ends(pairs.head(3))}. Smallest: {_ends(pairs.tail(3).reverse())}."
    told = (
        f"{metric} of {systems[0]} minus {systems[1]} on {len(difference)} queries: larger on "
        f"{wins}, equal on {ties}, smaller on {losses}; mean {shown}.{ends}"
    )
    return QueryDifferences(pairs, mean, tally + lacking, told)


def _paired(
    frame: object,
    systems: tuple[object, object],
    metric: str,
    roles: dict[str, str],
    text: str | None,
) -> tuple[pl.DataFrame, int]:
    """Return the queries' names and differences, largest first, and how many have none."""
    rows, _ = whole(frame, "per_query")
    model, query = roles["model"], roles["query"]
    is_long = {"metric", "value"} <= set(rows.columns)
    if is_long:
        checks.one_of("metric", metric, rows["metric"].unique(maintain_order=True).to_list())
        rows = rows.filter(pl.col("metric") == metric)
    value = "value" if is_long else metric
    needed = {model: "model", query: "query", value: "metric"}
    checks.columns_exist(needed | ({} if text is None else {text: "text"}), rows.columns)
    known = rows[model].unique(maintain_order=True).to_list()
    for argument, system in zip("ab", systems, strict=True):
        checks.one_of(argument, system, known, in_order=True)
    name = pl.col(query).cast(pl.String)
    if text is not None:
        name = pl.concat_str(
            [name, pl.col(text).cast(pl.String)], separator=": ", ignore_nulls=True
        )
    sides = [
        rows.filter(pl.col(model) == system).select(query, name.alias("name"), number=value)
        for system in systems
    ]
    if any(side[query].is_duplicated().any() for side in sides):
        raise PrframeError(
            f"`per_query` must have one row per value of {model!r} and {query!r}; some have more."
        )
    joined = sides[0].join(sides[1], on=query, how="full", nulls_equal=True, coalesce=True)
    pairs = joined.select(
        pl.coalesce("name", "name_right").alias("name"),
        difference=pl.col("number").cast(pl.Float64) - pl.col("number_right").cast(pl.Float64),
    )
    defined = pairs.drop_nulls("difference").sort("difference", "name", descending=[True, False])
    if defined.is_empty():
        raise PrframeError("the systems must share a query with values; they share none.")
    return defined, pairs.height - defined.height


def _ends(pairs: pl.DataFrame) -> str:
    """Say which queries these are, with their differences."""
    return wording.joined(
        [f"{name} {wording.number(value, signed=True)}" for name, value in pairs.iter_rows()]
    )
