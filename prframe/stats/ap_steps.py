"""Walks down the ranks, some ranks at a time.

With h positives so far, a positive at rank t adds h/t to ``T = n_pos AP`` (h counts it); in a tie
block that ends at rank e, j positives add ``j h/e`` (h counts them all). A step takes one rank, or
one tie block; far down it takes a few per cent of the ranks at once, because there it matters
little at which of them the positives stand.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Sums of so many terms are added up, longer ones come from digamma.
_SHORT = 32


@dataclass(frozen=True)
class Step:
    """Some ranks taken at once: `size` of them, below the first `above`.

    With h positives above and j in the step, T grows on average by
    ``j (h + 1) single + j (j - 1) pair``, with variance ``j (1 - j/size) (h + j/2)^2 spread``;
    `first` and `last` are the first and the last end of a block in it.
    """

    above: int
    size: int
    single: float
    pair: float
    spread: float
    first: int
    last: int

    @property
    def end(self) -> int:
        """The rank of the last item."""
        return self.above + self.size

    @property
    def is_exact(self) -> bool:
        """Whether the step is one rank or one tie block, so that its growth is certain."""
        return self.first == self.last

    def growth(self, hits: Integers, positives: Integers) -> Floats:
        """Return the mean growth of T, with so many positives above and in the step."""
        j = positives.astype(np.float64)
        return np.asarray(j * (hits + 1) * self.single + j * (j - 1) * self.pair)

    def variance(self, hits: Integers, positives: Integers) -> Floats:
        """Return the variance of the growth: that of the mean influence of a positive's place."""
        j = positives.astype(np.float64)
        return np.asarray(j * (1 - j / self.size) * (hits + j / 2) ** 2 * self.spread)


@dataclass(frozen=True)
class Items:
    """Items, the first of which are ranked.

    Attributes
    ----------
    n : int
        All of them.
    depth : int
        So many are retrieved; positives among the others earn nothing.
    ends : ndarray of int, optional
        Ends of the tie blocks of the retrieved ones; None without ties.
    """

    n: int
    depth: int
    ends: Integers | None = None

    def up_to(self, rank: Floats) -> Floats:
        """Return how many items stand in blocks that end at or above a rank."""
        bounded = np.minimum(np.floor(rank), self.depth)
        if self.ends is None:
            return np.asarray(bounded)
        place = np.searchsorted(self.ends, bounded, side="right")
        return np.concatenate([[0], self.ends])[place].astype(np.float64)

    def steps(self, dense: float, growth: float) -> Iterator[Step]:
        """Yield the steps: single ranks or blocks up to rank `dense`, then a share of the rank.

        The items that are not retrieved are the last one.
        """
        above = 0
        while above < self.depth:
            far = above + (max(1, int(growth * above)) if above >= dense else 1)
            end = self._block_end(above, min(far, self.depth))
            yield self.step(above, end)
            above = end
        if above < self.n:
            yield self.step(above, self.n)

    def step(self, above: int, end: int) -> Step:
        """Return the step between two ends of blocks."""
        size = end - above
        if above >= self.depth:
            return Step(above, size, 0.0, 0.0, 0.0, end, end)
        if self.ends is None:
            total = self._reciprocals(above, end)
            pairs = size - (above + 1) * total
            first = above + 1
        else:
            ends = self.ends[slice(*np.searchsorted(self.ends, [above + 1, end + 1]))]
            sizes = np.diff(ends, prepend=above)
            total = float((sizes / ends).sum())
            pairs = float((sizes * (ends - above - 1) / ends).sum())
            first = int(ends[0])
        middle = above + (size + 1) / 2
        spread = (size**2 - 1) / 12 / middle**4 if first < end else 0.0
        pair = pairs / (size * (size - 1)) if size > 1 else 0.0
        return Step(above, size, total / size, pair, spread, first, end)

    def _block_end(self, above: int, far: int) -> int:
        """Return the last end of a block at or above rank `far`; the next one if there is none."""
        if self.ends is None:
            return far
        place = int(np.searchsorted(self.ends, far, side="right")) - 1
        if place < 0 or self.ends[place] <= above:
            place += 1
        return int(self.ends[place])

    @staticmethod
    def _reciprocals(above: int, end: int) -> float:
        """Return the sum of 1/t over ranks t."""
        if end - above <= _SHORT:
            return float((1 / np.arange(above + 1, end + 1)).sum())
        # On use: SciPy takes longer to import than most evaluations take.
        from scipy.special import digamma  # noqa: PLC0415

        return float(digamma(end + 1.0) - digamma(above + 1.0))

    @cached_property
    def is_tied(self) -> bool:
        """Whether there are tie blocks."""
        return self.ends is not None


def log_binomial(n: ArrayLike, k: ArrayLike) -> Floats:
    """Return log C(n, k), -inf where k is not in 0..n."""
    n, k = np.asarray(n, dtype=np.float64), np.asarray(k, dtype=np.float64)
    # On use: SciPy takes longer to import than most evaluations take.
    from scipy.special import gammaln  # noqa: PLC0415

    possible = (k >= 0) & (k <= n)
    n, k = np.where(possible, n, 0.0), np.where(possible, k, 0.0)
    value = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
    return np.where(possible, value, -inf)
