"""Tails of AP for groups that share a depth and tie blocks, by each of the methods."""

from collections.abc import Sequence
from copy import copy
from math import exp, inf, log
from typing import Self, cast

import numpy as np

from prframe.errors import PrframeError
from prframe.stats._tolerances import EQUAL
from prframe.stats.null.average_precision.generating_function.inversion import Inversion
from prframe.stats.null.average_precision.generating_function.walk import Course, Group
from prframe.stats.null.average_precision.likely_tails import likely_log_tails
from prframe.stats.null.average_precision.tails.alike import (
    LONG_WALK,
    MOST_TERMS,
    SHARED,
    SPARSE,
)
from prframe.stats.null.average_precision.tails.certain import certain_tail, reached_by_all
from prframe.stats.null.average_precision.tails.counted.counting import sparse_log_tails
from prframe.stats.null.average_precision.tails.counted.few_among_many import few_among_many_tail
from prframe.stats.null.average_precision.tails.counted.few_blocks import FewBlocks
from prframe.stats.null.average_precision.tails.counted.few_negatives import few_negatives_tail
from prframe.stats.null.average_precision.tails.counted.full_lists import log_full_lists
from prframe.stats.null.average_precision.tails.counted.lack_lattice import log_tail_by_lack
from prframe.stats.null.average_precision.tails.counted.near_best import (
    near_best_bound,
    near_best_log_tail,
)
from prframe.stats.null.average_precision.tails.merged.walk import Rounding, Walk
from prframe.stats.null.average_precision.tails.mergers import Merger
from prframe.stats.null.average_precision.tails.neighbours import Sharing
from prframe.stats.null.average_precision.tails.on_lattices import OnLattices, lattice_hints
from prframe.stats.null.average_precision.tails.plain.lattice import (
    DEEPER,
    MOST_HITS,
    NEVER,
)
from prframe.stats.null.average_precision.tails.planned import (
    Problem,
    planned_tails,
    problem_is_lumpy,
)
from prframe.stats.null.average_precision.tails.tail import (
    LARGEST_DEPTH,
    APNullMethod,
    Asked,
    Hint,
    Tail,
    as_tail,
    log_rest,
    planned_hint,
    refuse_large,
)
from prframe.typing import Floats, Integers

# The method "auto" counts the rankings if there are at most this many. If there are more, it
# approximates their tails.
_COUNTED = 1 << 16
# The method "exact" counts at most this many rankings, and refuses groups that have more.
_COUNTABLE = 1 << 22
# Lists that positives nearly fill are counted if there are at most this many, as each of them
# needs little work.
_FULL_LISTS = 1 << 20
# A walk merges its states once it has more than this many.
_APART = 2000
# Where few rankings make up the tail, a walk keeps this many states apart, divided by the most
# positives that a tie block can hold, if that is more than the number above.
_FEW_APART = 100_000
# Where a lattice is too coarse, a group with at most this many positives gets a walk with merged
# states. In a group with more the tail from the lattice is kept, and called an estimate.
_STUBBORN = 100
# If the natural logarithm of a tail is below this, which is that of 1e-50, an estimate is kept. An
# estimate of a larger tail is replaced by a walk, if that does not take minutes.
_FAR = -115.0
# A walk merges states that are closer than this share of the sum that they lack.
_WIDE = 0.16
# A second walk merges them at this share (`Merger`).
_NARROW = 0.08
# A group with at most this many positives gets the second of these walks alone.
_ONE_WIDTH = 8
# Where states lack more than this over the slope of the tail's logarithm, the share is one of that
# instead of what they lack.
_SCALE = 2.0
# It is a share of at least this share of the value. Slopes next to the best ranking grow without
# end, and cells must stay wider than what counts as equal.
_FINEST = 1e-9
# A lattice of what nearly full lists lack comes first if it has at most so many rows, over all
# steps, which take a few hundredths of a second; it comes before draws with the second number.
_QUICK_ROWS, _MOST_ROWS = 8_000, 200_000
# Up to so many positives are counted in closed form, and so is the best ranking of more, of up to
# so many items.
_IN_CLOSED_FORM = 2
_LARGEST_IN_CLOSED_FORM = 10**12


class NullTails(OnLattices):
    """Tails for groups without ties, or for one group with ties."""

    def __init__(
        self, groups: Sequence[Group], depth: int | None = None, ends: Integers | None = None
    ) -> None:
        super().__init__(groups, depth, ends)
        self._inversions: dict[tuple[tuple[int, ...], bool], Inversion] = {}
        self._few_blocks: dict[int, FewBlocks | None] = {}

    def sharing(self, shares: Sharing) -> Self:
        """Return the same tails, of which those of neighbouring values share an inversion."""
        other = copy(self)
        other.shares = shares
        return other

    def problem(self, group: int, x: float) -> Problem:
        """Return the problem of a value, with what it shares with its neighbours."""
        problem = super().problem(group, x)
        if self.shares is None:
            return problem
        return problem._replace(shared=self.shares.of(group))

    def begun(self, asked: Sequence[Asked], method: APNullMethod) -> "list[Tail | Merger | None]":
        """Return the tails that are certain, or walks that count rankings; None for others."""
        certain = [self._certain(*pair) for pair in asked]
        for (group, _), tail in zip(asked, certain, strict=True):
            most = LARGEST_DEPTH if tail is None else _LARGEST_IN_CLOSED_FORM
            self._refuse_large(group, most)
        return [
            (
                self._counted(*pair, method)
                or (self.nearly_full(*pair, _QUICK_ROWS) if method == "auto" else None)
                or self._nearby(*pair)
                or self._below_all(*pair)
            )
            if tail is None
            else tail
            for tail, pair in zip(certain, asked, strict=True)
        ]

    def _nearby(self, group: int, x: float) -> Tail | None:
        """Return the tails of a value by what was found for a neighbour; None without one."""
        near = self.shares.of(group).near(self._target(group, x)) if self.shares else None
        hint = planned_hint(near)
        return None if hint is None else self._bounded(group, x, hint.tail)

    def _refuse_large(self, group: int, most: int) -> None:
        """Refuse a group without ties with more retrieved items than can be told apart."""
        n, n_pos = self.groups[group]
        depth, ends = self._shape
        if ends is None:
            most = _LARGEST_IN_CLOSED_FORM if n_pos <= _IN_CLOSED_FORM else most
            refuse_large(n if depth is None else depth, n_pos, most)

    def finished(
        self, asked: Sequence[Asked], known: Sequence[Hint | None], method: APNullMethod
    ) -> "list[Tail | Merger]":
        """Return the tails that `begun` did not give, from hints where there are any.

        Where a walk with merged states is needed, this is what it needs to know.
        """
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
        tails = [
            self._quick(*pair, hints.get(place), may_be_drawn=method == "auto" and not self.shares)
            for place, pair in enumerate(asked)
        ]
        for place, (pair, tail) in enumerate(zip(asked, tails, strict=True)):
            hint = hints.get(place)
            if self.shares and (hint is None or tail is not hint.tail):
                # Values nearby are not left to what gave way to another method.
                self.shares.of(pair[0]).forget()
            if self.shares and hint is not None and isinstance(tail, Merger):
                tails[place] = self._shared(*pair, hint, tail)
        return tails

    def _shared(self, group: int, x: float, hint: Hint, walk: Merger) -> "Tail | Merger":
        """Note that a value needs a walk, and return rough tails instead if they may be rough."""
        if not self.shares or self._is_few(group, hint):
            return walk
        shared = self.shares.of(group)
        shared.is_merged = True
        if not shared.is_rough or hint.tail.method != "bound":
            return hint.tail if shared.is_rough else walk
        problem = self.problem(group, x)
        log_tail = float(
            likely_log_tails([problem.items], [problem.n_pos], np.array([problem.target]))[0]
        )
        return Tail(log_tail, log_rest(log_tail), "estimate") if log_tail < 0 else walk

    def _quick(
        self, group: int, x: float, hint: Hint | None, *, may_be_drawn: bool
    ) -> "Tail | Merger":
        """Return the tails of a value by hint or on a lattice, or what a walk needs to know."""
        if hint is not None and self._is_good(group, hint):
            return hint.tail
        is_few = hint is not None and self._is_few(group, hint)
        is_long = self._is_long(group)
        if hint is not None and not hint.is_from_lattice and (is_long or not is_few):
            lattice = self._on_lattice(group, x, MOST_TERMS if hint.is_accurate else inf)
            if lattice is not None or is_long:
                return lattice or hint.tail
        if hint is not None and hint.is_from_lattice and self.groups[group].n_pos > _STUBBORN:
            return hint.tail
        if may_be_drawn and (tail := self._in_clusters(group, x)):
            return tail
        hint = hint or self._hint(group, x)
        first, second = self._walk(group, x, _NARROW, hint), None
        if self.groups[group].n_pos > _ONE_WIDTH:
            first, second = self._walk(group, x, _WIDE, hint), first
        log_one = -float(self.log_rankings[group])
        return Merger(first, second, log_one, may_be_empty=not self._is_whole)

    def _in_clusters(self, group: int, x: float) -> Tail | None:
        """Return the tails where AP clusters and rankings are many; None elsewhere.

        Merged states would not be sure of them, and take longer.
        """
        if not self.is_tied or self.log_states[group] <= log(_COUNTABLE):
            return None
        if not problem_is_lumpy(self.problem(group, x)):
            return None
        return self._on_lattices(group, x) or self.drawn(group, x)

    def _on_lattices(self, group: int, x: float) -> Tail | None:
        """Return the tails of a list that positives nearly fill, or on a lattice, or None."""
        return self.nearly_full(group, x, _MOST_ROWS) or self._on_lattice(group, x)

    def checked(self, group: int, x: float, tail: Tail, method: APNullMethod) -> Tail:
        """Return the tails of a value that was neither certain nor counted, under their bound."""
        better = self._smooth(group, x, tail)
        is_rough = self.shares is not None and self.shares.is_rough
        if method == "auto" and better.method in {"estimate", "bound"} and not is_rough:
            better = (
                self.nearly_full(group, x, _MOST_ROWS)
                or self.drawn(group, x)
                or self.beside_run(group, x)
                or better
            )
        return self._bounded(group, x, better)

    def _bounded(self, group: int, x: float, tail: Tail) -> Tail:
        """Return the tails of a value, or their bound where they are beyond it."""
        if not self._is_whole or tail.method == "exact":
            return tail
        # Steps that take many ranks do not tell the few negatives apart that stand at the bottom.
        bound = near_best_bound(*self.groups[group], self._target(group, x))
        return Tail(bound, log_rest(bound), "bound") if tail.log_reached > bound else tail

    def _smooth(self, group: int, x: float, tail: Tail) -> Tail:
        """Return the tails of a value, or better ones where methods smooth over single values."""
        n, n_pos = self.groups[group]
        if tail.method == "lattice" and n - n_pos <= SPARSE:
            # States are merged by the sum that they lack, which few negatives hardly change.
            return tail._replace(method="estimate")
        if not self.is_tied or tail.method in {"exact", "saddlepoint", "monte-carlo"}:
            return tail
        if self.may_be_sunk(group, x) or not problem_is_lumpy(self.problem(group, x)):
            # Lattices have steps that are too long at the end.
            return tail
        # Where AP clusters, as with huge tie blocks, inversion and merged states are not sure.
        if self.log_states[group] <= log(_COUNTABLE):
            return as_tail(self._count(group, x).tails())
        return self._on_lattices(group, x) or tail._replace(method="estimate")

    def _on_lattice(self, group: int, x: float, most_terms: float = MOST_TERMS) -> Tail | None:
        """Return the tails on a lattice, None where it is too coarse or would take long."""
        if not self._may_be_on_lattice(group, most_terms) or self._is_sparse(group):
            return None
        hint = lattice_hints([(self, group, x)], NEVER if self.is_tied else DEEPER)[0]
        return hint.tail if hint is not None and hint.is_accurate else None

    def bounds(self, group: int, x: float, cell: float) -> tuple[float, float]:
        """Return a lower and an upper bound of P(AP >= x)."""
        if (sure := self._certain(group, x) or self._below_all(group, x)) is not None:
            return exp(sure.log_reached), exp(sure.log_reached)
        self._refuse_large(group, LARGEST_DEPTH)
        hint = self._hint(group, x)
        low, high = (
            self._walk(group, x, cell, hint, rounding).tails() for rounding in ("low", "high")
        )
        return exp(low.reached), min(exp(np.logaddexp(high.reached, high.left_out)), 1.0)

    def _is_good(self, group: int, hint: Hint) -> bool:
        """Whether a hint needs no walk: it is of many rankings, and accurate or far out enough."""
        n_pos, is_long = self.groups[group].n_pos, self._is_long(group)
        if self._is_few(group, hint):
            return False
        log_tail = min(hint.tail.log_reached, hint.tail.log_missed)
        is_far = hint.tail.method == "estimate" and log_tail < _FAR
        can_do_better = n_pos <= MOST_HITS and not hint.is_from_lattice
        return hint.is_accurate or (is_long and not can_do_better) or is_far

    def _certain(self, group: int, x: float) -> Tail | None:
        """Return the tails of values at and beyond the ends of the support, None between them."""
        if x <= self._least[group] * (1 + EQUAL):
            return Tail(0.0, -inf, "exact")
        return certain_tail(*self._items(group), x)

    def _below_all(self, group: int, x: float) -> Tail | None:
        """Return the tails of a value that tied rankings all reach; None of others."""
        return reached_by_all(*self._items(group), x) if x < self.mean[group] else None

    def _counted(self, group: int, x: float, method: APNullMethod) -> "Tail | Merger | None":
        """Return the tails by counting rankings, or the walk that does; None if they are many."""
        target = self._target(group, x)
        if method == "auto" and (few := few_negatives_tail(*self._items(group), target)):
            return few
        if method in {"auto", "exact"} and self._is_sparse(group):
            logs = sparse_log_tails(*self._items(group), target)
            if logs is not None:
                return Tail(*logs, "exact")
        if method in {"auto", "exact"} and self._is_whole:
            log_tail = near_best_log_tail(*self.groups[group], target)
            if log_tail is not None:
                return Tail(log_tail, log_rest(log_tail), "exact")
        if method in {"auto", "exact"} and (tail := self._in_few_blocks(group, x)):
            return tail
        depth, _ = self._shape
        most = {"auto": _COUNTED, "exact": _COUNTABLE}.get(method, 0)
        # Items that are not retrieved matter by the number of positives among them alone.
        patterns = inf if depth is None else depth * log(2)
        full_lists = log_full_lists(*self._items(group), target)
        are_few = min(self.log_states[group], patterns) <= log(most) if most else False
        if are_few or (most and full_lists <= log(_FULL_LISTS)):
            return Merger(self._count(group, x))
        if method == "exact":
            n, n_pos = self.groups[group]
            raise PrframeError(
                f"method 'exact' counts up to {_COUNTABLE} rankings; there are "
                f"10^{self.log_rankings[group] / log(10):.0f} of {n_pos} positives among {n} "
                "items; use method 'auto'."
            )
        return self._near_one(group, x) if method == "auto" else None

    def _near_one(self, group: int, x: float) -> Tail | None:
        """Return the tails of a value by what it lacks; None if it lacks too much."""
        if not self._is_whole or self._is_sparse(group):
            return None
        target, mean = self._target(group, x), self.groups[group].n_pos * float(self.mean[group])
        few = few_among_many_tail(*self._items(group), target, mean)
        if few is not None or not self.is_high(group, x):
            return few
        log_tail = log_tail_by_lack(*self.groups[group], target)
        return None if log_tail is None else Tail(log_tail, log_rest(log_tail), "lattice")

    def _in_few_blocks(self, group: int, x: float) -> Tail | None:
        """Return the tails where positives spread over tie blocks in few ways; None elsewhere."""
        if not self.is_tied or self._is_sparse(group):
            return None
        if group not in self._few_blocks:
            case = self._items(group)
            self._few_blocks[group] = FewBlocks(*case) if FewBlocks.serve(*case) else None
        known = self._few_blocks[group]
        if self.shares is None:
            # Its tables are large, and serve further values of searches alone.
            self._few_blocks.clear()
        return None if known is None else known.tail(self._target(group, x))

    def _count(self, group: int, x: float) -> Walk:
        """Return the walk that counts rankings."""
        return Walk(*self._items(group), self._target(group, x), is_counted=True)

    def _hint(self, group: int, x: float) -> Hint | None:
        """Return the tails of a value by inversion, None if single rankings carry weight."""
        if self._is_sparse(group):
            return None
        return self._inverted(np.array([group]), np.array([x]))[0]

    def _walk(
        self, group: int, x: float, cell: float, hint: Hint | None, rounding: Rounding = "mean"
    ) -> Walk:
        """Return a walk with cells of a width."""
        target = self._target(group, x)
        # Cells must not change with the last digits of the slope.
        scale = _SCALE / float(f"{hint.slope:.3g}") if hint else target
        scale = max(scale, _FINEST * target)
        n, n_pos = self.groups[group]
        few = hint is not None and self._few(hint.tail, self.log_states[group])
        if hint is not None and not few and min(n_pos, n - n_pos) > LONG_WALK:
            raise PrframeError(
                f"method 'lattice' and `sf_bounds` take more than {LONG_WALK} positives and more "
                f"than {LONG_WALK} negatives only where few rankings are as good, or as bad; "
                f"got {n_pos} positives among {n} items; use `sf` with method 'auto'."
            )
        return Walk(
            *self._items(group),
            target,
            cell,
            scale,
            max(_APART, _FEW_APART // self._most_at_once) if few else _APART,
            rounding,
            is_fine=few or hint is None,
            is_low=self.is_low(group, x),
        )

    def _inverted(self, group: Integers, x: Floats) -> list[Hint]:
        """Return the tails of values by inversion, ``"transform"`` where it has converged."""
        hints: dict[int, Hint] = {}
        n_pos = np.array([g.n_pos for g in self.groups])[group]
        pairs = zip(group.tolist(), x.tolist(), strict=True)
        own = (n_pos > SHARED) | [
            self.may_be_sunk(*pair) or self.is_unevenly_high(*pair) for pair in pairs
        ]
        places = np.flatnonzero(~own)
        if places.size:
            distinct, inside = np.unique(group[places], return_inverse=True)
            target = x[places] * n_pos[places] * (1 - EQUAL)
            tails = self._inversion(tuple(distinct.tolist())).log_tails(inside, target)
            for place, *logs, good, slope, bound in zip(places.tolist(), *tails, strict=True):
                method = "bound" if bound else "transform" if good else "estimate"
                tail = Tail(float(logs[0]), float(logs[1]), method)
                hints[place] = Hint(tail, float(slope), is_accurate=bool(good))
        large = np.flatnonzero(own).tolist()
        problems = [self.problem(int(group[place]), float(x[place])) for place in large]
        planned = planned_tails(problems, only_inversion=True)
        for place, inverted in zip(large, planned, strict=True):
            hints[place] = cast(Hint, planned_hint(inverted))
        return [hints[place] for place in range(x.size)]

    def _inversion(self, groups: tuple[int, ...]) -> Inversion:
        """Return the inversion for some groups."""
        # Within 1e-8 of themselves, the tails of neighbouring values are found more quickly.
        is_upward = self.shares is not None and len(groups) == 1
        if (groups, is_upward) not in self._inversions:
            chosen = list(groups)
            members = [self.groups[index] for index in chosen]
            course = Course.shared(members, *self._shape, is_upward=is_upward)
            n_pos = np.array([group.n_pos for group in course.groups])
            deviation = n_pos * np.sqrt(self.variance[chosen])
            inversion = Inversion(course, n_pos * self.mean[chosen], deviation)
            self._inversions[groups, is_upward] = inversion
        return self._inversions[groups, is_upward]
