"""What a command writes: a frame in one of the formats, to standard output or to a file."""

import argparse
import io
import sys
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from prframe._replacing import replacing
from prframe.commands import terminal
from prframe.commands.exits import UsageError, forget_output

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
_PICTURES = (".png", ".svg", ".pdf", ".html", ".jpg")


def format_of(given: argparse.Namespace) -> str:
    """Return the format of the output, and refuse one that no terminal shows."""
    name = PurePath(given.output or "").suffix
    if name in _PICTURES and given.format is None:
        raise UsageError(
            f"a result is a table, and {name} is none of its formats; prframe report writes a "
            "page with pictures, and prframe.plot draws them"
        )
    if name not in _SUFFIXES and given.format is None:
        known = ", ".join(filter(None, _SUFFIXES))
        raise UsageError(
            f"{name} is the ending of no format; the endings are {known}, or choose with -f"
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
        stream = sys.stdout if given.output is None else io.StringIO()
        write_text(terminal.table(frame, stream) + note, given)
    else:
        _write_bytes(_encoded(frame, chosen), given)


def write_text(text: str, given: argparse.Namespace) -> None:
    """Write text; characters that the terminal's encoding lacks are escaped."""
    encoding = "utf-8" if given.output is not None else sys.stdout.encoding or "utf-8"
    _write_bytes(text.encode(encoding, "backslashreplace"), given)


def _encoded(frame: "pl.DataFrame", chosen: str) -> bytes:
    """Return a frame in a format."""
    writers: dict[str, Any] = {
        "csv": frame.write_csv,
        "jsonl": frame.write_ndjson,
        "parquet": frame.write_parquet,
    }
    buffer = io.BytesIO()
    writers.get(chosen, frame.write_ipc)(buffer)
    return buffer.getvalue()


def _write_bytes(content: bytes, given: argparse.Namespace) -> None:
    """Write to the file that was named, or to standard output."""
    try:
        if given.output is None:
            # At once, so that what is said on standard error afterwards comes after it.
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
            forget_output()
        name = given.output or "standard output"
        raise UsageError(f"cannot write {name}: {error.strerror}") from None
