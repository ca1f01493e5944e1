"""The steps of walks down the ranks, each of which takes one rank or several.

With h positives so far, a positive at rank t adds h/t to ``T = n_pos AP`` (h counts it); in a tie
block that ends at rank e, j positives add ``j h/e`` (h counts them all). A step takes one rank, or
one tie block; far down it takes a few per cent of the ranks at once, because there it matters
little at which of them the positives stand.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma, gammaln

from prframe.typing import Floats, Integers

# Sums of 1/rank with at most this many terms are added up. Longer ones are differences of digamma.
_SHORT = 32
# Logarithms of factorials below these are looked up, in a table of each size.
_TABULATED = 1 << 14, 1 << 20

# Of tie blocks, a step takes no more than this times the usual share of the ranks to come.
_NEAR_THE_END = 0.1


@dataclass(frozen=True)
class Step:
    """A step of `size` ranks, below the first `above`.

    With h positives above and j in the step, T grows on average by
    ``j (h + 1) single + j (j - 1) pair``, with variance ``j (1 - j/size) (h + j/2)^2 spread``;
    `first` and `last` are the first and the last end of a block in the step.
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
        """The rank of the last item of the step."""
        return self.above + self.size

    @property
    def is_exact(self) -> bool:
        """Whether the step is one rank or one tie block, so that its growth is certain."""
        return self.first == self.last

    def growth(self, hits: Integers, positives: Integers) -> Floats:
        """Return the mean growth of T, with so many positives above and in the step."""
        j = positives.astype(np.float64)
        return np.asarray(j * (hits + 1) * self.single + j * (j - 1) * self.pair)


class Steps(NamedTuple):
    """The quantities of `Step`, an array of each with one entry per step."""

    above: Integers
    size: Integers
    single: Floats
    pair: Floats
    spread: Floats
    first: Integers
    last: Integers

    @property
    def end(self) -> Integers:
        """The rank of the last item of each step."""
        return self.above + self.size

    def growth(self, step: "Integers | int", hits: Integers, positives: Integers) -> Floats:
        """Return the mean growth of T in steps, with so many positives above and in each."""
        j = positives
        return np.asarray(j * (hits + 1) * self.single[step] + j * (j - 1) * self.pair[step])

    def deviation(self, step: "Integers | int", hits: Integers, positives: Integers) -> Floats:
        """Return the standard deviation of the growth of T in steps."""
        j = positives
        share = j * (1 - j / np.maximum(self.size[step], 1)) * self.spread[step]
        return np.asarray(np.sqrt(share) * (hits + j / 2))

    def at(self, place: int) -> "Steps":
        """Return the step at a place."""
        return self.part(slice(place, place + 1))

    def part(self, places: slice) -> "Steps":
        """Return steps that follow each other."""
        return Steps._make(values[places] for values in self)


@dataclass(frozen=True)
class Items:
    """Items, of which the first `depth` are ranked.

    Attributes
    ----------
    n : int
        Number of items.
    depth : int
        Number of items that are retrieved; positives among the others earn nothing.
    ends : ndarray of int, optional
        Ends of the tie blocks of the retrieved ones; None without ties.
    """

    n: int
    depth: int
    ends: Integers | None = None

    @property
    def is_tied(self) -> bool:
        """Whether there are tie blocks."""
        return self.ends is not None

    @property
    def largest_block(self) -> int:
        """The size of the largest tie block; 1 without ties."""
        return 1 if self.ends is None else int(np.diff(self.ends, prepend=0).max(initial=1))

    def up_to(self, rank: Floats) -> Floats:
        """Return how many items stand in blocks that end at or above a rank."""
        bounded = np.minimum(np.floor(rank), self.depth)
        if self.ends is None:
            return np.asarray(bounded)
        place = np.searchsorted(self.ends, bounded, side="right")
        return np.concatenate([[0], self.ends])[place].astype(np.float64)

    def steps(self, dense: float, growth: float) -> Iterator[Step]:
        """Yield the steps: single ranks or blocks up to rank `dense`, then a share of the rank.

        The items that are not retrieved are the last step.
        """
        table = self.table(dense, growth)
        for row in zip(*(column.tolist() for column in table), strict=True):
            yield Step(*row)

    def table(self, dense: float, growth: float, *, is_fine_below: bool = False) -> Steps:
        """Return all steps at once.

        Where they are fine below, a step takes no larger share of the ranks to come either, and
        the last ranks are steps of their own.
        """
        n = self.n if is_fine_below else None
        cuts = (
            _cuts(self.depth, dense, growth, n)
            if self.ends is None
            else self._block_cuts(dense, growth, n)
        )
        if self.depth < self.n:
            cuts = np.append(cuts, self.n)
        return self.between(cuts[:-1], cuts[1:])

    def between(self, above: Integers, end: Integers) -> Steps:
        """Return the steps that begin below `above` and end at `end`, both ends of blocks."""
        size = end - above
        if self.ends is None:
            total, pairs = _untied_sums(above, size)
            first = above + 1
        else:
            total, pairs, first = self._tied_sums(above, end)
        retrieved = above < self.depth
        total, pairs = np.where(retrieved, total, 0.0), np.where(retrieved, pairs, 0.0)
        first = np.where(retrieved, first, end)
        # Sizes are floats here, because squares of large ranks do not fit into 64-bit integers.
        m, middle = size.astype(np.float64), above + (size + 1) / 2
        spread = np.where(first < end, (m * m - 1) / 12 / middle**4, 0.0)
        pair = pairs / np.maximum(m * (m - 1), 1)
        return Steps(above, size, total / m, pair, spread, first, end)

    def _block_cuts(self, dense: float, growth: float, n: int | None) -> Integers:
        """Return 0 and the ends of the steps, which are ends of blocks."""
        ends = np.zeros(0, np.int64) if self.ends is None else self.ends
        apart = int(np.searchsorted(ends, dense, side="left")) + 1
        cuts = [0, *ends[:apart].tolist()]
        place = apart - 1
        while cuts[-1] < self.depth:
            stride = _stride(cuts[-1], dense, growth, n)
            if n is not None:
                # Low T depends on how often positives share a block, which a step averages over.
                stride = min(stride, max(1, int(_NEAR_THE_END * growth * (n - cuts[-1]))))
            far = cuts[-1] + stride
            place = max(int(np.searchsorted(ends, far, side="right")) - 1, place + 1)
            cuts.append(int(ends[place]))
        return np.array(cuts, dtype=np.int64)

    def _tied_sums(self, above: Integers, end: Integers) -> tuple[Floats, Floats, Integers]:
        """Return the sums of 1/end over items and over pairs of them, and the first ends."""
        ends = np.zeros(1, np.int64) if self.ends is None or not self.ends.size else self.ends
        sizes = np.diff(ends, prepend=0)
        begin = np.minimum(np.searchsorted(ends, above, side="right"), ends.size - 1)
        count = np.maximum(np.searchsorted(ends, end, side="right") - begin, 1)
        step = np.repeat(np.arange(above.size), count)
        block = np.repeat(begin - (np.cumsum(count) - count), count) + np.arange(step.size)
        share = sizes[block] / np.maximum(ends[block], 1)
        pairs = share * (ends[block] - above[step] - 1)
        sums = [
            np.asarray(np.bincount(step, values, minlength=above.size), dtype=np.float64)
            for values in (share, pairs)
        ]
        return sums[0], sums[1], ends[begin]


@lru_cache(maxsize=64)
def _cuts(depth: int, dense: float, growth: float, n: int | None) -> Integers:
    """Return 0 and the ends of the steps without ties; `n` ranks are also gone through upwards."""
    near = depth if dense >= depth else int(np.ceil(dense))
    cuts = [*range(near + 1)]
    while cuts[-1] < depth:
        cuts.append(min(cuts[-1] + _stride(cuts[-1], dense, growth, n), depth))
    return np.array(cuts, dtype=np.int64)


def _stride(above: int, dense: float, growth: float, n: int | None) -> int:
    """Return how many ranks a step takes, which goes by the ranks to come too if there are `n`."""
    if n is None:
        return max(1, int(growth * above))
    return max(1, int(growth * min(above, n - above))) if n - above > dense else 1


def _untied_sums(above: Integers, size: Integers) -> tuple[Floats, Floats]:
    """Return the sums of 1/t over the ranks t of a step, and of the later 1/t over their pairs."""
    total = digamma(above + size + 1.0) - digamma(above + 1.0)
    short = np.flatnonzero(size <= _SHORT)
    # A sum has the same number of terms in every company, so that its digits do not depend on it.
    terms = np.arange(1, _SHORT + 1)
    ranks = above[short, None] + terms
    total[short] = np.where(terms <= size[short, None], 1.0 / ranks, 0.0).sum(axis=1)
    return total, size - (above + 1) * total


def log_binomial(n: ArrayLike, k: ArrayLike) -> Floats:
    """Return log C(n, k) for whole numbers, -inf where k is not in 0..n."""
    n, k = np.asarray(n, dtype=np.float64), np.asarray(k, dtype=np.float64)
    possible = (k >= 0) & (k <= n)
    k = np.where(possible, k, 0.0)
    rest = np.where(possible, n - k, 0.0)
    value = log_factorial(n) - log_factorial(k) - log_factorial(rest)
    return np.where(possible, value, -inf)


def log_hypergeometric(n: ArrayLike, n_pos: ArrayLike, drawn: ArrayLike, hits: Integers) -> Floats:
    """Return the logarithm of the chance that so many of the drawn items are positive."""
    n, n_pos, drawn = (np.asarray(number) for number in (n, n_pos, drawn))
    ways = log_binomial(drawn, hits) + log_binomial(n - drawn, n_pos - hits)
    return np.asarray(ways - log_binomial(n, n_pos))


def log_factorial(n: Floats) -> Floats:
    """Return log n! for whole numbers."""
    largest = n.max() if n.size else np.inf
    for size in _TABULATED:
        if largest < size:
            return np.asarray(_log_factorials(size)[n.astype(np.int64)])
    return np.asarray(gammaln(n + 1.0))


@cache
def _log_factorials(size: int) -> Floats:
    """Return the logarithms of 0!, 1!, ..., as many as `size`."""
    return np.asarray(gammaln(np.arange(size) + 1.0))
