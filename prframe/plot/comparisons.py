"""All pairs of systems: their differences, and the sets that are not told apart."""

from typing import Any, Unpack

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.patches import Rectangle
from matplotlib.transforms import ScaledTranslation

from prframe._preparation import wording
from prframe._preparation.comparisons import (
    bounds_of,
    compared_on,
    groups_text,
    matrix_text,
    sets_alike,
)
from prframe._preparation.results import Facts
from prframe._preparation.sets import Comparison
from prframe.plot import figures

_MOST_WITH_NUMBERS = 16
# The width of the longest number of a cell, in sizes of its font.
_WIDEST = 5.6


def matrix(
    compare_result: object,
    *,
    metric: str | None = None,
    alpha: float = 0.05,
    ax: Axes | None = None,
    **facts: Unpack[Facts],
) -> Axes:
    """Draw the differences of all pairs, coloured where the systems are told apart.

    A cell has the mean of its row minus that of its column, with the adjusted p-value (the
    p-value, if there is no correction). The diagonal has the means, the largest first.

    Parameters
    ----------
    compare_result : frame
        A result of `prframe.compare`.
    metric : str, optional
        The metric. It may be left out where the result has only one.
    alpha : float, default 0.05
        The level at which systems are told apart.
    ax : matplotlib Axes, optional
        Where to draw; a new figure unless given, of a size in which the numbers fit.
    **facts
        What the frame does not say and the note below should: ``test``, ``correction``,
        ``n_family``, ``n``, ``ties``.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    PrframeError
        If the frame is no such result, or if the metric or the level is wrong.

    Examples
    --------
    >>> import prframe
    >>> runs = prframe.datasets.load_digits()
    >>> compared = prframe.compare(runs, "P@10", model="system", rng=1)
    >>> ax = prframe.plot.matrix(compared, test="randomization", correction="holm")
    >>> print(prframe.plot.alt_text(ax)[:47])
    P@10 of 6 systems: pixels 0.974, pca 0.929, thu
    """
    result, name, compared = compared_on(compare_result, metric, alpha)
    size = len(compared.models)
    has_numbers = size <= _MOST_WITH_NUMBERS
    side = figures.ems(13 + (5.6 if has_numbers else 1.6) * size)
    ax = figures.one_axes(ax, (side, side))
    ax.spines[:].set_visible(False)
    shown = [figures.short(model, 24) for model in compared.models]
    ax.set(xlim=(-0.5, size - 0.5), ylim=(size - 0.5, -0.5), aspect="equal")
    ax.set_xticks(
        range(size),
        shown,
        ha="left",
        va="center",
        rotation=40 if has_numbers else 90,
        rotation_mode="anchor",
    )
    ax.set_yticks(range(size), shown)
    ax.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
    words = wording.testing_words(result.facts(facts), alpha, result.methods())
    figures.note(
        ax, f"{figures.short(name)}, row minus column", f"coloured if told apart: {words}"
    )
    figures.figure_of(ax).draw_without_rendering()
    points = ax.get_window_extent().width / figures.figure_of(ax).dpi * 72 / size
    # Names are no larger than their rows, and numbers too small to be read are left out.
    ax.tick_params(labelsize=min(figures.font_size("ytick.labelsize"), points / 1.2))
    has_numbers = has_numbers and points / _WIDEST > 0.35 * mpl.rcParams["font.size"]
    _cells(ax, compared, points if has_numbers else 0.0)
    return figures.described(ax, matrix_text(name, compared, words))


def _cells(ax: Axes, compared: Comparison, points: float) -> None:
    """Draw the cells, with numbers unless they have no size in points."""
    ground, (up, down) = ax.get_facecolor(), figures.palette_of(ax)[:2]
    scale = LinearSegmentedColormap.from_list("differences", [down, ground, up])
    for position, mean in enumerate(compared.means):
        _write(ax, (position, position), wording.number(mean), figures.muted(ax), points)
    shades = compared.shades()
    for (a, b), row in compared.rows.items():
        for at, sign in (((b, a), 1), ((a, b), -1)):
            shade, difference = sign * shades[a, b], row["difference"]
            colour = scale(0.5 + 0.4 * shade) if shade else ground
            corner = (at[0] - 0.48, at[1] - 0.48)
            ax.add_patch(Rectangle(corner, 0.96, 0.96, facecolor=colour))
            value = wording.number(None if difference is None else sign * difference, signed=True)
            p_value = wording.p_value(row.get("p_adjusted", row.get("p_value")))
            _write(ax, at, f"{value}\n{p_value}", _on(colour), points)


def _write(ax: Axes, at: tuple[int, int], words: str, colour: Any, points: float) -> None:  # noqa: ANN401 - colours have many types
    """Write into a cell of a size in points, as large as fits."""
    if points > 0:
        size = min(figures.ems(0.85) * 72, points / (0.62 * max(map(len, words.split("\n")))))
        ax.text(*at, words, ha="center", va="center", fontsize=size, color=colour)


def _on(colour: Any) -> str:  # noqa: ANN401 - colours have many types
    """Return black or white, whichever has more contrast with a colour, as WCAG defines it."""
    luminance = np.dot(np.array(to_rgb(colour)) ** 2.2, [0.2126, 0.7152, 0.0722])
    return "#000000" if (luminance + 0.05) ** 2 > 1.05 * 0.05 else "#FFFFFF"


def groups(
    compare_result: object,
    *,
    metric: str | None = None,
    intervals: object = None,
    alpha: float = 0.05,
    ax: Axes | None = None,
    **facts: Unpack[Facts],
) -> Axes:
    """Draw the systems on the metric's scale, and beside them the sets that are not told apart.

    Each column on the right is a largest set of systems no two of which are told apart; its
    members have a dot. With tests of pairs such sets may leave out a system between their members,
    which a line below contiguous ranks cannot show.

    Parameters
    ----------
    compare_result : frame
        A result of `prframe.compare` with all pairs of the systems.
    metric : str, optional
        The metric. It may be left out where the result has only one.
    intervals : frame, optional
        A result of `prframe.interval` of the same systems, whose intervals are drawn.
    alpha : float, default 0.05
        The level at which systems are told apart.
    ax : matplotlib Axes, optional
        Where to draw; a new figure unless given, as high as the systems need.
    **facts
        What the frame does not say and the note below should: ``test``, ``correction``,
        ``n_family``, ``n``, ``confidence_level``, ``ties``.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    PrframeError
        If the frame is no such result, if a pair is missing, or if there are more than 60 sets.

    Examples
    --------
    >>> import prframe
    >>> runs = prframe.datasets.load_digits()
    >>> compared = prframe.compare(runs, "P@10", model="system", rng=1)
    >>> ax = prframe.plot.groups(compared, test="randomization", correction="holm")
    >>> print(prframe.plot.alt_text(ax)[:82])
    P@10 of 6 systems. Sets within which no two are told apart: pca and thumbnail; ink
    """
    result, name, compared = compared_on(compare_result, metric, alpha)
    shared = sets_alike(compared)
    size = len(compared.models)
    ax = figures.one_axes(
        ax, (figures.width() + figures.ems(len(shared)), figures.ems(9 + 2.1 * size))
    )
    known = result.facts(facts)
    bounds = bounds_of(intervals, name)
    beside = _scale(ax, compared, bounds, figures.short(name))
    _columns(ax, shared)
    beside += figures.ems(len(shared) + 0.5)
    words = wording.testing_words(known, alpha, result.methods())
    with_intervals = f"; {wording.interval_words(known)}" if bounds else ""
    note = f"joined dots: not told apart ({words}){with_intervals}"
    figures.note(ax, figures.short(name), note, beside)
    return figures.described(ax, groups_text(name, compared, shared, words))


def _scale(
    ax: Axes, compared: Comparison, bounds: dict[Any, tuple[float, float]], label: str
) -> float:
    """Draw a row per system, and return the room in inches that their names take."""
    colour = figures.palette_of(ax)[0]
    for row, (model, mean) in enumerate(zip(compared.models, compared.means, strict=True)):
        if model in bounds:
            ax.plot(bounds[model], [row, row], color=colour, linewidth=1.2)
        if mean is not None:
            ax.plot([mean], [row], color=colour, marker="o", markersize=figures.dot())
    size = len(compared.models)
    beside = figures.name_rows(ax, compared.models)
    ax.set(ylim=(size - 0.5, -0.5), xlabel=label)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="y", color=figures.muted(ax), alpha=0.25, linewidth=0.6)
    ax.set_axisbelow(True)
    return beside


def _columns(ax: Axes, shared: list[list[int]]) -> None:
    """Draw a column per set beside the scale, a dot per member."""
    if not shared:
        return
    points = 72 * figures.ems(1)
    for column, members in enumerate(shared, start=1):
        x = [1.0] * len(members)
        shifted = ax.get_yaxis_transform() + _shift(ax, column * points)
        ax.plot(x[:1] * 2, [members[0], members[-1]], color=figures.muted(ax), linewidth=1,
                transform=shifted, clip_on=False)  # fmt: skip
        ax.plot(x, members, color=figures.ink(ax), linestyle="none", marker="o", markersize=4,
                transform=shifted, clip_on=False)  # fmt: skip


def _shift(ax: Axes, points: float) -> Any:  # noqa: ANN401 - matplotlib's own type is private
    """Return a shift to the right."""
    return ScaledTranslation(points / 72, 0, figures.figure_of(ax).dpi_scale_trans)
