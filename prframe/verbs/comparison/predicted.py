"""Comparisons of models over queries of which humans have judged some, and a machine all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from scipy.special import stdtr

from prframe._engine.arguments import Arguments
from prframe._engine.frames import Source
from prframe._engine.rows import key_names
from prframe.errors import ArgumentError
from prframe.stats._p_values import from_symmetric
from prframe.stats.intervals import Confidence
from prframe.stats.paired_values import rounded_differences
from prframe.stats.predictions import predicted_mean
from prframe.typing import Columns, Flags, Floats, Integers
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
from prframe.verbs.comparison.over_queries import SKEWED, OverQueries
from prframe.verbs.comparison.query_values import ComparedValues, Stratum
from prframe.verbs.comparison.rows import Block, Comparison


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
