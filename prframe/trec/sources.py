"""Runs and qrels that are no frames, such as files and dicts, become polars frames."""

import os
from collections.abc import Iterator, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, Literal, TypeAlias

import polars as pl

from prframe import checks
from prframe._engine import frames
from prframe.errors import PrframeError, UnmatchedIdsWarning, warn
from prframe.trec import roles
from prframe.trec.files import Part, Path, file_stem, files, is_path, together
from prframe.trec.layouts import RUN
from prframe.trec.reading import read_file, read_qrels
from prframe.typing import AnyFrame

# A dict holds columns, or rankings by query, or runs by the name of their system.
Runs: TypeAlias = "Path | Sequence[Path | AnyFrame] | Mapping[Any, Any]"
AnyRuns: TypeAlias = "AnyFrame | Runs"
Qrels: TypeAlias = "AnyFrame | Path | Sequence[Path] | Mapping[Any, Any]"

_COLUMNS = ("query_id", "doc_id", "score")


def _familiar(given: Any) -> Any:  # noqa: ANN401 - what callers pass
    """Return runs and qrels of ranx, and named tuples of ir_measures, as frames."""
    if type(given).__module__.startswith("ranx"):
        is_run = type(given).__name__ == "Run"
        rows = _of_rankings(given.to_dict(), "the run", "score" if is_run else "label")
        return rows.with_columns(system=pl.lit(given.name)) if is_run and given.name else rows
    if _is_table(given):
        return given
    if isinstance(given, Mapping):
        return {
            name: value if isinstance(value, Mapping) else _familiar(value)
            for name, value in given.items()
        }
    items = list(given) if isinstance(given, Iterator) else given
    if not (isinstance(items, (list, tuple)) and items):
        return given
    fields = getattr(items[0], "_fields", None)
    if isinstance(items[0], tuple) and fields:
        return pl.DataFrame(items, schema=list(fields), orient="row")
    is_ranx = type(items[0]).__module__.startswith("ranx")
    return [_familiar(item) for item in items] if is_ranx else items


def run_frame(runs: Any) -> tuple[Any, list[str]]:  # noqa: ANN401 - a frame is passed on
    """Return the frame of one run or of several, and the names of those without rows."""
    runs = _familiar(runs)
    match _form(runs):
        case "path":
            return _of_list([runs])
        case "list":
            return _of_list(runs)
        case "rankings":
            return _of_rankings(runs, "the run", "score"), []
        case "runs":
            rows = {name: _named(name, run) for name, run in runs.items()}
            empty = [name for name in rows if rows[name].is_empty()]
            _check_ids(list(rows.values()))
            _warn_of_empty(empty, len(rows))
            return pl.concat(rows.values(), how="diagonal_relaxed"), empty
    return runs, []


def qrels_frame(qrels: Any) -> Any:  # noqa: ANN401 - a frame is passed on
    """Return the frame of qrels."""
    qrels = _familiar(qrels)
    form = _form(qrels)
    if form == "path" or (form == "list" and all(map(is_path, qrels))):
        return read_qrels(qrels)
    return _of_rankings(qrels, "the qrels", "label") if form == "rankings" else qrels


def is_run(given: object) -> bool:
    """Return whether this is a run, or several, in another form than a frame."""
    return _form(given) in {"path", "list", "rankings", "runs"}


def paths_within(given: Any) -> list[Path]:  # noqa: ANN401 - what callers pass
    """Return the files that runs or qrels have been read from."""
    match _form(given):
        case "path":
            return files(given, RUN.pattern)
        case "list":
            return [path for part in given for path in paths_within(part)]
        case "runs":
            return [path for part in given.values() for path in paths_within(part)]
    return []


def _form(given: object) -> str:
    """Return in which form a run is given, in one word."""
    if is_path(given):
        return "path"
    if isinstance(given, Mapping):
        return _form_of_dict(list(given.values()))
    if isinstance(given, (list, tuple)):
        forms = {_form(item) for item in given}
        return "list" if forms and forms <= {"path", "frame", "columns"} else "unknown"
    return "frame" if _is_table(given) else "unknown"


def _form_of_dict(values: Sequence[object]) -> str:
    """Return what a dict of these values is: columns, rankings by query, or runs by system."""
    if values and all(map(_is_column, values)):
        return "columns"
    items = [item for value in values if isinstance(value, Mapping) for item in value.values()]
    if all(isinstance(value, Mapping) for value in values):
        is_deep = any(isinstance(item, Mapping) or _is_column(item) for item in items)
        return "runs" if is_deep else "rankings"
    is_run = any(isinstance(v, Mapping) or is_path(v) or _is_table(v) for v in values)
    return "runs" if is_run else "unknown"


def _is_table(given: object) -> bool:
    """Return whether an object is a frame and not a column, which may speak the same interface."""
    # To ask a lazy frame for its columns would give a warning.
    is_lazy = isinstance(given, pl.LazyFrame)
    return is_lazy or hasattr(given, "columns") or hasattr(given, "schema")


def _is_column(given: object) -> bool:
    """Return whether an object is a list, an array or a series."""
    is_other = isinstance(given, (str, bytes, Mapping)) or _is_table(given)
    return hasattr(given, "__len__") and not is_other


def _of_list(runs: Sequence[Any]) -> tuple[pl.DataFrame, list[str]]:
    """Return the rows of several runs, which name their systems, and the files without rows."""
    is_mixed = not all(map(is_path, runs))
    parts: list[Part] = []
    for run in runs:
        if is_path(run):
            # A query has many rows, and its id as a category takes a quarter of the memory.
            query = pl.col("query_id").cast(pl.String if is_mixed else pl.Categorical)
            rank = pl.col("rank").cast(pl.Int32, strict=False)
            columns = (query, "doc_id", "score", "system", rank)
            parts += [
                Part(read_file(path, RUN, columns), path) for path in files(run, RUN.pattern)
            ]
        else:
            parts.append(Part(_plain(run)))
    if any("system" not in part.rows.columns for part in parts):
        raise PrframeError(
            "a frame in a list of runs must have a column of text that names its system, one of "
            f"{checks.listed(roles.SYSTEM, in_order=True)}. "
            "Pass a dict, {name: run}, or files of other names."
        )
    _check_ids([part.rows for part in parts])
    empty = [part.path for part in parts if part.rows.is_empty() and part.path is not None]
    _warn_of_empty([os.fspath(path) for path in empty], len(parts))
    return together(parts, "query_id"), list(map(file_stem, empty))


def _warn_of_empty(empty: Sequence[str | bytes], n_runs: int) -> None:
    """Warn of runs without rows, unlike others."""
    if 0 < len(empty) < n_runs:
        shown = roles.examples(empty[: checks.SHOWN])
        warn(f"{len(empty)} of {n_runs} runs have no rows: {shown}", UnmatchedIdsWarning)


def _named(name: object, run: object) -> pl.DataFrame:
    """Return the rows of one run with its name."""
    if not isinstance(name, str):
        raise PrframeError(f"the name of a run must be a string; got {checks.brief(name)}.")
    if _form(run) not in {"path", "frame", "columns", "rankings"}:
        raise PrframeError(
            f"the run {name!r} must be a frame, a path, or a dict of scores by query and "
            f"document, {{query: {{document: score}}}}; got {checks.brief(run)}."
        )
    rows = _plain(run_frame(run)[0])
    systems = rows["system"].unique() if "system" in rows.columns else pl.Series([])
    if systems.len() > 1:
        raise PrframeError(
            f"the run {name!r} must be that of one system; it has those of "
            f"{checks.listed(systems.sort().head(checks.SHOWN))}. Pass it without a name."
        )
    return rows.drop("system", strict=False).with_columns(pl.lit(name).alias("system"))


def _plain(run: object) -> pl.DataFrame:
    """Return the columns of a run under the names of this package."""
    frame, names = frames.named(run)
    columns = roles.of_run(names, None, roles.rank_of(frame, names))
    rows = frames.source(frame, columns.columns).whole()
    systems = roles.text_systems(columns, rows.schema, named=False)
    roles.refuse_large(rows, columns.value, f"the integer score {columns.value!r} of the run")
    renamed = dict(zip(_COLUMNS, (columns.query, columns.document, columns.value), strict=True))
    renamed |= dict(zip(["system"], systems, strict=False))
    renamed |= {} if columns.rank is None else {"rank": columns.rank}
    return rows.select(
        (pl.col(old).cast(pl.String) if rows.schema[old] in roles.TEXT else pl.col(old)).alias(new)
        for new, old in renamed.items()
    )


def _check_ids(runs: Sequence[pl.DataFrame]) -> None:
    """Require ids that are text in all runs, or numbers in all."""
    for column, role in (("query_id", "query"), ("doc_id", "document")):
        if len({run.schema[column] == pl.String for run in runs if run.height}) > 1:
            raise PrframeError(
                f"the {role} ids of the runs must be strings in all of them or integers in all of "
                "them. Cast those of some runs."
            )


def _of_rankings(
    rankings: Mapping[Any, Mapping[Any, Any]], name: str, value: Literal["score", "label"]
) -> pl.DataFrame:
    """Return numbers by query and document as a frame."""
    queries = [query for query, documents in rankings.items() for _ in documents]
    documents = [document for ranking in rankings.values() for document in ranking]
    numbers = [number for ranking in rankings.values() for number in ranking.values()]
    # Labels are whole numbers, which may be written as 1.0.
    is_label = value == "label"
    fits = [isinstance(n, Real) and (not is_label or float(n).is_integer()) for n in numbers]
    if not all(fits):
        place = fits.index(False)
        number, document, query = map(
            checks.brief, (numbers[place], documents[place], queries[place])
        )
        kind = "integers" if is_label else "numbers"
        is_score = is_label and isinstance(numbers[place], Real)
        swapped = " The run and the qrels look swapped." if is_score else ""
        raise PrframeError(
            f"the {value}s of {name} must be {kind}; got {number} for document {document} of "
            f"query {query}.{swapped}"
        )
    is_whole = bool(numbers) and (is_label or all(isinstance(n, Integral) for n in numbers))
    to_number = int if is_whole else float
    return pl.DataFrame(
        {
            "query_id": _ids(queries, "query", name),
            "doc_id": _ids(documents, "document", name),
            value: [to_number(number) for number in numbers],
        },
        schema_overrides={value: pl.Int64 if is_whole else pl.Float64},
    )


def _ids(ids: Sequence[object], role: str, name: str) -> pl.Series:
    """Return ids as a column."""
    try:
        return pl.Series(ids, dtype=None if ids else pl.String)
    except TypeError:
        raise PrframeError(
            f"the {role} ids of {name} must all be strings or all be integers."
        ) from None
