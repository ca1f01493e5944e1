"""What all charts are made of: their look, their rows, their panels and their words."""

import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from textwrap import wrap
from typing import Any, TypeAlias, cast

import altair as alt
import polars as pl

from prframe._preparation import wording
from prframe._preparation.colours import (
    GROUND_DARK,
    MUTED,
    MUTED_DARK,
    PALETTE,
    PALETTE_DARK,
    TEXT_DARK,
    Look,
)
from prframe._preparation.curves import MOST_PANELS
from prframe.errors import ArgumentError, PrframeError

Chart: TypeAlias = alt.LayerChart | alt.ConcatChart

SIDE = 300
# The width of a letter of a note in pixels.
_LETTER = 5.6
_MOST_COLUMNS = 4
# The labels and the gap beside a panel in pixels.
_BESIDE = 60


def _theme() -> alt.theme.ThemeConfig:
    """Return the look of charts on a dark ground."""
    text = {"labelColor": TEXT_DARK, "titleColor": TEXT_DARK}
    axis = {**text, "domainColor": TEXT_DARK, "tickColor": TEXT_DARK, "gridColor": "#3A3A3A"}
    title = {"color": TEXT_DARK, "subtitleColor": TEXT_DARK}
    config = {"background": GROUND_DARK, "axis": axis, "legend": text, "title": title}
    return cast("alt.theme.ThemeConfig", {"config": config})


alt.theme.register("prframe-dark", enable=False)(_theme)


def style(dark: bool = False) -> AbstractContextManager[Any]:  # noqa: FBT001, FBT002
    """Return a context in which charts are made and shown for a light or a dark ground.

    Parameters
    ----------
    dark : bool, default False
        Whether the ground is dark. Charts take the palette for dark grounds also in Altair's own
        theme "dark".

    Returns
    -------
    context manager

    Examples
    --------
    >>> import prframe
    >>> with prframe.chart.style(dark=True):
    ...     pass
    """
    enabled: Any = alt.theme.enable("prframe-dark" if dark else "default")
    return cast("AbstractContextManager[Any]", enabled)


def is_dark() -> bool:
    """Return whether the active theme is one for a dark ground."""
    return alt.theme.active in {"prframe-dark", "dark"}


def palette_of(palette: Sequence[str] | None = None) -> Sequence[str]:
    """Return the colours of a chart."""
    return palette or (PALETTE_DARK if is_dark() else PALETTE)


def muted() -> str:
    """Return the grey of what is not the matter itself."""
    return MUTED_DARK if is_dark() else MUTED


def ink() -> str:
    """Return the colour of text."""
    return palette_of()[-1]


def chart_of(rows: pl.DataFrame) -> alt.Chart:
    """Return a chart of rows, whose numbers are null where JSON has no name for them."""
    floats = [name for name, dtype in rows.schema.items() if dtype.is_float()]
    finite = rows.with_columns(
        pl.when(pl.col(name).is_finite()).then(pl.col(name)).alias(name) for name in floats
    )
    return alt.Chart(alt.InlineData(values=finite.to_dicts()))


def layered(
    layers: Sequence[Any], width: float, height: float, title: str | Sequence[str] | None = None
) -> alt.LayerChart:
    """Return a panel of layers."""
    made = alt.layer(*layers).properties(width=width, height=height)
    return cast("alt.LayerChart", made if not title else made.properties(title=title))


def rule(value: float, along: str, colour: str, dashes: Sequence[float] = ()) -> alt.Chart:
    """Return a line across a panel at a value of one of its scales, ``"x"`` or ``"y"``."""
    mark = alt.Chart(alt.InlineData(values=[{}])).mark_rule(
        color=colour, strokeDash=list(dashes) or [1, 0]
    )
    made: alt.Chart = mark.encode(alt.XDatum(value) if along == "x" else alt.YDatum(value))
    return made


def told(column: str, title: str | None = None) -> alt.Tooltip:
    """Return a number that the pointer shows."""
    return alt.Tooltip(f"{column}:Q", title=title or column, format=".4f")


def colours(
    marks: Mapping[object, Look], title: str | None, names: Mapping[object, str]
) -> tuple[alt.Color, alt.StrokeDash]:
    """Return the encodings of the colour and the dashes of groups."""
    domain = [names[group] for group in marks]
    legend = (
        None if title is None else alt.Legend(title=title, labelLimit=260, symbolType="stroke")
    )
    colour = alt.Color("group:N").scale(
        domain=domain, range=[look.colour for look in marks.values()]
    )
    dashes = alt.StrokeDash("group:N").scale(
        domain=domain, range=[list(look.dashes) or [1, 0] for look in marks.values()]
    )
    return colour.legend(legend), dashes.legend(legend)


def finished(panels: Sequence[alt.LayerChart], text: str, note: str = "") -> Chart:
    """Return one chart of panels, with its note below and its text for those who do not see it."""
    if len(panels) > MOST_PANELS:
        raise PrframeError(
            f"a chart must have at most {MOST_PANELS} panels; got {len(panels)}. Choose some."
        )
    columns = min(len(panels), _MOST_COLUMNS, math.ceil(math.sqrt(1.5 * len(panels))))
    across = sum(panel.width for panel in panels[:columns]) + _BESIDE * (columns - 1)
    lines = wrap(wording.unbroken(note), max(30, int(across / _LETTER)))
    title = alt.TitleParams(
        text=lines, orient="bottom", anchor="start", offset=12, fontSize=11, fontWeight="normal"
    )
    made: Chart = panels[0]
    # The title of a panel stays above it, and the note below all.
    if len(panels) > 1 or (lines and made.title is not alt.Undefined):
        made = alt.concat(*panels, columns=columns)
    if lines:
        made = made.properties(title=title)
    return made.properties(description=text)


def alt_text(drawn: Chart) -> str:
    """Return what a chart shows, in words and numbers, for those who do not see it.

    Parameters
    ----------
    drawn : altair chart
        What a function of `prframe.chart` has returned.

    Returns
    -------
    str

    Raises
    ------
    PrframeError
        If the chart has no description.
    """
    text = getattr(drawn, "description", None)
    if not isinstance(text, str):
        raise ArgumentError("`drawn` must be what a function of prframe.chart has returned.")
    return text
