"""The mean of curves at levels of recall over groups, such as queries, and bands about it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

import numpy as np
import polars as pl

from prframe import checks
from prframe._engine.arguments import Arguments
from prframe._engine.frames import Source
from prframe._engine.rows import key_names
from prframe.errors import ArgumentError
from prframe.metrics.thresholds import Prec
from prframe.stats.curves import LEVELS_TWICE, even_levels, range_ends, spaced_levels
from prframe.stats.intervals import Confidence, MeanBand, mean_band, mean_interval
from prframe.typing import Floats, Schema
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
from prframe.verbs._plan import Accepts, TwoStepPlan
from prframe.verbs._verb import positives_of, warn_null, warn_undefined
from prframe.verbs.curves.drawing import Drawing, of_one_ranking, precision_recall

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
