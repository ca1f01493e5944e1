"""Random rankings and their AP."""

import numpy as np

from prframe.stats.null.average_precision.steps import Items
from prframe.typing import Floats, Integers

# The number of labels, or of ranks, that are drawn at a time, which bounds the memory.
_CHUNK = 1 << 22


def drawn(items: Items, n_pos: int, size: int, generator: np.random.Generator) -> Floats:
    """Return the AP of random rankings, an ndarray of float of shape (size,)."""
    at_once = max(1, _CHUNK // cost(items.n, n_pos))
    parts = [
        _average_precision(items, _places(items.n, n_pos, min(at_once, size - done), generator))
        for done in range(0, size, at_once)
    ]
    return np.concatenate(parts)


def cost(n: int, n_pos: int) -> int:
    """Return how many numbers are drawn for a ranking."""
    return n if n_pos * n_pos > n else n_pos


def _average_precision(items: Items, places: Integers) -> Floats:
    """Return the AP of rankings, whose positives stand at these places, counted from 0."""
    ranks = np.sort(places, axis=1) + 1
    hits = np.arange(1, ranks.shape[1] + 1)
    # Items that are not retrieved earn nothing and are in no block.
    ends = np.clip(ranks, 1, max(items.depth, 1))
    if items.ends is not None and items.ends.size:
        block = np.searchsorted(items.ends, ranks)
        ends = items.ends[np.minimum(block, items.ends.size - 1)]
        # Every positive of a block counts all positives of the block among its hits.
        is_last = np.diff(block, axis=1, append=-1) != 0
        last = np.where(is_last, hits, hits[-1])
        hits = np.minimum.accumulate(last[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(np.where(ranks <= items.depth, hits / ends, 0.0).mean(axis=1))


def _places(n: int, n_pos: int, size: int, generator: np.random.Generator) -> Integers:
    """Draw sets of n_pos places among n, one set per row."""
    if n_pos * n_pos > n > _CHUNK:
        sets = [generator.choice(n, n_pos, replace=False, shuffle=False) for _ in range(size)]
        return np.stack(sets)
    if n_pos * n_pos > n:
        mixed = generator.random((size, n))
        return np.argpartition(mixed, n_pos - 1, axis=1)[:, :n_pos]
    places = generator.integers(0, n, (size, n_pos))
    # Sets in which a place comes twice are drawn again.
    again = np.arange(size)
    while again.size:
        ordered = np.sort(places[again], axis=1)
        again = again[(np.diff(ordered, axis=1) == 0).any(axis=1)]
        places[again] = generator.integers(0, n, (again.size, n_pos))
    return places
