"""Tests of the AP of many groups, and of their mean, against random ranking."""

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple, TypeAlias

import numpy as np

from prframe.stats._tolerances import EQUAL
from prframe.stats.null.average_precision.draws import drawn
from prframe.stats.null.average_precision.generating_function.course import Group
from prframe.stats.null.average_precision.generating_function.steps import Items
from prframe.stats.null.average_precision.sums.tail import sum_tail
from prframe.stats.null.average_precision.sums.terms import Term
from prframe.stats.null.average_precision.tails.null_tails import NullTails
from prframe.stats.null.average_precision.tails.routes import all_tails
from prframe.stats.null.average_precision.tails.tail import APNullMethod, Tail
from prframe.typing import Floats, Integers

Shape: TypeAlias = tuple[int | None, tuple[int, ...] | None]


class Case(NamedTuple):
    """What the distribution of a group's AP depends on.

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
        """The items."""
        return Items(self.n, self.depth, None if self.ties is None else np.cumsum(self.ties))

    @property
    def shape(self) -> "Shape":
        """What cases must share to be walked together."""
        return (None if self.depth == self.n else self.depth), self.ties


class Cases:
    """Groups, alike or not.

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
        found: dict[int, Tail] = {}
        for (_, places, _), tails in zip(self._parts, all_tails(asked, method), strict=True):
            found |= dict(zip(places.tolist(), tails, strict=True))
        return [found[place] for place in range(len(self.cases))]

    def draws(self, place: int, size: int, seed: int) -> Floats:
        """Return values of a group under random ranking; like groups draw alike."""
        case = self.cases[place]
        key = [seed, case.n, case.n_pos, case.depth, *(case.ties or ())]
        return drawn(case.items, case.n_pos, size, np.random.default_rng(key))

    def mean_draws(self, size: int, seed: int) -> Floats:
        """Return values of the mean under random ranking, whatever the order of groups."""
        total = np.zeros(size)
        order = sorted(range(len(self.cases)), key=lambda place: repr(self.cases[place]))
        for _, alike in groupby(order, key=lambda place: repr(self.cases[place])):
            for number, place in enumerate(alike):
                total += self.draws(place, size, seed + number)
        return total / len(self.cases)

    def mean_tail(self, value: float, *, only_inversion: bool = False) -> Tail | None:
        """Return the tails of the mean over groups; None if not even a bound is found."""
        if len(self.cases) == 1:
            return self.tails(np.array([value]))[0]
        best = np.array([min(case.depth, case.n_pos) / case.n_pos for case in self.cases])
        total = value * len(self.cases)
        if total <= 0:
            return Tail(0.0, -np.inf, "exact")
        if total > best.sum() * (1 + EQUAL):
            return Tail(-np.inf, 0.0, "exact")
        if total >= best.sum() * (1 - EQUAL):
            # Every ranking is the best there is.
            log_best = float(sum(tail.log_reached for tail in self.tails(best)))
            log_rest = float(np.log(-np.expm1(log_best))) if log_best < 0 else -np.inf
            return Tail(log_best, log_rest, "exact")
        return sum_tail(self._terms(), total * (1 - EQUAL), only_inversion=only_inversion)

    def _terms(self) -> list[Term]:
        """Return the distinct groups whose AP is added up, and how often each is."""
        often: dict[Case, int] = {}
        for case in self.cases:
            often[case] = often.get(case, 0) + 1
        moments = zip(self.cases, self.mean.tolist(), self.variance.tolist(), strict=True)
        known = {case: (mean, variance) for case, mean, variance in moments}
        return [Term(case.items, case.n_pos, count, *known[case]) for case, count in often.items()]
