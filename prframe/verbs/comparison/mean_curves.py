"""The comparison of the mean curves of models over the same queries."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from prframe._engine.rows import in_groups, key_names
from prframe.errors import SkewedDifferencesWarning, warn
from prframe.stats import PairedFamily
from prframe.stats._units import units_of
from prframe.stats.curves import BandPlan
from prframe.stats.intervals import Confidence, mean_band
from prframe.stats.paired_values import QUERY_TESTS, QueryTestOptions, rounded_differences
from prframe.typing import Floats, Integers, Schema
from prframe.verbs._groups import each_group
from prframe.verbs._plan import Accepts
from prframe.verbs._precomputed_values import MetricValues
from prframe.verbs.comparison.over_queries import SKEWED, student_intervals
from prframe.verbs.comparison.query_values import Stratum, ValuesPlan
from prframe.verbs.comparison.rows import model_pairs
from prframe.verbs.curves.drawing import of_one_ranking
from prframe.verbs.curves.mean_curves import mean_of, series, with_key

_ENDS = ["conf_low", "conf_high", "p_value"]
_NUMBERS = ("recall", "precision_a", "precision_b", "difference", *_ENDS)
DIFFERENCES: Schema = {
    **dict.fromkeys(_NUMBERS, pl.Float64()),
    "method": pl.String(),
    "p_std_error": pl.Float64(),
}
MEAN_DIFFERENCES: Schema = {**DIFFERENCES, "n": pl.Int64()}
_NUMBERS_OF_BAND = (*_ENDS, "p_std_error")


def pair_rows(
    key: pl.DataFrame, models: pl.Series, pair: tuple[int, int], numbers: Mapping[str, Floats]
) -> pl.DataFrame:
    """Return the rows of a pair of models in a group, with columns of numbers at each level."""
    sides = zip(("model_a", "model_b"), pair, strict=True)
    names = {side: models[np.full(numbers["recall"].size, model)] for side, model in sides}
    return with_key(key, pl.DataFrame(names | series(numbers)))


@dataclass(frozen=True)
class MeanDifferences(ValuesPlan):
    """The plan of the comparison of mean curves."""

    baseline: object
    band: BandPlan
    seed: int

    def accepts(self) -> Accepts:
        """Return the arguments under which each group has one ranking."""
        return of_one_ranking("compare_curves")

    def of_values(self, values: MetricValues) -> pl.DataFrame:
        """Return a row per group, pair of models and level, and warn of pairs without a band."""
        models, strata = self.compared.strata(values)
        pairs = model_pairs(models.to_list(), self.baseline)
        tasks = [(stratum, models, pair) for stratum in strata for pair in pairs]
        parts = each_group(lambda task: self._rows(*task), tasks, "compare_curves")
        kept = self.compared.args
        if not parts:
            return pl.DataFrame(schema=[*key_names(kept), "model_a", "model_b", *MEAN_DIFFERENCES])
        rows = pl.concat(parts)
        self.warn_lacking(rows, _ENDS, "curves")
        self._warn_of_skewness(rows)
        return rows.drop(SKEWED)

    def _warn_of_skewness(self, rows: pl.DataFrame) -> None:
        """Warn once of levels at which models differ by few, skewed values."""
        keys = key_names(self.compared.args)
        skewed = rows.filter(SKEWED)
        if skewed.is_empty():
            return
        where = in_groups(skewed.select(keys).unique(maintain_order=True).rows())
        warn(
            f"the differences at {skewed.height} of {rows.height} levels are few and skewed"
            f"{where if keys else ''}: tests may reject too often where mean precisions are "
            "equal, and intervals miss. Compare 'Prec@r' at these levels with test='hall', which "
            "allows for skewness; where it does not matter, ignore SkewedDifferencesWarning.",
            SkewedDifferencesWarning,
        )

    def _rows(self, stratum: Stratum, models: pl.Series, pair: tuple[int, int]) -> pl.DataFrame:
        """Return the rows of a pair of models in a group."""
        first, second = (
            np.stack([values[model] for values in stratum.values.values()], axis=1)
            for model in pair
        )
        paired = ~np.isnan(first - second).any(axis=1)
        first, second = first[paired], second[paired]
        differences = rounded_differences(first, second)
        cluster = None if stratum.cluster is None else stratum.cluster[paired]
        units = units_of(cluster, len(differences))
        # The differences at each level are those of a pair, all over the same units.
        sizes = units.sums_of_rows(np.ones_like(differences))
        family = PairedFamily(units.sums_of_rows(differences), sizes)
        numbers = {
            "recall": self.band.recall,
            "precision_a": mean_of(first),
            "precision_b": mean_of(second),
            "difference": mean_of(differences),
        }
        if self.band.simultaneous:
            ends, method = self._simultaneous(differences, cluster, family)
            skewed = np.zeros(self.band.recall.size, np.bool_)
        else:
            ends, method = self._pointwise(family)
            skewed = family.few_for_skewness
        return pair_rows(stratum.key, models, pair, numbers | ends).with_columns(
            pl.Series("method", method, dtype=pl.String),
            pl.Series(SKEWED, skewed),
            n=pl.lit(len(first), dtype=pl.Int64),
        )

    def _simultaneous(
        self, differences: Floats, cluster: Integers | None, family: PairedFamily
    ) -> tuple[dict[str, Floats], list[str]]:
        """Return the band of all levels at once, its p-value by the largest t, and the method.

        The band holds the interval of each level, as drawn means of two or three queries are too
        close to each other.
        """
        draws, n_levels = self.band.n_resamples, self.band.recall.size
        rng = np.random.default_rng(self.seed)
        band = mean_band(differences, self._confidence, draws, rng, cluster)
        low, high = student_intervals(family, self._confidence).T
        tests = family.max_t(draws, np.random.default_rng(self.seed), "two-sided")
        least = int(tests.p_values.argmin())
        ends = np.fmin(band.low, low), np.fmax(band.high, high)
        p_values = (np.full(n_levels, of_all[least]) for of_all in tests[:2])
        columns = dict(zip(_NUMBERS_OF_BAND, (*ends, *p_values), strict=True))
        return columns, [f"max-t-{tests.method}"] * n_levels

    def _pointwise(self, family: PairedFamily) -> tuple[dict[str, Floats], list[str]]:
        """Return the interval and the p-value of each level, and the methods."""
        ends = student_intervals(family, self._confidence).T
        options = QueryTestOptions(
            "two-sided", self.band.n_resamples, np.random.default_rng(self.seed)
        )
        tests = QUERY_TESTS["randomization"].of_pairs(family, options)
        p_values = np.array([(test.p_value, test.std_error) for test in tests]).T
        columns = dict(zip(_NUMBERS_OF_BAND, (*ends, *p_values), strict=True))
        return columns, [test.method for test in tests]

    @property
    def _confidence(self) -> Confidence:
        """The coverage of a band, and the range of differences."""
        return Confidence(self.band.confidence_level, limits=(-1.0, 1.0))
