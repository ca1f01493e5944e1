"""Metrics that are functions of the counts in the cells of a ranking, and all the others."""

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from prframe.arguments import Arguments
from prframe.frames import Source
from prframe.hits import Integers
from prframe.measure import measure
from prframe.metrics import Metric
from prframe.pieces import Piece, Ranking
from prframe.ranks import hits
from prframe.rows import UNRETRIEVED
from prframe.stats.cell_statistic import CellStatistic
from prframe.stats.cell_statistics import (
    AveragePrecision,
    PrecisionAt,
    PrecisionAtRecall,
    RecallAt,
    RocArea,
    TrapezoidArea,
)
from prframe.stats.inputs import Floats

_STATISTICS: dict[str, Callable[[Metric], CellStatistic]] = {
    "AP": lambda _: AveragePrecision(),
    "AUC": lambda _: RocArea(),
    "AUPRC": lambda _: TrapezoidArea(),
    "P": lambda metric: PrecisionAt(int(metric.k or 0)),
    "Prec": lambda metric: PrecisionAtRecall(float(metric.k or 0)),
    "R": lambda metric: RecallAt(int(metric.k or 0)),
}


def of_cells(metric: Metric) -> bool:
    """Tell whether a metric is a function of the counts in cells."""
    cut_off = metric.k is not None and metric.cutoff == "optional"
    return metric.name in _STATISTICS and not cut_off and metric.rel is None


def cell_statistic(metric: Metric) -> CellStatistic:
    """Return the metric as a function of cells, which it must be."""
    return _STATISTICS[metric.name](metric)


class CatalogueEvaluator:
    """Metrics of the catalogue for many rankings of the same items; see `stats.Evaluator`.

    `items` has a row per item: ``positive`` and, where metrics ask for them, ``gain``,
    ``judged`` and ``pooled``.
    """

    def __init__(self, items: pl.DataFrame, metrics: Sequence[Metric]) -> None:
        self._items, self._metrics = items, metrics
        known = {"gain": "gain", "judged": "judged"}
        extra = tuple(name for column, name in known.items() if column in items.columns)
        self._ranking = Ranking(Source(pl.DataFrame()), Arguments(), extra=extra)

    def __call__(self, level: Integers, count: Integers | None = None) -> Floats:
        """Return the metrics of each row of levels, or of resamples by counts."""
        n = self._items.height
        rows = len(level) if count is None else len(count)
        place, key = np.arange(rows * n), np.broadcast_to(level, (rows, n)).ravel()
        if count is not None:
            place = np.repeat(place, count.ravel())
            key = key[place]
        table = self._items[place % n].with_columns(
            run=pl.Series(place // n, dtype=pl.UInt32),
            key=pl.Series(np.where(key > 0, key, UNRETRIEVED)),
        )
        found = measure(hits(Piece(self._ranking, table, pl.DataFrame())), self._metrics)
        return np.stack([one.fill_null(np.nan).to_numpy() for one in found])
