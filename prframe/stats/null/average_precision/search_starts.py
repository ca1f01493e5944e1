"""Where searches for critical values of AP begin, so that few tails have to be computed.

The start is nearer to the critical value than one from mean, variance and shape: at what the first
hits of rare positives add, at what rare negatives cost, or far out at the likeliest rankings.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from prframe.stats.null.average_precision.generating_function.steps import Items
from prframe.stats.null.average_precision.likely_tails import (
    LikelyTails,
    first_hits,
    lacks_of_negatives,
)
from prframe.stats.null.average_precision.tails.alike import SPARSE
from prframe.stats.null.quantiles import Search
from prframe.typing import Floats

# If positives are at most this share of the items, the first hits say where upper tails are small.
_RARE = 0.02
# Levels are far if their logarithms are below the first number, or below the second where there
# are neither first hits nor an expansion of quantiles. The search for these begins where the
# likeliest rankings are as rare (`LikelyTails`).
_LOG_FAR, _LOG_SKEWED = -20.0, -5.0


@dataclass(frozen=True, eq=False)
class SearchStarts:
    """Where searches for critical values begin.

    Attributes
    ----------
    items : Items
    n_pos : int
        Positives among them.
    mean, std, largest : float
        The mean, the standard deviation and the largest value of AP.
    """

    items: Items
    n_pos: int
    mean: float
    std: float
    largest: float

    def begun(self, search: Search, levels: Floats) -> Search:
        """Return a search for critical values at levels that begins nearer to them."""
        n_neg, is_whole = self.items.n - self.n_pos, self.items.depth == self.items.n
        if not self.items.is_tied and is_whole and 0 < n_neg <= _RARE * self.items.n:
            return self._at_lacks(search, levels)
        if self._likely_tails is None:
            return search
        log_level = np.log(levels)
        total, slope = self._likely_tails.at(log_level)
        is_rare = not self.items.is_tied and self.n_pos <= _RARE * self.items.n
        far = log_level < (_LOG_FAR if search.is_expanded or is_rare else _LOG_SKEWED)
        if is_rare:
            least = self.n_pos * self.mean + first_hits(self.items.n, self.n_pos, log_level)
            start = np.clip(least / self.n_pos, search.start, self.largest)
            search, total = replace(search, start=start), np.maximum(total, least)
        return search.begun(total / self.n_pos, slope * self.n_pos, far)

    def _at_lacks(self, search: Search, levels: Floats) -> Search:
        """Return a search that begins at what rare negatives cost."""
        lack, slope = lacks_of_negatives(self.items.n, self.items.n - self.n_pos, levels)
        everywhere = np.ones(lack.size, np.bool_)
        return search.begun(1 - lack / self.n_pos, slope * self.n_pos, everywhere)

    @cached_property
    def _likely_tails(self) -> LikelyTails | None:
        """Rough upper tails; None where they would have no meaning."""
        if min(self.n_pos, self.items.n - self.n_pos) <= SPARSE or self.std == 0:
            return None
        mean, std, largest = (self.n_pos * x for x in (self.mean, self.std, self.largest))
        tails = LikelyTails.of(self.items, self.n_pos, mean, std, largest)
        return tails if tails.total.size > 1 else None
