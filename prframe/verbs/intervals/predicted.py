"""Intervals of means over queries that few humans and a machine have judged."""

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from prframe._engine.arguments import Arguments
from prframe._engine.frames import Source
from prframe._engine.rows import key_names
from prframe.stats.predictions import PredictedMean, predicted_mean
from prframe.typing import Columns
from prframe.verbs._evaluation import Evaluation
from prframe.verbs._precomputed_values import METRIC, VALUE, MetricValues
from prframe.verbs._predictions import (
    COUNTS,
    JUDGED,
    MACHINE,
    Measure,
    judged_by_both,
    refuse_one_judge,
    refuse_options,
    values_of_both,
)
from prframe.verbs._verb import warn_null
from prframe.verbs.intervals.means import MeanIntervals
from prframe.verbs.intervals.rows import interval_rows, warned_of_narrow


@dataclass(frozen=True)
class PredictedMeans(MeanIntervals):
    """The plan of prediction-powered intervals."""

    @classmethod
    def of(cls, means: MeanIntervals, predicted: Columns) -> "PredictedMeans":
        """Return the plan that takes the machine's judgments too."""
        wanted = means.measure.wanted if isinstance(means.measure, Evaluation) else {}
        both = judged_by_both(means.args, predicted, wanted)
        options = {
            f"method={means.method!r}": means.method not in {"auto", "t", "logit"},
            "resampling": means.resampling is not None,
        }
        refuse_options(options, "method='t' or 'logit', and independent queries or clusters")
        args = {"args": replace(means.args, **both), "grouped": replace(means.grouped, **both)}
        return cls(**{**vars(means), **args})

    def _measured(self, source: Source, args: Arguments) -> MetricValues:
        """Return the values of each group by the keys of the arguments, by both judges."""

        def by_one(rows: Source, args: Arguments, measure: Measure) -> MetricValues:
            if isinstance(measure, Evaluation):
                return MetricValues.of(replace(measure, args=args).values(rows), measure.wanted)
            return measure.read(rows, args)

        return values_of_both(source, args, args.keys, self.measure, by_one)

    def _intervals(self, values: MetricValues) -> pl.DataFrame:
        """Return a row per group of `by` and metric."""
        refuse_one_judge(values.rows, self.args)
        kept = replace(self.grouped, by=list(self.grouped.keys[: self.n_kept]))
        keys = key_names(kept)
        grouped = values.rows.group_by([*keys, METRIC], maintain_order=True)
        together = grouped.agg(VALUE, MACHINE, JUDGED, *self._clusters)
        means = [self._mean(row, values) for row in together.iter_rows(named=True)]
        names = together[METRIC].to_list()
        rows = interval_rows(together.select(keys), names, means, self.confidence.level)
        columns = {name: [getattr(mean, name) for mean in means] for name in COUNTS}
        counts = pl.DataFrame(columns, schema=dict(COUNTS))
        rows = rows.hstack(counts.with_columns(pl.col(pl.Float64).fill_nan(None)))
        lacking = rows.group_by(keys or pl.lit(0), maintain_order=True)
        none = lacking.agg(lacking=(pl.col("n") == 0).any())
        warn_null(["estimate"], none, kept, "in which humans have judged no query")
        return warned_of_narrow(rows, keys, kept)

    def _mean(self, row: dict[str, list[float | None]], values: MetricValues) -> PredictedMean:
        """Return the interval of one mean."""
        human, machine = (pl.Series(row[name], dtype=pl.Float64) for name in (VALUE, MACHINE))
        confidence = replace(self.confidence, limits=values.ranges[str(row[METRIC])])
        cluster = [str(name) for column in self._clusters for name in row[column]] or None
        found = predicted_mean(
            human.fill_null(float("nan")).to_numpy(),
            machine.fill_null(float("nan")).to_numpy(),
            self.method,
            confidence,
            cluster=cluster,
            judged=np.array(row[JUDGED], dtype=np.bool_),
        )
        return replace(found, method=f"{found.method}-predicted") if found.weight else found
