"""What a command writes: a frame in one of the formats, to standard output or to a file."""

import argparse
import io
import math
import shutil
import sys
import textwrap
from itertools import accumulate
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from prframe._replacing import replacing
from prframe.commands.exits import UsageError, discard_output, plain

if TYPE_CHECKING:
    import polars as pl

_SUFFIXES = {
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".txt": "table",
    "": "table",
}
_BINARY = ("parquet", "arrow")
_GAP = "  "
_LONGEST_TEXT = 60
# Smaller numbers have no digit among four decimals, and larger ones would be misread.
_SMALLEST, _LARGEST = 5e-5, 1e7


def format_of(given: argparse.Namespace) -> str:
    """Return the format of the output, and refuse one that no terminal shows."""
    name = PurePath(given.output or "").suffix
    if name not in _SUFFIXES and given.format is None:
        known = ", ".join(filter(None, _SUFFIXES))
        raise UsageError(
            f"{name} is the ending of no table; the endings are {known}, or choose with -f; "
            "prframe report writes a page with pictures"
        )
    chosen: str = given.format or _SUFFIXES[name]
    if chosen in _BINARY and given.output is None and sys.stdout.isatty():
        raise UsageError(f"{chosen} is nothing for a terminal; name a file with -o")
    return chosen


def write(result: Any, given: argparse.Namespace, note: str = "") -> None:  # noqa: ANN401 - frames of verbs
    """Write the result of a verb, which may be lazy, with a note below it if it is a table."""
    chosen = format_of(given)
    frame = result.lazy().collect()
    if chosen == "table":
        is_watched = given.output is None and sys.stdout.isatty()
        room = shutil.get_terminal_size().columns if is_watched else None
        write_text(table(frame, room) + note, given)
        return
    writers: dict[str, Any] = {
        "csv": frame.write_csv,
        "jsonl": frame.write_ndjson,
        "parquet": frame.write_parquet,
        "arrow": frame.write_ipc,
    }
    buffer = io.BytesIO()
    writers[chosen](buffer)
    _write_bytes(buffer.getvalue(), given)


def write_text(text: str, given: argparse.Namespace) -> None:
    """Write text; characters that the terminal's encoding lacks are escaped."""
    encoding = "utf-8" if given.output is not None else sys.stdout.encoding or "utf-8"
    _write_bytes(text.encode(encoding, "backslashreplace"), given)


def _write_bytes(content: bytes, given: argparse.Namespace) -> None:
    """Write to the file that was named, or to standard output."""
    try:
        if given.output is None:
            # At once, so that later lines on standard error come after it.
            sys.stdout.flush()
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
        else:
            with replacing(given.output) as file:
                file.write(content)
    except BrokenPipeError:
        raise
    except OSError as error:
        if given.output is None:
            discard_output()
        name = given.output or "standard output"
        raise UsageError(f"cannot write {name}: {error.strerror}") from None


def table(result: "pl.DataFrame", room: int | None = None) -> str:
    """Return a frame as lines of text, with as many columns as there is room for."""
    columns = [[plain(name), *map(_cell, result[name])] for name in result.columns]
    widths = [max(map(len, column)) for column in columns]
    ends = accumulate(width + len(_GAP) for width in widths)
    n_shown = sum(room is None or end - len(_GAP) <= room for end in ends) or 1
    padded = [
        [cell.rjust(width) if dtype.is_numeric() else cell.ljust(width) for cell in column]
        for column, width, dtype in zip(columns[:n_shown], widths, result.dtypes, strict=False)
    ]
    lines = [_GAP.join(row).rstrip() for row in zip(*padded, strict=True)]
    if left_out := result.columns[n_shown:]:
        noun = "column" if len(left_out) == 1 else "columns"
        text = f"({len(left_out)} more {noun}: {', '.join(left_out)}; -f csv writes all)"
        lines += textwrap.wrap(plain(text), room or 0)
    return "".join(f"{line}\n" for line in lines)


def _cell(value: object) -> str:
    """Return a value as text: numbers with four decimals, or with an exponent."""
    if value is None:
        return "-"
    if isinstance(value, float):
        if value == 0 or _SMALLEST <= abs(value) < _LARGEST:
            return f"{value:.4f}"
        return f"{value:.2e}" if math.isfinite(value) else f"{value}"
    text = plain(str(value))
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 3]}..."
