"""Areas under drawn curves, added up from knot to knot.

Between two knots the logarithm of the false positive rate is a straight line in recall, and within
a tie block the rate itself. In the functions below an array of knots has the shape (knots, draws),
and a flag of `tied` belongs to the piece after each knot but the last.
"""

from functools import cache

import numpy as np

from prframe.typing import Flags, Floats, Integers

# Rates whose logarithms differ by less have the mean of both between them.
_LEVEL = 1e-6
# Where recall or rates grow by a larger factor from knot to knot, a piece has so many nodes.
_STEEP, _STEEP_NODES = 4.0, 12


def area_under_rates(recall: Floats, rates: Floats, tied: Flags) -> Floats:
    """Return the areas under false positive rates over the recall up to the last knot.

    The mean of a rate whose logarithm is a straight line is its rise over that of the logarithm.
    """
    means = (rates[:-1] + rates[1:]) / 2
    log_rise = np.diff(np.log(rates), axis=0)
    curved = np.abs(log_rise) > _LEVEL
    curved[tied] = False
    np.divide(np.diff(rates, axis=0), log_rise, out=means, where=curved)
    return _added_up(recall, means)


def area_under_precision(
    recall: Floats, against: Floats, tied: Flags, ends: Integers | None = None
) -> Floats:
    """Return the areas under precision over the recall up to the last knot.

    Parameters
    ----------
    recall : ndarray, shape (knots, draws)
        From 0 on.
    against : ndarray, shape (knots, draws)
        False positive rates times the odds of a negative, so that precision is ``recall / (recall
        + against)``. The first two knots have the same.
    tied : ndarray of bool, shape (knots - 1,)
    ends : ndarray of int, shape (knots,), optional
        The knot at which the block of each knot ends. With them tie blocks have the precision at
        their end, without them precision varies within.

    Notes
    -----
    Pieces are integrated by Simpson's rule, steep ones by Gauss's. In the first one `against` is
    constant, and precision begins at 0, and has an integral in closed form.
    """
    precision = recall + against
    np.divide(recall, precision, out=precision)
    middle = recall[:-1] + recall[1:]
    middle /= 2
    roots = np.sqrt(against)
    between = roots[:-1] * roots[1:]
    between[tied] = (against[:-1][tied] + against[1:][tied]) / 2
    between += middle
    means = np.divide(middle, between, out=middle)
    means *= 4
    means += precision[:-1]
    means += precision[1:]
    means /= 6
    steep = against[1:] > _STEEP * against[:-1]
    steep |= recall[1:] > _STEEP * recall[:-1]
    steep[0] = False
    steep[tied] = False
    # Places are found once, which takes less time than four times reading through the flags.
    places = np.flatnonzero(steep)
    pieces = (x.ravel().take(places) for x in (recall[:-1], recall[1:], against[:-1], against[1:]))
    means.ravel()[places] = _mean_precision(*pieces)
    constant, width = against[0], recall[1]
    lacking = constant * (np.log(width + constant) - np.log(constant))
    means[0] = 1 - np.divide(lacking, width, out=np.ones_like(width), where=width > 0)
    if ends is not None:
        means[tied] = precision[ends[:-1][tied]]
    return _added_up(recall, means)


def _mean_precision(start: Floats, end: Floats, first: Floats, last: Floats) -> Floats:
    """Return the means of precision from `start` to `end`, where much changes near `start`."""
    share, weights = _steep_nodes()
    recall = start + share * (end - start)
    above = first * np.exp(share * np.log(last / first))
    above += recall
    return np.asarray(weights @ np.divide(recall, above, out=above))


@cache
def _steep_nodes() -> tuple[Floats, Floats]:
    """Return Gauss's nodes t^3 of a steep piece, dense near its start, and their weights."""
    x, weights = np.polynomial.legendre.leggauss(_STEEP_NODES)
    t = (x + 1) / 2
    return (t**3)[:, None], weights / 2 * 3 * t**2


def _added_up(recall: Floats, means: Floats) -> Floats:
    """Return the integral of what has these means between knots."""
    return np.asarray(np.einsum("kd,kd->d", np.diff(recall, axis=0), means))
