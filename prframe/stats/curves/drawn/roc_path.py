"""The ROC path of one ranking, and the Bayesian bootstrap, which draws the curve behind it.

A path leads through the positives in descending order, and gives the number of negatives above
each. Between two positives only the ends are known, and the number, or its odds among all
negatives, is interpolated on a log scale; within a tie block it grows in proportion, as it does on
average over the orders of the block.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from prframe.stats.curves.precision_recall import in_proportion, precision
from prframe.stats.rankings import RankedCells, positives_at
from prframe.typing import Floats

# If there are more knots than these, some are left out. Those kept are 1/2048 of all ranks apart,
# and near an end of the ranking, where a cut-off may be anywhere, 1/64 of the ranks from that end.
# At recall b this loses at most the smaller of 1 / (4 * 2048 b (1 - b)) and about 1 / (4 * 64) of
# the variance.
_MOST_KNOTS = 2048
# The same for draws of one curve, which lose at most the larger share, 1 / (4 * 64), anywhere.
DRAWN_KNOTS = 512
_END_PARTS = 64


@dataclass(frozen=True)
class RocPath:
    """The ranking of one group, as the numbers of positives and negatives passed at its knots.

    Attributes
    ----------
    ranks : ndarray, shape (k,)
        Positives passed at each knot, rising from 1/2 to half a rank after the last retrieved
        one. A positive without ties has its knot at its rank. A tie block has two knots, half a
        rank before its first and half a rank after its last positive. A tie block at an end of the
        ranking has half a rank more (half a count, as a proportion of n_pos has). If negatives
        stand beyond it, their piece has this half rank, as unseen positives may be among them.
    fp : ndarray, shape (k,)
        Negatives passed at each knot.
    tied : ndarray of bool, shape (k - 1,)
        Whether the piece after each knot is a tie block.
    n_pos, n_neg : float
        Totals, including the items that were never retrieved.
    missed : float
        Positives that were never retrieved.
    runs : ndarray, shape (2, k)
        Ranks of the first and of the last knot with as many negatives as each: the run of
        positives, without a negative between them, in which it stands.
    """

    ranks: Floats
    fp: Floats
    tied: NDArray[np.bool_]
    n_pos: float
    n_neg: float
    missed: float
    runs: Floats

    @classmethod
    def of(cls, cells: RankedCells) -> "RocPath":
        """Make the path through the cells of a ranking."""
        start, end, low, high = _blocks(cells)
        tied = (end - start > 1) | (high > low)
        ranks = np.stack([np.where(tied, start + 0.5, end), end + 0.5], axis=1)
        beyond = low[:1] > 0, high[-1:] < cells.neg[:-1].sum()
        # A block at an end has half a positive more, unless negatives stand beyond it.
        ranks[:1, 0] -= _half(tied[:1] & ~beyond[0])
        ranks[-1:, 1] += _half(tied[-1:] & ~beyond[1])
        # An untied positive has one knot, a tie block two.
        kept = np.stack([np.ones_like(tied), tied], axis=1)
        inside = np.stack([tied, np.zeros_like(tied)], axis=1)
        fp = np.stack([low, high], axis=1)
        first, last = 0.5 - _half(tied[:1]), end.max(initial=0.0) + 0.5 + _half(tied[-1:])
        every_rank = np.concatenate([[first], ranks[kept], [last]])
        every_fp = np.concatenate([[0.0], fp[kept], [cells.neg[:-1].sum()]])
        path = cls(
            every_rank,
            every_fp,
            np.concatenate([[False], inside[kept]]),
            float(cells.n_pos),
            float(cells.n_neg),
            float(cells.pos[-1]),
            _runs(every_rank, every_fp),
        )
        return path.thin(_MOST_KNOTS)

    @property
    def blocks(self) -> tuple[Floats, Floats]:
        """The recall at the beginning of each tie block, and at its end."""
        recall = np.clip((self.ranks - 0.5) / self.n_pos, 0.0, 1.0)
        return recall[:-1][self.tied], recall[1:][self.tied]

    def passed(self, recall: Floats) -> Floats:
        """Return about how many negatives are passed at levels of recall.

        Those below the last retrieved positive are not, at any level.
        """
        return np.interp(recall, (self.ranks[:-1] - 0.5) / self.n_pos, self.fp[:-1])

    @property
    def turns(self) -> Floats:
        """How far through its run each knot is, from -1 to 1; 0 in the middle, or alone.

        Where many positives stand between two negatives, the place of the negatives is uncertain
        and that of the positives is not: at the end of the run the next negative may be near, and
        at its beginning the last one is. Before the first negative, and up to the first positive,
        it is at least 0, as the population may have a negative at the very top.
        """
        first, last = self.runs
        turns = (2 * (self.ranks - first) + 1) / (last - first + 1) - 1
        early = (self.fp == 0) | (self.ranks <= 1)
        return np.asarray(np.where(early, np.maximum(turns, 0.0), turns))

    def thin(self, most: int) -> "RocPath":
        """Drop knots that are so close to others that they do not matter, if there are many."""
        if self.ranks.size <= most:
            return self
        grid = _grid(self.ranks[0], self.ranks[-1], most)
        kept = np.searchsorted(self.ranks, grid)
        # Blocks that are larger than a cell of the grid keep both their knots.
        cell = np.searchsorted(grid[1:-1], self.ranks[:-1], side="right")
        large = np.flatnonzero(self.tied & (np.diff(self.ranks) > np.diff(grid)[cell]))
        kept = np.unique(np.concatenate([kept, large, large + 1]))
        tied = self.tied[kept[:-1]] & (np.diff(kept) == 1)
        ranks, fp, runs = self.ranks[kept], self.fp[kept], self.runs[:, kept]
        return replace(self, ranks=ranks, fp=fp, tied=tied, runs=runs)


def empirical_precision(cells: RankedCells, recall: Floats) -> Floats:
    """Return eq. (3) of Clemencon & Vayatis at the levels; 0 where they are never reached."""
    start, end, low, high = _blocks(cells)
    hits = positives_at(recall, cells.n_pos)
    if not end.size:
        return np.zeros(hits.shape)
    block = np.searchsorted(end, hits)
    reached = block < end.size
    block = np.where(reached, block, 0)
    tp, fp = (start[block], end[block]), (low[block], high[block])
    false = in_proportion(hits, tp, fp)
    return precision(hits, np.where(reached, false, np.inf))


def places(recall: Floats, knots: Floats) -> Floats:
    """Return the piece in which each level lies, plus the share of it, for each draw."""
    number = np.arange(knots.shape[1], dtype=np.float64)
    indices = np.empty((knots.shape[0], recall.size))
    # One search for all rows, each with an offset of its own, would be slower and less exact.
    for row, own in zip(indices, knots, strict=True):
        row[:] = np.interp(recall, own, number)
    return indices


def _grid(first: float, last: float, number: int) -> Floats:
    """Return ranks that are evenly spaced, and closer to each other at both ends."""
    even = np.linspace(first, last, number)
    # Beyond this distance from an end the evenly spaced ranks are closer to each other.
    far = _END_PARTS * (even[1] - even[0])
    near = np.arange(min(_END_PARTS, far))
    growing = np.exp(np.arange(np.log(_END_PARTS), np.log(far), 1 / _END_PARTS))
    steps = np.concatenate([near, growing])
    every = np.concatenate([even, first + steps, last - steps])
    return np.unique(every).astype(np.float64)


def _runs(ranks: Floats, fp: Floats) -> Floats:
    """Return the first and the last rank with as many negatives as each."""
    first, last = np.searchsorted(fp, fp), np.searchsorted(fp, fp, side="right") - 1
    return np.stack([ranks[first], ranks[last]])


def _half(here: NDArray[np.bool_]) -> float:
    """Return half a rank if any flag is set, else 0."""
    return 0.5 * bool(here.any())


def _blocks(cells: RankedCells) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the positives above each block with retrieved positives and up to its end.

    The last two arrays are the negatives above each of these blocks and up to its end.
    """
    tp, fp = (np.cumsum(counts[:-1], dtype=np.float64) for counts in (cells.pos, cells.neg))
    with_hits = cells.pos[:-1] > 0
    pos, neg = cells.pos[:-1][with_hits], cells.neg[:-1][with_hits]
    tp, fp = tp[with_hits], fp[with_hits]
    return tp - pos, tp, fp - neg, fp
