"""The end at which F1 is largest in resamples, which are drawn in detail only where it may be.

A resample begins with its counts of all cells together. Stretches of cells are halved, and
binomial variates say how much of the counts falls into the first half. F1 at an end within a
stretch is at most that of all positives up to the last end, with no negative but those above the
stretch. So a stretch that cannot reach the largest F1 known is left as it is. What would be drawn
within it is independent of all else, so that the best end has the distribution that it has in
whole resamples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from prframe.stats._batches import batch_sizes
from prframe.stats.rankings.cells import RankedCells
from prframe.typing import Floats, Integers

# The number of stretches at a time, if each resample has the square root of the number of ends,
# which are about as many as are left where F1 does not depend on the threshold.
_HELD = 1 << 18


def first_best_ends(
    cells: RankedCells, ends: Integers, n_resamples: int, rng: np.random.Generator
) -> Integers:
    """Return which of some ends of cells has the largest F1 in each resample of the items.

    Parameters
    ----------
    cells : RankedCells
    ends : ndarray of int, shape (n_ends,)
        Cells, rising, at least one. F1 is looked at where they end.
    n_resamples : int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of int, shape (n_resamples,)
        An index of `ends`, the first one if F1 is largest at several; -1 if F1 is 0 at all.

    Notes
    -----
    The number of stretches that are halved grows with the cube root of the number of items, and
    with its square root if F1 is the same at all ends.
    """
    ranking = _Ends.of(cells, ends)
    sizes = batch_sizes(n_resamples, width=int(ends.size**0.5), held=_HELD)
    return np.concatenate([_first_best_ends(ranking, size, rng) for size in sizes])


def _first_best_ends(ranking: _Ends, size: int, rng: np.random.Generator) -> Integers:
    """Return the best end of so many resamples."""
    stretches = ranking.drawn(size, rng)
    best = _Best(stretches.odds, stretches.stop)
    while (stretches := stretches.that_may_reach(best)).row.size:
        halves = stretches.halves(ranking, rng)
        best.note(stretches.row, halves.odds[::2], halves.stop[::2])
        stretches = halves
    return np.where(best.odds > 0, best.stop - 1, -1)


@dataclass(frozen=True, eq=False)
class _Ends:
    """Positives and negatives up to some ends of a ranking; the first of each is 0.

    `missed` are the positives and the negatives beyond the last end.
    """

    pos: Integers
    neg: Integers
    missed: tuple[int, int]

    @classmethod
    def of(cls, cells: RankedCells, ends: Integers) -> _Ends:
        """Add up the cells of a ranking."""
        pos, neg = (np.append(0, np.cumsum(counts)[ends]) for counts in (cells.pos, cells.neg))
        return cls(pos, neg, (cells.n_pos - int(pos[-1]), cells.n_neg - int(neg[-1])))

    def drawn(self, size: int, rng: np.random.Generator) -> _Stretches:
        """Draw resamples, a stretch from the first to the last end of each."""
        kinds = np.array([self.pos[-1], self.neg[-1], *self.missed])
        n = int(kinds.sum())
        pos, neg, missed, _ = rng.multinomial(n, kinds / n, size=size).T
        none = np.zeros(size, dtype=np.int64)
        last = np.full(size, self.pos.size - 1)
        return _Stretches(np.arange(size), none, last, none, pos + missed, pos, neg)


class _Stretches(NamedTuple):
    """Stretches of ends of resamples, in the order of these and of their ends.

    Attributes
    ----------
    row : ndarray of int
        The resample.
    start, stop : ndarray of int
        How many ends lie before the stretch, and how many with it.
    tp, others : ndarray of int
        The positives before the stretch; the negatives there with all positives of the resample.
    pos, neg : ndarray of int
        What of the resample falls into the stretch.
    """

    row: Integers
    start: Integers
    stop: Integers
    tp: Integers
    others: Integers
    pos: Integers
    neg: Integers

    @property
    def odds(self) -> Floats:
        """Half the odds of F1 at the last end."""
        return _ratio(self.tp + self.pos, self.others + self.neg)

    def that_may_reach(self, best: _Best) -> _Stretches:
        """Keep those with ends before the last one at which F1 may be as large as the best known.

        Without a positive F1 is no larger there than before them.
        """
        may = _ratio(self.tp + self.pos, self.others) >= best.odds[self.row]
        may &= (self.stop - self.start > 1) & (self.pos > 0)
        return _Stretches(*(column[may] for column in self))

    def halves(self, ranking: _Ends, rng: np.random.Generator) -> _Stretches:
        """Cut each into two, and draw what falls into the first."""
        middle = (self.start + self.stop) // 2
        shares = (
            _ratio(counts[middle] - counts[self.start], counts[self.stop] - counts[self.start])
            for counts in (ranking.pos, ranking.neg)
        )
        pos, neg = map(rng.binomial, (self.pos, self.neg), shares)
        first = self._replace(stop=middle, pos=pos, neg=neg)
        second = self._replace(
            start=middle,
            tp=self.tp + pos,
            others=self.others + neg,
            pos=self.pos - pos,
            neg=self.neg - neg,
        )
        pairs = zip(first, second, strict=True)
        return _Stretches(*(np.stack(pair, axis=1).ravel() for pair in pairs))


@dataclass(eq=False)
class _Best:
    """The largest odds of F1 known of each resample, and the first end that has them."""

    odds: Floats
    stop: Integers

    def note(self, row: Integers, odds: Floats, stop: Integers) -> None:
        """Look at more ends, of resamples that may come several times."""
        known = self.odds.copy()
        np.maximum.at(self.odds, row, odds)
        self.stop[self.odds > known] = np.iinfo(np.int64).max
        reached = np.flatnonzero(odds == self.odds[row])
        np.minimum.at(self.stop, row[reached], stop[reached])


def _ratio(part: Integers, whole: Integers) -> Floats:
    """Divide; nothing of nothing is 0."""
    return np.divide(part, np.maximum(whole, 1))
