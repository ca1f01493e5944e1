"""Intervals of means over groups, for example over queries."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from prframe import checks
from prframe._engine.arguments import Arguments
from prframe._engine.frames import Source
from prframe._engine.rows import key_names
from prframe.errors import ArgumentError
from prframe.stats._tolerances import RESIDUE
from prframe.stats.intervals import Confidence, IntervalEstimate, mean_interval
from prframe.stats.predictions import PredictedMean, predicted_mean
from prframe.typing import Columns
from prframe.verbs._evaluation import Evaluation
from prframe.verbs._groups import each_group
from prframe.verbs._mean_samples import (
    CLUSTER,
    KeyedByCluster,
    MeanSample,
    Resampling,
    few_for_skewness,
    ranks,
    test_train_ratio,
    warn_of_skewed_values,
)
from prframe.verbs._precomputed_values import (
    METRIC,
    VALUE,
    MetricValues,
    PrecomputedValues,
    values_of,
)
from prframe.verbs._predictions import (
    COUNTS,
    JUDGED,
    MACHINE,
    judged_by_both,
    refuse_one_judge,
    refuse_options,
    values_of_both,
    warn_of_few_judged,
)
from prframe.verbs._verb import Accepts, TwoStepPlan, warn_null, warn_undefined

RESAMPLED = ("percentile", "bca")
_CORRECTED = ("auto", "t", "logit")
_METHODS = (*_CORRECTED, "hall", *RESAMPLED)
_UNIT = (0.0, 1.0)


@dataclass(frozen=True)
class MeanIntervals(TwoStepPlan):
    """The plan of intervals for means over groups.

    By the `grouped` arguments each value has a group; the first `n_kept` keys are of the result.
    """

    grouped: Arguments
    n_kept: int
    measure: Evaluation | PrecomputedValues
    method: str
    confidence: Confidence
    n_resamples: int
    seed: int
    resampling: float | Resampling | None

    def accepts(self) -> Accepts:
        """Return the arguments under which groups are a sample."""
        measure = self.measure
        return Accepts(
            "interval", uses_grades=measure.uses_grades, counts_hits=measure.counts_hits
        )

    def check(self) -> None:
        """Refuse metrics and methods that have no interval for means."""
        check_method(self.method, _METHODS, "a mean over groups")
        if self.resampling is not None and self._clusters:
            raise ArgumentError(
                "`resampling` and `cluster` each say how groups depend on each other; give one of "
                "them."
            )
        if self.resampling is not None and self.method not in _CORRECTED:
            raise ArgumentError(
                "`resampling` corrects the variance of 't' and 'logit' for folds; "
                f"method={self.method!r} takes values as independent ones."
            )
        if isinstance(self.measure, PrecomputedValues):
            return
        if self.method == "logit":
            wanted = self.measure.wanted
            _refuse_beyond([name for name, metric in wanted.items() if metric.range != _UNIT])
        self.measure.check()

    def results(self, source: Source) -> pl.DataFrame:
        """Return a row per group of `by` and metric."""
        return self._intervals(self._values(source))

    def of_groups(self, source: Source) -> pl.DataFrame:
        """Return a row per value."""
        return self._values(source).rows

    def of_all(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return a row per group of `by` and metric."""
        wanted = self.measure.wanted if isinstance(self.measure, Evaluation) else {}
        return self._intervals(MetricValues.of_rows(rows, wanted))

    def _intervals(self, values: MetricValues) -> pl.DataFrame:
        """Return a row per group of `by` and metric."""
        kept = replace(self.grouped, by=list(self.grouped.keys[: self.n_kept]))
        keys = key_names(kept)
        if self.method == "logit":
            inside = pl.col(VALUE).is_between(-RESIDUE, 1 + RESIDUE)
            beyond = values.rows.filter(~inside)[METRIC]
            _refuse_beyond(beyond.unique(maintain_order=True).to_list())
        grouped = values.rows.group_by([*keys, METRIC], maintain_order=True)
        together = _by_group(grouped.agg(VALUE, *self._clusters, *self._over), keys)
        names = together[METRIC].to_list()
        samples = [
            _sample(*(together[column][row] for column in [VALUE, *self._clusters]))
            for row in range(together.height)
        ]
        tasks = [
            (sample, values.ranges[name], self._test_train_ratio(together[row]))
            for row, (sample, name) in enumerate(zip(samples, names, strict=True))
        ]
        intervals = each_group(lambda task: self._interval(*task), tasks, "interval")
        rows = interval_rows(together.select(keys), names, intervals, self.confidence.level)
        if self.resampling is None:
            skewed = [
                few_for_skewness(sample.values, interval.method, sample.cluster)
                for sample, interval in zip(samples, intervals, strict=True)
            ]
            means = together.select(*keys, METRIC, skewed=pl.Series(skewed, dtype=pl.Boolean))
            warn_of_skewed_values(means, keys, "means", METRIC)
        # Undefined values have been warned of already, and so have means without values.
        return _warned_of_narrow(rows, kept)

    def _values(self, source: Source) -> MetricValues:
        """Return the values of all groups, and their clusters."""
        if not self._clusters:
            return self._measured(source, self.grouped)
        keyed = KeyedByCluster.of(source, self.grouped, self.n_kept)
        values = self._measured(keyed.source, keyed.args)
        return replace(values, rows=keyed.marked(values.rows))

    def _measured(self, source: Source, args: Arguments) -> MetricValues:
        """Return the value of each group by the keys of the arguments."""
        return values_of(source, args, self.measure)

    @property
    def _clusters(self) -> list[str]:
        """The working name of the column of clusters, if there are any."""
        return [] if self.grouped.cluster is None else [CLUSTER]

    @property
    def _over(self) -> list[str]:
        """The working names of the columns of groups that are a sample, if these are folds."""
        return key_names(self.grouped)[self.n_kept :] if self.resampling is not None else []

    def _test_train_ratio(self, sample: pl.DataFrame) -> float:
        """Return the size of a test set divided by that of its training set."""
        folds = sample.select(self._over).explode(self._over) if self._over else pl.DataFrame()
        return test_train_ratio(self.resampling, folds, self.grouped.keys[self.n_kept :])

    def _interval(
        self, sample: MeanSample, limits: tuple[float, float], ratio: float
    ) -> IntervalEstimate:
        """Return the interval of a mean."""
        if not sample.values.size:
            nan = float("nan")
            return IntervalEstimate(nan, nan, nan, nan, self.method)
        confidence = replace(self.confidence, limits=limits)
        interval = mean_interval(
            sample.values,
            self.method,
            confidence,
            self.n_resamples,
            self.seed,
            test_train_ratio=ratio,
            cluster=sample.cluster,
        )
        return replace(interval, method=f"{interval.method}-corrected") if ratio else interval


def _sample(values: pl.Series, cluster: pl.Series | None = None) -> MeanSample:
    """Return the sample of values that may be null, and their clusters if there are any."""
    defined = values.is_not_null()
    rank = None if cluster is None else ranks(cluster.filter(defined))
    return MeanSample.of(values.filter(defined).to_numpy(), rank)


def check_method(method: str, known: Sequence[str], kind: str) -> None:
    """Require a method of the kind of interval."""
    if method not in known:
        raise ArgumentError(
            f"`method` of {kind} must be one of {checks.listed(sorted(known))}; got {method!r}."
        )


def _refuse_beyond(names: Sequence[str]) -> None:
    """Refuse metrics that have no logit."""
    if names:
        raise ArgumentError(
            f"method='logit' is for metrics within [0, 1], which {checks.listed(names)} may "
            "exceed; take 't', 'percentile' or 'bca'."
        )


def _by_group(rows: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Put the rows of a group together; groups and metrics stay in order of first appearance."""
    if not keys:
        return rows
    groups = rows.select(keys).unique(maintain_order=True).with_row_index("group")
    numbered = rows.join(groups, on=keys, how="left", nulls_equal=True, maintain_order="left")
    return numbered.sort("group", maintain_order=True)


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
            "`resampling`": means.resampling is not None,
        }
        refuse_options(options, "method='t' or 'logit', and independent queries or clusters")
        args = {"args": replace(means.args, **both), "grouped": replace(means.grouped, **both)}
        return cls(**{**vars(means), **args})

    def _measured(self, source: Source, args: Arguments) -> MetricValues:
        """Return the values of each group by the keys of the arguments, by both judges."""
        return values_of_both(source, args, args.keys, self.measure, values_of)

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
        warn_of_few_judged(min((mean.n for mean in means if mean.n), default=0))
        why = "in which humans have judged no query"
        warn_null(["estimate"], rows, kept, pl.col("n") == 0, why)
        return _warned_of_narrow(rows, kept)

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


def interval_rows(
    heads: pl.DataFrame,
    metrics: Sequence[str],
    intervals: Sequence[IntervalEstimate],
    confidence_level: float,
) -> pl.DataFrame:
    """Return a row per interval, with the keys of its group, its metric and its level."""
    methods = [None if np.isnan(interval.estimate) else interval.method for interval in intervals]
    columns = {
        "estimate": [interval.estimate for interval in intervals],
        "std_error": [interval.std_error for interval in intervals],
        "conf_low": [interval.low for interval in intervals],
        "conf_high": [interval.high for interval in intervals],
    }
    values = pl.DataFrame(
        {"metric": pl.Series(metrics, dtype=pl.String)}
        | {name: pl.Series(column, dtype=pl.Float64) for name, column in columns.items()}
        | {"method": pl.Series(methods, dtype=pl.String)}
    ).with_columns(pl.col(list(columns)).fill_nan(None), confidence_level=confidence_level)
    return pl.concat([heads, values], how="horizontal") if heads.width else values


def warned(
    rows: pl.DataFrame, names: Sequence[str], args: Arguments, lack: Sequence[str]
) -> pl.DataFrame:
    """Warn once of undefined metrics and once of groups without an interval."""
    without = pl.col("estimate").is_null()
    undefined = [name for name in names if rows.filter(without, metric=name).height]
    warn_undefined(undefined, rows, args, without, lack)
    return _warned_of_narrow(rows, args)


def _warned_of_narrow(rows: pl.DataFrame, args: Arguments) -> pl.DataFrame:
    """Warn once of groups that hold too little, or nothing that varies."""
    narrow = pl.col("conf_low").is_null() & pl.col("estimate").is_not_null()
    metrics = rows.filter(narrow)["metric"].unique(maintain_order=True)
    names = checks.listed(metrics, in_order=True)
    single = "" if args.cluster is None else ", and more than one cluster"
    if single and any("threshold=" in metric for metric in metrics):
        single += ", also at or above the threshold"
    why = f"where an interval of {names} needs more values, or values that differ{single}"
    warn_null(["conf_low", "conf_high"], rows, args, narrow, why)
    return rows
