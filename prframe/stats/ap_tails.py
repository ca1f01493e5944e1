"""Tail probabilities of AP under random ranking, each in the way that suits it.

- Few rankings, or few that are good enough: every one counts, by branch and bound ("exact").
- Few positives, or a characteristic function that does not die away, because single rankings
  carry weight: the walk with merged states ("lattice").
- All others: inversion of the characteristic function, many groups at once ("transform"). Beyond
  1e-50, or where no walk is feasible, it need not have settled ("estimate"), and may have nothing
  but an upper bound ("bound").

The last two are independent of each other, and agree.
"""

from collections.abc import Sequence
from math import exp, expm1, inf, log
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from prframe.errors import PrframeError
from prframe.stats.ap_course import MOST_ROWS, Course, Group
from prframe.stats.ap_fits import ap_minimum
from prframe.stats.ap_inversion import Inversion
from prframe.stats.ap_moments import ap_null_moments, retrieved_moments
from prframe.stats.ap_steps import Floats, Integers, Items, log_binomial
from prframe.stats.ap_walk import Rounding, Tails, Walk

Method: TypeAlias = Literal["auto", "exact", "lattice", "transform"]

# AP is a sum of fractions: values that differ by less are one.
EQUAL, _TINY = 1e-12, 1e-300
# So many rankings are counted anyway, so many on demand; and so many that are good enough.
_COUNTED, _COUNTABLE, _FEW = 1 << 16, 1 << 22, 20_000
# States that are kept apart before they are merged, and where good rankings are few.
_APART, _FEW_APART = 2000, 100_000
# Up to so many positives, or negatives, single rankings carry weight.
_SPARSE = 3
# Beyond so many of both a walk with merged states would take minutes.
_LONG_WALK = 400
# So far out, exp(-115) = 1e-50, an estimate of the inversion will do.
_FAR = -115.0
# Two widths of cells, from which the logarithm is extrapolated: the error is as their square.
_WIDE, _NARROW = 0.16, 0.08
# Up to so many positives the narrower one will do.
_ONE_WIDTH = 8
# The scale of a walk's cells, by the slope of the tail's logarithm.
_SCALE = 2.0


class Tail(NamedTuple):
    """Logarithms of P(AP >= x) and P(AP < x), and how they were found."""

    log_reached: float
    log_missed: float
    method: str


class _Hint(NamedTuple):
    """What the inversion knows: tails, and the slope of their logarithms."""

    tail: Tail
    slope: float
    is_settled: bool


class NullTails:
    """Tails for groups without ties, or for one group with ties.

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
        self._inversions: dict[tuple[int, ...], list[Inversion]] = {}
        self._coarse: dict[tuple[int, ...], Inversion] = {}

    def _moments(self, n: Floats, n_pos: Floats) -> tuple[Floats, Floats]:
        """Return mean and variance of AP, by group."""
        depth, ends = self._shape
        ties = None if ends is None else np.diff(ends, prepend=0).tolist()
        if depth is None:
            return ap_null_moments(n, n_pos, ties)
        each = [retrieved_moments(*group, depth, ties) for group in self.groups]
        mean, variance = np.array(each, dtype=np.float64).T
        return mean, variance

    def tails(self, group: Integers, x: Floats, method: Method = "auto") -> list[Tail]:
        """Return the tails of values of AP, each in its group."""
        pairs, places = np.unique(np.stack([group, x]), axis=1, return_inverse=True)
        found = self._tails(pairs[0].astype(np.int64), pairs[1], method) if x.size else []
        return [found[place] for place in places.ravel().tolist()]

    def _tails(self, group: Integers, x: Floats, method: Method) -> list[Tail]:
        """Return the tails of distinct values."""
        asked = list(zip(group.tolist(), x.tolist(), strict=True))
        found = [self._certain(*pair) for pair in asked]
        for place, pair in enumerate(asked):
            if found[place] is None:
                found[place] = self._counted(*pair, method)
        inverted = [
            place
            for place, (index, _) in enumerate(asked)
            if found[place] is None and method != "lattice" and not self._is_sparse(index)
        ]
        hints = dict(zip(inverted, self._inverted(group[inverted], x[inverted]), strict=True))
        for place, hint in hints.items():
            if self._is_good(int(group[place]), hint):
                found[place] = hint.tail
        return [
            tail if tail is not None else self._walked(*pair, hints.get(place))
            for place, (tail, pair) in enumerate(zip(found, asked, strict=True))
        ]

    def bounds(self, group: int, x: float, cell: float) -> tuple[float, float]:
        """Return numbers that P(AP >= x) lies between."""
        if (sure := self._certain(group, x)) is not None:
            return exp(sure.log_reached), exp(sure.log_reached)
        hint = self._hint(group, x)
        low, high = (self._walk(group, x, cell, hint, rounding) for rounding in ("low", "high"))
        return exp(low.reached), min(exp(np.logaddexp(high.reached, high.left_out)), 1.0)

    @property
    def _most_at_once(self) -> int:
        """The most positives that a tie block can hold."""
        ends = self._shape[1]
        if ends is None:
            return 1
        return min(int(np.diff(ends, prepend=0).max()), self.groups[0].n_pos)

    def _target(self, group: int, x: float) -> float:
        return x * self.groups[group].n_pos * (1 - EQUAL)

    def _is_sparse(self, group: int) -> bool:
        n, n_pos = self.groups[group]
        return min(n_pos, n - n_pos) <= _SPARSE

    def _is_good(self, group: int, hint: "_Hint") -> bool:
        """Whether an inverted tail will do: settled, or too far out to matter, and of many."""
        n, n_pos = self.groups[group]
        is_long = min(n_pos, n - n_pos) > _LONG_WALK
        # Large blocks hold many positives in few ways: not few to walk through.
        if self._few(hint.tail, (self.log_rankings if is_long else self.log_states)[group]):
            return False
        is_far = hint.tail.method == "estimate" and hint.tail.log_reached < _FAR
        return hint.is_settled or is_long or is_far

    @staticmethod
    def _few(tail: Tail, log_count: float) -> bool:
        """Whether the smaller tail holds few of so many rankings."""
        return min(tail.log_reached, tail.log_missed) + log_count < log(_FEW)

    def _certain(self, group: int, x: float) -> Tail | None:
        """Return the tails at and beyond the ends."""
        if x <= self._least[group] * (1 + EQUAL):
            return Tail(0.0, -inf, "exact")
        n, n_pos = self.groups[group]
        depth, ends = self._shape
        best = n_pos if depth is None else min(depth, n_pos)
        if x < best / n_pos * (1 - EQUAL):
            return None
        # The best ranking is all positives, then none of them or the end of what is retrieved.
        if x > best / n_pos * (1 + EQUAL) or not (ends is None or (ends == best).any()):
            return Tail(-inf, 0.0, "exact")
        log_best = float(log_binomial(n - best, n_pos - best) - self.log_rankings[group])
        return Tail(log_best, _log_rest(log_best), "exact")

    def _counted(self, group: int, x: float, method: Method) -> Tail | None:
        """Count rankings, if there are few enough."""
        most = {"auto": _COUNTED, "exact": _COUNTABLE}.get(method, 0)
        if most and self.log_states[group] <= log(most):
            walk = Walk(*self._items(group), self._target(group, x), is_counted=True)
            return _as_tail(walk.tails())
        if method == "exact":
            n, n_pos = self.groups[group]
            raise PrframeError(
                f"method 'exact' counts up to {_COUNTABLE} rankings; there are "
                f"10^{self.log_rankings[group] / log(10):.0f} of {n_pos} positives among {n} "
                "items; use method 'auto'."
            )
        return None

    def _items(self, group: int) -> tuple[Items, int]:
        n, n_pos = self.groups[group]
        depth, ends = self._shape
        return Items(n, n if depth is None else depth, ends), n_pos

    def _walked(self, group: int, x: float, hint: "_Hint | None") -> Tail:
        """Walk with merged states, of two widths if need be."""
        hint = hint or self._hint(group, x)
        one = self.groups[group].n_pos <= _ONE_WIDTH
        wide = self._walk(group, x, _NARROW if one else _WIDE, hint)
        if one or not wide.is_merged:
            return self._possible(group, _as_tail(wide))
        narrow = self._walk(group, x, _NARROW, hint)
        if narrow.reached <= narrow.missed:
            reached = min(_extrapolated(wide.reached, narrow.reached), 0.0)
            tail = Tail(reached, _log_rest(reached), "lattice")
        else:
            missed = min(_extrapolated(wide.missed, narrow.missed), 0.0)
            tail = Tail(_log_rest(missed), missed, "lattice")
        return self._possible(group, tail)

    def _hint(self, group: int, x: float) -> "_Hint | None":
        """Return what the inversion knows of a value."""
        if self._is_sparse(group):
            return None
        return self._inverted(np.array([group]), np.array([x]))[0]

    def _possible(self, group: int, tail: Tail) -> Tail:
        """Return a tail that one ranking at least is in; above tied ones there may be none."""
        one = -float(self.log_rankings[group])
        reached = tail.log_reached
        if reached > -inf or all(part is None for part in self._shape):
            reached = max(reached, one)
        return Tail(reached, max(tail.log_missed, one), tail.method)

    def _walk(
        self, group: int, x: float, cell: float, hint: "_Hint | None", rounding: Rounding = "mean"
    ) -> Tails:
        """Walk with cells of a width."""
        target = self._target(group, x)
        scale = _SCALE / hint.slope if hint else target
        n, n_pos = self.groups[group]
        few = hint is not None and self._few(hint.tail, self.log_states[group])
        if hint is not None and not few and min(n_pos, n - n_pos) > _LONG_WALK:
            raise PrframeError(
                f"a walk with merged states takes up to {_LONG_WALK} positives, or negatives; "
                f"got {n_pos} positives among {n} items; use `sf` with method 'auto'."
            )
        walk = Walk(
            *self._items(group),
            target,
            cell,
            scale,
            max(_APART, _FEW_APART // self._most_at_once) if few else _APART,
            rounding,
            is_fine=few or hint is None,
        )
        return walk.tails()

    def _inverted(self, group: Integers, x: Floats) -> list["_Hint"]:
        """Return the tails of values by inversion, ``"transform"`` where it has converged."""
        found: dict[int, _Hint] = {}
        n_pos = np.array([g.n_pos for g in self.groups])[group]
        alone = [[place] for place in np.flatnonzero(n_pos > MOST_ROWS).tolist()]
        for places in [np.flatnonzero(n_pos <= MOST_ROWS).tolist(), *alone]:
            if not places:
                continue
            distinct, inside = np.unique(group[places], return_inverse=True)
            inversion = self._inversion(tuple(distinct.tolist()), float(x[places[0]]))
            target = x[places] * n_pos[places] * (1 - EQUAL)
            tails = inversion.log_tails(inside, target)
            for place, *logs, good, slope, bound in zip(places, *tails, strict=True):
                method = "bound" if bound else "transform" if good else "estimate"
                tail = Tail(float(logs[0]), float(logs[1]), method)
                found[place] = _Hint(tail, float(slope), is_settled=bool(good))
        return [found[place] for place in range(x.size)]

    def _inversion(self, groups: tuple[int, ...], x: float) -> Inversion:
        """Return the inversion for some groups; for one with many positives, that around x."""
        known = self._inversions.setdefault(groups, [])
        target, is_large = self._target(groups[0], x), self.groups[groups[0]].n_pos > MOST_ROWS
        for inversion in known:
            if not is_large or inversion.covers(target):
                return inversion
        if groups not in self._coarse:
            chosen = list(groups)
            course = Course([self.groups[index] for index in chosen], *self._shape)
            n_pos = np.array([group.n_pos for group in course.groups])
            deviation = n_pos * np.sqrt(self.variance[chosen])
            self._coarse[groups] = Inversion(course, n_pos * self.mean[chosen], deviation)
        coarse = self._coarse[groups]
        known.append(coarse.refined(target) if is_large else coarse)
        return known[-1]


def beyond(x: Floats) -> Floats:
    """Return values just above those that equal x."""
    return np.asarray(x * (1 + 3 * EQUAL) + _TINY)


def log_states(ends: Integers, n_pos: int) -> float:
    """Return the logarithm of how many ways there are to spread positives over tie blocks."""
    sizes = np.diff(ends, prepend=0)
    apart = float(np.log(np.minimum(sizes, n_pos) + 1.0).sum())
    blocks = float(sizes.size)
    return min(apart, float(log_binomial(n_pos + blocks - 1, blocks - 1)))


def _as_tail(tails: Tails) -> Tail:
    """Return them with how they were found."""
    method = "exact" if tails.is_exact else "lattice"
    # Sums of chances may be wrong in the last digit, and not 1 where the rest is 0.
    reached = 0.0 if tails.missed == -inf else min(tails.reached, 0.0)
    missed = 0.0 if tails.reached == -inf else min(tails.missed, 0.0)
    return Tail(reached, missed, method)


def _log_rest(log_chance: float) -> float:
    """Return the logarithm of 1 less a chance."""
    return log(-expm1(log_chance)) if log_chance < 0 else -inf


def _extrapolated(wide: float, narrow: float) -> float:
    """Return the logarithm for cells of no width."""
    return narrow + (narrow - wide) / 3 if wide > -inf else narrow
