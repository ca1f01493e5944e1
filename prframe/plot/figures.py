"""Figures and axes: their style, legends and notes that fit, and texts in place of the picture."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from math import ceil, sqrt
from textwrap import wrap
from typing import Any, Literal, TypeVar, cast
from weakref import WeakKeyDictionary

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D

from prframe._preparation import colours, wording
from prframe._preparation.colours import (
    GROUND,
    GROUND_DARK,
    MUTED,
    MUTED_DARK,
    PALETTE,
    PALETTE_DARK,
    TEXT_DARK,
    Look,
)
from prframe.errors import ArgumentError, PrframeError

# Of print at 300 dots per inch no point is lost.
_FINEST_DPI = 300
# The width of a letter of text, in sizes of the font.
_LETTER = 0.56
_POINTS = 72
_LONGEST_NAME = 42
MINUS = " \N{MINUS SIGN} "
_SIDES = 2
# Between a note and the labels above it, in sizes of the font.
_NOTE_APART = 0.4

D = TypeVar("D", Axes, Figure)

_texts: WeakKeyDictionary[Artist, str] = WeakKeyDictionary()


def style(dark: bool = False) -> AbstractContextManager[None]:  # noqa: FBT001, FBT002
    """Return a context in which matplotlib draws as prframe's own pictures are drawn.

    Parameters
    ----------
    dark : bool, default False
        Whether the ground is dark. Pictures take the palette for dark grounds wherever the axes
        are dark, thus also in other dark styles.

    Returns
    -------
    context manager

    Examples
    --------
    >>> import prframe
    >>> with prframe.plot.style(dark=True):
    ...     pass
    """
    ink = TEXT_DARK if dark else "#1A1A1A"
    ground = GROUND_DARK if dark else GROUND
    grounds_and_texts = {
        **dict.fromkeys(["figure.facecolor", "axes.facecolor", "savefig.facecolor"], ground),
        **dict.fromkeys(["text.color", "axes.labelcolor", "axes.titlecolor"], ink),
        **dict.fromkeys(["xtick.color", "ytick.color", "axes.edgecolor"], ink),
    }
    settings: dict[str, Any] = {
        **grounds_and_texts,
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.titlesize": "medium",
        "font.size": 9.0,
        "legend.frameon": False,
        "legend.fontsize": "small",
        "lines.linewidth": 1.4,
        "pdf.fonttype": 42,
        "svg.fonttype": "none",
        "figure.figsize": (4.6, 4.0),
    }
    return mpl.rc_context(cast("Any", settings))


def alt_text(drawn: Axes | Figure) -> str:
    """Return what a picture shows, in words and numbers, for those who do not see it.

    Parameters
    ----------
    drawn : matplotlib Axes or Figure
        What a function of `prframe.plot` has returned.

    Returns
    -------
    str

    Raises
    ------
    PrframeError
        If nothing of prframe is drawn there.
    """
    text = _texts.get(drawn)
    if text is None:
        raise ArgumentError("`drawn` must be what a function of prframe.plot has returned.")
    return text


def described(drawn: D, text: str) -> D:
    """Note what a picture shows, after what has been drawn on the same axes before."""
    before = _texts.get(drawn)
    _texts[drawn] = text if before is None else f"{before} {text}"
    return drawn


def is_dark(ax: Axes) -> bool:
    """Tell whether the ground is darker than a middle grey."""
    return colours.is_dark(*to_rgb(ax.get_facecolor()))


def palette_of(ax: Axes, palette: Sequence[str] | None = None) -> Sequence[str]:
    """Return the colours of a picture."""
    return palette or (PALETTE_DARK if is_dark(ax) else PALETTE)


def muted(ax: Axes) -> str:
    """Return the grey of what is not the matter itself."""
    return MUTED_DARK if is_dark(ax) else MUTED


def ink(ax: Axes) -> str:
    """Return the colour of text."""
    return str(PALETTE_DARK[-1] if is_dark(ax) else PALETTE[-1])


def one_axes(ax: Axes | None, size: tuple[float, float] | None = None) -> Axes:
    """Return the caller's axes, or new ones."""
    if ax is None:
        _, made = plt.subplots(figsize=size, layout="constrained")
        ax = made
    _prepare(ax)
    return ax


def current_axes() -> Axes:
    """Return the current axes of matplotlib, new ones where there are none."""
    return plt.gca()


def _prepare(ax: Axes) -> None:
    """Leave out the frame where there is no scale, and keep the labels in the corner apart."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(pad=_POINTS * ems(0.5))


def grid(
    count: int,
    ax: Axes | None,
    *,
    height: float | None = None,
    shared: Literal["both", "y", "none"] = "both",
) -> tuple[Figure, list[Axes]]:
    """Return axes for panels with shared scales, in rows that fill a page's shape."""
    if count == 1:
        ax = one_axes(ax, None if height is None else (width(), height))
        return figure_of(ax), [ax]
    if ax is not None:
        raise PrframeError("`ax` must be None where there are panels, which get a new figure.")
    columns = min(count, ceil(sqrt(count * 1.5)))
    rows = ceil(count / columns)
    across = max(width(), 1.7 * columns)
    side = across / columns * 1.02
    size = (across, side * rows + 0.6 if height is None else height * rows)
    figure, made = plt.subplots(
        rows,
        columns,
        figsize=size,
        sharex=shared == "both",
        sharey=shared != "none",
        layout="constrained",
        squeeze=False,
    )
    axes = [panel for row in made for panel in row]
    for panel in axes[count:]:
        panel.remove()
    for panel in axes[:count]:
        _prepare(panel)
    return figure, axes[:count]


def label_outer(axes: Sequence[Axes]) -> None:
    """Label the scales only of panels that have none to the left, and none below."""
    if len(axes) == 1:
        # Of the caller's axes, others beside them may show something else.
        return
    places = [_place(panel) for panel in axes]
    for panel, (row, column) in zip(axes, places, strict=True):
        if (row + 1, column) in places:
            panel.set_xlabel("")
            panel.tick_params(labelbottom=False)
        else:
            panel.tick_params(labelbottom=True)
        if column > 0:
            panel.set_ylabel("")


def _place(ax: Axes) -> tuple[int, int]:
    """Return the row and the column of axes."""
    spec = ax.get_subplotspec()
    return (0, 0) if spec is None else (spec.rowspan.start, spec.colspan.start)


def figure_of(ax: Axes) -> Figure:
    """Return the figure that holds axes."""
    figure = ax.get_figure(root=True)
    if figure is None:
        raise PrframeError("`ax` must be part of a figure.")
    return figure


def pixel_columns(ax: Axes) -> int:
    """Return how many pixel columns axes have at most, on screen and in print."""
    figure = figure_of(ax)
    return ceil(figure.get_figwidth() * max(figure.dpi, _FINEST_DPI))


def short(name: object, longest: int = _LONGEST_NAME) -> str:
    """Return a name as text that is not read as mathematics, its middle left out if it is long."""
    return literal(cut(name, longest))


def cut(name: object, longest: int) -> str:
    """Return a name on one line, its middle left out if it is long."""
    text = " ".join(str(name).split())
    if len(text) <= longest:
        return text
    half = (longest - 1) // 2
    return f"{text[:half].rstrip()}…{text[-half:].lstrip()}"


def title(ax: Axes, *names: object) -> None:
    """Write the name of a panel, or of a pair, in what the panel has room for."""
    spec = ax.get_subplotspec()
    columns = 1 if spec is None else spec.get_gridspec().ncols
    # The labels of the scale and the panels beside it take the rest.
    across = (0.75 if columns == 1 else 0.85) * figure_of(ax).get_figwidth() / columns
    words = pair(names, letters_in(across, "axes.titlesize"), 24 if len(names) > 1 else 28)
    ax.set_title(literal(words))


def pair(names: Sequence[object], letters: int, longest: int, before: str = "") -> str:
    """Return one name, or the difference of two, with a line for each where one has no room."""
    words = before + MINUS.join(cut(name, longest) for name in names)
    if len(words) <= letters:
        return words
    room = max(8, letters - len(before) - len(MINUS.rstrip()))
    return before + f"{MINUS.rstrip()}\n".join(cut(name, room) for name in names)


def letters_in(across: float, size: str) -> int:
    """Return how many letters of a size, that of a setting, fit a width in inches."""
    return int(across * _POINTS / (font_size(size) * _LETTER))


def font_size(setting: str) -> float:
    """Return the size of the font of a setting, in points."""
    return float(FontProperties(size=mpl.rcParams[cast("Any", setting)]).get_size())


def literal(text: str) -> str:
    """Return text in which matplotlib reads no mathematics."""
    return text.replace("$", r"\$")


def legend(ax: Axes, names: Mapping[object, str], marks: Mapping[object, Look]) -> None:
    """Write which line is which, below the axes if the figure is ours, with what columns fit."""
    handles = [
        Line2D([], [], color=marks[group].colour, linestyle=line_style(marks[group]))
        for group in names
    ]
    labels = [short(name) for name in names.values()]
    figure = figure_of(ax)
    if figure.get_layout_engine() is None:
        ax.legend(handles, labels)
        return
    size = FontProperties(size=mpl.rcParams["legend.fontsize"]).get_size()
    entry = (max(map(len, labels)) * _LETTER + 4) * float(size) / _POINTS
    columns = max(1, min(len(labels), int(figure.get_figwidth() / entry)))
    # A note below all panels leaves no room there.
    side: Any = "outside upper center" if figure.get_supxlabel() else "outside lower center"
    figure.legend(handles, labels, loc=side, ncols=columns, frameon=False)


def line_style(look: Look) -> Any:  # noqa: ANN401 - matplotlib has no name for the type
    """Return dashes as matplotlib takes them."""
    return (0, look.dashes) if look.dashes else "solid"


def note(ax: Axes, label: str, text: str, beside: float = 0.0) -> None:
    """Label the horizontal axis, with a note below in lines that fit the figure.

    What stands beside the axes takes so many inches.
    """
    figure = figure_of(ax)
    # Square axes may be narrower than their place, whose whole width a note has.
    across = ax.get_position(original=True).width * figure.get_figwidth()
    if beside > 0:
        spec = ax.get_subplotspec()
        columns = 1 if spec is None else spec.get_gridspec().ncols
        across = min(across, figure.get_figwidth() / columns - beside)
    letters = max(24, letters_in(across, "axes.labelsize"))
    ax.set_xlabel("\n".join([label, *_wrapped(text, letters)]))


def _wrapped(text: str, letters: int) -> list[str]:
    """Break text into as few lines as fit, the longest as short as may be."""
    whole = wording.unbroken(text)
    fewest = len(wrap(whole, letters))
    widths = range(max(1, len(whole) // max(1, fewest)), letters)
    breaks = (wrap(whole, width) for width in widths)
    return next((lines for lines in breaks if len(lines) == fewest), wrap(whole, letters))


def note_below(figure: Figure, text: str) -> None:
    """Write a note below all panels, in lines that fit the figure."""
    size = float(FontProperties(size="small").get_size())
    letters = max(24, int(0.95 * figure.get_figwidth() * _POINTS / (size * _LETTER)))
    engine = figure.get_layout_engine()
    if isinstance(engine, ConstrainedLayoutEngine):
        engine.set(h_pad=ems(_NOTE_APART))
    figure.supxlabel("\n".join(_wrapped(text, letters)), fontsize="small")


def ems(count: float) -> float:
    """Return so many sizes of the font in inches, by which rows of text grow with the font."""
    return count * float(mpl.rcParams["font.size"]) / _POINTS


def dot() -> float:
    """Return the size of the dot of an estimate, which hides no more than it must, in points."""
    return 0.39 * float(mpl.rcParams["font.size"])


def name_rows(ax: Axes, names: Sequence[object]) -> float:
    """Name the rows of axes, in what they have room for, and return that room in inches.

    Of a difference both sides are cut, so that both are told.
    """
    longest = max(12, min(30, letters_in(0.4 * figure_of(ax).get_figwidth(), "ytick.labelsize")))
    whole = max((len(str(name)) for name in names), default=0)
    shown = [_cut_row(name, longest) for name in names]
    while len(set(shown)) < len(names) and longest < whole:
        # Names that differ in their middles are longer.
        longest += 4
        shown = [_cut_row(name, longest) for name in names]
    size = row_font(ax, len(names), "ytick.labelsize")
    ax.set_yticks(range(len(names)), [literal(name) for name in shown], fontsize=size)
    return max(map(len, shown), default=0) * size * _LETTER / _POINTS


def _cut_row(name: object, longest: int) -> str:
    """Return a name cut in its middle, of a difference each side in its own."""
    sides = str(name).split(MINUS)
    if len(str(name)) > longest and len(sides) == _SIDES:
        return MINUS.join(cut(side, (longest - len(MINUS)) // _SIDES) for side in sides)
    return cut(name, longest)


def row_font(ax: Axes, rows: int, setting: str) -> float:
    """Return the size of text beside rows, smaller than usual where axes are too low for them."""
    high = ax.get_position(original=True).height * figure_of(ax).get_figheight()
    return min(font_size(setting), high * _POINTS / max(1, rows) / 1.2)


def width() -> float:
    """Return the usual width of a figure."""
    return float(mpl.rcParams["figure.figsize"][0])
