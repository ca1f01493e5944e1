"""All pairs of systems: their differences, and the sets that are not told apart."""

from typing import Any, Unpack

import altair as alt
import polars as pl

from prframe._preparation import wording
from prframe._preparation.comparisons import (
    bounds_of,
    compared_on,
    groups_text,
    matrix_text,
    sets_alike,
)
from prframe._preparation.results import Facts
from prframe._preparation.sets import Comparison
from prframe.chart import parts
from prframe.chart.parts import Chart
from prframe.errors import PrframeError

_CELL, _MOST_WITH_NUMBERS = 58, 16
_SMALL_CELL, _ROW, _COLUMN = 14, 20, 16


def matrix(
    compare_result: object,
    *,
    metric: str | None = None,
    alpha: float = 0.05,
    **facts: Unpack[Facts],
) -> Chart:
    """Draw the differences of all pairs, coloured where the systems are told apart.

    Parameters
    ----------
    compare_result : frame
        A result of `prframe.compare`.
    metric, alpha, **facts
        As in `prframe.plot.matrix`.

    Returns
    -------
    altair chart

    Raises
    ------
    PrframeError
        If the frame is no such result, if the metric or the level is wrong, or if there are more
        than 70 systems.
    """
    result, name, compared = compared_on(compare_result, metric, alpha)
    words = wording.testing_words(result.facts(facts), alpha, result.methods())
    rows = _cells(compared)
    if rows.height > parts.MOST_ROWS:
        raise PrframeError(
            f"a chart has fewer than 5,000 rows, and {len(compared.models)} systems have "
            f"{rows.height} cells; draw them with prframe.plot.matrix."
        )
    names = [str(model) for model in compared.models]
    has_numbers = len(names) <= _MOST_WITH_NUMBERS
    opacity = 0.55 if parts.is_dark() else 0.75
    ground, palette = parts.ground(), parts.palette_of()
    base = parts.chart_of(rows).encode(
        alt.X("column:N", title=None, sort=names).axis(
            orient="top", labelAngle=-40, labelLimit=160
        ),
        alt.Y("row:N", title=None, sort=names).axis(labelLimit=160),
        tooltip=[
            alt.Tooltip("row:N"),
            alt.Tooltip("column:N"),
            alt.Tooltip("difference:Q", format="+.4f"),
            alt.Tooltip("p_value:Q", title="p-value", format=".4g"),
            alt.Tooltip("mean:Q", title="mean of the row", format=".4f"),
        ],
    )
    scale = alt.Scale(domain=[-1, 0, 1], range=[palette[1], ground, palette[0]], interpolate="rgb")
    squares = base.mark_rect(stroke=ground, strokeWidth=2).encode(
        alt.Color("shown:Q", legend=None).scale(scale), opacity=alt.value(opacity)
    )
    layers: list[Any] = [squares]
    if has_numbers:
        for text, shift in (("top", -6), ("bottom", 7)):
            told = base.mark_text(fontSize=10, dy=shift, color=parts.ink())
            layers.append(told.encode(alt.Text(f"{text}:N")))
    side = len(names) * (_CELL if has_numbers else _SMALL_CELL)
    made = parts.layered(layers, side, side)
    note = f"{name}, row minus column; coloured if told apart: {words}"
    return parts.finished([made], matrix_text(name, compared, words), note)


def _cells(compared: Comparison) -> pl.DataFrame:
    """Return a row per cell: the mean on the diagonal, else the difference and its p-value."""
    names = [str(model) for model in compared.models]
    rows: list[dict[str, Any]] = [
        {"row": name, "column": name, "mean": mean, "top": wording.number(mean), "bottom": ""}
        for name, mean in zip(names, compared.means, strict=True)
    ]
    shades = compared.shades()
    for (a, b), row in compared.rows.items():
        p_value = row.get("p_adjusted", row.get("p_value"))
        for at, of, sign in ((a, b, 1), (b, a, -1)):
            difference = None if row["difference"] is None else sign * row["difference"]
            rows.append(
                {
                    "row": names[at],
                    "column": names[of],
                    "mean": compared.means[at],
                    "difference": difference,
                    "p_value": p_value,
                    "shown": sign * shades[a, b],
                    "top": wording.number(difference, signed=True),
                    "bottom": wording.p_value(p_value),
                }
            )
    numbers = ("mean", "difference", "p_value", "shown")
    schema: dict[str, type[pl.Float64]] = dict.fromkeys(numbers, pl.Float64)
    return pl.DataFrame(rows, schema_overrides=schema, infer_schema_length=None)


def groups(
    compare_result: object,
    *,
    metric: str | None = None,
    intervals: object = None,
    alpha: float = 0.05,
    **facts: Unpack[Facts],
) -> Chart:
    """Draw the systems on the metric's scale, and beside them the sets that are not told apart.

    Parameters
    ----------
    compare_result : frame
        A result of `prframe.compare` with all pairs of the systems.
    metric, intervals, alpha, **facts
        As in `prframe.plot.groups`.

    Returns
    -------
    altair chart

    Raises
    ------
    PrframeError
        If the frame is no such result, if a pair is missing, or if there are more than 60 sets.
    """
    result, name, compared = compared_on(compare_result, metric, alpha)
    shared, bounds, known = sets_alike(compared), bounds_of(intervals, name), result.facts(facts)
    words = wording.testing_words(known, alpha, result.methods())
    with_intervals = f"; {wording.interval_words(known)}" if bounds else ""
    names = [str(model) for model in compared.models]
    height = _ROW * len(names)
    means = pl.DataFrame(
        [
            {"name": str(model), "mean": mean}
            | dict(zip(("conf_low", "conf_high"), bounds.get(model, (None, None)), strict=True))
            for model, mean in zip(compared.models, compared.means, strict=True)
        ],
        schema_overrides=dict.fromkeys(("mean", "conf_low", "conf_high"), pl.Float64),
    )
    place = alt.Y("name:N", title=None, sort=names).axis(labelLimit=240)
    scale, colour = alt.Scale(zero=False), parts.palette_of()[0]
    numbers = ["mean", *(("conf_low", "conf_high") if bounds else ())]
    base = parts.chart_of(means).encode(
        place,
        tooltip=[alt.Tooltip("name:N"), *(parts.told(number) for number in numbers)],
    )
    layers: list[Any] = [
        base.mark_point(filled=True, size=50, color=colour, opacity=1).encode(
            alt.X("mean:Q", title=name).scale(scale)
        )
    ]
    if bounds:
        bars = base.mark_rule(color=colour, strokeWidth=1.5)
        layers.append(
            bars.encode(alt.X("conf_low:Q", title=name).scale(scale), alt.X2("conf_high:Q"))
        )
    left = parts.layered(layers, parts.SIDE, height)
    text = groups_text(name, compared, shared, words)
    note = f"joined dots: not told apart ({words}){with_intervals}"
    panels = [left, _sets(shared, names, height)] if shared else [left]
    return parts.finished(panels, text, note)


def _sets(shared: list[list[int]], names: list[str], height: int) -> alt.LayerChart:
    """Return a column per set of systems that are not told apart, a dot per member."""
    rows = pl.DataFrame(
        [
            {"set": column, "name": names[member], "members": ", ".join(names[m] for m in members)}
            for column, members in enumerate(shared)
            for member in members
        ]
    )
    base = parts.chart_of(rows).encode(
        alt.X("set:O", axis=None),
        alt.Y("name:N", sort=names, axis=None).scale(domain=names),
        tooltip=[alt.Tooltip("members:N", title="not told apart")],
    )
    line = base.mark_line(color=parts.muted(), strokeWidth=1).encode(alt.Detail("set:O"))
    dots = base.mark_point(filled=True, color=parts.ink(), opacity=1)
    return parts.layered([line, dots], _COLUMN * len(shared), height)
