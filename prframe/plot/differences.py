"""Differences of two systems: of their curves, and query by query."""

from textwrap import shorten
from typing import Unpack

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from prframe import checks
from prframe._preparation import wording
from prframe._preparation.differences import (
    EQUAL,
    curve_difference_text,
    curve_differences,
    query_differences,
)
from prframe._preparation.results import Facts
from prframe._preparation.thinning import spread
from prframe.plot import figures

_MOST_TEXT = 30
_MANY = 2000


def curve_difference(
    compare_curves_result: object,
    *,
    pair: tuple[object, object] | None = None,
    ax: Axes | None = None,
    **facts: Unpack[Facts],
) -> Axes | Figure:
    """Draw differences of precision with their confidence band, along recall.

    Parameters
    ----------
    compare_curves_result : frame
        A result of `prframe.compare_curves`.
    pair : tuple of two systems, optional
        The pair to draw; otherwise every pair has a panel.
    ax : matplotlib Axes, optional
        Where to draw; a new figure unless given.
    **facts
        What the frame does not say and the caption should: ``confidence_level``,
        ``simultaneous``, ``ties``.

    Returns
    -------
    matplotlib Axes, or Figure with several pairs

    Raises
    ------
    PrframeError
        If the frame is no such result, or has no such pair.

    Examples
    --------
    >>> import polars as pl
    >>> import prframe
    >>> one = prframe.datasets.load_digits().filter(query_id="q0038")
    >>> two = one.filter(pl.col("system").is_in(["pixels", "ink"]))
    >>> options = {"model": "system", "item": "item_id", "incomplete": "last", "rng": 1}
    >>> options |= {"baseline": "ink"}
    >>> compared = prframe.compare_curves(two, recall=[0.2, 0.4, 0.6], **options)
    >>> ax = prframe.plot.curve_difference(compared)
    >>> print(prframe.plot.alt_text(ax)[:49])
    Difference of precision, pixels minus ink: +0.825
    """
    result, parts = curve_differences(compare_curves_result, pair)
    figure, axes = figures.grid(len(parts), ax)
    for on, part in zip(axes, parts, strict=True):
        _one_difference(on, part)
        if len(parts) > 1:
            # Short labels keep apart from those of the next panel.
            on.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    known = result.facts(facts)
    figures.label_outer(axes)
    text = curve_difference_text(parts)
    if len(axes) == 1:
        figures.note(axes[0], "recall", wording.band_words(known))
        return figures.described(axes[0], text)
    figures.note_below(figure, wording.band_words(known))
    return figures.described(figure, text)


def _one_difference(ax: Axes, rows: pl.DataFrame) -> None:
    """Draw a pair."""
    a, b = rows["model_a"][0], rows["model_b"][0]
    colour = figures.palette_of(ax)[0]
    recall, difference = rows["recall"].to_numpy(), rows["difference"].to_numpy()
    low, high = rows["conf_low"].to_numpy(), rows["conf_high"].to_numpy()
    ax.fill_between(recall, low, high, color=colour, alpha=0.2, linewidth=0)
    ax.plot(recall, difference, color=colour)
    ax.axhline(0, color=figures.ink(ax), linewidth=0.8)
    ax.set(xlim=(0, 1), xlabel="recall")
    ax.set_ylabel("difference of precision")
    figures.title(ax, a, b)


def queries(
    per_query: object,
    a: object,
    b: object,
    *,
    metric: str,
    model: str = "system",
    query: str = "query_id",
    text: str | None = None,
    name: int = 5,
    ax: Axes | None = None,
) -> Axes:
    """Draw how much better a system is than another on each query, the largest difference first.

    Parameters
    ----------
    per_query : frame
        A result of `prframe.evaluate` with a row per system and query, wide or long.
    a, b : object
        The systems; a bar is the value of `a` minus that of `b`.
    metric : str
        The metric.
    model, query : str, default "system" and "query_id"
        The columns of systems and queries.
    text : str, optional
        A column of the frame with the text of a query, which is written beside its name.
    name : int, default 5
        How many queries are named at each end.
    ax : matplotlib Axes, optional
        Where to draw; a new figure unless given.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    PrframeError
        If a column or a system is missing, or if the systems share no query.

    Notes
    -----
    Queries that one of the systems lacks, or on which the metric is undefined, are left out, and
    the note below the axis counts them.

    Examples
    --------
    >>> import prframe
    >>> runs = prframe.datasets.load_digits()
    >>> values = prframe.evaluate(runs, "AP", by=["system", "query_id"], n_pos="n_relevant")
    >>> ax = prframe.plot.queries(values, "pixels", "pca", metric="AP")
    >>> print(prframe.plot.alt_text(ax)[:73])
    AP of pixels minus pca on 200 queries: larger on 116, equal on 22, smalle
    """
    checks.whole_number("name", name, 0)
    drawn = query_differences(per_query, (a, b), metric, {"model": model, "query": query}, text)
    difference = drawn.pairs["difference"].to_numpy()
    ax = figures.one_axes(ax)
    up, down = figures.palette_of(ax)[:2]
    colours = np.where(difference >= 0, up, down)
    places = np.arange(len(difference))
    ax.bar(
        places, difference, width=1.0, color=colours, linewidth=0, rasterized=len(places) > _MANY
    )
    ax.axhline(0, color=figures.ink(ax), linewidth=0.8)
    ax.axhline(drawn.mean, color=figures.muted(ax), linestyle=(0, (4, 2)), linewidth=1)
    ax.set(xticks=[], xlim=(-0.5, len(difference) - 0.5))
    high = 0.7 * figures.figure_of(ax).get_figheight()
    letters = figures.letters_in(high, "axes.labelsize")
    difference_of = figures.pair((a, b), letters, 24, f"{figures.cut(metric, 42)}, ")
    ax.set_ylabel(figures.literal(difference_of))
    figures.note(ax, f"{len(difference)} queries", drawn.note)
    _name_ends(ax, drawn.pairs, name)
    return figures.described(ax, drawn.text)


def _name_ends(ax: Axes, pairs: pl.DataFrame, count: int) -> None:
    """Name the largest and the smallest differences beside their bars, one below the other."""
    size = pairs.height
    low, high = ax.get_ylim()
    # A line of text, for which there is room beyond the longest bars.
    gap = (high - low) * 0.062
    low, high = low - gap / 2, high + gap / 2
    ax.set_ylim(low, high)
    differences, names = pairs["difference"].to_list(), pairs["name"].to_list()
    ups = [place for place in range(min(count, size)) if differences[place] > EQUAL]
    downs = [place for place in range(max(0, size - count), size) if differences[place] < -EQUAL]
    for ends, is_top in ((ups, True), (downs[::-1], False)):
        sign = 1 if is_top else -1
        wanted = np.sort(np.array([sign * differences[place] for place in ends], dtype=float))
        edge = high if is_top else -low
        heights = spread(wanted, gap, gap * 0.6, max(edge - gap / 2, gap * (len(ends) + 1)))
        for place, height in zip(ends, sign * heights[::-1], strict=True):
            x = size * (0.13 if is_top else 0.87)
            ax.annotate(
                figures.literal(shorten(str(names[place]), _MOST_TEXT, placeholder="…")),
                (place, differences[place]),
                xytext=(x, height),
                ha="left" if is_top else "right",
                va="center",
                fontsize="small",
                arrowprops={
                    "arrowstyle": "-",
                    "color": figures.muted(ax),
                    "linewidth": 0.5,
                    "shrinkA": 1,
                    "shrinkB": 0,
                    # The line begins beside the name and not in its middle.
                    "relpos": (0 if is_top else 1, 0.5),
                },
            )
