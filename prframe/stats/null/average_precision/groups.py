"""Tails of the AP of many groups, and of their mean, under random ranking."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from math import log
from typing import NamedTuple

import numpy as np

from prframe.stats._tolerances import EQUAL
from prframe.stats.null.average_precision.counting import ap_atoms, ap_extremes, cost, drawn
from prframe.stats.null.average_precision.moments import ap_null_moments, retrieved_moments
from prframe.stats.null.average_precision.steps import (
    APNullMethod,
    Items,
    Problem,
    Tail,
    log_binomial,
    refuse_large,
)
from prframe.stats.null.average_precision.sums import sum_tails
from prframe.stats.null.average_precision.tails import all_tails, labelled
from prframe.typing import Floats

# A value is low if it is less than this share of the way from the least AP to the mean; it is high
# if it is less than this share of the way from 1 to the mean away from 1.
_NEAR_AN_END = 0.5


class Case(NamedTuple):
    """What a group's AP depends on: `depth` of n items are retrieved, in blocks of these sizes."""

    n: int
    n_pos: int
    depth: int
    ties: tuple[int, ...] | None = None

    @property
    def items(self) -> Items:
        """The items of the group."""
        return Items(self.n, self.depth, None if self.ties is None else np.cumsum(self.ties))

    @property
    def shape(self) -> tuple[int | None, tuple[int, ...] | None]:
        """The depth, None of whole lists, and the ties."""
        return (None if self.depth == self.n else self.depth), self.ties


@lru_cache(maxsize=64)
def _atoms(case: Case) -> tuple[Floats, Floats] | None:
    """Return the values of AP and their probabilities, or None if there are many."""
    return ap_atoms(case.items, case.n_pos)


class Cases:
    """Groups of which several may be alike, with `mean` and `variance` of the AP of each."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self.cases = list(cases)
        self._items = {case: case.items for case in dict.fromkeys(self.cases)}
        self.mean, self.variance = np.zeros((2, len(self.cases)))
        plain = [place for place, case in enumerate(cases) if case.shape == (None, None)]
        if plain:
            sizes = np.array([self.cases[place][:2] for place in plain]).T
            self.mean[plain], self.variance[plain] = ap_null_moments(*sizes)
        for place in sorted(set(range(len(self.cases))) - set(plain)):
            self.mean[place], self.variance[place] = _moments(self.cases[place])
        ends = {case: ap_extremes(items, case.n_pos) for case, items in self._items.items()}
        self._least, self._largest = np.array([ends[case] for case in self.cases]).reshape(-1, 2).T

    def comonotone_log_tail(self, value: float, *, upper: bool) -> float | None:
        """Return log P(mean >= value), or of <=, if all AP are the same quantile; None if many."""
        # The quantile function of the mean is the mean of theirs.
        parts: list[tuple[Floats, Floats]] = []
        for case, count in Counter(self.cases).items():
            if (atoms := _atoms(case)) is None:
                return None
            values, shares = (each[::-1] for each in atoms) if upper else atoms
            parts.append((np.cumsum(shares), values * count))
        ends = np.unique(np.concatenate([tails for tails, _ in parts]))
        total = np.zeros(ends.size)
        for tails, values in parts:
            # Tails that differ by rounding are one.
            total += values[np.searchsorted(tails, ends * (1 - EQUAL)).clip(max=tails.size - 1)]
        mean, slack = total / len(self.cases), EQUAL * value
        reached = np.flatnonzero(mean >= value - slack if upper else mean <= value + slack)
        return log(min(ends[reached[-1]], 1.0)) if reached.size else -np.inf

    def support(self, place: int) -> tuple[float, float]:
        """Return the least and the largest AP of a group."""
        return float(self._least[place]), float(self._largest[place])

    def tails(self, ap: Floats, method: APNullMethod = "auto") -> list[Tail]:
        """Return the tails of a value of each group."""
        return all_tails([self._problem(*pair) for pair in enumerate(ap.tolist())], method)

    def _problem(self, place: int, x: float) -> Problem:
        """Return the problem of finding the tails at a value of AP, in terms of T = n_pos AP."""
        case, mean = self.cases[place], float(self.mean[place])
        is_low = x - self._least[place] < _NEAR_AN_END * (mean - self._least[place])
        is_high = 2 * case.n_pos > case.n and 1 - x < _NEAR_AN_END * (1 - mean)
        deviation = case.n_pos * float(self.variance[place]) ** 0.5
        target, is_fine_below = case.n_pos * x * (1 - EQUAL), bool(is_low or is_high)
        given = self._items[case], case.n_pos, target, case.n_pos * mean, deviation
        return Problem(*given, is_fine_below)

    def draws(self, place: int, size: int, seed: int) -> Floats:
        """Return random AP of a group; groups with equal quantities draw the same values."""
        case = self.cases[place]
        key = [seed, case.n, case.n_pos, case.depth, *(case.ties or ())]
        return drawn(self._items[case], case.n_pos, size, np.random.default_rng(key))

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

    def mean_tails(self, values: Floats, *, only_inversion: bool = False) -> list[Tail]:
        """Return the tails of values of the mean over groups."""
        if len(self.cases) == 1:
            method: APNullMethod = "transform" if only_inversion else "auto"
            return Cases(self.cases * values.size).tails(values, method)
        least, largest = self._least.sum(), self._largest.sum()
        are_plain = all(case.shape == (None, None) for case in self.cases)
        tails: list[Tail] = []
        for total in (values * len(self.cases) * (1 - EQUAL)).tolist():
            if total <= least:
                tails.append(Tail(0.0, -np.inf, "exact"))
            elif total > largest:
                tails.append(Tail(-np.inf, 0.0, "exact"))
            elif total > largest * (1 - 3 * EQUAL):
                # Every group must have its best ranking.
                log_best = sum(tail.log_reached for tail in self.tails(self._largest))
                tails.append(Tail.of(float(log_best), "exact", is_upper=True))
            elif total < least * (1 + 5 * EQUAL) and are_plain:
                # Every group must have its worst ranking, which is a single one.
                n, n_pos = np.array([case[:2] for case in self.cases]).T
                log_worst = -float(log_binomial(n, n_pos).sum())
                tails.append(Tail.of(log_worst, "exact", is_upper=False))
            else:
                for case in self.cases:
                    refuse_large(case.depth, case.n_pos)
                found = sum_tails(self._parts_of(total), total, only_inversion=only_inversion)
                tails.append(labelled(found))
        return tails

    def _parts_of(self, total: float) -> list[Problem]:
        """Return the problems of values that add up to a total, all as far from their means."""
        mean = self.mean
        end = self._least if total < mean.sum() else self._largest
        share = (total - mean.sum()) / max(abs(end.sum() - mean.sum()), EQUAL)
        values = mean + abs(share) * (end - mean)
        return [self._problem(*pair) for pair in enumerate(values.tolist())]


@lru_cache(maxsize=1024)
def _moments(case: Case) -> tuple[float, float]:
    """Return mean and variance of AP of a case."""
    n, n_pos, depth, ties = case
    whole = depth == n
    found = ap_null_moments(n, n_pos, ties) if whole else retrieved_moments(*case)
    return float(found.mean), float(found.variance)
