"""The distribution of a sum of numbers with random signs, which paired randomization tests use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from prframe import checks
from prframe.errors import PrframeError
from prframe.stats._arrays import reals
from prframe.stats._p_values import check_alternative, probability
from prframe.stats.null.base import BothTails, NullDistribution, Side
from prframe.stats.null.sign_flips.sums import MOST, SignSums, without_single_precision
from prframe.typing import Alternative, Floats

# This many signs are made at a time, of 8 bytes each.
_CHUNK = 1 << 20
SignFlipMethod: TypeAlias = Literal["auto", "exact", "convolution"]


def random_signs(
    n: int, n_resamples: int, rng: np.random.Generator, at_once: int = _CHUNK
) -> Iterator[Floats]:
    """Yield rows of n fair signs, -1 or 1, the same however many rows come at once."""
    # Each row takes whole words, so that rows may be cut anywhere.
    words = (n + 63) // 64
    rows_at_once = max(1, min(at_once, _CHUNK // max(n, 1)))
    for start in range(0, n_resamples, rows_at_once):
        rows = min(rows_at_once, n_resamples - start)
        drawn = rng.integers(0, 1 << 64, size=(rows, words), dtype=np.uint64)
        bits = drawn.astype("<u8").view(np.uint8)
        yield np.unpackbits(bits, axis=1, count=n).astype(np.float64) * 2 - 1


def all_signs(n: int, at_once: int = _CHUNK) -> Iterator[Floats]:
    """Yield all 2^n rows of n signs, each once, a number of rows at a time."""
    rows_at_once = max(1, min(at_once, _CHUNK // max(n, 1)))
    for start in range(0, 1 << n, rows_at_once):
        numbers = np.arange(start, min(start + rows_at_once, 1 << n))
        yield (numbers[:, None] >> np.arange(n) & 1).astype(np.float64) * 2 - 1


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
        ``"exact"`` counts all 2^n sums for n <= 44, or adds them up on their lattice if the
        numbers have a common unit. ``"convolution"`` inverts the characteristic function.
        ``"auto"``: exact for n <= 32 and on a lattice, else by a saddlepoint (Robinson 1982) where
        that is accurate, else convolution.

    Notes
    -----
    The method of a probability is "exact", "saddlepoint", "convolution" or "estimate". All but the
    last are within 1 % down to 1e-12. Sums of numbers close to a common unit, but not multiples of
    it, or close to the largest sum, may give an "estimate": its logarithm is within 5 %. Multiples
    of a unit that were stored in single precision are taken for multiples.

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
        self._set(differences=without_single_precision(numbers[numbers != 0]))
        if self.method == "exact" and not (self._sums.counted or self._sums.unit):
            raise PrframeError(
                f"method='exact' counts the signs of at most {MOST} differences without a common "
                f"unit; got {self._sums.sizes.size}; take 'auto' or 'convolution'."
            )

    def _arguments(self) -> dict[str, object]:
        """Return the arguments that make this distribution, without those that are defaults."""
        given: dict[str, object] = {"differences": self.differences}
        return given | ({"method": self.method} if self.method != "auto" else {})

    @cached_property
    def _sums(self) -> SignSums:
        """The sums of the numbers with random signs."""
        return SignSums(np.asarray(self.differences), self.method)

    def mean(self) -> float:
        """Return the mean, 0."""
        return 0.0

    def var(self) -> float:
        """Return the variance, the sum of squares."""
        # A product of floats may become infinite, where a power raises an error.
        return self._sums.norm * self._sums.norm

    def std(self) -> float:
        """Return the standard deviation, the root of the sum of squares."""
        return self._sums.norm

    def support(self) -> tuple[float, float]:
        """Return the least and the largest value."""
        return -self._sums.most, self._sums.most

    def p_value(
        self, statistic: ArrayLike | None = None, alternative: Alternative = "greater"
    ) -> Floats | float:
        """Return the p-value of a statistic, as `NullDistribution.p_value` does.

        Unless given it is the sum of the numbers with their signs, whose probability is known.
        """
        if statistic is not None:
            return super().p_value(statistic, alternative)
        return self.test(alternative)[0]

    def test(self, alternative: Alternative) -> tuple[float, str]:
        """Return the p-value of the numbers with the signs they have, and its method."""
        check_alternative(alternative)
        numbers = np.asarray(self.differences)
        total, is_two_sided = float(numbers.sum()), alternative == "two-sided"
        if is_two_sided and abs(total) <= self._sums.slack:
            return 1.0, "exact"
        upward = total > 0 if is_two_sided else alternative == "greater"
        log_tail, method = self._sums.observed(numbers if upward else -numbers)
        return min(1.0, (1 + is_two_sided) * float(probability(np.array(log_tail)))), method

    def _shape(self) -> tuple[float, float]:
        """Return skewness, 0, and excess kurtosis, ``-2 sum d^4 / (sum d^2)^2``."""
        if not self._sums.sizes.size:
            return np.nan, np.nan
        return 0.0, float(-2 * ((self._sums.sizes / self._sums.norm) ** 4).sum())

    def _log_tails(self, x: Floats, sides: tuple[Side, ...]) -> BothTails:
        """Return the tails of rising numbers on the sides that are asked for."""
        nothing = np.full(x.shape, np.nan)
        tails = BothTails(nothing, nothing, np.full(x.shape, "exact", "<U11"))
        # P(S <= x) is P(S >= -x), because the distribution is symmetric.
        for side, sign in (("lower", -1), ("upper", 1)):
            if side in sides and x.size:
                logs, method = zip(*map(self._sums.tail, (sign * x).tolist()), strict=True)
                tails = tails._replace(method=np.array(method), **{side: np.array(logs)})
        return tails

    def _draws(self, size: int, generator: np.random.Generator) -> Floats:
        """Draw sums with random signs."""
        sizes = self._sums.sizes
        return np.concatenate([rows @ sizes for rows in random_signs(sizes.size, size, generator)])

    def _rounding(self, x: Floats) -> Floats:
        """Return by how much sums may differ and still count as equal."""
        return np.full(x.shape, self._sums.slack)

    def _lattice(self) -> tuple[float, float] | None:
        """Return the least sum and the distance of two sums, if sums are on a lattice."""
        return (-self._sums.most, 2 * self._sums.unit[1]) if self._sums.unit else None
