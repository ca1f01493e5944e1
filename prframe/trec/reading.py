"""Read runs, qrels, and the output of trec_eval.

A file is read in blocks of whole lines, by the CSV reader of polars once white space is
normalised. It would silently misread empty fields, short lines, comments and NaN: a block with
such lines is read line by line, which defines what a file means.
"""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import chain

import numpy as np
import polars as pl

from prframe import checks
from prframe._engine.pieces import prefetched
from prframe.errors import PrframeError
from prframe.trec.files import (
    Part,
    Path,
    file_stem,
    files,
    opened,
    together,
    whole_lines,
)
from prframe.trec.layouts import (
    BOM,
    QRELS,
    RESULTS,
    RUN,
    UNDEFINED,
    WORDS,
    Layout,
    MalformedLineError,
)

# A block keeps all cores busy; one with lines that the CSV reader misreads takes a second.
_BLOCK = 1 << 22
# More than this of a line is in no message.
_SHOWN = 1000
_SPACE, _NEWLINE = b" \n"
# These bytes, with spaces and newlines, are white space in C. A carriage return becomes a
# newline, since it ends a line and blank lines are skipped.
_TO_SPACE = bytes.maketrans(b"\t\v\f\r", b"   \n")
# A block without these and without pairs of white space is read as it is.
_UNTIDY = (b"\t", b"\v", b"\f", b"\r", b"#", BOM[:1])
_COMMENTS = re.compile(rb"\n#(?: [^\n]*)?(?=\n|\Z)")
_LINE_END = re.compile(rb"\r\n|\r|\n")
_SUMMARY = "all"


def read_run(path: Path | Sequence[Path]) -> pl.DataFrame:
    r"""Read a run in TREC format: lines of ``query Q0 document rank score tag``.

    Parameters
    ----------
    path : str, path, or list of them
        One file, or several in a row. A pattern such as ``"runs/*.run"`` stands for the files that
        match it, sorted by name. Gzip is recognised by its content.

    Returns
    -------
    polars.DataFrame
        One row per line, in the order of the file: ``query_id`` (String), ``doc_id`` (String),
        ``rank`` (Int64, null where it is no whole number), ``score`` (Float64), ``system``
        (String: the tag).

    Raises
    ------
    PrframeError
        A line with fewer than six fields, a score that is no number or NaN, or text that is not
        UTF-8, with the file and the line; a pattern that no file matches.
    OSError
        A file that cannot be opened; FileNotFoundError if it does not exist.

    Notes
    -----
    Fields are separated by any ASCII white space. As in trec_eval, text after the sixth field is
    ignored. Blank lines and comments, which start with ``#`` and a space, are skipped; ``#rain Q0
    d1 1 2.5 bm25``, which has the fields of a row, is an error. Lines end with a line feed, a
    carriage return, or both. A byte order mark is skipped, and after the mark of UTF-16 the file
    is read as such.

    Ids are text: ``"007"`` stays as it is. A score of ``-inf`` means not retrieved. Scores decide,
    and ranks are not used. In a run of MS MARCO, lines of ``query document rank`` whose first
    rank is 0 or 1, the score is the negative rank, and the system has the name of the file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from prframe.trec import read_run
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "bm25.txt")
    ...     _ = path.write_text("301 Q0 d7 1 2.5 bm25\n301 Q0 d2 2 1e-1 bm25\n")
    ...     read_run(path).rows()
    [('301', 'd7', 1, 2.5, 'bm25'), ('301', 'd2', 2, 0.1, 'bm25')]
    """
    return _read(path, RUN)


def read_qrels(path: Path | Sequence[Path]) -> pl.DataFrame:
    r"""Read qrels in TREC format: lines of ``query iteration document label``.

    Parameters
    ----------
    path : str, path, or list of them
        As in `read_run`.

    Returns
    -------
    polars.DataFrame
        One row per line, in the order of the file: ``query_id`` (String), ``doc_id`` (String),
        ``label`` (Int64; above 0 relevant, below 0 pooled but not judged; 1.0 is read as 1).

    Raises
    ------
    PrframeError
        A line without exactly four fields, or with a label that is no whole number, and what
        `read_run` refuses.
    OSError
        A file that cannot be opened; FileNotFoundError if it does not exist.

    Notes
    -----
    White space, comments, line ends and encodings are treated as in `read_run`. Qrels of BEIR
    begin with the line ``query-id corpus-id score`` and lack the iteration.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from prframe.trec import read_qrels
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "qrels.txt")
    ...     _ = path.write_text("301 0 d2 1\n301 0 d5 2\n")
    ...     read_qrels(path).rows()
    [('301', 'd2', 1), ('301', 'd5', 2)]
    """
    return _read(path, QRELS)


def read_results(path: Path | Sequence[Path], *, summary: bool = False) -> pl.DataFrame:
    r"""Read the output of ``trec_eval -q``: lines of ``measure query value``.

    Parameters
    ----------
    path : str, path, or list of them
        One file for each run, or several, as in `read_run`.
    summary : bool
        Keep the summary, the query ``all``.

    Returns
    -------
    polars.DataFrame
        One row per line, in the order of the file: ``system`` (String: the run's name in the line
        of ``runid``, else the file's name without its ending), ``query_id`` (String), ``metric``
        (String, as trec_eval writes it), ``value`` (Float64, null for ``nan``). The measures
        ``runid`` and ``relstring``, whose values are text, are left out.

    Raises
    ------
    PrframeError
        A line without exactly three fields, a value that is no number, and what `read_run`
        refuses. A file with the results of several runs, or with the summary alone unless
        `summary` is True.
    OSError
        A file that cannot be opened; FileNotFoundError if it does not exist.

    Notes
    -----
    White space, comments, line ends and encodings are treated as in `read_run`. Files that name
    the same run and share a query and measure are named after the files instead.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from prframe.trec import read_results
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "results.txt")
    ...     _ = path.write_text("map 301 0.25\nmap 302 0.5\nrunid all bm25\nmap all 0.375\n")
    ...     read_results(path).rows()
    [('bm25', '301', 'map', 0.25), ('bm25', '302', 'map', 0.5)]
    """
    checks.flag("summary", summary)
    paths = files(path, RESULTS.pattern)
    parts = [Part(_results(file_path, summary=summary), file_path) for file_path in paths]
    return together(parts, "query_id", "metric")


def _results(path: Path, *, summary: bool) -> pl.DataFrame:
    """Return the results in one file."""
    lines = read_file(path, RESULTS)
    names = lines.filter(pl.col("metric") == "runid")["value"]
    if names.len() > 1:
        raise PrframeError(
            f"{path} must hold the results of one run; it has {names.len()} lines of runid, "
            f"{checks.listed(names.head(checks.SHOWN), in_order=True)}. "
            "Write one file for each run."
        )
    rows = lines.filter(~pl.col("metric").is_in(WORDS))
    kept = rows if summary else rows.filter(pl.col("query_id") != _SUMMARY)
    if rows.height and not kept.height:
        raise PrframeError(
            f"{path} holds the summary over all queries alone; "
            "run trec_eval with -q, or read the summary with summary=True."
        )
    return kept.select(
        pl.lit(names[0] if names.len() else file_stem(path)).alias("system"),
        "query_id",
        "metric",
        pl.when(~pl.col("value").is_in(UNDEFINED)).then("value").cast(pl.Float64).alias("value"),
    )


def _read(path: Path | Sequence[Path], layout: Layout) -> pl.DataFrame:
    """Read one file or several."""
    return pl.concat([read_file(file_path, layout) for file_path in files(path, layout.pattern)])


def read_file(path: Path, layout: Layout, columns: Sequence[str | pl.Expr] = ()) -> pl.DataFrame:
    """Read one file; other columns than those asked for, if any are, take no memory."""
    kept = list(columns) or layout.columns
    parts = [_made(rows, path).select(kept) for rows in _blocks(path, layout) if rows.height]
    return pl.concat(parts or [layout.empty.select(kept)])


def _made(rows: pl.DataFrame, path: Path) -> pl.DataFrame:
    """Return the columns of a run, where the file has places alone."""
    if "place" not in rows.columns:
        return rows
    return rows.with_columns(
        pl.col("place").alias("rank"),
        (-pl.col("place")).cast(pl.Float64).alias("score"),
        pl.lit(file_stem(path)).alias("system"),
    )


def _blocks(path: Path, layout: Layout) -> Iterator[pl.DataFrame]:
    """Read a file block by block: by the CSV reader, or line by line what it would misread."""
    with opened(path) as read:
        pieces = whole_lines(read, _BLOCK, path)
        first, found = b"", None
        while found is None and (piece := next(pieces, b"")):
            first += piece
            found = layout.variant(first)
        layout, start = found or (layout, 0)
        line = 1 + _lines(first[:start])
        with closing(prefetched(chain([first[start:]], pieces))) as blocks:
            for block in blocks:
                rows = _regular(_tidied(block), layout)
                yield _line_by_line(block, layout, path, line) if rows is None else rows
                line += _lines(block)


def _lines(block: bytes) -> int:
    """Count the ends of lines."""
    n_returns = block.count(b"\r") - block.count(b"\r\n") if b"\r" in block else 0
    return block.count(b"\n") + n_returns


def _regular(block: bytes, layout: Layout) -> pl.DataFrame | None:
    """Read lines with single spaces between their fields; None if there are other lines."""
    if not block:
        return layout.empty
    lines = block.count(b"\n") + (not block.endswith(b"\n"))
    has_more = block.count(b" ") != lines * (len(layout.schema) - 1)
    # The CSV reader would skip the bytes of a byte order mark even where they are none.
    if block.startswith(BOM) or (has_more and layout.extra == "raise"):
        return None
    rows = _by_csv(block, layout)
    if rows is None or rows.height != lines or not _is_right(rows, block):
        return None
    if "system" in rows.columns and (rows["system"] == rows["system"][0]).all():
        # A tag of all rows takes memory only once.
        return rows.with_columns(pl.lit(rows["system"][0]).alias("system"))
    return rows


def _by_csv(block: bytes, layout: Layout) -> pl.DataFrame | None:
    """Read lines with the CSV reader; None if it cannot."""
    try:
        return pl.read_csv(
            block,
            columns=[list(layout.schema).index(name) for name in layout.columns],
            has_header=False,
            separator=" ",
            quote_char=None,
            schema=layout.schema,
            missing_columns="raise",
            extra_columns="ignore",
        )
    except (pl.exceptions.PolarsError, OSError):
        # Text that starts like a compressed file raises an OSError.
        return None


def _is_right(rows: pl.DataFrame, block: bytes) -> bool:
    """Return whether the reader understood every line."""
    # Missing fields are null, and so are empty ones, which come from misplaced white space.
    if any(column.null_count() for column in rows.iter_columns()):
        return False
    if "value" in rows.columns:
        text = rows.filter(~pl.col("metric").is_in(WORDS))["value"]
        is_value = text.cast(pl.Float64, strict=False).is_finite() | text.is_in(UNDEFINED)
        if not is_value.fill_null(value=False).all():
            return False
    # A number that is too large is read as infinite.
    if "score" in rows.columns and not rows["score"].is_finite().all():
        return False
    if b"#" not in block and BOM[:1] not in block:
        return True
    query = pl.col("query_id").str
    start = query.starts_with("#") | query.starts_with(BOM.decode())
    return not rows.select(start.any()).item()


def _tidied(block: bytes) -> bytes:
    """Return a block with single spaces between fields, without blank lines and comments."""
    is_plain = block[:1] not in b" \n" and not any(sign in block for sign in _UNTIDY)
    if is_plain and not _has_pairs(block):
        return block
    text = (b"\n" + block).replace(b"\r\n", b"\n").replace(b"\n" + BOM, b"\n")
    text = text.translate(_TO_SPACE)
    if _has_pairs(text):
        for pair, single in ((b"  ", b" "), (b" \n", b"\n"), (b"\n ", b"\n"), (b"\n\n", b"\n")):
            while pair in text:
                text = text.replace(pair, single)
    return (_COMMENTS.sub(b"", text) if b"#" in text else text).strip(b" \n")


def _has_pairs(block: bytes) -> bool:
    """Return whether a space or the end of a line follows another."""
    signs = np.frombuffer(block, np.uint8)
    is_white = (signs == _SPACE) | (signs == _NEWLINE)
    return bool((is_white[1:] & is_white[:-1]).any())


def _line_by_line(block: bytes, layout: Layout, path: Path, first: int) -> pl.DataFrame:
    """Read a block, whose first line has a number, up to the first malformed line."""
    rows = []
    for number, line in enumerate(_LINE_END.split(block), first):
        try:
            row = layout.parse(line)
        except MalformedLineError as error:
            shown = checks.brief(line[:_SHOWN].decode(errors="backslashreplace"))
            raise PrframeError(
                f"{os.fspath(path)}, line {number}: {error}, in {shown}. {error.remedy}"
            ) from None
        if row is not None:
            rows.append(row)
    return pl.DataFrame(rows, schema=layout.schema, orient="row").select(layout.columns)
