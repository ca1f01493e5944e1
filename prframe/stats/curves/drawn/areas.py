"""Areas under drawn curves, added up from knot to knot.

Between two knots the logarithm of the false positive rate is a straight line in recall, and within
a tie block the rate itself. Arrays of knots have the shape (knots, draws), and a flag of `tied`
belongs to the piece after each knot but the last.
"""

from functools import cache

import numpy as np

from prframe.typing import Flags, Floats, Integers

# Where recall or rates grow by a larger factor from knot to knot, a piece has so many nodes.
_STEEP, _STEEP_NODES = 4.0, 12


def area_under_rates(recall: Floats, rates: Floats, tied: Flags) -> Floats:
    """Return the areas under false positive rates over the recall up to the last knot.

    Pieces are integrated by Simpson's rule with the geometric mean in the middle; steep ones have
    the rise of the rate over that of its logarithm.
    """
    middle = _middles(rates, tied)
    places = _steep(tied, rates)
    first, last = (x.ravel().take(places) for x in (rates[:-1], rates[1:]))
    means = (last - first) / (np.log(last) - np.log(first))
    middle.ravel()[places] = _with_mean(means, first, last)
    return _simpson(recall, rates, middle)


def area_under_precision(
    recall: Floats,
    against: Floats,
    tied: Flags,
    ends: Integers | None = None,
    *,
    up_to: Floats | None = None,
) -> Floats:
    """Return the areas under precision over the recall up to the last knot, or up to a level.

    Precision is ``recall / (recall + against)``, where the false positive rates times the odds of
    a negative are the same at the first two knots. With `ends`, the knot at which the block of
    each knot ends, tie blocks have the precision at their end. Pieces are integrated by Simpson's
    rule, steep ones by Gauss's, and the first one in closed form.
    """
    precision = _precision(recall, against)
    at_end = None if ends is None else precision[ends[:-1][tied]]
    if up_to is not None:
        recall, against = _cut(up_to, recall, against, tied)
        precision = _precision(recall, against)
    middle = recall[:-1] + recall[1:]
    middle *= 0.5
    between = _middles(against, tied)
    between += middle
    np.divide(middle, between, out=middle)
    places = _steep(tied, against, recall)
    pieces = (x.ravel().take(places) for x in (recall[:-1], recall[1:], against[:-1], against[1:]))
    beside = (x.ravel().take(places) for x in (precision[:-1], precision[1:]))
    middle.ravel()[places] = _with_mean(_mean_precision(*pieces), *beside)
    constant, width = against[0], recall[1]
    lacking = constant * np.log1p(width / constant)
    mean = 1 - np.divide(lacking, width, out=np.ones_like(width), where=width > 0)
    middle[0] = _with_mean(mean, precision[0], precision[1])
    if at_end is not None:
        middle[tied] = _with_mean(at_end, precision[:-1][tied], precision[1:][tied])
    return _simpson(recall, precision, middle)


def _precision(recall: Floats, against: Floats) -> Floats:
    """Return precision at the knots."""
    precision = recall + against
    return np.asarray(np.divide(recall, precision, out=precision))


def _cut(most: Floats, recall: Floats, against: Floats, tied: Flags) -> tuple[Floats, Floats]:
    """Return recall and rates of curves that stay where they reach a recall."""
    inside = recall < most
    draws, last = np.arange(most.size), len(recall) - 1
    at = np.maximum(inside.sum(axis=0) - 1, 0)
    after = np.minimum(at + 1, last)
    width = recall[after, draws] - recall[at, draws]
    share = np.divide(most - recall[at, draws], width, out=np.ones_like(width), where=width > 0)
    share = np.minimum(share, 1)
    before, beyond = against[at, draws], against[after, draws]
    line = before + share * (beyond - before)
    reached = np.where(np.append(tied, False)[at], line, before * (beyond / before) ** share)
    return np.minimum(recall, most), np.where(inside, against, reached)


def _middles(rates: Floats, tied: Flags) -> Floats:
    """Return the geometric means of the rates of each piece, within tie blocks arithmetic."""
    roots = np.sqrt(rates)
    middle = roots[:-1] * roots[1:]
    if tied.any():
        middle[tied] = (rates[:-1][tied] + rates[1:][tied]) / 2
    return middle


def _steep(tied: Flags, *rising: Floats) -> Integers:
    """Return the places of pieces in which a quantity grows much, but not of the first one."""
    steep = np.logical_or.reduce([values[1:] > _STEEP * values[:-1] for values in rising])
    steep[0] = False
    steep[tied] = False
    return np.flatnonzero(steep)


def _with_mean(mean: Floats, first: Floats, last: Floats) -> Floats:
    """Return the middle value with which Simpson's rule has a mean."""
    return np.asarray((6 * mean - first - last) / 4)


def _simpson(recall: Floats, values: Floats, middle: Floats) -> Floats:
    """Return the integral over recall of values at the knots, and in the middle between them."""
    width = np.diff(recall, axis=0)
    ends = (np.einsum("kd,kd->d", width, part) for part in (values[:-1], values[1:]))
    return np.asarray((sum(ends) + 4 * np.einsum("kd,kd->d", width, middle)) / 6)


def _mean_precision(start: Floats, end: Floats, first: Floats, last: Floats) -> Floats:
    """Return the means of precision from `start` to `end`, where much changes near `start`."""
    share, weights = _steep_nodes()
    recall = start + share * (end - start)
    above = first * np.exp(share * (np.log(last) - np.log(first)))
    above += recall
    return np.asarray(weights @ np.divide(recall, above, out=above))


@cache
def _steep_nodes() -> tuple[Floats, Floats]:
    """Return Gauss's nodes t^3 of a steep piece, dense near its start, and their weights."""
    x, weights = np.polynomial.legendre.leggauss(_STEEP_NODES)
    t = (x + 1) / 2
    return (t**3)[:, None], weights / 2 * 3 * t**2
