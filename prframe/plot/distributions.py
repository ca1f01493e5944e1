"""Distributions: AP of random rankings, and the scores of positives and negatives."""

from math import ceil
from typing import Unpack

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from prframe import checks
from prframe._preparation import wording
from prframe._preparation.colours import Look
from prframe._preparation.curves import MOST_PANELS
from prframe._preparation.results import whole
from prframe.errors import ArgumentError, PrframeError, each_once
from prframe.plot import figures
from prframe.stats import APNull
from prframe.typing import Floats, Shared
from prframe.verbs._guards import advising
from prframe.verbs.against_chance.ap_test import ap_test
from prframe.verbs.curves.curve import curve

_DRAWS, _BARS = 20_000, 60
_FEWEST_BINS, _MOST_BINS = 10, 50
_DASHED = (5.0, 2.0)


def ap_null(
    frame: object,
    observed: float | None = None,
    score: str = "score",
    label: str = "label",
    *,
    ax: Axes | None = None,
    **shared: Unpack[Shared],
) -> Axes:
    """Draw the distribution of AP over random rankings, and where the observed AP lies in it.

    Parameters
    ----------
    frame : frame or prframe.stats.APNull
        The rows of one ranking, whose ties the distribution respects, or a distribution.
    observed : float, optional
        The observed AP, by default that of the frame.
    score, label, **shared
        As in `prframe.ap_test`.
    ax : matplotlib Axes, optional
        Where to draw, by default a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    PrframeError
        If the frame cannot be tested, or has no positives.

    Notes
    -----
    The histogram has 20,000 draws with a fixed seed. Mean and p-value are computed, not drawn.

    Examples
    --------
    >>> import prframe
    >>> one = prframe.datasets.load_digits().filter(system="ink", query_id="q0038")
    >>> ax = prframe.plot.ap_null(one)
    >>> print(prframe.plot.alt_text(ax)[:57])
    AP of random rankings of 100 items, 5 of them positive: m
    """
    if isinstance(frame, APNull):
        null = frame
    else:
        # Two verbs look at the same rows.
        with each_once(), advising("The distribution is of one ranking: choose its rows"):
            null, of_frame = _null_of(frame, score, label, shared)
        observed = of_frame if observed is None else observed
    draws, mean = null.rvs(_DRAWS, rng=0), float(null.mean())
    top = max(float(draws.max()), observed or 0.0)
    heights, edges = np.histogram(draws, _BARS, (0.0, min(1.0, top * 1.05)))
    ax = figures.one_axes(ax)
    colour, other = figures.palette_of(ax)[:2]
    ax.stairs(heights / _DRAWS, edges, fill=True, color=colour, alpha=0.55)
    ax.axvline(mean, color=figures.muted(ax), linestyle=(0, _DASHED), linewidth=1)
    ax.set(ylabel="share of random rankings", xlim=(0, edges[-1]), ylim=(0, None))
    note = (
        f"random rankings of {null.n} items, {null.n_pos} of them positive: mean "
        f"{wording.number(mean)} (dashed), standard deviation {wording.number(null.std())}"
    )
    if observed is not None:
        checks.fraction("observed", observed)
        p_value = float(null.p_value(observed, alternative="greater"))
        note += f"; observed {wording.number(observed)}, p = {p_value:.3g}"
        ax.axvline(observed, color=other)
        # Above the axes there are no bars, nor the line of the mean.
        figures.beside(ax, "observed", (observed, 1.0), (0, 2), ("data", "axes fraction"))
    figures.note(ax, "AP", note)
    return figures.described(ax, f"AP of {note}.")


def _null_of(frame: object, score: str, label: str, shared: Shared) -> tuple[APNull, float]:
    """Return the distribution under random ranking of a frame's items, and the frame's AP."""
    if shared.get("by") is not None:
        raise PrframeError(
            "`by` must be None: the distribution is of one ranking. Choose its rows."
        )
    data, _ = whole(frame, "frame")
    tested = ap_test(data, score, label, **shared)
    if tested.is_empty():
        raise PrframeError("a null of AP needs the rows of one ranking; got a frame without any.")
    if tested["ap"][0] is None:
        raise PrframeError("the frame must have positives; it has none.")
    n, n_pos, ap = tested.select("n", "n_pos", "ap").row(0)
    ends = curve(data, score, label, anchor=False, **shared)["k"].cast(pl.Int64)
    ties = ends.diff().fill_null(ends[0]).to_list()
    return APNull(n, n_pos, ties, depth=ends[-1] if ends[-1] < n else None), ap


def scores(
    frame: object,
    score: str = "score",
    label: str = "label",
    *,
    threshold: float | None = None,
    bins: int | None = None,
    ax: Axes | None = None,
    **shared: Unpack[Shared],
) -> Axes | Figure:
    """Draw how the scores of positives and of negatives are distributed.

    Parameters
    ----------
    frame : frame
        The rows of one ranking, or of several with `by`.
    score, label, **shared
        As in `prframe.curve`; a column `by` has a panel per value.
    threshold : float, optional
        A threshold on the score; the picture states precision and recall there.
    bins : int, optional
        The number of bars: by default 10 to 50, or one for each score if all are whole numbers
        within 50 of each other.
    ax : matplotlib Axes, optional
        Where to draw one panel, by default a new figure.

    Returns
    -------
    matplotlib Axes, or Figure with `by`

    Raises
    ------
    PrframeError
        If the frame cannot be evaluated, or there are more than 24 panels.

    Notes
    -----
    Each distribution has an area of 1. Items with a score of -inf are not drawn.

    Examples
    --------
    >>> import prframe
    >>> one = prframe.datasets.load_digits().filter(system="pixels", query_id="q0038")
    >>> ax = prframe.plot.scores(one, threshold=0.85)
    >>> print(prframe.plot.alt_text(ax)[:62])
    Scores of 44 positives (median 0.865) and 56 negatives (median
    """
    if bins is not None:
        checks.whole_number("bins", bins, 1)
    limit = None if threshold is None else float(checks.number("threshold", threshold))
    by = shared.get("by")
    if by is not None and not isinstance(by, str):
        raise ArgumentError(f"`by` must be the name of one column; got {checks.brief(by)}.")
    data, _ = whole(frame, "frame")
    with advising("For one panel each use by={column}"):
        points = curve(data, score, label, anchor=False, **shared).drop_nulls("threshold")
    parts = [points] if by is None else points.partition_by(by, maintain_order=True)
    if points.is_empty() or len(parts) > MOST_PANELS:
        raise PrframeError(
            f"there must be scores in 1 to {MOST_PANELS} groups; got {len(parts)} groups and "
            f"{points.height} scores."
        )
    figure, axes = figures.grid(len(parts), ax, shared="none")
    told = []
    for on, part in zip(axes, parts, strict=True):
        on.set(xlabel=figures.short(score), ylabel="density" if on is axes[0] else "")
        text = _two_distributions(on, part, bins, limit)
        if by is not None:
            figures.title(on, part[by][0])
            figures.ticks(on, "x")
            figures.ticks(on, "y")
            text = f"{part[by][0]}: {text}"
        told.append(text)
    up, down = figures.palette_of(axes[0])[:2]
    names: dict[object, Look] = {"positives": Look(up), "negatives": Look(down, _DASHED)}
    figures.legend(axes[0], {name: str(name) for name in names}, names)
    return figures.described(axes[0] if by is None else figure, " ".join(told))


def _two_distributions(ax: Axes, rows: pl.DataFrame, bins: int | None, limit: float | None) -> str:
    """Draw the scores of a ranking, and return what is shown in words and numbers."""
    at, told = rows["threshold"].to_numpy(), []
    counts = [np.diff(rows[name].to_numpy(), prepend=0) for name in ("tp", "fp")]
    edges = _edges(at, bins, float(sum(part.sum() for part in counts)))
    for name, weights, colour, dashes in zip(
        ("positives", "negatives"), counts, figures.palette_of(ax)[:2], ((), _DASHED), strict=True
    ):
        median = None
        if (total := weights.sum()) > 0:
            heights, _ = np.histogram(at, edges, weights=weights, density=True)
            ax.stairs(heights, edges, fill=True, color=colour, alpha=0.25)
            ax.stairs(heights, edges, color=colour, linestyle=(0, dashes) if dashes else "solid")
            median = float(at[np.searchsorted(np.cumsum(weights), total / 2)])
        told.append(f"{wording.count(total)} {name} (median {wording.number(median)})")
    ax.set(ylim=(0, None), xlim=(edges[0], edges[-1]))
    if limit is None:
        return f"Scores of {told[0]} and {told[1]}."
    retrieved = rows.filter(pl.col("threshold") >= limit)
    precision, recall = (
        wording.number(retrieved[name][-1] if retrieved.height else None, 2)
        for name in ("precision", "recall")
    )
    ax.axvline(limit, color=figures.ink(ax), linewidth=1)
    ax.set_xlim(min(edges[0], limit), max(edges[-1], limit))
    words = f"precision {precision}, recall {recall}"
    figures.beside(ax, words, (limit, 1.0), (0, 2), ("data", "axes fraction"))
    return f"Scores of {told[0]} and {told[1]}; from {limit:g} on {words}."


def _edges(at: Floats, bins: int | None, items: float) -> Floats:
    """Return the edges of the bars of scores."""
    low, high = float(at.min()), float(at.max())
    if bins is None and high - low <= _MOST_BINS and (at == np.round(at)).all():
        return np.arange(low - 0.5, high + 1)
    # Rice's rule.
    count = bins or min(max(ceil(2 * items ** (1 / 3)), _FEWEST_BINS), _MOST_BINS)
    return np.linspace(low, high if high > low else low + 1, count + 1)
