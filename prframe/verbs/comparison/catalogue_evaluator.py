"""Metrics that are not functions of the counts in cells, for many rankings of the same items."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from prframe._engine.hits import Hits, from_marks, unit_hits
from prframe._engine.measure import measure, thresholds_of
from prframe._engine.sorting import Ranks
from prframe.metrics import Metric
from prframe.metrics.quantities import above_name
from prframe.stats.rankings import merged_levels
from prframe.tie_policies import POLICIES
from prframe.typing import Floats, Integers


class CatalogueEvaluator:
    """Metrics of the catalogue for many rankings of the same items; see `rankings.Evaluator`."""

    # So many items of all rankings are evaluated at a time, because polars is quick for many rows.
    at_once = 1 << 20

    def __init__(self, items: pl.DataFrame, metrics: Sequence[Metric]) -> None:
        self._metrics, self.label = metrics, items["positive"].to_numpy()
        carried = [name for name in ("gain", "judged", "pooled") if name in items.columns]
        marked = pl.any_horizontal(
            "positive", *(pl.col(name).cast(pl.Float64) > 0 for name in carried)
        )
        self._marked = np.flatnonzero(items.select(marked).to_series().to_numpy())
        marks = items[self._marked].select(
            pl.col("positive").cast(pl.Float64).alias("weight"),
            *(pl.col(name).cast(pl.Float64) for name in carried),
        )
        self._marks = marks if "gain" in carried else marks.with_columns(gain=pl.col("weight"))
        self._plain = not carried or (
            "judged" not in carried and marks["gain"].equals(marks["weight"], null_equal=True)
        )

    def __call__(self, level: Integers, count: Integers | None = None) -> Floats:
        """Return the metrics of each row of levels, or of resamples by counts."""
        rows = len(level) if count is None else len(count)
        level = np.broadcast_to(level, (rows, self.label.size))
        above, up_to = _ranks(level, count)
        place = level[:, self._marked]
        index = np.arange(rows)[:, None]
        group, start, end = np.broadcast_arrays(index, above[index, place], up_to[index, place])
        mark = np.broadcast_to(np.arange(self._marked.size), place.shape)
        blocks = [column.ravel() for column in (group, start, end, mark)]
        if count is not None:
            times = count[:, self._marked].ravel()
            blocks = [np.repeat(column, times) for column in blocks]
        hits = self._hits(self._totals(up_to, rows, count), *blocks)
        return np.stack(
            [column.fill_null(np.nan).to_numpy() for column in measure(hits, self._metrics)]
        )

    def merge(self, levels: Integers) -> Integers:
        """Merge levels of items that matter only by their number."""
        marked = np.zeros(self.label.size, dtype=np.bool_)
        marked[self._marked] = True
        return merged_levels(levels, marked)

    def _totals(self, up_to: Integers, rows: int, count: Integers | None) -> pl.DataFrame:
        """Return the totals of each row."""
        if count is None:
            n_pos = np.full(rows, self.label.sum())
            size = np.full(rows, self.label.size)
        else:
            n_pos, size = count[:, self.label].sum(axis=1), count.sum(axis=1)
        retrieved = up_to[:, 1] if up_to.shape[1] > 1 else np.zeros(rows, dtype=np.int64)
        above = {above_name(threshold): retrieved for threshold in thresholds_of(self._metrics)}
        totals = above | {
            "n": retrieved,
            "n_pos": n_pos,
            "n_neg": size - n_pos,
            "present_pos": n_pos,
        }
        return pl.DataFrame(totals).cast(pl.Int64)

    def _hits(
        self, totals: pl.DataFrame, group: Integers, start: Integers, end: Integers, mark: Integers
    ) -> Hits:
        """Return the hits of the marked items of all rows."""
        if self._plain:
            kept = end > start
            return unit_hits(totals, Ranks.of_blocks(group[kept], start[kept], end[kept]))
        ranks = pl.DataFrame({"group": group, "start": start, "end": end})
        marks = pl.concat([ranks, self._marks[mark]], how="horizontal")
        return from_marks(totals, marks, POLICIES["group"])


def _ranks(level: Integers, count: Integers | None) -> tuple[Integers, Integers]:
    """Return the numbers of items above each level of each row, and up to it; 0 at level 0."""
    rows, width = len(level), int(level.max(initial=0)) + 1
    cell = (level + width * np.arange(rows)[:, None]).ravel()
    weights = None if count is None else count.ravel()
    size = np.bincount(cell, weights, minlength=rows * width).reshape(rows, width)
    size = size.astype(np.int64)
    size[:, 0] = 0
    up_to = np.cumsum(size[:, ::-1], axis=1)[:, ::-1]
    above = up_to - size
    # Items that are not retrieved have no rank.
    above[:, 0] = up_to[:, 0] = 0
    return above, up_to
