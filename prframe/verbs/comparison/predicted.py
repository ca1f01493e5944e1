"""Comparisons of models over queries that few humans and a machine have judged."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from scipy.special import stdtr

from prframe._engine.arguments import Arguments
from prframe._engine.frames import Source
from prframe._engine.rows import key_names
from prframe.stats._p_values import from_symmetric
from prframe.stats.paired_values import rounded_differences
from prframe.stats.predictions import PredictedMean, predicted_mean
from prframe.typing import Columns, Flags, Floats, Integers
from prframe.verbs._plan import Accepts
from prframe.verbs._predictions import (
    COUNTS,
    JUDGED,
    MACHINE,
    at_hand_of_both,
    judged_by_both,
    refuse_halves,
    refuse_one_judge,
    refuse_options,
    values_of_both,
)
from prframe.verbs._values_at_hand import METRIC, VALUE, MetricValues, ValuesAtHand
from prframe.verbs._verb import warn_null
from prframe.verbs.comparison.options import model_pairs
from prframe.verbs.comparison.over_queries import EffectSize, OverQueries
from prframe.verbs.comparison.query_values import ComparedValues, ValuesPlan
from prframe.verbs.comparison.rows import Block, Comparison, comparison_rows, no_rows


def check_predicted(
    asked: Comparison, options: Mapping[str, object], over: object, effect_size: str | None
) -> None:
    """Refuse options that are not for Student's t over queries."""
    if not asked.predicted:
        return
    given = {name: value is not None for name, value in options.items()}
    given |= {
        "over=None": over is None,
        f"test={asked.test!r}": asked.test != "t",
        f"interval={asked.interval!r}": asked.interval not in {"auto", "t"},
        "effect_size='cliff'": effect_size == "cliff",
    }
    refuse_options(given, "Student's t over queries")


@dataclass(frozen=True, eq=False)
class PredictedValues(ComparedValues):
    """The values of models and queries by two judges."""

    def values(self, source: Source) -> MetricValues:
        """Return the machine's value of each group, model, query and metric, and the human one."""

        def of(rows: Source, args: Arguments) -> MetricValues:
            return ComparedValues.values(replace(self, args=args), rows)

        query = [*self.args.keys, *self.over]
        if not isinstance(self.measure, ValuesAtHand):
            return values_of_both(source, self.args, query, of)
        plain = replace(self.args, predicted=None)
        found = at_hand_of_both(
            source,
            replace(self.args, by=query),
            self.measure,
            lambda rows, at: ComparedValues.values(replace(self, args=plain, measure=at), rows),
        )
        by = [*key_names(self.args), *self.over_names]
        known = found.rows.group_by([*by, METRIC], maintain_order=True).agg(
            half=pl.col(JUDGED).any() & ~pl.col(JUDGED).all()
        )
        refuse_halves(known.filter("half").select(by).unique(maintain_order=True), "values")
        return found


@dataclass(frozen=True)
class PredictedPairs(ValuesPlan):
    """The plan of a comparison over queries by two judges."""

    asked: Comparison

    def accepts(self) -> Accepts:
        """Return that every argument is accepted that the metrics take."""
        return Accepts("compare")

    def of_values(self, values: MetricValues) -> pl.DataFrame:
        """Return a row per group, metric and pair."""
        refuse_one_judge(values.rows, self.compared.args)
        names = (VALUE, MACHINE, JUDGED)
        (models, human), (_, machine), (_, judged) = (
            self.compared.strata(replace(values, rows=_with_values(values.rows, name)))
            for name in names
        )
        if not human:
            return no_rows(self.asked, key_names(self.compared.args))
        pairs = model_pairs(models.to_list(), self.asked.baseline)
        groups = []
        for ys, gs, known in zip(human, machine, judged, strict=True):
            blocks: dict[str, Block] = {}
            for metric, g in gs.values.items():
                y = np.where((known.values[metric] == 1).any(axis=0), ys.values[metric], np.nan)
                rows = [
                    self._pair(y[[i, j]], g[[i, j]], ys.ranges[metric], ys.cluster)
                    for i, j in pairs
                ]
                blocks[metric] = {name: [row[name] for row in rows] for name in rows[0]}
            groups.append((ys.key, blocks))
        found = comparison_rows(self.asked, models, pairs, groups)
        lacking = found.group_by(key_names(self.compared.args) or pl.lit(0), maintain_order=True)
        narrow = lacking.agg(lacking=pl.col("p_value").is_null().any())
        why = (
            "in which two models have too few human values in common, or differ by the same in all"
        )
        warn_null(["conf_low", "conf_high", "p_value"], narrow, self.compared.args, why)
        return found

    def _pair(
        self, y: Floats, g: Floats, limits: tuple[float, float], cluster: Integers | None
    ) -> dict[str, Any]:
        """Return the columns of a pair of models with values of two judges."""
        d, by_machine = rounded_differences(*y), rounded_differences(*g)
        found = predicted_mean(d, by_machine, "t", self.asked.confidence(limits), cluster=cluster)
        n, known = found.n, ~np.isnan(d)
        is_zero = bool(n) and not d[known].any()
        t = 0.0 if is_zero else found.estimate / found.std_error
        p = from_symmetric(lambda x: stdtr(found.df, x), t, self.asked.alternative)
        rest = ~known & ~np.isnan(by_machine)
        means = [_mean(*values, found, known, rest) for values in zip(y, g, strict=True)]
        spread = d[known].std(ddof=1) if n > 1 else np.nan
        wins, losses = int((d[known] > 0).sum()), int((d[known] < 0).sum())
        return {
            **{name: getattr(found, name) for name in COUNTS},
            "wins": wins,
            "ties": n - wins - losses,
            "losses": losses,
            "difference": found.estimate,
            "conf_low": 0.0 if is_zero else found.low,
            "conf_high": 0.0 if is_zero else found.high,
            "mean_a": means[0],
            "mean_b": means[1],
            "statistic": t,
            "p_value": 1.0 if is_zero else p,
            "effect_size": found.estimate / spread if spread else np.nan,
            "method": None if np.isnan(p) else "t-predicted",
        }


def _with_values(rows: pl.DataFrame, name: str) -> pl.DataFrame:
    """Return rows whose values are those of a column."""
    return rows.with_columns(pl.col(name).cast(pl.Float64).alias(VALUE))


def _mean(y: Floats, g: Floats, of: PredictedMean, known: Flags, rest: Flags) -> float:
    """Return the mean of a model, by the weight that the difference has."""
    human = float(y[known].mean()) if known.any() else np.nan
    return human + of.weight * float(g[rest].mean() - g[known].mean()) if of.weight else human


def over_queries(
    compared: ComparedValues, asked: Comparison, effect_size: EffectSize, predicted: Columns | None
) -> OverQueries | PredictedPairs:
    """Return the plan of a comparison over queries, by one judge or two."""
    if predicted is None:
        return OverQueries(compared.arguments, compared, asked, effect_size)
    args = judged_by_both(compared.args, predicted, asked.wanted)
    both = PredictedValues(**{**vars(compared), "args": args})
    return PredictedPairs(both.arguments, both, asked)
