"""The least and the largest AP of random rankings."""

import numpy as np

from prframe.stats.null.average_precision.approximations import ap_minimum
from prframe.stats.null.average_precision.generating_function.steps import Items


def ap_extremes(items: Items, n_pos: int) -> tuple[float, float]:
    """Return the least and the largest AP of rankings of items, of which `n_pos` are positive."""
    fewest, most = max(0, n_pos - (items.n - items.depth)), min(n_pos, items.depth)
    if items.ends is not None:
        return _tied_extremes(np.diff(items.ends, prepend=0).tolist(), n_pos, (fewest, most))
    least = fewest * float(ap_minimum(items.depth, fewest)) if fewest else 0.0
    return least / n_pos, most / n_pos


def _tied_extremes(sizes: list[int], n_pos: int, n_hits: tuple[int, int]) -> tuple[float, float]:
    """Return the least and the largest AP, found block by block for every number of hits."""
    hits = np.arange(n_pos + 1)
    least = np.where(hits == 0, 0.0, np.inf)
    largest = -least
    end = 0
    for size in sizes:
        end += size
        low, high = least.copy(), largest.copy()
        for j in range(1, min(size, n_pos) + 1):
            gain = j * hits[j:] / end
            low[j:] = np.minimum(low[j:], least[:-j] + gain)
            high[j:] = np.maximum(high[j:], largest[:-j] + gain)
        least, largest = low, high
    fewest, most = n_hits
    low, high = least[fewest : most + 1].min(), largest[fewest : most + 1].max()
    return float(low) / n_pos, float(high) / n_pos
