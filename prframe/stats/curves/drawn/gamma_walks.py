"""Gamma weights of the items of a ranking, which the groups of a call share.

In the Bayesian bootstrap each item has a weight from an exponential distribution, and half a count
at an end of the ranking one from a gamma distribution. The share of a class above a threshold is a
running sum of weights over the sum of all. Groups differ in the ranks at which they read these
sums, which are therefore drawn once: what a group reads depends on the seed and on its own ranks.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from threading import Lock
from typing import TypeAlias

import numpy as np

from prframe.stats._batches import batch_sizes
from prframe.typing import Floats

# The key of a random generator, which begins with the seed and the number of the block.
_Key: TypeAlias = tuple[int, ...]

# The largest number of draws of a block.
_BLOCK = 2048
# The number of running sums of one class that are kept for all draws together.
_MOST_KEPT = 1 << 22
# Parts of the first negative at which its weight may be read.
FRACTIONS = 2.0 ** np.arange(-6, 0)
# Parts of half a negative, to which others are rounded: four to an octave.
_HALVES = 2.0 ** np.arange(-13, -0.99, 1 / 4)
# The lattices of positives, negatives and halves: their first shapes, and the step after these.
_LATTICES = (
    ([0.0], 0.5),
    ([0.0, *FRACTIONS, 1.0], 1.0),
    ([0.0, *_HALVES, 1.0], 1.0),
)


class GammaWalk:
    """Draws of a gamma process at a lattice of shapes, made when they are first asked for.

    The lattice has some first shapes, rising from 0, and then steps of 1 or 1/2. At most so many
    draws are kept; larger shapes are drawn for each group alone.
    """

    def __init__(
        self, lattice: Sequence[float], step: float, key: _Key, n_draws: int, most: int
    ) -> None:
        first = np.array(lattice)
        self._last, self._step, self._most = lattice[-1], step, max(most, first.size)
        self._between = (first[1:] + first[:-1]) / 2
        self._key, self._rng, self._lock = key, np.random.default_rng(key), Lock()
        self._sums = _walk(first, n_draws, self._rng)

    def at(self, shapes: Floats) -> Floats:
        """Return the draws at the nearest shapes of the lattice, shape (shapes, n_draws)."""
        further = np.rint(np.maximum(shapes - self._last, 0.0) / self._step)
        index = np.searchsorted(self._between, shapes) + further.astype(np.int64)
        if (most := int(index.max())) < self._most:
            return np.asarray(self._kept(most + 1)[index])
        distinct, place = np.unique(shapes, return_inverse=True)
        rng = np.random.default_rng([*self._key, 1])
        return np.asarray(_walk(distinct, self._sums.shape[1], rng)[place])

    def _kept(self, number: int) -> Floats:
        """Return the draws at the first shapes of the lattice, at least as many as asked for."""
        with self._lock:
            begun, n_draws = self._sums.shape
            if begun < number:
                more = min(max(number, begun + begun // 2), self._most) - begun
                weights = self._weights((more, n_draws))
                weights[0] += self._sums[-1]
                self._sums = np.concatenate([self._sums, _add_up(weights)])
            return self._sums

    def _weights(self, size: tuple[int, int]) -> Floats:
        """Draw the weights between shapes that are a step apart."""
        if self._step == 1:
            return self._rng.standard_exponential(size)
        # Half the square of a normal number has the shape of one half.
        return np.asarray(0.5 * self._rng.standard_normal(size) ** 2, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Weights:
    """A block of draws of the weights of both classes."""

    # At multiples of one half.
    positives: GammaWalk
    # At whole numbers, and at parts of the first negative.
    negatives: GammaWalk
    # Half a negative that may stand above any threshold, in parts, and half below at 1.
    halves: GammaWalk
    n_draws: int = field(kw_only=True)
    key: _Key = field(kw_only=True)

    def of_group(self, stream: int, draw: Callable[[np.random.Generator, int], Floats]) -> Floats:
        """Return draws of a group itself, always the same for one stream."""
        return draw(np.random.default_rng([*self.key, 3 + stream]), self.n_draws)


def drawn_weights(n_draws: int, rng: np.random.Generator) -> list[Weights]:
    """Return the blocks of so many draws, which are made when a group first reads them."""
    seed, most = int(rng.integers(1 << 62)), _MOST_KEPT // n_draws
    blocks = []
    for number, size in enumerate(batch_sizes(n_draws, 1, _BLOCK)):
        walks = (
            GammaWalk(*lattice, (seed, number, of), size, most)
            for of, lattice in enumerate(_LATTICES)
        )
        blocks.append(Weights(*walks, n_draws=size, key=(seed, number)))
    return blocks


def _add_up(rows: Floats) -> Floats:
    """Replace rows by their running sums, and return them; `cumsum` is slow along columns."""
    for before, row in pairwise(rows):
        np.add(before, row, row)
    return rows


def _walk(shapes: Floats, n_draws: int, rng: np.random.Generator) -> Floats:
    """Draw a gamma process at shapes that rise, shape (shapes, n_draws)."""
    gaps = np.diff(shapes, prepend=0.0)[:, None]
    return _add_up(rng.standard_gamma(gaps, (shapes.size, n_draws)))
