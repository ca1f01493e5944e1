"""The metrics of each group, which are checked together and computed from one ranking."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from prframe import checks, stats
from prframe._engine.arguments import Arguments
from prframe._engine.frames import Source
from prframe._engine.hits import Hits
from prframe._engine.measure import measure, values_of_groups
from prframe._engine.pieces import Piece, Ranking, Task
from prframe._engine.ranks import hits, task_of_hits
from prframe._engine.rows import UNRETRIEVED, considered, in_groups
from prframe.errors import ArgumentError, NoCutoffWarning, PrframeError, each_once, warn
from prframe.metrics import Metric, forms_that, in_trec_eval, parse_metric
from prframe.metrics.positions import Judged
from prframe.metrics.sets import MCC, NumRet, SetR
from prframe.metrics.thresholds import AUC, AUPRG, W
from prframe.stats import rankings
from prframe.tie_policies import Ties
from prframe.typing import Floats, Integers
from prframe.verbs._verb import positives_of, takes_ties, warn_undefined

# The share of positives that are retrieved, beside the metrics that are asked for.
_RETRIEVED = "prframe: retrieved"
# The names that other libraries have for precision and recall at a threshold.
OF_ALL_ROWS = frozenset({"precision", "recall"})
# Ties are looked for in so many rows, and rankings of as many in all are ranked again.
_MOST_ROWS = 1 << 16
# A smaller difference changes none of the four decimals that trec_eval shows.
SHOWN = 5e-5
# The metrics that do not depend on which labels are positive.
_OF_ANY_LABELS = frozenset({Judged.name, NumRet.name})
# The metrics whose limit, where the share of one class goes to 0, says nothing.
_OF_BOTH_CLASSES = frozenset({AUPRG.name, MCC.name})


@dataclass(frozen=True)
class Evaluation:
    """The metrics that are evaluated, and the options for all of them."""

    args: Arguments
    wanted: dict[str, Metric]
    include_unretrieved: bool = False
    prior: float | None = None
    interpolate: bool = False
    undefined: float | None = None
    # The number of keys, the last ones, over which means are taken.
    n_over: int = 0

    def keyed(self, args: Arguments) -> Arguments:
        """Return the arguments with all columns by which values are distinguished."""
        return args

    @property
    def uses_grades(self) -> bool:
        """Whether all metrics use grades, so that no row need be negative."""
        return all(metric.graded or metric.rel is not None for metric in self.wanted.values())

    @property
    def counts_hits(self) -> bool:
        """Whether a metric counts hits, and all have a value without positives."""
        tells = self.counts_all and self.undefined is None
        return not tells and any(m.name not in _OF_ANY_LABELS for m in self.wanted.values())

    @property
    def counts_all(self) -> bool:
        """Whether a metric counts all positives, and not the hits at some ranks alone."""
        metrics = self.wanted.values()
        return any("n_pos" in metric.needs or metric.also_undefined for metric in metrics)

    def check(self) -> None:
        """Refuse options that have no meaning for a metric."""
        checks.flag("interpolate", self.interpolate)
        given = {"weight": self.args.weight is not None, "prior": self.prior is not None}
        given["interpolate"] = self.interpolate
        for option in (option for option, is_given in given.items() if is_given):
            refuse_option(option, self.wanted)
            if self.args.ties == "expected":
                raise ArgumentError(
                    f"ties='expected' has no closed form with `{option}`; use 'group'."
                )
        for name, metric in self.wanted.items():
            own = "; evaluate it in a call of its own"
            takes_ties(name, metric.ties, self.args, otherwise=own)
        self._check_labels()
        of_both = [name for name, metric in self.wanted.items() if metric.name in _OF_BOTH_CLASSES]
        if of_both and self.prior in {0, 1}:
            raise ArgumentError(
                f"{checks.listed(of_both)} needs both classes; "
                f"got prior={self.prior:g}, where one is absent."
            )

    def _check_labels(self) -> None:
        """Require labels and arguments that metrics on grades can use."""
        graded = [name for name, metric in self.wanted.items() if metric.rel is not None]
        if graded and self.args.n_pos is not None:
            raise ArgumentError(
                "`n_pos` counts the positives of `positive`, not those of "
                f"{checks.listed(graded)}; list the items with a score of -inf instead."
            )
        if graded and self.args.weight is not None:
            raise ArgumentError(
                f"`weight` does not work with rel=, as in {checks.listed(graded)}; pass positive= "
                "for all metrics instead."
            )
        if graded and not isinstance(self.args.positive, (bool, int, float)):
            raise ArgumentError(
                f"{checks.listed(graded)} compare labels with a number; "
                f"got positive={checks.brief(self.args.positive)}."
            )

    def values(self, source: Source) -> pl.DataFrame:
        """Return one row per group, and warn of undefined values."""
        values = self.measured(source)
        self.warn(values)
        return values

    def measured(self, source: Source) -> pl.DataFrame:
        """Return one row per group."""
        needed = self.needed_columns(source)
        ranking = Ranking(source, self.args, self.include_unretrieved, needed, spares_gains=True)
        options: dict[str, Any] = {"prior": self.prior, "interpolate": self.interpolate}
        wanted = self.wanted | ({_RETRIEVED: SetR} if self._of_all_rows() else {})
        values = values_of_groups(ranking, wanted, **options, begin=self.task_of_hits)
        # These take items of score -inf as ranked last.
        source.seen.lost &= any(m.name not in {AUC.name, W.name} for m in self.wanted.values())
        if _RETRIEVED in wanted:
            if values[_RETRIEVED].min() == 1:
                self.warn_of_all_rows()
            values = values.drop(_RETRIEVED)
        if self.undefined is not None:
            return values.with_columns(pl.col(list(self.wanted)).fill_null(self.undefined))
        return values

    def task_of_hits(self, piece: Piece) -> Task[Hits]:
        """Return the task that finds hits, and ties that trec_eval would rank otherwise."""
        task, seen = task_of_hits(piece), piece.ranking.source.seen
        if self.args.policy.by_item or self.args.weight is not None or seen.tied:
            return task
        named = {
            name: metric
            for name, metric in self.wanted.items()
            if in_trec_eval(name) is not None and metric.terms_under(self.args.ties)
        }

        def look(found: Hits) -> Hits:
            seen.tied = seen.tied or _of_ties(replace(self, wanted=named), piece)
            return found

        return task.then(look) if named else task

    def of_scores(self, source: Source, scores: Sequence[str]) -> list[pl.DataFrame]:
        """Return one row per group by each column of scores; warn if any of these is undefined."""
        alone = [replace(self.args, score=column, further_scores=()) for column in scores]
        with each_once():
            parts = [replace(self, args=args).measured(source) for args in alone]
        self.warn(pl.concat(parts))
        return parts

    def _of_all_rows(self) -> list[str]:
        """Return the names that are likely to be meant at a threshold."""
        return [name for name in self.wanted if name in OF_ALL_ROWS]

    def check_all_rows(self, source: Source) -> None:
        """Warn as `measured` does of rankings whose values are computed elsewhere."""
        if self._of_all_rows():
            values = values_of_groups(Ranking(source, self.args), {_RETRIEVED: SetR})
            if values[_RETRIEVED].min() == 1:
                self.warn_of_all_rows()

    def warn_of_all_rows(self) -> None:
        """Warn that these, if there are any, count all rows, whatever the scores."""
        if names := self._of_all_rows():
            warn(
                f"{checks.listed(names)} without a cut-off counts all rows, so that "
                "precision is the share of positives and recall is 1. Of a classifier say "
                "'P(threshold=0.5)' or 'R(threshold=0.5)', of a ranking 'P@10' or 'R@10'; if all "
                "rows are meant, say 'SetP' or 'SetR', or ignore NoCutoffWarning.",
                NoCutoffWarning,
            )

    def warn(self, values: pl.DataFrame) -> None:
        """Warn once of undefined values."""
        undefined = [name for name in self.wanted if values[name].null_count()]
        if undefined:
            lacking = pl.any_horizontal(pl.col(undefined).is_null())
            lack = [thing for name in undefined for thing in _lack(self.wanted[name], self.args)]
            warn_undefined(undefined, values, self.args, lacking, list(dict.fromkeys(lack)))

    def needed_columns(self, source: Source) -> tuple[str, ...]:
        """Return the columns that metrics need of items besides ranks and labels."""
        judged = any(metric.judged for metric in self.wanted.values())
        return ("gain",) * self._uses_gains(source) + ("judged",) * judged

    def _uses_gains(self, source: Source) -> bool:
        """Return whether labels are grades and a metric uses them."""
        numeric = source.schema[self.args.label].is_numeric()
        if not numeric:
            graded = [name for name, metric in self.wanted.items() if metric.rel is not None]
            if graded:
                raise PrframeError(
                    f"{checks.listed(graded)} compare labels with a number; `label` "
                    f"{self.args.label!r} is {source.schema[self.args.label]}."
                )
        asked = any(metric.graded or metric.rel is not None for metric in self.wanted.values())
        return asked and numeric and isinstance(self.args.positive, (bool, int, float))


def named(metrics: "str | Metric | Sequence[str | Metric]") -> dict[str, Metric]:
    """Return the metrics by the names under which they were given."""
    if type(metrics).__module__.startswith("ir_measures"):
        metrics = str(metrics)
    if not isinstance(metrics, (str, Metric, Iterable)):
        raise ArgumentError(f"`metrics` must be a metric or a list of them; got {metrics!r}.")
    asked = [metrics] if isinstance(metrics, (str, Metric)) else list(metrics)
    if not asked:
        raise ArgumentError("`metrics` must name at least one metric; got none.")
    wanted = {str(metric): parse_metric(metric) for metric in asked}
    if len(wanted) < len(asked):
        raise ArgumentError(
            f"`metrics` names a metric twice: {[str(metric) for metric in asked]}."
        )
    return wanted


def refuse_grades(
    source: Source, args: Arguments, wanted: Mapping[str, Metric], does: str
) -> None:
    """Require labels 0 and 1 for metrics of gains of one ranking."""
    graded = [name for name, metric in wanted.items() if metric.graded]
    numeric = source.schema[args.label].is_numeric()
    if not (graded and numeric and isinstance(args.positive, (bool, int, float))):
        return
    gain = pl.col(args.label).cast(pl.Float64).clip(0)
    rows = source.lazy().filter(True, *considered(args, source.schema))  # noqa: FBT003
    largest = rows.select(gain.filter(gain != 1).max()).collect().item()
    if largest is not None and largest > 0:
        raise PrframeError(
            f"{graded[0]} of one ranking {does} only where labels are 0 and 1, and not where they "
            f"are grades; got {float(largest):g}; name the labels that count as relevant with "
            "positive=[...], or take the mean over queries, which may have grades, with over=."
        )


def refuse_option(option: str, wanted: Mapping[str, Metric]) -> None:
    """Refuse an option that a metric does not take."""
    without = [name for name, metric in wanted.items() if not _takes(metric, option)]
    if without:
        alone = len(without) == len(wanted)
        instead = (
            "leave it out" if alone else f"evaluate these in a call of their own, without {option}"
        )
        takers = forms_that(lambda metric: _takes(metric, option))
        raise ArgumentError(
            f"`{option}` is not taken by {checks.listed(without)}; it is for {takers}; {instead}."
        )


def at_prior(metric: Metric, prior: float | None) -> "stats.CellStatistic":
    """Return a metric of one ranking as a function of cells, at a share of positives if given."""
    statistic = metric.cell_statistic()
    if prior is None or statistic.of_classes:
        return statistic
    if not statistic.takes_prior:
        raise ArgumentError(
            f"`prior` does not work with metrics that count ranks, such as {metric}; take a "
            "metric at a threshold, such as 'P(threshold=0.5)', or leave `prior` out."
        )
    return rankings.AtPrior(statistic, prior)


def prior_of(value: object) -> float | None:
    """Require a share of positives for inference, or none."""
    return None if value is None else float(checks.number("prior", value, above=0, below=1))


def _takes(metric: Metric, option: str) -> bool:
    """Return whether a metric takes an option; a cut-off curve is not interpolated."""
    return option in metric.options and not (option == "interpolate" and metric.k is not None)


def _lack(metric: Metric, args: Arguments) -> list[str]:
    """Return the things without which a metric of a group is undefined."""
    if metric.also_undefined:
        return ["gains above 0"]
    if metric.needs_items_above:
        return [f"scores of at least {metric.threshold:g}"]
    positives = f"labels >= {metric.rel:g}" if metric.rel is not None else positives_of(args)
    return [positives, *(["negatives"] if "n_neg" in metric.needs else [])]


def _of_ties(evaluation: Evaluation, piece: Piece) -> str:
    """Return the warning that trec_eval orders ties otherwise, empty if that changes nothing."""
    groups, ties = _tied_groups(piece), evaluation.args.ties
    few = groups[np.cumsum(piece.sizes[groups]) <= _MOST_ROWS]
    if not groups.size:
        return ""
    name, told = next(iter(evaluation.wanted)), ""
    if few.size:
        name, told = _change(evaluation, piece, few)
    if not name:
        return ""
    documents = "" if _has_items(piece) else " and name the documents in item="
    own = in_trec_eval(name)
    is_called = "trec_eval's name" if own == name else f"what trec_eval calls {own!r}"
    return (
        f"{name!r} is {is_called}, but ties={ties!r} does not rank equal scores as trec_eval "
        f"does{told}. For its numbers pass ties='trec'{documents}. If ties={ties!r} is meant, "
        f"write {str(evaluation.wanted[name])!r}, or ignore TiePolicyWarning."
    )


def _change(evaluation: Evaluation, piece: Piece, groups: Integers) -> tuple[str, str]:
    """Return the first metric that another order of ties changes, and how, in words."""
    has_items = _has_items(piece)
    orders: tuple[Ties, ...] = ("trec",) if has_items else ("worst", "best")
    wanted = {name: m for name, m in evaluation.wanted.items() if set(orders) <= set(m.ties)}
    bounds = zip(piece.first_rows[groups].tolist(), piece.sizes[groups].tolist(), strict=True)
    rows = pl.concat([piece.rows.slice(first, size) for first, size in bounds])
    keys = piece.keys[groups] if piece.keys.width else piece.keys
    part, some = Piece(piece.ranking, rows, keys), replace(evaluation, wanted=wanted)
    here, *others = (_measured(some, part, ties) for ties in (evaluation.args.ties, *orders))
    changes = [np.nan_to_num(other - here) for other in others]
    shown = [_means(piece, groups, change, evaluation.n_over) > SHOWN for change in changes]
    differs = np.any(shown, axis=0) & (np.abs(changes).max(axis=0) > SHOWN)
    if not differs.any():
        return "", ""
    group, column = map(int, np.argwhere(differs)[0])
    values = [other[group, column] for other in others]
    elsewhere = f"{values[0]:.6g} by the names"
    if not has_items:
        elsewhere = f"{min(values):.6g} to {max(values):.6g} by their order"
    where = in_groups(keys[[group]].rows()) if keys.width else ""
    return list(wanted)[column], f": it is {here[group, column]:.6g} here and {elsewhere}{where}"


def _means(piece: Piece, groups: Integers, change: Floats, n_over: int) -> Floats:
    """Return how far the largest mean of each metric changes; single values unless `n_over`."""
    if not n_over:
        return np.asarray(np.abs(change))
    columns = [f"metric{i}" for i in range(change.shape[1])]
    every = np.zeros((piece.keys.height, change.shape[1]))
    every[groups] = change
    rows = piece.keys.hstack(pl.DataFrame(every, schema=columns))
    keys, means = piece.keys.columns[:-n_over], pl.col(columns).mean()
    mean = rows.group_by(keys).agg(means) if keys else rows.select(means)
    return np.asarray(np.abs(mean.select(columns).to_numpy()).max(axis=0, keepdims=True))


def _measured(evaluation: Evaluation, part: Piece, ties: Ties) -> Floats:
    """Return a row per group and a column per metric under a tie policy; NaN if undefined."""
    args = replace(evaluation.args, ties=ties)
    again = replace(part, ranking=replace(part.ranking, args=args))
    if args.policy.by_item:
        again = replace(again, rows=part.rows.with_columns(pl.col("item").cast(pl.String)))
    options: dict[str, Any] = {"prior": evaluation.prior, "interpolate": evaluation.interpolate}
    values = measure(hits(again), list(evaluation.wanted.values()), ties=ties, **options)
    return values.cast(pl.Float64).fill_null(float("nan")).to_numpy()


def _has_items(piece: Piece) -> bool:
    """Return whether there are items that can be sorted as text."""
    dtype = piece.rows.schema.get("item")
    return not (dtype is None or dtype.is_nested() or dtype.is_object() or dtype == pl.Binary)


def _tied_groups(piece: Piece) -> Integers:
    """Return the numbers of groups with retrieved items that are tied, among the first rows."""
    rows = piece.rows.select("run", "key").head(_MOST_ROWS)
    tied = rows.filter(rows.is_duplicated(), rows["key"] > UNRETRIEVED)["run"]
    first = rows["run"].head(1).to_numpy().astype(np.int64)
    return np.asarray(np.unique(tied.to_numpy().astype(np.int64)) - first)
