"""The bands of single rankings, or of rows that lie in clusters."""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from prframe import checks
from prframe._engine.frames import Source
from prframe._engine.pieces import Piece, Ranking
from prframe._engine.ranks import class_scores, clustered, hits
from prframe._engine.rows import key_names
from prframe.errors import ArgumentError
from prframe.stats.curves import (
    Weights,
    clusters_of_either_class,
    drawn_weights,
    empirical_precision,
    posterior_of,
    posterior_of_clusters,
    pr_asymptotic_band,
    pr_asymptotic_interval,
    pr_bootstrap,
    precision_at_prior,
)
from prframe.stats.rankings import RankedCells
from prframe.tie_policies import BLOCKS, WITHOUT_LABELS
from prframe.typing import Flags, Floats, Integers
from prframe.verbs._groups import each_shape, group_cells, shape_of
from prframe.verbs._plan import Accepts, Plan
from prframe.verbs._verb import positives_of, warn_null, warn_undefined, why_bandless

# A band needs so many positives in a group, and more where densities are estimated.
_LEAST = {"bayesian-bootstrap": 3, "smoothed-bootstrap": 5, "asymptotic": 10}


class _Group(NamedTuple):
    """The cells of a group, and what else a method asks of its items."""

    cells: RankedCells
    # Of both classes, if the method smooths them.
    scores: tuple[Floats, Floats] | None
    # The level of each item, whether it is positive, and its cluster.
    clustered: tuple[Floats, Flags, Integers] | None

    def shape(self) -> Hashable:
        """Return what groups of the same band have in common; with scores or clusters none."""
        is_alone = self.scores is not None or self.clustered is not None
        return object() if is_alone else shape_of(self.cells)

    @property
    def n_clusters(self) -> float:
        """The number of clusters that hold positives, or negatives if these are fewer, or inf."""
        if self.clustered is None:
            return np.inf
        return clusters_of_either_class(*self.clustered[1:])


@dataclass(frozen=True)
class ItemBands(Plan):
    """The plan of the bands of all groups."""

    name: str
    levels: Floats
    simultaneous: bool
    confidence_level: float
    n_resamples: int
    seed: int
    prior: float | None = None

    def accepts(self) -> Accepts:
        """Return the arguments under which rows are a sample; smoothing needs whole blocks."""
        # Clusters share the draws of tied rows, which their order would tell apart.
        by_rank = self.name == "bayesian-bootstrap" and self.args.cluster is None
        return Accepts(
            "band",
            whole_items="draws",
            ties=WITHOUT_LABELS if by_rank else BLOCKS,
            taker=f"the {self.name} band",
            clusters_of_items=True,
        )

    def check(self) -> None:
        """Refuse options that do not go together."""
        checks.flag("simultaneous", self.simultaneous)
        if self.name == "smoothed-bootstrap" and not self.simultaneous:
            raise ArgumentError(
                "method='smoothed-bootstrap' is a band for all levels at once; for single ones "
                "leave it out."
            )
        if self.name == "bayesian-bootstrap":
            return
        for option, given in (("cluster", self.args.cluster), ("prior", self.prior)):
            if given is not None:
                raise ArgumentError(
                    f"`{option}` is for method='auto'; the {self.name} band knows none; leave one "
                    "of them out."
                )

    def results(self, source: Source) -> pl.DataFrame:
        """Return the rows of all groups."""
        extra = () if self.name == "bayesian-bootstrap" else ("score",)
        rows = Ranking(source, self.args, extra=extra).over_groups(self._piece)
        self._warn(rows)
        return rows.drop("n_pos", "lacking")

    def _piece(self, piece: Piece) -> pl.DataFrame:
        """Return the rows of the groups of a piece."""
        group_hits = hits(piece)
        scores = class_scores(piece) if self.name != "bayesian-bootstrap" else repeat(None)
        clusters = repeat(None) if self.args.cluster is None else clustered(piece)
        parts = zip(group_cells(group_hits), scores, clusters, strict=False)
        groups = [_Group(*part) for part in parts]
        curves = each_shape(self._curve, groups, _Group.shape, "band")
        few = pl.col("n_pos") < _LEAST[self.name]
        few |= pl.Series([group.n_clusters < _LEAST[self.name] for group in groups])
        totals = group_hits.totals.select(
            *key_names(self.args),
            "n_pos",
            (few | (pl.col("n_neg") == 0)).alias("lacking"),
        )
        values = np.array(curves).reshape(-1, 3, self.levels.size)
        names = ("precision", "conf_low", "conf_high")
        columns = {"recall": np.broadcast_to(self.levels, values[:, 0].shape)}
        columns |= zip(names, np.moveaxis(values, 1, 0), strict=True)
        repeated = totals[np.repeat(np.arange(totals.height), self.levels.size)]
        return repeated.with_columns(
            *(pl.Series(name, v.ravel()).fill_nan(None) for name, v in columns.items()),
            method=pl.lit(self.name),
            confidence_level=pl.lit(self.confidence_level),
            simultaneous=pl.lit(self.simultaneous),
        )

    @cached_property
    def _weights(self) -> list[Weights]:
        """The weights of the Bayesian bootstrap, which all groups share."""
        return drawn_weights(self.n_resamples, np.random.default_rng(self.seed))

    def _curve(self, group: _Group) -> tuple[Floats, Floats, Floats]:
        """Return precision and the ends of its band at the levels."""
        cells, nothing = group.cells, np.full(self.levels.size, np.nan)
        if not cells.n_pos:
            return nothing, nothing, nothing
        precision = empirical_precision(cells, self.levels)
        precision = precision_at_prior(precision, cells.n_pos, cells.n_neg, self.prior)
        if min(cells.n_pos, group.n_clusters) < _LEAST[self.name] or not cells.n_neg:
            return precision, nothing, nothing
        if group.scores is not None:
            return (precision, *self._of_scores(cells, group.scores))
        if group.clustered is None:
            drawn = posterior_of(cells, self.levels, self._weights, self.prior)
        else:
            rng = np.random.default_rng(self.seed)
            drawn = posterior_of_clusters(
                *group.clustered, self.levels, self.n_resamples, rng, self.prior
            )
        ends = drawn.band(self.confidence_level, simultaneous=self.simultaneous)
        return precision, ends.low, ends.high

    def _of_scores(
        self, cells: RankedCells, scores: tuple[Floats, Floats]
    ) -> tuple[Floats, Floats]:
        """Return the ends of a band by a method that smooths the scores of both classes."""
        rng, level = np.random.default_rng(self.seed), self.confidence_level
        options: dict[str, Any] = {"n_pos": cells.n_pos, "n_neg": cells.n_neg}
        draws: dict[str, Any] = {"n_resamples": self.n_resamples, "rng": rng, **options}
        if self.name == "smoothed-bootstrap":
            return pr_bootstrap(*scores, self.levels, **draws).band(level)
        if self.simultaneous:
            found = pr_asymptotic_band(*scores, self.levels, confidence_level=level, **draws)
        else:
            found = pr_asymptotic_interval(*scores, self.levels, confidence_level=level, **options)
        return found.low, found.high

    def _warn(self, rows: pl.DataFrame) -> None:
        """Warn of groups without a band."""
        positives, ends = positives_of(self.args), ["conf_low", "conf_high"]
        # Each group is named in one warning, with everything that it lacks.
        no_curve, lacking = pl.col("n_pos") == 0, pl.col("lacking")
        warn_undefined(["precision", *ends], rows, self.args, no_curve, [positives])
        clusters = self.args.cluster is not None
        why = why_bandless(_LEAST[self.name], positives, clusters=clusters)
        warn_null(ends, rows, self.args, lacking & ~no_curve, why)
        gaps = pl.col("conf_low").is_null() & ~lacking
        why = "where precision is 0 or 1 or the next positives are far"
        warn_null(ends, rows, self.args, gaps, why)


def item_method(method: str) -> str:
    """Return the name in the result of a method of the caller."""
    checks.one_of("method", method, ("auto", "smoothed-bootstrap", "asymptotic"))
    return "bayesian-bootstrap" if method == "auto" else method
