"""Precision-recall and ROC curves of each group."""

from collections.abc import Callable, Sequence
from typing import Unpack, get_args

import numpy as np
import polars as pl

from prframe import checks, schemas
from prframe.arguments import Arguments
from prframe.errors import PrframeError
from prframe.frames import Source
from prframe.pieces import Piece, Ranking
from prframe.quantities import precision
from prframe.ranks import thresholds
from prframe.rows import ROW, key_names
from prframe.stats import first_at_least
from prframe.typing import FrameT, RowOrder, Shared
from prframe.verbs._verb import arguments, run, verb, warn_undefined

_COUNTS = ("threshold", "k", "tp", "fp")


@verb
def curve(
    frame: FrameT,
    score: str = "score",
    label: str = "label",
    *,
    interpolate: bool = False,
    prior: float | None = None,
    include_unretrieved: bool = False,
    anchor: bool = True,
    recall: Sequence[float] | None = None,
    order: RowOrder = "rank",
    **shared: Unpack[Shared],
) -> FrameT:
    """Draw the precision-recall curve of each group.

    ``recall = tp / n_pos``, ``precision = tp / (tp + fp)`` among the items of score >= threshold.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame, pyarrow Table, Arrow PyCapsule frame
        One row per item.
    {shared}
    interpolate : bool
        Replace precision by the largest precision at that recall or beyond.
    prior : float in [0, 1], optional
        Share of positives to which precision is normalised (Hoiem et al. 2012):
        ``tp' = tp prior / n_pos``, ``fp' = fp (1 - prior) / n_neg``.
    include_unretrieved : bool
        Put items of score -inf at the end of the curve instead of cutting them off.
    anchor : bool
        Begin with the row k = 0: threshold +inf, recall 0, precision 1.
    recall : list of float in [0, 1], optional
        Give the curve at these levels only, a row each: where recall first reaches the level,
        or, beyond the largest recall, with precision 0 and null counts. For averaging.
    order : {"rank", "input"}
        ``"rank"``: a row per threshold, best first. ``"input"``: a row per row of the frame, in
        its order, null where an item is not retrieved (or left out).

    Returns
    -------
    frame of the caller's kind
        The `by` columns, then ``threshold`` (Float64), ``k`` (Int64: rows at or above it),
        ``tp``, ``fp`` (Int64; Float64 with weights), ``recall``, ``precision`` (Float64).

    Raises
    ------
    PrframeError
        An unknown option, a level outside [0, 1], or rows that cannot be ranked.

    Warns
    -----
    UndefinedMetricWarning
        Groups without positives have no recall; theirs is null.

    Notes
    -----
    With ``ties="group"`` a threshold stands for all rows of its score; with ``ties="order"``
    every row is a threshold of its own, as in vl_pr.

    References
    ----------
    vl_pr (VLFeat); Clemencon & Vayatis 2009, eq. (3).

    Examples
    --------
    >>> import polars as pl, prframe
    >>> frame = pl.DataFrame({"score": [0.9, 0.8, 0.8, 0.1], "label": [1, 1, 0, 0]})
    >>> prframe.curve(frame)
    shape: (4, 6)
    ┌───────────┬─────┬─────┬─────┬────────┬───────────┐
    │ threshold ┆ k   ┆ tp  ┆ fp  ┆ recall ┆ precision │
    │ ---       ┆ --- ┆ --- ┆ --- ┆ ---    ┆ ---       │
    │ f64       ┆ i64 ┆ i64 ┆ i64 ┆ f64    ┆ f64       │
    ╞═══════════╪═════╪═════╪═════╪════════╪═══════════╡
    │ inf       ┆ 0   ┆ 0   ┆ 0   ┆ 0.0    ┆ 1.0       │
    │ 0.9       ┆ 1   ┆ 1   ┆ 0   ┆ 0.5    ┆ 1.0       │
    │ 0.8       ┆ 3   ┆ 2   ┆ 1   ┆ 1.0    ┆ 0.666667  │
    │ 0.1       ┆ 4   ┆ 2   ┆ 2   ┆ 1.0    ┆ 0.5       │
    └───────────┴─────┴─────┴─────┴────────┴───────────┘
    """
    args = arguments("curve", score, label, shared)
    for name, value in (
        ("interpolate", interpolate),
        ("include_unretrieved", include_unretrieved),
    ):
        checks.flag(name, value)
    checks.flag("anchor", anchor)
    checks.one_of("order", order, get_args(RowOrder))
    if prior is not None:
        prior = checks.fraction("prior", prior)
    levels = None if recall is None else [checks.fraction("recall", level) for level in recall]
    if levels is not None and order == "input":
        raise PrframeError("`recall` gives a row per level; leave out order='input'.")

    def rates(rows: pl.DataFrame) -> pl.DataFrame:
        n_pos, n_neg = pl.col("n_pos"), pl.col("n_neg")
        tp, fp = pl.col("tp"), pl.col("fp")
        value = pl.when(pl.col("k") == 0).then(1.0)
        value = value.otherwise(precision(tp, fp, prior, n_pos, n_neg))
        rows = rows.with_columns(_ratio(tp, n_pos).alias("recall"), value.alias("precision"))
        if not interpolate:
            return rows
        best = pl.col("precision").cum_max(reverse=True).over("group")
        return rows.with_columns(best.alias("precision"))

    drawn = _Drawing(args, include_unretrieved, rates, ("recall", "precision"))
    schema = schemas.curve(weighted=args.weight is not None)
    if order == "input":
        return run(frame, args, schema, drawn.by_input)
    return run(frame, args, schema, lambda source: drawn.by_rank(source, anchor, levels))


@verb
def roc(
    frame: FrameT,
    score: str = "score",
    label: str = "label",
    *,
    include_unretrieved: bool = False,
    anchor: bool = True,
    **shared: Unpack[Shared],
) -> FrameT:
    """Draw the ROC curve of each group.

    ``fpr = fp / n_neg``, ``tpr = tp / n_pos`` among the items of score >= threshold.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame, pyarrow Table, Arrow PyCapsule frame
        One row per item.
    {shared}
    include_unretrieved : bool
        Put items of score -inf at the end of the curve instead of cutting them off.
    anchor : bool
        Begin with the row k = 0: threshold +inf, both rates 0.

    Returns
    -------
    frame of the caller's kind
        The `by` columns, then ``threshold`` (Float64), ``k`` (Int64: rows at or above it),
        ``tp``, ``fp`` (Int64; Float64 with weights), ``fpr``, ``tpr`` (Float64), best score first.

    Raises
    ------
    PrframeError
        An unknown option, or rows that cannot be ranked.

    Warns
    -----
    UndefinedMetricWarning
        Groups without positives have no tpr, without negatives no fpr; theirs is null.

    References
    ----------
    Clemencon, Limnios & Vayatis 2021, section 2.

    Examples
    --------
    >>> import polars as pl, prframe
    >>> frame = pl.DataFrame({"score": [0.9, 0.8, 0.8, 0.1], "label": [1, 1, 0, 0]})
    >>> prframe.roc(frame).select("threshold", "fpr", "tpr")
    shape: (4, 3)
    ┌───────────┬─────┬─────┐
    │ threshold ┆ fpr ┆ tpr │
    │ ---       ┆ --- ┆ --- │
    │ f64       ┆ f64 ┆ f64 │
    ╞═══════════╪═════╪═════╡
    │ inf       ┆ 0.0 ┆ 0.0 │
    │ 0.9       ┆ 0.0 ┆ 0.5 │
    │ 0.8       ┆ 0.5 ┆ 1.0 │
    │ 0.1       ┆ 1.0 ┆ 1.0 │
    └───────────┴─────┴─────┘
    """
    args = arguments("roc", score, label, shared)
    checks.flag("include_unretrieved", include_unretrieved)
    checks.flag("anchor", anchor)

    def rates(rows: pl.DataFrame) -> pl.DataFrame:
        return rows.with_columns(
            _ratio(pl.col("fp"), pl.col("n_neg")).alias("fpr"),
            _ratio(pl.col("tp"), pl.col("n_pos")).alias("tpr"),
        )

    drawn = _Drawing(args, include_unretrieved, rates, ("fpr", "tpr"))
    schema = schemas.roc(weighted=args.weight is not None)
    return run(frame, args, schema, lambda source: drawn.by_rank(source, anchor, None))


def _ratio(count: pl.Expr, total: pl.Expr) -> pl.Expr:
    """Return count / total, null where there is nothing to count."""
    return pl.when(total > 0).then(count / total)


class _Drawing:
    """A kind of curve: the counts along the thresholds, and two rates made of them."""

    def __init__(
        self,
        args: Arguments,
        include_unretrieved: bool,  # noqa: FBT001
        rates: Callable[[pl.DataFrame], pl.DataFrame],
        names: tuple[str, str],
    ) -> None:
        self._args, self._include = args, include_unretrieved
        self._rates, self._names = rates, names
        self._keys = key_names(args)

    def by_rank(
        self,
        source: Source,
        anchor: bool,
        levels: list[float] | None,  # noqa: FBT001
    ) -> pl.DataFrame:
        """Return the rows best score first."""

        def draw(piece: Piece) -> pl.DataFrame:
            ranked = thresholds(piece)
            rows = _with_totals(ranked.table.filter("last"), ranked.totals)
            if anchor:
                rows = _with_anchors(rows, ranked.totals)
            rows = self._rates(rows)
            if levels is not None:
                rows = _at_levels(rows, ranked.totals, levels)
            keys = ranked.totals.select(self._keys)[rows["group"]]
            lacking = pl.Series("lacking", self._lacking(ranked.totals))[rows["group"]]
            shown = rows.select(*_COUNTS, *self._names)
            return pl.concat([keys, shown, lacking.to_frame()], how="horizontal")

        ranking = Ranking(source, self._args, self._include, ("score",))
        return self._warned(ranking.over_groups(draw))

    def by_input(self, source: Source) -> pl.DataFrame:
        """Return a row per input row, in input order."""
        frame = source.whole().with_row_index(ROW)

        def draw(piece: Piece) -> pl.DataFrame:
            ranked = thresholds(piece)
            rows = self._rates(_with_totals(ranked.table, ranked.totals))
            lacking = pl.Series("lacking", self._lacking(ranked.totals))[rows["group"]]
            return rows.select("row", *_COUNTS, *self._names, lacking)

        ranking = Ranking(Source(frame), self._args, self._include, ("score", "row"))
        rows = ranking.over_groups(draw)
        keys = [
            pl.col(key).alias(name) for key, name in zip(self._args.keys, self._keys, strict=True)
        ]
        all_rows = frame.select(pl.col(ROW).alias("row"), *keys)
        joined = all_rows.join(rows, on="row", how="left", maintain_order="left")
        return self._warned(joined)

    def _lacking(self, totals: pl.DataFrame) -> pl.Series:
        """Tell which groups lack a class that a rate divides by."""
        needed = ["n_pos"] if "recall" in self._names else ["n_pos", "n_neg"]
        return totals.select(pl.any_horizontal(pl.col(needed) == 0)).to_series()

    def _warned(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Warn once of groups that lack a class."""
        if rows["lacking"].any():
            keys = self._keys or [pl.lit(0)]
            groups = rows.group_by(keys, maintain_order=True).agg(pl.col("lacking").any())
            first = self._names[0] == "recall"
            warn_undefined(
                ["recall"] if first else ["fpr or tpr"],
                groups.filter("lacking").select(self._keys),
                groups.height,
                "positives" if first else "negatives or no positives",
            )
        return rows.drop("lacking")


def _with_totals(rows: pl.DataFrame, totals: pl.DataFrame) -> pl.DataFrame:
    """Add each row's group totals."""
    counts = totals.select("n_pos", "n_neg")
    return pl.concat([rows, counts[rows["group"]]], how="horizontal")


def _with_anchors(rows: pl.DataFrame, totals: pl.DataFrame) -> pl.DataFrame:
    """Put the row k = 0 before each group's first."""
    zero = pl.lit(0)
    anchors = totals.with_row_index("group").select(
        pl.col("group").cast(pl.Int64),
        pl.lit(np.inf).alias("threshold"),
        *(zero.cast(rows[name].dtype).alias(name) for name in ("k", "tp", "fp")),
        "n_pos",
        "n_neg",
    )
    columns = anchors.columns
    stacked = pl.concat([rows.select(columns).cast({"threshold": pl.Float64}), anchors])
    firsts = np.searchsorted(rows["group"].to_numpy(), np.arange(totals.height))
    places = np.insert(np.arange(rows.height), firsts, rows.height + np.arange(totals.height))
    return stacked[places]


def _at_levels(rows: pl.DataFrame, totals: pl.DataFrame, levels: list[float]) -> pl.DataFrame:
    """Return for each group and level the first row whose recall reaches the level."""
    groups = np.repeat(np.arange(totals.height), len(levels))
    wanted = np.tile(np.asarray(levels, dtype=np.float64), totals.height)
    group = rows["group"].to_numpy()
    starts, stops = (
        np.searchsorted(group, np.arange(totals.height), side=side) for side in ("left", "right")
    )
    n_pos = totals["n_pos"].to_numpy()
    # A hair below, so that a level of .3 is reached by 3 of 10.
    target = wanted * n_pos[groups] * (1 - 1e-12)
    place = first_at_least(rows["tp"].to_numpy(), starts[groups], stops[groups], target)
    reached = place < stops[groups]
    found = rows[np.where(reached, place, 0)] if rows.height else rows.clear(groups.size)
    there = pl.Series(reached)
    return found.with_columns(
        pl.Series("group", groups),
        *(pl.when(there).then(pl.col(name)).alias(name) for name in _COUNTS),
        pl.Series("recall", wanted),
        pl.when(pl.Series(n_pos[groups] > 0))
        .then(pl.when(there).then(pl.col("precision")).otherwise(0.0))
        .alias("precision"),
    )
