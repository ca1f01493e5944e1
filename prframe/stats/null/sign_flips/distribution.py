"""The distribution of a sum of numbers with random signs, which paired randomization tests use."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, Self, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from prframe import checks
from prframe.errors import PrframeError
from prframe.stats._arrays import reals
from prframe.stats._p_values import check_alternative
from prframe.stats._tolerances import EQUAL
from prframe.stats.null.base import NullDistribution
from prframe.stats.null.sign_flips.clusters import stored_in_single_precision
from prframe.stats.null.sign_flips.convolved import ConvolvedSums
from prframe.stats.null.sign_flips.counted import QUICK, CountedSums, distinct_values
from prframe.stats.null.sign_flips.grid import SignFlipGrid, grid_cells, reach
from prframe.stats.null.sign_flips.inversion import inverted_log_tail, rough_log_tail
from prframe.stats.null.sign_flips.signs import (
    NEGLIGIBLE,
    TINY,
    kinds,
    least_chance,
    log_chance_of_signs,
    random_signs,
)
from prframe.stats.null.sign_flips.units import lattice, place_of_sum, root_of_squares
from prframe.stats.null.tail_probabilities import BothTails, Side
from prframe.typing import Alternative, Floats, Integers

SignFlipMethod: TypeAlias = Literal["auto", "exact", "convolution"]

# All sums of up to so many numbers are counted, in two halves, by "exact".
_MOST = 44
# All steps along a lattice may take so many cells, or as many as the grid would.
_LATTICE_STEPS = 1 << 25


@dataclass(frozen=True, eq=False, repr=False)
class SignFlipNull(NullDistribution):
    """The distribution of ``S = sum_i e_i d_i`` with independent fair signs ``e_i``.

    It is the null distribution of every paired randomization test: of the sum of differences, of
    the signed ranks (Wilcoxon), of the signs alone (sign test). Probabilities, quantiles and
    p-values have the methods of every `NullDistribution`.

    Parameters
    ----------
    differences : array_like of float, shape (n,)
        The numbers d; their signs do not matter, zeros have no effect.
    method : {"auto", "exact", "convolution"}, default "auto"
        ``"exact"``: all 2^n sums are counted, from the sorted sums of two halves, for n <= 44, or
        added up on their lattice if the numbers have a common unit. ``"convolution"``: on a grid
        of 65,536 cells. ``"auto"``: exact on a lattice and for n <= 32, else convolution, by
        inversion of the characteristic function where that dies away, and on the grid elsewhere.

    Raises
    ------
    PrframeError
        Numbers that are not finite, or too many for ``"exact"``.

    Notes
    -----
    Where neither single sums nor clusters of them matter, the characteristic function under a tilt
    is inverted: it is within 4e-4 of counting where sums nearly tie, and within 2e-5 for numbers
    from smooth distributions, however small the tail is. Elsewhere sums are on a grid. If numbers
    have a common unit and the grid can hold all their sums, the step of the grid is the
    unit. Otherwise every number is rounded to the grid so that the sum of squares stays the same,
    and each atom is spread over the step between two neighbours; up to 20 numbers that outweigh
    all smaller ones together are counted instead. More than 8192 numbers are rounded more
    coarsely. As nothing is subtracted, small probabilities keep their digits: compared with
    counting, for n from 25 to 36, those of numbers from smooth distributions are within 0.3 % down
    to 1e-8 (``pytest tests/stats/null/test_sign_flips.py``). Where many sums nearly tie, as those
    of differences of reciprocal ranks do, and next to the largest sum, they are within 1.2 % down
    to 1e-5 and 10 % below (``python -m benchmarks.paired_study``). For 200 differences like those
    of AP they are within 3e-4 of the inversion of their characteristic function.

    The sums of numbers that nearly have a common unit, but not quite, lie in clusters. The places
    on the grid are then chosen so that sums keep their order and clusters nearly touch, so that
    the sums of a cluster are told apart: mostly within 1 % of counting, and within 5 % where
    remainders are of several sizes or the numbers have two units. The signs of up to eight numbers
    that are no multiples are counted. Multiples of a unit that differ
    from it by less than 2^-21 of the largest number, as they do when stored in single precision,
    are taken for multiples, so that sums that would tie do tie.

    References
    ----------
    Fisher, *The design of experiments*, 1935, section 21; Pitman 1937.

    Examples
    --------
    >>> null = SignFlipNull([1.0, 2.0, 4.0])
    >>> null.p_value(), null.p_value(alternative="two-sided"), null.std()
    (0.125, 0.25, 4.58257569495584)
    >>> null.isf([0.4, 0.2])
    array([3., 7.])
    """

    differences: ArrayLike
    method: SignFlipMethod = field(default="auto", kw_only=True)

    def __post_init__(self) -> None:
        """Check the numbers and the method."""
        checks.one_of("method", self.method, get_args(SignFlipMethod))
        numbers = reals("differences", self.differences)
        if numbers.ndim != 1 or not np.isfinite(numbers).all():
            raise PrframeError(
                f"`differences` must be a list of finite numbers; "
                f"got {checks.brief(self.differences)}."
            )
        numbers = stored_in_single_precision(numbers[numbers != 0])
        object.__setattr__(self, "differences", numbers)
        if self.method == "exact" and self.how != "exact":
            raise PrframeError(
                f"method='exact' counts the signs of at most {_MOST} differences without a common "
                f"unit; got {self._sizes.size}; take 'auto' or 'convolution'."
            )

    def _arguments(self) -> dict[str, object]:
        """Return the arguments that make this distribution, without those that are defaults."""
        given: dict[str, object] = {"differences": self.differences}
        return given | ({"method": self.method} if self.method != "auto" else {})

    @cached_property
    def _sizes(self) -> Floats:
        """The absolute numbers, rising, without zeros."""
        return np.sort(np.abs(np.asarray(self.differences)))

    @cached_property
    def how(self) -> Literal["exact", "convolution"]:
        """The way in which probabilities are computed."""
        if self.method == "convolution":
            return "convolution"
        limit = _MOST if self.method == "exact" else QUICK
        return "exact" if self._places is not None or self._sizes.size <= limit else "convolution"

    @cached_property
    def _places(self) -> Integers | None:
        """The numbers in their common unit, if they have one and the walk along it is short."""
        places = lattice(self._sizes)
        if places is None or not places.size:
            return places
        most = max(_LATTICE_STEPS, self._sizes.size * grid_cells(self._sizes.size))
        extents = np.minimum(places.cumsum(), reach(places))
        return places if 2.0 * extents.sum(dtype=np.float64) <= most else None

    @cached_property
    def _on_lattice(self) -> bool:
        """Whether sums are counted along the lattice of the numbers, if the grid can hold it."""
        return self._places is not None and (
            self.how == "exact" or int(self._places.sum()) < grid_cells(max(self._sizes.size, 1))
        )

    @cached_property
    def _slack(self) -> float:
        """The largest difference of sums that count as equal."""
        return EQUAL * float(self._sizes.sum())

    @cached_property
    def _halves(self) -> CountedSums:
        """All sums of each half of the numbers."""
        slack = np.array([self._slack])
        [(_, values, multiplicity)] = distinct_values(self._sizes[None], slack)
        return CountedSums.of(values, multiplicity)

    @cached_property
    def _lattice_grid(self) -> SignFlipGrid:
        """The distribution on the lattice of the numbers."""
        places = np.zeros(0, dtype=np.int64) if self._places is None else self._places
        unit = float(self._sizes.sum()) / max(int(places.sum()), 1)
        return SignFlipGrid.of_places(places, unit, unit)

    @cached_property
    def _convolved(self) -> ConvolvedSums:
        """The sums of the numbers by convolution, where no lattice holds them."""
        return ConvolvedSums(self._sizes, self._slack)

    def mean(self) -> float:
        """Return the mean, 0."""
        return 0.0

    def var(self) -> float:
        """Return the variance, the sum of squares."""
        # A product of floats may become infinite, where a power raises an error.
        return self.std() * self.std()

    def std(self) -> float:
        """Return the standard deviation, the root of the sum of squares."""
        return root_of_squares(self._sizes)

    def support(self) -> tuple[float, float]:
        """Return the least and the largest value."""
        most = float(self._sizes.sum())
        return -most, most

    def using(self, method: SignFlipMethod) -> Self:
        """Return the same distribution, whose probabilities are computed by another method.

        Parameters
        ----------
        method : {"auto", "exact", "convolution"}

        Returns
        -------
        SignFlipNull

        Raises
        ------
        PrframeError
            Another method, or too many numbers for "exact".
        """
        return replace(self, method=method)

    def p_value(
        self, statistic: ArrayLike | None = None, alternative: Alternative = "greater"
    ) -> Floats | float:
        """Return the p-value of a statistic, or of the numbers with the signs they have.

        The other distributions are made without the observed values, so that they need the
        statistic.

        Parameters
        ----------
        statistic : array_like of float, optional
            Observed values; the sum s of the numbers unless given. The probability of s itself is
            more accurate than that of other values, which a grid spreads over a step.
        alternative : {"greater", "less", "two-sided"}
            ``P(S >= s)``, ``P(S <= s)`` or ``P(|S| >= |s|)``, which is twice the smaller of both,
            or 1.

        Returns
        -------
        float or ndarray of float, in [0, 1]
            In the shape of `statistic`.

        Raises
        ------
        PrframeError
            A statistic that is no number, or another alternative.
        """
        if statistic is not None:
            return super().p_value(statistic, alternative)
        check_alternative(alternative)
        numbers = np.asarray(self.differences)
        total = float(numbers.sum())
        if alternative == "two-sided" and abs(total) <= self._slack:
            return 1.0
        upward = total > 0 if alternative == "two-sided" else alternative == "greater"
        tail = self._tail(numbers if upward else -numbers)
        return min(1.0, 2 * tail if alternative == "two-sided" else tail)

    def _shape(self) -> tuple[float, float]:
        """Return skewness, 0, and excess kurtosis, ``-2 sum d^4 / (sum d^2)^2``."""
        if not self._sizes.size:
            return np.nan, np.nan
        squares = (self._sizes / self.std()) ** 2
        return 0.0, float(-2 * (squares**2).sum())

    def _log_tails(self, x: Floats, sides: tuple[Side, ...]) -> BothTails:
        """Return the tails of rising numbers on the sides that are asked for.

        What the inversion and the grid give differs in its last digits, and is kept monotone.
        """
        above, below = np.full((2, *x.shape), np.nan)
        if "upper" in sides:
            above = np.minimum.accumulate(self._log_at_least(x))
        if "lower" in sides:
            # P(S <= x) is P(S >= -x), because the distribution is symmetric.
            below = np.maximum.accumulate(self._log_at_least(-x))
        return BothTails(above, below, np.full(x.shape, self.how))

    def _log_at_least(self, x: Floats) -> Floats:
        """Return the logarithms of P(S >= x)."""
        logs = np.array([self._log_of(value) for value in x.tolist()])
        # The logarithm of the chance of the largest sum is known where the chance is too small
        # for a float.
        most = float(self._sizes.sum())
        is_most = (np.abs(x - most) <= self._slack) & (logs < 0)
        return np.asarray(np.where(is_most, self._log_least, logs))

    def _log_of(self, x: float) -> float:
        """Return the logarithm of P(S >= x)."""
        if (log_tail := self._inverted(x)) is not None:
            return log_tail
        chance = min(1.0, self._at_least(x))
        if self.method == "auto" and 0 < chance <= TINY:
            # Even where the inversion is not sure, its factor tells the logarithm.
            norm = self.std()
            return max(rough_log_tail(self._sizes / norm, x / norm), self._log_least)
        return float(np.log(chance)) if chance else -np.inf

    def _inverted(self, x: float, log_own: float | None = None) -> float | None:
        """Return log P(S >= x) by inversion; None where single sums or clusters matter.

        `log_own` is the logarithm of the chance of x itself, if it is known.
        """
        norm, most = self.std(), float(self._sizes.sum())
        if self.method != "auto" or self.how == "exact" or self._on_lattice:
            return None
        if not (0 < norm < np.inf and abs(x) < most - self._slack):
            return None
        log_tail = inverted_log_tail(self._sizes / norm, abs(x) / norm)
        if log_tail is None:
            return None
        log_own = self._log_likeliest if log_own is None else log_own
        if log_own > log_tail + np.log(NEGLIGIBLE):
            return None
        return log_tail if x >= 0 else float(np.log(-np.expm1(log_tail)))

    @cached_property
    def _log_likeliest(self) -> float:
        """The logarithm of a bound of the chance of any single sum."""
        number = np.bincount(kinds(self._sizes))
        ways = gammaln(number + 1) - 2 * gammaln(number / 2 + 1)
        return float(ways.sum()) + self._log_least

    def _at_least(self, x: float) -> float:
        """Return P(S >= x)."""
        most = float(self._sizes.sum())
        if x > most + self._slack or x <= self._slack - most:
            return float(x <= self._slack - most)
        if x >= most - self._slack:
            return self._least
        if self._on_lattice:
            grid = self._lattice_grid
            place = place_of_sum(x, self._slack, grid.unit)
            chance = grid.from_place(float(place))
            return max(chance, self._least)
        if self.how == "exact":
            return float(self._halves.at_least(np.array([x - self._slack]))[0])
        return self._convolved.at_least(x)

    def _draws(self, size: int, generator: np.random.Generator) -> Floats:
        """Draw sums with random signs."""
        signs = random_signs(self._sizes.size, size, generator)
        return np.concatenate([rows @ self._sizes for rows in signs])

    def _rounding(self, x: Floats) -> Floats:
        """Return by how much sums may differ and still count as equal."""
        return np.full(x.shape, self._slack)

    def _lattice(self) -> tuple[float, float] | None:
        """Return the least sum and the distance of two sums, if sums are on a lattice."""
        if not self._on_lattice or not self._sizes.size:
            return None
        return self.support()[0], 2 * self._lattice_grid.unit

    def _tail(self, numbers: Floats) -> float:
        """Return the probability of the sum of the numbers or more."""
        total = float(numbers.sum())
        if (
            self.how == "exact"
            or self._on_lattice
            or abs(total) >= self._sizes.sum() - self._slack
        ):
            return self._at_least(total)
        log_tail = self._inverted(total, log_chance_of_signs(numbers))
        if log_tail is not None:
            return max(float(np.exp(log_tail)), self._least)
        return self._convolved.at_least_sum(numbers)

    @property
    def _log_least(self) -> float:
        """The logarithm of the probability of the largest sum."""
        return -self._sizes.size * float(np.log(2))

    @cached_property
    def _least(self) -> float:
        """The probability of the largest sum, or the least float if that is larger."""
        return least_chance(self._sizes.size)
