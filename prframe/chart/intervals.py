"""Estimates with their intervals."""

import altair as alt
import polars as pl

from prframe._preparation.forests import Forest, ForestPanel, forest
from prframe.chart import parts
from prframe.chart.parts import Chart

_ROW = 20


def interval(
    result: object,
    *,
    y: str | None = None,
    facet: str = "metric",
    letters: object = None,
    sort: str | None = "estimate",
    alpha: float = 0.05,
) -> Chart:
    """Draw estimates with their confidence intervals, a row per system and a panel per metric.

    Parameters
    ----------
    result : frame
        A result of `prframe.interval`, or of `prframe.compare`.
    y, facet, letters, sort, alpha
        As in `prframe.plot.interval`.

    Returns
    -------
    altair chart

    Raises
    ------
    PrframeError
        If the frame is no such result, or lacks a column or system.
    """
    drawn = forest(result, y=y, facet=facet, letters=letters, sort=sort, alpha=alpha)
    panels = [_forest(drawn, panel) for panel in drawn.panels]
    return parts.finished(panels, drawn.text, drawn.note)


def _forest(drawn: Forest, panel: ForestPanel) -> alt.LayerChart:
    """Return the rows of a panel."""
    names = [str(name) for name in drawn.names]
    rows = pl.DataFrame(
        [
            {
                "name": str(name),
                "estimate": estimate,
                "conf_low": low,
                "conf_high": high,
                "letters": panel.letters.get(name, ""),
            }
            for name, (estimate, low, high) in panel.estimates.items()
        ],
        infer_schema_length=None,
    )
    tooltips = [alt.Tooltip("name:N")]
    tooltips += [parts.told(number) for number in ("estimate", "conf_low", "conf_high")]
    tooltips += [alt.Tooltip("letters:N")] if panel.letters else []
    base = parts.chart_of(rows).encode(
        alt.Y("name:N", title=None, sort=names).axis(labelLimit=240),
        tooltip=tooltips,
    )
    title, colour = drawn.label(panel), parts.palette_of()[0]
    scale = alt.Scale(zero=False, nice=True)
    bars = base.mark_rule(color=colour, strokeWidth=2).encode(
        alt.X("conf_low:Q", title=title).scale(scale), alt.X2("conf_high:Q")
    )
    dots = base.mark_point(filled=True, size=50, color=colour, opacity=1).encode(
        alt.X("estimate:Q", title=title).scale(scale)
    )
    layers = [bars, dots]
    if panel.letters:
        told = base.mark_text(align="left", dx=4, color=parts.ink())
        layers.append(told.encode(alt.Text("letters:N"), x=alt.value("width")))
    if drawn.is_of_differences:
        layers.append(parts.rule(0, "x", parts.ink()))
    return parts.layered(layers, 220, _ROW * len(names))
