"""Tests of the AP of many groups, and of their mean, against random ranking."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple, TypeAlias

import numpy as np

from prframe.stats.ap_course import MOST_ROWS, Complexes, Course, Group, Tilt
from prframe.stats.ap_draws import drawn
from prframe.stats.ap_inversion import FEW_POSITIVES, Inversion
from prframe.stats.ap_steps import Floats, Integers, Items
from prframe.stats.ap_tails import EQUAL, Method, NullTails, Tail

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

    def tails(self, ap: Floats, method: Method = "auto") -> list[Tail]:
        """Return the tails of a value of each group."""
        found: dict[int, Tail] = {}
        for tails, places, inside in self._parts:
            found |= dict(
                zip(places.tolist(), tails.tails(inside, ap[places], method), strict=True)
            )
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

    def mean_tail(self, value: float) -> Tail | None:
        """Return the tails of the mean over groups, by inversion; None if it does not settle."""
        if len(self.cases) == 1:
            return self.tails(np.array([value]))[0]
        total = value * len(self.cases) * (1 - EQUAL)
        deviation = np.sqrt(self.variance.sum(keepdims=True))
        if not deviation[0]:
            return None
        course = _Sum(self.cases)
        inversion = Inversion(course, self.mean.sum(keepdims=True), deviation)
        if max(case.n_pos for case in self.cases) > MOST_ROWS:
            inversion = inversion.refined(total)
        found = inversion.log_tails(np.zeros(1, np.int64), np.array([total]))
        if not found.converged[0]:
            return None
        most = max(case.n_pos for case in self.cases)
        if most < FEW_POSITIVES and inversion.returns(0, total, found):
            return None
        return Tail(float(found.reached[0]), float(found.missed[0]), "transform")


class _Sum(Course):
    """The generating function of the sum of the AP of independent groups.

    That of AP = T/n_pos at a slope is that of T at slope / n_pos, and those of a sum multiply.
    """

    def __init__(
        self, cases: Sequence[Case], courses: "Sequence[tuple[Course, Floats]] | None" = None
    ) -> None:
        self._cases = list(cases)
        self.groups = [Group(sum(c.n for c in cases), sum(c.n_pos for c in cases))]
        self._courses = list(courses or self._walks())
        self._tilts: dict[float, list[Tilt]] = {}

    def _walks(self) -> Iterable[tuple[Course, Floats]]:
        """Yield one walk for groups with as many positives, and how often it meets each group."""
        alike: dict[tuple[Shape, int, int], dict[Group, int]] = {}
        for case in self._cases:
            key = case.shape, case.n_pos, case.n if case.n_pos > MOST_ROWS else 0
            groups = alike.setdefault(key, {})
            group = Group(case.n, case.n_pos)
            groups[group] = groups.get(group, 0) + 1
        for ((depth, ties), *_), groups in alike.items():
            ends = None if ties is None else np.cumsum(ties)
            yield Course(list(groups), depth, ends), np.array([*groups.values()], dtype=float)

    def tilt(self, slope: float) -> Tilt:
        """Tilt every group."""
        sums = np.zeros(3)
        self._tilts[slope] = [
            course.tilt(slope / course.groups[0].n_pos) for course, _ in self._courses
        ]
        for (course, often), tilt in zip(self._courses, self._tilts[slope], strict=True):
            scale = course.groups[0].n_pos
            sums += (
                often @ tilt.log_mgf,
                often @ tilt.mean / scale,
                often @ tilt.variance / scale**2,
            )
        log_mgf, mean, variance = sums[:, None]
        return Tilt(slope, log_mgf, mean, variance, [], [])

    def waves(
        self, tilt: Tilt, groups: Iterable[int], frequencies: Floats
    ) -> dict[int, Complexes]:
        """Multiply the characteristic functions."""
        product = np.ones(frequencies.size, dtype=np.complex128)
        for (course, often), own in zip(self._courses, self._tilts[tilt.slope], strict=True):
            every = range(len(course.groups))
            waves = course.waves(own, every, frequencies / course.groups[0].n_pos)
            for index in every:
                product *= waves[index] ** often[index]
        return dict.fromkeys(groups, product)

    def refined(self, slope: float) -> "_Sum":
        """Refine the walks with many positives."""
        courses = [
            (course.refined(slope / scale) if scale > MOST_ROWS else course, often)
            for course, often in self._courses
            for scale in [course.groups[0].n_pos]
        ]
        return _Sum(self._cases, courses)
