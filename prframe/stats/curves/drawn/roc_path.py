"""The ROC path of one ranking, and the knots between which drawn curves are interpolated.

A path leads through the positives in descending order, and gives the number of negatives above
each. Between two positives only the ends are known, and the number, or its odds among all
negatives, is interpolated on a log scale; within a tie block it grows in proportion, as it does on
average over the orders of the block. Knots are put where that number grows much, so that draws
there vary as their numbers of negatives say.
"""

from dataclasses import dataclass, replace

import numpy as np

from prframe.stats.curves.drawn.gamma_walks import FRACTIONS
from prframe.stats.curves.precision_recall import hit_blocks
from prframe.stats.rankings import RankedCells
from prframe.typing import Flags, Floats, Integers

# If there are more knots than these, some are left out. Those kept are 1/512 of all ranks apart,
# and near an end of the ranking, where a cut-off may be anywhere, about 1/64 of the ranks from
# that end. This loses less than 1 % of the variance.
_MOST_KNOTS, _END_PARTS = 512, 64
# Outside of tie blocks the numbers of negatives at knots grow by this ratio; within they grow by
# the second one, but by no more than a part of all negatives.
_RATIO, _TIED_RATIO, _TIED_PARTS = 2**0.5, 17 / 16, 256
# Shares of a piece in which no negative stands, with a knot each.
_SHARES = 2.0 ** np.arange(-6, 0)


@dataclass(frozen=True)
class RocPath:
    """The ranking of one group: positives and negatives passed at its k knots."""

    # Positives passed, rising from 1/2 to half a rank after the last retrieved one. An untied
    # positive has its knot at its rank. A tie block has two, half a rank before its first and
    # after its last positive. A tie block at an end of the ranking has half a rank more, or, if
    # negatives stand beyond it, their piece has.
    ranks: Floats
    # Negatives passed.
    fp: Floats
    # Whether the piece after each knot but the last is a tie block.
    tied: Flags
    # Totals, including the items that were never retrieved.
    n_pos: float
    n_neg: float
    # Positives that were never retrieved.
    missed: float
    # Ranks of the first and the last knot with as many negatives as each, shape (2, k).
    runs: Floats

    @classmethod
    def of(cls, cells: RankedCells) -> "RocPath":
        """Make the path through the cells of a ranking."""
        start, end, low, high = hit_blocks(cells)
        retrieved = cells.neg[:-1].sum()
        tied = (end - start > 1) | (high > low)
        ranks = np.stack([np.where(tied, start + 0.5, end), end + 0.5], axis=1)
        # A block at an end has half a positive more, unless negatives stand beyond it.
        ranks[:1, 0] -= _half(tied[:1] & (low[:1] == 0))
        ranks[-1:, 1] += _half(tied[-1:] & (high[-1:] == retrieved))
        # An untied positive has one knot, a tie block two.
        kept = np.stack([np.ones_like(tied), tied], axis=1)
        inside = np.stack([tied, np.zeros_like(tied)], axis=1)
        fp = np.stack([low, high], axis=1)
        first, last = 0.5 - _half(tied[:1]), end.max(initial=0.0) + 0.5 + _half(tied[-1:])
        every_rank = np.concatenate([[first], ranks[kept], [last]])
        every_fp = np.concatenate([[0.0], fp[kept], [retrieved]])
        begin, stop = (np.searchsorted(every_fp, every_fp, side) for side in ("left", "right"))
        path = cls(
            every_rank,
            every_fp,
            np.concatenate([[False], inside[kept]]),
            float(cells.n_pos),
            float(cells.n_neg),
            float(cells.pos[-1]),
            np.stack([every_rank[begin], every_rank[stop - 1]]),
        )
        return path.thinned()

    @property
    def blocks(self) -> tuple[Floats, Floats]:
        """The recall at the beginning of each tie block, and at its end."""
        recall = np.clip((self.ranks - 0.5) / self.n_pos, 0.0, 1.0)
        return recall[:-1][self.tied], recall[1:][self.tied]

    def passed(self, recall: Floats) -> Floats:
        """Return about how many negatives are passed at levels of recall."""
        return np.interp(recall, (self.ranks[:-1] - 0.5) / self.n_pos, self.fp[:-1])

    @property
    def turns(self) -> Floats:
        """How far through its run each knot is, from -1 to 1; 0 in the middle, or alone.

        Where many positives stand between two negatives, only the place of the negatives is
        uncertain: at the end of the run the next one may be near, and at its beginning the last
        one is. Up to the first negative or positive it is at least 0, as the population may have a
        negative at the very top.
        """
        first, last = self.runs
        turns = (2 * (self.ranks - first) + 1) / (last - first + 1) - 1
        early = (self.fp == 0) | (self.ranks <= 1)
        return np.asarray(np.where(early, np.maximum(turns, 0.0), turns))

    def thinned(self) -> "RocPath":
        """Drop knots that are so close to others that they do not matter, if there are many."""
        if self.ranks.size <= _MOST_KNOTS:
            return self
        grid = _grid(self.ranks[0], self.ranks[-1])
        kept = np.searchsorted(self.ranks, grid)
        # Blocks that are larger than a cell of the grid keep both their knots.
        cell = np.searchsorted(grid[1:-1], self.ranks[:-1], side="right")
        large = np.flatnonzero(self.tied & (np.diff(self.ranks) > np.diff(grid)[cell]))
        kept = np.unique(np.concatenate([kept, large, large + 1]))
        tied = self.tied[kept[:-1]] & (np.diff(kept) == 1)
        ranks, fp, runs = self.ranks[kept], self.fp[kept], self.runs[:, kept]
        return replace(self, ranks=ranks, fp=fp, tied=tied, runs=runs)


def _half(here: Flags) -> float:
    """Return half a rank if any flag is set, else 0."""
    return 0.5 * bool(here.any())


def _grid(first: float, last: float) -> Floats:
    """Return ranks that are evenly spaced, and closer to each other at both ends."""
    even = np.linspace(first, last, _MOST_KNOTS)
    # Beyond this distance from an end the evenly spaced ranks are closer to each other.
    far = _END_PARTS * (even[1] - even[0])
    steps = _END_PARTS * np.expm1(np.arange(0, np.log1p(far / _END_PARTS), 1 / _END_PARTS))
    return np.unique(np.concatenate([even, first + steps, last - steps]))


@dataclass(frozen=True, eq=False)
class Knots:
    """Knots in order of recall, arrays of one length."""

    # The piece of the path in which a knot lies, or which it begins, and the share passed of it.
    piece: Integers
    share: Floats
    # Negatives passed.
    fp: Floats
    # Half a negative that may stand above any threshold; it falls to 0 above the first positive.
    half: Floats
    # The same times the root of the expected recall, for half of the draws of areas.
    fading_half: Floats
    # How far through its run of positives a knot is, or 0 for all; see `RocPath.turns`.
    turns: Floats
    # Whether a tie block follows.
    tied: Flags

    @classmethod
    def of(cls, path: RocPath, *, turning: bool = False) -> "Knots":
        """Put knots on a path."""
        every = np.arange(path.ranks.size), np.zeros(path.ranks.size), path.fp
        piece, share, fp = map(
            np.concatenate, zip(every, *_within(path, odds=turning), strict=True)
        )
        order = np.argsort(piece + share)
        piece, share, fp = piece[order], share[order], fp[order]
        widths = np.append(np.diff(path.ranks), path.missed)
        passed = path.ranks[piece] - path.ranks[0] + share * widths[piece]
        recall = passed / (path.ranks[-1] - path.ranks[0] + path.missed)
        half = np.where(piece == 0, share, 1.0) / 2
        fading = np.sqrt(recall) / 2
        ends = np.append(path.turns, 0.0) * turning
        turns = (1 - share) * ends[piece] + share * ends[piece + 1]
        # At recall 0 no rate has a logarithm; the next knot stands for the first.
        for values in (fp, half, fading):
            values[0] = values[1]
        tied = np.append(path.tied, False)[piece]
        return cls(piece, share, fp, half, fading, turns, tied)

    @property
    def ends(self) -> Integers:
        """The knot at which the piece after each knot ends."""
        ends = np.searchsorted(self.piece, self.piece, side="right")
        return np.minimum(ends, self.piece.size - 1)


def _within(path: RocPath, *, odds: bool) -> list[tuple[Integers, Floats, Floats]]:
    """Return piece, share and negatives passed of knots within pieces, tied or not, or empty.

    Between two positives the odds of the negatives passed grow by a constant factor, or else their
    number does: below the last positive that would stay far from the total for most of the way.
    """
    low, high = path.fp[:-1], path.fp[1:]
    free, tied = np.flatnonzero(~path.tied & (low < high)), np.flatnonzero(path.tied)
    numbers = _growing(high[-1], _RATIO)
    if odds:
        numbers = np.union1d(numbers, path.n_neg - numbers)
    of_free, free_fp = _between(numbers, low[free], high[free])
    of_free = free[of_free]
    of_path, of_knots = (
        np.log(fp + 0.5) - odds * np.log(path.n_neg - fp + 0.5) for fp in (path.fp, free_fp)
    )
    log_share = (of_knots - of_path[of_free]) / np.diff(of_path)[of_free]
    most = max(1.0, path.n_neg / _TIED_PARTS)
    tied_numbers = _growing(high[-1], _TIED_RATIO, most) if tied.size else np.empty(0)
    of_tied, tied_fp = _between(tied_numbers, low[tied], high[tied])
    of_tied = tied[of_tied]
    share = (tied_fp - low[of_tied]) / (high - low)[of_tied]
    # The half negative that was not seen falls to 0 at recall 0.
    first = np.flatnonzero((high == 0) & (path.ranks[:-1] == path.ranks[0]))
    empty = np.repeat(first, _SHARES.size)
    return [
        (of_free, log_share, free_fp),
        (of_tied, share, tied_fp),
        (empty, np.tile(_SHARES, first.size), np.zeros(empty.size)),
    ]


def _growing(most: float, ratio: float, largest_step: float = np.inf) -> Floats:
    """Return parts of the first negative, and whole numbers that grow by a ratio up to `most`."""
    numbers = [1.0]
    while numbers[-1] < most:
        step = min(numbers[-1] * (ratio - 1), largest_step)
        numbers.append(max(numbers[-1] + 1, np.floor(numbers[-1] + step)))
    return np.concatenate([FRACTIONS, numbers])


def _between(numbers: Floats, low: Floats, high: Floats) -> tuple[Integers, Floats]:
    """Return the index of the interval, and the number, for all numbers within open intervals."""
    first = np.searchsorted(numbers, low, side="right")
    count = np.maximum(np.searchsorted(numbers, high) - first, 0)
    interval = np.repeat(np.arange(low.size), count)
    within = np.arange(interval.size) - np.repeat(np.cumsum(count) - count, count)
    return interval, numbers[first[interval] + within]
