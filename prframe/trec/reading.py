"""Read runs and qrels: quickly where a file is regular, and by the same rules where it is not.

A file is read in blocks of whole lines. A block whose fields are separated by single spaces goes
through the CSV reader of polars as it is, any other one with its white space normalised. The
reader would silently misread white space that is no separator, empty fields, short lines, comments
and NaN, so a block is checked for these before or after. Only a block that fails is read line by
line. This slow way defines what a file means: it gives the rows, or the line that is malformed.
"""

import gzip
import io
import os
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import BinaryIO, TypeAlias, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prframe import checks
from prframe.errors import PrframeError
from prframe.trec.layouts import BOM, QRELS, RUN, Layout, MalformedLineError

Path: TypeAlias = str | os.PathLike[str]
Bytes: TypeAlias = NDArray[np.uint8]

# A block is large enough to keep all cores busy, and so small that copies of it do not matter.
_BLOCK = 1 << 24
_PIECE = 1 << 18
_GZIP = b"\x1f\x8b"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_SPACE, _NEWLINE, _RETURN, _HASH = b" \n\r#"
# These bytes, with spaces and newlines, are white space in C. A carriage return becomes a
# newline, since it ends a line and blank lines are skipped.
_TO_SPACE = bytes.maketrans(b"\t\v\f\r", b"   \n")
_LARGEST_CONTROL = 13
_LINE_END = re.compile(rb"\r\n|\r|\n")
_COMMENT = re.compile(rb"\n#[^\n]*")
# The CSV reader would skip the bytes of a byte order mark even where they are none, so a block
# that begins with them counts as untidy.
_UNTIDY = re.compile(rb"[\t\v\f\r]|  |\A[ \n#]|\n[ \n#]|\A\xef\xbb\xbf")
_LOOK = 1 << 12


def read_run(path: Path | Sequence[Path]) -> pl.DataFrame:
    r"""Read a run in TREC format: lines of ``query Q0 document rank score tag``.

    Parameters
    ----------
    path : str, path, or list of them
        One file, or several whose rows are to follow one another. Gzip is recognised by its
        content.

    Returns
    -------
    polars.DataFrame
        One row per line, in the order of the file: ``query_id`` (String), ``doc_id`` (String),
        ``rank`` (Int64), ``score`` (Float64), ``system`` (String: the tag).

    Raises
    ------
    PrframeError
        A line with fewer than six fields, with a rank that is no whole number or a score that is
        no number (NaN is none), or text that is not UTF-8; with the file and the line.
    OSError
        A file that cannot be opened; FileNotFoundError if it does not exist.

    Notes
    -----
    Fields are separated by any amount of white space (ASCII), which may also stand at both ends of
    a line. Text after the sixth field is left out, as trec_eval does. Blank lines and lines that
    start with ``#``, perhaps after white space, are skipped. Quotes have no special meaning. Lines
    end with a line feed, a carriage return, or both; the last line may lack its end. A byte order
    mark is skipped, and a file that starts with the mark of UTF-16 is read as such. A file without
    rows gives a frame without rows.

    Ids are text: ``"007"`` stays as it is. Scores may be written as infinite, ``inf`` or ``-inf``,
    which means not retrieved; a number that is too large for a 64-bit float is malformed.
    The rank is read but never used: scores decide.

    Files with single spaces are read at nearly the speed of `polars.read_csv`, others take a few
    times as long. Neither takes more memory than that function does.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from prframe.trec import read_run
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "bm25.txt")
    ...     _ = path.write_text("301 Q0 d7 1 2.5 bm25\n301 Q0 d2 2 1e-1 bm25\n")
    ...     read_run(path)
    shape: (2, 5)
    ┌──────────┬────────┬──────┬───────┬────────┐
    │ query_id ┆ doc_id ┆ rank ┆ score ┆ system │
    │ ---      ┆ ---    ┆ ---  ┆ ---   ┆ ---    │
    │ str      ┆ str    ┆ i64  ┆ f64   ┆ str    │
    ╞══════════╪════════╪══════╪═══════╪════════╡
    │ 301      ┆ d7     ┆ 1    ┆ 2.5   ┆ bm25   │
    │ 301      ┆ d2     ┆ 2    ┆ 0.1   ┆ bm25   │
    └──────────┴────────┴──────┴───────┴────────┘
    """
    return _read(path, RUN)


def read_qrels(path: Path | Sequence[Path]) -> pl.DataFrame:
    r"""Read qrels in TREC format: lines of ``query iteration document label``.

    Parameters
    ----------
    path : str, path, or list of them
        One file, or several whose rows are to follow one another. Gzip is recognised by its
        content.

    Returns
    -------
    polars.DataFrame
        One row per line, in the order of the file: ``query_id`` (String), ``doc_id`` (String),
        ``label`` (Int64; above 0 relevant, below 0 pooled but not judged).

    Raises
    ------
    PrframeError
        A line that has not exactly four fields, a label that is no whole number, or text that is
        not UTF-8; with the file and the line.
    OSError
        A file that cannot be opened; FileNotFoundError if it does not exist.

    Notes
    -----
    White space, comments, line ends and encodings are treated as in `read_run`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from prframe.trec import read_qrels
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "qrels.txt")
    ...     _ = path.write_text("301 0 d2 1\n301 0 d5 2\n")
    ...     read_qrels(path)
    shape: (2, 3)
    ┌──────────┬────────┬───────┐
    │ query_id ┆ doc_id ┆ label │
    │ ---      ┆ ---    ┆ ---   │
    │ str      ┆ str    ┆ i64   │
    ╞══════════╪════════╪═══════╡
    │ 301      ┆ d2     ┆ 1     │
    │ 301      ┆ d5     ┆ 2     │
    └──────────┴────────┴───────┘
    """
    return _read(path, QRELS)


def _read(path: Path | Sequence[Path], layout: Layout) -> pl.DataFrame:
    """Read one file or several."""
    paths = [path] if isinstance(path, (str, os.PathLike)) else path
    is_list = isinstance(paths, (list, tuple)) and bool(paths)
    if not (is_list and all(isinstance(file_path, (str, os.PathLike)) for file_path in paths)):
        raise PrframeError(f"`path` must be a path or a list of paths; got {checks.brief(path)}.")
    parts = [pl.DataFrame(schema=layout.schema)]
    for file_path in paths:
        parts += _read_file(file_path, layout)
    return pl.concat(parts).select(layout.columns)


def _read_file(path: Path, layout: Layout) -> list[pl.DataFrame]:
    """Read a file, as a whole if it is regular, else block by block."""
    with _opened(path) as (file, is_plain):
        if is_plain and os.fstat(file.fileno()).st_size:
            # An absolute path cannot look like a URL or a home directory.
            absolute = os.path.join(os.getcwd(), path)  # noqa: PTH109, PTH118
            rows = _regular(_file_pieces(file), absolute, layout)
            file.seek(0)
            if rows is not None:
                return [rows]
        return list(_read_blocks(file, path, layout))


def _read_blocks(file: BinaryIO, path: Path, layout: Layout) -> Iterator[pl.DataFrame]:
    """Read a file block by block, and each block in the quickest way that reads it correctly."""
    line = 1
    while block := file.read(_BLOCK):
        if not block.endswith(b"\n"):
            block += file.readline()
        content = np.frombuffer(block, np.uint8)
        rows = _regular(_pieces(content), block, layout)
        if rows is None:
            tidy = _tidied(block)
            rows = _regular(_pieces(tidy), tidy.tobytes(), layout)
        if rows is None:
            rows = _line_by_line(block, layout, path, line)
        yield rows
        line += _lines(content)


@contextmanager
def _opened(path: Path) -> Iterator[tuple[BinaryIO, bool]]:
    """Open a file, decompressed and in UTF-8; tell whether it needed neither conversion."""
    with open(path, "rb") as raw:  # noqa: PTH123 - takes every kind of path
        try:
            is_zipped = raw.peek(2).startswith(_GZIP)
            file = io.BufferedReader(gzip.GzipFile(fileobj=raw)) if is_zipped else raw
            is_wide = file.peek(2).startswith(_UTF16)
            yield _recoded(file, path) if is_wide else file, not (is_zipped or is_wide)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise PrframeError(
                f"{os.fspath(path)} starts like a gzip file and must be a whole one; "
                f"got: {error}. Get or write the file anew."
            ) from error


def _recoded(file: BinaryIO, path: Path) -> BinaryIO:
    """Turn UTF-16 into UTF-8."""
    try:
        return io.BytesIO(file.read().decode("utf-16").encode())
    except UnicodeDecodeError as error:
        raise PrframeError(
            f"{os.fspath(path)} starts with the byte order mark of UTF-16 and must be in it; "
            f"got {error.reason} at byte {error.start}. Write the file in UTF-8."
        ) from error


def _file_pieces(file: BinaryIO) -> Iterator[Bytes]:
    """Yield the rest of a file in pieces that fit into the cache; each overwrites the last."""
    piece = np.empty(_PIECE, np.uint8)
    while size := cast("io.BufferedReader", file).readinto(piece.data):
        yield piece[:size]


def _pieces(content: Bytes) -> Iterator[Bytes]:
    """Yield bytes in pieces that fit into the cache."""
    for start in range(0, content.size, _PIECE):
        yield content[start : start + _PIECE]


def _lines(content: Bytes) -> int:
    """Count the ends of lines."""
    newlines = sum(int(np.count_nonzero(piece == _NEWLINE)) for piece in _pieces(content))
    returns = np.flatnonzero(content[:-1] == _RETURN)
    return newlines + int(np.count_nonzero(content[returns + 1] != _NEWLINE))


def _regular_lines(pieces: Iterator[Bytes]) -> int | None:
    """Count the lines; None if there is white space other than spaces and newlines."""
    newlines, last = 0, _NEWLINE
    for number, piece in enumerate(pieces):
        if number == 0 and _UNTIDY.search(piece[:_LOOK].tobytes()):
            return None
        ends = int(np.count_nonzero(piece == _NEWLINE))
        # Control characters up to this one are mostly white space; the others are rare, and the
        # slower ways of reading treat them correctly.
        if np.count_nonzero(piece <= _LARGEST_CONTROL) != ends:
            return None
        newlines, last = newlines + ends, int(piece[-1])
    return newlines + (last != _NEWLINE)


def _regular(pieces: Iterator[Bytes], source: str | bytes, layout: Layout) -> pl.DataFrame | None:
    """Read lines with single spaces between their fields; None if there are other lines."""
    lines = _regular_lines(pieces)
    if not lines:
        return None
    try:
        rows = pl.read_csv(
            source,
            has_header=False,
            separator=" ",
            quote_char=None,
            schema=layout.schema,
            missing_columns="raise",
            extra_columns=layout.extra,
            glob=False,
        )
    except (pl.exceptions.PolarsError, OSError):
        # Text that starts like a compressed file raises an OSError.
        return None
    return rows if rows.height == lines and _is_right(rows) else None


def _is_right(rows: pl.DataFrame) -> bool:
    """Tell whether the reader understood every line."""
    # Missing fields are null, and so are empty ones, which come from misplaced white space.
    if any(column.null_count() for column in rows.iter_columns()):
        return False
    if "score" in rows.columns and not rows["score"].is_finite().all():
        # A NaN is malformed, and an infinity may be a number that is too large.
        return False
    query = pl.col("query_id").str
    start = query.starts_with("#") | query.starts_with(BOM.decode())
    return not rows.select(start.any()).item()


def _tidied(block: bytes) -> Bytes:
    """Return a block with single spaces between fields, without blank lines and comments."""
    if BOM in block:
        block = (b"\n" + block).replace(b"\n" + BOM, b"\n")
    content = np.frombuffer(block.translate(_TO_SPACE), np.uint8)
    parts = []
    for start in range(0, content.size, _PIECE):
        # Only a space in front of a field is kept.
        pair = content[start : start + _PIECE + 1]
        piece, follower = pair[:_PIECE], pair[1:]
        drop = piece == _SPACE
        drop[: follower.size] &= (follower == _SPACE) | (follower == _NEWLINE)
        parts.append(piece[~drop] if drop.any() else piece)
    content = np.concatenate(parts)
    # At the start of a line there is now at most one space, which is dropped.
    drop = (content == _SPACE) | (content == _NEWLINE)
    drop[1:] &= content[:-1] == _NEWLINE
    if drop.any():
        content = content[~drop]
    if content.size and (content == _HASH).any():
        text = b"\n" + content.tobytes()
        content = np.frombuffer(_COMMENT.sub(b"", text)[1:], np.uint8)
    return content


def _line_by_line(block: bytes, layout: Layout, path: Path, first: int) -> pl.DataFrame:
    """Read a block line by line, up to the first malformed line.

    `first` is the number of the block's first line in the file.
    """
    rows = []
    for number, line in enumerate(_LINE_END.split(block), first):
        try:
            row = layout.parse(line)
        except MalformedLineError as error:
            shown = checks.brief(line.decode(errors="backslashreplace"))
            raise PrframeError(
                f"{os.fspath(path)}, line {number}: {error}, in {shown}. "
                "Mend the line, or put a # in front of it to leave it out."
            ) from None
        if row is not None:
            rows.append(row)
    return pl.DataFrame(rows, schema=layout.schema, orient="row")
