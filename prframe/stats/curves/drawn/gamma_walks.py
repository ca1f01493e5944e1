"""Gamma weights of the items of a ranking, which the groups of a call share.

In the Bayesian bootstrap each item has a weight from an exponential distribution, and half a count
at an end of the ranking has one from a gamma distribution. The share of a class that stands above
a threshold is a running sum of weights over the sum of all. Groups differ in the ranks at which
they read the running sums, which are therefore drawn once. What a group reads depends on the seed
and on its own ranks, and not on the groups beside it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from threading import Lock
from typing import TypeVar

import numpy as np

from prframe.stats._batches import batch_sizes
from prframe.typing import Floats, Integers

Numbers = TypeVar("Numbers", Floats, Integers)

# The number of draws in a block, few enough for the processor's cache.
_BLOCK = 512
# The number of running sums of one class that are kept for all draws together.
_MOST_KEPT = 1 << 22
# The number of blocks and totals of which the drawn odds are kept, 4 KB each.
_TOTALS_KEPT = 1024
# Parts of the first negative at which its weight may be read.
FRACTIONS = 2.0 ** np.arange(-6, 0)
# Parts of half a negative, to which others are rounded: four to an octave.
_HALVES = 2.0 ** np.arange(-13, -0.99, 1 / 4)


class GammaWalk:
    """Draws of a gamma process at a lattice of shapes, made when they are first asked for.

    Parameters
    ----------
    lattice : sequence of float
        The first shapes of the lattice, rising from 0.
    step : {1.0, 0.5}
        The distance of all further shapes.
    n_draws : int
        Number of draws.
    most : int
        The number of shapes whose draws are kept. If a group needs larger ones, the process is
        drawn for it alone.
    key : tuple of int
        Seed.
    """

    def __init__(
        self, lattice: Sequence[float], step: float, n_draws: int, most: int, key: tuple[int, ...]
    ) -> None:
        """Draw the process at the first shapes."""
        first = np.array(lattice)
        self._last, self._step, self._most = lattice[-1], step, max(most, first.size)
        self._between = (first[1:] + first[:-1]) / 2
        self._key, self._rng, self._lock = key, np.random.default_rng(key), Lock()
        self._sums = _walk(first, n_draws, self._rng)

    def at(self, shapes: Floats) -> Floats:
        """Return the draws at rising shapes of the lattice, shape (shapes, n_draws)."""
        index = self._index(shapes)
        if index[-1] < self._most:
            return np.asarray(np.take(self._kept(int(index[-1]) + 1), index, axis=0))
        distinct, place = np.unique(shapes, return_inverse=True)
        rng = np.random.default_rng([*self._key, 1])
        return _walk(distinct, self._sums.shape[1], rng)[place]

    def _index(self, shapes: Floats) -> Integers:
        """Return the place in the lattice that is nearest to each shape."""
        first = np.searchsorted(self._between, shapes)
        further = np.rint(np.maximum(shapes - self._last, 0.0) / self._step)
        return np.asarray(first + further.astype(np.int64))

    def _kept(self, number: int) -> Floats:
        """Return the draws at the first shapes of the lattice, at least as many as asked for."""
        with self._lock:
            begun = len(self._sums)
            if begun < number:
                more = min(max(number, begun + begun // 2), self._most) - begun
                sums = np.concatenate([self._sums, self._weights(more)])
                add_up(sums[begun - 1 :])
                self._sums = sums
            return self._sums

    def _weights(self, number: int) -> Floats:
        """Draw the weights between shapes that are a step apart."""
        size = number, self._sums.shape[1]
        if self._step == 1:
            return self._rng.standard_exponential(size)
        # Half the square of a normal number has the shape of one half.
        return np.asarray(0.5 * self._rng.standard_normal(size) ** 2, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Weights:
    """A block of draws of the weights of both classes.

    Attributes
    ----------
    positives : GammaWalk
        At multiples of one half.
    negatives : GammaWalk
        At whole numbers, and at parts of the first negative.
    halves : GammaWalk
        Half a negative that may stand above any threshold, in parts, and half below at 1.
    n_draws : int
        Number of draws.
    key : tuple of int
        Seed of further draws.
    """

    positives: GammaWalk
    negatives: GammaWalk
    halves: GammaWalk
    n_draws: int
    key: tuple[int, ...]

    def generator(self, stream: int) -> np.random.Generator:
        """Return a generator, always the same, for draws of a group itself."""
        return _generator(self.key, stream)

    def log_odds(self, n_pos: float, n_neg: float) -> Floats:
        """Return draws of the logarithm of the odds of a positive, given the totals."""
        return _log_odds(self.key, self.n_draws, n_pos, n_neg)


def _generator(key: tuple[int, ...], stream: int) -> np.random.Generator:
    """Return the generator of a block for a stream of draws of a group itself."""
    return np.random.default_rng([*key, 3 + stream])


@lru_cache(_TOTALS_KEPT)
def _log_odds(key: tuple[int, ...], n_draws: int, n_pos: float, n_neg: float) -> Floats:
    """Draw logarithms of odds, which groups with the same totals share."""
    rng = _generator(key, 0)
    pos, neg = (rng.standard_gamma(total + 0.5, n_draws) for total in (n_pos, n_neg))
    log_odds = np.log(pos / neg)
    log_odds.flags.writeable = False
    return np.asarray(log_odds)


def drawn_weights(n_draws: int, rng: np.random.Generator) -> list[Weights]:
    """Return the blocks of so many draws, which are made when a group first reads them."""
    seed = int(rng.integers(1 << 62))
    sizes = batch_sizes(n_draws, 1, _BLOCK)
    most = _MOST_KEPT // n_draws
    return [_block(size, most, (seed, number)) for number, size in enumerate(sizes)]


def _block(n_draws: int, most: int, key: tuple[int, int]) -> Weights:
    """Return a block of so many draws, with so many running sums of each class."""
    return Weights(
        positives=GammaWalk([0.0], 0.5, n_draws, most, (*key, 0)),
        negatives=GammaWalk([0.0, *FRACTIONS, 1.0], 1.0, n_draws, most, (*key, 1)),
        halves=GammaWalk([0.0, *_HALVES, 1.0], 1.0, n_draws, most, (*key, 2)),
        n_draws=n_draws,
        key=key,
    )


def add_up(rows: Numbers) -> Numbers:
    """Replace rows by their running sums, and return them; `cumsum` is slow along columns."""
    for before, row in pairwise(rows):
        np.add(before, row, row)
    return rows


def _walk(shapes: Floats, n_draws: int, rng: np.random.Generator) -> Floats:
    """Draw a gamma process at shapes that rise, shape (shapes, n_draws)."""
    gaps = np.diff(shapes, prepend=0.0)[:, None]
    return add_up(rng.standard_gamma(gaps, (shapes.size, n_draws)))
