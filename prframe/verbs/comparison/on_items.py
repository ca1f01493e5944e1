"""Comparison of models on the same items: one ranking per model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
import polars as pl

from prframe._engine.arguments import Arguments
from prframe._engine.frames import Source
from prframe._engine.rows import in_groups, key_names
from prframe.errors import PrframeError
from prframe.stats import CellEvaluator, Evaluator, PairedRankings
from prframe.stats.paired_rankings import (
    RankingComparison,
    delong_comparison,
    posterior_comparison_at,
    resampled_comparison,
)
from prframe.verbs._cell_metrics import CatalogueEvaluator, cell_statistic, of_cells
from prframe.verbs._evaluation import Evaluation
from prframe.verbs._groups import each_group
from prframe.verbs._verb import positives_of, warn_null
from prframe.verbs.comparison.matched_items import Incomplete, PairedGroup, paired_rows
from prframe.verbs.comparison.options import model_pairs
from prframe.verbs.comparison.rows import (
    Block,
    Column,
    Comparison,
    comparison_rows,
    no_rows,
)

if TYPE_CHECKING:
    from prframe.stats import PrecisionAt, RecallAt

# The metrics of tests that are for some alone, and how they are written.
_SUITED = {"delong": ("AUC",), "posterior": ("P", "R")}
_WRITTEN = {"delong": "AUC", "posterior": "P@k and R@k"}


@dataclass(frozen=True)
class OnItems:
    """What is compared on the same items, and how."""

    asked: Comparison
    args: Arguments
    incomplete: Incomplete

    def check(self) -> None:
        """Refuse metrics that the test or the interval is not for."""
        asked = self.asked
        self._evaluation.check()
        suited = _SUITED.get(asked.test)
        for name, metric in asked.wanted.items():
            if suited is not None and not (metric.name in suited and of_cells(metric)):
                raise PrframeError(
                    f"test={asked.test!r} is for {_WRITTEN[asked.test]}; got {name}; take "
                    "'randomization' or 'bootstrap'."
                )
            if asked.interval == "bca" and not of_cells(metric):
                raise PrframeError(
                    f"interval='bca' on the same items is for AP, AUC, AUPRC, P@k, Prec@r and "
                    f"R@k; got {name}; take 'percentile'."
                )
        if suited is not None and asked.interval != "auto":
            raise PrframeError(
                f"test={asked.test!r} has an interval of its own; leave out `interval`; got "
                f"{asked.interval!r}."
            )
        if asked.test == "posterior" and self.args.cluster is not None:
            raise PrframeError("test='posterior' knows no clusters; leave out `cluster`.")

    @property
    def _evaluation(self) -> Evaluation:
        """The metrics of one ranking, which know what they need."""
        return Evaluation(self.args, self.asked.wanted)

    def results(self, source: Source) -> pl.DataFrame:
        """Return a row per group, metric and pair."""
        paired = paired_rows(
            source,
            self.args,
            incomplete=self.incomplete,
            extra=self._evaluation.needed_columns(source),
        )
        names = key_names(self.args)
        if not paired.groups:
            return no_rows(self.asked, names)
        if empty := [i for i, group in enumerate(paired.groups) if not group.positive.size]:
            where = in_groups(paired.keys[empty].rows()) if names else ""
            raise PrframeError(
                f"the models must have items in common{where}; take what some lack as not "
                "retrieved with incomplete='last'."
            )
        pairs = model_pairs(paired.models, self.asked.baseline)
        heads = [paired.keys[i] if names else pl.DataFrame() for i in range(len(paired.groups))]
        blocks = [self._blocks(group, pairs) for group in paired.groups]
        models = pl.Series(paired.models, strict=False)
        rows = comparison_rows(self.asked, models, pairs, list(zip(heads, blocks, strict=True)))
        self._warn(rows)
        return rows

    def _blocks(self, group: PairedGroup, pairs: Sequence[tuple[int, int]]) -> dict[str, Block]:
        """Return the columns of all metrics of a group."""
        found: dict[str, list[RankingComparison]] = {}
        for names, rankings in self._rankings(group):
            by_pair = self._compared(group, names, rankings, pairs)
            found |= zip(names, map(list, zip(*by_pair, strict=True)), strict=True)
        n = [group.positive.size] * len(pairs)
        return {name: _columns(found[name]) | {"n": n} for name in self.asked.wanted}

    def _rankings(self, group: PairedGroup) -> list[tuple[list[str], PairedRankings]]:
        """Return the rankings with the metrics of cells, and with the others."""
        wanted = self.asked.wanted
        quick = [name for name, metric in wanted.items() if of_cells(metric)]
        others = [name for name in wanted if name not in quick]
        found: list[tuple[list[str], Evaluator]] = []
        if quick:
            statistics = [cell_statistic(wanted[name]) for name in quick]
            found.append((quick, CellEvaluator(group.positive, statistics)))
        if others:
            evaluate = CatalogueEvaluator(group.items, [wanted[name] for name in others])
            found.append((others, evaluate))
        return [(names, PairedRankings(group.level, one, group.cluster)) for names, one in found]

    def _compared(
        self,
        group: PairedGroup,
        names: Sequence[str],
        rankings: PairedRankings,
        pairs: Sequence[tuple[int, int]],
    ) -> list[list[RankingComparison]]:
        """Compare each pair by some metrics."""
        asked = self.asked
        values = rankings.values()
        if asked.test == "delong" and _too_few(group):
            return [[_untested(*row[list(pair)]) for row in values] for pair in pairs]
        if asked.test in _SUITED:
            return [[self._suited(group, name, pair) for name in names] for pair in pairs]
        replicates = rankings.replicates(asked.n_resamples, asked.rng())

        def of_pair(pair: tuple[int, int]) -> list[RankingComparison]:
            both, sampled = list(pair), asked.test == "randomization"
            swaps = (
                rankings.randomization(*pair, asked.n_resamples, asked.rng()) if sampled else None
            )
            bends = rankings.acceleration(*pair) if asked.interval == "bca" else None
            found = []
            for row, name in enumerate(names):
                one = slice(row, row + 1)
                found += resampled_comparison(
                    values[one, both],
                    replicates[one, both],
                    asked.confidence(name),
                    None if swaps is None else swaps._replace(differences=swaps.differences[one]),
                    None if bends is None else bends[one],
                )
            return found

        return each_group(of_pair, pairs, "compare")

    def _suited(self, group: PairedGroup, name: str, pair: tuple[int, int]) -> RankingComparison:
        """Compare a pair by a test that is for some metrics."""
        asked, levels = self.asked, group.level[list(pair)]
        confidence = asked.confidence(name)
        if asked.test == "delong":
            return delong_comparison(levels, group.positive, confidence, group.cluster)
        statistic = cell_statistic(asked.wanted[name])
        return posterior_comparison_at(
            levels,
            group.positive,
            cast("PrecisionAt | RecallAt", statistic),
            confidence,
            asked.n_resamples,
            asked.rng(),
        )

    def _warn(self, rows: pl.DataFrame) -> None:
        """Warn once of groups in which a metric or its test is undefined."""
        keys = key_names(self.args)
        undefined = pl.col("difference").is_null() | pl.col("p_value").is_null()
        groups = rows.group_by(keys or pl.lit(0), maintain_order=True).agg(lacking=undefined.any())
        names = rows.filter(undefined)["metric"].unique(maintain_order=True).to_list()
        why = (
            f"which have too few {positives_of(self.args)} or negatives, or a difference without "
            "variance"
        )
        warn_null(names, groups, self.args, why)


def _too_few(group: PairedGroup) -> bool:
    """Tell whether a class has too few items, or clusters, for a standard error."""
    unit = np.arange(group.positive.size) if group.cluster is None else group.cluster
    classes = (group.positive, ~group.positive)
    return min(np.unique(unit[one]).size for one in classes) < 2  # noqa: PLR2004


def _untested(a: float, b: float) -> RankingComparison:
    """Return two values, with nothing said of their difference."""
    return RankingComparison(
        value_a=a,
        value_b=b,
        difference=a - b,
        conf_low=np.nan,
        conf_high=np.nan,
        statistic=np.nan,
        p_value=np.nan,
        p_std_error=np.nan,
        n_undefined=0,
        method="",
    )


def _columns(found: Sequence[RankingComparison]) -> dict[str, Column]:
    """Return the columns of all pairs for one metric."""
    names = {"mean_a": "value_a", "mean_b": "value_b"}
    same = ("difference", "conf_low", "conf_high", "statistic", "p_value", "p_std_error")
    names |= {name: name for name in same}
    columns: dict[str, Column] = {
        name: [getattr(one, attribute) for one in found] for name, attribute in names.items()
    }
    methods = [None if np.isnan(one.p_value) else one.method for one in found]
    return columns | {"method": methods}
