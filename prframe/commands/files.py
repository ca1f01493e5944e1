"""Files that are not of TREC: frames and texts, and what is wrong with one, line by line."""

import csv
import gzip
import io
import json
import os
import sys
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, TextIO

from prframe.commands.exits import BEING_READ, NoInputError

if TYPE_CHECKING:
    import polars as pl

# Texts may be longer than Python's limit.
csv.field_size_limit(2**31 - 1)
STANDARD_INPUT = "-"
CLOSED = "standard input is closed; name a file"
# The types of columns in CSV files are guessed from so many rows, and from all if that fails.
_ROWS_FOR_TYPES = 10_000
# Nearly all first lines of files are shorter.
_ONE_LINE = 1 << 16
_JSON_LINES = (".jsonl", ".ndjson")
# Polars takes these signs of a path for a pattern, or for the folder of a user.
_EXPANDED = frozenset("*?[~")
_BINARY = {".parquet": "Parquet", ".arrow": "Arrow", ".feather": "Arrow", ".ipc": "Arrow"}


def scanned(path: str, keys: Sequence[str], numbers: Sequence[str] = ("score",)) -> "pl.LazyFrame":
    """Return the rows of a file, whose format its first bytes tell, or the end of its name.

    Columns of keys in text files are read as text, so that an id such as 007 stays what it is.
    Those of `numbers` must hold numbers.
    """
    from prframe.errors import PrframeError
    from prframe.trec.files import refuse_compressed

    source: Any
    if path == STANDARD_INPUT:
        if sys.stdin is None:
            raise NoInputError(CLOSED)
        name, source = "standard input", sys.stdin.buffer.read()
    else:
        name, source = path, _existing(path)
        # What comes through a pipe can be read once, and polars takes some names for others.
        is_plain = not _EXPANDED.intersection(path) and path.isprintable()
        source = source if is_plain and not source.is_fifo() else source.read_bytes()
    start = source[:4] if isinstance(source, bytes) else _first_bytes(source)
    if not start:
        raise PrframeError(f"{name} is empty.")
    refuse_compressed(start, name)
    binary = _of_binary(name, source, start)
    return _of_text(name, _text(name, source), keys, numbers) if binary is None else binary


def _text(name: str, source: Any) -> bytes:  # noqa: ANN401 - a path or bytes
    """Return the text of a file, which may be compressed, without a byte order mark."""
    from prframe.errors import PrframeError

    try:
        with _opened(source) as file:
            text: bytes = file.read()
    except (EOFError, OSError, zlib.error):
        raise PrframeError(f"{name}, the file is compressed, and damaged or cut short.") from None
    return text.removeprefix(BOM_UTF8)


def _of_binary(name: str, source: Any, start: bytes) -> "pl.LazyFrame | None":  # noqa: ANN401 - a path or bytes
    """Return the rows of a Parquet or Arrow file; None if it is neither."""
    import polars as pl

    from prframe.errors import PrframeError

    readers: dict[bytes, tuple[str, Callable[[], pl.LazyFrame]]] = {
        b"PAR1": ("Parquet", lambda: pl.scan_parquet(source)),
        b"ARRO": ("Arrow", lambda: pl.scan_ipc(source)),
        b"\xff\xff\xff\xff": ("Arrow", lambda: pl.read_ipc_stream(source).lazy()),
    }
    if start in readers:
        kind, read = readers[start]
        try:
            with _unheard():
                frame = read()
                frame.collect_schema()
                if kind == "Arrow":
                    frame.head(1).collect()
        except pl.exceptions.PanicException:
            raise PrframeError(
                f"{name} names a column more than once, or is damaged; rename one of them, or "
                "write it again."
            ) from None
        except pl.exceptions.DuplicateError as error:
            raise PrframeError(f"{name}: {error}; rename one of them.") from None
        except (pl.exceptions.PolarsError, OSError):
            raise PrframeError(
                f"{name} begins as {kind} files do, and is damaged or cut short; write it again."
            ) from None
        BEING_READ.append(name)
        return frame
    promised = _BINARY.get(PurePath(name).suffix)
    if promised is not None:
        raise PrframeError(
            f"{name} is no {promised} file, as its name says: it begins with {start!r}. Name it "
            ".csv or .jsonl if it is text, or write it again."
        )
    return None


@contextmanager
def _unheard() -> Iterator[None]:
    """Let nothing reach standard error, as what Rust says when polars fails."""
    try:
        kept = os.dup(2)
    except OSError:
        # It is closed.
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _of_text(
    name: str, text: bytes, keys: Sequence[str], numbers: Sequence[str]
) -> "pl.LazyFrame":
    """Return the rows of JSON lines or of a CSV file, or say which line is wrong."""
    import polars as pl

    from prframe.errors import PrframeError

    plain = name.removesuffix(".gz")
    is_json = plain.endswith(_JSON_LINES) or text[:1] in (b"{", b"[")
    separator = None if is_json else "\t" if plain.endswith(".tsv") else ","
    if b"\r" in text[:_ONE_LINE] and b"\n" not in text:
        text = text.replace(b"\r", b"\n")
    if text.endswith((b"\n\n", b"\n\r\n")):
        text = text.rstrip(b"\r\n")
    try:
        # Of a part of the rows, keys that first stand below it would be left out without a word.
        frame = (
            pl.scan_ndjson(text, infer_schema_length=None).collect()
            if separator is None
            else _csv(text, keys, separator)
        )
        reason = _fault_of_frame(frame, text, separator, numbers)
    except pl.exceptions.PolarsError as error:
        first = str(error).partition("\n")[0]
        reason = _fault(text, separator, strict=True) or first
        raise PrframeError(f"{name}, {reason}.") from None
    if reason is not None:
        raise PrframeError(f"{name}, {reason}.")
    if frame.is_empty():
        raise PrframeError(f"{name} has no rows below the names of its columns.")
    return frame.lazy()


def _fault(text: bytes, separator: str | None, *, strict: bool) -> str | None:
    """Say which line of JSON lines, or of a CSV file with a separator, is the first wrong one.

    Quotation marks are looked at if `strict`, and not where polars has read them.
    """
    from prframe import checks

    n_columns = 0
    try:
        for line, record in _records(text, separator, strict=strict):
            if separator is None and not isinstance(record, dict):
                got = checks.brief(record)
                return f"line {line}: each line must be a JSON object; got {got}"
            if isinstance(record, csv.Error):
                marks = f"line {line}: its quotation marks cannot be read ({record})"
                return marks if strict else None
            n_columns = n_columns or len(record)
            if not record and n_columns > 1:
                return f"line {line}: it is blank"
            if separator and record and len(record) != n_columns:
                fields = "1 field" if len(record) == 1 else f"{len(record)} fields"
                return f"line {line}: {fields}, where the first line names {n_columns} columns"
    except UnicodeDecodeError as error:
        return f"line {text.count(10, 0, error.start) + 1}: the text must be UTF-8"
    return None


def _records(
    text: bytes, separator: str | None, *, strict: bool = False
) -> Iterator[tuple[int, Any]]:
    """Yield the line in which each record begins, and what it holds: fields, or an object.

    Without a separator these are JSON lines; what is no JSON is text. An error ends the fields.
    """
    lines = io.StringIO(text.decode())
    if separator is None:
        for number, line in enumerate(map(str.strip, lines), 1):
            with suppress(ValueError, RecursionError):
                line = json.loads(line)  # noqa: PLW2901 - text where it cannot be read
            if line != "":
                yield number, line
        return
    reader, start = csv.reader(lines, delimiter=separator, strict=strict), 1
    try:
        for fields in reader:
            yield start, fields
            start = reader.line_num + 1
    except csv.Error as error:
        yield start, error


def _fault_of_frame(
    frame: "pl.DataFrame", text: bytes, separator: str | None, numbers: Sequence[str]
) -> str | None:
    """Say what is wrong with a text that has been read."""
    if separator is not None:
        if frame.width == 1 and any(sign in frame.columns[0] for sign in ",;\t|"):
            return (
                f"line 1: all of it names one column, {frame.columns[0]!r}; commas separate "
                "fields, and tabs in a file whose name ends in .tsv"
            )
        # Polars renames columns of one name.
        _, header = next(_records(text, separator))
        if twice := next((name for name in header if name and header.count(name) > 1), None):
            return f"line 1: it names {twice!r} more than once; rename these columns"
        # A line that is too short has nulls at its end.
        number = (frame.height + 1) * (frame.width - 1)
        has_all = b'"' not in text and text.count(separator.encode()) == number
        if not has_all and frame[:, -1].null_count():
            reason = _fault(text, separator, strict=False)
            if reason is not None:
                return reason
    elif twice := _repeated_key(text):
        return f"line 1: it names {twice!r} more than once; rename one of them"
    for column in numbers:
        if (row := _first_no_number(frame, column)) is not None:
            # The first record of a CSV file has the names of the columns.
            records = _records(text, separator)
            line, _ = next(islice(records, row + (separator is not None), None))
            return (
                f"line {line}: {column!r} must be a number; got {frame[column][row]!r}; mend it, "
                "or leave it empty if it is missing"
            )
    return None


def _repeated_key(text: bytes) -> str | None:
    """Return a key that the first of some JSON lines has twice, of which polars takes one."""
    pairs = json.loads(text.lstrip().partition(b"\n")[0], object_pairs_hook=list)
    names = [name for name, _ in pairs]
    return next((name for name in names if names.count(name) > 1), None)


def _first_no_number(frame: "pl.DataFrame", column: str) -> int | None:
    """Return the first row of a column of text that is no number, None if there is none."""
    import polars as pl

    if frame.schema.get(column) != pl.String:
        return None
    number = frame[column].cast(pl.Float64, strict=False)
    bad = number.fill_nan(None).is_null() & frame[column].is_not_null()
    return bad.arg_max() if bad.any() else None


def _csv(text: bytes, keys: Sequence[str], separator: str) -> "pl.DataFrame":
    """Read a CSV file with all of its columns, as a line with too many shows in no single one."""
    import polars as pl

    def with_types_of(rows: int | None) -> pl.DataFrame:
        read: dict[str, Any] = {"separator": separator, "infer_schema_length": rows}
        names = pl.scan_csv(text, **read).collect_schema().names()
        types = {key: pl.String() for key in keys if key in names}
        return pl.scan_csv(text, **read, schema_overrides=types).collect()

    try:
        return with_types_of(_ROWS_FOR_TYPES)
    except pl.exceptions.ComputeError:
        return with_types_of(None)


@contextmanager
def _opened(source: Any) -> Iterator[Any]:  # noqa: ANN401 - a path or bytes
    """Open a file or bytes, which may be compressed."""
    with io.BytesIO(source) if isinstance(source, bytes) else source.open("rb") as file:
        is_compressed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        yield gzip.GzipFile(fileobj=file) if is_compressed else file


@contextmanager
def text_of(path: str) -> Iterator[TextIO]:
    """Open a file of text, which may be compressed."""
    with _opened(_existing(path)) as file, io.TextIOWrapper(file, encoding="utf-8-sig") as text:
        yield text


def matching(pattern: str, example: str = "*.csv") -> list[str]:
    """Return the files that a path or a pattern stands for; `example` is for a folder's files."""
    from prframe.errors import PrframeError
    from prframe.trec.files import files

    try:
        return [os.fspath(_existing(str(path))) for path in files(pattern, example)]
    except PrframeError as error:
        raise NoInputError(error) from None


def _existing(path: str) -> Path:
    """Return the path of a file that exists."""
    file_path = Path(path)
    if file_path.is_dir():
        raise NoInputError(f"{path!r} is a directory")
    if not file_path.exists():
        raise NoInputError(f"there is no file {path!r}")
    return file_path


def _first_bytes(path: Path) -> bytes:
    """Return the first bytes of a file."""
    with path.open("rb") as file:
        return file.read(4)
