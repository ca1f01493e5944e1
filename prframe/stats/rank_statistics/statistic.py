"""Two-sample linear rank statistics: test, standard error and interval.

The Hajek projection (Clemencon, Limnios & Vayatis 2021, Prop. 4) writes W as a sum over items:
``phi(F(x)) + int_x^inf phi'(F) dF_pos`` for a positive, the integral alone for a negative, where F
is the distribution of all scores and ``F_pos`` the positives' part. Items of a cell share a value.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from prframe.errors import PrframeError
from prframe.stats._arrays import comparable
from prframe.stats._p_values import check_alternative
from prframe.stats._tolerances import WHOLE
from prframe.stats.intervals import Confidence, IntervalEstimate, beta_interval
from prframe.stats.null import LinearRankNull, RankNullMethod, sided
from prframe.stats.rankings import RankedCells, cells_from_scores, local_precision
from prframe.stats.score_functions import Jump, Phi, ScoreGeneratingFunction, mean_score, parse_phi
from prframe.typing import Alternative, Floats, Integers

# A mean that is nearer than this to that of the best or the worst ranking, relative to the larger
# of both, is that of such a ranking.
_SAME_MEAN = 1e-13


@dataclass(frozen=True, eq=False)
class RankSum:
    """``W = sum over positives of phi(rank / (N + 1))``, with the phi of this number of items."""

    cells: RankedCells
    phi: ScoreGeneratingFunction

    @cached_property
    def _u(self) -> Floats:
        """The mid-ranks divided by N + 1."""
        return normalised_mid_ranks(self.cells.pos + self.cells.neg)

    @cached_property
    def statistic(self) -> float:
        """The statistic W."""
        hit = self.cells.pos > 0
        return float(self.cells.pos[hit] @ self.phi(self._u[hit]))

    @cached_property
    def effects(self) -> tuple[Floats, Floats]:
        """The projections of one positive and of one negative of each cell.

        Ties count half, and an item does not move itself.
        """
        pos, u = self.cells.pos, self._u
        slope = self.phi.derivative(u) / (self.cells.n + 1)
        above = np.cumsum(pos * slope) - pos * slope
        for jump in self.phi.jumps:
            above = above + jump.size * self._density(jump) * (u < jump.at)
        return self.phi(u) + above + (pos - 1) / 2 * slope, above + pos / 2 * slope

    @cached_property
    def variance(self) -> float:
        """The estimated variance of W; NaN if a class has one item, or none."""
        classes = zip(self.effects, (self.cells.pos, self.cells.neg), strict=True)
        return sum(_variance(effect[number > 0], number[number > 0]) for effect, number in classes)

    @property
    def moved_by_ties(self) -> float:
        """How far items tied across a jump of phi may move W, in standard errors.

        Their mid-rank is on one side of the jump in a sample, and may be on the other one in the
        population, whose jump is as far away as the number of items above it varies.
        """
        pos, size = self.cells.pos, self.cells.pos + self.cells.neg
        if np.count_nonzero(size) == 1:
            return 0.0
        end, tied, moved = np.cumsum(size), (pos > 0) & (size > 1), 0.0
        for jump in self.phi.jumps:
            rank = rank_of(jump, self.cells.n)
            reach = np.sqrt(self.cells.n * jump.at * (1 - jump.at))
            near = tied & (end > rank - reach) & (end - size < rank + reach)
            moved += jump.size * pos[near].max(initial=0)
        if not moved or np.isnan(self.variance):
            return 0.0
        return float(moved / np.sqrt(self.variance)) if self.variance else np.inf

    def _density(self, jump: Jump) -> float:
        """Return the share of positives near a jump: how many one item moves across it."""
        # An empty cell is appended, because the last cell is a tie block here, as the others are.
        pos, neg = (np.append(part, 0.0) for part in (self.cells.pos, self.cells.neg))
        return local_precision(pos, neg, rank_of(jump, self.cells.n), self.cells.n)


def normalised_mid_ranks(sizes: Integers) -> Floats:
    """Return mid-ranks of blocks, best first, over N + 1; an empty block counts as one item."""
    n = int(sizes.sum())
    rank = n - (np.cumsum(sizes) - sizes) - (sizes - 1) / 2
    return np.asarray(np.clip(rank, 1, n) / (n + 1))


def rank_of(jump: Jump, n: int) -> int:
    """Return how many of n items lie above a jump."""
    return min(max(int((n + 1) * (1 - jump.at) + WHOLE), 1), n)


def cut_at_jumps(cells: RankedCells, phi: ScoreGeneratingFunction) -> RankedCells:
    """Cut runs of negatives in two where phi jumps, so that each cell is on one side of it."""
    pos, neg = cells.pos, cells.neg
    for jump in phi.jumps:
        pos, neg = _cut(pos, neg, rank_of(jump, cells.n))
    return RankedCells(pos, neg)


def _cut(pos: Integers, neg: Integers, rank: int) -> tuple[Integers, Integers]:
    """Cut a run of negatives in two behind a rank."""
    end = np.cumsum(pos + neg)
    at = int(np.searchsorted(end, rank))
    below = int(end[at]) - rank
    if pos[at] or not 0 < below < neg[at]:
        return pos, neg
    halves = np.insert(neg, at, neg[at] - below)
    halves[at + 1] = below
    return np.insert(pos, at, 0), halves


def _variance(effect: Floats, number: Integers) -> float:
    """Return the size of a class times the sample variance of its effects."""
    total = int(number.sum())
    if total < 2:  # noqa: PLR2004 - a variance needs two
        return np.nan
    deviation = effect - number @ effect / total
    return float(number @ deviation**2) * total / (total - 1)


@dataclass(frozen=True, eq=False, repr=False)
class RankStatistic:
    """A two-sample linear rank statistic of a ranking; `rank_statistic` makes it.

    Attributes
    ----------
    phi : ScoreGeneratingFunction
        The score-generating function for this number of items.
    null : LinearRankNull
        The distribution of W if all choices of the positives are equally likely, given the ties.

    Examples
    --------
    >>> result = rank_statistic([0.9, 0.8, 0.7, 0.6, 0.5], [True, True, False, True, False])
    >>> result.statistic, round(result.estimate, 4)
    (1.8333333333333333, 0.6333)
    """

    phi: ScoreGeneratingFunction
    cells: RankedCells
    null: LinearRankNull

    def __repr__(self) -> str:
        return (
            f"RankStatistic({self.phi.name}, n_pos={self.n_pos}, n_neg={self.n_neg}, "
            f"statistic={self.statistic:.6g}, estimate={self.estimate:.6g})"
        )

    @property
    def n_pos(self) -> int:
        """The number of positives."""
        return self.cells.n_pos

    @property
    def n_neg(self) -> int:
        """The number of negatives."""
        return self.cells.n_neg

    @property
    def statistic(self) -> float:
        """``W = sum over positives of phi(rank / (N + 1))``."""
        return self._sum.statistic

    @property
    def estimate(self) -> float:
        """The estimate of ``W_phi = E phi(F(X))``.

        It is ``W / n_pos``, mapped from its range in rankings of N items to the range of W_phi.
        """
        scale = self._scale
        return scale.at(self.share) if scale.width else self.mean

    @property
    def mean(self) -> float:
        """The statistic divided by n_pos."""
        return self.statistic / self.n_pos

    @property
    def share(self) -> float:
        """The place of the statistic between the worst ranking, 0, and the best, 1; AUC for "mww".

        It is NaN if all rankings have the same statistic.
        """
        scale = self._scale
        if not scale.width:
            return np.nan
        rounding = _SAME_MEAN * max(abs(scale.worst), abs(scale.best))
        if self.mean >= scale.best - rounding:
            return 1.0
        if self.mean <= scale.worst + rounding:
            return 0.0
        return (self.mean - scale.worst) / (scale.best - scale.worst)

    @property
    def std_error(self) -> float:
        """The standard error of the estimate.

        It is NaN if a class has one item, or none, if all items have one score, and for DCG.
        """
        # Nothing shows how much the estimate varies if all items have one score.
        is_level = int(np.count_nonzero(self.cells.pos + self.cells.neg)) == 1
        if not self.phi.projected or not self._scale.width or is_level:
            return np.nan
        return float(np.sqrt(self._sum.variance)) / self.n_pos * self._scale.stretch

    @property
    def moved_by_ties(self) -> float:
        """By how many standard errors items tied across a jump may move the estimate, or 0."""
        return 0.0 if np.isnan(self.std_error) else self._sum.moved_by_ties

    @property
    def z(self) -> float:
        """``(W - null mean) / null standard deviation``; NaN if that is 0."""
        deviation = self.null.std()
        return (self.statistic - self.null.mean()) / deviation if deviation else np.nan

    def p_value(
        self, alternative: Alternative = "two-sided", method: RankNullMethod = "auto"
    ) -> float:
        """Return the p-value of the hypothesis that labels do not depend on scores.

        By the alternative, positives are ranked differently than at random (twice the smaller
        tail), lower, or higher. `method` is "auto", "exact", "saddlepoint" or "normal", see
        `LinearRankNull`.
        """
        return self.test(alternative, method)[0]

    def test(
        self, alternative: Alternative = "two-sided", method: RankNullMethod = "auto"
    ) -> tuple[float, str]:
        """Return the p-value as `p_value` does, and the method that computed it."""
        check_alternative(alternative)
        tails = self.null.using(method).tails(self.statistic)
        logs = np.asarray(tails.log_sf), np.asarray(tails.log_cdf)
        return float(sided(*logs, alternative)), str(tails.method)

    def interval(self, confidence: Confidence | None = None) -> IntervalEstimate:
        """Return a confidence interval for W_phi, by default 95 % and two-sided.

        Its ends are quantiles of a beta distribution of `share` with a margin of half a misplaced
        item more on either side, within the range of W_phi, and NaN if the standard error is.
        """
        asked, estimate, error = Confidence.of(confidence), self.estimate, self.std_error
        if np.isnan(error):
            return IntervalEstimate(estimate, error, np.nan, np.nan, "beta")
        unit = Confidence(asked.level, asked.alternative, (0.0, 1.0))
        scale = self._scale
        share, of_share = self.share, error / scale.width
        low, high = map(scale.at, beta_interval(share, of_share, unit, step=scale.step(share)))
        return IntervalEstimate(estimate, error, low, high, "beta")

    @cached_property
    def _sum(self) -> RankSum:
        return RankSum(cut_at_jumps(self.cells, self.phi), self.phi)

    @cached_property
    def _scale(self) -> Scale:
        return scale_of(self.phi, self.n_pos, self.n_neg)


class Scale(NamedTuple):
    """The range of W / n_pos in rankings of a sample (worst, best), and that of W_phi.

    `from_worst` and `from_best` are how much one misplaced item may change the worst and the best
    ranking, as a part of the range in a sample.
    """

    worst: float
    best: float
    least: float
    width: float
    from_worst: float
    from_best: float
    most: float

    def at(self, share: float) -> float:
        """Return the value of W_phi at a share of its range, and no other by rounding."""
        return min(self.least + self.width * share, self.most)

    @property
    def stretch(self) -> float:
        """The length of the range of W_phi over that of W / n_pos."""
        return self.width / (self.best - self.worst)

    def step(self, share: float) -> float:
        """Return how much a misplaced item may change a share, whose ends have their own."""
        return share * self.from_best + (1 - share) * self.from_worst


@lru_cache(maxsize=1024)
def scale_of(phi: ScoreGeneratingFunction, n_pos: int, n_neg: int) -> Scale:
    """Return the ranges for rankings without ties; the width is 0 if all have the same W."""
    n = n_pos + n_neg
    worst, best = mean_score(phi, 1, n_pos, n), mean_score(phi, n_neg + 1, n, n)
    low, middle, high = phi.integral([n_pos / n, n_neg / n, 1.0]) * (n / n_pos)
    # Rounding may take an average of phi a hair beyond its largest value.
    with np.errstate(divide="ignore"):
        bounds = phi(np.array([0.0, 1.0]))
    least, most = max(float(low), float(bounds[0])), min(float(high - middle), float(bounds[1]))
    if not best > worst:
        return Scale(worst, best, least, 0.0, 0.0, 0.0, least)
    # An item of either class moves from one end of the ranking to the other one.
    bottom, of_pos, of_neg, after_pos, after_neg, top = phi(
        np.array([1, n_pos, n_neg, n_pos + 1, n_neg + 1, n]) / (n + 1)
    )
    from_worst = max(top - of_pos, after_pos - bottom)
    from_best = max(top - of_neg, after_neg - bottom)
    steps = [float(largest) / n_pos / (best - worst) for largest in (from_worst, from_best)]
    return Scale(worst, best, least, most - least, steps[0], steps[1], most)


def rank_statistic(score: ArrayLike, label: ArrayLike, phi: Phi = "mww") -> RankStatistic:
    """Return a two-sample linear rank statistic, with its null distribution and standard error.

    ``W = sum over positives of phi(rank / (N + 1))``, where ranks rise with the score among all N
    items, and tied items have their mid-rank (Clemencon, Limnios & Vayatis 2021, eq. 2.10).

    Parameters
    ----------
    score : array_like of float, shape (N,)
        Higher ranks first; -inf is not retrieved, and such items are tied. No NaN.
    label : array_like of bool or number, shape (N,)
        True, or above 0, for positives, of which there must be at least one.
    phi : str, ScoreGeneratingFunction or callable
        See `parse_phi`.

    Returns
    -------
    RankStatistic
        ``statistic``, ``null`` (mean, standard deviation and tails under random labels),
        ``z``, ``p_value()``, ``estimate``, ``std_error``, ``interval()``.

    Raises
    ------
    PrframeError
        Lengths that differ, a score that is NaN, no positive, or a phi that is not known.

    Notes
    -----
    The estimate is about ``W_phi = E phi(F(X))`` (eq. 3.3), where X is the score of a positive and
    F the distribution of scores in a mixture with the sample's share p of positives. For phi(u) =
    u it is ``p / 2 + (1 - p) AUC``, and `share` AUC. It divides the range of W_phi, whose largest
    value is ``int_{1-p}^1 phi / p``, as ``W / n_pos`` divides its own.

    The standard error is that of the Hajek projection (Prop. 4, eq. 3.7): each item's value is
    ``phi(F(x)) + int_x^inf phi'(F) dF_pos``, for negatives the integral alone, and the variance
    is that of both classes' values. For phi(u) = u it is DeLong's (1988). Where phi jumps, at the
    k-th rank from the top, the integral takes the share of positives among the ranks within
    ``ceil(k^(4/5) / 2)`` of k. DCG, whose slope at the top grows with N, has no standard error.

    Examples
    --------
    >>> result = rank_statistic([9, 8, 7, 6, 5, 4], [1, 1, 0, 1, 0, 0], phi="van-der-waerden")
    >>> round(result.statistic, 4), round(result.z, 4), round(result.p_value("greater"), 4)
    (1.4535, 1.536, 0.1)
    """
    scores = comparable(score)
    cells, _ = cells_from_scores(scores, label)
    if not cells.n_pos:
        raise PrframeError("a rank statistic needs a positive; `label` has none.")
    _, sizes = np.unique(-np.asarray(scores, dtype=np.float64), return_counts=True)
    function = parse_phi(phi).of_size(cells.n)
    return RankStatistic(function, cells, rank_null(function, sizes, cells.n_pos))


def rank_null(phi: ScoreGeneratingFunction, sizes: Integers, n_pos: int) -> LinearRankNull:
    """Return the null distribution for tie blocks of these sizes, best first."""
    return LinearRankNull(
        phi(normalised_mid_ranks(sizes)), n_pos, sizes, step=phi.step(int(sizes.sum()))
    )
