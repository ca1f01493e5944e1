"""Values of AP: the least and the largest, all of few, random ones."""

from functools import lru_cache

import numpy as np

from prframe.stats._tolerances import EQUAL
from prframe.stats.null.average_precision.approximations import ap_minimum
from prframe.stats.null.average_precision.steps import Items, log_binomial
from prframe.typing import Floats, Integers

_TINY = 1e-300
# The least AP of tie blocks merges at most so many numbers; of more, that without ties is taken,
# which is no larger.
_MERGED = 1 << 22
# The values of AP are listed if there are at most so many, in at most so many tie blocks or ranks,
# of at most so many positives: `evaluate` adds up more precisions in an order that rounds in
# another way.
_MOST, _MOST_BLOCKS, _MOST_POSITIVES = 1 << 16, 1 << 10, 1 << 7
# The number of labels, or of ranks, that are drawn at a time, which bounds the memory.
_CHUNK = 1 << 22


def ap_extremes(items: Items, n_pos: int) -> tuple[float, float]:
    """Return the least and the largest AP of rankings of items, of which `n_pos` are positive."""
    fewest, most = max(0, n_pos - (items.n - items.depth)), min(n_pos, items.depth)
    if items.ends is not None and n_pos * items.ends.size <= _MERGED:
        least = _tied_least(np.diff(items.ends, prepend=0), n_pos, (fewest, most))
    else:
        least = _untied_least(items.depth, fewest)
    return least / n_pos, ap_largest(items, n_pos)


@lru_cache(maxsize=4096)
def _untied_least(depth: int, n_hits: int) -> float:
    """Return the least T of so many hits without ties."""
    return n_hits * float(ap_minimum(depth, n_hits)) if n_hits else 0.0


def ap_largest(items: Items, n_pos: int) -> float:
    """Return the largest AP: the positives fill the first ranks."""
    most = min(n_pos, items.depth)
    if items.ends is None or not most:
        return most / n_pos
    block = int(np.searchsorted(items.ends, most))
    above, end = (int(rank) for rank in np.append(0, items.ends)[block : block + 2])
    return (above + (most - above) * most / end) / n_pos


def _tied_least(sizes: Integers, n_pos: int, n_hits: tuple[int, int]) -> float:
    """Return the least T of so many hits, from the fewest to the most, in tie blocks.

    With H hits down to the end e of each block, j of them inside, twice T is the sum of
    ``(H^2 - (H - j)^2 + j^2) / e``: least values less ``H^2 / 2e`` are convex, and merge.
    """
    fewest, most = n_hits
    odd = 2.0 * np.arange(n_pos) + 1
    increments, previous = np.zeros(0), 1.0
    for size, end in zip(sizes.tolist(), np.cumsum(sizes).tolist(), strict=True):
        above = increments + odd[: increments.size] * (0.5 / previous - 0.5 / end)
        merged = np.concatenate([above, odd[:size] * (0.5 / end)])
        increments, previous = np.sort(merged, kind="stable")[:n_pos], end
    least = np.cumsum(np.append(0.0, increments + odd[: increments.size] * (0.5 / previous)))
    return float(least[fewest : most + 1].min())


def beyond(x: Floats, least: Floats | float) -> Floats:
    """Return values just above all that count as equal to x, none between 0 and the least AP."""
    just_above = x * (1 + 3 * EQUAL) + _TINY
    return np.maximum(just_above, np.asarray(least) / 2)


def ap_atoms(items: Items, n_pos: int, most: int = _MOST) -> tuple[Floats, Floats] | None:
    """Return the values of AP over all rankings, rising, and their probabilities; None if many.

    Precisions are added up from the top down, as `evaluate` adds them.
    """
    blocks = items.blocks(_MOST_BLOCKS + 1)
    if blocks.size > _MOST_BLOCKS or n_pos > _MOST_POSITIVES:
        return None
    hits, total, weight = np.zeros(1, np.int64), np.zeros(1), np.zeros(1)
    above = 0
    for end in blocks.tolist():
        size, left = end - above, items.n - above
        parts = []
        for more in range(min(size, n_pos) + 1):
            met, earned = hits + more, total.copy()
            for _ in range(more if end <= items.depth else 0):
                earned += met / end
            rest = n_pos - hits
            chance = log_binomial(size, np.full(hits.size, more))
            chance = chance + log_binomial(left - size, rest - more) - log_binomial(left, rest)
            is_possible = np.isfinite(chance) & (met <= n_pos)
            parts.append([each[is_possible] for each in (met, earned, weight + chance)])
        hits, total, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.lexsort((total, hits))
        hits, total, weight = hits[order], total[order], weight[order]
        first = np.flatnonzero(
            (np.diff(hits, prepend=-1) != 0) | (np.diff(total, prepend=-1) != 0)
        )
        hits, total = hits[first], total[first]
        weight = np.logaddexp.reduceat(weight, first)
        if hits.size > most:
            return None
        above = end
    values, place = np.unique(total / n_pos, return_inverse=True)
    return values, np.bincount(place, np.exp(weight), values.size).astype(np.float64)


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
