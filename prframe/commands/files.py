"""Files that are not of TREC: frames and texts, and what is wrong with one, line by line."""

import csv
import gzip
import io
import json
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, TextIO

from prframe.commands.exits import NoInputError

if TYPE_CHECKING:
    import polars as pl

STANDARD_INPUT = "-"
# The types of columns in text files are guessed from so many rows, and from all if that fails.
_ROWS_FOR_TYPES = 10_000
_JSON_LINES = (".jsonl", ".ndjson")
_BINARY = {".parquet": "Parquet", ".arrow": "Arrow", ".feather": "Arrow", ".ipc": "Arrow"}


def scanned(path: str, keys: Sequence[str]) -> "pl.LazyFrame":
    """Return the rows of a file, whose format its first bytes tell, or the end of its name.

    Columns of keys in text files are read as text, so that an id such as 007 stays what it is.
    """
    from prframe.errors import PrframeError

    is_standard_input = path == STANDARD_INPUT
    if not is_standard_input and not Path(path).is_file():
        raise NoInputError(f"there is no file {path!r}")
    source: Any = sys.stdin.buffer.read() if is_standard_input else Path(path)
    start = source[:4] if is_standard_input else _first_bytes(Path(path))
    name = "standard input" if is_standard_input else path
    if not start:
        raise PrframeError(f"{name} is empty.")
    binary = _of_binary(name, source, start)
    return _of_text(name, source, start, keys) if binary is None else binary


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


def _of_text(name: str, source: Any, start: bytes, keys: Sequence[str]) -> "pl.LazyFrame":  # noqa: ANN401 - a path or bytes
    """Return the rows of JSON lines or of a CSV file, or say which line is wrong."""
    import polars as pl

    from prframe.errors import PrframeError

    plain = name.removesuffix(".gz")
    is_json = plain.endswith(_JSON_LINES) or start[:1] in (b"{", b"[")
    separator = "\t" if plain.endswith(".tsv") else ","

    def fault() -> str | None:
        try:
            with _opened(source) as file:
                lines = _decoded(file)
                return _fault_of_json(lines) if is_json else _fault_of_csv(lines, separator)
        except (EOFError, OSError, zlib.error):
            return "the file is compressed, and damaged or cut short"
        except _TextError as error:
            return str(error)

    try:
        frame = _json_lines(source) if is_json else _csv(source, keys, separator)
    except (pl.exceptions.PolarsError, OSError) as error:
        first = str(error).partition("\n")[0]
        raise PrframeError(f"{name}, {fault() or first}.") from None
    if frame.is_empty():
        raise PrframeError(f"{name} has no rows below the names of its columns.")
    # A line that is too short has nulls at its end.
    if not is_json and frame[:, -1].null_count() and (reason := fault()):
        raise PrframeError(f"{name}, {reason}.")
    return frame.lazy()


def _json_lines(source: Any) -> "pl.DataFrame":  # noqa: ANN401 - a path or bytes
    """Read JSON lines."""
    import polars as pl

    return pl.scan_ndjson(source, infer_schema_length=_ROWS_FOR_TYPES).collect()


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


class _TextError(Exception):
    """A line that is no text."""


def _decoded(lines: Iterable[bytes]) -> Iterator[str]:
    """Yield lines as text."""
    for number, line in enumerate(lines, 1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            raise _TextError(f"line {number}: the text must be UTF-8") from None


def _fault_of_csv(lines: Iterator[str], separator: str) -> str | None:
    """Say which line of a CSV file is the first that is wrong, and why."""
    reader = csv.reader(lines, delimiter=separator, strict=True)
    n_columns, start = None, 1
    try:
        for row in reader:
            n_columns = n_columns or len(row)
            if row and len(row) != n_columns:
                fields = "1 field" if len(row) == 1 else f"{len(row)} fields"
                return f"line {start}: {fields}, where the first line names {n_columns} columns"
            start = reader.line_num + 1
    except csv.Error as error:
        return f"line {start}: its quotation marks cannot be read ({error})"
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


def fields(path: str) -> int | None:
    """Return how many fields the first line of a file has; None of what is no plain file."""
    file_path = Path(path)
    if not file_path.is_file():
        return None
    try:
        with _opened(file_path) as lines:
            for line in lines:
                words = line.split()
                if words and not words[0].startswith(b"#"):
                    return len(words)
    except (EOFError, OSError, zlib.error):
        # Whoever reads all of the file says what is wrong with it.
        return None
    return None


@contextmanager
def text_of(path: str) -> Iterator[TextIO]:
    """Open a file of text, which may be compressed."""
    file_path = Path(path)
    if not file_path.is_file():
        raise NoInputError(f"there is no file {path!r}")
    with _opened(file_path) as file, io.TextIOWrapper(file, encoding="utf-8-sig") as text:
        yield text


def _first_bytes(path: Path) -> bytes:
    """Return the first bytes of a file."""
    with path.open("rb") as file:
        return file.read(4)
