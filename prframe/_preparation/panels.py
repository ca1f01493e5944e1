"""Which rows of a result are drawn in which panel, as which line."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import polars as pl

from prframe import checks
from prframe._preparation.results import Result
from prframe.errors import ArgumentError, PrframeError

MOST_PANELS = 24

T = TypeVar("T")


@dataclass(frozen=True)
class Lines(Generic[T]):
    """A group of a picture.

    Attributes
    ----------
    group : object
        The value of the column that colours tell apart, None without one.
    curves : tuple
        What is drawn of its rows, or, with a column `over`, of the rows of each value of that.
    """

    group: object
    curves: tuple[T, ...]


@dataclass(frozen=True)
class Panel(Generic[T]):
    """A part of a picture with axes of its own.

    Attributes
    ----------
    value : object
        The value of the column that panels tell apart, None without one.
    lines : tuple of Lines
    """

    value: object
    lines: tuple[Lines[T], ...]


@dataclass(frozen=True)
class Roles:
    """What the columns `by` of a result are shown by.

    Attributes
    ----------
    color, facet, over : str or None
        The column that colours tell apart, the one with a panel per value, and the one whose
        values are thin lines around their mean.
    """

    color: str | None
    facet: str | None
    over: str | None

    def value(self, frame: pl.DataFrame, role: str) -> object:
        """Return the value of a role's column in the first row."""
        column = getattr(self, role)
        return None if column is None else frame[column][0]


def roles(result: Result, color: str | None, facet: str | None, over: str | None) -> Roles:
    """Give each column `by` a role; the only one that is not named gets the colours."""
    named = {"color": color, "facet": facet, "over": over}
    for argument, column in named.items():
        if column is not None and not result.keys:
            raise ArgumentError(
                f"`{argument}` must be a column by of the result, which has none; say "
                f"by={checks.brief(column)} where it is computed."
            )
        if column is not None and column not in result.keys:
            checks.one_of(argument, column, result.keys, in_order=True)
    rest = [key for key in result.keys if key not in named.values()]
    if len(rest) > 1 or (rest and color is not None):
        raise PrframeError(
            f"the result has the columns {checks.listed(result.keys, in_order=True)}, and "
            f"{checks.listed(rest, in_order=True)} must be named in color=, facet= or over=, or "
            "rows of one value be chosen."
        )
    return Roles(rest[0] if rest else color, facet, over)


def panels(result: Result, shown: Roles, curve_of: Callable[[pl.DataFrame], T]) -> list[Panel[T]]:
    """Return the panels with their lines, all in the order of the rows."""
    facets = _parts(result.rows, shown.facet)
    if len(facets) > MOST_PANELS:
        raise PrframeError(
            f"`facet` must have at most {MOST_PANELS} values; {shown.facet!r} has {len(facets)}. "
            "Choose some, or name a column of queries or folds in over=."
        )
    return [
        Panel(
            shown.value(facet, "facet"),
            tuple(
                Lines(
                    shown.value(part, "color"),
                    tuple(curve_of(rows) for rows in _parts(part, shown.over)),
                )
                for part in _parts(facet, shown.color)
            ),
        )
        for facet in facets
    ]


def groups(drawn: Sequence[Panel[T]]) -> list[object]:
    """Return the groups of all panels, in order."""
    return list(dict.fromkeys(lines.group for panel in drawn for lines in panel.lines))


def _parts(frame: pl.DataFrame, column: str | None) -> list[pl.DataFrame]:
    """Return the rows of each value of a column, in order."""
    return [frame] if column is None else frame.partition_by(column, maintain_order=True)
