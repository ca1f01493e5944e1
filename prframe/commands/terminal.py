"""What people see at a terminal: tables that fit, colours where they are wanted, and progress."""

import math
import os
import shutil
import sys
import textwrap
import threading
import time
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from prframe.commands import exits

if TYPE_CHECKING:
    import polars as pl

_GAP = "  "
_NULL = "-"
_CUT = "..."
_LONGEST_TEXT = 60
# A column of text that has less room than this is left out.
_LEAST_TEXT = 12
# Smaller numbers have no digit among four decimals, and larger ones would be misread.
_SMALLEST, _LARGEST = 5e-5, 1e7
_STYLES = {"bold": "1", "red": "31", "yellow": "33"}
_COLOUR_OF = {"error": "red", "warning": "yellow"}
# The name of a stage is shown once it has taken so long, and then so often.
_PATIENCE_SECONDS = 2.0
_STEP_SECONDS = 0.5
_CLEAR = "\r\x1b[K"
plain = exits.plain


def is_coloured(stream: TextIO) -> bool:
    """Tell whether to write colours: at a terminal, unless NO_COLOR is set."""
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return wanted and stream.isatty()


def styled(text: str, style: str, stream: TextIO) -> str:
    """Return text in a style, or as it is where there are no colours."""
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if is_coloured(stream) else text


def table(result: "pl.DataFrame", stream: TextIO = sys.stdout) -> str:
    """Return a frame as lines of text, with as many columns as the terminal has room for."""
    if not result.width:
        return ""
    columns = [
        [plain(name), *map(_cell, values)]
        for name, values in result.to_dict(as_series=False).items()
    ]
    is_number = [dtype.is_numeric() for dtype in result.dtypes]
    widths = _fitting([max(map(_width, column)) for column in columns], is_number, stream)
    padded = [
        [_padded(cell, width, right=right) for cell in column]
        for column, width, right in zip(columns, widths, is_number, strict=False)
    ]
    head, *rows = zip(*padded, strict=True)
    lines = [styled(_line(head), "bold", stream), *(_coloured(row, stream) for row in rows)]
    left_out = [column[0] for column in columns[len(widths) :]]
    return "".join(f"{line}\n" for line in [*lines, *_note(left_out)])


def _fitting(widths: Sequence[int], is_number: Sequence[bool], stream: TextIO) -> list[int]:
    """Return the widths of the columns that fit; of all columns where nobody watches.

    The last of them is narrower than it should be if it is text and has some room, or the first.
    """
    if not stream.isatty():
        return [*widths]
    room = shutil.get_terminal_size().columns
    fitting: list[int] = []
    for width, number in zip(widths, is_number, strict=True):
        if width > room:
            has_some = not fitting or (not number and room >= _LEAST_TEXT)
            return [*fitting, room] if has_some else fitting
        fitting.append(width)
        room -= width + len(_GAP)
    return fitting


def _note(left_out: Sequence[str]) -> list[str]:
    """Return lines that name the columns which had no room."""
    if not left_out:
        return []
    columns = "column" if len(left_out) == 1 else "columns"
    text = f"({len(left_out)} more {columns}: {', '.join(left_out)}; -f csv writes all)"
    return textwrap.wrap(text, shutil.get_terminal_size().columns)


def _cell(value: object) -> str:
    """Return a value as text."""
    if value is None:
        return _NULL
    if isinstance(value, float):
        return _number(value)
    text = plain(str(value))
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - len(_CUT)]}{_CUT}"


def _number(value: float) -> str:
    """Return a number with four decimals, or with an exponent where these would not do."""
    if value == 0 or _SMALLEST <= abs(value) < _LARGEST:
        return f"{value:.4f}"
    return f"{value:.2e}" if math.isfinite(value) else f"{value}"


def _width(text: str) -> int:
    """Return how many places of a terminal a text takes."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(map(bool, map(unicodedata.combining, text)))


def _padded(text: str, width: int, *, right: bool) -> str:
    """Return a text with spaces to a width, or cut to it."""
    while _width(text) > width:
        text = f"{text[: -1 - len(_CUT)]}{_CUT}" if len(text) > len(_CUT) else text[:-1]
    space = " " * (width - _width(text))
    return f"{space}{text}" if right else f"{text}{space}"


def _line(cells: Sequence[str]) -> str:
    """Return the cells of a row as one line."""
    return _GAP.join(cells).rstrip()


def _coloured(row: Sequence[str], stream: TextIO) -> str:
    """Return the line of a row, in the colour of how bad it says that something is."""
    colours = [_COLOUR_OF[cell.rstrip()] for cell in row if cell.rstrip() in _COLOUR_OF]
    return styled(_line(row), colours[0], stream) if colours else _line(row)


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Show the name of a stage on standard error while it lasts, if that is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    done = threading.Event()
    thread = threading.Thread(target=_show, args=(name, done), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _show(name: str, done: threading.Event) -> None:
    """Write how long the stage has taken, until it is done."""
    start = time.monotonic()
    if done.wait(_PATIENCE_SECONDS):
        return
    while not done.wait(_STEP_SECONDS):
        sys.stderr.write(f"{_CLEAR}prframe: {name}, {time.monotonic() - start:.0f} s")
        sys.stderr.flush()
    sys.stderr.write(_CLEAR)
    sys.stderr.flush()
