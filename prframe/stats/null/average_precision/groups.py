"""Tails of the AP of many groups, and of their mean, under random ranking."""

from collections.abc import Sequence
from functools import cached_property
from itertools import groupby
from typing import NamedTuple, TypeAlias

import numpy as np

from prframe.stats._tolerances import EQUAL
from prframe.stats.null.average_precision.draws import cost, drawn
from prframe.stats.null.average_precision.extremes import ap_extremes
from prframe.stats.null.average_precision.generating_function.steps import Items
from prframe.stats.null.average_precision.generating_function.walk import Group
from prframe.stats.null.average_precision.sums.tail import sum_tails
from prframe.stats.null.average_precision.sums.terms import Term
from prframe.stats.null.average_precision.tails.alike import FULL, SPARSE
from prframe.stats.null.average_precision.tails.low_values import (
    SUNK,
    Span,
    log_least_lower_tails,
)
from prframe.stats.null.average_precision.tails.null_tails import NullTails
from prframe.stats.null.average_precision.tails.routes import all_tails
from prframe.stats.null.average_precision.tails.tail import (
    LARGEST_DEPTH,
    APNullMethod,
    Tail,
    constant_tail,
    log_rest,
    refuse_large,
)
from prframe.typing import Floats, Integers

Shape: TypeAlias = tuple[int | None, tuple[int, ...] | None]


class Case(NamedTuple):
    """The quantities on which the distribution of a group's AP depends.

    Attributes
    ----------
    n, n_pos : int
        Items, and positives among them, retrieved or not.
    depth : int
        Items that are retrieved; others earn nothing.
    ties : tuple of int, optional
        Sizes of the tie blocks of the retrieved items, best first; None without ties.
    """

    n: int
    n_pos: int
    depth: int
    ties: tuple[int, ...] | None = None

    @property
    def items(self) -> Items:
        """The items of the group."""
        return Items(self.n, self.depth, None if self.ties is None else np.cumsum(self.ties))

    @property
    def shape(self) -> "Shape":
        """The depth and the ties, which cases must share to be walked together."""
        return (None if self.depth == self.n else self.depth), self.ties


class Cases:
    """Groups of which several may be alike.

    Attributes
    ----------
    cases : list of Case
        One per group.
    mean, variance : ndarray of float, shape (n_groups,)
        Of AP under random ranking.
    """

    def __init__(self, cases: Sequence[Case]) -> None:
        self.cases = list(cases)
        self.mean, self.variance = np.zeros(len(cases)), np.zeros(len(cases))
        self._parts: list[tuple[NullTails, Integers, Integers]] = []
        shapes: dict[Shape, list[int]] = {}
        for place, case in enumerate(cases):
            shapes.setdefault(case.shape, []).append(place)
        for members in shapes.values():
            places = np.array(members)
            groups = [Group(case.n, case.n_pos) for case in map(self.cases.__getitem__, members)]
            distinct = list(dict.fromkeys(groups))
            index = {group: number for number, group in enumerate(distinct)}
            inside = np.array([index[group] for group in groups])
            depth, ties = self.cases[members[0]].shape
            tails = NullTails(distinct, depth, None if ties is None else np.cumsum(ties))
            self.mean[places], self.variance[places] = tails.mean[inside], tails.variance[inside]
            self._parts.append((tails, places, inside))

    def tails(self, ap: Floats, method: APNullMethod = "auto") -> list[Tail]:
        """Return the tails of a value of each group."""
        asked = [(tails, inside, ap[places]) for tails, places, inside in self._parts]
        tail_of: dict[int, Tail] = {}
        for (_, places, _), tails in zip(self._parts, all_tails(asked, method), strict=True):
            tail_of |= dict(zip(places.tolist(), tails, strict=True))
        return [tail_of[place] for place in range(len(self.cases))]

    def draws(self, place: int, size: int, seed: int) -> Floats:
        """Return random AP of a group; groups with equal quantities draw the same values."""
        case = self.cases[place]
        key = [seed, case.n, case.n_pos, case.depth, *(case.ties or ())]
        return drawn(case.items, case.n_pos, size, np.random.default_rng(key))

    @property
    def cost(self) -> int:
        """How many numbers are drawn for one random mean."""
        return sum(cost(case.n, case.n_pos) for case in self.cases)

    def mean_draws(self, size: int, seed: int) -> Floats:
        """Return random values of the mean, which do not depend on the order of groups."""
        total = np.zeros(size)
        order = sorted(range(len(self.cases)), key=lambda place: repr(self.cases[place]))
        for _, alike in groupby(order, key=lambda place: repr(self.cases[place])):
            for number, place in enumerate(alike):
                total += self.draws(place, size, seed + number)
        return total / len(self.cases)

    def mean_tail(self, value: float) -> Tail | None:
        """Return the tails of one value of the mean over groups; None if all methods fail."""
        return self.mean_tails(np.array([value]))[0]

    def mean_tails(self, values: Floats, *, only_inversion: bool = False) -> list[Tail | None]:
        """Return the tails of values of the mean; None where not even a bound is found."""
        if len(self.cases) == 1:
            return list(Cases(self.cases * values.size).tails(values))
        best = np.array([min(case.depth, case.n_pos) / case.n_pos for case in self.cases])
        totals = values * len(self.cases)
        tails: list[Tail | None] = [None] * values.size
        inside = totals > self._least.sum() * (1 + EQUAL)
        inside &= totals < best.sum() * (1 - EQUAL)
        for place in np.flatnonzero(~inside).tolist():
            tails[place] = self._extreme_tail(float(totals[place]), best)
        places = np.flatnonzero(inside)
        if places.size:
            for case in self.cases:
                if case.ties is None:
                    refuse_large(case.depth, case.n_pos, LARGEST_DEPTH)
            targets = totals[places] * (1 - EQUAL)
            found = self._sum_tails(targets, only_inversion=only_inversion)
            for place, tail in zip(places.tolist(), found, strict=True):
                tails[place] = tail
                if tail is None or tail.method == "bound":
                    tails[place] = self._least_tail(totals[place]) or tail
                elif tail.method == "estimate":
                    tails[place] = self._bounded(tail, totals[place], best)
        return tails

    def _sum_tails(self, targets: Floats, *, only_inversion: bool) -> list[Tail | None]:
        """Return the tails of sums of AP, of which low ones have walks of their own."""
        low = np.array([self._is_sunk(target) for target in targets.tolist()])
        full = targets >= len(self.cases) - FULL * (len(self.cases) - self.mean.sum())
        tails: list[Tail | None] = [None] * targets.size
        for is_low, is_full in np.unique([low, full], axis=1).T.tolist():
            places = np.flatnonzero((low == is_low) & (full == is_full))
            terms = self._terms(is_low=is_low, is_full=is_full)
            found = sum_tails(terms, targets[places], only_inversion=only_inversion)
            for place, tail in zip(places.tolist(), found, strict=True):
                tails[place] = tail
        return tails

    def _bounded(self, tail: Tail, total: float, best: Floats) -> Tail:
        """Return an estimate, or a bound that it exceeds.

        A sum that is nearly the largest needs each AP to be what the best of all others leave.
        """
        needed = total - (best.sum() - best)
        if needed.min() <= 0:
            return tail
        log_bound = sum(each.log_reached for each in self.tails(needed * (1 - EQUAL)))
        return tail if tail.log_reached <= log_bound else Tail(float(log_bound), 0.0, "bound")

    @cached_property
    def _least(self) -> Floats:
        """The AP of the worst ranking of each group."""
        return np.array([ap_extremes(case.items, case.n_pos)[0] for case in self.cases])

    def _least_tail(self, total: float) -> Tail | None:
        """Return the tails of a sum just above the least one; None of any other sum."""
        least = self._least
        if not least.sum() * (1 + EQUAL) < total < least.sum() * (1 + 5 * EQUAL):
            return None
        # Every group must have its worst ranking.
        tails = self.tails(least * (1 + 3 * EQUAL))
        if any(tail.method != "exact" for tail in tails):
            return None
        log_worst = float(sum(tail.log_missed for tail in tails))
        return Tail(log_rest(log_worst), log_worst, "exact")

    def _extreme_tail(self, total: float, best: Floats) -> Tail:
        """Return the tails of a sum of AP that is at most the least, or not below the largest."""
        if total < best.sum() * (1 - EQUAL):
            return constant_tail(is_reached=True)
        if total > best.sum() * (1 + EQUAL):
            return constant_tail(is_reached=False)
        # Every group must have its best ranking.
        log_best = float(sum(tail.log_reached for tail in self.tails(best)))
        return Tail(log_best, log_rest(log_best), "exact")

    def _is_sunk(self, total: float) -> bool:
        """Whether a sum of AP is so low that its lower tail may be below `SUNK`.

        It is not if it is likely enough that every AP is as low as the sum.
        """
        least, mean = self._least, self.mean
        span = Span(float(least.sum()), float(mean.sum()))
        if not span.is_low(total):
            return False
        n, n_pos = np.array([(case.n, case.n_pos) for case in self.cases], dtype=np.float64).T
        if np.minimum(n_pos, n - n_pos).min() <= SPARSE:
            # Single rankings carry weight then, which walks along paths smooth over.
            return False
        each = n_pos * (least + span.share(total) * (mean - least))
        return bool(log_least_lower_tails(n, n_pos, each).sum() < SUNK)

    def _terms(self, *, is_low: bool = False, is_full: bool = False) -> list[Term]:
        """Return the distinct groups whose AP is added up, and how often each is."""
        often: dict[Case, int] = {}
        for case in self.cases:
            often[case] = often.get(case, 0) + 1
        moments = zip(self.cases, self.mean.tolist(), self.variance.tolist(), strict=True)
        known = {case: (mean, variance) for case, mean, variance in moments}
        return [
            Term(
                case.items,
                case.n_pos,
                count,
                *known[case],
                is_low,
                is_full and 2 * case.n_pos > case.n,
            )
            for case, count in often.items()
        ]
