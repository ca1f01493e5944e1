"""Tails of the sum of the AP of independent rankings.

The generating function of the sum is the product of those of the rankings. The more rankings there
are the more nearly normal their sum is, and the better a saddlepoint; else the characteristic
function is inverted. Where single values of the sum carry weight they are listed, or the sum is
found on a lattice. What none of them settles has a bound.
"""

from collections.abc import Sequence

import numpy as np

from prframe.stats.null.average_precision.generating_function.inversion import (
    FEW_POSITIVES,
    Inversion,
)
from prframe.stats.null.average_precision.generating_function.saddlepoint import Points
from prframe.stats.null.average_precision.sums.counting import LATE, SOON, counted_sum_tail
from prframe.stats.null.average_precision.sums.lattice import is_rare, lattice_sum_tail
from prframe.stats.null.average_precision.sums.paths import PathSum
from prframe.stats.null.average_precision.sums.terms import Sum, Term
from prframe.stats.null.average_precision.sums.whole import MOST_POSITIVES, WholeSum
from prframe.stats.null.average_precision.tails.planned import FLATTEST, PlannedTail, is_trusted
from prframe.stats.null.average_precision.tails.tail import Tail

# The logarithm of a tail that a lattice should do for while nothing is known of it.
_DEEP = -100.0


def sum_tail(terms: Sequence[Term], total: float, *, only_inversion: bool = False) -> Tail | None:
    """Return the tails of the sum; None if not even a bound is found."""
    certain = sum(term.often * term.mean for term in terms if not term.variance)
    varying = [term for term in terms if term.variance]
    target = total - certain
    if not varying:
        return Tail(0.0, -np.inf, "exact") if target <= 0 else Tail(-np.inf, 0.0, "exact")
    found = None if only_inversion else _of_few_values(varying, target)
    return found or _approximated(varying, target, only_inversion=only_inversion)


def _of_few_values(terms: Sequence[Term], target: float) -> Tail | None:
    """Return the tails of a sum that takes few values, or clusters; None if it does neither."""
    counted = counted_sum_tail(terms, target, SOON)
    if counted is not None or not is_rare(terms):
        return counted
    return lattice_sum_tail(terms, target, _DEEP)


def _approximated(
    terms: Sequence[Term], target: float, *, only_inversion: bool = False
) -> Tail | None:
    """Return the tails of the sum by the generating function, or else where that does not do."""
    sums, points = _found(terms, target)
    if points is None:
        return counted_sum_tail(terms, target, LATE)
    approximation = sums.approximation(points, target)
    log_tail, slope = float(approximation.log_tail[0]), float(points.slope[0])
    if not sums.is_lumpy(slope):
        known = (np.array([target]), np.array([sums.mean]), np.array([sums.deviation]))
        if is_trusted(points, approximation.doubt, known)[0] and not only_inversion:
            found = PlannedTail.of(log_tail, slope, "saddlepoint")
            return Tail(found.log_reached, found.log_missed, found.method)
        inverted = inverted_tail(sums, target, slope)
        if inverted is not None:
            return inverted
    return (
        counted_sum_tail(terms, target, LATE)
        or lattice_sum_tail(terms, target, log_tail)
        or _bound(points, target)
    )


def _bound(points: Points, target: float) -> Tail | None:
    """Return upper bounds of both tails: exp(K(s) - s x) where the slope s leads, and 1."""
    slope = float(points.slope[0])
    bound = min(float(points.log_mgf[0]) - slope * target, 0.0)
    if not np.isfinite(bound):
        return None
    return Tail(bound, 0.0, "bound") if slope > 0 else Tail(0.0, bound, "bound")


def _found(terms: Sequence[Term], target: float) -> tuple[Sum, Points | None]:
    """Return a sum, and the saddlepoint of a value."""
    if max(term.n_pos for term in terms) <= MOST_POSITIVES:
        whole = WholeSum(terms)
        points = whole.saddlepoint(target)
        if points is not None:
            return whole, points
    paths = PathSum(terms)
    return paths, paths.saddlepoint(target)


def inverted_tail(sums: Sum, target: float, slope: float) -> Tail | None:
    """Return the tails by inversion of the characteristic function; None if it does not settle."""
    product = sums.product()
    inversion = Inversion(product, np.array([sums.mean]), np.array([sums.deviation]))
    flat = FLATTEST / sums.tilted_deviation
    if not abs(slope) >= flat:
        slope = flat if target >= sums.mean else -flat
    found = inversion.at(slope, np.zeros(1, np.int64), np.array([target]))
    if not found.converged[0]:
        return None
    most = max(term.n_pos for term in sums.terms)
    if most < FEW_POSITIVES and inversion.returns(0, target, found):
        return None
    return Tail(float(found.reached[0]), float(found.missed[0]), "transform")
