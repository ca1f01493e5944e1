"""The comparison of models over queries, with a value per model and query."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from prframe import checks
from prframe._engine.arguments import Arguments
from prframe._engine.frames import Source
from prframe._engine.rows import in_groups, key_names
from prframe.errors import ArgumentError, SkewedDifferencesWarning, warn
from prframe.stats import PairedFamily, detectable_difference, queries_needed
from prframe.stats._p_values import from_symmetric
from prframe.stats._units import units_of
from prframe.stats.intervals import Confidence, before_correction
from prframe.stats.paired_values import (
    QUERY_TESTS,
    QueryTestOptions,
    cohen_dz_of_columns,
    hall_skewness,
    rounded_differences,
)
from prframe.stats.predictions import predicted_mean
from prframe.typing import Columns, Flags, Floats, Integers
from prframe.verbs._groups import each_group
from prframe.verbs._precomputed_values import METRIC, VALUE, MetricValues
from prframe.verbs._predictions import (
    COUNTS,
    JUDGED,
    MACHINE,
    Measure,
    judged_by_both,
    refuse_halves,
    refuse_one_judge,
    refuse_options,
    values_of_both,
    warn_of_few_judged,
)
from prframe.verbs._verb import Accepts
from prframe.verbs.comparison.query_values import ComparedValues, Stratum, ValuesPlan
from prframe.verbs.comparison.rows import (
    JOINT,
    Block,
    Column,
    Comparison,
    comparison_rows,
    model_pairs,
    no_rows,
)

# The part of a block that says which differences are few and skewed.
SKEWED = "skewed"
_LEAST_EFFECT = 1e-6
# Every pair should have a value in these columns.
_EXPECTED = ["conf_low", "conf_high", "p_value", "effect_size"]


@dataclass(frozen=True)
class OverQueries(ValuesPlan):
    """The plan of a comparison over queries."""

    asked: Comparison

    def accepts(self) -> Accepts:
        """Return that every argument is accepted that the metrics take."""
        measure = self.compared.measure
        return Accepts("compare", uses_grades=measure.uses_grades, counts_hits=measure.counts_hits)

    def of_values(self, values: MetricValues) -> pl.DataFrame:
        """Return a row per group, metric and pair."""
        models, strata = self.compared.strata(values)
        if not strata:
            return no_rows(self.asked, key_names(self.compared.args))
        pairs = model_pairs(models.to_list(), self.asked.baseline)
        groups = [(stratum.key, self._blocks(stratum, pairs)) for stratum in strata]
        rows = comparison_rows(self.asked, models, pairs, groups)
        self.warn_lacking(rows, _EXPECTED, "values")
        skewed = [block[SKEWED] for _, blocks in groups for block in blocks.values()]
        self._warn_of_skewness(rows.filter(np.concatenate(skewed)), rows.height)
        return rows

    def _warn_of_skewness(self, skewed: pl.DataFrame, n_rows: int) -> None:
        """Warn once of the rows whose differences are few and skewed."""
        asked = self.asked
        may_err = {
            f"test={asked.test!r}": QUERY_TESTS[asked.test].symmetric,
            "the interval": not asked.takes_halls_interval,
            "`p_equivalence`": asked.equivalence is not None,
        }
        erring = [name for name, errs in may_err.items() if errs]
        if skewed.is_empty() or not erring:
            return
        keys = key_names(self.compared.args)
        where = in_groups(skewed.select(keys).unique(maintain_order=True).rows()) if keys else ""
        pairs = skewed.select("metric", "model_a", "model_b").unique(maintain_order=True).rows()
        shown = ", ".join(f"{name} of {a} and {b}" for name, a, b in pairs[: checks.SHOWN])
        more = f" and {len(pairs) - checks.SHOWN} more" if len(pairs) > checks.SHOWN else ""
        joint = " with correction='holm'" if asked.correction == JOINT else ""
        remedy = f"Take test='hall'{joint} and its interval, which allow for skewness"
        if self.compared.resampling is not None:
            remedy = "No test that allows for skewness supports `resampling`"
        warn(
            f"the differences of {skewed.height} of {n_rows} comparisons are few and skewed "
            f"({shown}{more}){where}: {' and '.join(erring)} may err too often. {remedy}; "
            "where it does not matter, ignore SkewedDifferencesWarning.",
            SkewedDifferencesWarning,
        )

    def _blocks(self, stratum: Stratum, pairs: Sequence[tuple[int, int]]) -> dict[str, Block]:
        """Return the columns of all metrics of a group."""
        tables = {
            name: PairTable(values, pairs, stratum.cluster, stratum.test_train_ratio)
            for name, values in stratum.values.items()
        }
        joint = self._joint(tables)
        return {
            name: self._block(table, stratum.ranges[name]) | joint.get(name, {})
            for name, table in tables.items()
        }

    def _block(self, table: "PairTable", metric_range: tuple[float, float]) -> dict[str, Column]:
        """Return the columns of one metric."""
        asked, family = self.asked, table.family
        options = QueryTestOptions(
            asked.alternative,
            n_resamples=asked.n_resamples,
            rng=asked.rng(),
            each=partial(each_group, description="compare"),
        )
        tests = QUERY_TESTS[asked.test].of_pairs(family, options)
        corrected = "-corrected" if family.test_train_ratio else ""
        methods = [
            None if np.isnan(test.p_value) else f"{test.method}{corrected}" for test in tests
        ]
        skewness = hall_skewness(family) if asked.takes_halls_interval else None
        ends = student_intervals(family, asked.confidence(metric_range), skewness)
        # Differences that are all the same, and not 0, do not show how much they vary.
        ends[family.constant & (family.means != 0)] = np.nan
        columns = table.counts() | {
            "statistic": [test.statistic for test in tests],
            "p_value": [test.p_value for test in tests],
            "p_std_error": [test.std_error for test in tests],
            "method": methods,
            "conf_low": ends[:, 0],
            "conf_high": ends[:, 1],
            "effect_size": table.effects,
            SKEWED: family.few_for_skewness,
        }
        if asked.equivalence is not None:
            columns["p_equivalence"] = family.equivalence(asked.equivalence)[1]
        return columns | self._design(table)

    def _joint(self, tables: "dict[str, PairTable]") -> dict[str, dict[str, Column]]:
        """Return p-values adjusted by the maxima over all pairs and metrics, and their errors."""
        asked = self.asked
        if asked.correction != JOINT:
            return {}
        families = [table.family for table in tables.values()]
        family = PairedFamily(
            np.hstack([item.sums for item in families]),
            np.hstack([item.sizes for item in families]),
        )
        tests = family.max_t(asked.n_resamples, asked.rng(), asked.alternative)
        parts = (np.split(item, len(tables)) for item in tests[:2])
        return {
            name: {"p_adjusted": p_values, "p_adjusted_std_error": std_errors}
            for name, p_values, std_errors in zip(tables, *parts, strict=True)
        }

    def _design(self, table: "PairTable") -> dict[str, Column]:
        """Return the detectable difference, and how many queries the observed one needs."""
        asked = self.asked
        if asked.power is None:
            return {}
        options: dict[str, Any] = {
            "power": asked.power,
            "alpha": 1 - asked.confidence_level,
            "alternative": asked.alternative,
        }
        std = table.family.std_errors * np.sqrt(table.n)
        effect = np.where(std > 0, table.effects, np.nan)
        varies = ~np.isnan(effect)
        detectable = np.full(effect.size, np.nan)
        detectable[varies] = detectable_difference(table.n[varies], std[varies], **options)
        size = {"two-sided": np.abs(effect), "greater": effect, "less": -effect}
        # Differences due to rounding alone would need absurd numbers of queries.
        enough = np.flatnonzero(size[asked.alternative] > _LEAST_EFFECT)
        needed: list[int | None] = [None] * effect.size
        numbers = queries_needed(effect[enough], 1.0, **options)
        for pair, number in zip(enough, numbers.tolist(), strict=True):
            needed[pair] = number
        return {"detectable_difference": detectable, "n_needed": needed}


def student_intervals(
    family: PairedFamily, confidence: Confidence, skewness: Floats | None = None
) -> Floats:
    """Return Student's interval of the mean difference of each pair; with `skewness` Hall's."""
    n_units = (family.sizes > 0).sum(axis=0)
    quantile = stdtrit(np.maximum(n_units - 1, 1), confidence.tail)
    t = np.stack([quantile, -quantile])
    if skewness is not None:
        t = -before_correction(-t, skewness)
    ends = np.clip(family.means + t * family.std_errors, *confidence.limits)
    # Where the alternative leaves an end unbounded, it is that of the range.
    if confidence.alternative != "two-sided":
        side = 0 if confidence.alternative == "less" else 1
        ends[side] = confidence.limits[side]
    ends[:, np.isnan(family.std_errors)] = np.nan
    return np.asarray(ends.T)


class PairTable:
    """The values of all models for one metric of one group, pair by pair."""

    def __init__(
        self,
        values: Floats,
        pairs: Sequence[tuple[int, int]],
        cluster: NDArray[np.int64] | None,
        test_train_ratio: float,
    ) -> None:
        first, second = np.array(pairs, dtype=np.int64).T
        a, b = values[first].T, values[second].T
        self.defined = ~(np.isnan(a) | np.isnan(b))
        self._a, self._b = a, b
        self._cluster, self._test_train_ratio = cluster, test_train_ratio
        self.differences = np.where(self.defined, rounded_differences(a, b), 0.0)
        self.n = self.defined.sum(axis=0)

    @cached_property
    def family(self) -> PairedFamily:
        """The differences of all pairs by query, or their sums over clusters of queries."""
        units = units_of(self._cluster, len(self.defined))
        sums, sizes = map(units.sums_of_rows, (self.differences, self.defined.astype(np.float64)))
        return PairedFamily(sums, sizes, self._test_train_ratio)

    @cached_property
    def effects(self) -> Floats:
        """Cohen's d_z of each pair."""
        return cohen_dz_of_columns(self.differences, self.defined)

    def counts(self) -> dict[str, Column]:
        """Return means, wins, ties and losses over the queries with values of both models."""
        with np.errstate(invalid="ignore"):
            means = [
                np.where(self.defined, x, 0.0).sum(axis=0) / self.n for x in (self._a, self._b)
            ]
        difference = self.differences
        return {
            "mean_a": means[0],
            "mean_b": means[1],
            "difference": self.family.means,
            "wins": (difference > 0).sum(axis=0),
            "ties": ((difference == 0) & self.defined).sum(axis=0),
            "losses": (difference < 0).sum(axis=0),
            "n": self.n,
        }


def check_predicted(asked: Comparison, options: Mapping[str, object], over: object) -> None:
    """Refuse options that are not for Student's t over queries."""
    if not asked.predicted:
        return
    if over is None:
        raise ArgumentError("`predicted` is for means over queries; name these with over=.")
    given = {f"`{name}`": value is not None for name, value in options.items()}
    given |= {
        f"test={asked.test!r}": asked.test != "t",
        f"interval={asked.interval!r}": asked.interval not in {"auto", "t"},
    }
    refuse_options(given, "Student's t over queries")


def over_queries(
    compared: ComparedValues, asked: Comparison, predicted: Columns | None
) -> OverQueries:
    """Return the plan of a comparison over queries, by one judge or two."""
    if predicted is None:
        return OverQueries(compared.arguments, compared, asked)
    args = judged_by_both(compared.arguments, predicted, asked.wanted)
    both = _ValuesOfBoth(**{**vars(compared), "args": replace(compared.args, **args)})
    return _PredictedPairs(both.arguments, both, asked)


@dataclass(frozen=True, eq=False)
class _ValuesOfBoth(ComparedValues):
    """The values of models and queries by two judges."""

    def values(self, source: Source) -> MetricValues:
        """Return the machine's value of each group, model, query and metric, and the human one."""

        def by_one(rows: Source, args: Arguments, measure: Measure) -> MetricValues:
            return ComparedValues.values(replace(self, args=args, measure=measure), rows)

        query = [*self.args.keys, *self.over]
        return values_of_both(source, self.args, query, self.measure, by_one)

    def strata(self, values: MetricValues) -> tuple[pl.Series, list[Stratum]]:
        """Return the models, and a stratum per group with the values of both judges."""
        rows, query = values.rows, [*key_names(self.args), *self.over_names]
        refuse_one_judge(rows, self.args)
        judged = pl.col(JUDGED)
        halves = rows.group_by([*query, METRIC], maintain_order=True).agg(
            judged.any() & ~judged.all()
        )
        refuse_halves(halves.filter(JUDGED).select(query).unique(maintain_order=True), "values")
        (models, human), (_, machine), (_, known) = (
            super(_ValuesOfBoth, self).strata(
                replace(values, rows=rows.with_columns(pl.col(name).cast(pl.Float64).alias(VALUE)))
            )
            for name in (VALUE, MACHINE, JUDGED)
        )
        strata = []
        for ys, gs, ks in zip(human, machine, known, strict=True):
            seen = {name: (table == 1).any(axis=0) for name, table in ks.values.items()}
            # What stands for a missing ranking is no human value where no human has judged.
            kept = {name: np.where(seen[name], table, np.nan) for name, table in ys.values.items()}
            both = {name: (table, seen[name]) for name, table in gs.values.items()}
            warn_of_few_judged(min(int(known.sum()) for known in seen.values()))
            strata.append(replace(ys, values=kept, machine=both))
        return models, strata


@dataclass(frozen=True)
class _PredictedPairs(OverQueries):
    """The plan of a comparison over queries by two judges."""

    def _blocks(self, stratum: Stratum, pairs: Sequence[tuple[int, int]]) -> dict[str, Block]:
        """Return the columns of all metrics of a group."""
        blocks: dict[str, Block] = {}
        for name, block in super()._blocks(stratum, pairs).items():
            columns = {key: list(values) for key, values in block.items()}
            columns |= {key: [None] * len(pairs) for key in COUNTS if key != "n"}
            columns[SKEWED] = [False] * len(pairs)
            y, (g, seen) = stratum.values[name], (stratum.machine or {})[name]
            for row, pair in enumerate(map(list, pairs)):
                confidence = self.asked.confidence(stratum.ranges[name])
                found = self._pair(y[pair], g[pair], seen, confidence, stratum.cluster)
                for key, value in found.items():
                    columns[key][row] = value
            blocks[name] = columns
        return blocks

    def _pair(
        self, y: Floats, g: Floats, seen: Flags, confidence: Confidence, cluster: Integers | None
    ) -> dict[str, object]:
        """Return what the machine's values change, or add to the columns of a pair."""
        d, by_machine = rounded_differences(*y), rounded_differences(*g)
        found = predicted_mean(d, by_machine, "t", confidence, cluster=cluster, judged=seen)
        counts: dict[str, object] = {name: getattr(found, name) for name in COUNTS}
        if not found.weight:
            return counts
        known, defined = ~np.isnan(d), ~np.isnan(by_machine)
        # Both means have the weight of the difference, which is then theirs.
        rise = g[:, defined & ~seen].mean(axis=1) - g[:, defined & seen].mean(axis=1)
        means = y[:, known].mean(axis=1) + found.weight * rise
        t = found.estimate / found.std_error
        return counts | {
            "difference": found.estimate,
            "mean_a": means[0],
            "mean_b": means[1],
            "conf_low": found.low,
            "conf_high": found.high,
            "statistic": t,
            "p_value": from_symmetric(lambda x: stdtr(found.df, x), t, self.asked.alternative),
            "method": "t-predicted",
        }
