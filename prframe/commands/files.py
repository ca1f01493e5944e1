"""The files of a frame: one, or several, each a model; patterns of names, and folders."""

import csv
import gzip
import io
import json
import os
import re
import sys
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, TextIO

from prframe.commands.exits import NoInputError

if TYPE_CHECKING:
    import polars as pl

# Texts may be longer than Python's limit.
csv.field_size_limit(2**31 - 1)
STANDARD_INPUT = "-"
# The types of columns in CSV files are guessed from so many rows, and from all if that fails.
_ROWS_FOR_TYPES = 10_000
_JSON_LINES = (".jsonl", ".ndjson")
# Polars reads paths with these signs as patterns or as home folders.
_EXPANDED = frozenset("*?[~")
_BINARY = {".parquet": "Parquet", ".arrow": "Arrow", ".feather": "Arrow", ".ipc": "Arrow"}
# The first bytes of Arrow files, and of Arrow streams.
_ARROW = (b"ARRO", b"\xff\xff\xff\xff")
_ENDINGS = (*_BINARY, ".csv", ".tsv", *_JSON_LINES)
# The parts of a path that name a column and its value, as in day=2026-11-28.
_PARTITION = re.compile(r"([^=/\\]+)=([^/\\]*)")


def expand(words: Sequence[str]) -> dict[str, list[str]]:
    """Return the files of each path: of a match of a pattern, or of a folder all files in it."""
    paths: list[str] = []
    for word in words:
        is_file = word != STANDARD_INPUT and not Path(word).is_dir()
        paths += expand_pattern(word) if is_file else [word]
    return {path: _files_below(path) if Path(path).is_dir() else [path] for path in paths}


def _files_below(folder: str) -> list[str]:
    """Return the files of a known format in a folder and its subfolders, except hidden ones."""
    paths = [
        str(path)
        for path in sorted(Path(folder).rglob("*"))
        if path.name.removesuffix(".gz").endswith(_ENDINGS)
        and path.name[0] not in "._"
        and path.is_file()
    ]
    if not paths:
        raise NoInputError(
            f"the folder {folder!r} has no files whose names end in {', '.join(_ENDINGS)}"
        )
    return paths


def scan(
    files_of_path: dict[str, list[str]], keys: Sequence[str], model: str, numbers: Sequence[str]
) -> tuple["pl.LazyFrame", bool]:
    """Return all rows, and whether file names were added as the column `model`.

    In text files `keys` are text, so that 007 keeps its zeros, and `numbers` must be numbers.
    """
    import polars as pl

    from prframe.errors import PrframeError
    from prframe.trec.files import file_stem

    names = [file_stem(path) for path in files_of_path]
    if len(set(names)) < len(names):
        names = list(files_of_path)
    parts: list[pl.LazyFrame] = []
    first: list[str] = []
    for name, paths in zip(names, files_of_path.values(), strict=True):
        for path in paths:
            rows = _rows(path, keys, numbers)
            known = rows.collect_schema().names()
            added = {k: value for k, value in _PARTITION.findall(path) if k not in known}
            columns = [*known, *added]
            first = first or columns
            if differ := sorted({*columns} ^ {*first}):
                raise PrframeError(
                    "the files of a frame must have the same columns; "
                    f"{path} and those before it differ in {', '.join(differ)}."
                )
            if len(names) > 1 and model not in columns:
                added[model] = name
            rows = rows.with_columns(pl.lit(value).alias(k) for k, value in added.items())
            parts.append(rows.select(*first, *({model} - {*first} if model in added else ())))
    return pl.concat(parts, how="vertical_relaxed"), len(names) > 1 and model not in first


def _rows(path: str, keys: Sequence[str], numbers: Sequence[str]) -> "pl.LazyFrame":
    """Return the rows of a file, whose format its first bytes or the end of its name tell."""
    import polars as pl

    from prframe.errors import PrframeError
    from prframe.trec.files import refuse_compressed

    source: Any
    if path == STANDARD_INPUT:
        name, source = "standard input", sys.stdin.buffer.read()
    else:
        name, source = path, _require_file(path)
        # A pipe can be read only once.
        is_plain = not _EXPANDED.intersection(path) and path.isprintable()
        source = source if is_plain and not source.is_fifo() else source.read_bytes()
    start = source[:4] if isinstance(source, bytes) else _first_bytes(source)
    if not start:
        raise PrframeError(f"{name} is empty.")
    refuse_compressed(start, name)
    known = "Parquet" if start == b"PAR1" else "Arrow" if start in _ARROW else None
    kind = known or _BINARY.get(PurePath(name).suffix)
    if kind is None:
        return _read_text(name, source, keys, numbers)
    read: Any = pl.read_ipc_stream if start == _ARROW[1] else pl.scan_ipc
    try:
        frame: pl.LazyFrame = (pl.scan_parquet if kind == "Parquet" else read)(source).lazy()
        frame.head(1 if kind == "Arrow" else 0).collect()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise PrframeError(
            f"{name} cannot be read as {kind}: {str(error).partition(chr(10))[0]}; write it again."
        ) from None
    return frame


def _read_text(
    name: str,
    source: Any,  # noqa: ANN401 - a path or bytes
    keys: Sequence[str],
    numbers: Sequence[str],
) -> "pl.LazyFrame":
    """Return the rows of JSON lines or of a CSV file, or say what is wrong with it."""
    import polars as pl

    from prframe.errors import PrframeError

    try:
        with _open(source) as file:
            text: bytes = file.read()
    except (EOFError, OSError, zlib.error):
        raise PrframeError(f"{name}, the file is compressed, and damaged or cut short.") from None
    text = text.removeprefix(BOM_UTF8)
    if text.endswith((b"\n\n", b"\n\r\n")):
        text = text.rstrip(b"\r\n")
    stem = name.removesuffix(".gz")
    is_json = stem.endswith(_JSON_LINES) or text[:1] in (b"{", b"[")
    separator = "\t" if stem.endswith(".tsv") else ","
    header = text.partition(b"\n")[0]
    if not is_json and b";" in header and separator.encode() not in header:
        raise PrframeError(
            f"{name}, line 1: it has semicolons; use commas for columns and points for decimals."
        )
    try:
        # All rows tell the schema of JSON lines, as polars drops keys that it does not know.
        frame = (
            pl.scan_ndjson(text, infer_schema_length=None).collect()
            if is_json
            else _csv(text, keys, separator)
        )
    except pl.exceptions.PolarsError as error:
        fault = _no_object(text) if is_json else _ragged_line(text, separator)
        raise PrframeError(f"{name}, {fault or str(error).partition(chr(10))[0]}.") from None
    # Polars fills a line that is too short with nulls.
    may_be_short = not is_json and frame.height and frame[:, -1].null_count()
    fault = _ragged_line(text, separator) if may_be_short else None
    if fault := fault or _wrong_column(frame, numbers):
        raise PrframeError(f"{name}, {fault}.")
    if frame.is_empty():
        raise PrframeError(f"{name} has no rows below the names of its columns.")
    return frame.lazy()


def _no_object(text: bytes) -> str | None:
    """Describe the first line that is no JSON object, for example as it has NaN for a number."""
    for number, line in enumerate(text.decode(errors="replace").split("\n"), 1):
        try:
            is_object = not line.strip() or isinstance(json.loads(line, parse_constant=int), dict)
        except (ValueError, RecursionError):
            is_object = False
        if not is_object:
            return f"line {number}: each line must be a JSON object; got {line.strip()[:80]!r}"
    return None


def _ragged_line(text: bytes, separator: str) -> str | None:
    """Describe the first line of a CSV file that has too many or too few fields."""
    reader = csv.reader(io.StringIO(text.decode(errors="replace")), delimiter=separator)
    # Polars reads some quotation marks that this reader does not.
    with suppress(csv.Error):
        n_columns = len(next(reader))
        for fields in reader:
            if len(fields) != n_columns and (fields or n_columns > 1):
                return (
                    f"line {reader.line_num}: the number of fields is {len(fields)}, where the "
                    f"first line names {n_columns} columns"
                )
    return None


def _wrong_column(frame: "pl.DataFrame", numbers: Sequence[str]) -> str | None:
    """Describe a column whose name stands there twice, or one of `numbers` with text."""
    import polars as pl

    if frame.width == 1 and len(frame.columns[0].split()) > 1:
        return f"line 1: it has one column, {frame.columns[0]!r}; leave out --frame for TREC files"
    for name in frame.columns:
        original, mark, _ = name.rpartition("_duplicated_")
        if mark and original in frame.columns:
            return f"line 1: it names {original!r} more than once; rename these columns"
    for name in numbers:
        if frame.schema.get(name) == pl.String:
            number = frame[name].cast(pl.Float64, strict=False).fill_nan(None)
            bad = number.is_null() & frame[name].is_not_null()
            if bad.any():
                row = bad.arg_max() or 0
                return (
                    f"row {row + 1} of the data: {name!r} must be a number; got "
                    f"{frame[name][row]!r}; mend it, or leave it empty if it is missing"
                )
    return None


def _csv(text: bytes, keys: Sequence[str], separator: str) -> "pl.DataFrame":
    """Read a CSV file with all of its columns, as only that shows lines with too many fields."""
    import polars as pl

    texts = dict.fromkeys(keys, pl.String())
    options: Any = {"separator": separator, "schema_overrides": texts}
    try:
        return pl.scan_csv(text, infer_schema_length=_ROWS_FOR_TYPES, **options).collect()
    except pl.exceptions.ComputeError:
        return pl.scan_csv(text, infer_schema_length=None, **options).collect()


@contextmanager
def _open(source: Any) -> Iterator[Any]:  # noqa: ANN401 - a path or bytes
    """Open a file or bytes, which may be compressed."""
    with io.BytesIO(source) if isinstance(source, bytes) else source.open("rb") as file:
        is_compressed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        yield gzip.GzipFile(fileobj=file) if is_compressed else file


@contextmanager
def open_text(path: str) -> Iterator[TextIO]:
    """Open a file of text, which may be compressed."""
    with _open(_require_file(path)) as file, io.TextIOWrapper(file, encoding="utf-8-sig") as text:
        yield text


def expand_pattern(pattern: str, example: str = "*.csv") -> list[str]:
    """Return the files that a path or a pattern stands for; `example` is for a folder's files."""
    from prframe.errors import PrframeError
    from prframe.trec.files import files

    try:
        return [os.fspath(_require_file(str(path))) for path in files(pattern, example)]
    except PrframeError as error:
        raise NoInputError(error) from None


def _require_file(path: str) -> Path:
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
