"""Draws of the curve behind one ranking, by the Bayesian bootstrap of its ranks."""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import expit, logit

from prframe.stats.curves.drawn.areas import area_under_precision, area_under_rates
from prframe.stats.curves.drawn.gamma_walks import Weights
from prframe.stats.curves.drawn.knots import Knots
from prframe.stats.curves.drawn.passages import LEAST_RATE, DrawnPassage
from prframe.stats.curves.drawn.roc_path import DRAWN_KNOTS, RocPath
from prframe.stats.curves.drawn.smoothing import Means, Smoothing
from prframe.typing import Floats, Singles

# So much of a recall in single precision may be rounding.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Draws:
    """Draws of a curve at levels of recall, shape (n_resamples, levels).

    Attributes
    ----------
    log_recall : ndarray
        Logarithm of the recall of the level, or of the end of its tie block.
    log_fpr : ndarray
        Logarithm of the false positive rate; +inf where recall is never reached.
    log_odds : ndarray, shape (n_resamples, 1)
        Logarithm of the odds of a positive.
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


class DrawnPath:
    """Draws of the recall at the knots of a path, and of curves between them.

    Parameters
    ----------
    path : RocPath
        The ranking.
    levels : ndarray, shape (levels,)
        Levels of recall, rising within (0, 1).
    blocks : sequence of Weights
        The weights of the draws.
    turning : bool
        Whether a negative that was not seen is passed in the course of each run of positives: half
        of it by the middle, and all by the end. Else half of it stands above any threshold.
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
        """Draw the logarithm of the odds of precision at the levels, shape (n_resamples, levels).

        They are those of `curves`, in single precision, with each draw smoothed over recall as the
        median of the draws is; see `Smoothing`.
        """
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

        The share of positives above each knot, the share of negatives above each threshold and the
        share of positives among all items are drawn from their posterior distributions, Dirichlet
        and beta with half a count at each end. With `block_ends` a level within a tie block is
        moved to the end of the block.

        With `fading` the half negative that may stand above any threshold is multiplied by the
        root of recall in the second half of the draws of each block of weights. That is meant for
        areas, which add up all levels: a population may have a few negatives above nearly all
        positives, which the sample lacks, or none. A single level needs the whole half in all
        draws. Every call uses the same weights.
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
        """Return the recall at the knots, and the share of all items above the threshold there.

        Both have the shape (knots, draws), and rise from knot to knot.
        """
        recalls, aboves = [], []
        for passage in self._passages:
            p = expit(self._log_odds(passage.block))
            share = (p.astype(np.float32), ((1 - p) / passage.total).astype(np.float32))
            above = passage.passed_weights(fading=fading) * share[1]
            above += share[0] * passage.recall
            recalls.append(passage.recall)
            aboves.append(above)
        return _side_by_side(recalls), _side_by_side(aboves)

    def areas_under_precision(
        self, *, block_ends: bool = False, up_to: Floats | None = None
    ) -> Floats:
        """Return the areas under the precision of fading curves; see `curves`.

        They end at a level of recall for each draw, if there are such levels.
        """
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
        """Return the areas under the rates of curves; `beyond` is the rate that is never reached.

        That rate is taken from the recall on that all retrieved items have.
        """
        knots, parts = self.knots, []
        for passage in self._passages:
            weights = passage.passed_weights()
            area = area_under_rates(passage.recall, weights, knots.tied[:-1], knots.n_steep)
            parts.append(area / passage.total + beyond * (1 - passage.recall[-1]))
        return np.concatenate(parts).astype(np.float64)

    @cached_property
    def _passages(self) -> list[DrawnPassage]:
        """The passages of all draws, which several kinds of curves read."""
        return [self._passage(block) for block in self.blocks]

    def _passage(self, block: Weights) -> DrawnPassage:
        """Draw the recall at the knots."""
        return DrawnPassage.of(self.path, self.knots, self.levels, block)

    def share_of_blocks(self) -> Floats:
        """Return the weight that wide tie blocks have in the mean of each level."""
        return self._smoothing.share(self._smoothing.in_blocks(*self.path.blocks))

    @cached_property
    def _smoothing(self) -> Smoothing:
        """The nodes of the means over recall."""
        return Smoothing.of(self.levels, self.path.n_pos, rounded=True)

    def _means(self) -> Means:
        """Return the points at which draws are needed, and their means."""
        smoothed = self._smoothing.smoothed(self.path)
        if not self.path.missed:
            return self._smoothing.single(smoothed)
        end = min(passage.recall[-1].min() for passage in self._passages)
        return self._smoothing.single(smoothed, float(end) * (1 - _ROUNDING))

    def _log_odds_at(self, passage: DrawnPassage, points: Floats) -> Singles:
        """Return the logarithm of the odds of precision at levels of recall."""
        passage = replace(passage, levels=points)
        against = passage.between(self._against(passage))
        log_recall = np.log(points).astype(np.float32)[:, None]
        return np.asarray(np.subtract(log_recall, against, out=against))

    def _against(self, passage: DrawnPassage, *, fading: bool = False) -> Singles:
        """Return the false positive rates at the knots times the odds of a negative."""
        odds = np.exp(-self._log_odds(passage.block)) / passage.total
        against = passage.passed_weights(fading=fading) * odds.astype(np.float32)
        return passage.at_least(LEAST_RATE, against)

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


def _side_by_side(parts: Sequence[Singles]) -> Singles:
    """Return the draws of all blocks."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
