"""What reports are made of: the columns of frames and files that they read."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path

import polars as pl

from prframe import checks
from prframe._engine.arguments import Arguments
from prframe._engine.rows import positive
from prframe._preparation.results import whole
from prframe.errors import PrframeError
from prframe.reports import classifiers, rankings
from prframe.reports.classifiers import Classifiers, segment_column
from prframe.reports.options import Options
from prframe.trec.joining import join
from prframe.trec.paths import files, is_path
from prframe.trec.roles import RESULT
from prframe.trec.sources import AnyRuns, Qrels, run_frame
from prframe.verbs.check import check

_MODELS = ("model", "system")


@dataclass(frozen=True)
class Columns:
    """The columns of a frame of classifiers, as the caller has named them."""

    score: str
    label: str
    model: str | None
    item: str | None
    segments: tuple[str, ...]


def joined(
    data: "AnyRuns", qrels: "Qrels", options: Options
) -> tuple[pl.DataFrame, list[list[str]]]:
    """Return the labelled rows of runs, with what is to be said of where they come from."""
    labelled, _ = whole(join(run_frame(data), qrels, queries="qrels"), "runs")
    names = [name for name in labelled.columns if name not in RESULT]
    if len(names) > 1:
        raise PrframeError(
            f"the runs must have one column that names their systems; they have "
            f"{checks.listed(names, in_order=True)}."
        )
    system = pl.col(names[0]).cast(pl.String) if names else pl.lit("run")
    rows = labelled.with_columns(system.alias(rankings.SYSTEM))
    relevant = positive(Arguments(positive=options.positive), rows.schema["label"])
    retrieved = pl.col("score") > -float("inf")
    kept = rows.filter(relevant.any().over(rankings.QUERY) & retrieved.any().over(rankings.QUERY))
    if kept.is_empty():
        raise PrframeError(
            "no run has documents of a query with relevant documents; mend the ids of the "
            "queries, or say with positive= which labels are relevant."
        )
    n_judged, n_kept = rows[rankings.QUERY].n_unique(), kept[rankings.QUERY].n_unique()
    told = f"{n_kept:,} of {n_judged:,} that are judged"
    origin = [["queries with relevant documents, and documents of a run", told]]
    return kept, origin + [
        [f"sha256 of {Path(path).name}", _digest(path)]
        for path in dict.fromkeys([*_paths(data), *_paths(qrels)])
    ]


def rankings_of(
    data: object,
    columns: Mapping[str, str],
    item: str | None,
    model: str | None,
    n_pos: int | str | None,
) -> pl.DataFrame:
    """Return the columns of a frame of rankings under the names that reports have for them."""
    frame, _ = whole(data, "data")
    wanted = {column: name for name, column in columns.items()}
    optional = {"item": item, "model": model, "n_pos": n_pos if isinstance(n_pos, str) else None}
    named = {column: argument for argument, column in optional.items() if column is not None}
    arguments = {"score": "score", "label": "label", "query_id": "over"}
    checks.columns_exist({c: arguments[name] for c, name in wanted.items()} | named, frame.columns)
    kept = [pl.col(column).alias(name) for name, column in columns.items()]
    if item is not None:
        kept.append(pl.col(item).alias(rankings.ITEM))
    if isinstance(n_pos, str):
        kept.append(pl.col(n_pos).alias(n_pos))
    return frame.select(_models(frame, model).alias(rankings.SYSTEM), *kept)


def _models(frame: pl.DataFrame, model: str | None) -> pl.Expr:
    """Return the names of models."""
    column = _model_column(frame, model)
    return pl.lit("model") if column is None else pl.col(column).cast(pl.String).fill_null("null")


def _model_column(frame: pl.DataFrame, model: str | None) -> str | None:
    """Return the column that names models, if there is one."""
    usual = [name for name in _MODELS if name in frame.columns]
    return model or (usual[0] if usual else None)


def classifiers_of(
    data: object, columns: Columns, thresholds: tuple[float, ...], options: Options
) -> Classifiers:
    """Return the models of a frame, with what `check` reports of it."""
    frame, _ = whole(data, "data")
    named = {
        columns.score: "score",
        columns.label: "label",
        **dict.fromkeys(columns.segments, "by"),
    }
    optional = {"item": columns.item, "model": columns.model}
    named |= {column: argument for argument, column in optional.items() if column is not None}
    checks.columns_exist(named, frame.columns)
    args = Arguments(columns.score, columns.label, positive=options.positive)
    further = {segment_column(place): name for place, name in enumerate(columns.segments)}
    if columns.item is not None:
        further[classifiers.ITEM] = columns.item
    rows = frame.select(
        _models(frame, columns.model).alias(classifiers.MODEL),
        pl.col(columns.score).alias("score"),
        positive(args, frame.schema[columns.label]).alias("label"),
        *(pl.col(name).alias(role) for role, name in further.items()),
    )
    findings = check(
        frame,
        columns.score,
        columns.label,
        by=_model_column(frame, columns.model),
        positive=options.positive,
        ties=options.ties,
    )
    return Classifiers(rows, columns.segments, thresholds, options, findings)


def _paths(given: object) -> list[Path]:
    """Return the files within what the caller has passed."""
    if is_path(given):
        return [Path(path) for path in files(given)]
    if isinstance(given, Mapping):
        return [path for part in given.values() for path in _paths(part)]
    if isinstance(given, (list, tuple)):
        return [path for part in given for path in _paths(part)]
    return []


def _digest(path: Path) -> str:
    """Return the hash of a file."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
