"""Read the output of trec_eval."""

from collections.abc import Sequence

import polars as pl

from prframe import checks
from prframe.errors import PrframeError
from prframe.trec.files.apart import Part, together
from prframe.trec.files.layouts import RESULTS, UNDEFINED, WORDS
from prframe.trec.files.paths import Path, file_stem, files
from prframe.trec.files.reading import read_file

_SUMMARY = "all"


def read_results(path: Path | Sequence[Path], *, summary: bool = False) -> pl.DataFrame:
    r"""Read the output of ``trec_eval -q``: lines of ``measure query value``.

    Parameters
    ----------
    path : str, path, or list of them
        One file for each run, or several. A pattern such as ``"results/*.txt"`` stands for the
        files that match it, sorted by name. Gzip is recognised by its content.
    summary : bool
        Whether to keep the summary, which trec_eval writes as values of a query named ``all``.

    Returns
    -------
    polars.DataFrame
        One row per line, in the order of the file: ``system`` (String: the run's name in the line
        of ``runid``, or the file's name without its ending if there is no such line),
        ``query_id`` (String), ``metric`` (String, as trec_eval writes it), ``value`` (Float64,
        null where trec_eval writes ``nan``). Measures whose values are words, ``runid`` and
        ``relstring``, are left out.

    Raises
    ------
    PrframeError
        A line that has not exactly three fields, a value that is no number, text
        that is not UTF-8, or a line of more than 1,000,000 bytes; with the file and the line. A
        file that holds the results of several runs, or the summary alone unless `summary` is
        True. A pattern that no file matches.
    OSError
        A file that cannot be opened; FileNotFoundError if it does not exist.

    Notes
    -----
    White space, comments, line ends and encodings are treated as in `read_run`. Files that name
    the same run and have a value of the same query and measure are told apart by the names of the
    files.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from prframe.trec import read_results
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "results.txt")
    ...     _ = path.write_text("map 301 0.25\nmap 302 0.5\nrunid all bm25\nmap all 0.375\n")
    ...     read_results(path)
    shape: (2, 4)
    ┌────────┬──────────┬────────┬───────┐
    │ system ┆ query_id ┆ metric ┆ value │
    │ ---    ┆ ---      ┆ ---    ┆ ---   │
    │ str    ┆ str      ┆ str    ┆ f64   │
    ╞════════╪══════════╪════════╪═══════╡
    │ bm25   ┆ 301      ┆ map    ┆ 0.25  │
    │ bm25   ┆ 302      ┆ map    ┆ 0.5   │
    └────────┴──────────┴────────┴───────┘
    """
    checks.flag("summary", summary)
    paths = files(path, RESULTS.pattern)
    parts = [Part(_rows(file_path, summary=summary), file_path) for file_path in paths]
    return together(parts, "query_id", "metric")


def _rows(path: Path, *, summary: bool) -> pl.DataFrame:
    """Return the rows of one file."""
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
