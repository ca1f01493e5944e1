"""A ranking as steps of ranks, and what is asked of it and found.

With h positives so far, a positive at rank t adds h/t to ``T = n_pos AP`` (h counts it); in a tie
block that ends at rank e, j positives add ``j h/e`` (h counts them all). A step takes one rank, or
one tie block; far down, where it matters little, a few per cent of the ranks at once.
"""

from dataclasses import dataclass
from functools import lru_cache, partial
from math import expm1, inf, log
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaln, digamma, gammaln

from prframe.errors import PrframeError
from prframe.typing import Flags, Floats, Integers

# Sums of 1/rank with at most this many terms are added up. Longer ones are differences of digamma.
_SHORT = 32
# Low values of T depend on how often positives share a tie block, which a step averages over. Near
# the last rank such a step takes this share of what it takes elsewhere.
_NEAR_THE_END = 0.1
# The logarithms of the factorials of small numbers.
_LOG_FACTORIALS: Floats = gammaln(np.arange(1.0, 4098.0))
# Each of the first ranks, this many, is a step of its own. Further down a step takes this share of
# the rank.
DENSE, GROWTH = 64, 0.08
# Neighbouring values of AP are as close as their rounding among more retrieved items.
LARGEST_DEPTH = 10**8

APNullMethod: TypeAlias = Literal["auto", "exact", "lattice", "saddlepoint", "transform"]


class Steps(NamedTuple):
    """The steps of a ranking, arrays with one entry per step.

    Below its first `above` ranks a step takes `size` of them. With h positives above and j in the
    step, T grows on average by ``j (h + 1) single + j (j - 1) pair``, with the variance
    ``j (1 - j/size) (h + j/2)^2 spread``. The last rank of the step is `end`.
    """

    above: Integers
    size: Integers
    single: Floats
    pair: Floats
    spread: Floats

    @property
    def end(self) -> Integers:
        """The rank of the last item of each step."""
        return self.above + self.size

    def growth(self, step: Integers, hits: Integers, positives: Integers) -> Floats:
        """Return the mean growth of T, with so many positives above and in each step."""
        j = positives
        return np.asarray(j * (hits + 1) * self.single[step] + j * (j - 1) * self.pair[step])

    def deviation(self, step: Integers, hits: Integers, positives: Integers) -> Floats:
        """Return the standard deviation of the growth of T."""
        j = positives
        share = j * (1 - j / np.maximum(self.size[step], 1)) * self.spread[step]
        return np.asarray(np.sqrt(share) * (hits + j / 2))

    def part(self, places: slice) -> "Steps":
        """Return steps that follow each other."""
        return Steps._make(values[places] for values in self)


@dataclass(frozen=True)
class Items:
    """Items, of which the first `depth` are retrieved, with the ends of tie blocks, if any."""

    n: int
    depth: int
    ends: Integers | None = None

    @property
    def is_tied(self) -> bool:
        """Whether there are tie blocks."""
        return self.ends is not None

    def blocks(self, most: int) -> Integers:
        """Return the ends of the first blocks or ranks, and n if it is next to the depth."""
        ends = np.arange(1, min(self.depth, most) + 1) if self.ends is None else self.ends[:most]
        is_cut = self.depth < self.n and ends[-1:].sum() == self.depth
        return np.append(ends, self.n) if is_cut else ends

    def table(
        self, dense: float = DENSE, growth: float = GROWTH, *, is_fine_below: bool = False
    ) -> Steps:
        """Return the steps: single ranks or blocks up to `dense`, then a share of the rank."""
        # Steps that are fine below take no larger share of the ranks to come either, and the last
        # ranks are steps of their own. What is not retrieved is the last step.
        n = self.n if is_fine_below else None
        make = self._block_cuts if self.is_tied else partial(_cuts, self.depth)
        cuts = make(dense, growth, n)
        cuts = np.append(cuts, self.n) if self.depth < self.n else cuts
        return self.between(cuts[:-1], cuts[1:])

    def between(self, above: Integers, end: Integers) -> Steps:
        """Return the steps that begin below `above` and end at `end`, both ends of blocks."""
        size = end - above
        if self.ends is None:
            total, pairs = _untied_sums(above, size)
            is_one: Flags = size <= 1
        else:
            total, pairs, is_one = self._tied_sums(above, end)
        retrieved = above < self.depth
        total, pairs = np.where(retrieved, total, 0.0), np.where(retrieved, pairs, 0.0)
        # Sizes are floats here, because squares of large ranks do not fit into 64-bit integers.
        m, middle = size.astype(np.float64), above + (size + 1) / 2
        spread = np.where(retrieved & ~is_one, (m * m - 1) / 12 / middle**4, 0.0)
        return Steps(above, size, total / m, pairs / np.maximum(m * (m - 1), 1), spread)

    def _block_cuts(self, dense: float, growth: float, n: int | None) -> Integers:
        """Return 0 and the ends of the steps, which are ends of blocks."""
        ends = np.zeros(0, np.int64) if self.ends is None else self.ends
        apart = int(np.searchsorted(ends, dense, side="left")) + 1
        cuts = [0, *ends[:apart].tolist()]
        place = apart - 1
        while cuts[-1] < self.depth:
            stride = _stride(cuts[-1], dense, growth, n)
            if n is not None:
                stride = min(stride, max(1, int(_NEAR_THE_END * growth * (n - cuts[-1]))))
            further = int(np.searchsorted(ends, cuts[-1] + stride, side="right")) - 1
            place = max(further, place + 1)
            cuts.append(int(ends[place]))
        return np.array(cuts, dtype=np.int64)

    def _tied_sums(self, above: Integers, end: Integers) -> tuple[Floats, Floats, Flags]:
        """Return sums of 1/end over items and over pairs, and whether there is just one block."""
        ends = np.zeros(1, np.int64) if self.ends is None or not self.ends.size else self.ends
        sizes = np.diff(ends, prepend=0)
        begin = np.minimum(np.searchsorted(ends, above, side="right"), ends.size - 1)
        count = np.maximum(np.searchsorted(ends, end, side="right") - begin, 1)
        step = np.repeat(np.arange(above.size), count)
        block = np.repeat(begin - (np.cumsum(count) - count), count) + np.arange(step.size)
        share = sizes[block] / np.maximum(ends[block], 1)
        pairs = share * (ends[block] - above[step] - 1)
        total, of_pairs = (np.bincount(step, each, above.size) for each in (share, pairs))
        return total.astype(np.float64), of_pairs.astype(np.float64), count == 1


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
    if n.size > 1 and n.max() < _LOG_FACTORIALS.size:
        # These are five times as quick.
        total, part, other = (_LOG_FACTORIALS[each.astype(np.int64)] for each in (n, k, rest))
        value = total - part - other
    else:
        # Unlike factorials, the beta function loses nothing where n is large and k small.
        value = smooth_log_binomial(n, k)
    return np.where(possible, value, -inf)


def smooth_log_binomial(n: Floats, k: Floats) -> Floats:
    """Return log C(n, k) for any n and k between 0 and n."""
    return np.asarray(-np.log1p(n) - betaln(n - k + 1.0, k + 1.0))


def log_hypergeometric(n: ArrayLike, n_pos: ArrayLike, drawn: ArrayLike, hits: Integers) -> Floats:
    """Return the logarithm of the chance that so many of the drawn items are positive."""
    n, n_pos, drawn = (np.asarray(number) for number in (n, n_pos, drawn))
    ways = log_binomial(drawn, hits) + log_binomial(n - drawn, n_pos - hits)
    return np.asarray(ways - log_binomial(n, n_pos))


def ranges(number: Integers) -> tuple[Integers, Integers]:
    """Return the places of numbers, each so many times, and 0, 1, ... for each of these."""
    of = np.repeat(np.arange(number.size), number)
    return of, np.arange(of.size) - (np.cumsum(number) - number)[of]


class Tail(NamedTuple):
    """The logarithms of P(AP >= x) and P(AP < x), and the method."""

    log_reached: float
    log_missed: float
    method: str

    @classmethod
    def of(cls, log_tail: float, method: str, *, is_upper: bool) -> "Tail":
        """Return both tails, given the logarithm of one."""
        log_tail = min(log_tail, 0.0)
        other = log(-expm1(log_tail)) if log_tail < 0 else -inf
        return cls(log_tail, other, method) if is_upper else cls(other, log_tail, method)


class Retrieved(NamedTuple):
    """The numbers of items, of positives among them, and of items that are retrieved."""

    n: int
    n_pos: int
    depth: int


class Problem(NamedTuple):
    """A value of T = n_pos AP, and the rankings that make its distribution."""

    items: Items
    n_pos: int
    target: float
    mean: float
    deviation: float
    # Steps are short at the last ranks for low values, and those near 1 where negatives are few.
    is_fine_below: bool = False

    @property
    def steps(self) -> Steps:
        """The steps of the walk."""
        return self.items.table(is_fine_below=self.is_fine_below)

    @property
    def retrieved(self) -> Retrieved:
        """What tells its number of hits."""
        return Retrieved(self.items.n, self.n_pos, self.items.depth)

    @property
    def key(self) -> tuple[object, ...]:
        """What tells problems apart: n, depth, the ends of tie blocks, and all else."""
        ends = None if self.items.ends is None else self.items.ends.tobytes()
        return self.items.n, self.items.depth, ends, *self[1:]


def refuse_large(depth: int, n_pos: int) -> None:
    """Refuse tails among more retrieved items than floats can tell apart."""
    if depth > LARGEST_DEPTH:
        raise PrframeError(
            f"AP with n_pos={n_pos} and {depth:,} retrieved items has no p-value here: "
            f"beyond {LARGEST_DEPTH:,} items, neighbouring values are as close as their rounding. "
            "Draw random rankings instead, in ap_test with method='monte-carlo'; if the ranking "
            "is cut off, say where."
        )
