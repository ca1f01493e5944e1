"""Gamma weights of the items of a ranking, which the groups of a call share.

In the Bayesian bootstrap each item has a weight from an exponential distribution, and half a count
at an end of the ranking has one from a gamma distribution. The share of a class that stands above
a threshold is a running sum of weights over the sum of all. Groups differ in the ranks at which
they read the running sums, which are therefore drawn once. What a group reads depends on the seed
and on its own ranks, and not on the groups beside it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from threading import Lock
from typing import TypeVar

import numpy as np

from prframe.stats._batches import batch_sizes, batches
from prframe.typing import Floats, Integers, Singles

Numbers = TypeVar("Numbers", Floats, Integers)

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


class Streams:
    """Generators of draws, so many each, whose draws stand side by side.

    Parameters
    ----------
    sizes : sequence of int
        The number of draws of each generator.
    keys : sequence of tuple of int
        The seed of each.
    """

    def __init__(self, sizes: Sequence[int], keys: Sequence[tuple[int, ...]]) -> None:
        """Keep what says all draws."""
        self.sizes, self.keys = tuple(sizes), tuple(keys)

    @property
    def n_draws(self) -> int:
        """The number of all draws."""
        return sum(self.sizes)

    def generators(self, *further: int) -> list[np.random.Generator]:
        """Return the generators at their start; more numbers give other ones."""
        return [np.random.default_rng([*key, *further]) for key in self.keys]

    def drawn(
        self,
        generators: Sequence[np.random.Generator],
        draw: Callable[[np.random.Generator, int], Floats],
    ) -> Floats:
        """Return what a function draws from each generator for its number of draws."""
        parts = [draw(rng, size) for rng, size in zip(generators, self.sizes, strict=True)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-1)


class GammaWalk:
    """Draws of a gamma process at a lattice of shapes, made when they are first asked for.

    They are added up in double precision and kept in single precision.

    Parameters
    ----------
    lattice : sequence of float
        The first shapes of the lattice, rising from 0.
    step : {1.0, 0.5}
        The distance of all further shapes.
    streams : Streams
        The generators of the draws.
    most : int
        The number of shapes whose draws are kept. If a group needs larger ones, the process is
        drawn for it alone.
    """

    def __init__(self, lattice: Sequence[float], step: float, streams: Streams, most: int) -> None:
        """Draw the process at the first shapes."""
        first = np.array(lattice)
        self._last, self._step, self._most = lattice[-1], step, max(most, first.size)
        self._between = (first[1:] + first[:-1]) / 2
        self._streams, self._generators, self._lock = streams, streams.generators(), Lock()
        sums = streams.drawn(self._generators, _Walk(first))
        self._sums, self._total = sums.astype(np.float32), sums[-1]

    def at(self, shapes: Floats, draws: slice = slice(None)) -> Singles:
        """Return the draws, all or a slice, at shapes of the lattice, shape (shapes, n_draws)."""
        index = self._index(shapes)
        if (most := int(index.max())) < self._most:
            return np.asarray(self._kept(most + 1)[index, draws])
        distinct, place = np.unique(shapes, return_inverse=True)
        sums = self._streams.drawn(self._streams.generators(1), _Walk(distinct))
        return np.asarray(sums.astype(np.float32)[place][:, draws])

    def _index(self, shapes: Floats) -> Integers:
        """Return the place in the lattice that is nearest to each shape."""
        first = np.searchsorted(self._between, shapes)
        further = np.rint(np.maximum(shapes - self._last, 0.0) / self._step)
        return np.asarray(first + further.astype(np.int64))

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
    """A block of draws of the weights of both classes.

    Attributes
    ----------
    positives : GammaWalk
        At multiples of one half.
    negatives : GammaWalk
        At whole numbers, and at parts of the first negative.
    halves : GammaWalk
        Half a negative that may stand above any threshold, in parts, and half below at 1.
    streams : Streams
        The generators of further draws.
    """

    positives: GammaWalk
    negatives: GammaWalk
    halves: GammaWalk
    streams: Streams

    @property
    def n_draws(self) -> int:
        """The number of draws."""
        return self.streams.n_draws

    def of_group(self, stream: int, draw: Callable[[np.random.Generator, int], Floats]) -> Floats:
        """Return draws of a group itself, always the same for one stream."""
        return self.streams.drawn(self.streams.generators(3 + stream), draw)

    def log_odds(self, n_pos: float, n_neg: float) -> Floats:
        """Return draws of the logarithm of the odds of a positive, given the totals."""
        return _log_odds(self.streams.keys, self.streams.sizes, n_pos, n_neg)


@lru_cache(_TOTALS_KEPT)
def _log_odds(
    keys: tuple[tuple[int, ...], ...], sizes: tuple[int, ...], n_pos: float, n_neg: float
) -> Floats:
    """Draw logarithms of odds, which groups with the same totals share."""
    streams = Streams(sizes, keys)
    generators = streams.generators(3)

    def of_class(total: float) -> Floats:
        return streams.drawn(generators, lambda rng, size: rng.standard_gamma(total + 0.5, size))

    pos, neg = of_class(n_pos), of_class(n_neg)
    log_odds = np.log(pos / neg)
    log_odds.flags.writeable = False
    return np.asarray(log_odds)


def drawn_weights(n_draws: int, rng: np.random.Generator) -> list[Weights]:
    """Return the blocks of so many draws, which are made when a group first reads them."""
    seed = int(rng.integers(1 << 62))
    sizes = [*batch_sizes(n_draws, 1, _STREAM)]
    most = _MOST_KEPT // n_draws
    return [
        _block(sizes[block], most, [(seed, number) for number in range(len(sizes))[block]])
        for block in batches(len(sizes), 1, _STREAMS)
    ]


def _block(sizes: Sequence[int], most: int, keys: Sequence[tuple[int, int]]) -> Weights:
    """Return a block of so many draws, with so many running sums of each class."""
    positives, negatives, halves = (
        Streams(sizes, [(*key, number) for key in keys]) for number in range(3)
    )
    return Weights(
        positives=GammaWalk([0.0], 0.5, positives, most),
        negatives=GammaWalk([0.0, *FRACTIONS, 1.0], 1.0, negatives, most),
        halves=GammaWalk([0.0, *_HALVES, 1.0], 1.0, halves, most),
        streams=Streams(sizes, keys),
    )


def add_up(rows: Numbers) -> Numbers:
    """Replace rows by their running sums, and return them; `cumsum` is slow along columns."""
    for before, row in pairwise(rows):
        np.add(before, row, row)
    return rows


@dataclass(frozen=True)
class _Walk:
    """A gamma process at shapes that rise, as a function that draws it."""

    shapes: Floats

    def __call__(self, rng: np.random.Generator, n_draws: int) -> Floats:
        """Draw the process, shape (shapes, n_draws)."""
        gaps = np.diff(self.shapes, prepend=0.0)[:, None]
        return add_up(rng.standard_gamma(gaps, (self.shapes.size, n_draws)))
