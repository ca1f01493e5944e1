"""Distributions: AP of random rankings, and the scores of positives and negatives."""

from typing import Any, Unpack

import altair as alt
import polars as pl

from prframe._preparation.distributions import ScorePanel, null_picture, score_panels
from prframe.chart import parts
from prframe.chart.parts import Chart
from prframe.typing import Shared


def ap_null(
    frame: object,
    observed: float | None = None,
    score: str = "score",
    label: str = "label",
    **shared: Unpack[Shared],
) -> Chart:
    """Draw the distribution of AP over random rankings, and where the observed AP lies in it.

    Parameters
    ----------
    frame : frame or prframe.stats.APNull
        The rows of one ranking, whose ties the distribution respects, or a distribution.
    observed, score, label, **shared
        As in `prframe.plot.ap_null`.

    Returns
    -------
    altair chart

    Raises
    ------
    PrframeError
        If the frame cannot be tested, or has no positives.
    """
    drawn = null_picture(frame, observed, score, label, shared)
    rows = pl.DataFrame({"share": drawn.shares, "low": drawn.edges[:-1], "high": drawn.edges[1:]})
    colour, other = parts.palette_of()[:2]
    bars = parts.chart_of(rows).mark_rect(color=colour, opacity=0.55, stroke=None)
    x = alt.X("low:Q", title="AP").scale(domain=[0, float(drawn.edges[-1])], nice=False)
    y = alt.Y("share:Q", title="share of random rankings")
    told = [parts.told(name) for name in ("low", "high", "share")]
    layers: list[Any] = [bars.encode(x, alt.X2("high:Q"), y, alt.Y2(datum=0), tooltip=told)]
    layers.append(parts.rule(drawn.mean, "x", parts.muted(), (4, 2)))
    if drawn.observed is not None:
        layers.append(parts.rule(drawn.observed, "x", other))
        # Above the panel there are no bars, nor the line of the mean.
        name = parts.chart_of(pl.DataFrame({"x": [drawn.observed]})).mark_text(
            text="observed", baseline="bottom", dy=-3, color=parts.ink()
        )
        layers.append(name.encode(alt.X("x:Q"), y=alt.value(0)))
    made = parts.layered(layers, parts.SIDE, parts.SIDE)
    return parts.finished([made], f"AP of {drawn.note}.", drawn.note)


def scores(
    frame: object,
    score: str = "score",
    label: str = "label",
    *,
    threshold: float | None = None,
    bins: int = 50,
    **shared: Unpack[Shared],
) -> Chart:
    """Draw how the scores of positives and of negatives are distributed.

    Parameters
    ----------
    frame : frame
        The rows of one ranking, or of several with `by`.
    score, label, threshold, bins, **shared
        As in `prframe.plot.scores`.

    Returns
    -------
    altair chart

    Raises
    ------
    PrframeError
        If the frame cannot be evaluated, or there are more than 24 panels.
    """
    panels = score_panels(frame, score, label, threshold, bins, shared)
    side = parts.SIDE if len(panels) == 1 else parts.SIDE // 2
    drawn = [_two_distributions(panel, score, side) for panel in panels]
    return parts.finished(drawn, " ".join(panel.text for panel in panels))


def _two_distributions(panel: ScorePanel, score: str, side: int) -> alt.LayerChart:
    """Return the scores of a ranking."""
    frames = [
        pl.DataFrame(
            {"low": panel.edges[:-1], "high": panel.edges[1:], "density": heights, "class": name}
        )
        for name, heights in zip(("positives", "negatives"), panel.heights, strict=True)
        if heights is not None
    ]
    colours = alt.Scale(domain=["positives", "negatives"], range=list(parts.palette_of()[:2]))
    bars = parts.chart_of(pl.concat(frames)).mark_rect(opacity=0.4, stroke=None)
    layers: list[Any] = [
        bars.encode(
            alt.X("low:Q", title=score).scale(zero=False, nice=False),
            alt.X2("high:Q"),
            alt.Y("density:Q", title="density"),
            alt.Y2(datum=0),
            alt.Color("class:N", title=None).scale(colours),
            tooltip=[
                alt.Tooltip("class:N"),
                *(alt.Tooltip(f"{name}:Q", format=".4g") for name in ("low", "high", "density")),
            ],
        )
    ]
    titles = [] if panel.value is None else [str(panel.value)]
    if panel.threshold is not None:
        layers.append(parts.rule(panel.threshold, "x", parts.ink()))
        titles.append(f"from {panel.threshold:g} on {panel.at_threshold}")
    return parts.layered(layers, side, side, titles)
