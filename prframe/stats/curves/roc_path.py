"""The ROC path of one ranking, and draws of the curve behind it: the Bayesian bootstrap.

A path leads through the positives in descending order: how many negatives stand above each.
What lies between two positives is not known but for its ends, and is joined on a log scale; what
lies within a tie block moves in proportion, as its orders do on average.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from prframe.stats._batches import batch_sizes
from prframe.stats.curves.precision_recall import in_proportion, precision
from prframe.stats.rankings import RankedCells, positives_at
from prframe.typing import Floats

# Of more knots than these some are left out. Those kept are 1/2048 of all ranks apart, and near an
# end of the ranking 1/64 of the ranks from there on: a cut-off may be anywhere. Of the variance at
# recall b the lesser of 1 / (4 * 2048 b (1 - b)) and about 1 / (4 * 64) is lost at most.
_MOST_KNOTS = 2048
_END_PARTS = 64
# Values of one part of the draws: those of some 1,500 at all knots. Few knots have more levels.
_MOST_VALUES, _LEAST_WIDTH = 1 << 22, 256


@dataclass(frozen=True)
class RocPath:
    """The ranking of one group as its positives see it.

    Attributes
    ----------
    ranks : ndarray, shape (k,)
        Positives passed at each knot, rising from 1/2 to half a rank after the last retrieved
        one. A positive that is tied with nothing has its knot at its rank, a tie block two, half
        a rank before its first and half a rank after its last positive. A tie block at an end has
        half a rank more (half a count, as a proportion of n_pos has), or, where negatives stand
        beyond it, these have: some positives may be among them that were not seen.
    fp : ndarray, shape (k,)
        Negatives passed at each knot.
    tied : ndarray of bool, shape (k - 1,)
        Whether the piece after each knot is a tie block.
    n_pos, n_neg : float
        Totals, with what was never retrieved.
    missed : float
        Positives that were never retrieved.
    """

    ranks: Floats
    fp: Floats
    tied: NDArray[np.bool_]
    n_pos: float
    n_neg: float
    missed: float

    @classmethod
    def of(cls, cells: RankedCells) -> "RocPath":
        """Make the path through the cells of a ranking."""
        start, end, low, high = _blocks(cells)
        tied = (end - start > 1) | (high > low)
        ranks = np.stack([np.where(tied, start + 0.5, end), end + 0.5], axis=1)
        beyond = low[:1] > 0, high[-1:] < cells.neg[:-1].sum()
        # A block at an end has half a positive more, unless one may be beyond it.
        ranks[:1, 0] -= _half(tied[:1] & ~beyond[0])
        ranks[-1:, 1] += _half(tied[-1:] & ~beyond[1])
        # An untied positive has one knot, a tie block two.
        kept = np.stack([np.ones_like(tied), tied], axis=1)
        inside = np.stack([tied, np.zeros_like(tied)], axis=1)
        fp = np.stack([low, high], axis=1)
        first, last = 0.5 - _half(tied[:1]), end.max(initial=0.0) + 0.5 + _half(tied[-1:])
        path = cls(
            np.concatenate([[first], ranks[kept], [last]]),
            np.concatenate([[0.0], fp[kept], [cells.neg[:-1].sum()]]),
            np.concatenate([[False], inside[kept]]),
            float(cells.n_pos),
            float(cells.n_neg),
            float(cells.pos[-1]),
        )
        return path._thin()

    def batch_sizes(self, n_draws: int) -> list[int]:
        """Split a number of draws into as many at a time as memory is meant for."""
        return batch_sizes(n_draws, max(self.ranks.size, _LEAST_WIDTH), _MOST_VALUES)

    def _thin(self) -> "RocPath":
        """Drop knots that are too close to matter."""
        if self.ranks.size <= _MOST_KNOTS:
            return self
        grid = _grid(self.ranks[0], self.ranks[-1])
        kept = np.searchsorted(self.ranks, grid)
        # Blocks that would fill more than one cell of the grid stay what they are.
        cell = np.searchsorted(grid[1:-1], self.ranks[:-1], side="right")
        large = np.flatnonzero(self.tied & (np.diff(self.ranks) > np.diff(grid)[cell]))
        kept = np.unique(np.concatenate([kept, large, large + 1]))
        tied = self.tied[kept[:-1]] & (np.diff(kept) == 1)
        return replace(self, ranks=self.ranks[kept], fp=self.fp[kept], tied=tied)


@dataclass(frozen=True)
class Draws:
    """Draws of a curve at levels of recall, shape (n_resamples, levels).

    Attributes
    ----------
    log_recall : ndarray
        Logarithm of the recall, that of the level, or of the end of its tie block.
    log_fpr : ndarray
        Logarithm of the false positive rate; +inf where recall is never reached.
    log_odds : ndarray, shape (n_resamples, 1)
        Logarithm of the odds of a positive.
    """

    log_recall: Floats
    log_fpr: Floats
    log_odds: Floats

    @property
    def logit(self) -> Floats:
        """Logarithm of the odds of precision: odds * recall / false positive rate."""
        return np.asarray(self.log_odds + self.log_recall - self.log_fpr)

    @property
    def recall(self) -> Floats:
        """Recall."""
        return np.asarray(np.exp(self.log_recall))

    @property
    def precision(self) -> Floats:
        """Precision."""
        return np.asarray(expit(self.logit))

    @property
    def prevalence(self) -> Floats:
        """Share of positives, shape (n_resamples, 1)."""
        return np.asarray(expit(self.log_odds))


def draw_curves(  # noqa: PLR0913
    path: RocPath,
    recall: Floats,
    size: int,
    rng: np.random.Generator,
    *,
    block_ends: bool = False,
    fading: bool = False,
) -> Draws:
    """Draw curves from what the ranking says of the curve behind it.

    `recall` rises within (0, 1). The share of positives above each knot, the share of negatives
    above each threshold and the share of positives altogether are drawn from their posterior
    distributions, Dirichlet and beta with half a count at each end. With `block_ends` a level
    within a tie block is taken to the end of it. With `fading` the half a negative that may stand
    above any threshold is less at low recall, by its root: it serves an area, to which all levels
    add up, while a single level needs all of it.
    """
    knots = _positions(path, size, rng)
    at = places(recall, knots)
    piece = np.minimum(at.astype(np.int64), path.tied.size - 1)
    fp = _joined(path, piece, at - piece)
    log_recall = np.broadcast_to(np.log(recall), fp.shape)
    if block_ends and path.tied.any():
        inside = path.tied[piece]
        fp = np.where(inside, path.fp[piece + 1], fp)
        ends = np.take_along_axis(knots, piece + 1, axis=1)
        log_recall = np.where(inside, np.log(ends), log_recall)
    # Half a negative beyond those that were seen; above the first positive it fades away.
    half = np.sqrt(recall) / 2 if fading else np.where(piece == 0, at, 1.0) / 2
    log_fpr = _log_rates(fp + half, path.n_neg, rng)
    if path.missed:
        log_fpr[recall > knots[:, -1:]] = np.inf
    odds = rng.standard_gamma(path.n_pos + 0.5, size), rng.standard_gamma(path.n_neg + 0.5, size)
    return Draws(log_recall, log_fpr, np.log(odds[0] / odds[1])[:, None])


def empirical_precision(cells: RankedCells, recall: Floats) -> Floats:
    """Return eq. (3) of Clemencon & Vayatis at the levels; 0 where they are never reached."""
    start, end, low, high = _blocks(cells)
    found = positives_at(recall, cells.n_pos)
    if not end.size:
        return np.zeros(found.shape)
    block = np.searchsorted(end, found)
    reached = block < end.size
    block = np.where(reached, block, 0)
    tp, fp = (start[block], end[block]), (low[block], high[block])
    false = in_proportion(found, tp, fp)
    return precision(found, np.where(reached, false, np.inf))


def places(recall: Floats, knots: Floats) -> Floats:
    """Return the pieces of each draw at which the levels lie, and how far along them."""
    number = np.arange(knots.shape[1], dtype=np.float64)
    found = np.empty((knots.shape[0], recall.size))
    # Row by row: one search for all, each with an offset of its own, is slower and rounds.
    for row, own in zip(found, knots, strict=True):
        row[:] = np.interp(recall, own, number)
    return found


def _grid(first: float, last: float) -> Floats:
    """Return ranks that are evenly spaced, and closer to each other at both ends."""
    even = np.linspace(first, last, _MOST_KNOTS)
    # Beyond this distance from an end the even ranks are closer.
    far = _END_PARTS * (even[1] - even[0])
    near = np.arange(min(_END_PARTS, far))
    growing = np.exp(np.arange(np.log(_END_PARTS), np.log(far), 1 / _END_PARTS))
    steps = np.concatenate([near, growing])
    every = np.concatenate([even, first + steps, last - steps])
    return np.unique(every).astype(np.float64)


def _half(here: NDArray[np.bool_]) -> float:
    """Return half a rank, if there is to be one."""
    return 0.5 * bool(here.any())


def _blocks(cells: RankedCells) -> tuple[Floats, Floats, Floats, Floats]:
    """Return positives above and up to the end of each retrieved block of them, and negatives."""
    tp, fp = (np.cumsum(counts[:-1], dtype=np.float64) for counts in (cells.pos, cells.neg))
    with_hits = cells.pos[:-1] > 0
    pos, neg = cells.pos[:-1][with_hits], cells.neg[:-1][with_hits]
    tp, fp = tp[with_hits], fp[with_hits]
    return tp - pos, tp, fp - neg, fp


def _positions(path: RocPath, size: int, rng: np.random.Generator) -> Floats:
    """Draw the recall at each knot: sums of gaps."""
    gaps = np.diff(path.ranks)
    sums = np.empty((size, gaps.size + 1))
    sums[:, 0] = 0.0
    np.cumsum(rng.standard_gamma(gaps, (size, gaps.size)), axis=1, out=sums[:, 1:])
    sums /= (sums[:, -1] + rng.standard_gamma(path.missed, size))[:, None]
    return sums


def _joined(path: RocPath, piece: NDArray[np.int64], share: Floats) -> Floats:
    """Return the negatives passed on the way along a piece."""
    log_fp = np.log(path.fp + 0.5)
    joined = np.exp(log_fp[piece] + share * np.diff(log_fp)[piece]) - 0.5
    if path.tied.any():
        straight = path.fp[piece] + share * np.diff(path.fp)[piece]
        joined = np.where(path.tied[piece], straight, joined)
    return np.maximum(joined, 0.0)


def _log_rates(shape: Floats, n_neg: float, rng: np.random.Generator) -> Floats:
    """Draw the share of negatives above each threshold: ``Beta(shape, n_neg + 1 - shape)``."""
    steps = np.diff(shape, axis=1, prepend=0.0)
    sums = rng.standard_gamma(np.maximum(steps, 0.0))
    np.cumsum(sums, axis=1, out=sums)
    rest = rng.standard_gamma(np.maximum(n_neg + 1 - shape[:, -1], 0.5))
    sums /= (sums[:, -1] + rest)[:, None]
    # Of a shape near 0 the draws may be too small for a float.
    np.maximum(sums, np.finfo(np.float64).tiny, out=sums)
    return np.asarray(np.log(sums, out=sums))
