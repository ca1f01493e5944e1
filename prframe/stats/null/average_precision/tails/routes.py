"""Tail probabilities of AP under random ranking, each in the way that suits it.

- Few rankings, or few that are good enough: every one counts, by branch and bound ("exact").
- Few positives, or a characteristic function that does not die away, because single rankings
  carry weight: the walk with merged states ("lattice").
- Distributions that are nearly normal once they are tilted, as with many positives: a saddlepoint
  ("saddlepoint"), which needs the generating function at nine real slopes.
- All others: inversion of the characteristic function, many groups at once ("transform"). Where no
  walk is feasible it need not have settled ("estimate"), and may have nothing but an upper bound
  ("bound").

The walk with merged states and the inversion are independent of each other, and agree.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp, expm1, inf, isnan, log
from typing import Literal, NamedTuple, TypeAlias, cast

import numpy as np

from prframe.errors import PrframeError
from prframe.stats._tolerances import EQUAL
from prframe.stats.null.average_precision.approximations import ap_minimum
from prframe.stats.null.average_precision.generating_function.course import Course, Group
from prframe.stats.null.average_precision.generating_function.inversion import Inversion
from prframe.stats.null.average_precision.generating_function.steps import Items, log_binomial
from prframe.stats.null.average_precision.moments import ap_null_moments, retrieved_moments
from prframe.stats.null.average_precision.tails.counting import sparse_log_tails
from prframe.stats.null.average_precision.tails.lattice import (
    MOST_HITS,
    NEVER,
    Lattice,
    LatticeTails,
    Retrieved,
    lattice_tails,
    likely_hits,
    walk_terms,
)
from prframe.stats.null.average_precision.tails.merged_walk import Rounding, Tails, Walk
from prframe.stats.null.average_precision.tails.planned import (
    PlannedTail,
    Problem,
    planned_tails,
    problem_is_lumpy,
)
from prframe.typing import Floats, Integers

APNullMethod: TypeAlias = Literal["auto", "exact", "lattice", "saddlepoint", "transform"]

_TINY = 1e-300
# So many rankings are counted anyway, so many on demand; and so many that are good enough.
_COUNTED, _COUNTABLE, _FEW = 1 << 16, 1 << 22, 20_000
# States that are kept apart before they are merged, and where good rankings are few.
_APART, _FEW_APART = 2000, 100_000
# Up to so many positives, or negatives, single rankings carry weight.
_SPARSE = 3
# Beyond so many of both a walk with merged states would take minutes.
_LONG_WALK = 400
# Up to so many positives groups share a walk through every number of hits, those with about as
# many together; and where there are fewer no saddlepoint will do.
_SHARED, _ALIKE, _ROUND = 256, (16, 64, 256), 24
# Up to so many positives many values are found on a lattice.
_ON_LATTICE = 32
# Beyond so many positives what a lattice finds no certainty for stays an estimate.
_STUBBORN = 100
# So many terms a lattice may have for blocks: some seconds.
_MOST_TERMS = 4e5
# Up to such a share of positives single ranks carry weight.
_RARE = 0.02
# So many values of untied groups, or more, are quicker by the walk that they share.
_MANY = 8
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


# A group, and a value of its AP.
_Asked: TypeAlias = tuple[int, float]


class _Hint(NamedTuple):
    """What the inversion knows: tails, and the slope of their logarithms."""

    tail: Tail
    slope: float
    is_settled: bool
    is_from_lattice: bool = False


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
        self._lattices: dict[int, Lattice] = {}
        self._inversions: dict[tuple[int, ...], Inversion] = {}

    def _moments(self, n: Floats, n_pos: Floats) -> tuple[Floats, Floats]:
        """Return mean and variance of AP, by group."""
        depth, ends = self._shape
        ties = None if ends is None else np.diff(ends, prepend=0).tolist()
        if depth is None:
            return ap_null_moments(n, n_pos, ties)
        each = [retrieved_moments(*group, depth, ties) for group in self.groups]
        mean, variance = np.array(each, dtype=np.float64).T
        return mean, variance

    def begun(self, asked: Sequence[_Asked], method: APNullMethod) -> "list[Tail | None]":
        """Return the tails that are certain, or counted; None for others."""
        found = [self._certain(*pair) for pair in asked]
        return [
            self._counted(*pair, method) if tail is None else tail
            for tail, pair in zip(found, asked, strict=True)
        ]

    def problem(self, group: int, x: float) -> Problem:
        """Return a value of AP as one of T."""
        items, n_pos = self._items(group)
        mean, deviation = n_pos * self.mean[group], n_pos * self.variance[group] ** 0.5
        return Problem(items, n_pos, self._target(group, x), float(mean), float(deviation))

    def is_large(self, group: int) -> bool:
        """Whether a group needs a walk of its own."""
        return self.groups[group].n_pos > _SHARED and not self._is_sparse(group)

    def is_round(self, group: int) -> bool:
        """Whether a saddlepoint may do."""
        n, n_pos = self.groups[group]
        return min(n_pos, n - n_pos) >= _ROUND

    def finished(
        self, asked: Sequence[_Asked], known: "Sequence[_Hint | None]", method: APNullMethod
    ) -> list[Tail]:
        """Return the tails of the others, of some of which something is known."""
        hints = {place: hint for place, hint in enumerate(known) if hint is not None}
        open_ = [
            place
            for place, (group, _) in enumerate(asked)
            if place not in hints and method != "lattice" and not self._is_sparse(group)
        ]
        if open_:
            group, x = (
                np.array(column) for column in zip(*(asked[p] for p in open_), strict=True)
            )
            hints |= dict(zip(open_, self._inverted(group, x), strict=True))
        return [self._approximated(*pair, hints.get(place)) for place, pair in enumerate(asked)]

    def _approximated(self, group: int, x: float, hint: "_Hint | None") -> Tail:
        """Return the tails of one of the others, by what is known of it or by a walk."""
        is_good = hint is not None and self._is_good(group, hint)
        tail = hint.tail if hint is not None and is_good else self._walked(group, x, hint)
        n, n_pos = self.groups[group]
        if tail.method == "lattice" and n - n_pos <= _SPARSE:
            # Merged states are told apart by what they lack, of which few negatives take little.
            return tail._replace(method="estimate")
        if not self.is_tied or tail.method in {"exact", "saddlepoint"}:
            return tail
        if not problem_is_lumpy(self.problem(group, x)):
            return tail
        # Where AP clusters, as with huge tie blocks, inversion and merged states are not sure.
        if self.log_states[group] <= log(_COUNTABLE):
            walk = Walk(*self._items(group), self._target(group, x), is_counted=True)
            return _as_tail(walk.tails())
        lattice = self._on_lattice(group, x)
        return lattice if lattice is not None else tail._replace(method="estimate")

    def _on_lattice(self, group: int, x: float, most_terms: float = _MOST_TERMS) -> Tail | None:
        """Return the tails on a lattice, None where it is too coarse or would take long."""
        if not self._may_be_on_lattice(group, most_terms) or self._is_sparse(group):
            return None
        hint = self.lattice_hint(group, x)
        return hint.tail if hint is not None and hint.is_settled else None

    def lattice_hint(self, group: int, x: float) -> "_Hint | None":
        """Return what a lattice tells, which is kept for other values of the group."""
        if group not in self._lattices:
            self._lattices[group] = Lattice(self.retrieved(group), self._shape[1])
        return _lattice_hints(self._lattices[group].tails(self._target(group, x)))[0]

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

    def retrieved(self, group: int) -> Retrieved:
        """Return the n, n_pos and depth of a group; its tie blocks are not among them."""
        items, n_pos = self._items(group)
        return Retrieved(items.n, n_pos, items.depth)

    def is_small(self, group: int) -> bool:
        """Whether a value may be found on a lattice, with others."""
        few = self.groups[group].n_pos <= _ON_LATTICE
        return few and not self.is_tied and not self._is_sparse(group)

    def is_rare(self, group: int) -> bool:
        """Whether positives are so rare that single ranks carry weight: a lattice is best."""
        n, n_pos = self.groups[group]
        return n_pos <= _RARE * n and self._may_be_on_lattice(group, _MOST_TERMS)

    def _may_be_on_lattice(self, group: int, most_terms: float) -> bool:
        """Whether a walk on a lattice has rows for all likely hits, and not too many terms."""
        hits = likely_hits(self.retrieved(group), NEVER[1][0])
        terms = walk_terms(hits, self._items(group)[0]) if self.is_tied else 0.0
        return hits <= MOST_HITS and terms <= most_terms

    @property
    def is_tied(self) -> bool:
        """Whether there are tie blocks."""
        return self._shape[1] is not None

    def _is_sparse(self, group: int) -> bool:
        n, n_pos = self.groups[group]
        return min(n_pos, n - n_pos) <= _SPARSE

    def _is_good(self, group: int, hint: "_Hint") -> bool:
        """Whether an inverted tail will do: settled, or too far out to matter, and of many."""
        n_pos, is_long = self.groups[group].n_pos, self._is_long(group)
        if self._is_few(group, hint):
            return False
        is_far = hint.tail.method == "estimate" and hint.tail.log_reached < _FAR
        can_do_better = n_pos <= MOST_HITS and not hint.is_from_lattice
        return hint.is_settled or (is_long and not can_do_better) or is_far

    def _is_few(self, group: int, hint: "_Hint") -> bool:
        """Whether the smaller tail holds few rankings."""
        # Large blocks hold many positives in few ways: not few to walk through.
        counts = self.log_rankings if self._is_long(group) else self.log_states
        return self._few(hint.tail, counts[group])

    def _is_long(self, group: int) -> bool:
        """Whether a walk with merged states would take minutes."""
        n, n_pos = self.groups[group]
        return min(n_pos, n - n_pos) > _LONG_WALK

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
        if n_pos == n or (depth is None and ends is not None and ends.size == 1):
            # All that varies is which of equals is which.
            constant = best / n if n_pos == n else n_pos / n
            return _constant(is_reached=x <= constant * (1 + EQUAL))
        if x < best / n_pos * (1 - EQUAL):
            return None
        # The best ranking is all positives, then none of them or the end of what is retrieved.
        if x > best / n_pos * (1 + EQUAL) or not (ends is None or (ends == best).any()):
            return Tail(-inf, 0.0, "exact")
        log_best = float(log_binomial(n - best, n_pos - best) - self.log_rankings[group])
        return Tail(log_best, _log_rest(log_best), "exact")

    def _counted(self, group: int, x: float, method: APNullMethod) -> Tail | None:
        """Count rankings, if there are few enough, or if they differ in few items."""
        if method in {"auto", "exact"} and not self.is_tied and self._is_sparse(group):
            items, n_pos = self._items(group)
            logs = sparse_log_tails(items.n, n_pos, items.depth, self._target(group, x))
            if logs is not None:
                return Tail(*logs, "exact")
        most = {"auto": _COUNTED, "exact": _COUNTABLE}.get(method, 0)
        depth = self._shape[0]
        # Of what is not retrieved only the number of positives counts.
        patterns = inf if depth is None else depth * log(2)
        if most and min(self.log_states[group], patterns) <= log(most):
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
        """Walk with merged states, of two widths if need be, unless a lattice will do."""
        is_few = hint is not None and self._is_few(group, hint)
        is_long = self._is_long(group)
        if hint is not None and not hint.is_from_lattice and (is_long or not is_few):
            lattice = self._on_lattice(group, x, _MOST_TERMS if hint.is_settled else inf)
            if lattice is not None or is_long:
                return lattice or hint.tail
        if hint is not None and hint.is_from_lattice and self.groups[group].n_pos > _STUBBORN:
            return hint.tail
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
        """Raise tails to the chance of one ranking; with ties or a depth the upper may be 0."""
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
                f"method 'lattice' and `sf_bounds` take more than {_LONG_WALK} positives and more "
                f"than {_LONG_WALK} negatives only where few rankings are as good, or as bad; "
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
        for low, high in pairwise([0, *_ALIKE]):
            places = np.flatnonzero((low < n_pos) & (n_pos <= high))
            if places.size:
                distinct, inside = np.unique(group[places], return_inverse=True)
                target = x[places] * n_pos[places] * (1 - EQUAL)
                tails = self._inversion(tuple(distinct.tolist())).log_tails(inside, target)
                for place, *logs, good, slope, bound in zip(places.tolist(), *tails, strict=True):
                    method = "bound" if bound else "transform" if good else "estimate"
                    tail = Tail(float(logs[0]), float(logs[1]), method)
                    found[place] = _Hint(tail, float(slope), is_settled=bool(good))
        large = np.flatnonzero(n_pos > _SHARED).tolist()
        problems = [self.problem(int(group[place]), float(x[place])) for place in large]
        for place, own in zip(large, planned_tails(problems, only_inversion=True), strict=True):
            found[place] = cast("_Hint", _planned_hint(own))
        return [found[place] for place in range(x.size)]

    def _inversion(self, groups: tuple[int, ...]) -> Inversion:
        """Return the inversion for some groups."""
        if groups not in self._inversions:
            chosen = list(groups)
            course = Course.shared([self.groups[index] for index in chosen], *self._shape)
            n_pos = np.array([group.n_pos for group in course.groups])
            deviation = n_pos * np.sqrt(self.variance[chosen])
            self._inversions[groups] = Inversion(course, n_pos * self.mean[chosen], deviation)
        return self._inversions[groups]


def all_tails(
    parts: Sequence[tuple[NullTails, Integers, Floats]], method: APNullMethod = "auto"
) -> list[list[Tail]]:
    """Return the tails of values of AP, each in its group of a part.

    Groups that are walked to each by itself are walked to side by side, whatever part they are of.
    """
    distinct = [_distinct(group, x) for _, group, x in parts]
    pairs, places = [asked for asked, _ in distinct], [place for _, place in distinct]
    found = [part.begun(asked, method) for (part, *_), asked in zip(parts, pairs, strict=True)]
    rest = [
        [pair for pair, tail in zip(asked, tails, strict=True) if tail is None]
        for asked, tails in zip(pairs, found, strict=True)
    ]
    known = _known([part for part, *_ in parts], rest, method)
    results = []
    for (part, *_), tails, others, own, place in zip(
        parts, found, rest, known, places, strict=True
    ):
        more = iter(part.finished(others, own, method))
        whole = [next(more) if tail is None else tail for tail in tails]
        results.append([whole[index] for index in place])
    return results


def _distinct(group: Integers, x: Floats) -> tuple[list[_Asked], list[int]]:
    """Return the distinct pairs of group and value, and the place of each."""
    pairs = list(zip(group.tolist(), x.tolist(), strict=True))
    distinct = {pair: place for place, pair in enumerate(dict.fromkeys(pairs))}
    return list(distinct), [distinct[pair] for pair in pairs]


def _known(
    parts: Sequence[NullTails], rest: Sequence[Sequence[_Asked]], method: APNullMethod
) -> "list[list[_Hint | None]]":
    """Return what walks for groups of several parts find; None where they are not taken."""
    found: list[list[_Hint | None]] = [[None] * len(asked) for asked in rest]
    if method not in {"auto", "saddlepoint"}:
        return found
    each = [
        _Open(number, place, part, *pair, alone=part.is_tied or len(asked) < _MANY)
        for number, (part, asked) in enumerate(zip(parts, rest, strict=True))
        for place, pair in enumerate(asked)
    ]
    open_ = list(each)
    for chosen, tails in _stages(open_, method):
        for one, hint in zip(chosen, tails, strict=True):
            found[one.number][one.place] = hint
        open_[:] = [one for one in each if found[one.number][one.place] is None]
    return found


def _stages(
    open_: "Sequence[_Open]", method: APNullMethod
) -> "Iterator[tuple[list[_Open], list[_Hint | None]]]":
    """Yield values and what is known of them, from those that are still open."""
    deep: set[tuple[int, int]] = set()
    if method == "auto":
        is_many = sum(one.part.is_small(one.group) for one in open_) >= _MANY
        chosen = [
            one
            for one in open_
            if one.part.is_rare(one.group) or (is_many and one.part.is_small(one.group))
        ]
        deep = {(one.number, one.place) for one in chosen}
        yield chosen, _on_lattice(chosen)
    large = [one for one in open_ if one.part.is_large(one.group)]
    yield large, [_planned_hint(tail) for tail in planned_tails([one.problem for one in large])]
    medium = [
        one
        for one in open_
        if one.part.is_round(one.group)
        and (one.alone or method == "saddlepoint" or (one.number, one.place) in deep)
    ]
    tails = planned_tails([one.problem for one in medium], only_saddlepoint=True)
    yield medium, [_planned_hint(tail) for tail in tails]


@dataclass(frozen=True)
class _Open:
    """A value that is neither certain nor counted, and where it stands.

    `alone` tells that there are not enough like it to share the inversion.
    """

    number: int
    place: int
    part: NullTails
    group: int
    x: float
    alone: bool

    @property
    def problem(self) -> Problem:
        """The value as one of T."""
        return self.part.problem(self.group, self.x)


def _on_lattice(chosen: Sequence[_Open]) -> "list[_Hint | None]":
    """Return the tails of groups on a lattice; estimates where single values carry weight."""
    untied = [one for one in chosen if not one.part.is_tied]
    if len(untied) < _MANY:
        return [one.part.lattice_hint(one.group, one.x) for one in chosen]
    cases = [one.part.retrieved(one.group) for one in untied]
    tails = lattice_tails(cases, np.array([one.problem.target for one in untied]))
    shared = iter(_lattice_hints(tails))
    return [
        one.part.lattice_hint(one.group, one.x) if one.part.is_tied else next(shared)
        for one in chosen
    ]


def _lattice_hints(tails: LatticeTails) -> "list[_Hint | None]":
    """Return what a lattice tells; None where it does not reach."""
    hints: list[_Hint | None] = []
    for reached, missed, slope, lumpy in zip(*(column.tolist() for column in tails), strict=True):
        method = "estimate" if lumpy else "lattice"
        tail = Tail(min(reached, 0.0), min(missed, 0.0), method)
        hints.append(None if isnan(slope) else _Hint(tail, slope, not lumpy, is_from_lattice=True))
    return hints


def _planned_hint(tail: PlannedTail | None) -> "_Hint | None":
    if tail is None:
        return None
    logs = Tail(tail.log_reached, tail.log_missed, tail.method)
    return _Hint(logs, abs(tail.slope), is_settled=tail.is_settled)


def _constant(*, is_reached: bool) -> Tail:
    """Return the tails of a value where AP is certain."""
    return Tail(0.0, -inf, "exact") if is_reached else Tail(-inf, 0.0, "exact")


def just_above(x: Floats) -> Floats:
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
