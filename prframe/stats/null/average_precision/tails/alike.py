"""Groups that share a depth and tie blocks: their sizes, and which methods suit them."""

from collections.abc import Sequence
from math import log

import numpy as np

from prframe.stats._tolerances import EQUAL
from prframe.stats.null.average_precision.approximations import ap_minimum
from prframe.stats.null.average_precision.generating_function.course import Group
from prframe.stats.null.average_precision.generating_function.steps import Items, log_binomial
from prframe.stats.null.average_precision.moments import ap_null_moments, retrieved_moments
from prframe.stats.null.average_precision.tails.lattice import (
    MOST_HITS,
    NEVER,
    Retrieved,
    likely_hits,
    walk_terms,
)
from prframe.stats.null.average_precision.tails.planned import Problem
from prframe.stats.null.average_precision.tails.tail import Hint, Tail
from prframe.typing import Floats, Integers

# So many rankings that are good enough are few.
_FEW = 20_000
# Up to so many positives, or negatives, single rankings carry weight.
SPARSE = 3
# Beyond so many of both a walk with merged states would take minutes.
LONG_WALK = 400
# Up to so many positives groups share a walk through every number of hits; and where there are
# fewer no saddlepoint will do.
SHARED, _ROUND = 256, 24
# Up to so many positives many values are found on a lattice.
_ON_LATTICE = 32
# So many terms a lattice may have for blocks: some seconds.
MOST_TERMS = 4e5
# Up to such a share of positives single ranks carry weight.
_RARE = 0.02


class AlikeGroups:
    """Groups without ties, or one group with ties.

    Parameters
    ----------
    groups : sequence of Group
        Distinct groups; one only, if it is tied.
    depth : int, optional
        So many items of every group are retrieved, fewer than it has; all, if absent.
    ends : ndarray of int, optional
        Ends of the tie blocks of the retrieved items.
    """

    def __init__(
        self, groups: Sequence[Group], depth: int | None = None, ends: Integers | None = None
    ) -> None:
        self.groups = list(groups)
        self._shape = depth, ends
        n, n_pos = np.array(self.groups, dtype=np.float64).reshape(-1, 2).T
        self._least = ap_minimum(n, n_pos) if depth is None else np.zeros(n.size)
        self.mean, self.variance = self._moments(n, n_pos)
        self.log_rankings = log_binomial(n, n_pos)
        self.log_states = self.log_rankings
        if ends is not None:
            most = log_states(ends, int(n_pos[0])) + (depth is not None) * log(n_pos[0] + 1)
            self.log_states = np.minimum(self.log_rankings, most)

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

    def _is_sparse(self, group: int) -> bool:
        n, n_pos = self.groups[group]
        return min(n_pos, n - n_pos) <= SPARSE

    def is_small(self, group: int) -> bool:
        """Whether a value may be found on a lattice, with others."""
        few = self.groups[group].n_pos <= _ON_LATTICE
        return few and not self.is_tied and not self._is_sparse(group)

    def is_rare(self, group: int) -> bool:
        """Whether positives are so rare that single ranks carry weight: a lattice is best."""
        n, n_pos = self.groups[group]
        return n_pos <= _RARE * n and self._may_be_on_lattice(group, MOST_TERMS)

    def is_round(self, group: int) -> bool:
        """Whether a saddlepoint may do."""
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
        """Whether the smaller tail holds few of so many rankings."""
        return min(tail.log_reached, tail.log_missed) + log_count < log(_FEW)

    def _is_few(self, group: int, hint: Hint) -> bool:
        """Whether the smaller tail holds few rankings."""
        # Large blocks hold many positives in few ways: not few to walk through.
        counts = self.log_rankings if self._is_long(group) else self.log_states
        return self._few(hint.tail, counts[group])

    def _may_be_on_lattice(self, group: int, most_terms: float) -> bool:
        """Whether a walk on a lattice has rows for all likely hits, and not too many terms."""
        hits = likely_hits(self.retrieved(group), NEVER[1][0])
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
        n, n_pos = self.groups[group]
        depth, ends = self._shape
        return Items(n, n if depth is None else depth, ends), n_pos

    def _target(self, group: int, x: float) -> float:
        return x * self.groups[group].n_pos * (1 - EQUAL)

    def retrieved(self, group: int) -> Retrieved:
        """Return the n, n_pos and depth of a group; its tie blocks are not among them."""
        items, n_pos = self._items(group)
        return Retrieved(items.n, n_pos, items.depth)

    def problem(self, group: int, x: float) -> Problem:
        """Return a value of AP as one of T."""
        items, n_pos = self._items(group)
        mean, deviation = n_pos * self.mean[group], n_pos * self.variance[group] ** 0.5
        return Problem(items, n_pos, self._target(group, x), float(mean), float(deviation))


def log_states(ends: Integers, n_pos: int) -> float:
    """Return the logarithm of how many ways there are to spread positives over tie blocks."""
    sizes = np.diff(ends, prepend=0)
    apart = float(np.log(np.minimum(sizes, n_pos) + 1.0).sum())
    blocks = float(sizes.size)
    return min(apart, float(log_binomial(n_pos + blocks - 1, blocks - 1)))
