"""Metrics of groups whose scores and labels are lists, as polars hands them to expressions."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

import numpy as np
import polars as pl

from prframe._engine.arguments import TEXT, Arguments, require_number
from prframe._engine.frames import Seen, Source
from prframe._engine.hits import Hits
from prframe._engine.measure import measure, thresholds_of
from prframe._engine.pieces import Piece, Ranking, Task, results
from prframe._engine.ranks import task_of_hits
from prframe._engine.rows import is_missing, notice, positive, sortable_keys
from prframe.errors import PrframeError
from prframe.metrics import Metric

# The number of rows whose groups are computed at a time, so that memory is used again.
_ROWS = 1 << 19


def values_of_lists(
    lists: Mapping[str, pl.Series], metric: Metric, args: Arguments
) -> tuple[pl.Series, Seen]:
    """Compute a metric of each list, about `_ROWS` rows at a time, and what was noticed."""
    seen, score = Seen(), lists["score"]
    for role, series in lists.items():
        _check_dtype(role, series.name, series.clear().explode().dtype, args)
    # A label, or a total, may be a single value for all groups.
    lists = {
        role: series if series.len() == score.len() else series.new_from_index(0, score.len())
        for role, series in lists.items()
    }
    n_rows = np.cumsum(score.list.len().to_numpy(), dtype=np.int64)
    cuts = np.searchsorted(n_rows, np.arange(_ROWS, n_rows.max(initial=0), _ROWS))
    bounds = np.unique([0, *cuts, score.len()]).tolist()
    tasks = (
        _task(
            {role: series.slice(low, high - low) for role, series in lists.items()},
            metric,
            args,
            seen,
        )
        for low, high in pairwise(bounds)
    )
    return pl.concat(list(results(tasks)) or [pl.Series(dtype=pl.Float64)]), seen


def _check_dtype(role: str, column: str, dtype: pl.DataType, args: Arguments) -> None:
    """Require the dtype that verbs require of a column; text is compared in the expression."""
    if role != "label":
        require_number(role, column, dtype)
    elif dtype in TEXT:
        raise PrframeError(
            f"`label` {column!r} holds strings: pass a condition, for instance "
            f"pl.col({column!r}) == 'yes'."
        )
    else:
        replace(args, label=column).check_label(dtype)


def _task(
    lists: Mapping[str, pl.Series], metric: Metric, args: Arguments, seen: Seen
) -> Task[pl.Series]:
    """Return the task that computes a metric of each list."""
    size = lists["score"].list.len().to_numpy()
    group = np.repeat(np.arange(size.size, dtype=np.uint32), size)
    for name, series in lists.items():
        length = series.list.len().to_numpy()
        if not ((length == size) | (length == 1)).all():
            raise PrframeError(f"`{name}` must have as many values as the scores of each group.")
    columns = {name: series.explode(empty_as_null=False) for name, series in lists.items()}
    # A label, or a total, may be a single value of its group.
    columns |= {
        name: columns[name].gather(group)
        for name, series in lists.items()
        if name != "score" and (series.list.len() == 1).all()
    }
    if columns["label"].dtype != pl.Boolean:
        columns["label"] = columns["label"].cast(pl.Float64)
        if columns["label"].is_infinite().any():
            raise PrframeError("`label` must be finite; mend or drop these rows.")
    rows = pl.DataFrame({"run": group} | columns)
    is_complete = np.ones(size.size, np.bool_)
    missing = [is_missing(pl.col(name), rows.schema[name]) for name in columns]
    if any(rows.select_seq(condition.any()).item() for condition in missing):
        is_complete[rows.filter(pl.any_horizontal(missing))["run"].to_numpy()] = False
        rows = rows.filter(is_complete[group])
    if args.weight is not None:
        if not rows.select((pl.col("weight").is_finite() & (pl.col("weight") >= 0)).all()).item():
            raise PrframeError("`weight` must be finite numbers >= 0; mend or drop these rows.")
        rows = rows.filter(pl.col("weight") > 0)
    present = rows["run"].unique().to_numpy()

    def values(of_rows: Hits) -> pl.Series:
        measured = measure(of_rows, [metric], ties=args.ties).to_series()
        return pl.repeat(None, size.size, dtype=pl.Float64, eager=True).scatter(present, measured)

    ranking = _ranking(Source(rows, seen), metric, args)
    piece = Piece(ranking, _working_columns(rows, ranking), pl.DataFrame())
    return task_of_hits(piece).then(values)


def _ranking(source: Source, metric: Metric, args: Arguments) -> Ranking:
    """Return what is ranked; gains matter to graded metrics if labels are numbers."""
    is_graded = (metric.graded or metric.rel is not None) and source.schema["label"].is_numeric()
    extra = ("gain",) if is_graded else ()
    return Ranking(source, args, extra=extra, thresholds=thresholds_of([metric]))


def _working_columns(rows: pl.DataFrame, ranking: Ranking) -> pl.DataFrame:
    """Return the columns that the engine ranks rows by."""
    args = ranking.args
    more = [*args.totals, *(["weight"] if args.weight else [])]
    columns = rows.select(
        "run",
        positive(args, rows.schema["label"]),
        *(pl.col("label").cast(pl.Float64).clip(0).alias(name) for name in ranking.extra),
        *(name for name in more if isinstance(getattr(args, name), str)),
        sortable_keys(rows["score"], float32=False).alias("key"),
    )
    notice(ranking.source.seen, columns, rows["score"], rows["label"])
    return columns
