"""Files that are not of TREC: frames and texts, and what is wrong with one, line by line."""

import csv
import gzip
import io
import json
import sys
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, TextIO

from prframe.commands.exits import NoInputError

if TYPE_CHECKING:
    import polars as pl

STANDARD_INPUT = "-"
# The types of columns in CSV files are guessed from so many rows, and from all if that fails.
_ROWS_FOR_TYPES = 10_000
# Nearly all first lines of files are shorter.
_ONE_LINE = 1 << 16
_JSON_LINES = (".jsonl", ".ndjson")
_BINARY = {".parquet": "Parquet", ".arrow": "Arrow", ".feather": "Arrow", ".ipc": "Arrow"}


def scanned(path: str, keys: Sequence[str]) -> "pl.LazyFrame":
    """Return the rows of a file, whose format its first bytes tell, or the end of its name.

    Columns of keys in text files are read as text, so that an id such as 007 stays what it is.
    """
    from prframe.errors import PrframeError
    from prframe.trec.files.opening import refuse_compressed

    source: Any
    if path == STANDARD_INPUT:
        name, source = "standard input", sys.stdin.buffer.read()
    else:
        name, source = path, _existing(path)
        # What comes through a pipe can be read once.
        source = source.read_bytes() if source.is_fifo() else source
    start = source[:4] if isinstance(source, bytes) else _first_bytes(source)
    if not start:
        raise PrframeError(f"{name} is empty.")
    refuse_compressed(start, name)
    binary = _of_binary(name, source, start)
    return _of_text(name, source, keys) if binary is None else binary


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
            frame = read()
            frame.collect_schema()
        except (pl.exceptions.PolarsError, OSError):
            raise PrframeError(
                f"{name} begins as {kind} files do, and is damaged or cut short; write it again."
            ) from None
        return frame
    promised = _BINARY.get(PurePath(name).suffix)
    if promised is not None:
        raise PrframeError(
            f"{name} is no {promised} file, as its name says: it begins with {start!r}. Name it "
            ".csv or .jsonl if it is text, or write it again."
        )
    return None


def _of_text(name: str, source: Any, keys: Sequence[str]) -> "pl.LazyFrame":  # noqa: ANN401 - a path or bytes
    """Return the rows of JSON lines or of a CSV file, or say which line is wrong."""
    import polars as pl

    from prframe.errors import PrframeError

    plain, source = name.removesuffix(".gz"), _with_line_feeds(source)
    is_json = plain.endswith(_JSON_LINES) or _begins_as_json(source)
    separator = "\t" if plain.endswith(".tsv") else ","

    def fault(*, strict: bool) -> str | None:
        try:
            with _opened(source) as file:
                lines = _decoded(file)
                if is_json:
                    return _fault_of_json(lines)
                return _fault_of_csv(lines, separator, strict=strict)
        except (EOFError, OSError, zlib.error):
            return "the file is compressed, and damaged or cut short"
        except _TextError as error:
            return str(error)

    try:
        frame = _json_lines(source) if is_json else _csv(source, keys, separator)
    except (pl.exceptions.PolarsError, OSError) as error:
        first = str(error).partition("\n")[0]
        raise PrframeError(f"{name}, {fault(strict=True) or first}.") from None
    if frame.is_empty():
        raise PrframeError(f"{name} has no rows below the names of its columns.")
    # A line that is too short has nulls at its end.
    may_be_short = not is_json and frame[:, -1].null_count()
    separators = (frame.height + 1) * (frame.width - 1)
    if (
        may_be_short
        and not _has_all(source, separator, separators)
        and (reason := fault(strict=False))
    ):
        raise PrframeError(f"{name}, {reason}.")
    if not is_json and frame.width == 1 and any(sign in frame.columns[0] for sign in ",;\t|"):
        raise PrframeError(
            f"{name}, line 1: all of it names one column, {frame.columns[0]!r}; commas separate "
            "fields, and tabs in a file whose name ends in .tsv."
        )
    return frame.lazy()


def _with_line_feeds(source: Any) -> Any:  # noqa: ANN401 - a path or bytes
    """Return the text with line feeds if carriage returns alone end its lines, else the source."""
    try:
        with _opened(source) as file:
            text = file.read(_ONE_LINE)
            if b"\r" not in text or b"\n" in text:
                return source
            text += file.read()
            return source if b"\n" in text else text.replace(b"\r", b"\n")
    except (EOFError, OSError, zlib.error):
        # Whoever reads all of the file says what is wrong with it.
        return source


def _json_lines(source: Any) -> "pl.DataFrame":  # noqa: ANN401 - a path or bytes
    """Read JSON lines."""
    import polars as pl

    with _opened(source) as file:
        if file.read(len(BOM_UTF8)) == BOM_UTF8:
            source = file.read()
    # Of a part of the rows, keys that first stand below it would be left out without a word.
    return pl.scan_ndjson(source, infer_schema_length=None).collect()


def _begins_as_json(source: Any) -> bool:  # noqa: ANN401 - a path or bytes
    """Tell whether the first character, after a byte order mark if there is one, is a bracket."""
    try:
        with _opened(source) as file:
            return file.read(4).removeprefix(BOM_UTF8)[:1] in (b"{", b"[")
    except (EOFError, OSError, zlib.error):
        return False


def _csv(source: Any, keys: Sequence[str], separator: str) -> "pl.DataFrame":  # noqa: ANN401 - a path or bytes
    """Read a CSV file with all of its columns, as a line with too many shows in no single one."""
    import polars as pl

    def with_types_of(rows: int | None) -> pl.DataFrame:
        read: dict[str, Any] = {"separator": separator, "infer_schema_length": rows}
        names = pl.scan_csv(source, **read).collect_schema().names()
        types = {key: pl.String() for key in keys if key in names}
        return pl.scan_csv(source, **read, schema_overrides=types).collect()

    try:
        return with_types_of(_ROWS_FOR_TYPES)
    except pl.exceptions.ComputeError:
        return with_types_of(None)


def _has_all(source: Any, separator: str, number: int) -> bool:  # noqa: ANN401 - a path or bytes
    """Tell quickly whether a file without quotation marks has this number of separators."""
    count = 0
    with _opened(source) as file:
        while block := file.read(1 << 20):
            if b'"' in block:
                return False
            count += block.count(separator.encode())
    return count == number


class _TextError(Exception):
    """A line that is no text."""


def _decoded(lines: Iterable[bytes]) -> Iterator[str]:
    """Yield lines as text."""
    for number, line in enumerate(lines, 1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            raise _TextError(f"line {number}: the text must be UTF-8") from None


def _fault_of_csv(lines: Iterator[str], separator: str, *, strict: bool) -> str | None:
    """Say which line of a CSV file is the first that is wrong, and why.

    Quotation marks are looked at if `strict`, and not where polars has read them.
    """
    # Texts may be longer than Python's limit.
    csv.field_size_limit(2**31 - 1)
    reader = csv.reader(lines, delimiter=separator, strict=strict)
    n_columns, start = None, 1
    try:
        for row in reader:
            n_columns = n_columns or len(row)
            if not row and n_columns > 1:
                return f"line {start}: it is blank"
            if row and len(row) != n_columns:
                fields = "1 field" if len(row) == 1 else f"{len(row)} fields"
                return f"line {start}: {fields}, where the first line names {n_columns} columns"
            start = reader.line_num + 1
    except csv.Error as error:
        return f"line {start}: its quotation marks cannot be read ({error})" if strict else None
    return None


def _fault_of_json(lines: Iterator[str]) -> str | None:
    """Say which line of JSON lines is the first that is wrong."""
    from prframe import checks

    for number, line in enumerate(lines, 1):
        text = line.strip()
        try:
            is_object = not text or isinstance(json.loads(text), dict)
        except (ValueError, RecursionError):
            is_object = False
        if not is_object:
            return f"line {number}: each line must be a JSON object; got {checks.brief(text)}"
    return None


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
