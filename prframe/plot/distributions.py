"""Distributions: AP of random rankings, and the scores of positives and negatives."""

from typing import Unpack

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from prframe._preparation.colours import Look
from prframe._preparation.distributions import ScorePanel, null_picture, score_panels
from prframe.plot import figures
from prframe.typing import Shared


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
    drawn = null_picture(frame, observed, score, label, shared)
    ax = figures.one_axes(ax)
    colour, other = figures.palette_of(ax)[:2]
    ax.stairs(drawn.shares, drawn.edges, fill=True, color=colour, alpha=0.55)
    ax.axvline(drawn.mean, color=figures.muted(ax), linestyle=(0, (4, 2)), linewidth=1)
    ax.set(ylabel="share of random rankings", xlim=(0, drawn.edges[-1]), ylim=(0, None))
    if drawn.observed is not None:
        ax.axvline(drawn.observed, color=other)
        # Above the axes there are no bars, nor the line of the mean.
        ax.annotate(
            "observed",
            (drawn.observed, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(0, 2),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize="small",
            annotation_clip=False,
        )
    figures.note(ax, "AP", drawn.note)
    return figures.described(ax, f"AP of {drawn.note}.")


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
    parts = score_panels(frame, score, label, threshold, bins, shared)
    figure, axes = figures.grid(len(parts), ax, shared="none")
    for on, part in zip(axes, parts, strict=True):
        _two_distributions(on, part)
        on.set_xlabel(figures.short(score))
        if part.value is not None:
            on.locator_params(nbins=3)
            figures.title(on, part.value)
    for on in axes[1:]:
        on.set_ylabel("")
    colours = figures.palette_of(axes[0])
    figures.legend(
        axes[0],
        {"positives": "positives", "negatives": "negatives"},
        {"positives": Look(colours[0], ()), "negatives": Look(colours[1], (5, 2))},
    )
    text = " ".join(part.text for part in parts)
    if shared.get("by") is None:
        return figures.described(axes[0], text)
    return figures.described(figure, text)


def _two_distributions(ax: Axes, part: ScorePanel) -> None:
    """Draw the scores of a ranking."""
    edges = part.edges
    for heights, colour, dashes in zip(
        part.heights, figures.palette_of(ax)[:2], ("solid", (0, (5, 2))), strict=True
    ):
        if heights is not None:
            ax.stairs(heights, edges, fill=True, color=colour, alpha=0.25)
            ax.stairs(heights, edges, color=colour, linestyle=dashes)
    ax.set(ylabel="density", ylim=(0, None), xlim=(edges[0], edges[-1]))
    if part.threshold is not None:
        ax.axvline(part.threshold, color=figures.ink(ax), linewidth=1)
        ax.set_xlim(min(edges[0], part.threshold), max(edges[-1], part.threshold))
        _beside(ax, part.threshold, part.at_threshold.replace(", ", "\n"))


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
        # Bars behind the words are paler.
        bbox={"facecolor": ax.get_facecolor(), "alpha": 0.7, "linewidth": 0, "pad": 1},
    )
