"""The null distribution of a linear rank statistic: all choices of positives equally likely."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr

from prframe import checks
from prframe.errors import PrframeError
from prframe.stats._arrays import counts, reals
from prframe.stats.null.average_precision.counting import cost, drawn_sets
from prframe.stats.null.base import BothTails, NullDistribution, Side
from prframe.stats.null.subset_sums.counting import Exact, Tails, Urn, counted, outside
from prframe.stats.null.subset_sums.saddlepoint import approximate_tails
from prframe.typing import Floats

# The ranks of more items, divided by their number, are as close as the rounding of sums.
_LARGEST = 10**13
# An estimate is compared with this many draws from this seed, unless they need more random numbers
# than the third. Draws replace it if 20 or more are in each tail, and it is 4 standard errors off.
_DRAWS, _SEED, _MOST_NUMBERS, _EXPECTED, _SURELY = 20_000, 20_010, 4 * 10**7, 20, 4
RankNullMethod: TypeAlias = Literal["auto", "exact", "saddlepoint", "normal"]


@dataclass(frozen=True, eq=False, repr=False, init=False)
class LinearRankNull(NullDistribution):
    """The distribution of ``W = sum over positives of a_i`` for random positives.

    Probabilities, quantiles and p-values have the methods of every `NullDistribution`.

    Parameters
    ----------
    scores : array_like of float, shape (n_blocks,)
        The numbers a_i = phi(rank_i / (N + 1)) of the ranked items, or any other; finite. Sums
        closer than 1e-14 n_pos times the largest are equal.
    n_pos : int
        Positives, 1..N.
    sizes : array_like of int, shape (n_blocks,), optional
        How many items have each score; 1 unless given.
    step : float >= 0, optional
        Distance of neighbouring values for the correction for continuity of "normal".
    method : {"auto", "exact", "saddlepoint", "normal"}, default "auto"
        How probabilities are computed, see Notes.

    Raises
    ------
    PrframeError
        Scores that are not finite, sizes below 1, of another number or beyond 10^13 together,
        `n_pos` out of range, or, once probabilities are asked for, "exact" where there is too much
        to count.

    Notes
    -----
    Mean ``n_pos mean(a)``, variance ``n_pos n_neg / (N (N - 1)) sum (a_i - mean(a))^2``, skewness
    and kurtosis are exact (Hajek, Sidak & Sen, *Theory of rank tests*, 1999, section 3.3).

    "exact" counts subsets (up to 33 different scores, or more if few are positive or many are
    tied), or uses a lattice of sums (up to 70 items for the rank sum). "auto" counts if that is
    fast. Otherwise, like "saddlepoint", it takes the double saddlepoint approximation (Skovgaard
    1987), within about 2 %, or, for few positives and clustered sums, an "inversion" of the
    characteristic function, which is closer. If that takes too long, the result is an "estimate",
    or the share of 20,000 draws if these contradict it ("monte-carlo").
    "normal" is the textbook approximation.

    Examples
    --------
    The rank sum of 3 positives among 8 items is at least 20 in 2 of 56 rankings:

    >>> null = LinearRankNull(range(1, 9), n_pos=3)
    >>> null.mean(), null.var(), round(56 * null.sf(20), 9)
    (13.5, 11.25, 2.0)
    """

    n: int
    n_pos: int
    method: RankNullMethod
    _step: float
    _urn: Urn

    def __init__(
        self,
        scores: ArrayLike,
        n_pos: int,
        sizes: ArrayLike | None = None,
        *,
        step: float = 0.0,
        method: RankNullMethod = "auto",
    ) -> None:
        values = reals("scores", scores)
        if values.ndim != 1 or not values.size or not np.isfinite(values).all():
            raise PrframeError(
                f"`scores` must be finite numbers, at least one; got {checks.brief(scores)}."
            )
        number = np.ones(values.size) if sizes is None else counts("sizes", sizes)
        if number.shape != values.shape:
            got = f"{number.size} for {values.size}"
            raise PrframeError(f"`sizes` must be one per score; got {got}.")
        n = int(number.sum())
        n_pos = checks.whole_number("n_pos", n_pos, at_least=1)
        if n_pos > n:
            raise PrframeError(f"`n_pos` must be at most N = {n}; got {n_pos}.")
        if n > _LARGEST:
            raise PrframeError(
                f"`sizes` must add up to at most {_LARGEST:,}; got {n:,}: neighbouring ranks "
                "are as close as their rounding. Count fewer of the items that are not retrieved."
            )
        step = float(checks.number("step", step, at_least=0))
        checks.one_of("method", method, get_args(RankNullMethod))
        # Adding 0 leaves no -0, which would look like another score.
        distinct, place = np.unique(values + 0.0, return_inverse=True)
        total = np.bincount(place, number).astype(np.int64)
        self._set(n=n, n_pos=n_pos, method=method, _step=step, _urn=Urn(distinct, total, n_pos))

    def _arguments(self) -> dict[str, object]:
        """Return the arguments that make this distribution: rising scores, and no defaults."""
        given: dict[str, object] = {"scores": self._urn.values, "n_pos": self.n_pos}
        given |= {"sizes": self._urn.sizes} if (self._urn.sizes > 1).any() else {}
        given |= {"step": self._step} if self._step else {}
        return given | ({"method": self.method} if self.method != "auto" else {})

    def mean(self) -> float:
        """Return the mean."""
        return self._urn.mean

    def var(self) -> float:
        """Return the variance."""
        return self._urn.variance

    def support(self) -> tuple[float, float]:
        """Return the least and the largest value."""
        return self._urn.support

    def _shape(self) -> tuple[float, float]:
        """Return skewness and excess kurtosis."""
        return self._urn.shape

    def _log_tails(self, x: Floats, _: tuple[Side, ...]) -> BothTails:
        """Return both tails of rising numbers."""
        tails = [self._tail(value) for value in x.tolist()]
        above, below, method = zip(*tails, strict=True) if tails else ((), (), ())
        return BothTails(np.array(above), np.array(below), np.array(method, dtype=np.str_))

    def _tail(self, value: float) -> tuple[float, float, str]:
        """Return the logarithms of both tails of a value of the urn, and the method."""
        if self.method == "normal":
            above, below = self._normal(value)
            return above, below, "normal"
        urn = self._smaller
        x = value - (0.0 if urn is self._urn else self._urn.total)
        exact = outside(urn, x)
        if exact is None and self.method != "saddlepoint" and self._exact is not None:
            exact = self._exact.tails(x)
        if exact is not None:
            return exact.above, exact.below, "exact"
        if self.method == "exact":
            raise PrframeError(
                f"too many subsets of {self.n_pos} among {self.n} items to count them; "
                "take method='auto' or 'saddlepoint'."
            )
        tails, how = approximate_tails(urn, x)
        if how == "estimate":
            tails, how = self._unless_drawn(value, tails)
        return tails.above, tails.below, how

    def _unless_drawn(self, value: float, tails: Tails) -> tuple[Tails, str]:
        """Return an estimate of tails, or the shares of draws if these contradict it."""
        number, slack = max(self._sample.size, 1), self._urn.slack
        reached = self._sample.size - np.searchsorted(self._sample, value - slack)
        missed = np.searchsorted(self._sample, value + slack, side="right")
        shares = np.array([reached, missed]) / number
        away = np.abs(np.exp(tails) - shares)
        is_wrong = (away > _SURELY * np.sqrt(shares * (1 - shares) / number)).any()
        if min(reached, missed) < _EXPECTED or not is_wrong:
            return tails, "estimate"
        return Tails(*np.log(shares).tolist()), "monte-carlo"

    @cached_property
    def _sample(self) -> Floats:
        """Sums of random positives, always the same, rising; none if they take long."""
        if _DRAWS * cost(self.n, self.n_pos) > _MOST_NUMBERS:
            return np.zeros(0)
        generator, ends = np.random.default_rng(_SEED), np.cumsum(self._urn.sizes)
        parts = (drawn_sets(self.n, self.n_pos, _DRAWS // 20, generator) for _ in range(20))
        blocks = (np.searchsorted(ends, places, side="right") for places in parts)
        return np.sort(np.concatenate([self._urn.values[each].sum(axis=1) for each in blocks]))

    def _draws(self, size: int, generator: np.random.Generator) -> Floats:
        """Draw the number of positives in each block, and return the sums."""
        draw = generator.multivariate_hypergeometric
        draws = draw(self._urn.sizes, self.n_pos, size, method="marginals")
        return np.asarray(draws @ self._urn.values)

    def _rounding(self, x: Floats) -> Floats:
        """Return by how much sums may differ and still count as equal."""
        return np.full(x.shape, self._urn.slack)

    def _lattice(self) -> tuple[float, float] | None:
        """Return the least sum of a lattice, and its unit; the normal distribution has none."""
        lattice = None if self.method == "normal" else self._urn.lattice
        return None if lattice is None else (self.n_pos * lattice.least, lattice.unit)

    @cached_property
    def _smaller(self) -> Urn:
        """The urn, or that of the negatives if these are fewer."""
        return self._urn if 2 * self.n_pos <= self.n else self._urn.left_over()

    @cached_property
    def _exact(self) -> Exact | None:
        """The exact distribution, if it is small enough."""
        return counted(self._smaller)

    def _normal(self, value: float) -> Tails:
        """Return tails of the normal distribution with the correction for continuity."""
        deviation, distance = self._urn.variance**0.5, value - self._urn.mean
        if not deviation:
            return outside(self._urn, value) or Tails(0.0, 0.0)
        sides = (self._step / 2 - distance, self._step / 2 + distance)
        return Tails(*(float(log_ndtr(side / deviation)) for side in sides))
