"""Results of verbs, as tables and pictures read them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypedDict, cast

import polars as pl

from prframe import checks
from prframe._engine.frame_kinds import kind_of
from prframe._engine.frames import named
from prframe.errors import PrframeError
from prframe.metrics import parse_metric

# The columns that begin the verb's own part of a result, after the columns `by`, and those that a
# table or picture cannot do without.
_CURVE_POINT = ("threshold", "k", "tp", "fp")
_OWN: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "curve": ((*_CURVE_POINT, "recall", "precision"), ("recall", "precision")),
    "roc": ((*_CURVE_POINT, "fpr", "tpr"), ("fpr", "tpr")),
    "band": (("recall",), ("recall", "precision", "conf_low", "conf_high")),
    "interval": (("metric",), ("metric", "estimate", "conf_low", "conf_high")),
    "compare": (
        ("metric", "model_a"),
        ("metric", "model_a", "model_b", "mean_a", "mean_b", "difference"),
    ),
    "compare_curves": (
        ("model_a",),
        ("model_a", "model_b", "recall", "difference", "conf_low", "conf_high"),
    ),
}


class Facts(TypedDict, total=False):
    """What a caption says of how a result was made, by the column from which it is read."""

    confidence_level: float
    simultaneous: bool
    test: str
    alternative: str
    correction: str
    n_family: int
    n: int
    ties: str


@dataclass(frozen=True)
class Result:
    """A result of a verb, its columns `by`, and the way back to the caller's kind of frame."""

    rows: pl.DataFrame
    keys: tuple[str, ...]
    back: Callable[[pl.DataFrame], Any]

    def methods(self) -> list[str]:
        """Return the methods that the result names."""
        if "method" not in self.rows.columns:
            return []
        return self.rows["method"].drop_nulls().unique().sort().to_list()

    def require_one_group(self, argument: str) -> None:
        """Refuse a result with columns by."""
        if self.keys:
            raise PrframeError(
                f"`{argument}` must be of one group; got the columns "
                f"{checks.listed(self.keys, in_order=True)}. Choose the rows of a group, and "
                "leave these columns out."
            )

    def facts(self, given: Facts | None = None) -> Facts:
        """Return all facts that are known: those of the result, and what the caller adds."""
        known = {name: value for name, value in (given or {}).items() if value is not None}
        # The column ``ties`` of a comparison counts ties.
        for name in (Facts.__annotations__.keys() & set(self.rows.columns)) - {"ties"}:
            values = self.rows[name].drop_nulls().unique()
            if values.len() == 1:
                known[name] = values.item()
        return cast("Facts", known)


def whole(frame: object, argument: str) -> tuple[pl.DataFrame, Callable[[pl.DataFrame], Any]]:
    """Return a frame of any kind in polars, and the way back to its kind."""
    readable, names = named(frame)
    data, back = kind_of(readable).enter(readable, dict.fromkeys(names, argument), {}, {})
    return data.lazy().collect(), back


def read(result: object, verb: str, argument: str = "result") -> Result:
    """Return the result of a verb, given as a frame of any kind."""
    if isinstance(result, (list, tuple)) or type(result).__module__.startswith("numpy"):
        raise PrframeError(
            f"`{argument}` must be a result of {verb}(); got {type(result).__name__}. Make one of "
            f"scores and labels by prframe.{verb}({{'score': scores, 'label': labels}})."
        )
    rows, back = whole(result, argument)
    own, needed = _OWN[verb]
    if missing := [name for name in needed if name not in rows.columns]:
        raise PrframeError(
            f"`{argument}` must be a result of {verb}(), which has the columns "
            f"{checks.listed(needed, in_order=True)}; got a frame without "
            f"{checks.listed(missing, in_order=True)}. Make one by prframe.{verb}(frame, ...)."
        )
    if rows.is_empty():
        raise PrframeError(f"`{argument}` must have rows; got a frame without any.")
    first = min(rows.columns.index(name) for name in own if name in rows.columns)
    return Result(rows, tuple(rows.columns[:first]), back)


def read_estimates(result: object, argument: str) -> Result:
    """Return the result of `interval`, or of `evaluate` in any layout, which has no intervals."""
    if isinstance(result, (list, tuple)) or type(result).__module__.startswith("numpy"):
        return read(result, "interval", argument)
    rows, back = whole(result, argument)
    metrics = [name for name in rows.columns if rows.schema[name].is_float() and _is_metric(name)]
    values = [name for name in ("mean", "value") if name in rows.columns]
    if "estimate" in rows.columns or not (metrics or values):
        return read(result, "interval", argument)
    if "metric" in rows.columns:
        rows = rows.rename({values[0]: "estimate"})
    else:
        keys = [name for name in rows.columns if name not in metrics]
        rows = rows.unpivot(metrics, index=keys, variable_name="metric", value_name="estimate")
    no_ends = [pl.lit(None, pl.Float64).alias(name) for name in ("conf_low", "conf_high")]
    made = read(rows.with_columns(no_ends), "interval", argument)
    return replace(made, back=back)


def _is_metric(name: str) -> bool:
    """Return whether this is the name of a metric."""
    try:
        parse_metric(name)
    except PrframeError:
        return False
    return True


def with_one_key(result: Result, argument: str, use: str) -> tuple[Result, str]:
    """Return a result with one column `by`, which joins the values of several, and its name."""
    if not result.keys:
        raise PrframeError(
            f"`{argument}` must have a column of groups, which {use}; got none. Pass by=."
        )
    if len(result.keys) == 1:
        return result, result.keys[0]
    name = ", ".join(result.keys)
    values = pl.concat_str(pl.col(result.keys).cast(pl.String).fill_null("null"), separator=", ")
    return replace(result, rows=result.rows.with_columns(values.alias(name)), keys=(name,)), name


def one_metric(rows: pl.DataFrame, metric: str | None, argument: str) -> str:
    """Return the metric that is meant, which may be left out where there is only one."""
    names = rows["metric"].unique(maintain_order=True).to_list()
    if metric is None:
        if len(names) == 1:
            return str(names[0])
        raise PrframeError(
            f"`metric` must name one of the metrics of `{argument}`: "
            f"{checks.listed(names, in_order=True)}."
        )
    checks.one_of("metric", str(metric), names, in_order=True)
    return str(metric)
