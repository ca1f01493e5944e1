"""Draws of the curve behind one ranking, by the Bayesian bootstrap of its ranks.

In each draw a level of recall lies between two other knots. All levels are looked up at once, in
equal cells of recall, and the lines between knots are read there.
"""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from prframe.stats._tolerances import EQUAL
from prframe.stats.curves.drawn.areas import area_under_precision, area_under_rates
from prframe.stats.curves.drawn.gamma_walks import Weights, add_up
from prframe.stats.curves.drawn.roc_path import DRAWN_KNOTS, Knots, RocPath
from prframe.stats.curves.drawn.smoothing import Means, Smoothing
from prframe.typing import Flags, Floats, Integers, Singles

# So much of a recall in single precision may be rounding.
_ROUNDING = 1e-6
# Levels of recall are looked up in so many equal cells; a power of 2, so that nothing is rounded.
_CELLS = 1 << 12
# Smaller weights of negatives, and smaller rates, are raised to what single precision holds.
_LEAST_WEIGHT, _LEAST_RATE = 1e-30, 2.0**-126


@dataclass(frozen=True)
class Draws:
    """Draws of a curve at levels of recall, shape (n_resamples, levels).

    They are the logarithms of recall, that of the level or of the end of its tie block, of the
    false positive rate, +inf where recall is never reached, and of the odds of a positive.
    """

    log_recall: Floats
    log_fpr: Floats
    log_odds: Floats

    @property
    def logit(self) -> Floats:
        """The logarithm of the odds of precision, ``odds * recall / false positive rate``."""
        logit = self.log_recall - self.log_fpr
        logit += self.log_odds
        return np.asarray(logit)

    @property
    def recall(self) -> Floats:
        """The recall, shape (n_resamples, levels)."""
        return np.asarray(np.exp(self.log_recall))

    @property
    def precision(self) -> Floats:
        """The precision, shape (n_resamples, levels)."""
        # This is faster than `expit`. Beyond the range of floats precision is 0.
        with np.errstate(over="ignore"):
            odds_against = np.exp(-self.logit)
        odds_against += 1
        return np.asarray(np.reciprocal(odds_against, out=odds_against))

    @property
    def prevalence(self) -> Floats:
        """The share of positives, shape (n_resamples, 1)."""
        return np.asarray(expit(self.log_odds))


@dataclass(frozen=True)
class _Cells:
    """Equal cells of recall, in which levels are looked up."""

    # The number of cells up to a recall of 1.
    number: int
    # The number of levels below each cell, or, if levels begin cells, below its end.
    first: Integers
    # Whether levels begin cells, but for rounding.
    whole: bool

    @classmethod
    def of(cls, levels: Floats) -> "_Cells":
        """Choose the cells for levels that rise within (0, 1)."""
        steps = 1 / np.diff(levels, prepend=0.0).min()
        for number in (int(min(np.rint(steps), _CELLS)), _CELLS):
            places = np.rint(levels * number)
            whole = bool((np.abs(levels * number - places) < EQUAL * number).all())
            if whole:
                break
        else:
            places = np.floor(levels * number) + 1
        below = np.bincount(places.astype(np.int64), minlength=number + 2)
        return cls(number, np.cumsum(below)[: number + 1], whole)


def _pieces(recall: Singles, levels: Floats, cells: _Cells) -> Integers:
    """Return the flattened place of the last knot that is not beyond each level."""
    n_draws = recall.shape[1]
    draw = np.arange(n_draws)
    # The number of levels below each knot: those in cells before, and those in its own cell.
    below = cells.first.take((recall * np.float32(cells.number)).astype(np.int64), mode="clip")
    if not cells.whole:
        ends = np.append(levels, np.inf)
        late = ends.take(below, mode="clip") < recall
        below += late
        left = np.flatnonzero(late)
        while left.size:
            left = left[ends[below.ravel()[left]] < recall.ravel()[left]]
            below.ravel()[left] += 1
    below *= n_draws
    below += draw
    size = (levels.size + 1) * n_draws
    passed = np.bincount(below.ravel(), minlength=size)[: levels.size * n_draws]
    passed *= n_draws
    at = passed.reshape(levels.size, n_draws)
    at[0] += draw - n_draws
    return add_up(at)


@dataclass(frozen=True, eq=False)
class _Passage:
    """The recall at the knots in a block of draws, and the pieces in which levels lie.

    `recall` has the shape (knots, draws), and `passed` is the number of negatives above each knot,
    and of all.
    """

    block: Weights
    passed: Floats
    knots: Knots
    levels: Floats
    recall: Singles
    complete: bool
    drawn_weights: dict[bool, Singles] = field(default_factory=dict)

    @classmethod
    def of(cls, path: RocPath, knots: Knots, levels: Floats, block: Weights) -> "_Passage":
        """Draw the recall."""
        ranks = np.append(path.ranks, path.ranks[-1] + path.missed) - path.ranks[0]
        inner, n_knots = np.flatnonzero(knots.share), knots.piece.size
        read = np.concatenate([knots.piece, knots.piece[inner] + 1, [ranks.size - 1]])
        sums = block.positives.at(ranks[read])
        recall, ends = sums[:n_knots], sums[n_knots:-1]
        ends -= recall[inner]
        ends *= knots.share[inner, None].astype(np.float32)
        recall[inner] += ends
        recall /= sums[-1]
        passed = np.append(knots.fp, path.n_neg)
        return cls(block, passed, knots, levels, recall, not path.missed)

    @cached_property
    def negatives(self) -> Singles:
        """The weights of the negatives that are passed, which several kinds of curves read."""
        return self.block.negatives.at(self.passed)

    @cached_property
    def total(self) -> Singles:
        """The weight of all negatives."""
        return np.asarray(self.negatives[-1] + self.block.halves.at(np.ones(1))[0])

    def passed_weights(self, *, fading: bool = False) -> Singles:
        """Return the weights of negatives above the knots, seen or not, shape (knots, draws)."""
        if fading not in self.drawn_weights:
            weights = np.empty_like(self.negatives[:-1])
            spread = self.block.n_draws // 2 if fading else self.block.n_draws
            self._add_half(weights, self.knots.half, slice(spread))
            if fading:
                self._add_half(weights, self.knots.fading_half, slice(spread, None))
            self._turn(weights)
            self.drawn_weights[fading] = self.at_least(_LEAST_WEIGHT, weights)
        return self.drawn_weights[fading]

    def at_least(self, least: float, values: Singles) -> Singles:
        """Raise values at the knots to what single precision holds, in place."""
        few = values[: self.knots.n_steep]
        # `maximum` with a single number is several times slower.
        np.clip(few, least, np.inf, out=few)
        return values

    def _add_half(self, weights: Singles, half: Floats, draws: slice) -> None:
        """Write the weights of the passed negatives, and of a part of half a one, into draws."""
        # From here on all knots have the same half negative.
        same = int(np.flatnonzero(np.diff(half, prepend=-1.0))[-1])
        halves = self.block.halves.at(half[: same + 1], draws)
        negatives, weights = self.negatives[:-1, draws], weights[:, draws]
        np.add(negatives[:same], halves[:same], out=weights[:same])
        np.add(negatives[same:], halves[same], out=weights[same:])

    def _turn(self, weights: Singles) -> None:
        """Take part of the half above before the middle of a run; add of that below after it."""
        turns = self.knots.turns.astype(np.float32)
        before, after = np.flatnonzero(turns < 0), np.flatnonzero(turns > 0)
        above, whole = self.block.halves.at(np.array([0.5, 1.0]))
        for here, half in ((before, above), (after, whole - above)):
            weights[here] += turns[here, None] * half

    def rates(self, *, fading: bool = False) -> Singles:
        """Return the false positive rates at the knots, shape (knots, draws)."""
        return self.at_least(_LEAST_RATE, self.passed_weights(fading=fading) / self.total)

    @cached_property
    def at(self) -> Integers:
        """The flattened place of the knot at or before each level, shape (levels, draws)."""
        return _pieces(self.recall, self.levels, _Cells.of(self.levels))

    def between(self, rates: Singles) -> Singles:
        """Return the logarithms, at the levels, of rates that are given at the knots."""
        tied = self.knots.tied
        log_rates = np.log(rates)
        # The rate itself is straight within tie blocks, up to the end of each.
        lines = self._lines(log_rates)
        if tied.any():
            lines[tied] = self._lines(rates)[tied]
        values = self._on_lines(lines)
        if tied.any():
            np.log(values, out=values, where=self._tied())
        return values

    def at_block_ends(self, log_rates: Singles, out: Floats) -> None:
        """Find the same with levels within tie blocks moved to the end of their block."""
        tied = self.knots.tied
        lines = self._lines(log_rates)
        lines[tied] = log_rates[self.knots.ends[tied]]
        out[:] = self._on_lines(lines)

    def block_ends(self) -> Floats:
        """Return the logarithm of the recall of the levels, or of the end of their block."""
        ends = np.log(self.recall[self.knots.ends].ravel().take(self.at))
        return np.where(self._tied(), ends, np.log(self.levels)[:, None])

    def _tied(self) -> Flags:
        """Return which levels lie within tie blocks."""
        return np.asarray(self.knots.tied[self.at // self.recall.shape[1]])

    def _lines(self, values: Singles) -> NDArray[np.complex64]:
        """Return intercept and slope after each knot, as one complex number, found faster."""
        lines = np.empty(values.shape, dtype=np.complex64)
        # No level lies between knots that are the same.
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = np.diff(values, axis=0) / np.diff(self.recall, axis=0)
            lines.real[:-1] = values[:-1] - slope * self.recall[:-1]
        lines.imag[:-1] = slope
        lines[-1] = values[-1] if self.complete else np.inf
        return lines

    def _on_lines(self, lines: NDArray[np.complex64]) -> Singles:
        """Return the values of the lines at the levels."""
        line = lines.ravel().take(self.at, mode="clip")
        values = line.imag * self.levels.astype(np.float32)[:, None]
        values += line.real
        return np.asarray(values)


class DrawnPath:
    """Draws of the recall at the knots of a path, and of curves at levels that rise within (0, 1).

    If `turning`, a negative that was not seen is passed in the course of each run of positives:
    half of it by the middle, and all by the end. Else half of it stands above any threshold.
    """

    def __init__(
        self, path: RocPath, levels: Floats, blocks: Sequence[Weights], *, turning: bool = False
    ) -> None:
        """Draw the recall at the knots."""
        self.known_log_odds: float | None = None
        path = path.thin(DRAWN_KNOTS)
        self.path, self.levels, self.blocks = path, levels, blocks
        self.knots = Knots.of(path, turning=turning)

    def smoothed_log_odds(self) -> Singles:
        """Draw log odds of precision, smoothed over recall, shape (n_resamples, levels)."""
        means = self._means()
        return self._each(means.points, means.of)

    def log_odds(self) -> Singles:
        """Draw the same without smoothing, shape (n_resamples, levels)."""
        return self._each(self.levels, lambda drawn: drawn)

    def _each(self, points: Floats, levels_of: Callable[[Singles], Singles]) -> Singles:
        """Return log odds at the levels, which come from those at points of each block."""
        drawn, first = np.empty((self.levels.size, self.n_draws), np.float32), 0
        for passage in self._passages if self.path.missed else map(self._passage, self.blocks):
            columns = slice(first, first := first + passage.block.n_draws)
            drawn[:, columns] = levels_of(self._log_odds_at(passage, points))
        return drawn.T

    def at_prior(self, prior: float) -> "DrawnPath":
        """Return the same draws in a population whose share of positives is known."""
        path = copy(self)
        path.__dict__.pop("odds", None)
        path.known_log_odds = float(logit(prior))
        return path

    def curves(self, *, block_ends: bool = False, fading: bool = False) -> Draws:
        """Draw curves from the posterior distribution of the curve behind the ranking.

        With `block_ends` a level within a tie block is moved to the end of the block. With
        `fading` the half negative that may stand above any threshold is multiplied by the root of
        recall in the second half of the draws of each block of weights. That is meant for areas:
        a population may have a few negatives above nearly all positives, or none. A single level
        needs the whole half in all draws.
        """
        block_ends = block_ends and bool(self.path.tied.any())
        log_fpr = np.empty((self.levels.size, self.n_draws))
        log_recall = np.empty_like(log_fpr) if block_ends else np.log(self.levels)[:, None]
        first = 0
        for passage in self._passages:
            rates = passage.rates(fading=fading)
            columns = slice(first, first := first + rates.shape[1])
            if block_ends:
                passage.at_block_ends(np.log(rates), log_fpr[:, columns])
                log_recall[:, columns] = passage.block_ends()
            else:
                log_fpr[:, columns] = passage.between(rates)
        recall = np.broadcast_to(log_recall, log_fpr.shape)
        return Draws(recall.T, log_fpr.T, self.odds[:, None])

    def points(self, *, fading: bool = False) -> tuple[Singles, Singles]:
        """Return recall and the share of all items above, at the knots, shape (knots, draws)."""
        recalls, aboves = [], []
        for passage in self._passages:
            p = expit(self._log_odds(passage.block))
            share = (p.astype(np.float32), ((1 - p) / passage.total).astype(np.float32))
            above = passage.passed_weights(fading=fading) * share[1]
            above += share[0] * passage.recall
            recalls.append(passage.recall)
            aboves.append(above)
        return np.concatenate(recalls, axis=1), np.concatenate(aboves, axis=1)

    def areas_under_precision(
        self, *, block_ends: bool = False, up_to: Floats | None = None
    ) -> Floats:
        """Return the areas under the precision of fading curves, up to a recall of each draw."""
        knots, parts, first = self.knots, [], 0
        ends = knots.ends if block_ends else None
        for passage in self._passages:
            against = self._against(passage, fading=True)
            draws = slice(first, first := first + passage.recall.shape[1])
            area = area_under_precision(
                passage.recall,
                against,
                knots.tied[:-1],
                ends,
                n_steep=knots.n_steep,
                up_to=None if up_to is None else up_to[draws],
            )
            parts.append(area)
        return np.concatenate(parts).astype(np.float64)

    def areas_under_rates(self, beyond: float) -> Floats:
        """Return the areas under the rates of curves; `beyond` is that beyond retrieved items."""
        knots, parts = self.knots, []
        for passage in self._passages:
            weights = passage.passed_weights()
            area = area_under_rates(passage.recall, weights, knots.tied[:-1], knots.n_steep)
            parts.append(area / passage.total + beyond * (1 - passage.recall[-1]))
        return np.concatenate(parts).astype(np.float64)

    @cached_property
    def _passages(self) -> list[_Passage]:
        """The passages of all draws, which several kinds of curves read."""
        return [self._passage(block) for block in self.blocks]

    def _passage(self, block: Weights) -> _Passage:
        """Draw the recall at the knots."""
        return _Passage.of(self.path, self.knots, self.levels, block)

    def share_of_blocks(self) -> Floats:
        """Return the weight that wide tie blocks have in the mean of each level."""
        return self._smoothing.share(self._smoothing.in_blocks(*self.path.blocks))

    @cached_property
    def _smoothing(self) -> Smoothing:
        """The nodes of the means over recall."""
        return Smoothing.of(self.levels, self.path.n_pos, rounded=True)

    def _means(self) -> Means:
        """Return the points at which draws are needed, and their means."""
        smoothing, end = self._smoothing, np.inf
        if self.path.missed:
            end = min(float(passage.recall[-1].min()) for passage in self._passages)
        known, going = (at < end * (1 - _ROUNDING) for at in (smoothing.nodes, smoothing.recall))
        return smoothing.means(smoothing.smoothed(self.path), known, going)

    def _log_odds_at(self, passage: _Passage, points: Floats) -> Singles:
        """Return the logarithm of the odds of precision at levels of recall."""
        passage = replace(passage, levels=points)
        against = passage.between(self._against(passage))
        log_recall = np.log(points).astype(np.float32)[:, None]
        return np.asarray(np.subtract(log_recall, against, out=against))

    def _against(self, passage: _Passage, *, fading: bool = False) -> Singles:
        """Return the false positive rates at the knots times the odds of a negative."""
        odds = np.exp(-self._log_odds(passage.block)) / passage.total
        against = passage.passed_weights(fading=fading) * odds.astype(np.float32)
        return passage.at_least(_LEAST_RATE, against)

    @property
    def n_draws(self) -> int:
        """The number of draws."""
        return sum(block.n_draws for block in self.blocks)

    @cached_property
    def odds(self) -> Floats:
        """Draws of the logarithm of the odds of a positive, shape (n_draws,)."""
        return np.concatenate([self._log_odds(block) for block in self.blocks])

    def _log_odds(self, block: Weights) -> Floats:
        """Draw the logarithm of the odds of a positive, unless it is known."""
        if self.known_log_odds is not None:
            return np.full(block.n_draws, self.known_log_odds)
        return block.log_odds(self.path.n_pos, self.path.n_neg)
