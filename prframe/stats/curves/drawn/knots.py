"""The knots between which drawn curves are interpolated: those of a path, and some between.

Between two knots the logarithm of the false positive rate is a straight line in recall, and within
a tie block the rate itself. More knots are put where the number of negatives grows much from one
positive to the next, and within tie blocks, so that draws there vary as their numbers of negatives
say. Of bands these knots lie on a straight line of log odds of the negatives passed, and of areas
on one of their logarithm.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from prframe.stats.curves.drawn.gamma_walks import FRACTIONS
from prframe.stats.curves.drawn.roc_path import RocPath
from prframe.typing import Flags, Floats, Integers

# Outside of tie blocks the numbers of negatives at knots grow by this ratio; within they grow by
# the second one, but by no more than a part of all negatives.
_RATIO, _TIED_RATIO, _TIED_PARTS = 2**0.5, 17 / 16, 256
# From so many positives and negatives on hardly any draw grows fourfold up to the next knot.
_MANY = 16
# Shares of a piece in which no negative stands, with a knot each.
_SHARES = 2.0 ** np.arange(-6, 0)


@dataclass(frozen=True, eq=False)
class Knots:
    """Knots in order of recall, arrays of one length.

    Attributes
    ----------
    piece : ndarray of int
        The piece of the path in which a knot lies, or which it begins.
    share : ndarray
        The share of the piece that is passed, in [0, 1).
    fp : ndarray
        Negatives passed.
    half : ndarray
        Half a negative that may stand above any threshold; it falls to 0 above the first positive.
    fading_half : ndarray
        The same times the root of the expected recall, for half of the draws of areas.
    turns : ndarray
        How far through its run of positives a knot is, or 0 for all; see `RocPath.turns`.
    tied : ndarray of bool
        Whether a tie block follows.
    n_steep : int
        The number of knots after which recall or a rate may be a multiple at the next one.
    """

    piece: Integers
    share: Floats
    fp: Floats
    half: Floats
    fading_half: Floats
    turns: Floats
    tied: Flags
    n_steep: int

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
        n_steep = int(np.count_nonzero(np.minimum(passed, fp) < _MANY))
        tied = np.append(path.tied, False)[piece]
        return cls(piece, share, fp, half, fading, turns, tied, n_steep)

    @property
    def ends(self) -> Integers:
        """The knot at which the piece after each knot ends."""
        ends = np.searchsorted(self.piece, self.piece, side="right")
        return np.minimum(ends, self.piece.size - 1)


def _within(path: RocPath, *, odds: bool) -> list[tuple[Integers, Floats, Floats]]:
    """Return piece, share and negatives passed of knots within pieces, tied or not, or empty.

    Between two positives the odds of the negatives passed grow by a constant factor, or else their
    number does. A band for a high level of recall may end below the last positive, where a number
    that grows so would stay far from that of all negatives for most of the way.
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
    empty = np.repeat(
        np.flatnonzero((high == 0) & (path.ranks[:-1] == path.ranks[0])), _SHARES.size
    )
    shares = np.asarray(np.resize(_SHARES, empty.size), dtype=np.float64)
    return [
        (of_free, log_share, free_fp),
        (of_tied, share, tied_fp),
        (empty, shares, np.zeros(empty.size)),
    ]


def _growing(most: float, ratio: float, largest_step: float = np.inf) -> Floats:
    """Return parts of the first negative, and whole numbers that grow by a ratio.

    They reach at least up to `most`, and up to the next power of 2, since groups share them.
    """
    return _numbers(2.0 ** np.ceil(np.log2(max(most, 1.0))), ratio, largest_step)


@lru_cache(maxsize=64)
def _numbers(most: float, ratio: float, largest_step: float) -> Floats:
    """Return the numbers of `_growing` up to the first that is at least `most`."""
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
