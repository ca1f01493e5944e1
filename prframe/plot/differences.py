"""Differences of two systems: of their curves, and query by query."""

from textwrap import shorten
from typing import Any, cast

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from prframe import checks
from prframe._preparation import wording
from prframe._preparation.results import Facts, read, whole
from prframe.errors import PrframeError
from prframe.plot import figures

# Differences that are smaller are those of rounding.
_EQUAL = 1e-12
_MOST_TEXT = 30
_MANY = 2000


def curve_difference(
    compare_curves_result: object,
    *,
    pair: tuple[object, object] | None = None,
    confidence_level: float | None = None,
    simultaneous: bool | None = None,
    ax: Axes | None = None,
) -> Axes | Figure:
    """Draw differences of precision with their confidence band, along recall.

    Parameters
    ----------
    compare_curves_result : frame
        A result of `prframe.compare_curves`.
    pair : tuple of two systems, optional
        The pair to draw; by default every pair has a panel.
    confidence_level, simultaneous : optional
        What the note below says of the band, as the options of `prframe.compare_curves`.
    ax : matplotlib Axes, optional
        Where to draw, by default a new figure.

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
    result = read(compare_curves_result, "compare_curves", "compare_curves_result")
    result.require_one_group("compare_curves_result")
    parts = result.rows.partition_by(["model_a", "model_b"], maintain_order=True)
    names = [(part["model_a"][0], part["model_b"][0]) for part in parts]
    if pair is not None:
        checks.one_of("pair", tuple(pair), names, in_order=True)  # type: ignore[arg-type]
        parts = [parts[names.index((pair[0], pair[1]))]]
    parts = [part.sort("recall") for part in parts]
    figure, axes = figures.grid(len(parts), ax)
    for on, part in zip(axes, parts, strict=True):
        _one_difference(on, part)
    figures.label_outer(axes)
    given = {"confidence_level": confidence_level, "simultaneous": simultaneous}
    facts = result.facts(cast("Facts", given))
    figures.note(axes[-1], "recall", wording.band_words(facts))
    text = f"Difference of precision, {' '.join(map(_pair_text, parts))}"
    return figures.described(axes[0] if len(axes) == 1 else figure, text)


def _one_difference(ax: Axes, rows: pl.DataFrame) -> None:
    """Draw a pair."""
    colour = figures.palette_of(ax)[0]
    recall, difference, low, high = (
        rows[name].to_numpy() for name in ("recall", "difference", "conf_low", "conf_high")
    )
    ax.fill_between(recall, low, high, color=colour, alpha=0.2, linewidth=0)
    ax.plot(recall, difference, color=colour)
    ax.axhline(0, color=figures.ink(ax), linewidth=0.8)
    ax.set(xlim=(0, 1), xlabel="recall", ylabel="difference of precision")
    figures.shares(ax, "x")
    figures.title(ax, rows["model_a"][0], rows["model_b"][0])


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
    """Draw the difference of two systems on each query, the largest first.

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
        A column with the text of each query, written next to its name.
    name : int, default 5
        How many queries are named at each end.
    ax : matplotlib Axes, optional
        Where to draw, by default a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    PrframeError
        If a column or a system is missing, or if the systems share no query.

    Notes
    -----
    Queries for which a system has no value are left out; the note below the axis counts them.

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
    pairs, left_out = _paired(per_query, (a, b), metric, {"model": model, "query": query}, text)
    difference = pairs["difference"].to_numpy()
    mean, size = float(difference.mean()), len(difference)
    ax = figures.one_axes(ax)
    up, down = figures.palette_of(ax)[:2]
    style: Any = {"color": np.where(difference >= 0, up, down), "rasterized": size > _MANY}
    ax.bar(np.arange(size), difference, width=1.0, linewidth=0, **style)
    ax.axhline(0, color=figures.ink(ax), linewidth=0.8)
    ax.axhline(mean, color=figures.muted(ax), linestyle=(0, (4, 2)), linewidth=1)
    ax.set(xticks=[], xlim=(-0.5, size - 0.5))
    high = figures.letters_in(0.75 * figures.figure_of(ax).get_figheight(), "axes.labelsize")
    of = f"{figures.short(metric, 24)}, "
    ax.set_ylabel(of + figures.pair((a, b), high - len(of)))
    wins, losses = int((difference > _EQUAL).sum()), int((difference < -_EQUAL).sum())
    ties, shown = size - wins - losses, wording.number(mean, signed=True)
    lacking = f"; {left_out} left out without a pair of values" if left_out else ""
    note = f"{wins} larger, {ties} equal, {losses} smaller; mean {shown} (dashed){lacking}"
    figures.note(ax, f"{size} queries", note)
    _name_ends(ax, pairs, name)
    return figures.described(
        ax,
        f"{metric} of {a} minus {b} on {size} queries: larger on {wins}, equal on {ties}, smaller "
        f"on {losses}; mean {shown}. Largest: {_ends(pairs.head(3))}. Smallest: "
        f"{_ends(pairs.tail(3).reverse())}.",
    )


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


def _name_ends(ax: Axes, pairs: pl.DataFrame, count: int) -> None:
    """Name the largest and the smallest differences beside their bars, one below the other."""
    size = pairs.height
    low, high = ax.get_ylim()
    # A line of text, for which there is room beyond the longest bars.
    gap = (high - low) * 0.062
    low, high = low - gap / 2, high + gap / 2
    ax.set_ylim(low, high)
    differences, names = pairs["difference"].to_list(), pairs["name"].to_list()
    ups = [place for place in range(min(count, size)) if differences[place] > _EQUAL]
    downs = [place for place in range(max(0, size - count), size) if differences[place] < -_EQUAL]
    line: Any = {"arrowstyle": "-", "color": figures.muted(ax), "linewidth": 0.5, "shrinkB": 0}
    sides = ((ups, 0.13, "left", high, -gap), (downs[::-1], 0.87, "right", low, gap))
    for ends, across, side, begin, step in sides:
        # The line begins beside the name and not in its middle.
        arrow = line | {"shrinkA": 1, "relpos": (0 if side == "left" else 1, 0.5)}
        for number, place in enumerate(ends):
            ax.annotate(
                figures.literal(shorten(str(names[place]), _MOST_TEXT, placeholder="…")),
                (place, differences[place]),
                xytext=(size * across, begin + step * (number + 0.5)),
                ha=side,
                va="center",
                fontsize="small",
                arrowprops=arrow,
            )
