"""The verbs that draw the precision-recall curve and the ROC curve of each group."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Unpack, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prframe import checks
from prframe._engine.arguments import Arguments
from prframe._engine.columns import computed
from prframe._engine.frames import Source
from prframe._engine.pieces import Piece, Ranking
from prframe._engine.ranks import Thresholds, thresholds
from prframe._engine.rows import ROW, key_names
from prframe.errors import PrframeError
from prframe.metrics.quantities import HAIR_BELOW, precision
from prframe.stats import first_at_least
from prframe.stats.curves import spaced_levels
from prframe.typing import Floats, FrameT, Integers, RowOrder, Schema, Shared
from prframe.verbs._plan import Accepts, Plan
from prframe.verbs._verb import positives_of, run, verb, warn_undefined

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
    recall: float | Sequence[float] | None = None,
    order: RowOrder = "rank",
    **shared: Unpack[Shared],
) -> FrameT:
    """Draw the precision-recall curve of each group.

    ``recall = tp / n_pos``, ``precision = tp / (tp + fp)`` among the items of score >= threshold.

    Parameters
    ----------
    frame : {frames}
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
    recall : float or list of float in [0, 1], or int >= 2, optional
        Give the curve at these levels only, a row each, for averaging over groups; a whole number
        is that of evenly spaced levels, 11 for 0, 0.1, ..., 1. The row of a level is where recall
        first reaches the level, or, beyond the largest recall, with precision 0 and null counts.
        The anchor reaches level 0 with precision 1, even at random; see `anchor`. The metric
        ``Prec@r`` of `evaluate` is this precision.
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
    args = Arguments(score, label, **shared)
    flags = {"interpolate": interpolate, "include_unretrieved": include_unretrieved}
    for name, value in (flags | {"anchor": anchor}).items():
        checks.flag(name, value)
    checks.one_of("order", order, get_args(RowOrder))
    prior = None if prior is None else checks.fraction("prior", prior)
    levels = None if recall is None else _levels(recall)
    if levels is not None and order == "input":
        raise PrframeError("`recall` gives a row per level; leave out order='input'.")
    rates = _precision_recall(prior, interpolate=interpolate)
    drawing = _Drawing(
        args,
        rates,
        ("recall", "precision"),
        needs=("n_pos",),
        include_unretrieved=include_unretrieved,
        anchor=anchor,
        levels=levels,
        interpolate=interpolate,
        order=order,
    )
    result: FrameT = run(frame, drawing, _curve_columns(weighted=args.weight is not None))
    return result


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
    frame : {frames}
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
    args = Arguments(score, label, **shared)
    checks.flag("include_unretrieved", include_unretrieved)
    checks.flag("anchor", anchor)
    drawing = _Drawing(
        args,
        _true_false_rates,
        ("fpr", "tpr"),
        needs=("n_pos", "n_neg"),
        include_unretrieved=include_unretrieved,
        anchor=anchor,
    )
    result: FrameT = run(frame, drawing, _roc_columns(weighted=args.weight is not None))
    return result


def _count_columns(*, weighted: bool) -> dict[str, pl.DataType]:
    """Return the columns that open a curve; weighted counts are sums of weights."""
    count = pl.Float64() if weighted else pl.Int64()
    return {"threshold": pl.Float64(), "k": pl.Int64(), "tp": count, "fp": count}


def _curve_columns(*, weighted: bool) -> Schema:
    """Return the columns of a precision-recall curve."""
    return _count_columns(weighted=weighted) | dict.fromkeys(("recall", "precision"), pl.Float64())


def _roc_columns(*, weighted: bool) -> Schema:
    """Return the columns of a ROC curve."""
    return _count_columns(weighted=weighted) | dict.fromkeys(("fpr", "tpr"), pl.Float64())


def _levels(recall: float | Sequence[float]) -> list[float]:
    """Return the recall levels as a list, also of a single level or a whole number of levels."""
    if (spaced := spaced_levels(recall)) is not None:
        return [float(level) for level in spaced]
    levels = (
        list(recall) if isinstance(recall, Iterable) and not isinstance(recall, str) else [recall]
    )
    return [checks.fraction("recall", level) for level in levels]


def _precision_recall(
    prior: float | None, *, interpolate: bool
) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Return a function that adds recall and precision to the counts."""
    tp, fp, n_pos, n_neg = (pl.col(name) for name in ("tp", "fp", "n_pos", "n_neg"))
    after = precision(tp, fp, prior, n_pos, n_neg)
    value = pl.when(pl.col("k") == 0).then(1.0).otherwise(after)

    def add(rows: pl.DataFrame) -> pl.DataFrame:
        rates = computed(rows, recall=_ratio(tp, n_pos), precision=value)
        rows = pl.concat([rows, rates], how="horizontal")
        if not interpolate:
            return rows
        return rows.with_columns(pl.col("precision").cum_max(reverse=True).over("group"))

    return add


def _true_false_rates(rows: pl.DataFrame) -> pl.DataFrame:
    """Add fpr and tpr to the counts."""
    fpr, tpr = _ratio(pl.col("fp"), pl.col("n_neg")), _ratio(pl.col("tp"), pl.col("n_pos"))
    return pl.concat([rows, computed(rows, fpr=fpr, tpr=tpr)], how="horizontal")


def _ratio(count: pl.Expr, total: pl.Expr) -> pl.Expr:
    """Return count / total, null where the total is 0."""
    return pl.when(total > 0).then(count / total)


@dataclass(frozen=True)
class _Drawing(Plan):
    """The plan of a curve: counts along the thresholds, and the rates that follow from them."""

    rates: Callable[[pl.DataFrame], pl.DataFrame]
    names: tuple[str, str]
    needs: tuple[str, ...]
    include_unretrieved: bool
    anchor: bool
    levels: list[float] | None = None
    interpolate: bool = False
    order: RowOrder = "rank"

    def accepts(self) -> Accepts:
        """Return the arguments under which there is one ranking."""
        return Accepts("curve", one_ranking="which have different curves; draw")

    def results(self, source: Source) -> pl.DataFrame:
        """Return a row per threshold, level or input row."""
        return self._by_input(source) if self.order == "input" else self._by_rank(source)

    def _by_rank(self, source: Source) -> pl.DataFrame:
        """Return the rows, with the best score first."""

        def draw(piece: Piece) -> pl.DataFrame:
            ranked = thresholds(piece)
            blocks = self._needed_blocks(ranked)
            rows = _with_totals(_with_thresholds(ranked, piece, blocks), ranked.totals)
            rows = self.rates(_with_anchors(rows, ranked.totals) if self.anchor else rows)
            if self.levels is not None:
                rows = _at_levels(rows, ranked.totals, self.levels)
            return self._shown(rows, key_names(self.args))

        ranking = Ranking(source, self.args, self.include_unretrieved, ("score",))
        return self._warned(ranking.over_groups(draw))

    def _needed_blocks(self, ranked: Thresholds) -> Integers | slice:
        """Return the blocks whose rows are needed: at levels of recall, those that reach one."""
        if self.levels is None or self.interpolate:
            return slice(None)
        reach = _Reach.of(ranked.group, ranked.tp, ranked.totals, self.levels)
        return np.unique(reach.place[reach.reached])

    def _by_input(self, source: Source) -> pl.DataFrame:
        """Return a row per input row, in input order."""
        frame = source.whole().with_row_index(ROW)

        def draw(piece: Piece) -> pl.DataFrame:
            ranked = thresholds(piece)
            rows = self.rates(
                _with_totals(_with_thresholds(ranked, piece, slice(None)), ranked.totals)
            )
            row = piece.rows["row"].to_numpy()[ranked.order]
            return self._shown(rows, [])[ranked.block_of_row].with_columns(row=row)

        ranking = Ranking(
            source.holding(frame), self.args, self.include_unretrieved, ("score", "row")
        )
        rows = ranking.over_groups(draw)
        keys = zip(self.args.keys, key_names(self.args), strict=True)
        every = frame.select(
            pl.col(ROW).alias("row"), *(pl.col(key).alias(by) for key, by in keys)
        )
        joined = every.join(rows, on="row", how="left", maintain_order="left")
        return self._warned(joined.drop("row"))

    def _shown(self, rows: pl.DataFrame, others: list[str]) -> pl.DataFrame:
        """Return the columns of the result, and whether the group lacks a class."""
        lacking = pl.any_horizontal(pl.col(self.needs) == 0).alias("lacking")
        return rows.select(*others, *_COUNTS, *self.names, lacking)

    def _warned(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Warn once of groups that lack a class."""
        if rows["lacking"].any():
            keys = key_names(self.args)
            groups = rows.group_by(keys or pl.lit(0), maintain_order=True).agg(
                pl.col("lacking").any()
            )
            two_classes = len(self.needs) > 1
            rates = ["fpr or tpr"] if two_classes else ["recall"]
            lack = [positives_of(self.args), *(["negatives"] if two_classes else [])]
            warn_undefined(rates, groups, self.args, lack)
        return rows.drop("lacking")


def _with_thresholds(ranked: Thresholds, piece: Piece, blocks: Integers | slice) -> pl.DataFrame:
    """Return tie blocks with their scores."""
    score = piece.rows["score"].cast(pl.Float64).gather(ranked.last_rows(blocks))
    return ranked.table(blocks).with_columns(threshold=score)


def _with_totals(rows: pl.DataFrame, totals: pl.DataFrame) -> pl.DataFrame:
    """Add each row's keys and group totals."""
    return pl.concat([rows, totals.drop("n", "present_pos")[rows["group"]]], how="horizontal")


def _with_anchors(rows: pl.DataFrame, totals: pl.DataFrame) -> pl.DataFrame:
    """Put the row k = 0 before each group's first."""
    opening = {"threshold": np.inf, "k": 0, "tp": 0, "fp": 0}
    anchors = totals.drop("n", "present_pos").with_columns(
        pl.int_range(pl.len()).alias("group"),
        *(pl.lit(value).cast(rows.schema[name]).alias(name) for name, value in opening.items()),
    )
    stacked = pl.concat([rows.select(anchors.columns), anchors])
    firsts = np.searchsorted(rows["group"].to_numpy(), np.arange(totals.height))
    places = np.insert(np.arange(rows.height), firsts, rows.height + np.arange(totals.height))
    return stacked[places]


class _Reach(NamedTuple):
    """Where the recall of each group reaches each level, group by group."""

    group: Integers
    level: Floats
    place: Integers
    reached: NDArray[np.bool_]
    defined: NDArray[np.bool_]

    @classmethod
    def of(
        cls, group: Integers, tp: Floats, totals: pl.DataFrame, levels: list[float]
    ) -> "_Reach":
        """Find the first row that reaches a level, given the groups of rows and their tp."""
        groups = np.repeat(np.arange(totals.height), len(levels))
        wanted = np.tile(np.asarray(levels, dtype=np.float64), totals.height)
        bounds = np.searchsorted(group, np.arange(totals.height + 1))
        starts, stops = bounds[groups], bounds[groups + 1]
        n_pos = totals["n_pos"].to_numpy()[groups]
        place = first_at_least(tp, starts, stops, wanted * n_pos * HAIR_BELOW)
        return cls(groups, wanted, place, place < stops, n_pos > 0)


def _at_levels(rows: pl.DataFrame, totals: pl.DataFrame, levels: list[float]) -> pl.DataFrame:
    """Return for each group and level the first row whose recall reaches the level."""
    reach = _Reach.of(rows["group"].to_numpy(), rows["tp"].to_numpy(), totals, levels)
    counts = (*_COUNTS, "precision")
    points = rows.select(counts)
    points = (
        points[np.where(reach.reached, reach.place, 0)]
        if rows.height
        else points.clear(reach.group.size)
    )
    is_reached = pl.lit(pl.Series(reach.reached & reach.defined))
    defined = pl.lit(pl.Series(reach.defined))
    points = points.with_columns(pl.when(is_reached).then(pl.col(counts)))
    points = points.with_columns(
        pl.Series("recall", reach.level),
        pl.when(defined).then(pl.col("precision").fill_null(0.0)),
    )
    return pl.concat([points, totals.drop("n", "present_pos")[reach.group]], how="horizontal")
