"""Distributions: AP of random rankings, and the scores of positives and negatives."""

from typing import Any, Unpack

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from prframe import checks
from prframe._preparation import wording
from prframe._preparation.colours import Look
from prframe._preparation.panels import MOST_PANELS
from prframe._preparation.results import whole
from prframe.errors import PrframeError
from prframe.plot import figures
from prframe.stats import APNull
from prframe.typing import Shared
from prframe.verbs.against_chance.ap_test import ap_test
from prframe.verbs.curves.curve import curve

_DRAWS, _BARS = 20_000, 60


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
        The observed AP; that of the frame unless given.
    score, label : str, default "score" and "label"
        The columns of scores and labels.
    ax : matplotlib Axes, optional
        Where to draw; a new figure unless given.
    **shared
        The arguments that all verbs share, as of `prframe.ap_test`.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    PrframeError
        If the frame cannot be tested, or has no positives.

    Notes
    -----
    The histogram is one of 20,000 draws with a fixed seed. Mean and p-value are those of the
    distribution itself.

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
        null, of_frame = _null_of(frame, score, label, shared)
        observed = of_frame if observed is None else observed
    draws = null.rvs(_DRAWS, rng=0)
    ax = figures.one_axes(ax)
    colour, other = figures.palette_of(ax)[:2]
    top = max(float(draws.max()), observed or 0.0)
    heights, edges = np.histogram(draws, _BARS, (0.0, min(1.0, top * 1.05)))
    ax.stairs(heights / _DRAWS, edges, fill=True, color=colour, alpha=0.55)
    ax.axvline(null.mean(), color=figures.muted(ax), linestyle=(0, (4, 2)), linewidth=1)
    ax.set(ylabel="share of random rankings", xlim=(0, edges[-1]), ylim=(0, None))
    text = (
        f"random rankings of {null.n} items, {null.n_pos} of them positive: mean "
        f"{wording.number(null.mean())} (dashed), standard deviation {wording.number(null.std())}"
    )
    if observed is not None:
        checks.fraction("observed", observed)
        p_value = float(null.p_value(observed, alternative="greater"))
        ax.axvline(observed, color=other)
        _beside(ax, observed, "observed")
        text += f"; observed {wording.number(observed)}, p = {p_value:.3g}"
    figures.note(ax, "AP", text)
    return figures.described(ax, f"AP of {text}.")


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
    bins: int = 50,
    ax: Axes | None = None,
    **shared: Unpack[Shared],
) -> Axes | Figure:
    """Draw how the scores of positives and of negatives are distributed.

    Parameters
    ----------
    frame : frame
        The rows of one ranking, or of several with `by`.
    score, label : str, default "score" and "label"
        The columns of scores and labels.
    threshold : float, optional
        A score from which on items count as retrieved; precision and recall there are written.
    bins : int, default 50
        How many bars there are.
    ax : matplotlib Axes, optional
        Where to draw one panel; a new figure unless given.
    **shared
        The arguments that all verbs share, as of `prframe.curve`; a column `by` has a panel per
        value.

    Returns
    -------
    matplotlib Axes, or Figure with `by`

    Raises
    ------
    PrframeError
        If the frame cannot be evaluated, or there are more than 24 panels.

    Notes
    -----
    Each of the two distributions has an area of 1, so that few positives are seen beside many
    negatives. Items that were not retrieved, with a score of -inf, are not drawn.

    Examples
    --------
    >>> import prframe
    >>> one = prframe.datasets.load_digits().filter(system="pixels", query_id="q0038")
    >>> ax = prframe.plot.scores(one, threshold=0.85)
    >>> print(prframe.plot.alt_text(ax)[:62])
    Scores of 44 positives (median 0.865) and 56 negatives (median
    """
    checks.whole_number("bins", bins, 1)
    by = shared.get("by")
    if by is not None and not isinstance(by, str):
        raise PrframeError(f"`by` must be the name of one column; got {checks.brief(by)}.")
    data, _ = whole(frame, "frame")
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
        told.append(_two_distributions(on, part, bins, threshold))
        on.set_xlabel(figures.short(score))
        if by is not None:
            on.locator_params(nbins=3)
            on.set_title(figures.short(part[by][0], 28))
            told[-1] = f"{part[by][0]}: {told[-1]}"
    if by is not None:
        for on in axes[1:]:
            on.set_ylabel("")
    colours = figures.palette_of(axes[0])
    figures.legend(
        axes[0],
        {"positives": "positives", "negatives": "negatives"},
        {"positives": Look(colours[0], ()), "negatives": Look(colours[1], (5, 2))},
    )
    text = " ".join(told)
    return figures.described(axes[0], text) if by is None else figures.described(figure, text)


def _two_distributions(ax: Axes, rows: pl.DataFrame, bins: int, threshold: float | None) -> str:
    """Draw the scores of a ranking, and say what is to be seen."""
    at = rows["threshold"].to_numpy()
    counts = [np.diff(rows[name].to_numpy(), prepend=0) for name in ("tp", "fp")]
    low, high = float(at.min()), float(at.max())
    edges = np.linspace(low, high if high > low else low + 1, bins + 1)
    medians = []
    for weights, colour, dashes in zip(
        counts, figures.palette_of(ax)[:2], ("solid", (0, (5, 2))), strict=True
    ):
        if weights.sum() > 0:
            heights, _ = np.histogram(at, edges, weights=weights, density=True)
            ax.stairs(heights, edges, fill=True, color=colour, alpha=0.25)
            ax.stairs(heights, edges, color=colour, linestyle=dashes)
        medians.append(_median(at, weights))
    ax.set(ylabel="density", ylim=(0, None), xlim=(edges[0], edges[-1]))
    names = [
        f"{wording.count(weights.sum())} {name} (median {wording.number(median)})"
        for weights, name, median in zip(counts, ("positives", "negatives"), medians, strict=True)
    ]
    text = f"Scores of {names[0]} and {names[1]}."
    if threshold is None:
        return text
    limit = float(checks.number("threshold", threshold))
    ax.axvline(limit, color=figures.ink(ax), linewidth=1)
    retrieved = rows.filter(pl.col("threshold") >= limit)
    recall, precision = (
        (retrieved[name][-1] if retrieved.height else None) for name in ("recall", "precision")
    )
    words = f"precision {wording.number(precision, 2)}, recall {wording.number(recall, 2)}"
    ax.set_xlim(min(edges[0], limit), max(edges[-1], limit))
    _beside(ax, limit, words.replace(", ", "\n"))
    return f"{text[:-1]}; from {limit:g} on {words}."


def _beside(ax: Axes, x: float, words: str) -> None:
    """Write beside the top of a vertical line, on the side with more room."""
    is_left = x < sum(ax.get_xlim()) / 2
    ax.annotate(
        words,
        (x, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(4 if is_left else -4, -2),
        textcoords="offset points",
        ha="left" if is_left else "right",
        va="top",
        fontsize="small",
    )


def _median(values: np.ndarray[Any, Any], weights: np.ndarray[Any, Any]) -> float | None:
    """Return the median of values that each stand for several items, the largest value first."""
    total = weights.sum()
    if total <= 0:
        return None
    return float(values[np.searchsorted(np.cumsum(weights), total / 2)])
