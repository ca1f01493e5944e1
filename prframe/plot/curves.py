"""PR, ROC and PR-gain curves."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from prframe._preparation.colours import Look, looks
from prframe._preparation.curves import (
    EQUAL_F,
    Chance,
    CurvePicture,
    Legend,
    Lines,
    chance_levels,
    check_legend,
    equal_f,
    gain_picture,
    opacity_of,
    pr_picture,
    roc_picture,
)
from prframe._preparation.points import LEVELS, Points, middles
from prframe.plot import figures

_LONGEST_BESIDE_AREA = 30


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
    ax: Axes | None = None,
) -> Axes | Figure:
    """Draw precision-recall curves.

    Curves with a row per threshold are drawn in steps, so that the area below them is AP. Curves
    at chosen recall levels, and those of `prframe.band`, are drawn as lines through the levels.

    Parameters
    ----------
    result : frame
        A result of `prframe.curve` or `prframe.band`.
    color, facet : str, optional
        The column ``by`` for colours and dashes (up to 18 values), and the one for panels (up to
        24). A single remaining column gets the colours.
    over : str, optional
        The column of queries or folds: a thin grey line each, their mean bold, their median
        dashed.
    band : frame, optional
        A result of `prframe.band` with the same columns ``by``.
    chance : float or mapping of group to float, optional
        The precision of random rankings, the share of positives, drawn as a dotted line.
    iso_f : bool, default False
        Whether lines of equal F1 are drawn.
    legend : {"auto", "name"} or None, default "auto"
        The groups with their AP where the curves have all points, their names alone, or nothing.
    palette : sequence of str, optional
        Colours, by default `PALETTE` or `PALETTE_DARK`.
    ax : matplotlib Axes, optional
        Where to draw, by default a new figure.

    Returns
    -------
    matplotlib Axes, or Figure with ``facet``

    Raises
    ------
    PrframeError
        If the frame is no such result, if its columns ``by`` are not all named, or if there are
        more groups than colours and dashes distinguish.

    Examples
    --------
    >>> import prframe
    >>> runs = prframe.datasets.load_digits()
    >>> one = runs.filter(query_id="q0038")
    >>> ax = prframe.plot.curve(prframe.curve(one, by="system"))
    >>> print(prframe.plot.alt_text(ax)[:62])
    Precision-recall curves of 6 groups. pixels: AP 0.759, precisi
    """
    check_legend(legend)
    columns = {"color": color, "facet": facet, "over": over}
    picture = pr_picture(result, columns, band)

    def draw(ax: Axes, panel: Sequence[Lines], marks: dict[object, Look]) -> None:
        if iso_f:
            _equal_f(ax)
        for lines in panel:
            if lines.band is not None:
                recall, low, high = lines.band["recall", "conf_low", "conf_high"]
                colour = marks[lines.group].colour
                ax.fill_between(recall, low, high, color=colour, alpha=0.2, linewidth=0)
            if over is not None:
                _draw_many(ax, lines.curves, marks[lines.group])
        if over is None:
            _draw_each(ax, panel, marks)
        for level, group in chance_levels(panel, chance):
            colour = figures.muted(ax) if group is None else marks[group].colour
            ax.axhline(level, color=colour, linestyle=":", linewidth=1, zorder=2)

    return _drawn(picture, ("recall", "precision"), draw, legend, palette, ax)


def roc(
    result: object,
    *,
    color: str | None = None,
    facet: str | None = None,
    chance: bool = True,
    legend: Legend = "auto",
    palette: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes | Figure:
    """Draw ROC curves.

    Parameters
    ----------
    result : frame
        A result of `prframe.roc`.
    chance : bool, default True
        Whether the line of random rankings is drawn.
    color, facet, legend, palette, ax
        As in `curve`; the legend has the areas under the curves.

    Returns
    -------
    matplotlib Axes, or Figure with ``facet``

    Raises
    ------
    PrframeError
        As `curve`.

    Examples
    --------
    >>> import prframe
    >>> one = prframe.datasets.load_digits().filter(system="pca", query_id="q0038")
    >>> ax = prframe.plot.roc(prframe.roc(one))
    >>> print(prframe.plot.alt_text(ax))
    ROC curves of one group. area 0.651.
    """
    check_legend(legend)
    picture = roc_picture(result, {"color": color, "facet": facet})

    def draw(ax: Axes, panel: Sequence[Lines], marks: dict[object, Look]) -> None:
        if chance:
            ax.plot([0, 1], [0, 1], color=figures.muted(ax), linestyle=":", linewidth=1)
        _draw_each(ax, panel, marks)

    labels = ("false positive rate", "true positive rate")
    return _drawn(picture, labels, draw, legend, palette, ax)


def gain(
    result: object,
    *,
    color: str | None = None,
    facet: str | None = None,
    legend: Legend = "auto",
    palette: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes | Figure:
    """Draw precision-recall-gain curves, in which areas are AUPRG.

    Parts of a curve with a negative gain of precision lie below the picture; their area counts
    too.

    Parameters
    ----------
    result : frame
        A result of `prframe.curve` with ``gain=True``.
    color, facet, legend, palette, ax
        As in `curve`; the legend has the areas under the curves where all items are retrieved.

    Returns
    -------
    matplotlib Axes, or Figure with ``facet``

    Raises
    ------
    PrframeError
        As `curve`, or if the result has chosen levels of recall, or a curve no retrieved positive.

    References
    ----------
    Flach & Kull, *Precision-recall-gain curves: PR analysis done right*, NeurIPS 2015.

    Examples
    --------
    >>> import polars as pl, prframe
    >>> frame = pl.DataFrame({"score": [0.9, 0.8, 0.7, 0.6], "label": [1, 0, 1, 0]})
    >>> ax = prframe.plot.gain(prframe.curve(frame, gain=True))
    >>> print(prframe.plot.alt_text(ax))
    Precision-recall-gain curves of one group. area 0.250.
    """
    check_legend(legend)
    picture = gain_picture(result, {"color": color, "facet": facet})
    return _drawn(picture, ("recall gain", "precision gain"), _draw_each, legend, palette, ax)


def _drawn(  # noqa: PLR0917
    picture: CurvePicture,
    labels: tuple[str, str],
    draw: Callable[[Axes, Sequence[Lines], dict[object, Look]], None],
    legend: Legend,
    palette: Sequence[str] | None,
    ax: Axes | None,
) -> Axes | Figure:
    """Draw the panels of a picture, with square axes, a legend and a note."""
    figure, axes = figures.grid(len(picture.panels), ax)
    marks = looks(picture.groups, figures.palette_of(axes[0], palette))
    for on, (value, panel) in zip(axes, picture.panels.items(), strict=True):
        on.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0), xlabel=labels[0], ylabel=labels[1])
        on.set_box_aspect(1)
        if value is not None:
            figures.title(on, value)
            figures.shares(on, "y")
            figures.shares(on, "x")
        draw(on, panel, marks)
    figures.label_outer(axes)
    figures.note(axes[-1], labels[0], picture.note)
    if legend is not None and picture.color is not None:
        names = {
            group: (figures.cut(group, _LONGEST_BESIDE_AREA) if area else str(group)) + area
            for group, area in picture.areas(legend).items()
        }
        figures.legend(axes[0], names, marks)
    return figures.described(axes[0] if picture.facet is None else figure, picture.text)


def _draw_each(ax: Axes, panel: Sequence[Lines], marks: dict[object, Look]) -> None:
    """Draw the curve of each group."""
    for lines in panel:
        points, look = lines.curves[0], marks[lines.group]
        # A line along the border is drawn in its full width.
        is_clipped = float(points.y.min()) < 0
        style = {"color": look.colour, "linestyle": figures.line_style(look)}
        _draw(ax, points, clip_on=is_clipped, zorder=3, **style)


def _draw(ax: Axes, points: Points, **options: Any) -> None:  # noqa: ANN401 - of matplotlib
    """Draw a curve with the points that its picture needs."""
    x, y, _ = points.drawn(figures.pixel_columns(ax))
    ax.plot(x, y, drawstyle="steps-pre" if points.has_steps else "default", **options)


def _draw_many(ax: Axes, curves: Sequence[Points], look: Look) -> None:
    """Draw thin grey curves as an image, with their mean and their median."""
    thin = {"color": figures.muted(ax), "linewidth": 0.5, "alpha": opacity_of(len(curves))}
    for points in curves:
        _draw(ax, points, rasterized=True, zorder=1, **thin)
    levels = np.linspace(0, 1, LEVELS)
    mean, median = middles([(points.x, points.y) for points in curves], levels)
    ax.plot(levels, mean, color=look.colour, linewidth=2.2, zorder=4)
    ax.plot(levels, median, color=look.colour, linestyle=(0, (4, 2)), linewidth=1, zorder=4)


def _equal_f(ax: Axes) -> None:
    """Draw lines of equal F1, each with its value at the right end."""
    grey = figures.muted(ax)
    for level in EQUAL_F:
        ax.plot(*equal_f(level), color=grey, linewidth=0.6, zorder=0)
        end = (1.0, level / (2 - level))
        figures.beside(ax, f"F1 {level:g}", end, (2, 0), color=grey, fontsize="x-small")
