"""Systems: estimates with intervals, differences of all pairs, and sets that do not differ."""

from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.transforms import ScaledTranslation

from prframe._preparation import wording
from prframe._preparation.forests import ForestPanel, forest
from prframe._preparation.results import Result, one_metric, read, with_one_key
from prframe._preparation.sets import Comparison, comparison, covering_cliques
from prframe.plot import figures

_MOST_WITH_NUMBERS = 16
# The width of the longest number of a cell, in sizes of its font.
_WIDEST = 5.6


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
    y, facet : str, optional
        The columns with a row, and with a panel, per value; by default the only column ``by``, or
        the pair of a comparison, and the metric.
    letters : frame, optional
        A result of `prframe.compare` of the same systems. Systems that share no letter are
        significantly different.
    sort : {"estimate"} or None, default "estimate"
        Whether the largest estimate of the first panel is on top; otherwise as in the result.
    alpha : float, default 0.05
        The level of the letters.
    ax : matplotlib Axes, optional
        Where to draw one panel, by default a new figure.

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


def matrix(
    compare_result: object,
    *,
    metric: str | None = None,
    alpha: float = 0.05,
    ax: Axes | None = None,
) -> Axes:
    """Draw the difference of each pair once, coloured where it is significant.

    A cell has the mean of its column minus that of its row, with the adjusted p-value (the
    p-value, if there is no correction). The diagonal has the means, the largest first.

    Parameters
    ----------
    compare_result : frame
        A result of `prframe.compare`.
    metric : str, optional
        The metric, if the result has several.
    alpha : float, default 0.05
        The level of significance.
    ax : matplotlib Axes, optional
        Where to draw, by default a new figure in which the numbers fit.

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
    >>> ax = prframe.plot.matrix(compared)
    >>> print(prframe.plot.alt_text(ax)[:47])
    P@10 of 6 systems: pixels 0.974, pca 0.929, thu
    """
    result, name, compared = _compared_on(compare_result, metric, alpha)
    size = len(compared.models)
    has_numbers = size <= _MOST_WITH_NUMBERS
    side = figures.ems(13 + (5.6 if has_numbers else 1.6) * size)
    ax = figures.one_axes(ax, (side, side))
    ax.spines[:].set_visible(False)
    shown = [figures.short(model, 24) for model in compared.models]
    ax.set(xlim=(-0.5, size - 0.5), ylim=(size - 0.5, -0.5), aspect="equal")
    turned: Any = {"rotation": 40 if has_numbers else 90, "rotation_mode": "anchor"}
    ax.set_xticks(range(size), shown, ha="right", va="center", **turned)
    ax.set_yticks(range(size), shown)
    ax.tick_params(length=0)
    words = wording.testing_words(result.facts(), alpha, result.methods())
    label = f"{figures.short(name)}, column minus row"
    figures.note(ax, label, f"coloured if significantly different: {words}")
    figures.figure_of(ax).draw_without_rendering()
    points = ax.get_window_extent().width / figures.figure_of(ax).dpi * 72 / size
    # Names are no larger than their rows, and numbers too small to be read are left out.
    ax.tick_params(labelsize=min(figures.font_size("ytick.labelsize"), points / 1.2))
    has_numbers = has_numbers and points / _WIDEST > 0.35 * mpl.rcParams["font.size"]
    _cells(ax, compared, points if has_numbers else 0.0)
    systems = [
        f"{model} {wording.number(mean)}"
        for model, mean in zip(compared.models, compared.means, strict=True)
    ]
    return figures.described(
        ax,
        f"{name} of {size} systems: {wording.joined(systems, 10)}. {len(compared.apart)} of "
        f"{len(compared.rows)} pairs differ significantly ({words}).",
    )


def _compared_on(
    compare_result: object, metric: str | None, alpha: float
) -> tuple[Result, str, Comparison]:
    """Return a result of a comparison, the metric that is meant, and what it says of it."""
    result = read(compare_result, "compare", "compare_result")
    name = one_metric(result.rows, metric, "compare_result")
    result = Result(result.rows.filter(metric=name), result.keys, result.back)
    return result, name, comparison(result, name, alpha)


def _cells(ax: Axes, compared: Comparison, points: float) -> None:
    """Draw the cells below the diagonal, with numbers unless they have no size in points."""
    ground, (up, down) = ax.get_facecolor(), figures.palette_of(ax)[:2]
    scale = LinearSegmentedColormap.from_list("differences", [down, ground, up])
    for position, mean in enumerate(compared.means):
        _write(ax, (position, position), wording.number(mean), figures.muted(ax), points)
    shades = compared.shades()
    for (a, b), row in compared.rows.items():
        at, sign = (min(a, b), max(a, b)), 1 if a < b else -1
        shade, difference = sign * shades[a, b], row["difference"]
        colour = scale(0.5 + 0.4 * shade) if shade else ground
        corner = (at[0] - 0.48, at[1] - 0.48)
        edge: Any = {"edgecolor": figures.muted(ax), "linewidth": 0.4}
        ax.add_patch(Rectangle(corner, 0.96, 0.96, facecolor=colour, **edge))
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
) -> Axes:
    """Draw the systems on the metric's scale, and the sets that do not differ significantly.

    Each column on the right is a set of systems without a significant difference, a dot each. Two
    systems share a column exactly if they do not differ.

    Parameters
    ----------
    compare_result : frame
        A result of `prframe.compare` with all pairs of the systems.
    metric, alpha, ax
        As in `matrix`.
    intervals : frame, optional
        A result of `prframe.interval` for the same systems; its intervals are drawn.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    PrframeError
        If the frame is no such result, or if a pair is missing.

    Examples
    --------
    >>> import prframe
    >>> runs = prframe.datasets.load_digits()
    >>> compared = prframe.compare(runs, "P@10", model="system", rng=1)
    >>> ax = prframe.plot.groups(compared)
    >>> print(prframe.plot.alt_text(ax)[:88])
    P@10 of 6 systems. Sets without a significant difference: pca and thumbnail; ink and ran
    """
    result, name, compared = _compared_on(compare_result, metric, alpha)
    size = len(compared.models)
    cliques = covering_cliques(compared.alike())
    shared = [sorted(members) for members in cliques if len(members) > 1]
    across = figures.width() + figures.ems(len(shared))
    ax = figures.one_axes(ax, (across, figures.ems(9 + 2.1 * size)))
    known, bounds = result.facts(), _bounds_of(intervals, name)
    colour = figures.palette_of(ax)[0]
    for row, (model, mean) in enumerate(zip(compared.models, compared.means, strict=True)):
        if model in bounds:
            ax.plot(bounds[model], [row, row], color=colour, linewidth=1.2)
        if mean is not None:
            ax.plot([mean], [row], color=colour, marker="o", markersize=figures.dot())
    figures.name_rows(ax, compared.models)
    figures.ticks(ax, "x")
    for column, members in enumerate(shared, start=1):
        shift = ScaledTranslation(
            column * figures.ems(1), 0, figures.figure_of(ax).dpi_scale_trans
        )
        beside: Any = {"transform": ax.get_yaxis_transform() + shift, "clip_on": False}
        ends = [members[0], members[-1]]
        ax.plot([1.0, 1.0], ends, color=figures.muted(ax), linewidth=1, **beside)
        dots: Any = {"linestyle": "none", "marker": "o", "markersize": 4}
        ax.plot([1.0] * len(members), members, color=figures.ink(ax), **dots, **beside)
    words = wording.testing_words(known, alpha, result.methods())
    with_intervals = f"; {wording.interval_words(known)}" if bounds else ""
    note = f"joined dots: no significant difference ({words}){with_intervals}"
    figures.note(ax, figures.short(name), note)
    told = "; ".join(
        wording.joined([compared.models[member] for member in members], 12) for members in shared
    )
    return figures.described(
        ax,
        f"{name} of {size} systems. Sets without a significant difference: {told or 'none'} "
        f"({words}).",
    )


def _bounds_of(intervals: object, metric: str) -> dict[Any, tuple[float, float]]:
    """Return the interval of each system."""
    if intervals is None:
        return {}
    result = read(intervals, "interval", "intervals")
    result, model = with_one_key(result, "intervals", "names the systems")
    rows = result.rows.filter(metric=one_metric(result.rows, metric, "intervals"))
    bounds = rows.select(model, "conf_low", "conf_high").drop_nulls().rows()
    return {system: (low, high) for system, low, high in bounds}
