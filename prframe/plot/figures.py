"""Figures and axes: their style, legends and notes that fit, and texts in place of the picture."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from math import ceil, sqrt
from textwrap import wrap
from typing import Any, Literal, TypeVar, cast
from weakref import WeakKeyDictionary, WeakSet

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from prframe import checks
from prframe._preparation import wording
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
_MIDDLE_GREY = 0.5
_LONGEST_NAME = 42
MINUS = " \N{MINUS SIGN} "
_WIDTHS = {"screen": (4.6, 4.0), "column": (3.3, 2.9), "page": (6.8, 3.6)}

D = TypeVar("D", bound=Axes | Figure)

_texts: WeakKeyDictionary[Artist, str] = WeakKeyDictionary()
_own: WeakSet[Figure] = WeakSet()
_notes: ContextVar[bool] = ContextVar("notes", default=True)


@contextmanager
def style(
    dark: bool = False,  # noqa: FBT001, FBT002
    *,
    width: Literal["screen", "column", "page"] = "screen",
    notes: bool = True,
) -> Iterator[None]:
    """Return a context in which matplotlib draws in the style of prframe's pictures.

    Parameters
    ----------
    dark : bool, default False
        Whether the background is dark. The palette follows the background of the axes in any
        style.
    width : {"screen", "column", "page"}, default "screen"
        The width of figures: for a screen, a column of a paper (3.3 inches) or a page (6.8), with
        text of 8 points. Panels need a page.
    notes : bool, default True
        Whether to add notes on intervals, tests and dashed lines.

    Returns
    -------
    context manager

    Examples
    --------
    >>> import prframe
    >>> with prframe.plot.style(dark=True):
    ...     pass
    """
    checks.one_of("width", width, tuple(_WIDTHS), in_order=True)
    ink = TEXT_DARK if dark else "#1A1A1A"
    ground = GROUND_DARK if dark else GROUND
    settings: dict[str, Any] = {
        **dict.fromkeys(["figure.facecolor", "axes.facecolor", "savefig.facecolor"], ground),
        **dict.fromkeys(["text.color", "axes.labelcolor", "axes.titlecolor"], ink),
        **dict.fromkeys(["xtick.color", "ytick.color", "axes.edgecolor"], ink),
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.titlesize": "medium",
        "font.size": 9.0 if width == "screen" else 8.0,
        "legend.frameon": False,
        "legend.fontsize": "small",
        "lines.linewidth": 1.4,
        "pdf.fonttype": 42,
        "svg.fonttype": "none",
        "figure.figsize": _WIDTHS[width],
    }
    token = _notes.set(notes)
    try:
        with mpl.rc_context(cast("Any", settings)):
            yield
    finally:
        _notes.reset(token)


def alt_text(drawn: Axes | Figure) -> str:
    """Describe a picture in words and numbers, for people who cannot see it.

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
    """Return whether the ground is darker than a middle grey."""
    red, green, blue = to_rgb(ax.get_facecolor())
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue < _MIDDLE_GREY


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
        figure, made = plt.subplots(figsize=size, layout="constrained")
        _own.add(figure)
        ax = made
    _prepare(ax)
    return ax


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
    # Scales of their own have longer labels.
    across = max(width(), (1.7 if shared == "both" else 2.2) * columns)
    side = across / columns * 1.02
    figure, made = plt.subplots(
        rows,
        columns,
        figsize=(across, side * rows + 0.6 if height is None else height * rows),
        sharex=shared == "both",
        sharey=shared != "none",
        layout="constrained",
        squeeze=False,
    )
    _own.add(figure)
    axes = list(made.flat)
    for place, panel in enumerate(axes[:count]):
        _prepare(panel)
        # The last panel of a column has the labels of its scale.
        panel.tick_params(labelbottom=shared != "both" or place + columns >= count)
    for panel in axes[count:]:
        panel.remove()
    return figure, axes[:count]


def label_outer(axes: Sequence[Axes]) -> None:
    """Label the scales only of panels that have none to the left, and none below."""
    specs = [panel.get_subplotspec() for panel in axes]
    columns = sum(spec is None or spec.rowspan.start == 0 for spec in specs)
    # Of the caller's axes, others beside them may show something else.
    for place, panel in enumerate(axes if len(axes) > 1 else []):
        if place + columns < len(axes):
            panel.set_xlabel("")
        if place % columns:
            panel.set_ylabel("")


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


def ticks(ax: Axes, along: Literal["x", "y"]) -> None:
    """Place at least four ticks, whose small labels keep apart in panels."""
    axis = ax.xaxis if along == "x" else ax.yaxis
    axis.set_major_locator(MaxNLocator(4, min_n_ticks=4))
    axis.set_major_formatter("{x:g}")
    axis.set_tick_params(labelsize="small")


def shares(ax: Axes, along: Literal["x", "y"]) -> None:
    """Place five ticks from 0 to 1, of which the labels of three keep apart in small panels."""
    ticks, labels = [0, 0.25, 0.5, 0.75, 1], ["0", "", "0.5", "", "1"]
    (ax.set_xticks if along == "x" else ax.set_yticks)(ticks, labels)


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


def pair(names: Sequence[object], letters: int) -> str:
    """Return one name, or the difference of two, of which both are told."""
    if len(MINUS.join(map(str, names))) <= letters:
        return literal(MINUS.join(map(str, names)))
    room = max(8, (letters - len(MINUS) * (len(names) - 1)) // len(names))
    return literal(MINUS.join(cut(name, room) for name in names))


def title(ax: Axes, *names: object) -> None:
    """Write the name of a panel, or of a pair, in what the panel has room for."""
    spec = ax.get_subplotspec()
    columns = 1 if spec is None else spec.get_gridspec().ncols
    # The labels of the scale and the panels beside it take the rest.
    across = (0.75 if columns == 1 else 0.85) * figure_of(ax).get_figwidth() / columns
    ax.set_title(pair(names, letters_in(across, "axes.titlesize")))


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
    """Write which line is which, outside the axes if the figure is ours."""
    handles = [
        Line2D([], [], color=marks[group].colour, linestyle=line_style(marks[group]))
        for group in names
    ]
    labels = [short(name) for name in names.values()]
    figure = figure_of(ax)
    if figure not in _own:
        ax.legend(handles, labels)
        return
    letters = letters_in(figure.get_figwidth(), "legend.fontsize")
    columns = max(1, min(len(labels), letters // (max(map(len, labels)) + 7)))
    # A note below all panels leaves no room there.
    side: Any = "outside upper center" if figure.get_supxlabel() else "outside lower center"
    figure.legend(handles, labels, loc=side, ncols=columns, frameon=False)


def line_style(look: Look) -> Any:  # noqa: ANN401 - matplotlib has no name for the type
    """Return dashes as matplotlib takes them."""
    return (0, look.dashes) if look.dashes else "solid"


def beside(
    ax: Axes,
    words: str,
    place: tuple[float, float],
    shift: tuple[float, float],
    coordinates: Any = "data",  # noqa: ANN401 - matplotlib has no name for the type
    **options: Any,  # noqa: ANN401 - the options of matplotlib
) -> None:
    """Write small words beside a place, also outside the axes, shifted by points."""
    # Words stand to the right of their place, or centred above it.
    across = {"ha": "left", "va": "center"} if shift[0] else {"ha": "center", "va": "bottom"}
    ax.annotate(
        words,
        place,
        xycoords=coordinates,
        xytext=shift,
        textcoords="offset points",
        annotation_clip=False,
        **({"fontsize": "small"} | across | options),
    )


def note(ax: Axes, label: str, text: str) -> None:
    """Label the horizontal axis, and write a note below it, or below all panels if there are any.

    In a figure of the caller it stands below the label, in lines that fit the axes.
    """
    figure = figure_of(ax)
    ax.set_xlabel(label)
    if not text or not _notes.get():
        return
    text = wording.unbroken(text)
    if figure in _own:
        letters = letters_in(0.95 * figure.get_figwidth(), "legend.fontsize")
        figure.supxlabel("\n".join(wrap(text, max(24, letters))), fontsize="small")
        if isinstance(engine := figure.get_layout_engine(), ConstrainedLayoutEngine):
            engine.set(h_pad=ems(0.4))
        return
    across = ax.get_position(original=True).width * figure.get_figwidth()
    lines = wrap(text, max(24, letters_in(across, "axes.labelsize")))
    ax.set_xlabel("\n".join([label, *lines]))


def ems(count: float) -> float:
    """Return so many sizes of the font in inches, by which rows of text grow with the font."""
    return count * float(mpl.rcParams["font.size"]) / _POINTS


def dot() -> float:
    """Return the size of the dot of an estimate, which hides no more than it must, in points."""
    return 0.39 * float(mpl.rcParams["font.size"])


def name_rows(ax: Axes, names: Sequence[object]) -> None:
    """Name the rows of axes, in what they have room for; of a difference both sides are told."""
    longest = max(12, min(30, letters_in(0.4 * figure_of(ax).get_figwidth(), "ytick.labelsize")))
    whole = max((len(str(name)) for name in names), default=0)
    shown = [pair(str(name).split(MINUS), longest) for name in names]
    # Names that differ in their middles are longer.
    while len(set(shown)) < len(names) and longest < whole:
        longest += 4
        shown = [pair(str(name).split(MINUS), longest) for name in names]
    ax.set_yticks(range(len(names)), shown, fontsize=row_font(ax, len(names), "ytick.labelsize"))
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="y", color=muted(ax), alpha=0.25, linewidth=0.6)
    ax.set_axisbelow(True)


def row_font(ax: Axes, rows: int, setting: str) -> float:
    """Return the size of text beside rows, smaller than usual where axes are too low for them."""
    high = ax.get_position(original=True).height * figure_of(ax).get_figheight()
    return min(font_size(setting), high * _POINTS / max(1, rows) / 1.2)


def width() -> float:
    """Return the usual width of a figure."""
    return float(mpl.rcParams["figure.figsize"][0])
