"""Groups that share a depth and tie blocks: their sizes, and which methods suit them."""

from collections.abc import Sequence
from functools import cached_property
from math import log

import numpy as np

from prframe.stats._tolerances import EQUAL
from prframe.stats.null.average_precision.approximations import ap_minimum
from prframe.stats.null.average_precision.generating_function.steps import Items, log_binomial
from prframe.stats.null.average_precision.generating_function.walk import Group
from prframe.stats.null.average_precision.moments import ap_null_moments, retrieved_moments
from prframe.stats.null.average_precision.tails.counted.few_blocks import log_states
from prframe.stats.null.average_precision.tails.drawn import DrawnRankings
from prframe.stats.null.average_precision.tails.low_values import (
    SUNK,
    SUNK_OF_FEW,
    Span,
    log_least_lower_tails,
)
from prframe.stats.null.average_precision.tails.plain.lattice import MOST_HITS, log_least_tails
from prframe.stats.null.average_precision.tails.plain.plans import (
    Retrieved,
    likely_hits,
    walk_terms,
)
from prframe.stats.null.average_precision.tails.planned import Problem
from prframe.stats.null.average_precision.tails.tail import Hint, Tail
from prframe.typing import Floats, Integers

# If fewer rankings than this make up the smaller tail, they are followed one by one.
_FEW = 20_000
# So many ways to spread positives over tie blocks, as a logarithm, are few.
_FEW_WAYS = 30.0
# A group with at most this many positives, or at most this many negatives, has a distribution in
# which single rankings carry weight. No lattice or generating function is used for it.
SPARSE = 3
# A group with more positives and more negatives than this gets no walk with merged states, which
# would take minutes.
LONG_WALK = 400
# Groups without ties that have at most this many positives share one walk of the generating
# function. A group with more positives has a walk of its own.
SHARED = 256
# In a group with fewer positives, or fewer negatives, than this no saddlepoint is accurate, so
# that none is tried where another method may be used.
_ROUND = 24
# A group with at most this many positives is put on a lattice together with other groups. A group
# with more positives is put on one only if its positives are rare.
_ON_LATTICE = 32
# A walk over tie blocks on a lattice has at most this many terms, which take some seconds. A group
# whose walk would have more is not put on a lattice.
MOST_TERMS = 4e5
# Positives are rare if they are at most this share of the items. Single ranks carry weight then.
_RARE = 0.02
# Groups without ties that have at most this many positives, which are rare, are put on a tilted
# lattice. So are up to the second number if each of them has many items (`_MANY_EACH`).
_MOST_TILTED, _MOST_TILTED_OF_STEEP = 2000, 5000
# In groups with more positives than this, closer plain lattices take so long that a tilted one is
# tried before them.
_SLOW = 100
# Among very many retrieved items, with a lower bound of the tail whose logarithm is below this,
# a tilted lattice is as quick as the first plain one, which more often is too coarse.
_FAR = -25.0
# So many retrieved items are very many. Lists of their first hits are quicker than a lattice whose
# points are close to each other, which many groups of fewer items may share.
_VAST = 100_000
# Tails have steep fronts, on which inversions fail, with at most so many positives that each have
# at least so many items.
_STEEP, _MANY_EACH = 600, 5000
# Where lattices are too coarse first hits are listed for T below this; more of them than lists
# hold decide beyond.
LISTED = 14.0
# Many positives begin with lists: at most so many, as lattices are too coarse for more, with T
# below the second number for the same reason. T is above its mean by less than the third number,
# as more hits than lists hold decide beyond.
_MOST_LISTED, _LISTED_FIRST, _LISTED_BEYOND = 20_000, 40.0, 13.0
# A number of hits counts for the size of a lattice if the natural logarithm of its chance is above
# this.
_UNLIKELY = -90.0
# A value is high if it is at most this share of the way from 1 to the mean away from 1. Negatives
# that are fewer than positives crowd at the end from the second share on.
_HIGH, FULL = 0.2, 0.5
# A list of at most so many items is short.
_SHORT_LIST = 512


class AlikeGroups:
    """Groups without ties, or one group with ties.

    Parameters
    ----------
    groups : sequence of Group
        Distinct groups; with ties there must be just one.
    depth : int, optional
        Number of items of every group that are retrieved, fewer than it has; all, if absent.
    ends : ndarray of int, optional
        Ends of the tie blocks of the retrieved items.
    """

    def __init__(
        self, groups: Sequence[Group], depth: int | None = None, ends: Integers | None = None
    ) -> None:
        self.groups = list(groups)
        self._shape = depth, ends
        self._sizes = np.array(self.groups, dtype=np.float64).reshape(-1, 2).T
        self.mean, self.variance = self._moments(*self._sizes)
        self._rankings: dict[int, DrawnRankings] = {}

    @cached_property
    def _least(self) -> Floats:
        """The least AP, or 0 with a depth, by group."""
        n, n_pos = self._sizes
        return ap_minimum(n, n_pos) if self._shape[0] is None else np.zeros(n.size)

    @cached_property
    def log_rankings(self) -> Floats:
        """The logarithm of the number of rankings, by group."""
        return log_binomial(*self._sizes)

    @cached_property
    def log_states(self) -> Floats:
        """The logarithm of the number of rankings that differ between tie blocks, at most."""
        depth, ends = self._shape
        if ends is None:
            return self.log_rankings
        n, n_pos = self.groups[0]
        most = log_states(ends, min(n_pos, n - n_pos), all_are_retrieved=depth is None)
        return np.minimum(self.log_rankings, most)

    def _moments(self, n: Floats, n_pos: Floats) -> tuple[Floats, Floats]:
        """Return mean and variance of AP, by group."""
        depth, ends = self._shape
        ties = None if ends is None else np.diff(ends, prepend=0).tolist()
        if depth is None:
            return ap_null_moments(n, n_pos, ties)
        each = [retrieved_moments(*group, depth, ties) for group in self.groups]
        mean, variance = np.array(each, dtype=np.float64).T
        return mean, variance

    @property
    def is_tied(self) -> bool:
        """Whether there are tie blocks."""
        return self._shape[1] is not None

    @property
    def _is_whole(self) -> bool:
        """Whether all items are retrieved, without ties."""
        return all(part is None for part in self._shape)

    def _is_sparse(self, group: int) -> bool:
        """Whether a group has at most `SPARSE` positives, or at most as many negatives."""
        n, n_pos = self.groups[group]
        return min(n_pos, n - n_pos) <= SPARSE

    def is_small(self, group: int) -> bool:
        """Whether a lattice may serve values of the group and of others at once."""
        few = self.groups[group].n_pos <= _ON_LATTICE
        return few and not self.is_tied and not self._is_sparse(group)

    def is_rare(self, group: int) -> bool:
        """Whether positives are so rare that single ranks carry weight, and a lattice is best."""
        n, n_pos = self.groups[group]
        return n_pos <= _RARE * n and self._may_be_on_lattice(group, MOST_TERMS)

    def is_scarce(self, group: int) -> bool:
        """Whether positives are rare, and not so many that a tilted lattice takes long."""
        n, n_pos = self.groups[group]
        most = _MOST_TILTED_OF_STEEP if n >= _MANY_EACH * n_pos else _MOST_TILTED
        return n_pos <= min(_RARE * n, SHARED if self.is_tied else most)

    def is_tilted_first(self, group: int) -> bool:
        """Whether a tilted lattice is quicker than anything that other groups may share."""
        is_vast = not self.is_tied and self.retrieved(group).depth >= _VAST
        return is_vast and self.is_scarce(group)

    def is_tilted_next(self, group: int) -> bool:
        """Whether a tilted lattice is tried where the first plain one is too coarse."""
        is_slow = not self.is_tied and self.is_scarce(group) and self.groups[group].n_pos > _SLOW
        return is_slow or self.is_tilted_first(group)

    def is_steep(self, group: int) -> bool:
        """Whether positives are so rare that single hits at the top make steep fronts of tails."""
        n, n_pos = self.groups[group]
        return n_pos <= _STEEP and n >= _MANY_EACH * n_pos

    def is_far(self, group: int, x: float) -> bool:
        """Whether a value is so far out that a tilted lattice comes before all others."""
        if not self.is_tilted_first(group):
            return False
        target = np.array([self._target(group, x)])
        return bool(log_least_tails([self.retrieved(group)], target)[0] < _FAR)

    def is_crowded(self, group: int) -> bool:
        """Whether so many hits are likely that a walk along a path is quicker than a lattice."""
        return self.is_large(group) and likely_hits(self.retrieved(group), _UNLIKELY) > SHARED

    def is_listed_first(self, group: int, x: float) -> bool:
        """Whether lists of first hits are quicker than a lattice with points close together."""
        return self.retrieved(group).depth >= _VAST and self._target(group, x) < LISTED

    def begins_with_lists(self, group: int, x: float) -> bool:
        """Whether many positives are so rare that lists of first hits come before walks."""
        n, n_pos = self.groups[group]
        is_rare = self.is_large(group) and n_pos <= min(_RARE * n, _MOST_LISTED)
        if self.is_tied or not is_rare or self.retrieved(group).depth < _VAST:
            return False
        target, mean = self._target(group, x), float(n_pos * self.mean[group])
        return mean < target < min(_LISTED_FIRST, mean + _LISTED_BEYOND)

    def is_round(self, group: int) -> bool:
        """Whether there are positives and negatives enough for a saddlepoint."""
        n, n_pos = self.groups[group]
        return min(n_pos, n - n_pos) >= _ROUND

    def is_large(self, group: int) -> bool:
        """Whether a group needs a walk of its own."""
        return self.groups[group].n_pos > SHARED and not self._is_sparse(group)

    def _is_long(self, group: int) -> bool:
        """Whether a walk with merged states would take minutes."""
        n, n_pos = self.groups[group]
        return min(n_pos, n - n_pos) > LONG_WALK

    @staticmethod
    def _few(tail: Tail, log_count: float) -> bool:
        """Whether the smaller tail holds few of the rankings, exp(log_count) in number."""
        return min(tail.log_reached, tail.log_missed) + log_count < log(_FEW)

    def _is_few(self, group: int, hint: Hint) -> bool:
        """Whether the smaller tail holds few rankings."""
        # A few large blocks hold many positives in few ways, all of which a walk may go through.
        # Many ways are not equally likely, so that a rare tail may hold most of them.
        states = self.log_states[group]
        is_coarse = states <= _FEW_WAYS and not self._is_long(group)
        return self._few(hint.tail, states if is_coarse else self.log_rankings[group])

    def _may_be_on_lattice(self, group: int, most_terms: float) -> bool:
        """Whether a walk on a lattice has rows for all likely hits, and not too many terms."""
        hits = likely_hits(self.retrieved(group), _UNLIKELY)
        terms = walk_terms(hits, self._items(group)[0]) if self.is_tied else 0.0
        return hits <= MOST_HITS and terms <= most_terms

    @property
    def _most_at_once(self) -> int:
        """The most positives that a tie block can hold."""
        ends = self._shape[1]
        if ends is None:
            return 1
        return min(int(np.diff(ends, prepend=0).max()), self.groups[0].n_pos)

    def _items(self, group: int) -> tuple[Items, int]:
        """Return the items of a group, and the number of positives among them."""
        n, n_pos = self.groups[group]
        depth, ends = self._shape
        return Items(n, n if depth is None else depth, ends), n_pos

    def _target(self, group: int, x: float) -> float:
        """Return the value of T that stands for a value of AP, less its rounding."""
        return x * self.groups[group].n_pos * (1 - EQUAL)

    def drawn(self, group: int, x: float) -> Tail | None:
        """Return the tails of a value of a group with ties from draws; None if these are few."""
        problem = self.problem(group, x)
        if not self.is_tied or not problem.deviation:
            return None
        if group not in self._rankings:
            self._rankings[group] = DrawnRankings(problem.items, problem.n_pos, problem.deviation)
        return self._rankings[group].tail(problem.target, problem.mean)

    def retrieved(self, group: int) -> Retrieved:
        """Return n, n_pos and depth of a group, without its tie blocks."""
        items, n_pos = self._items(group)
        return Retrieved(items.n, n_pos, items.depth)

    def problem(self, group: int, x: float) -> Problem:
        """Return the problem of finding the tails at a value of AP, in terms of T."""
        items, n_pos = self._items(group)
        mean, deviation = n_pos * self.mean[group], n_pos * self.variance[group] ** 0.5
        moments = float(mean), float(deviation)
        return Problem(
            items,
            n_pos,
            self._target(group, x),
            *moments,
            is_fine_below=self.is_low(group, x) or self.is_full(group, x),
            is_fine=self.is_unevenly_high(group, x),
        )

    def is_low(self, group: int, x: float) -> bool:
        """Whether positives that miss a value crowd at the end of the items."""
        return Span(float(self._least[group]), float(self.mean[group])).is_low(x)

    def excess(self, group: int, x: float) -> float:
        """Return by how much T exceeds the least of rankings without ties."""
        return float(self.groups[group].n_pos * (x - self._least[group]))

    def is_high(self, group: int, x: float) -> bool:
        """Whether a value is near 1, the largest one without ties or items that are missing."""
        return 1 - x <= _HIGH * (1 - float(self.mean[group]))

    def is_full(self, group: int, x: float) -> bool:
        """Whether negatives, which are fewer than positives, crowd at the end of the list."""
        n, n_pos = self.groups[group]
        return 2 * n_pos > n and 1 - x <= FULL * (1 - float(self.mean[group]))

    def is_unevenly_high(self, group: int, x: float) -> bool:
        """Whether a value of a short list with ties is high.

        It depends on how often positives share a block, which a step of several averages over.
        """
        ends = self._shape[1]
        return ends is not None and ends[-1:].sum() <= _SHORT_LIST and self.is_high(group, x)

    def may_be_sunk(self, group: int, x: float) -> bool:
        """Whether a value is so low that its lower tail may be below `SUNK`, or that of few."""
        if self._is_sparse(group) or not self.is_low(group, x):
            return False
        n, n_pos = self._sizes[:, group : group + 1]
        target = np.array([self._target(group, x)])
        level = SUNK if self.is_tied else SUNK_OF_FEW
        return bool(log_least_lower_tails(n, n_pos, target)[0] < level)
