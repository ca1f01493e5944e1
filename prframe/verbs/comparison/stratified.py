"""The comparison of models over the queries of several strata, whose differences are pooled."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import get_args

import numpy as np
import polars as pl
from scipy.special import stdtr

from prframe import checks
from prframe._engine.arguments import Arguments
from prframe._engine.rows import in_groups, key_names
from prframe.errors import (
    ArgumentError,
    CoverageWarning,
    PrframeError,
    UndefinedMetricWarning,
    warn,
)
from prframe.stats._p_values import from_symmetric
from prframe.stats.intervals import Confidence, wald_interval
from prframe.stats.paired_values import (
    PoolingModel,
    equality_p_value,
    error_growth,
    few_for_shared_skewness,
    pool_differences,
)
from prframe.typing import Columns, Floats
from prframe.verbs._groups import each_group
from prframe.verbs._plan import Accepts
from prframe.verbs._query_clusters import CLUSTER
from prframe.verbs._values_at_hand import VALUE, MetricValues
from prframe.verbs._verb import warn_null
from prframe.verbs.comparison.options import model_pairs
from prframe.verbs.comparison.over_queries import PairTable
from prframe.verbs.comparison.query_values import MODEL, Stratum, ValuesPlan
from prframe.verbs.comparison.rows import (
    JOINT,
    Block,
    Column,
    Comparison,
    comparison_rows,
    no_rows,
)
from prframe.verbs.comparison.skewness import IN_STRATA, SKEWED, warn_of_skewness

# A stratum whose standard error is below this part of the largest has no weight of its own.
_SMALLEST = 1e-9
_LEAST_STRATA = 2
# The parts of a block that tell of strata without a standard error, and of few queries.
_LEFT_OUT, _FEW = "left out", "few"
# There are few queries where the errors of the weights raise the variance by more than this share,
# if queries of all strata vary alike: by chance a small stratum may have nearly all of the weight.
_MOST_GROWTH = 0.4
_NUMBERS = (
    *("difference", "conf_low", "conf_high", "p_value", "statistic", "mean_a", "mean_b"),
    *("q", "i_squared", "tau", "p_interaction"),
)


def with_strata(
    args: Arguments, strata: Columns, over: Columns | None, *, is_at_hand: bool
) -> Arguments:
    """Return the arguments by which the values of each stratum stand apart.

    Values at hand have no labels.
    """
    if over is None:
        raise ArgumentError(
            "`strata` are groups of queries, which stand in `over`; on the same items compare "
            "by=, and pool the differences with prframe.stats.pool_differences. Their standard "
            "errors are (conf_high - conf_low) / 3.92 with interval='percentile'."
        )
    columns = checks.column_names("strata", strata)
    others = {"by": args.keys, "over": checks.column_names("over", over)}
    others["model"] = [args.model] if args.model else []
    others["label"] = [] if is_at_hand else [args.label]
    for name, known in others.items():
        if shared := [column for column in columns if column in known]:
            raise ArgumentError(
                f"`strata` and `{name}` both name {checks.listed(shared)}; strata are groups of "
                "queries whose differences are pooled."
            )
    return replace(args, by=[*args.keys, *columns])


def check_pooling(pooling: object, strata: Columns | None) -> None:
    """Refuse models of effects that are not known, or that have no strata to pool."""
    checks.one_of("pooling", pooling, get_args(PoolingModel))
    if strata is None and pooling != "random":
        raise ArgumentError("`pooling` is for `strata`, whose differences it pools; leave it out.")


def check_strata(asked: Comparison, given: dict[str, object]) -> None:
    """Refuse options that have no meaning for pooled differences."""
    others: dict[str, bool] = {
        f"test={asked.test!r}": asked.test not in {"randomization", "t"},
        f"interval={asked.interval!r}": asked.interval not in {"auto", "t"},
        f"correction={asked.correction!r}": asked.correction in JOINT,
        "`rope`": asked.rope is not None,
        "`equivalence`": asked.equivalence is not None,
        "`power`": asked.power is not None,
        **{f"`{name}`": value is not None for name, value in given.items()},
    }
    if refused := [name for name, is_given in others.items() if is_given]:
        raise ArgumentError(
            "`strata` pools the mean differences of the strata by their standard errors, and "
            f"{refused[0]} is not of these; leave it out, or compare by=."
        )


@dataclass(frozen=True)
class Stratified(ValuesPlan):
    """The plan of a comparison whose differences are pooled over strata.

    The last keys of the compared values, from `n_kept` on, are the strata.
    """

    asked: Comparison
    pooling: PoolingModel
    n_kept: int

    def accepts(self) -> Accepts:
        """Return that every argument is accepted that the metrics take."""
        return Accepts("compare")

    def role(self, key: str) -> str:
        """Return `strata` for those, and `over` for queries."""
        return "strata" if key in self.compared.args.keys[self.n_kept :] else "over"

    def of_values(self, values: MetricValues) -> pl.DataFrame:
        """Return a row per group, metric and pair."""
        self._check_queries(values.rows)
        self._warn_of_shared(values.rows)
        models, strata = self.compared.strata(values)
        keys = key_names(self.compared.args)
        if not strata:
            return no_rows(self.asked, keys[: self.n_kept])
        pairs = model_pairs(models.to_list(), self.asked.baseline)
        together: dict[tuple[object, ...], list[Stratum]] = {}
        for stratum in strata:
            together.setdefault(stratum.key.row(0)[: self.n_kept], []).append(stratum)
        # Sums do not depend on the order of the rows.
        for group in together.values():
            group.sort(key=lambda stratum: str(stratum.key.row(0)))
        parts = each_group(partial(self._blocks, pairs=pairs), together.values(), "compare")
        heads = [group[0].key.select(keys[: self.n_kept]) for group in together.values()]
        groups = list(zip(heads, parts, strict=True))
        rows = comparison_rows(self.asked, models, pairs, groups)
        self._warn(rows, parts)
        warn_of_skewness(groups, [(models[i], models[j]) for i, j in pairs], IN_STRATA)
        return rows

    def _check_queries(self, rows: pl.DataFrame) -> None:
        """Refuse strata of which models have one each for a query, and not the same."""
        compared, keys = self.compared, key_names(self.compared.args)
        if compared.args.model is None:
            return
        query = [*keys[: self.n_kept], *compared.over_names]
        stratum = pl.struct(keys[self.n_kept :])
        told = rows.group_by(query, maintain_order=True).agg(
            strata=stratum.n_unique(),
            models=pl.col(MODEL).n_unique(),
            pairs=pl.struct(stratum.alias("stratum"), MODEL).n_unique(),
        )
        differ = told.filter((pl.col("strata") > 1) & (pl.col("pairs") == pl.col("models")))
        if differ.height:
            raise PrframeError(
                f"`strata` {self._names} must be the same for all models of a query: "
                f"{differ.height} of {told.height} queries differ"
                f"{in_groups(differ.select(query).rows())}; mend these rows."
            )

    def _warn_of_shared(self, rows: pl.DataFrame) -> None:
        """Warn once of queries, or clusters of these, that are in several strata."""
        compared, keys = self.compared, key_names(self.compared.args)
        clustered = compared.args.cluster is not None
        kept, unit = keys[: self.n_kept], [CLUSTER] if clustered else compared.over_names
        told = (
            rows.filter(pl.col(VALUE).is_not_null())
            .group_by([*kept, *unit], maintain_order=True)
            .agg(strata=pl.struct(keys[self.n_kept :]).n_unique())
        )
        several = told.filter(pl.col("strata") > 1)
        if several.is_empty():
            return
        word = "clusters" if clustered else "queries"
        drawn = compared.args.cluster if clustered else compared.over[0]
        over = [*compared.args.keys[self.n_kept :], *compared.over]
        instead = f"over={over}, cluster={drawn!r}, without strata"
        if len(unit) > 1:
            instead = f"over={over}, a column of the queries in cluster=, without strata"
        warn(
            f"`strata` {self._names}: {several.height} of {told.height} {word} are in several "
            f"strata{in_groups(several.select([*kept, *unit]).rows())}, and their differences "
            f"there are taken as independent. If they are the same {word}, the pooled difference "
            f"is found too often where there is none, and its interval misses it too often: say "
            f"{instead}. If they have no more than their names in common, rename them, or ignore "
            "CoverageWarning.",
            CoverageWarning,
        )

    @property
    def _names(self) -> str:
        """The columns of strata, as messages name them."""
        return checks.listed(self.compared.args.keys[self.n_kept :])

    def _blocks(
        self, strata: Sequence[Stratum], pairs: Sequence[tuple[int, int]]
    ) -> dict[str, Block]:
        """Return the columns of all metrics of a group."""
        blocks: dict[str, Block] = {}
        for name in dict.fromkeys(name for stratum in strata for name in stratum.values):
            with_metric = [stratum for stratum in strata if name in stratum.values]
            tables = [PairTable(s.values[name], pairs, s.cluster, 0.0) for s in with_metric]
            confidence = self.asked.confidence(with_metric[0].ranges[name])
            blocks[name] = self._block(tables, confidence)
        return blocks

    def _block(self, tables: Sequence[PairTable], confidence: Confidence) -> Block:
        """Return the columns of one metric."""
        counts = [table.counts() for table in tables]
        known = {name: np.array([part[name] for part in counts], np.float64) for name in counts[0]}
        errors = np.array([table.family.std_errors for table in tables])
        sizes = np.array([(table.family.sizes > 0).sum(axis=0) for table in tables])
        usable = errors > _SMALLEST * np.nanmax(errors, axis=0, initial=0.0)
        block: dict[str, Column] = {
            name: (known[name] * usable).sum(axis=0).astype(np.int64)
            for name in ("wins", "ties", "losses", "n")
        }
        rows, few = [], []
        for pair in range(errors.shape[1]):
            at = usable[:, pair], pair
            means = known["mean_a"][at], known["mean_b"][at]
            rows.append(self._pooled(means, errors[at], sizes[at], confidence))
            is_pooled = errors[at].size >= _LEAST_STRATA
            few.append(is_pooled and error_growth(sizes[at] ** -0.5, sizes[at]) > _MOST_GROWTH)
        block |= zip(_NUMBERS, np.array(rows).T, strict=True)
        block["n_strata"] = usable.sum(axis=0)
        block[_LEFT_OUT], block[_FEW] = ~usable.all(axis=0), np.array(few, np.bool_)
        block[SKEWED] = few_for_shared_skewness([table.family for table in tables], usable)
        block["method"] = [None if np.isnan(row[0]) else f"{self.pooling}-effects" for row in rows]
        return block

    def _pooled(
        self, means: tuple[Floats, Floats], errors: Floats, sizes: Floats, confidence: Confidence
    ) -> list[float]:
        """Return the numbers of a pair, in the order of `_NUMBERS`."""
        if errors.size < _LEAST_STRATA:
            return [np.nan] * len(_NUMBERS)
        differences = means[0] - means[1]
        if np.abs(differences).max() * _SMALLEST > errors.max():
            raise PrframeError(
                "`strata`: the models differ in a stratum by more than 10^9 times every standard "
                "error, so that the differences cannot be pooled; see whether the values of all "
                "strata are of one unit, and rankings are matched by the right queries."
            )
        pooled = pool_differences(differences, errors, model=self.pooling, sizes=sizes)
        unit = errors.max()
        weights = 1 / ((errors / unit) ** 2 + (pooled.tau / unit) ** 2)
        statistic = pooled.difference / pooled.std_error
        return [
            pooled.difference,
            *wald_interval(pooled.difference, pooled.std_error, confidence, df=pooled.df),
            from_symmetric(partial(stdtr, pooled.df), statistic, self.asked.alternative),
            statistic,
            *(float(weights @ side / weights.sum()) for side in means),
            pooled.q,
            pooled.i_squared,
            pooled.tau,
            equality_p_value(differences, errors, sizes),
        ]

    def _warn(self, rows: pl.DataFrame, blocks: Sequence[dict[str, Block]]) -> None:
        """Warn once of pairs with nothing to pool, and once of strata that are not pooled."""
        args = self.compared.args
        args = replace(args, by=list(args.keys[: self.n_kept]))
        groups = rows.group_by(key_names(args) or pl.lit(0), maintain_order=True).agg(
            lacking=pl.col("p_value").is_null().any()
        )
        why = "in which two models have fewer than two strata with a standard error"
        warn_null([name for name in _NUMBERS if rows[name].null_count()], groups, args, why)
        flags = [of for group in blocks for of in group.values()]
        left_out, few = (
            np.concatenate([np.asarray(of[name]) for of in flags]) for name in (_LEFT_OUT, _FEW)
        )
        if left_out.any():
            warn(
                f"`strata`: in {left_out.sum()} of {left_out.size} comparisons some strata are "
                "not pooled, and not counted in n, wins, ties and losses, because two models have "
                f"fewer than two queries in common there{self.compared.or_one_cluster}, or differ "
                "by the same in all, or by next to the same beside other strata",
                UndefinedMetricWarning,
            )
        if few.any():
            warn(
                f"`strata`: in {few.sum()} of {few.size} comparisons the strata have so few "
                "queries that the standard errors by which they are weighed are far off: the "
                "pooled difference is found too often where there is none, and its interval "
                "misses it too often. Take fewer and larger strata, or compare without strata; "
                "where it does not matter, ignore CoverageWarning.",
                CoverageWarning,
            )
