"""The columns of frames and files that reports read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import file_digest
from pathlib import Path
from typing import Any

import polars as pl

from prframe import checks
from prframe._engine.arguments import Arguments
from prframe._engine.rows import positive
from prframe._preparation.results import whole
from prframe.errors import ArgumentError, PrframeError
from prframe.reports import classifiers, shown
from prframe.reports.classifiers import Classifiers, segment_column
from prframe.reports.options import Options
from prframe.trec.joining import join, join_both
from prframe.trec.roles import RESULT
from prframe.trec.sources import AnyRuns, Qrels, paths_within
from prframe.verbs._guards import PooledRankings, advising
from prframe.verbs.check import check

_MODELS = ("model", "system", "run")
# The columns of frames that had a column of scores per model.
_MODEL, _SCORE, _ROW = "prframe model", "prframe score", "prframe row"


@dataclass(frozen=True)
class Columns:
    """The columns that the caller has named; `further` are those of queries or of segments."""

    score: str | Sequence[str]
    label: str
    model: str | None
    item: str | None
    further: tuple[str, ...]

    def __post_init__(self) -> None:
        """Require names of columns; those of `further` are checked under their own argument."""
        checks.column_names("score", self.score)
        checks.column_name("label", self.label)
        for argument, column in (("model", self.model), ("item", self.item)):
            if column is not None:
                checks.column_name(argument, column)


@dataclass(frozen=True)
class _InRows(Columns):
    """The columns of a frame that has its models in rows."""

    score: str


def read_runs(
    data: "AnyRuns",
    qrels: "Qrels",
    options: Options,
    of_join: Mapping[str, Any],
    predicted: "Qrels | None" = None,
) -> tuple[pl.DataFrame, list[list[str]]]:
    """Return the labelled rows of runs, and rows for their provenance."""
    both = predicted is not None
    if predicted is None:
        labelled, _ = whole(join(data, qrels, queries="means", **of_join), "runs")
    else:
        labelled = join_both(data, qrels, predicted, queries="means", **of_join)
    names = [name for name in labelled.columns if name not in {*RESULT, "predicted"}]
    if len(names) > 1:
        raise PrframeError(
            f"the runs must have one column that names their systems; they have "
            f"{checks.listed(names, in_order=True)}."
        )
    system = pl.col(names[0]).cast(pl.String) if names else pl.lit("run")
    rows = labelled.with_columns(system.alias(shown.SYSTEM))
    relevant = positive(Arguments(positive=options.positive), rows.schema["label"])
    retrieved = pl.col("score") > -float("inf")
    kept = rows if both else rows.filter(relevant.any().over(shown.QUERY))
    n_of_runs = kept.group_by(shown.SYSTEM, maintain_order=True).agg(
        pl.col(shown.QUERY).filter(retrieved).n_unique()
    )
    if not n_of_runs[shown.QUERY].sum():
        raise PrframeError(
            "no run has documents of a query with relevant documents; mend the ids of the "
            "queries, or say with positive= which labels are relevant."
        )
    n_judged, n_kept = rows[shown.QUERY].n_unique(), kept[shown.QUERY].n_unique()
    told = f"{n_kept:,} of {n_judged:,} that are judged and in any run"
    origin = [["queries with relevant documents", told]]
    if both:
        n_human = rows.filter(pl.col("label").is_not_null())[shown.QUERY].n_unique()
        origin = [["human labels", _source(qrels, n_human)]]
        origin += [["machine labels", _source(predicted, n_judged)]]
    origin += [
        [f"of these {name} has", f"{number:,}; the others count as 0"]
        for name, number in n_of_runs.rows()
        if number < n_kept
    ]
    read = [path for part in (data, qrels, predicted) for path in paths_within(part)]
    paths = dict.fromkeys(map(Path, read))
    # A pipe can be read once only.
    hashes = [[f"sha256 of {path.name}", _digest(path)] for path in paths if path.is_file()]
    return kept, origin + hashes


def _source(qrels: "Qrels | None", n_queries: int) -> str:
    """Return the files of judgments, and the number of their queries."""
    names = ", ".join(Path(path).name for path in paths_within(qrels)) or "a frame"
    return f"{names}, {n_queries:,} queries"


def read_rankings(data: object, named: Columns, n_pos: int | str | None) -> pl.DataFrame:
    """Return the columns of a frame of rankings under the names that reports have for them."""
    frame, columns = _frame(data, named, "over")
    over = list(columns.further)
    model = _model_column(frame, columns.model)
    by = [*([] if model is None else [model]), *over]
    _warn_of_pooled(frame, Arguments(columns.score, columns.label, by=by))
    kept = [_queries(frame, over).alias(shown.QUERY)]
    if columns.item is not None:
        kept.append(pl.col(columns.item).alias(shown.ITEM))
    if isinstance(n_pos, str):
        checks.columns_exist({n_pos: "n_pos"}, frame.columns)
        kept.append(pl.col(n_pos).alias(n_pos))
    return frame.select(
        _models(frame, columns.model).alias(shown.SYSTEM),
        pl.col(columns.score).alias("score"),
        pl.col(columns.label).alias("label"),
        *kept,
    )


def _queries(frame: pl.DataFrame, over: Sequence[str]) -> pl.Expr:
    """Return the names of queries; values of several columns are joined by spaces, or as JSON."""
    if len(over) == 1:
        return pl.col(over[0])
    values = pl.struct(pl.col(over).cast(pl.String))
    names = pl.concat_str(pl.col(over).cast(pl.String).fill_null("null"), separator=" ")
    is_clear = frame.select(names.n_unique() == values.n_unique()).item()
    return names if is_clear else values.struct.json_encode()


def _frame(data: object, columns: Columns, argument: str) -> tuple[pl.DataFrame, "_InRows"]:
    """Return a frame with its models in rows, and its columns, all of which it has."""
    frame, _ = whole(data, "data")
    scores = [columns.score] if isinstance(columns.score, str) else list(columns.score)
    named = dict.fromkeys(scores, "score") | {columns.label: "label"}
    named |= dict.fromkeys(columns.further, argument)
    optional = {"item": columns.item, "model": columns.model}
    named |= {column: name for name, column in optional.items() if column is not None}
    checks.columns_exist(named, frame.columns)
    if frame.is_empty():
        raise PrframeError("`data` must have rows; got a frame without any.")
    for name in filter(None, (*columns.further, _model_column(frame, columns.model))):
        if frame.schema[name].is_nested() or frame.schema[name].is_object():
            raise PrframeError(
                f"`{named.get(name, 'model')}` must name columns of plain values; {name!r} is "
                f"{frame.schema[name]}."
            )
    model, item = columns.model, columns.item
    if item is not None:
        tells = [*columns.further] if argument == "over" else []
        tells += filter(None, [_model_column(frame, model), item])
        if twice := frame.filter(pl.col(item).is_not_null()).select(tells).is_duplicated().sum():
            raise PrframeError(
                f"`item` {item!r} must name each item of a ranking once: {twice} rows do not; "
                "name models with model= and queries with over=, or drop the duplicates."
            )
    if len(scores) > 1:
        if model is not None:
            raise ArgumentError(
                "`model` names a column of models; with several scores leave it out."
            )
        # Scores in one row are those of one item.
        frame = frame.with_row_index(_ROW) if item is None else frame
        rest = [name for name in frame.columns if name not in scores]
        frame = frame.unpivot(scores, index=rest, variable_name=_MODEL, value_name=_SCORE)
        scores, model, item = [_SCORE], _MODEL, item or _ROW
    return frame, _InRows(scores[0], columns.label, model, item, columns.further)


def _models(frame: pl.DataFrame, model: str | None) -> pl.Expr:
    """Return the names of models."""
    column = _model_column(frame, model)
    if column is not None:
        names = frame[column].cast(pl.String)
        if names.null_count() and (names == "null").any():
            raise PrframeError(
                f"`model` {column!r} has nulls beside the name 'null', which would be one model; "
                "name these models, or drop the rows."
            )
    return pl.lit("model") if column is None else pl.col(column).cast(pl.String).fill_null("null")


def _model_column(frame: pl.DataFrame, model: str | None) -> str | None:
    """Return the column that names models, if there is one."""
    usual = [name for name in _MODELS if name in frame.columns]
    return model or (usual[0] if usual else None)


def read_classifiers(
    data: object, named: Columns, thresholds: tuple[float, ...], options: Options
) -> Classifiers:
    """Return the models of a frame, with what `check` reports of it."""
    frame, columns = _frame(data, named, "by")
    args = Arguments(columns.score, columns.label, positive=options.positive)
    further = {segment_column(place): name for place, name in enumerate(columns.further)}
    if columns.item is not None:
        further[classifiers.ITEM] = columns.item
    args.check_types(frame.schema)
    rows = frame.select(
        _models(frame, columns.model).alias(classifiers.MODEL),
        pl.col(columns.score).alias("score"),
        positive(args, frame.schema[columns.label]).alias("label"),
        *(pl.col(name).alias(role) for role, name in further.items()),
    )
    model = _model_column(frame, columns.model)
    grouped = [name for name in (model, *columns.further) if name is not None]
    _warn_of_pooled(frame, replace(args, by=grouped))
    findings = check(
        frame,
        columns.score,
        columns.label,
        by=model,
        positive=options.positive,
        ties=options.ties,
    )
    return Classifiers(rows, columns.further, thresholds, options, findings)


def _warn_of_pooled(frame: pl.DataFrame, args: Arguments) -> None:
    """Warn of rows that are ranked together although a column tells them apart."""
    with advising("Name it in model= if it tells models apart, in over= if queries or folds"):
        PooledRankings.of(frame, frame.columns, args).warn(args.keys, takes_over=True)


def _digest(path: Path) -> str:
    """Return the hash of a file."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
