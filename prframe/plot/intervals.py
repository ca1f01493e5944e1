"""Estimates with their intervals."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from prframe._preparation.forests import ForestPanel, forest
from prframe.plot import figures


def interval(
    result: object,
    *,
    y: str | None = None,
    facet: str = "metric",
    letters: object = None,
    sort: str | None = "estimate",
    alpha: float = 0.05,
    ax: Axes | None = None,
) -> Axes | Figure:
    """Draw estimates with their confidence intervals, a row per system and a panel per metric.

    A result of `prframe.compare` has a row per pair of systems, with the difference of the two.

    Parameters
    ----------
    result : frame
        A result of `prframe.interval`, or of `prframe.compare`.
    y : str, optional
        The column with a row per value; the only column ``by`` unless given, the pair of a
        comparison.
    facet : str, default "metric"
        The column with a panel per value.
    letters : frame, optional
        A result of `prframe.compare` of the same systems. Systems that share no letter are told
        apart, which intervals do not say.
    sort : {"estimate"} or None, default "estimate"
        Whether the largest estimate of the first panel is on top; otherwise rows stand in the
        order of the result.
    alpha : float, default 0.05
        The level of the letters.
    ax : matplotlib Axes, optional
        Where to draw one panel; a new figure unless given.

    Returns
    -------
    matplotlib Axes, or Figure with several panels

    Raises
    ------
    PrframeError
        If the frame is no such result, or lacks a column or system.

    Examples
    --------
    >>> import prframe
    >>> runs = prframe.datasets.load_digits()
    >>> means = prframe.interval(runs, "P@10", by="system", over="query_id")
    >>> ax = prframe.plot.interval(means)
    >>> print(prframe.plot.alt_text(ax)[:60])
    P@10 with 95% confidence intervals: pixels 0.974 [0.958, 0.9
    """
    drawn = forest(result, y=y, facet=facet, letters=letters, sort=sort, alpha=alpha)
    height = figures.ems(8 + 2.1 * len(drawn.names))
    figure, axes = figures.grid(len(drawn.panels), ax, height=height, shared="y")
    for on, panel in zip(axes, drawn.panels, strict=True):
        _forest(on, panel, drawn.names)
        if drawn.is_of_differences:
            on.axvline(0, color=figures.ink(on), linewidth=0.8)
        on.set_xlabel(figures.short(panel.value))
    note = f"differences with {drawn.note}" if drawn.is_of_differences else drawn.note
    figures.note(axes[-1], axes[-1].get_xlabel(), note)
    return figures.described(axes[0] if len(axes) == 1 else figure, drawn.text)


def _forest(ax: Axes, panel: ForestPanel, names: list[Any]) -> None:
    """Draw the rows of a panel."""
    colour = figures.palette_of(ax)[0]
    font = figures.row_font(ax, len(names), "legend.fontsize")
    for at, name in enumerate(names):
        if name not in panel.estimates:
            continue
        estimate, low, high = (
            np.nan if value is None else value for value in panel.estimates[name]
        )
        ax.plot([low, high], [at, at], color=colour, linewidth=1.6, solid_capstyle="butt")
        ax.plot([estimate], [at], color=colour, marker="o", markersize=figures.dot())
        if name in panel.letters:
            letters, where = panel.letters[name], ("axes fraction", "data")
            figures.beside(ax, letters, (1.0, at), (3, 0), where, fontsize=font)
    figures.name_rows(ax, names)
    figures.ticks(ax, "x")
