"""Write runs."""

import gzip
import os
from collections.abc import Sequence
from contextlib import ExitStack
from typing import BinaryIO

import numpy as np
import polars as pl

from prframe import checks, hints
from prframe._engine import frames
from prframe._replacing import replacing
from prframe.errors import ArgumentError, PrframeError
from prframe.trec import roles
from prframe.trec.files import check_path, is_path
from prframe.trec.matching import group
from prframe.typing import AnyFrame

_ROWS = 1 << 20
_ROLES: dict[str, tuple[str, Sequence[str]]] = {
    "query_id": ("query", hints.QUERY),
    "doc_id": ("document", hints.DOCUMENT),
    "score": ("score", roles.SCORE),
}
_WHITE = "[ \\t\\n\\v\\f\\r]"


def write_run(  # noqa: PLR0913 - options, by keyword
    frame: AnyFrame,
    path: str | os.PathLike[str],
    *,
    query_id: str | None = None,
    doc_id: str | None = None,
    score: str | None = None,
    system: str | None = None,
    tag: str = "prframe",
) -> None:
    """Write a run in TREC format: lines of ``query Q0 document rank score tag``.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame, pyarrow Table, Arrow PyCapsule frame
        One row per retrieved document.
    path : str or path
        The file to write; compressed if its name ends in ``.gz``. A file of this name is
        replaced.
    query_id, doc_id, score : str, optional
        The columns. By default they are recognised by their names, as in `join`.
    system : str, optional
        The column that holds the tags. By default it is recognised as in `join`, if there is one.
    tag : str
        The tag of all rows if there is no such column.

    Raises
    ------
    MissingColumnError
        A named column does not exist, or none is recognised.
    PrframeError
        Scores that are null, NaN or integers beyond 2^53; ids or tags that are null, empty,
        contain white space or are neither text nor integers; query ids that start with ``#`` or a
        byte order mark (readers would skip these); a document listed twice in a ranking.
    OSError
        A file that cannot be written.

    Notes
    -----
    Rows with a score of -inf were not retrieved and are left out. Rankings keep their order. Tied
    documents are sorted by id as text, descending, as in trec_eval. Scores keep all digits.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import polars as pl
    >>> from prframe.trec import write_run
    >>> run = pl.DataFrame({"qid": [301] * 3, "docno": ["a", "b", "c"], "score": [0.1, 2.5, 0.1]})
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "run.txt")
    ...     write_run(run, path, tag="bm25")
    ...     print(path.read_text())
    301 Q0 b 1 2.5 bm25
    301 Q0 c 2 0.1 bm25
    301 Q0 a 3 0.1 bm25
    <BLANKLINE>
    """
    if not is_path(path):
        raise ArgumentError(f"`path` must be a path; got {checks.brief(path)}.")
    run_frame, names = frames.named(frame)
    named = {"query_id": query_id, "doc_id": doc_id, "score": score}
    checks.columns_exist({name: role for role, name in named.items() if name is not None}, names)
    columns = {
        role: roles.find("run", *_ROLES[role], names) if name is None else name
        for role, name in named.items()
    }
    _check_tag(tag)
    needed = {name: role for role, name in columns.items()}
    if system is not None:
        checks.columns_exist({system: "system"}, names)
    tags = [system] if system is not None else [name for name in roles.SYSTEM if name in names][:1]
    needed |= dict.fromkeys(tags, "system")
    data = frames.source(run_frame, needed).whole()
    if system is None:
        tags = [name for name in tags if data.schema[name] in roles.TEXT]
    rows = _checked(data, columns, tags[0] if tags else None, tag)
    _write(_ranked(rows), path)


def _checked(
    data: pl.DataFrame, columns: dict[str, str], system: str | None, tag: str
) -> pl.DataFrame:
    """Check the rows and return their system, query_id, doc_id and score, ready to be written."""
    rows = data.select(*(pl.col(name).alias(role) for role, name in columns.items()))
    rows = rows.with_columns(
        pl.lit(tag).alias("system") if system is None else data[system].alias("system")
    )
    for role, kind in (("query_id", "query ids"), ("doc_id", "document ids"), ("system", "tags")):
        rows = rows.with_columns(_as_text(rows[role], kind, columns.get(role, system or "tag")))
    if not (data.schema[columns["score"]].is_numeric() or rows.height == 0):
        raise PrframeError(
            f"the score must be numeric; {columns['score']!r} is {rows.schema['score']}."
        )
    score = pl.col("score").cast(pl.Float64)
    roles.refuse(
        rows,
        score.is_null() | score.is_nan(),
        f"the score {columns['score']!r} must not contain nulls or NaN",
        "drop these rows, or fill in -inf for documents that were not retrieved",
    )
    roles.refuse_large(rows, "score", f"the integer score {columns['score']!r}")
    roles.refuse(
        rows,
        pl.col("query_id").str.contains("^[#\\u{feff}]"),
        f"the query ids in {columns['query_id']!r} must not start with '#' or a byte order mark, "
        "which readers of TREC files skip",
        "change these ids",
    )
    return rows.with_columns(score.alias("score")).filter(pl.col("score") > -np.inf)


def _check_tag(tag: object) -> None:
    """Require a tag that makes one field of a line."""
    if not (isinstance(tag, str) and tag.split() == [tag]):
        raise ArgumentError(
            f"`tag` must be a string without white space; got {checks.brief(tag)}."
        )


def _as_text(column: pl.Series, kind: str, name: str) -> pl.Series:
    """Return ids or tags as text; each must make one field of a line."""
    dtype = column.dtype
    if not (dtype in roles.TEXT or dtype.is_integer() or column.len() == 0):
        raise PrframeError(
            f"the {kind} in {name!r} must be strings or integers; they are {dtype}. Cast them."
        )
    if dtype.is_integer() and not column.has_nulls():
        return column.cast(pl.String)
    text = column.cast(pl.String)
    field = pl.col(text.name)
    bad = field.is_null() | (field == "") | field.str.contains(_WHITE)
    roles.refuse(
        text.to_frame(),
        bad.fill_null(value=True),
        f"the {kind} in {name!r} must not be null, be empty or contain white space",
        "change these or drop the rows",
    )
    return text


def _ranked(rows: pl.DataFrame) -> pl.DataFrame:
    """Sort the rows into rankings and return the fields of the lines."""
    ranking = pl.Series("ranking", group(rows.select("system", "query_id")).of_row)
    rows = rows.with_columns(ranking)
    rows = rows.sort("ranking", "score", "doc_id", descending=[False, True, True])
    counts = rows.group_by("ranking").agg(pl.len() - pl.col("doc_id").n_unique())
    repeated = int(counts["len"].sum())
    if repeated:
        twice = rows.filter(pl.struct("ranking", "doc_id").is_duplicated())
        shown = twice.select("system", "query_id", "doc_id").unique(maintain_order=True)
        raise PrframeError(
            "a ranking must hold a document once: "
            f"{repeated} of {rows.height} rows repeat another, for instance "
            f"{roles.examples(shown.head(checks.SHOWN).rows())}; drop the rows that do not count, "
            "or name the column that tells the systems apart with system=."
        )
    rank = pl.int_range(1, pl.len() + 1).over("ranking").alias("rank")
    return rows.select("query_id", pl.lit("Q0"), "doc_id", rank, "score", "system")


def _write(lines: pl.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write the lines, compressed if the name says so."""
    check_path(path)
    with replacing(path) as raw, ExitStack() as stack:
        file: BinaryIO | gzip.GzipFile = raw
        if os.fspath(path).endswith(".gz"):
            zipped = gzip.GzipFile(fileobj=raw, mode="wb", compresslevel=6)
            file = stack.enter_context(zipped)
        for part in lines.iter_slices(_ROWS):
            text = part.write_csv(
                None,
                include_header=False,
                separator=" ",
                quote_style="never",
                line_terminator="\n",
            )
            file.write(text.encode())
