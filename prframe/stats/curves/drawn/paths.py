"""Draws of the curve behind one ranking, by the Bayesian bootstrap of its ranks."""

from collections.abc import Sequence
from copy import copy
from functools import cache, cached_property

import numpy as np
from scipy.special import expit, logit

from prframe.stats.curves.drawn.gamma_walks import Weights
from prframe.stats.curves.drawn.roc_path import Knots, RocPath
from prframe.stats.curves.drawn.smoothing import Smoothing
from prframe.typing import Flags, Floats, Integers

# Smaller weights of negatives are raised to this, as 0 has no logarithm.
_LEAST_WEIGHT = 1e-30
# Where recall or rates grow by a larger factor from knot to knot, a piece has so many nodes.
_STEEP, _STEEP_NODES = 4.0, 12


class DrawnPath:
    """Draws of the recall at the knots of a path, and of curves at rising levels.

    If `turning`, a negative that was not seen is passed in the course of each run of positives:
    half of it by the middle, and all by the end. Else half of it stands above any threshold.
    """

    def __init__(self, path: RocPath, blocks: Sequence[Weights], *, turning: bool = False) -> None:
        self.path, self._blocks = path, blocks
        self.knots = knots = Knots.of(path, turning=turning)
        ranks = np.append(path.ranks, path.ranks[-1] + path.missed) - path.ranks[0]
        sums = self._read("positives", ranks)
        self._recall = sums[knots.piece]
        self._recall += knots.share[:, None] * (sums[knots.piece + 1] - self._recall)
        self._recall /= sums[-1]
        self._weights: dict[bool, Floats] = {}

    def _read(self, walk: str, shapes: Floats) -> Floats:
        """Return the weights of a class, or the halves, at shapes of the gamma process."""
        return np.concatenate([getattr(block, walk).at(shapes) for block in self._blocks], axis=1)

    @cached_property
    def _negatives(self) -> Floats:
        """The weights of the negatives that are passed at the knots, and of all."""
        return self._read("negatives", np.append(self.knots.fp, self.path.n_neg))

    @cached_property
    def _total(self) -> Floats:
        """The weight of all negatives, seen or not."""
        return np.asarray(self._negatives[-1] + self._read("halves", np.ones(1))[0])

    @cached_property
    def odds(self) -> Floats:
        """Draws of the logarithm of the odds of a positive, shape (n_draws,)."""
        shapes = np.array([[self.path.n_pos], [self.path.n_neg]]) + 0.5
        pos, neg = np.concatenate(
            [
                block.of_group(0, lambda rng, size: rng.standard_gamma(shapes, (2, size)))
                for block in self._blocks
            ],
            axis=1,
        )
        return np.asarray(np.log(pos / neg))

    def at_prior(self, prior: float) -> "DrawnPath":
        """Return the same draws in a population whose share of positives is known."""
        path = copy(self)
        path.odds = np.full(self._recall.shape[1], logit(prior))
        return path

    def smoothed_log_odds(self, levels: Floats) -> Floats:
        """Draw log odds of precision, smoothed over recall, shape (n_resamples, levels)."""
        smoothing = Smoothing.of(levels, self.path.n_pos)
        end = self._recall[-1].min() if self.path.missed else np.inf
        known, going = (at < end for at in (smoothing.nodes, smoothing.recall))
        points, weights = smoothing.means(smoothing.smoothed(self.path), known, going)
        return np.asarray((weights @ self.log_odds(points).T).T)

    def log_odds(self, levels: Floats) -> Floats:
        """Draw the same without smoothing."""
        return np.asarray(np.log(levels) - self._rates_at(levels, self._against()))

    def points(self, *, fading: bool = False) -> tuple[Floats, Floats]:
        """Return recall and the share of all items above, at the knots, shape (knots, draws)."""
        p = expit(self.odds)
        above = self._passed(fading=fading) * ((1 - p) / self._total) + p * self._recall
        return self._recall, np.asarray(above)

    def areas_under_precision(
        self, *, block_ends: bool = False, up_to: Floats | None = None
    ) -> Floats:
        """Return the areas under the precision of fading curves, up to a recall of each draw."""
        knots, against = self.knots, self._against(fading=True)
        ends = knots.ends if block_ends else None
        return area_under_precision(self._recall, against, knots.tied[:-1], ends, up_to=up_to)

    def areas_under_rates(self) -> Floats:
        """Return the areas under the false positive rates of curves."""
        area = area_under_rates(self._recall, self._passed(), self.knots.tied[:-1])
        # Items that are not retrieved are tied.
        beyond = (1 + self.path.fp[-1] / self.path.n_neg) / 2
        return np.asarray(area / self._total + beyond * (1 - self._recall[-1]))

    def _passed(self, *, fading: bool = False) -> Floats:
        """Return the weights of negatives above the knots, seen or not, shape (knots, draws)."""
        if fading not in self._weights:
            knots, above = self.knots, self._read("halves", self.knots.half)
            if fading:
                second = slice(above.shape[1] // 2, None)
                above[:, second] = self._read("halves", knots.fading_half)[:, second]
            above += self._negatives[:-1]
            if knots.turns.any():
                # Part of the half above is taken before the middle of a run, and of that below
                # added after it.
                half, whole = self._read("halves", np.array([0.5, 1.0]))
                turns = knots.turns[:, None]
                above += np.minimum(turns, 0.0) * half + np.maximum(turns, 0.0) * (whole - half)
            self._weights[fading] = np.maximum(above, _LEAST_WEIGHT)
        return self._weights[fading]

    def _against(self, *, fading: bool = False) -> Floats:
        """Return the false positive rates at the knots times the odds of a negative."""
        return np.asarray(self._passed(fading=fading) * (np.exp(-self.odds) / self._total))

    def _rates_at(self, levels: Floats, rates: Floats) -> Floats:
        """Return logarithms of rates at the levels, shape (draws, levels), given at the knots.

        The logarithm is straight between knots, and within tie blocks the rate itself.
        """
        values = self._between(levels, np.log(rates))
        if self.path.tied.any():
            number = np.arange(len(self._recall), dtype=np.float64)
            places = self._between(levels, np.broadcast_to(number[:, None], self._recall.shape))
            # The last knot that is not beyond each level.
            tied = self.knots.tied[np.minimum(places, number[-1]).astype(np.int64)]
            np.log(self._between(levels, rates), out=values, where=tied)
        return values

    def _between(self, levels: Floats, values: Floats) -> Floats:
        """Return values at the levels, inf beyond the last item that is retrieved."""
        beyond = np.inf if self.path.missed else None
        columns = (np.ascontiguousarray(x.T) for x in (self._recall, values))
        pairs = zip(*columns, strict=True)
        return np.stack([np.interp(levels, at, own, right=beyond) for at, own in pairs])


# Areas, added up from knot to knot. A flag of `tied` belongs to the piece after each knot but the
# last; arrays of knots have the shape (knots, draws).


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
