"""Estimates with their intervals, and what a check has reported."""

from typing import Any, Unpack

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from prframe import checks
from prframe._preparation import wording
from prframe._preparation.results import Facts, Result, one_metric, read, with_one_key
from prframe._preparation.sets import comparison, largest_first, letters_of
from prframe.plot import figures

_SEVERITIES = ("error", "warning", "info")


def interval(
    result: object,
    *,
    y: str | None = None,
    facet: str = "metric",
    letters: object = None,
    sort: str | None = "estimate",
    alpha: float = 0.05,
    ax: Axes | None = None,
    **facts: Unpack[Facts],
) -> Axes | Figure:
    """Draw estimates with their confidence intervals, a row per system and a panel per metric.

    Parameters
    ----------
    result : frame
        A result of `prframe.interval`.
    y : str, optional
        The column with a row per value; the only column ``by`` unless given.
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
    **facts
        What the frames do not say and the note below should: ``confidence_level``, ``test``,
        ``correction``, ``n_family``, ``n``, ``ties``.

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
    >>> ax = prframe.plot.interval(means, confidence_level=0.95)
    >>> print(prframe.plot.alt_text(ax)[:60])
    P@10 with 95% confidence intervals: pixels 0.974 [0.958, 0.9
    """
    checks.one_of("sort", sort, ("estimate", None), in_order=True)  # type: ignore[arg-type]
    drawn = read(result, "interval")
    y = with_one_key(drawn, "result", "has a row per value") if y is None else y
    checks.columns_exist({y: "y", facet: "facet"}, drawn.rows.columns)
    parts = drawn.rows.partition_by(facet, maintain_order=True)
    names = _rows_in_order(parts[0], drawn.rows, y, sort)
    height = figures.ems(8 + 2.1 * len(names))
    figure, axes = figures.grid(len(parts), ax, height=height, shared="y")
    known, raised, words = drawn.facts(facts), {}, ""
    if letters is not None:
        paired = read(letters, "compare", "letters")
        raised = _letters(paired, [part[facet][0] for part in parts], names, alpha)
        words = f"; share no letter: told apart ({_testing(paired, facts, alpha)})"
    told = []
    for on, part in zip(axes, parts, strict=True):
        told.append(_forest(on, part, y, names, raised.get(part[facet][0], {})))
        on.set_xlabel(figures.short(part[facet][0]))
    caption = f"{wording.interval_words(known)}{words}"
    if len(axes) == 1:
        figures.note(axes[0], figures.short(parts[0][facet][0]), caption)
    else:
        figures.note_below(figure, caption)
    text = " ".join(
        f"{part[facet][0]} with {caption}: {words_of_part}."
        for part, words_of_part in zip(parts, told, strict=True)
    )
    return figures.described(axes[0], text) if len(axes) == 1 else figures.described(figure, text)


def _rows_in_order(first: pl.DataFrame, rows: pl.DataFrame, y: str, sort: str | None) -> list[Any]:
    """Return what has a row, from top to bottom."""
    names = rows[y].unique(maintain_order=True).to_list()
    if sort is None:
        return names
    estimates = dict(first.select(y, "estimate").iter_rows())
    return sorted(names, key=lambda name: largest_first(estimates.get(name)))


def _forest(ax: Axes, rows: pl.DataFrame, y: str, names: list[Any], raised: dict[Any, str]) -> str:
    """Draw the rows of a panel, and say what they are."""
    colour, told = figures.palette_of(ax)[0], []
    place = {name: position for position, name in enumerate(names)}
    wanted = rows.select(y, "estimate", "conf_low", "conf_high").rows()
    for name, estimate, low, high in wanted:
        at = place[name]
        ax.plot([low, high], [at, at], color=colour, linewidth=1.6, solid_capstyle="butt")
        ax.plot([estimate], [at], color=colour, marker="o", markersize=4.5)
        if name in raised:
            ax.annotate(
                raised[name],
                (1.0, at),
                xycoords=("axes fraction", "data"),
                xytext=(3, 0),
                textcoords="offset points",
                va="center",
                fontsize="small",
                annotation_clip=False,
            )
        bounds = f"[{wording.number(low)}, {wording.number(high)}]"
        told.append((at, f"{name} {wording.number(estimate)} {bounds}"))
    ax.set_yticks(range(len(names)), [figures.short(name, 30) for name in names])
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.locator_params(axis="x", nbins=3)
    ax.grid(axis="y", color=figures.muted(ax), alpha=0.25, linewidth=0.6)
    ax.set_axisbelow(True)
    return wording.joined([words for _, words in sorted(told)], 10)


def _letters(
    paired: Result, metrics: list[str], systems: list[Any], alpha: float
) -> dict[str, dict[Any, str]]:
    """Return the letters of the systems for each metric."""
    letters = {}
    for metric in metrics:
        compared = comparison(paired, one_metric(paired.rows, metric, "letters"), alpha)
        compared.require("letters", systems)
        letters[metric] = dict(zip(compared.models, letters_of(compared), strict=True))
    return letters


def _testing(paired: Result, facts: Facts, alpha: float) -> str:
    """Say how systems are told apart."""
    return wording.testing_words(paired.facts(facts), alpha, paired.methods())


def check(report: object, *, ax: Axes | None = None) -> Axes:
    """Draw what `prframe.check` has reported: how many rows or groups, per kind of problem.

    Parameters
    ----------
    report : frame
        A result of `prframe.check`.
    ax : matplotlib Axes, optional
        Where to draw; a new figure unless given.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    PrframeError
        If the frame is no such result.

    Examples
    --------
    >>> import prframe
    >>> runs = prframe.datasets.load_digits()
    >>> ax = prframe.plot.check(prframe.check(runs, by=["system", "query_id"]))
    >>> print(prframe.plot.alt_text(ax)[:54])
    What check reports: only_positives 57 (warning), tie_a
    """
    rows = read(report, "check", "report").rows
    ax = figures.one_axes(ax, (figures.width(), figures.ems(5 + 2.3 * rows.height)))
    palette = figures.palette_of(ax)
    colours = dict(zip(_SEVERITIES, (palette[1], palette[3], figures.muted(ax)), strict=True))
    counts = rows["count"].to_list()
    kinds = rows["kind"].to_list()
    severities = rows["severity"].to_list()
    places = range(rows.height)
    ax.barh(places, counts, height=0.6, color=[colours[severity] for severity in severities])
    for place, count in zip(places, counts, strict=True):
        ax.annotate(
            f"{count:,}", (count, place), xytext=(3, 0), textcoords="offset points", va="center",
            fontsize="small", annotation_clip=False,
        )  # fmt: skip
    labels = [f"{kind}, {severity}" for kind, severity in zip(kinds, severities, strict=True)]
    ax.set_yticks(places, labels)
    ax.set_ylim(rows.height - 0.5, -0.5)
    ax.set_xscale("symlog", linthresh=1)
    ax.set(xlim=(0, 20 * max(counts)), xticks=[], xlabel="count, on a logarithmic scale")
    ax.tick_params(which="both", length=0)
    told = [
        f"{kind} {count:,} ({severity})"
        for kind, count, severity in zip(kinds, counts, severities, strict=True)
    ]
    return figures.described(ax, f"What check reports: {wording.joined(told, 12)}.")
