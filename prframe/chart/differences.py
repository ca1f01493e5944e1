"""Differences of two systems: of their curves, and query by query."""

from typing import Unpack

import altair as alt
import numpy as np
import polars as pl

from prframe._preparation import wording
from prframe._preparation.differences import (
    curve_difference_text,
    curve_differences,
    query_differences,
)
from prframe._preparation.results import Facts
from prframe.chart import parts
from prframe.chart.parts import Chart
from prframe.errors import PrframeError

_MOST_LEVELS = 201


def curve_difference(
    compare_curves_result: object,
    *,
    pair: tuple[object, object] | None = None,
    **facts: Unpack[Facts],
) -> Chart:
    """Draw differences of precision with their confidence band, along recall.

    Parameters
    ----------
    compare_curves_result : frame
        A result of `prframe.compare_curves`.
    pair, **facts
        As in `prframe.plot.curve_difference`.

    Returns
    -------
    altair chart

    Raises
    ------
    PrframeError
        If the frame is no such result, or has no such pair.
    """
    result, pairs = curve_differences(compare_curves_result, pair)
    side = parts.SIDE if len(pairs) == 1 else parts.SIDE // 2
    most = min(_MOST_LEVELS, parts.MOST_ROWS // len(pairs) - 1)
    panels = [_one_difference(rows, most, side) for rows in pairs]
    note = wording.band_words(result.facts(facts))
    return parts.finished(panels, curve_difference_text(pairs), note)


def _one_difference(rows: pl.DataFrame, most: int, side: int) -> alt.LayerChart:
    """Return the difference of a pair."""
    if rows.height > most:
        at = np.linspace(0, rows.height - 1, most).astype(int)
        rows = rows[at]
    names = ("recall", "difference", "conf_low", "conf_high")
    base = parts.chart_of(rows.select(names)).encode(
        alt.X("recall:Q").scale(domain=[0, 1]),
        tooltip=[parts.told(name) for name in names],
    )
    colour = parts.palette_of()[0]
    title = "difference of precision"
    band = base.mark_area(color=colour, opacity=0.2).encode(
        alt.Y("conf_low:Q", title=title), alt.Y2("conf_high:Q")
    )
    line = base.mark_line(color=colour).encode(alt.Y("difference:Q", title=title))
    named = f"{rows['model_a'][0]} \N{MINUS SIGN} {rows['model_b'][0]}"
    zero = parts.rule(0, "y", parts.ink())
    return parts.layered([band, line, zero], side, side, named)


def queries(
    per_query: object,
    a: object,
    b: object,
    *,
    metric: str,
    model: str = "system",
    query: str = "query_id",
    text: str | None = None,
) -> Chart:
    """Draw how much better a system is than another on each query; the pointer names the query.

    Parameters
    ----------
    per_query : frame
        A result of `prframe.evaluate` with a row per system and query, wide or long.
    a, b, metric, model, query, text
        As in `prframe.plot.queries`.

    Returns
    -------
    altair chart

    Raises
    ------
    PrframeError
        If a column or a system is missing, if the systems share no query, or if they share 5,000.
    """
    columns = {"model": model, "query": query}
    drawn = query_differences(per_query, (a, b), metric, columns, text)
    pairs = drawn.pairs.with_row_index("place").with_columns(is_up=pl.col("difference") >= 0)
    if pairs.height > parts.MOST_ROWS:
        raise PrframeError(
            f"a chart has fewer than 5,000 rows, and there are {pairs.height} queries; draw them "
            "with prframe.plot.queries, which has no such limit."
        )
    up, down = parts.palette_of()[:2]
    base = parts.chart_of(pairs).encode(
        alt.X("place:O", axis=None, title=f"{pairs.height} queries").scale(padding=0),
        alt.Y("difference:Q", title=f"{metric}, {a} \N{MINUS SIGN} {b}"),
        tooltip=[alt.Tooltip("name:N", title=query), alt.Tooltip("difference:Q", format="+.4f")],
    )
    bars = base.mark_bar().encode(
        color=alt.when(alt.datum.is_up).then(alt.value(up)).otherwise(alt.value(down))
    )
    mean = parts.rule(drawn.mean, "y", parts.muted(), (4, 2))
    made = parts.layered([bars, mean], 2 * parts.SIDE, parts.SIDE)
    note = f"{pairs.height} queries: {drawn.note}"
    return parts.finished([made], drawn.text, note)
