"""Gamma weights of the items of a ranking, which the groups of a call share.

In the Bayesian bootstrap each item has a weight from an exponential distribution, and half a count
at an end of the ranking one from a gamma distribution. The share of a class above a threshold is a
running sum of weights over the sum of all. Groups differ in the ranks at which they read these
sums, which are therefore drawn once: what a group reads depends on the seed and on its own ranks.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from threading import Lock
from typing import TypeAlias, TypeVar

import numpy as np

from prframe.stats._batches import batch_sizes, batches
from prframe.typing import Floats, Integers, Singles

Numbers = TypeVar("Numbers", Floats, Integers)
# Draws so many numbers from a generator, shape (..., number).
_Draw: TypeAlias = Callable[[np.random.Generator, int], Floats]

# The number of draws of a generator, and of generators whose draws stand side by side.
_STREAM, _STREAMS = 512, 4
# The number of running sums of one class that are kept for all draws together.
_MOST_KEPT = 1 << 22
# The number of blocks and totals of which the drawn odds are kept, 16 KB each.
_TOTALS_KEPT = 256
# Parts of the first negative at which its weight may be read.
FRACTIONS = 2.0 ** np.arange(-6, 0)
# Parts of half a negative, to which others are rounded: four to an octave.
_HALVES = 2.0 ** np.arange(-13, -0.99, 1 / 4)


@dataclass(frozen=True)
class _Streams:
    """Generators, by their seeds, of so many draws each, which stand side by side."""

    sizes: tuple[int, ...]
    keys: tuple[tuple[int, ...], ...]

    def generators(self, *further: int) -> list[np.random.Generator]:
        """Return the generators at their start; more numbers give other ones."""
        return [np.random.default_rng([*key, *further]) for key in self.keys]

    def drawn(self, generators: Sequence[np.random.Generator], draw: _Draw) -> Floats:
        """Return what a function draws from each generator for its number of draws."""
        parts = [draw(rng, size) for rng, size in zip(generators, self.sizes, strict=True)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-1)


class GammaWalk:
    """Draws of a gamma process at a lattice of shapes, made when they are first asked for.

    The lattice has some first shapes, rising from 0, and then steps of 1 or 1/2. At most so many
    draws are kept, in single precision; larger shapes are drawn for each group alone.
    """

    def __init__(
        self, lattice: Sequence[float], step: float, streams: _Streams, most: int
    ) -> None:
        """Draw the process at the first shapes."""
        first = np.array(lattice)
        self._last, self._step, self._most = lattice[-1], step, max(most, first.size)
        self._between = (first[1:] + first[:-1]) / 2
        self._streams, self._generators, self._lock = streams, streams.generators(), Lock()
        sums = streams.drawn(self._generators, _walk(first))
        self._sums, self._total = sums.astype(np.float32), sums[-1]

    def at(self, shapes: Floats, draws: slice = slice(None)) -> Singles:
        """Return the draws, all or a slice, at shapes of the lattice, shape (shapes, n_draws)."""
        # The place in the lattice that is nearest to each shape.
        further = np.rint(np.maximum(shapes - self._last, 0.0) / self._step)
        index = np.searchsorted(self._between, shapes) + further.astype(np.int64)
        if (most := int(index.max())) < self._most:
            return np.asarray(self._kept(most + 1)[index, draws])
        distinct, place = np.unique(shapes, return_inverse=True)
        sums = self._streams.drawn(self._streams.generators(1), _walk(distinct))
        return np.asarray(sums.astype(np.float32)[place][:, draws])

    def _kept(self, number: int) -> Singles:
        """Return the draws at the first shapes of the lattice, at least as many as asked for."""
        with self._lock:
            begun = len(self._sums)
            if begun < number:
                more = min(max(number, begun + begun // 2), self._most) - begun
                weights = self._streams.drawn(
                    self._generators, lambda rng, size: self._weights(rng, (more, size))
                )
                weights[0] += self._total
                add_up(weights)
                self._total = weights[-1].copy()
                self._sums = np.concatenate([self._sums, weights], dtype=np.float32)
            return self._sums

    def _weights(self, rng: np.random.Generator, size: tuple[int, int]) -> Floats:
        """Draw the weights between shapes that are a step apart."""
        if self._step == 1:
            return rng.standard_exponential(size)
        # Half the square of a normal number has the shape of one half.
        return np.asarray(0.5 * rng.standard_normal(size) ** 2, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Weights:
    """A block of draws of the weights of both classes."""

    # At multiples of one half.
    positives: GammaWalk
    # At whole numbers, and at parts of the first negative.
    negatives: GammaWalk
    # Half a negative that may stand above any threshold, in parts, and half below at 1.
    halves: GammaWalk
    # The generators of further draws.
    streams: _Streams

    @property
    def n_draws(self) -> int:
        """The number of draws."""
        return sum(self.streams.sizes)

    def of_group(self, stream: int, draw: _Draw) -> Floats:
        """Return draws of a group itself, always the same for one stream."""
        return self.streams.drawn(self.streams.generators(3 + stream), draw)

    def log_odds(self, n_pos: float, n_neg: float) -> Floats:
        """Return draws of the logarithm of the odds of a positive, given the totals."""
        return _log_odds(self.streams, n_pos, n_neg)


@lru_cache(_TOTALS_KEPT)
def _log_odds(streams: _Streams, n_pos: float, n_neg: float) -> Floats:
    """Draw logarithms of odds, which groups with the same totals share."""
    generators = streams.generators(3)

    def of_class(total: float) -> Floats:
        return streams.drawn(generators, lambda rng, size: rng.standard_gamma(total + 0.5, size))

    log_odds = np.log(of_class(n_pos) / of_class(n_neg))
    log_odds.flags.writeable = False
    return np.asarray(log_odds)


def drawn_weights(n_draws: int, rng: np.random.Generator) -> list[Weights]:
    """Return the blocks of so many draws, which are made when a group first reads them."""
    seed = int(rng.integers(1 << 62))
    sizes = tuple(batch_sizes(n_draws, 1, _STREAM))
    most = _MOST_KEPT // n_draws
    blocks = []
    for block in batches(len(sizes), 1, _STREAMS):
        own, *classes = (
            _Streams(sizes[block], tuple((seed, i, *of) for i in range(len(sizes))[block]))
            for of in ((), (0,), (1,), (2,))
        )
        blocks.append(
            Weights(
                positives=GammaWalk([0.0], 0.5, classes[0], most),
                negatives=GammaWalk([0.0, *FRACTIONS, 1.0], 1.0, classes[1], most),
                halves=GammaWalk([0.0, *_HALVES, 1.0], 1.0, classes[2], most),
                streams=own,
            )
        )
    return blocks


def add_up(rows: Numbers) -> Numbers:
    """Replace rows by their running sums, and return them; `cumsum` is slow along columns."""
    for before, row in pairwise(rows):
        np.add(before, row, row)
    return rows


def _walk(shapes: Floats) -> _Draw:
    """Return a function that draws a gamma process at shapes that rise."""
    gaps = np.diff(shapes, prepend=0.0)[:, None]
    return lambda rng, n_draws: add_up(rng.standard_gamma(gaps, (shapes.size, n_draws)))
