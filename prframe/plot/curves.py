"""PR and ROC curves."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from prframe import checks
from prframe._preparation import wording
from prframe._preparation.colours import Look, looks
from prframe._preparation.mean_curves import LEVELS, middles
from prframe._preparation.panels import Lines, Panel, Roles, groups, panels, roles
from prframe._preparation.points import Points, have_areas, pr_points, roc_points
from prframe._preparation.results import Result, read
from prframe._preparation.thinning import column_edges, kept_points
from prframe.errors import PrframeError
from prframe.plot import figures
from prframe.typing import Floats

Legend: TypeAlias = Literal["auto", "name"] | None

_MOST_BANDS = 2
_MOST_TOLD = 8
_ISO_F = (0.2, 0.4, 0.6, 0.8)


def curve(
    result: object,
    *,
    color: str | None = None,
    facet: str | None = None,
    over: str | None = None,
    band: object = None,
    chance: float | Mapping[object, float] | None = None,
    iso_f: bool = False,
    x_log: bool = False,
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
        The column ``by`` whose values colours and dashes tell apart, up to 15, and the one with a
        panel per value, up to 24. The only column that is not named gets the colours.
    over : str, optional
        The column of queries or folds: one thin grey line each, their mean bold, their median
        dashed.
    band : frame, optional
        A result of `prframe.band` with the same columns ``by``. At most two bands share a panel.
    chance : float or mapping of group to float, optional
        The precision of random rankings, the share of positives, drawn as a dotted line.
    iso_f : bool, default False
        Whether lines of equal F1 are drawn.
    x_log : bool, default False
        Whether recall has a logarithmic scale.
    legend : {"auto", "name"} or None, default "auto"
        What the legend says: the groups with their AP where the curves have all points, their
        names alone, or nothing.
    palette : sequence of str, optional
        Colours, `PALETTE` or `PALETTE_DARK` unless given.
    ax : matplotlib Axes, optional
        Where to draw; a new figure unless given.

    Returns
    -------
    matplotlib Axes, or Figure with ``facet``

    Raises
    ------
    PrframeError
        If the frame is no such result, if its columns ``by`` are not all named, or if there are
        more groups than can be told apart.

    Notes
    -----
    Of each curve the first, last, lowest and highest point per pixel column are drawn, at 300 dots
    per inch or more, so that no pixel is more than one off; of a million rows a few thousand
    points are left.

    Examples
    --------
    >>> import prframe
    >>> runs = prframe.datasets.load_digits()
    >>> one = runs.filter(query_id="q0038")
    >>> ax = prframe.plot.curve(prframe.curve(one, by="system"))
    >>> print(prframe.plot.alt_text(ax)[:62])
    Precision-recall curves of 6 groups. pixels: AP 0.759, precisi
    """
    drawn = _defined(read(result, "curve"), "recall", "precision")
    _check_legend(legend)
    shown = roles(drawn, color, facet, over)
    split = panels(drawn, shown, pr_points)
    bands = _bands(drawn if band is None else read(band, "band", "band"), shown)
    figure, axes = figures.grid(len(split), ax)
    marks = looks(groups(split), figures.palette_of(axes[0], palette))
    drawn_points = [points for panel in split for group in panel.lines for points in group.curves]
    low = _least([points.x for points in drawn_points]) if x_log else 0.0
    for on, panel in zip(axes, split, strict=True):
        _frame(on, panel.value, low, ("recall", "precision"))
        if iso_f:
            _equal_f(on, low)
        _shade(on, panel, bands, marks)
        for lines in panel.lines:
            if over is None:
                _draw(on, lines.curves[0], marks[lines.group], low)
            else:
                _draw_many(on, lines.curves, marks[lines.group], low)
        _chance_lines(on, panel, chance, marks)
    figures.label_outer(axes)
    if over is not None:
        _say_what_is_bold(figure, axes, max(len(lines.curves) for lines in split[0].lines))
    has_areas = have_areas(drawn_points)
    measure = "AP" if legend == "auto" and over is None and has_areas else None
    _name(axes[0], split, shown, marks, measure, legend)
    return _returned(figure, axes, shown, _pr_text(split, shown, has_areas=has_areas))


def roc(
    result: object,
    *,
    color: str | None = None,
    facet: str | None = None,
    chance: bool = True,
    x_log: bool = False,
    legend: Legend = "auto",
    palette: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes | Figure:
    """Draw ROC curves.

    Parameters
    ----------
    result : frame
        A result of `prframe.roc`.
    color, facet : str, optional
        The columns ``by`` that colours tell apart and that have a panel per value, as in `curve`.
    chance : bool, default True
        Whether the line of random rankings is drawn.
    x_log : bool, default False
        Whether the false positive rate has a logarithmic scale.
    legend : {"auto", "name"} or None, default "auto"
        What the legend says: the groups with the areas under their curves, their names, or
        nothing.
    palette : sequence of str, optional
        Colours.
    ax : matplotlib Axes, optional
        Where to draw; a new figure unless given.

    Returns
    -------
    matplotlib Axes, or Figure with ``facet``

    Raises
    ------
    PrframeError
        If the frame is no such result, if its columns ``by`` are not all named, or if there are
        more groups than can be told apart.

    Examples
    --------
    >>> import prframe
    >>> one = prframe.datasets.load_digits().filter(system="pca", query_id="q0038")
    >>> ax = prframe.plot.roc(prframe.roc(one))
    >>> print(prframe.plot.alt_text(ax))
    ROC curves of one group. area 0.651.
    """
    drawn = _defined(read(result, "roc"), "fpr", "tpr")
    _check_legend(legend)
    shown = roles(drawn, color, facet, None)
    split = panels(drawn, shown, roc_points)
    figure, axes = figures.grid(len(split), ax)
    marks = looks(groups(split), figures.palette_of(axes[0], palette))
    drawn_points = [points for panel in split for group in panel.lines for points in group.curves]
    low = _least([points.x for points in drawn_points]) if x_log else 0.0
    for on, panel in zip(axes, split, strict=True):
        _frame(on, panel.value, low, ("false positive rate", "true positive rate"))
        if chance:
            diagonal = column_edges(low, 1.0, 200, log=x_log)
            on.plot(diagonal, diagonal, color=figures.muted(on), linestyle=":", linewidth=1)
        for lines in panel.lines:
            _draw(on, lines.curves[0], marks[lines.group], low)
    figures.label_outer(axes)
    _name(axes[0], split, shown, marks, "AUC" if legend == "auto" else None, legend)
    told = [
        f"{_called(panel, lines, shown)}area {wording.number(lines.curves[0].area)}."
        for panel in split
        for lines in panel.lines
    ]
    return _returned(figure, axes, shown, _text("ROC", split, told))


def _check_legend(legend: Legend) -> None:
    """Require a known kind of legend."""
    if legend is not None:
        checks.one_of("legend", legend, ("auto", "name"), in_order=True)


def _defined(result: Result, x: str, y: str) -> Result:
    """Return the rows of a result that have a value."""
    rows = result.rows.drop_nulls([x, y])
    if rows.is_empty():
        raise PrframeError("the curves must have points; all of them are undefined.")
    return Result(rows, result.keys, result.back)


def _least(values: Sequence[Floats]) -> float:
    """Return the least positive value, at which a logarithmic scale begins."""
    least = [float(part[part > 0].min(initial=1.0)) for part in values]
    return min([*least, 0.1])


def _frame(ax: Axes, value: object, low: float, labels: tuple[str, str]) -> None:
    """Prepare square axes with equal limits; a lower limit above 0 is that of a log scale."""
    if low > 0:
        ax.set_xscale("log")
    ax.set(xlim=(low, 1.0), ylim=(0.0, 1.0), xlabel=labels[0], ylabel=labels[1])
    ax.set_box_aspect(1)
    if value is not None:
        if low <= 0:
            ax.set_xticks([0, 0.5, 1])
        ax.set_title(figures.short(value, 28))


def _draw(ax: Axes, points: Points, look: Look, low: float) -> None:
    """Draw a curve with the points that its picture needs."""
    x = np.maximum(points.x, low) if low > 0 else points.x
    kept = kept_points(x, points.y, column_edges(low, 1.0, figures.pixel_columns(ax), log=low > 0))
    ax.plot(
        x[kept],
        points.y[kept],
        color=look.colour,
        linestyle=figures.line_style(look),
        drawstyle="steps-pre" if points.has_steps else "default",
        # A line along the border is drawn in its full width.
        clip_on=low > 0,
        zorder=3,
    )


def _draw_many(ax: Axes, curves: Sequence[Points], look: Look, low: float) -> None:
    """Draw thin grey curves as an image, with their mean and their median."""
    grey, edges = figures.muted(ax), column_edges(low, 1.0, figures.pixel_columns(ax), log=low > 0)
    for points in curves:
        kept = kept_points(points.x, points.y, edges)
        ax.plot(
            points.x[kept],
            points.y[kept],
            color=grey,
            drawstyle="steps-pre" if points.has_steps else "default",
            linewidth=0.5,
            alpha=max(0.12, min(0.6, 20 / len(curves))),
            rasterized=True,
            zorder=1,
        )
    levels = column_edges(low, 1.0, LEVELS - 1, log=low > 0)
    mean, median = middles([(points.x, points.y) for points in curves], levels)
    ax.plot(levels, mean, color=look.colour, linewidth=2.2, zorder=4)
    ax.plot(levels, median, color=look.colour, linestyle=(0, (4, 2)), linewidth=1, zorder=4)


def _say_what_is_bold(figure: Figure, axes: Sequence[Axes], count: int) -> None:
    """Write a note on many curves."""
    words = f"{count} curves, their mean bold, their median dashed"
    if len(axes) == 1:
        figures.note(axes[0], "recall", words)
    else:
        figures.note_below(figure, words)


def _bands(result: Result, shown: Roles) -> dict[tuple[object, object], pl.DataFrame]:
    """Return the band of each panel and group, none if the result has none."""
    if not {"conf_low", "conf_high"} <= set(result.rows.columns):
        return {}
    columns = {column for column in (shown.color, shown.facet) if column is not None}
    if columns != set(result.keys):
        raise PrframeError(
            f"`band` must have the columns by of the curves, {checks.listed(columns)}; it has "
            f"{checks.listed(result.keys) or 'none'}."
        )
    rows = result.rows.drop_nulls(["conf_low", "conf_high"])
    defined = Result(rows, result.keys, result.back)
    split = panels(defined, shown, lambda part: part.sort("recall"))
    return {
        (panel.value, lines.group): lines.curves[0] for panel in split for lines in panel.lines
    }


def _shade(
    ax: Axes,
    panel: Panel[Points],
    bands: Mapping[tuple[object, object], pl.DataFrame],
    marks: Mapping[object, Look],
) -> None:
    """Draw the bands of a panel."""
    there = [lines.group for lines in panel.lines if (panel.value, lines.group) in bands]
    if len(there) > _MOST_BANDS:
        raise PrframeError(
            f"{len(there)} bands in one panel hide each other; at most {_MOST_BANDS} may. Name "
            "the column of groups in facet=, or show differences with prframe.compare_curves."
        )
    for group in there:
        rows = bands[panel.value, group]
        low, high = (np.clip(rows[name].to_numpy(), 0, 1) for name in ("conf_low", "conf_high"))
        colour = marks[group].colour
        ax.fill_between(rows["recall"].to_numpy(), low, high, color=colour, alpha=0.2, linewidth=0)


def _equal_f(ax: Axes, low: float) -> None:
    """Draw lines of equal F1, each with its value at the right end."""
    grey = figures.muted(ax)
    for level in _ISO_F:
        recall = np.linspace(max(level / (2 - level), low), 1.0, 200)
        precision = level * recall / (2 * recall - level)
        ax.plot(recall, precision, color=grey, linewidth=0.6, zorder=0)
        ax.annotate(
            f"F1 {level:g}",
            (1.0, level / (2 - level)),
            xytext=(2, 0),
            textcoords="offset points",
            color=grey,
            fontsize="x-small",
            va="center",
            annotation_clip=False,
        )


def _chance_lines(
    ax: Axes,
    panel: Panel[Points],
    chance: float | Mapping[object, float] | None,
    marks: Mapping[object, Look],
) -> None:
    """Draw the precision of random rankings."""
    if chance is None:
        return
    if not isinstance(chance, Mapping):
        level = checks.fraction("chance", chance)
        ax.axhline(level, color=figures.muted(ax), linestyle=":", linewidth=1, zorder=2)
        return
    for lines in panel.lines:
        named = lines.group if lines.group in chance else panel.value
        if named in chance:
            height = checks.fraction("chance", chance[named])
            ax.axhline(height, color=marks[lines.group].colour, linestyle=":", linewidth=1)


def _name(  # noqa: PLR0917
    ax: Axes,
    split: Sequence[Panel[Points]],
    shown: Roles,
    marks: Mapping[object, Look],
    measure: str | None,
    legend: Legend,
) -> None:
    """Write the legend, with the areas below the curves where there is one panel."""
    if legend is None or shown.color is None:
        return
    names = {group: str(group) for group in marks}
    if measure is not None and len(split) == 1:
        areas = {lines.group: lines.curves[0].area for lines in split[0].lines}
        longest = max(len(name) for name in names.values())
        names = {
            group: figures.cut(name, min(longest, 30))
            + ("" if areas[group] is None else f", {measure} {wording.number(areas[group])}")
            for group, name in names.items()
        }
    figures.legend(ax, names, marks)


def _pr_text(split: Sequence[Panel[Points]], shown: Roles, *, has_areas: bool) -> str:
    """Say in words and numbers what PR curves show."""
    told = []
    for panel in split:
        for lines in panel.lines:
            if shown.over is None:
                points = lines.curves[0]
                is_known = has_areas and points.area is not None
                ap = f"AP {wording.number(points.area)}, " if is_known else ""
                levels = np.array([0.2, 0.5, 0.8])
                ends = float(points.x[-1])
            else:
                ap = f"mean of {len(lines.curves)} curves, "
                levels, ends = np.array([0.2, 0.5, 0.8]), 1.0
            pairs = [(points.x, points.y) for points in lines.curves]
            mean, _ = middles(pairs, levels)
            values = wording.joined([wording.number(value, 2) for value in mean])
            to = "" if ends >= 1 else f", to recall {wording.number(ends, 2)}"
            told.append(
                f"{_called(panel, lines, shown)}{ap}precision {values} at recall 0.2, 0.5 and "
                f"0.8{to}."
            )
    return _text("Precision-recall", split, told)


def _text(kind: str, split: Sequence[Panel[Points]], told: Sequence[str]) -> str:
    """Say what curves there are, and what the first ones show."""
    size, parts = len(groups(split)), len(split)
    of = f"{size} groups" if size > 1 else "one group"
    inside = f" in {parts} panels" if parts > 1 else ""
    more = f" {len(told) - _MOST_TOLD} more." if len(told) > _MOST_TOLD else ""
    return " ".join([f"{kind} curves of {of}{inside}.", *told[:_MOST_TOLD]]) + more


def _called(panel: Panel[Points], lines: Lines[Points], shown: Roles) -> str:
    """Name a line in front of what is said of it."""
    names = [
        str(value)
        for value, column in ((panel.value, shown.facet), (lines.group, shown.color))
        if column is not None
    ]
    return f"{', '.join(names)}: " if names else ""


def _returned(figure: Figure, axes: Sequence[Axes], shown: Roles, text: str) -> Axes | Figure:
    """Return the figure of several panels, else the axes, with the text noted."""
    if shown.facet is None:
        return figures.described(axes[0], text)
    return figures.described(figure, text)
