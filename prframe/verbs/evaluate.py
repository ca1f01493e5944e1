"""Metrics of each group."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Unpack, get_args

import polars as pl

from prframe import checks, schemas
from prframe.arguments import Arguments
from prframe.errors import PrframeError
from prframe.frames import Source
from prframe.measure import measure
from prframe.metrics import Metric, parse
from prframe.pieces import Piece, Ranking
from prframe.ranks import hits
from prframe.rows import key_names
from prframe.typing import FrameT, Layout, Shared
from prframe.verbs._verb import arguments, run, verb, warn_undefined

if TYPE_CHECKING:
    from collections.abc import Sequence


@verb
def evaluate(
    frame: FrameT,
    metrics: "str | Metric | Sequence[str | Metric]",
    score: str = "score",
    label: str = "label",
    *,
    include_unretrieved: bool = False,
    prior: float | None = None,
    interpolate: bool = False,
    layout: Layout = "wide",
    **shared: Unpack[Shared],
) -> FrameT:
    """Compute metrics of each group's ranking.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame, pyarrow Table, Arrow PyCapsule frame
        One row per item.
    metrics : str, Metric or list of these
        Names such as ``"AP"``, ``"nDCG@10"``, or catalogue values such as ``prframe.nDCG @ 10``;
        the catalogue is `prframe.CATALOGUE`.
    {shared}
    include_unretrieved : bool
        Rank items of score -inf below all others instead of taking them as not retrieved.
    prior : float in [0, 1], optional
        Share of positives to which precision is normalised (Hoiem et al. 2012):
        ``tp' = tp prior / n_pos``, ``fp' = fp (1 - prior) / n_neg``. For AP, AP@k, AUPRC, AP11.
    interpolate : bool
        Replace precision by the largest precision at that recall or beyond. For AP, AUPRC.
    layout : {"wide", "long"}
        One column per metric, or one row per group and metric.

    Returns
    -------
    frame of the caller's kind
        The `by` columns, then one Float64 column per metric, named as asked; or ``metric``
        (String) and ``value`` (Float64). Groups in order of first appearance.

    Raises
    ------
    PrframeError
        An unknown metric or option, a metric that does not take `weight`, `prior` or
        `interpolate`, or rows that cannot be ranked.

    Warns
    -----
    UndefinedMetricWarning
        Some groups lack the positives (or negatives) that a metric needs; their value is null.

    Notes
    -----
    With ``ties="group"``, AP, AUPRC, AP11 and AUC count at the ends of tie blocks; metrics on
    positions are the mean over all orders within the blocks, in closed form.
    One sort of each group's scores, whatever the number of metrics.

    Examples
    --------
    >>> import polars as pl, prframe
    >>> runs = pl.DataFrame(
    ...     {
    ...         "query": ["a", "a", "a", "b", "b", "b"],
    ...         "score": [3.0, 2.0, 1.0, 2.0, 1.0, 1.0],
    ...         "label": [1, 0, 1, 0, 1, 0],
    ...     }
    ... )
    >>> prframe.evaluate(runs, ["AP", "P@1", "RR"], by="query")
    shape: (2, 4)
    ┌───────┬──────────┬─────┬──────────┐
    │ query ┆ AP       ┆ P@1 ┆ RR       │
    │ ---   ┆ ---      ┆ --- ┆ ---      │
    │ str   ┆ f64      ┆ f64 ┆ f64      │
    ╞═══════╪══════════╪═════╪══════════╡
    │ a     ┆ 0.833333 ┆ 1.0 ┆ 1.0      │
    │ b     ┆ 0.333333 ┆ 0.0 ┆ 0.416667 │
    └───────┴──────────┴─────┴──────────┘
    """
    args = arguments("evaluate", score, label, shared)
    wanted = _named(metrics)
    checks.flag("include_unretrieved", include_unretrieved)
    checks.flag("interpolate", interpolate)
    checks.one_of("layout", layout, get_args(Layout))
    if prior is not None:
        prior = checks.fraction("prior", prior)
    _check_options(wanted, args, prior=prior, interpolate=interpolate)
    keys = key_names(args)

    def compute(source: Source) -> pl.DataFrame:
        graded = any(metric.graded for metric in wanted.values())
        grades = source.schema[args.label].is_numeric() and isinstance(
            args.positive, (bool, int, float)
        )
        gains = graded and grades
        ranking = Ranking(source, args, include_unretrieved, ("gain",) if gains else ())

        def piece_values(piece: Piece) -> pl.DataFrame:
            found = hits(piece)
            values = measure(found, list(wanted.values()), prior=prior, interpolate=interpolate)
            values.columns = list(wanted)
            return pl.concat([found.totals.select(keys), values], how="horizontal")

        values = ranking.over_groups(piece_values)
        _warn(values, wanted, args)
        return values if layout == "wide" else _long(values, list(wanted), keys)

    schema = schemas.evaluate_wide(wanted) if layout == "wide" else schemas.evaluate_long()
    result: FrameT = run(frame, args, schema, compute)
    return result


def _named(metrics: "str | Metric | Sequence[str | Metric]") -> dict[str, Metric]:
    """Return name as asked -> metric."""
    if not isinstance(metrics, (str, Metric, Iterable)):
        raise PrframeError(f"`metrics` must be a metric or a list of them; got {metrics!r}.")
    asked = [metrics] if isinstance(metrics, (str, Metric)) else list(metrics)
    if not asked:
        raise PrframeError("`metrics` must name at least one metric; got none.")
    wanted = {str(metric): parse(metric) for metric in asked}
    if len(wanted) < len(asked):
        raise PrframeError(f"`metrics` names a metric twice: {[str(metric) for metric in asked]}.")
    return wanted


def _check_options(
    wanted: dict[str, Metric], args: Arguments, *, prior: float | None, interpolate: bool
) -> None:
    """Refuse options that a metric would have to disregard."""
    given = {"weight": args.weight is not None, "prior": prior is not None}
    given["interpolate"] = interpolate
    for option in (option for option, is_given in given.items() if is_given):
        without = [name for name, metric in wanted.items() if not _takes(metric, option)]
        if without:
            raise PrframeError(
                f"`{option}` has no meaning for {checks.listed(without)}; "
                f"evaluate these in a call of their own, without {option}."
            )


def _takes(metric: Metric, option: str) -> bool:
    """Tell whether a metric takes an option; a cut-off curve is not interpolated."""
    return option in metric.options and not (option == "interpolate" and metric.k is not None)


def _warn(values: pl.DataFrame, wanted: dict[str, Metric], args: Arguments) -> None:
    """Warn once of undefined values."""
    undefined = [name for name in wanted if values[name].null_count()]
    if undefined:
        lacking = pl.any_horizontal(pl.col(undefined).is_null()).alias("lacking")
        both = any("n_neg" in wanted[name].needs for name in undefined)
        warn_undefined(undefined, values.select(*key_names(args), lacking), args, negatives=both)


def _long(values: pl.DataFrame, names: list[str], keys: list[str]) -> pl.DataFrame:
    """Turn metric columns into rows, group after group."""
    rows = values.select(
        *keys,
        pl.lit(pl.Series([names], dtype=pl.List(pl.String))).first().alias("metric"),
        pl.concat_list(names).alias("value"),
    )
    return rows.explode("metric", "value")
