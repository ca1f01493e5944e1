"""The rankings of groups in cells, and what follows from these beside intervals."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prframe._engine.arguments import Arguments
from prframe._engine.frames import Source
from prframe._engine.hits import Hits
from prframe._engine.pieces import Piece
from prframe._engine.ranks import clustered
from prframe._engine.totals import items_above, least_key
from prframe.errors import PrframeError
from prframe.metrics import Metric
from prframe.metrics.thresholds import MaxF1, W
from prframe.stats.rank_statistics import moved_by_ties
from prframe.stats.rankings import (
    AtPrior,
    CellStatistic,
    RankedCells,
    cells_from_scores,
    cluster_counts,
)
from prframe.stats.score_functions import ScoreGeneratingFunction, parse_phi
from prframe.typing import Floats, Schema
from prframe.verbs._evaluation import largest_grade
from prframe.verbs._groups import LEAST_CLUSTERS, group_cells

if TYPE_CHECKING:
    from scipy.sparse import csr_array

BIAS: Schema = {"bias": pl.Float64()}
# The working column of whether few negatives decide.
HEAVY = "__heavy"
# The working column of whether a group has few clusters.
FEW = "__few"
# What is known of the cells of a ranking, by the name of the metric.
Known: TypeAlias = Mapping[str, Callable[[RankedCells], float | None]]


class Group(NamedTuple):
    """A ranking in cells, and the counts of each cluster in them."""

    cells: RankedCells
    clusters: "csr_array | None"


def groups_of(piece: Piece, hits: Hits, threshold: float | None) -> Iterable[Group]:
    """Return the groups of a piece, cut off at a threshold."""
    if piece.ranking.args.cluster is None:
        above = None if threshold is None else items_above(piece, threshold)
        return (Group(*pair) for pair in zip(group_cells(hits, above), repeat(None)))
    least = () if threshold is None else (least_key(piece, threshold),)
    return (_clustered(*items) for items in clustered(piece, *least))


def _clustered(score: Floats, positive: NDArray[np.bool_], cluster: NDArray[np.int64]) -> Group:
    """Return the cells of a group's rows, and the counts of each cluster in them."""
    cells, cell = cells_from_scores(score, positive)
    return Group(cells, cluster_counts(cell, positive, cluster, cells.pos.size))


def has_few_clusters(group: Group) -> bool:
    """Tell whether fewer clusters hold items of a class than intervals ask for."""
    if group.clusters is None:
        return False
    n_cells = group.cells.pos.size
    classes = group.clusters[:, :n_cells], group.clusters[:, n_cells:]
    holding = [int(np.count_nonzero(counts.sum(axis=1))) for counts in classes]
    return any(0 < number < LEAST_CLUSTERS for number in holding)


def refuse_grades(source: Source, args: Arguments, wanted: Mapping[str, Metric]) -> None:
    """Refuse labels other than 0 and 1 for metrics of gains, as cells know only 0 and 1."""
    if grade := largest_grade(source, args, wanted):
        raise PrframeError(
            f"{grade[0]} of one ranking has an interval only where labels are 0 and 1, and not "
            f"where they are grades; got {grade[1]:g}; name the labels that count as relevant "
            "with positive=[...], or take the mean over queries, which may have grades, with "
            "over=."
        )


def with_thresholds(wanted: Mapping[str, Metric]) -> list[str]:
    """Return the names of metrics, MaxF1 being followed by its threshold."""
    names = []
    for name, metric in wanted.items():
        names += [name, f"{name} threshold"] if metric.name == MaxF1.name else [name]
    return names


def has_thresholds(wanted: Mapping[str, Metric]) -> bool:
    """Tell whether a row is about the threshold of MaxF1."""
    return len(with_thresholds(wanted)) > len(wanted)


def with_known(
    rows: pl.DataFrame,
    names: Sequence[str],
    groups: Iterable[Mapping[float | None, Group]],
    columns: Mapping[str, Known],
) -> pl.DataFrame:
    """Add columns of what is known of each ranking by the names of metrics, null for others.

    `names` are those of the rows of a group.
    """
    values: dict[str, list[float | None]] = {column: [] for column in columns}
    for rankings in groups:
        for column, known in columns.items():
            values[column] += [
                known[name](rankings[None].cells) if name in known else None for name in names
            ]
    return rows.with_columns(
        pl.Series(column, found, dtype=pl.Float64) for column, found in values.items()
    )


def biases(statistics: Mapping[str, CellStatistic]) -> Known:
    """Return the biases that are known; few negatives of another weight add an unknown one."""
    return {
        name: partial(_bias, statistic)
        for name, statistic in statistics.items()
        if statistic.has_bias and not isinstance(statistic, AtPrior)
    }


def _bias(statistic: CellStatistic, cells: RankedCells) -> float | None:
    """Return the bias of a metric, None where it is not defined."""
    value = statistic.value(cells)
    return None if np.isnan(value) else value - statistic.unbiased(cells)


def heavy_negatives(statistics: Mapping[str, CellStatistic]) -> Known:
    """Return what tells, by 1 or 0, where a prior makes negatives so heavy that few decide."""
    return {
        name: statistic.negatives_decide
        for name, statistic in statistics.items()
        if isinstance(statistic, AtPrior) and not statistic.of_table
    }


def moves(wanted: Mapping[str, Metric]) -> Known:
    """Return how far ties at a jump of phi may move the estimate of W."""
    return {
        name: partial(_moved, parse_phi(str(metric["phi"])))
        for name, metric in wanted.items()
        if metric.name == W.name
    }


def _moved(phi: ScoreGeneratingFunction, cells: RankedCells) -> float:
    """Return by how many standard errors ties at a jump of phi may move W."""
    return moved_by_ties(phi.of_size(cells.n), cells)
