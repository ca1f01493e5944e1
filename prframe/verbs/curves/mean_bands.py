"""Bands about mean curves: at all levels of recall at once, or at each."""

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

import numpy as np
import polars as pl

from prframe import checks
from prframe._engine.rows import key_names
from prframe.errors import ArgumentError
from prframe.stats.intervals import Confidence, MeanBand, mean_band, mean_interval
from prframe.typing import Floats, Schema
from prframe.verbs._mean_samples import MeanSample, few_for_skewness, warn_of_skewed_values
from prframe.verbs._verb import warn_null
from prframe.verbs.curves.mean_curves import MEAN_COLUMNS, MeanCurves, series

Method: TypeAlias = Literal["auto", "t", "logit", "hall", "percentile", "bca"]
BAND_ENDS: Schema = {
    "conf_low": pl.Float64(),
    "conf_high": pl.Float64(),
    "method": pl.String(),
    "confidence_level": pl.Float64(),
    "simultaneous": pl.Boolean(),
}
_SKEWED = "skewed"
_LEAST_UNITS = 2


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
        """Return the columns of the result; the number of curves stands last."""
        first = {name: MEAN_COLUMNS[name] for name in ("recall", "precision")}
        return {**first, **BAND_ENDS, "n": MEAN_COLUMNS["n"]}

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

    def summary(self, curves: MeanSample) -> dict[str, pl.Series]:
        """Return the mean curve of a group, its band, and the method."""
        confidence = Confidence(self.confidence_level, limits=(0.0, 1.0))
        if self.simultaneous:
            rng = np.random.default_rng(self.seed)
            band = mean_band(curves.values, confidence, self.n_resamples, rng, curves.cluster)
            method = "studentized-bootstrap"
        else:
            band, method = self._at_each_level(curves, confidence)
        low, high = self._with_margin(curves, band, confidence)
        numbers = series({"precision": band.mean, "conf_low": low, "conf_high": high})
        facts = {
            "method": method,
            "confidence_level": self.confidence_level,
            "simultaneous": self.simultaneous,
        }
        constant = {
            name: pl.Series([fact]).new_from_index(0, band.mean.size)
            for name, fact in facts.items()
        }
        skewed = [
            not self.simultaneous and few_for_skewness(sample.values, method, sample.cluster)
            for sample in curves.at_each_level()
        ]
        return numbers | constant | {_SKEWED: pl.Series(skewed, dtype=pl.Boolean)}

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
        """Return the ends of a band, which holds the interval of each level.

        Where nearly all curves are equal, so are drawn ones. An anchor is certain.
        """
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
