"""PR and ROC curves whose points tell threshold, k, tp and fp."""

from collections.abc import Sequence
from typing import Any
from zlib import crc32

import altair as alt
import numpy as np
import polars as pl

from prframe._preparation.colours import looks
from prframe._preparation.curves import (
    EQUAL_F,
    Chance,
    CurvePicture,
    Legend,
    Lines,
    chance_levels,
    check_legend,
    equal_f,
    opacity_of,
    pr_picture,
    roc_picture,
)
from prframe._preparation.points import LEVELS, Points, middles, precision_at
from prframe.chart import parts
from prframe.chart.parts import Chart

_SHOWN_AT_POINT = ("threshold", "k", "tp", "fp")
# A curve has twice as many columns as a panel has pixels, as screens have two dots per pixel, or
# its part of as many as a page should hold, but no fewer than the last number.
_MOST_COLUMNS, _ALL_COLUMNS, _FEWEST = 2 * parts.SIDE, 1000, 11
_PR, _ROC = ("recall", "precision"), ("false positive rate", "true positive rate")


def curve(
    result: object,
    *,
    color: str | None = None,
    facet: str | None = None,
    over: str | None = None,
    band: object = None,
    chance: Chance = None,
    iso_f: bool = False,
    legend: Legend = "auto",
    palette: Sequence[str] | None = None,
) -> Chart:
    """Draw precision-recall curves; the point at the pointer tells threshold, k, tp and fp.

    Parameters
    ----------
    result : frame
        A result of `prframe.curve` or `prframe.band`.
    color, facet, over, band, chance, iso_f, legend, palette
        As in `prframe.plot.curve`. With `over` the thin lines have points at equally spaced
        recall levels.

    Returns
    -------
    altair chart

    Raises
    ------
    PrframeError
        As `prframe.plot.curve`.

    Notes
    -----
    Of each curve the first, last, lowest and highest point of each column of half a pixel, or
    wider if there are several curves, are drawn; the pointer can reach these.

    Examples
    --------
    >>> import prframe
    >>> one = prframe.datasets.load_digits().filter(query_id="q0038")
    >>> drawn = prframe.chart.curve(prframe.curve(one, by="system"))
    >>> print(prframe.chart.alt_text(drawn)[:62])
    Precision-recall curves of 6 groups. pixels: AP 0.759, precisi
    """
    check_legend(legend)
    columns = {"color": color, "facet": facet, "over": over}
    picture = pr_picture(result, columns, band)
    marks = looks(picture.groups, parts.palette_of(palette))
    drawn = _Drawn(picture, legend, palette, _PR)
    panels = []
    for value, panel in picture.panels.items():
        layers = drawn.bands(panel)
        if iso_f:
            layers += drawn.equal_f()
        for level, group in chance_levels(panel, chance):
            colour = parts.muted() if group is None else marks[group].colour
            layers.append(parts.rule(level, "y", colour, (2, 2)))
        layers += drawn.many(panel) if over is not None else drawn.lines(panel)
        panels.append(drawn.framed(value, layers))
    return parts.finished(panels, picture.text, picture.note)


def roc(
    result: object,
    *,
    color: str | None = None,
    facet: str | None = None,
    chance: bool = True,
    legend: Legend = "auto",
    palette: Sequence[str] | None = None,
) -> Chart:
    """Draw ROC curves; the point at the pointer tells threshold, k, tp and fp.

    Parameters
    ----------
    result : frame
        A result of `prframe.roc`.
    color, facet, chance, legend, palette
        As in `prframe.plot.roc`.

    Returns
    -------
    altair chart

    Raises
    ------
    PrframeError
        As `prframe.plot.roc`.

    Examples
    --------
    >>> import prframe
    >>> one = prframe.datasets.load_digits().filter(system="pca", query_id="q0038")
    >>> print(prframe.chart.alt_text(prframe.chart.roc(prframe.roc(one))))
    ROC curves of one group. area 0.651.
    """
    check_legend(legend)
    picture = roc_picture(result, {"color": color, "facet": facet})
    drawn = _Drawn(picture, legend, palette, _ROC)
    panels = [
        drawn.framed(value, [*(drawn.diagonal() if chance else []), *drawn.lines(panel)])
        for value, panel in picture.panels.items()
    ]
    return parts.finished(panels, picture.text)


class _Drawn:
    """The layers of panels of curves, which share scales and colours."""

    def __init__(
        self,
        picture: CurvePicture,
        legend: Legend,
        palette: Sequence[str] | None,
        labels: tuple[str, str],
    ) -> None:
        self._picture, self._labels = picture, labels
        count = sum(len(lines.curves) for lines in picture.lines)
        self._columns = max(_FEWEST, min(_MOST_COLUMNS, _ALL_COLUMNS // count))
        self.side = parts.SIDE if len(picture.panels) == 1 else parts.SIDE // 2
        self._marks = marks = looks(picture.groups, parts.palette_of(palette))
        self._names = {group: f"{group}{area}" for group, area in picture.areas(legend).items()}
        title = picture.color if legend is not None else None
        self._colours = parts.colours(marks, title, self._names)
        x = alt.X("x:Q", title=labels[0]).scale(domain=[0, 1])
        self._x = x.axis(labelOverlap=True, tickCount=5)
        self._y = alt.Y("y:Q", title=labels[1]).scale(domain=[0, 1])

    def framed(self, value: object, layers: Sequence[Any]) -> alt.LayerChart:
        """Return a panel of layers."""
        title = None if value is None else str(value)
        return parts.layered(layers, self.side, self.side, title)

    def bands(self, panel: Sequence[Lines]) -> list[Any]:
        """Return the bands of a panel."""
        layers = []
        for part in panel:
            if (rows := part.band) is None or rows.is_empty():
                continue
            recall = rows["recall"].to_numpy()
            levels = recall
            if len(recall) > LEVELS:
                levels = np.linspace(recall[0], recall[-1], LEVELS)
            ends = {
                name: np.interp(levels, recall, rows[column].to_numpy())
                for name, column in (("y", "conf_low"), ("high", "conf_high"))
            }
            shaded = pl.DataFrame({"x": levels, **ends})
            colour = self._marks[part.group].colour
            area = parts.chart_of(shaded).mark_area(color=colour, opacity=0.2, clip=True)
            layers.append(area.encode(self._x, self._y, alt.Y2("high:Q")))
        return layers

    def lines(self, panel: Sequence[Lines]) -> list[Any]:
        """Return the curves of a panel, and what the pointer finds there."""
        layers = []
        for has_steps in (True, False):
            frames = [
                self._points(lines.group, lines.curves[0])
                for lines in panel
                if lines.curves[0].has_steps == has_steps
            ]
            if frames:
                layers += self._line_and_points(pl.concat(frames, how="diagonal"), has_steps)
        return layers

    def _points(self, group: object, points: Points) -> pl.DataFrame:
        """Return the rows of a curve that are drawn."""
        x, y, kept = points.drawn(self._columns)
        columns = {"x": x, "y": y, "place": np.arange(len(kept))}
        drawn = pl.DataFrame(columns).with_columns(group=pl.lit(self._names[group]))
        told = [name for name in _SHOWN_AT_POINT if name in points.rows.columns]
        return drawn.hstack(points.rows.select(told)[kept]) if told else drawn

    def _line_and_points(self, rows: pl.DataFrame, has_steps: bool) -> list[Any]:  # noqa: FBT001
        """Return lines, and on them the points of which the one at the pointer is seen."""
        base = parts.chart_of(rows).encode(self._x, self._y, *self._colours)
        shape: Any = "step-before" if has_steps else "linear"
        line = base.mark_line(interpolate=shape, strokeWidth=1.6)
        pointer = alt.selection_point(
            # Charts that are joined keep their pointers apart.
            name=f"pointer_{crc32(rows.write_json().encode()):x}",
            nearest=True,
            on="pointerover",
            clear="pointerout",
            empty=False,
        )
        told = [parts.told(*pair) for pair in zip("xy", self._labels, strict=True)]
        told += [alt.Tooltip(f"{name}:Q") for name in _SHOWN_AT_POINT if name in rows.columns]
        if self._picture.color is not None:
            # Without a format Vega-Lite tells no names where the nearest point is looked for.
            told.insert(0, alt.Tooltip("group:N", title=self._picture.color, format=""))
        # The text of the chart is read aloud instead of every point.
        dots = base.mark_point(filled=True, size=60, strokeDash=[1, 0], aria=False).encode(
            opacity=alt.when(pointer).then(alt.value(1)).otherwise(alt.value(0)), tooltip=told
        )
        return [line.encode(alt.Order("place:Q")), dots.add_params(pointer)]

    def many(self, panel: Sequence[Lines]) -> list[Any]:
        """Return thin grey curves with their mean and their median."""
        levels = np.linspace(0, 1, min(4 * self._columns, LEVELS))
        fine = np.linspace(0, 1, LEVELS)
        layers = []
        for lines in panel:
            thin = pl.concat(
                pl.DataFrame(
                    {"x": levels, "y": precision_at(points.x, points.y, levels), "curve": number}
                )
                for number, points in enumerate(lines.curves)
            )
            grey = parts.chart_of(thin).mark_line(
                color=parts.muted(), strokeWidth=0.5, opacity=opacity_of(len(lines.curves))
            )
            layers.append(grey.encode(self._x, self._y, alt.Detail("curve:N")))
            pairs = [(points.x, points.y) for points in lines.curves]
            for values, width, dashes in zip(
                middles(pairs, fine), (2.4, 1.2), ([1, 0], [4, 2]), strict=True
            ):
                line = pl.DataFrame({"x": fine, "y": values, "group": self._names[lines.group]})
                bold = parts.chart_of(line).mark_line(strokeWidth=width, strokeDash=dashes)
                layers.append(bold.encode(self._x, self._y, self._colours[0]))
        return layers

    def diagonal(self) -> list[Any]:
        """Return the dotted diagonal."""
        rows = parts.chart_of(pl.DataFrame({"x": [0, 1], "y": [0, 1]}))
        mark = rows.mark_line(color=parts.muted(), strokeDash=[2, 2], strokeWidth=1)
        return [mark.encode(self._x, self._y)]

    def equal_f(self) -> list[Any]:
        """Return lines of equal F1, each with its value at the right end."""
        frames = []
        for level in EQUAL_F:
            recall, precision = equal_f(level)
            frames.append(pl.DataFrame({"x": recall, "y": precision, "F1": level}))
        rows = pl.concat(frames)
        base = parts.chart_of(rows).encode(self._x, self._y)
        line = base.mark_line(color=parts.muted(), strokeWidth=0.6, clip=True)
        ends = rows.group_by("F1").last().with_columns(name=pl.format("F1 {}", "F1"))
        text = parts.chart_of(ends).mark_text(align="left", dx=3, fontSize=9, color=parts.muted())
        named = text.encode(self._x, self._y, alt.Text("name:N"))
        return [line.encode(alt.Detail("F1:N")), named]
