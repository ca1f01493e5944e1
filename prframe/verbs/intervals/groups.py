"""The rankings of groups in cells, with their clusters, and the thresholds of their MaxF1."""

from collections.abc import Iterable, Mapping
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prframe._engine.hits import Hits
from prframe._engine.measure import items_above, least_key
from prframe._engine.pieces import Piece
from prframe._engine.ranks import class_scores, clustered
from prframe.metrics import MaxF1, Metric
from prframe.stats.rankings import (
    RankedCells,
    ThresholdOfLargestF1,
    cells_from_scores,
    cluster_counts,
)
from prframe.typing import Floats
from prframe.verbs._groups import group_cells

if TYPE_CHECKING:
    from scipy.sparse import csr_array


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


def with_thresholds(wanted: Mapping[str, Metric]) -> list[str]:
    """Return the names of metrics, MaxF1 being followed by its threshold."""
    names = []
    for name, metric in wanted.items():
        names += [name, f"{name} threshold"] if metric.name == MaxF1.name else [name]
    return names


def has_thresholds(wanted: Mapping[str, Metric]) -> bool:
    """Tell whether a row is about the threshold of MaxF1."""
    return len(with_thresholds(wanted)) > len(wanted)


def best_thresholds(piece: Piece, groups: Iterable[Group]) -> Iterable[ThresholdOfLargestF1]:
    """Return the threshold of the largest F1 of each group as a function of its counts.

    The ranking carries the scores.
    """
    for (positives, _), group in zip(class_scores(piece), groups, strict=True):
        pos = group.cells.pos[:-1]
        best_first = -np.sort(-positives.astype(np.float64))
        least = np.append(best_first, np.nan)[np.cumsum(pos) - 1]
        yield ThresholdOfLargestF1(np.where(pos > 0, least, np.nan))
