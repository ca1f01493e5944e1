"""Tails of the sum of the AP of independent rankings.

The generating function of the sum is the product of those of the rankings. The more rankings there
are the more nearly normal their sum is, and the better a saddlepoint; else the characteristic
function is inverted.
"""

from collections.abc import Sequence

import numpy as np

from prframe.stats.null.average_precision.generating_function.inversion import (
    FEW_POSITIVES,
    Inversion,
)
from prframe.stats.null.average_precision.generating_function.saddlepoint import Points
from prframe.stats.null.average_precision.sums.paths import PathSum
from prframe.stats.null.average_precision.sums.terms import Sum, Term
from prframe.stats.null.average_precision.sums.whole import MOST_POSITIVES, WholeSum
from prframe.stats.null.average_precision.tails.planned import FLATTEST, PlannedTail, is_trusted
from prframe.stats.null.average_precision.tails.routes import Tail


def sum_tail(terms: Sequence[Term], total: float) -> Tail | None:
    """Return the tails of the sum; None if no method settles."""
    certain = sum(term.often * term.mean for term in terms if not term.variance)
    varying = [term for term in terms if term.variance]
    if not varying:
        return None
    target = total - certain
    sums, points = _found(varying, target)
    if points is None:
        return None
    approximation = sums.approximation(points, target)
    known = (np.array([target]), np.array([sums.mean]), np.array([sums.deviation]))
    slope = float(points.slope[0])
    if sums.is_lumpy(slope):
        return None
    if is_trusted(points, approximation.doubt, known)[0]:
        found = PlannedTail.of(float(approximation.log_tail[0]), slope, "saddlepoint")
        return Tail(found.log_reached, found.log_missed, found.method)
    return inverted_tail(sums, target, slope)


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
