"""Tails of the sum of the AP of independent rankings.

The generating function of the sum is the product of those of the rankings. The more rankings there
are the more nearly normal their sum is, and the better a saddlepoint is; where it is not good
enough the characteristic function is inverted. Where single values of the sum carry weight they
are listed, or the sum is found on a lattice. If all of these fail there is a bound.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np

from prframe.stats.null.average_precision.extremes import ap_extremes
from prframe.stats.null.average_precision.generating_function.inversion import (
    FEW_POSITIVES,
    Inversion,
    LogTails,
)
from prframe.stats.null.average_precision.generating_function.saddlepoint import Points
from prframe.stats.null.average_precision.generating_function.steps import log_binomial
from prframe.stats.null.average_precision.sums.counting import (
    LATE,
    SOON,
    Effort,
    counted_sum_tails,
)
from prframe.stats.null.average_precision.sums.full_walks import MOST_POSITIVES, WholeSum
from prframe.stats.null.average_precision.sums.lattice import is_rare, lattice_sum_tails
from prframe.stats.null.average_precision.sums.path_walks import PathSum
from prframe.stats.null.average_precision.sums.terms import Sum, Term, bounds, centres, clustered
from prframe.stats.null.average_precision.tails.neighbours import PlannedTail
from prframe.stats.null.average_precision.tails.planned import FLATTEST, is_trusted
from prframe.stats.null.average_precision.tails.tail import Tail, constant_tail
from prframe.typing import Floats, Integers

# A way gives the tails of the values at some places, None where it fails.
_Way: TypeAlias = Callable[[Integers], Sequence[Tail | None]]

# While the tail is unknown, its logarithm is taken to be this for a lattice, which finds out.
_SHALLOW = -10.0
# Logarithms of tails are rounded by less than this.
_ROUNDED = 1e-6
# Slopes are probed for clusters of the sum as one if they are closer than this over the tilted
# standard deviation of the sum.
_PROBED_TOGETHER = 1.0
# Values share the slope of an inversion if their own slopes are closer than this over the tilted
# standard deviation.
_INVERTED_TOGETHER = 3.0


def sum_tails(
    terms: Sequence[Term], totals: Floats, *, only_inversion: bool = False
) -> list[Tail | None]:
    """Return the tails of values of the sum; None where not even a bound is found."""
    certain = sum(term.often * term.mean for term in terms if not term.variance)
    varying = [term for term in terms if term.variance]
    targets = totals - certain
    if not varying:
        return [constant_tail(is_reached=target <= 0) for target in targets.tolist()]
    sums = _Values(varying, targets, only_inversion=only_inversion)
    return sums.tails()


class _Values:
    """Values of a sum of which the tails are asked for.

    Attributes
    ----------
    guesses : ndarray of float
        Roughly the logarithms of the smaller tails.
    bounds : list of Tail or None
        Upper bounds of the tails; None where no generating function is known.
    """

    def __init__(self, terms: Sequence[Term], targets: Floats, *, only_inversion: bool) -> None:
        self._terms, self._targets, self._only_inversion = terms, targets, only_inversion
        self.guesses = np.full(targets.size, _SHALLOW)
        self.bounds: list[Tail | None] = [None] * targets.size
        self._has_saddlepoint = np.zeros(targets.size, np.bool_)
        self._estimates: dict[int, Tail | None] = {}

    def tails(self) -> list[Tail | None]:
        """Return the tails by the first way that gives them."""
        ways: list[_Way] = [self._of_whole_walks, self._of_paths]
        ways += [self._counted(LATE), self._on_lattice, self._bounded]
        if self._terms[0].is_low:
            ways = [self._counted(SOON), *ways[1:]]
        elif not self._only_inversion:
            rare: list[_Way] = []
            if is_rare(self._terms):
                rare = [self._counted(LATE), self._surely_on_lattice]
            ways = [self._counted(SOON), *rare, *ways]
        tails: list[Tail | None] = [None] * self._targets.size
        for way in ways:
            open_ = np.array([place for place, tail in enumerate(tails) if tail is None], np.int64)
            if open_.size:
                for place, tail in zip(open_.tolist(), way(open_), strict=True):
                    tails[place] = self._checked(tail, float(self._targets[place]))
        return tails

    def _checked(self, tail: Tail | None, target: float) -> Tail | None:
        """Return a tail unless it is less than the chance of a single ranking.

        No value within the support has a smaller tail. Close to its ends cells of a lattice, and
        characteristic functions, may give one.
        """
        if tail is None or min(tail.log_reached, tail.log_missed) > self._log_ranking - _ROUNDED:
            return tail
        least, largest = self._extremes
        reached, missed = target <= largest, target > least
        is_wrong = (reached and tail.log_reached < self._log_ranking - _ROUNDED) or (
            missed and tail.log_missed < self._log_ranking - _ROUNDED
        )
        return None if is_wrong else tail

    @cached_property
    def _log_ranking(self) -> float:
        """The logarithm of the chance of one arrangement of all rankings."""
        sizes = np.array([(term.items.n, term.n_pos, term.often) for term in self._terms], float)
        n, n_pos, often = sizes.T
        return -float(often @ log_binomial(n, n_pos))

    @cached_property
    def _extremes(self) -> tuple[float, float]:
        """The least and the largest sum."""
        of_terms = [ap_extremes(term.items, term.n_pos) for term in self._terms]
        least, largest = np.array([term.often for term in self._terms]) @ np.array(of_terms)
        return float(least), float(largest)

    def _counted(self, effort: Effort) -> _Way:
        """Return the way that lists the values of the sum, with some effort."""
        return lambda places: counted_sum_tails(self._terms, self._targets[places], effort)

    def _surely_on_lattice(self, places: Integers) -> list[Tail | None]:
        """Return tails from a lattice but its estimates, which are kept until all else fails."""
        found = lattice_sum_tails(self._terms, self._targets[places], self.guesses[places])
        for place, tail in zip(places.tolist(), found, strict=True):
            self._estimates[place] = tail
        return [None if tail is None or tail.method == "estimate" else tail for tail in found]

    def _on_lattice(self, places: Integers) -> list[Tail | None]:
        """Return tails from a lattice, or estimates that are known from one."""
        tails = [self._estimates.get(place) for place in places.tolist()]
        lacking = np.flatnonzero([tail is None for tail in tails])
        if lacking.size:
            at = places[lacking]
            found = lattice_sum_tails(self._terms, self._targets[at], self.guesses[at])
            for place, tail in zip(lacking.tolist(), found, strict=True):
                tails[place] = tail
        return tails

    def _bounded(self, places: Integers) -> list[Tail | None]:
        """Return the bounds."""
        return [self.bounds[place] for place in places.tolist()]

    def _of_whole_walks(self, places: Integers) -> list[Tail | None]:
        """Return tails from walks through every number of hits."""
        if max(term.n_pos for term in self._terms) > MOST_POSITIVES:
            return [None] * places.size
        sums, targets = WholeSum(self._terms), self._targets[places]
        tails = self._transformed(sums, places, sums.saddlepoints(targets))
        lacking = np.array([self.bounds[place] is None for place in places.tolist()])
        if lacking.any():
            steepest = sums.bounds(targets[lacking])
            for place, bound in zip(places[lacking].tolist(), steepest, strict=True):
                self.bounds[place] = bound
        return tails

    def _of_paths(self, places: Integers) -> list[Tail | None]:
        """Return tails from walks along paths, where other walks did not give a saddlepoint."""
        tails = []
        for place in places.tolist():
            tail = None
            if not self._has_saddlepoint[place]:
                sums, each = PathSum(self._terms), np.array([place])
                points = sums.saddlepoints(self._targets[each])
                (tail,) = self._transformed(sums, each, points)
            tails.append(tail)
        return tails

    def _transformed(self, sums: Sum, places: Integers, points: Points) -> list[Tail | None]:
        """Return tails by saddlepoints or inversion; None where the sum takes few values."""
        tails: list[Tail | None] = [None] * places.size
        good = np.flatnonzero(~np.isnan(points.slope))
        if not good.size:
            return tails
        points, targets = Points(*(column[good] for column in points)), self._targets[places[good]]
        approximation = sums.approximation(points, targets)
        log_tail, slope, deviation = approximation.log_tail, points.slope, points.second**0.5
        self.guesses[places[good]] = np.where(np.isnan(log_tail), _SHALLOW, log_tail)
        self._has_saddlepoint[places[good]] = True
        lowest = bounds(points.slope, points.log_mgf, targets)
        for place, bound in zip(places[good].tolist(), lowest, strict=True):
            self.bounds[place] = bound
        numbers = clustered(slope, _PROBED_TOGETHER / deviation)
        probed = np.bincount(numbers, deviation) / np.bincount(numbers)
        smooth = ~sums.are_lumpy(centres(slope, numbers), probed)[numbers]
        known = (targets, np.array([sums.mean]), np.array([sums.deviation]))
        trusted = smooth & is_trusted(points, approximation.doubt, known)
        trusted &= not self._only_inversion
        for place in np.flatnonzero(trusted).tolist():
            both_tails = PlannedTail.of(float(log_tail[place]), float(slope[place]), "saddlepoint")
            tails[good[place]] = Tail(both_tails.log_reached, both_tails.log_missed, "saddlepoint")
        rest = np.flatnonzero(smooth & ~trusted)
        inverted = inverted_tails(sums, targets[rest], slope[rest], deviation[rest])
        for place, tail in zip(good[rest].tolist(), inverted, strict=True):
            tails[place] = tail
        return tails


def inverted_tails(
    sums: Sum, targets: Floats, slopes: Floats, deviations: Floats
) -> list[Tail | None]:
    """Return the tails by inversion of the characteristic function; None where that fails.

    The slopes are those of saddlepoints, the deviations those of the sum under these slopes.
    """
    tails: list[Tail | None] = [None] * targets.size
    if not targets.size:
        return tails
    inversion = Inversion(sums.product(), np.array([sums.mean]), np.array([sums.deviation]))
    is_returning = max(term.n_pos for term in sums.terms) < FEW_POSITIVES
    flat = FLATTEST / deviations
    flattest = np.where(targets >= sums.mean, flat, -flat)
    slopes = np.where(np.abs(slopes) >= flat, slopes, flattest)
    for side in (slopes > 0, slopes < 0):
        chosen = np.flatnonzero(side)
        if not chosen.size:
            continue
        numbers = clustered(slopes[chosen], _INVERTED_TOGETHER / deviations[chosen])
        for number, slope in enumerate(centres(slopes[chosen], numbers).tolist()):
            places = chosen[numbers == number]
            at = inversion.at(slope, np.zeros(places.size, np.int64), targets[places])
            for place, *columns in zip(places.tolist(), *at, strict=True):
                own = LogTails(*(np.array([column]) for column in columns))
                target = float(targets[place])
                if own.converged[0] and not (is_returning and inversion.returns(0, target, own)):
                    tails[place] = Tail(float(own.reached[0]), float(own.missed[0]), "transform")
    return tails
