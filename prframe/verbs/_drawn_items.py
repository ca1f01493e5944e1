"""The influence of items on the values of queries, where items are drawn as well as queries."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from prframe._engine.frames import Source
from prframe._engine.pieces import Piece, Ranking
from prframe._engine.ranks import levels
from prframe._engine.totals import least_key
from prframe.errors import ArgumentError, PrframeError
from prframe.metrics import with_influence
from prframe.stats.intervals import influence_of_few, shared_item_variance
from prframe.stats.rankings import CellStatistic, cells_from_scores
from prframe.tie_policies import BLOCKS
from prframe.typing import Flags, Floats, Integers
from prframe.verbs._at_prior import at_prior
from prframe.verbs._evaluation import Evaluation, largest_grade
from prframe.verbs._folds import ITEMS
from prframe.verbs._plan import Accepts
from prframe.verbs._values_at_hand import ValuesAtHand

ITEM = "item"
# The column of the number of the query.
QUERY = "query"
# Why queries cannot be computed apart from each other.
ITEMS_ARE_SHARED = "items that queries share are drawn for all of them at once"


def of_drawn_items(verb: str) -> Accepts:
    """Return the arguments under which the items of rankings are a sample."""
    where = f" with resampling={ITEMS!r}"
    return Accepts(verb, whole_items="draws", ties=BLOCKS, where=where)


def check_drawn_items(measure: Evaluation | ValuesAtHand) -> None:
    """Require rankings whose items have names, and metrics with known influence values."""
    option = f"resampling={ITEMS!r}"
    if isinstance(measure, ValuesAtHand):
        raise ArgumentError(
            f"{option} draws the items of rankings, which values at hand do not tell; leave it "
            "out, or name metrics."
        )
    args = measure.args
    if args.item is None:
        raise ArgumentError(
            f"{option} knows by their names which items queries share; name their column with "
            "item=."
        )
    if args.totals:
        raise ArgumentError(
            f"`{args.totals[0]}` counts items that are not listed, which {option} cannot draw; "
            "list them with a score of -inf."
        )
    for name, metric in measure.wanted.items():
        if metric.without_cells:
            raise ArgumentError(
                f"{name} has no influence values for {option}: {metric.without_cells}; "
                f"{with_influence()} have."
            )
    for name, statistic in _statistics(measure).items():
        if statistic.lacks_influence:
            raise ArgumentError(
                f"{name} has no influence values for {option}: {statistic.lacks_influence}."
            )


def item_influence(source: Source, measure: Evaluation) -> pl.DataFrame:
    """Return the keys of each row, its item, and its influence on each metric of its ranking."""
    if grade := largest_grade(source, measure.args, measure.wanted):
        raise PrframeError(
            f"resampling={ITEMS!r} takes {grade[0]} only where labels are 0 and 1, and not where "
            f"they are grades; got {grade[1]:g}; name the labels that count as relevant with "
            "positive=[...], or leave `resampling` out."
        )
    statistics = _statistics(measure)

    def of_piece(piece: Piece) -> pl.DataFrame:
        columns = {
            name: _influence(piece, statistic, measure.wanted[name].threshold)
            for name, statistic in statistics.items()
        }
        keys = piece.keys[np.repeat(np.arange(piece.sizes.size), piece.sizes)]
        return keys.with_columns(piece.rows[ITEM], **columns)

    return Ranking(source, measure.args).over_groups(of_piece)


def _statistics(measure: Evaluation) -> dict[str, CellStatistic]:
    """Return the metrics as functions of cells."""
    return {name: at_prior(metric, measure.prior) for name, metric in measure.wanted.items()}


def _influence(piece: Piece, statistic: CellStatistic, threshold: float | None) -> pl.Series:
    """Return the influence of each row of a piece, NaN where the metric is not defined."""
    least = () if threshold is None else (least_key(piece, threshold),)
    parts = [np.zeros(0)]
    for level, positive in levels(piece, *least):
        cells, cell = cells_from_scores(level, positive)
        if np.isnan(statistic.value(cells)):
            parts.append(np.full(level.size, np.nan))
            continue
        pos, neg = influence_of_few(cells, statistic)
        parts.append(np.where(positive, pos[cell], neg[cell]))
    return pl.Series(np.concatenate(parts))


def of_group(rows: pl.DataFrame, key: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the group that the first row of a frame of keys names."""
    if not key.width:
        return rows
    return rows.join(key.head(1), on=key.columns, how="semi", nulls_equal=True)


def numbered(rows: pl.DataFrame, over: Sequence[str]) -> pl.DataFrame:
    """Return rows with the number of their query, in the order of the queries' names."""
    queries = rows.select(over).unique().sort(over).with_row_index(QUERY)
    return rows.join(queries, on=over, how="left", nulls_equal=True, maintain_order="left")


@dataclass(frozen=True, eq=False)
class ItemInfluence:
    """The influence of items on the values of models for queries.

    Attributes
    ----------
    query, item : ndarray of int, shape (n_rows,)
        Numbers of the query and the item of each row, which are in some order.
    of_metric : dict of ndarray, shape (n_models, n_rows)
        The influence by metric; NaN where the query has no value, 0 without the item.
    """

    query: Integers
    item: Integers
    of_metric: dict[str, Floats]

    @classmethod
    def of(
        cls, rows: pl.DataFrame, metrics: Sequence[str], model: str | None = None
    ) -> "ItemInfluence":
        """Return the influence of rows that have numbers of queries, and of models if several."""
        # Null is a name of an item too.
        columns = rows.select(QUERY, pl.col(ITEM).rank("dense").fill_null(0))
        pairs = columns.unique().sort(QUERY, ITEM).with_row_index("row")
        joined = columns.join(pairs, on=[QUERY, ITEM], how="left", maintain_order="left")
        place = joined["row"]
        models = np.zeros(rows.height, np.int64) if model is None else rows[model].to_numpy()
        tables = {}
        for name in metrics:
            tables[name] = np.zeros((int(models.max(initial=0)) + 1, pairs.height))
            tables[name][models, place.to_numpy()] = rows[name].to_numpy()
        return cls(pairs[QUERY].to_numpy(), pairs[ITEM].to_numpy(), tables)

    def shared_variance(
        self, metric: str, signs: dict[int, int], queries: Flags | None = None
    ) -> float:
        """Return the variance of a sum of models' means, by signs, that shared items have.

        The means are over some queries, or all.
        """
        table = self.of_metric[metric]
        values = np.zeros(self.query.size)
        for model, sign in signs.items():
            # A model without any row has no influence.
            if model < len(table):
                values += sign * np.nan_to_num(table[model])
        kept = slice(None) if queries is None else queries[self.query]
        return float(shared_item_variance(self.query[kept], self.item[kept], values[kept]))


def added_ratio(shared: float, values: Floats) -> float:
    """Return the variance that shared items add, in units of the variance of values.

    That of the mean of n values, s^2 / n, grows by n times the ratio, as it does for folds.
    """
    # Sums of sorted values do not depend on the order of the rows.
    spread = float(np.sort(values).var(ddof=1)) if values.size > 1 else 0.0
    # Without a spread the sample tells nothing of queries.
    return shared / spread if spread else np.nan if shared else 0.0
