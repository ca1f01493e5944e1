"""The rows of curves, of a group or of the mean over groups, and bands about mean curves."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, TypeAlias, get_args

import numpy as np
import polars as pl

from prframe import checks
from prframe._engine.arguments import Arguments
from prframe._engine.frames import Source
from prframe._engine.pieces import Piece, Ranking, results
from prframe._engine.ranks import Thresholds, thresholds
from prframe._engine.rows import ROW, computed, key_names
from prframe._engine.runs import Counting
from prframe.errors import ArgumentError
from prframe.metrics.quantities import HAIR_BELOW, precision
from prframe.metrics.thresholds import Prec
from prframe.stats._arrays import first_at_least
from prframe.stats.curves import LEVELS_TWICE, even_levels, range_ends, spaced_levels
from prframe.stats.intervals import Confidence, MeanBand, mean_band, mean_interval
from prframe.typing import Floats, RowOrder, Schema
from prframe.verbs._evaluation import Evaluation
from prframe.verbs._groups import each_group
from prframe.verbs._mean_samples import (
    CLUSTER,
    KeyedByCluster,
    MeanSample,
    few_for_skewness,
    ranks,
    warn_of_skewed_values,
)
from prframe.verbs._verb import Accepts, Plan, TwoStepPlan, positives_of, warn_null, warn_undefined

_COUNTS = ("threshold", "k", "tp", "fp")


def precision_recall(
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


def with_gains(rows: pl.DataFrame, prior: float | None) -> pl.DataFrame:
    """Add the gains ``(x - pi) / ((1 - pi) x)`` of the rates x; pi is the share, or a prior."""
    n_pos, n_neg = pl.col("n_pos"), pl.col("n_neg")
    share = pl.lit(prior)
    if prior is None:
        share = pl.when((n_pos > 0) & (n_neg > 0)).then(n_pos / (n_pos + n_neg))
    gains = {
        f"{name}_gain": (pl.col(name) - share) / ((1 - share) * pl.col(name))
        for name in ("recall", "precision")
    }
    return pl.concat([rows, computed(rows, **gains)], how="horizontal")


def true_false_rates(rows: pl.DataFrame) -> pl.DataFrame:
    """Add fpr and tpr to the counts."""
    fpr, tpr = _ratio(pl.col("fp"), pl.col("n_neg")), _ratio(pl.col("tp"), pl.col("n_pos"))
    return pl.concat([rows, computed(rows, fpr=fpr, tpr=tpr)], how="horizontal")


def _ratio(count: pl.Expr, total: pl.Expr) -> pl.Expr:
    """Return count / total, null where the total is 0."""
    return pl.when(total > 0).then(count / total)


def of_one_ranking(name: str) -> Accepts:
    """Return the arguments under which a group has one ranking, and so one curve."""
    return Accepts(name, one_ranking="which have different curves; draw")


@dataclass(frozen=True)
class Drawing(Plan):
    """The plan of a curve: counts along the thresholds, and the rates that follow from them."""

    rates: Callable[[pl.DataFrame], pl.DataFrame]
    names: tuple[str, ...]
    needs: tuple[str, ...]
    include_unretrieved: bool
    anchor: bool
    levels: Sequence[float] | None = None
    order: RowOrder = "rank"
    verb: str = "curve"
    then: Callable[[pl.DataFrame], pl.DataFrame] | None = None
    undefined: str = "recall"

    def accepts(self) -> Accepts:
        """Return the arguments under which there is one ranking."""
        in_order = self.order == "input"
        is_counted = self.levels is not None and not in_order
        return replace(
            of_one_ranking(self.verb),
            has_mean=self.verb == "curve" and self.then is None and not in_order,
            undivided="order='input' keeps the order of the rows" if in_order else "",
            # Levels of recall need the blocks with positives, and the first one.
            counting=Counting(_scores, blocks=True) if is_counted else None,
        )

    def results(self, source: Source) -> pl.DataFrame:
        """Return a row per threshold, level or input row, and warn of groups without a class."""
        rows = self._by_input(source) if self.order == "input" else self.rows(source)
        if rows["lacking"].any():
            lack = [positives_of(self.args), *(["negatives"] if len(self.needs) > 1 else [])]
            warn_undefined([self.undefined], rows, self.args, pl.col("lacking"), lack)
        return rows.drop("lacking")

    def rows(self, source: Source) -> pl.DataFrame:
        """Return the rows, with the best score first, and whether their groups lack a class."""

        def draw(piece: Piece, ranked: Thresholds) -> pl.DataFrame:
            rows = _with_totals(_with_thresholds(ranked, piece), ranked.totals)
            rows = self.rates(_with_anchors(rows, ranked.totals) if self.anchor else rows)
            if self.levels is not None:
                rows = _at_levels(rows, ranked.totals, self.levels)
            return self._shown(rows, key_names(self.args))

        def draw_all(pieces: Iterable[Piece]) -> pl.DataFrame:
            tasks = (thresholds(piece).then(partial(draw, piece)) for piece in pieces)
            return pl.concat(list(results(tasks)))

        ranking = Ranking(source, self.args, self.include_unretrieved, ("score",))
        return ranking.of_pieces(draw_all)

    def _by_input(self, source: Source) -> pl.DataFrame:
        """Return a row per input row, in input order."""
        frame = source.whole().with_row_index(ROW)

        def draw(piece: Piece) -> pl.DataFrame:
            ranked = thresholds(piece).result()
            rows = self.rates(_with_totals(_with_thresholds(ranked, piece), ranked.totals))
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
        return joined.drop("row")

    def _shown(self, rows: pl.DataFrame, others: list[str]) -> pl.DataFrame:
        """Return the columns of the result, and whether the group lacks a class."""
        rows = rows if self.then is None else self.then(rows)
        lacking = pl.any_horizontal(pl.col(self.needs) == 0).alias("lacking")
        return rows.select(*others, *_COUNTS, *self.names, lacking)


def _scores(_: Source) -> tuple[str, ...]:
    """Return that scores are needed of items."""
    return ("score",)


def _with_thresholds(ranked: Thresholds, piece: Piece) -> pl.DataFrame:
    """Return tie blocks with their scores."""
    score = piece.rows["score"].cast(pl.Float64).gather(ranked.last_rows)
    return ranked.table.with_columns(threshold=score)


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


def _at_levels(rows: pl.DataFrame, totals: pl.DataFrame, levels: Sequence[float]) -> pl.DataFrame:
    """Return for each group and level the first row whose recall reaches the level."""
    group = np.repeat(np.arange(totals.height), len(levels))
    n_pos = totals["n_pos"].to_numpy()
    needed = np.asarray(levels) * n_pos[:, None] * HAIR_BELOW
    bounds = np.searchsorted(rows["group"].to_numpy(), np.arange(totals.height + 1))
    stops = bounds[group + 1]
    place = first_at_least(rows["tp"].to_numpy(), bounds[group], stops, needed.ravel())
    defined = n_pos[group] > 0
    reached, counts = defined & (place < stops), (*_COUNTS, "precision")
    points = rows.select(counts)
    points = points[np.where(reached, place, 0)] if rows.height else points.clear(group.size)
    points = points.with_columns(pl.when(pl.lit(pl.Series(reached))).then(pl.col(counts)))
    points = points.with_columns(
        pl.Series("recall", np.tile(np.asarray(levels, dtype=np.float64), totals.height)),
        pl.when(pl.lit(pl.Series(defined))).then(pl.col("precision").fill_null(0.0)),
    )
    return pl.concat([points, totals.drop("n", "present_pos")[group]], how="horizontal")


MEAN_COLUMNS: Schema = {"recall": pl.Float64(), "precision": pl.Float64(), "n": pl.Int64()}
Method: TypeAlias = Literal["auto", "t", "logit", "hall", "percentile", "bca"]
BAND_COLUMNS: Schema = {
    "recall": pl.Float64(),
    "precision": pl.Float64(),
    "conf_low": pl.Float64(),
    "conf_high": pl.Float64(),
    "method": pl.String(),
    "confidence_level": pl.Float64(),
    "simultaneous": pl.Boolean(),
}
_SKEWED = "skewed"
_LEAST_UNITS = 2
# So many levels from 0 to 1 are taken unless the caller names some.
_LEVELS = 101


@dataclass(frozen=True)
class PrecisionAtLevels(Evaluation):
    """The precision of each group at levels of recall, with a metric for each level.

    With an anchor the curve has precision 1 at level 0, which IPrec@0 has not.
    """

    levels: tuple[float, ...] = ()
    anchor: bool = False

    @classmethod
    def of(
        cls,
        args: Arguments,
        levels: tuple[float, ...],
        *,
        interpolate: bool,
        anchor: bool | None,
        include_unretrieved: bool = False,
        prior: float | None = None,
    ) -> "PrecisionAtLevels":
        """Check the options of the curves."""
        checks.flag("interpolate", interpolate)
        begins = begins_at_one(anchor=anchor, unless=True)
        wanted = {str(i): Prec @ level for i, level in enumerate(levels)}
        return cls(
            args, wanted, include_unretrieved, prior, interpolate, levels=levels, anchor=begins
        )

    def check(self) -> None:
        """Accept the options, which a curve takes all."""

    def measured(self, source: Source) -> pl.DataFrame:
        """Return one row per group."""
        drawing = Drawing(
            self.args,
            precision_recall(self.prior, interpolate=self.interpolate),
            ("recall", "precision"),
            needs=("n_pos",),
            include_unretrieved=self.include_unretrieved,
            anchor=self.anchor,
            levels=self.levels,
        )
        rows = drawing.rows(source)
        table = rows["precision"].to_numpy().reshape(-1, len(self.levels))
        columns = [
            pl.Series(name, table[:, i]).fill_nan(None) for i, name in enumerate(self.wanted)
        ]
        return pl.DataFrame(
            [*rows.select(key_names(self.args)).gather_every(len(columns)), *columns]
        )

    def warn(self, values: pl.DataFrame) -> None:
        """Warn once of groups without positives."""
        lacking = pl.any_horizontal(pl.col(list(self.wanted)).is_null())
        warn_undefined(["precision"], values, self.args, lacking, [positives_of(self.args)])


@dataclass(frozen=True)
class MeanCurves(TwoStepPlan):
    """The plan of mean curves; the first `n_kept` keys, those before `over`, are of the result."""

    verb: str
    n_kept: int
    precision: PrecisionAtLevels

    def accepts(self) -> Accepts:
        """Return the arguments under which each group has one ranking."""
        return of_one_ranking(self.verb)

    def check(self) -> None:
        """Refuse options of the curves that do not go together."""
        self.precision.check()

    def of_groups(self, source: Source) -> pl.DataFrame:
        """Return the curve of each group, and its cluster if there are any."""
        if self.args.cluster is None:
            return self.precision.values(source)
        keyed = KeyedByCluster.of(source, self.args, self.n_kept)
        return keyed.marked(replace(self.precision, args=keyed.args).values(keyed.source))

    def of_all(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return a row per group of `by` and level."""
        keys = key_names(self.args)[: self.n_kept]
        groups = rows.partition_by(keys, maintain_order=True) if keys else [rows]
        parts = each_group(self._rows, [group for group in groups if group.height], self.verb)
        return pl.concat(parts) if parts else pl.DataFrame(schema=[*keys, *self.columns()])

    @staticmethod
    def columns() -> Schema:
        """Return the columns of the result."""
        return MEAN_COLUMNS

    def summary(self, curves: MeanSample) -> pl.DataFrame:
        """Return the columns that follow from the curves of a group."""
        return pl.DataFrame(series({"precision": mean_of(curves.values)}))

    def _rows(self, group: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of one group, of the curves that have positives."""
        table = group.select(list(self.precision.wanted)).to_numpy()
        defined = ~np.isnan(table).any(axis=1)
        rank = None if self.args.cluster is None else ranks(group[CLUSTER])[defined]
        curves = MeanSample.of(table[defined], rank)
        recall = pl.Series("recall", self.precision.levels)
        rows = self.summary(curves).with_columns(recall, n=len(curves.values))
        return with_key(group.select(key_names(self.args)[: self.n_kept]).head(1), rows)


@dataclass(frozen=True)
class MeanBands(MeanCurves):
    """The plan of bands about mean curves, whose curves are drawn."""

    method: str
    simultaneous: bool
    confidence_level: float
    n_resamples: int
    seed: int

    @staticmethod
    def columns() -> Schema:
        """Return the columns of the result."""
        return {**BAND_COLUMNS, "n": pl.Int64()}

    def check(self) -> None:
        """Refuse methods that have no band of the kind asked for."""
        super().check()
        checks.flag("simultaneous", self.simultaneous)
        methods = get_args(Method)
        if self.method not in methods:
            raise ArgumentError(
                f"`method` of a mean over groups must be one of {checks.listed(sorted(methods))}; "
                f"got {checks.brief(self.method)}."
            )
        if self.simultaneous and self.method != "auto":
            raise ArgumentError(
                f"method={self.method!r} knows single levels only; say simultaneous=False, or "
                "leave it out."
            )

    def of_all(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return a row per group of `by` and level, and warn of groups without a band."""
        means = super().of_all(rows)
        if means.is_empty():
            return means
        kept = replace(self.args, by=list(self.args.keys[: self.n_kept]))
        unit = "curves" if self.args.cluster is None else "clusters"
        why = f"which have fewer than two {unit}, or {unit} that all agree"
        warn_null(["conf_low", "conf_high"], means, kept, pl.col("conf_low").is_null(), why)
        warn_of_skewed_values(means, key_names(kept), "levels")
        return means.drop(_SKEWED)

    def summary(self, curves: MeanSample) -> pl.DataFrame:
        """Return the mean curve of a group, its band, and the method."""
        confidence = Confidence(self.confidence_level, limits=(0.0, 1.0))
        if self.simultaneous:
            rng = np.random.default_rng(self.seed)
            band = mean_band(curves.values, confidence, self.n_resamples, rng, curves.cluster)
            method = "studentized-bootstrap"
        else:
            band, method = self._at_each_level(curves, confidence)
        low, high = self._with_margin(curves, band, confidence)
        skewed = [
            not self.simultaneous and few_for_skewness(sample.values, method, sample.cluster)
            for sample in curves.at_each_level()
        ]
        columns = series({"precision": band.mean, "conf_low": low, "conf_high": high})
        return pl.DataFrame(columns | {_SKEWED: skewed}).with_columns(
            method=pl.lit(method),
            confidence_level=pl.lit(self.confidence_level),
            simultaneous=pl.lit(self.simultaneous),
        )

    def _at_each_level(self, curves: MeanSample, confidence: Confidence) -> tuple[MeanBand, str]:
        """Return the interval of the mean at each level, and the method of the intervals."""
        method = self.method
        number, n_levels = curves.values.shape
        nothing = np.full(n_levels, np.nan)
        if not number:
            return MeanBand(nothing, nothing, nothing), method
        draws = self.n_resamples, self.seed
        intervals = [
            mean_interval(sample.values, method, confidence, *draws, cluster=sample.cluster)
            for sample in curves.at_each_level()
        ]
        ends = [[each.estimate, each.low, each.high] for each in intervals]
        return MeanBand(*np.array(ends).T), intervals[0].method

    def _with_margin(
        self, curves: MeanSample, band: MeanBand, confidence: Confidence
    ) -> tuple[Floats, Floats]:
        """Return the ends of a band, which holds the interval of each level; anchors are sure."""
        low, high = band.low, band.high
        if curves.n_units < _LEAST_UNITS:
            return low, high
        if self.simultaneous:
            single = [
                mean_interval(values, "logit", confidence, cluster=curves.cluster)
                for values in curves.values.T
            ]
            low = np.minimum(low, [each.low for each in single])
            high = np.maximum(high, [each.high for each in single])
        is_certain = np.zeros(low.size, np.bool_)
        if self.precision.anchor:
            is_certain = np.array(self.precision.levels) == 0
        return np.where(is_certain, band.mean, low), np.where(is_certain, band.mean, high)


def with_key(key: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Put the key of a group before each of its rows."""
    if not key.width:
        return rows
    keys = key[np.zeros(rows.height, dtype=np.int64)]
    return pl.concat([keys, rows], how="horizontal")


def series(columns: Mapping[str, Floats]) -> dict[str, pl.Series]:
    """Return columns of numbers, null where they are NaN."""
    return {name: pl.Series(values).fill_nan(None) for name, values in columns.items()}


def mean_of(curves: Floats) -> Floats:
    """Return the mean of curves, NaN if there are none."""
    if not len(curves):
        return np.full(curves.shape[1], np.nan)
    return np.asarray(curves.mean(axis=0))


def mean_levels(
    recall: float | Sequence[float] | None, recall_range: tuple[float, float] | None = None
) -> tuple[float, ...]:
    """Return the levels of a mean curve: those named, a number of them, or 101 over a range."""
    if recall is None:
        low, high = (0.0, 1.0) if recall_range is None else range_ends(recall_range, closed=True)
        return tuple((low + (high - low) * even_levels(_LEVELS)).tolist())
    if recall_range is not None:
        raise ArgumentError(LEVELS_TWICE)
    return levels_of(recall)


def mean_band_levels(
    recall: float | Sequence[float] | None, recall_range: tuple[float, float] | None = None
) -> tuple[float, ...]:
    """Return the levels of a band about a mean curve; unless named those between .1 and .9."""
    levels = mean_levels(recall, recall_range)
    return levels if recall is not None or recall_range is not None else levels[10:91]


def levels_of(recall: float | Sequence[float]) -> tuple[float, ...]:
    """Return the recall levels that a caller names, one or several, or their number."""
    if (spaced := spaced_levels(recall)) is not None:
        return tuple(spaced.tolist())
    levels = (
        list(recall) if isinstance(recall, Iterable) and not isinstance(recall, str) else [recall]
    )
    if not levels:
        raise ArgumentError("`recall` must name at least one level; got none.")
    return tuple(checks.fraction("recall", level) for level in levels)


def begins_at_one(*, anchor: bool | None, unless: bool) -> bool:
    """Return whether a curve opens with precision 1: as the caller says, else not `unless`."""
    if anchor is not None:
        checks.flag("anchor", anchor)
    return not unless if anchor is None else anchor


def refuse_curve_options(*, interpolate: object, anchor: object) -> None:
    """Refuse options of mean curves where there are none."""
    checks.flag("interpolate", interpolate)
    for name, value in (("interpolate", interpolate or None), ("anchor", anchor)):
        if value is not None:
            raise ArgumentError(
                f"`{name}` is for mean curves; name the groups that have them with over=, or "
                "leave it out."
            )
