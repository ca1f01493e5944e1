"""Score-generating functions of classical tests, and those for the items ranked best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expi, expit, ndtri, spence, xlogy

from prframe import checks
from prframe.errors import ArgumentError
from prframe.stats.score_functions.base import Jump, ScoreGeneratingFunction
from prframe.typing import Floats


class _Linear(ScoreGeneratingFunction):
    """``phi(u) = factor (u - centre)``."""

    _factor: ClassVar[float] = 1.0
    _centre: ClassVar[float] = 0.0

    def _value(self, u: Floats) -> ArrayLike:
        return self._factor * (u - self._centre)

    def _slope(self, u: Floats) -> ArrayLike:
        return np.full_like(u, self._factor)

    def _area(self, u: Floats) -> ArrayLike:
        return self._factor / 2 * (u**2 - 2 * self._centre * u)

    def step(self, n: int) -> float:
        """Return one rank."""
        return self._factor / (n + 1)


@dataclass(frozen=True)
class MannWhitneyWilcoxon(_Linear):
    """``phi(u) = u``: the rank sum of Mann, Whitney and Wilcoxon, and with it AUC.

    Take it first: all pairs count alike.

    Examples
    --------
    >>> MannWhitneyWilcoxon()([0.25, 0.5])
    array([0.25, 0.5 ])
    """

    word: ClassVar[str] = "mww"


@dataclass(frozen=True)
class Logistic(_Linear):
    """``phi(u) = 2 sqrt(3) (u - 1/2)``: the rank sum on a scale with mean 0 and variance 1.

    Take it to compare values of different phi; its p-values are those of the rank sum.

    Examples
    --------
    >>> Logistic()([0.5, 1.0]).round(3)
    array([0.   , 1.732])
    """

    word: ClassVar[str] = "logistic"
    _factor: ClassVar[float] = 12**0.5
    _centre: ClassVar[float] = 0.5


@dataclass(frozen=True)
class Logrank(ScoreGeneratingFunction):
    """``phi(u) = -log(1 - u)``: the scores of Savage, for proportional hazards.

    Take it for proportional hazards, or where the very top counts.

    Examples
    --------
    >>> Logrank()([0.0, 0.5]).round(3)
    array([0.   , 0.693])
    """

    word: ClassVar[str] = "logrank"

    def _value(self, u: Floats) -> ArrayLike:
        return -np.log1p(-u)

    def _slope(self, u: Floats) -> ArrayLike:
        return 1 / (1 - u)

    def _curvature(self, u: Floats) -> ArrayLike:
        return (1 / (1 - u)) ** 2

    def _area(self, u: Floats) -> ArrayLike:
        return u + xlogy(1 - u, 1 - u)


@dataclass(frozen=True)
class Median(ScoreGeneratingFunction):
    """``phi(u) = sgn(u - 1/2)``: positives above the median minus those below it (Mood).

    Take it to set the upper half against the lower.

    Examples
    --------
    >>> Median()([0.2, 0.5, 0.9])
    array([-1.,  0.,  1.])
    """

    word: ClassVar[str] = "median"
    smooth: ClassVar[bool] = False

    @property
    def jumps(self) -> tuple[Jump, ...]:
        """The jump from -1 to 1 at 1/2."""
        return (Jump(0.5, 2.0),)

    def _value(self, u: Floats) -> ArrayLike:
        return np.sign(u - 0.5)

    def _slope(self, u: Floats) -> ArrayLike:
        return np.zeros_like(u)

    def _area(self, u: Floats) -> ArrayLike:
        return np.abs(u - 0.5) - 0.5

    def step(self, n: int) -> float:
        """Return 2 for even n, and 1 for odd n, where an item is at the median."""
        return 1.0 if n % 2 else 2.0


@dataclass(frozen=True)
class VanDerWaerden(ScoreGeneratingFunction):
    """``phi(u) = Phi^{-1}(u)``: normal quantiles, for shifts of normal distributions.

    Take it for scores that look normal; both ends count.

    Examples
    --------
    >>> VanDerWaerden()([0.5, 0.975]).round(3)
    array([0.  , 1.96])
    """

    word: ClassVar[str] = "van-der-waerden"

    def _value(self, u: Floats) -> ArrayLike:
        return _normal(u)[0]

    def _slope(self, u: Floats) -> ArrayLike:
        return 1 / _normal(u)[1]

    def _curvature(self, u: Floats) -> ArrayLike:
        quantile, density = _normal(u)
        return quantile / density**2

    def _area(self, u: Floats) -> ArrayLike:
        return -_normal(u)[1]


def _normal(u: Floats) -> tuple[Floats, Floats]:
    """Return the quantiles of the standard normal distribution, and its density there."""
    quantile = np.asarray(ndtri(u))
    return quantile, np.asarray(np.exp(-(quantile**2) / 2) / (2 * np.pi) ** 0.5)


_HAIR = 1e-9
# With slopes in this range the function is neither constant nor a jump but for rounding.
_LEAST_SLOPE, _LARGEST_SLOPE = 1e-3, 1e6
# Rounding may change 1 - u by this.
_ROUNDING = 4e-16


@dataclass(frozen=True)
class LocalAUC(ScoreGeneratingFunction):
    """``phi(u) = u 1{u >= u0}``: the rank sum of the positives among the best 1 - u0.

    Take it for a shortlist of a fixed share.

    Parameters
    ----------
    u0 : float in (0, 1)
        Where the best items begin.

    Examples
    --------
    >>> LocalAUC(u0=0.8)([0.7, 0.8, 0.9])
    array([0. , 0.8, 0.9])
    """

    word: ClassVar[str] = "local-auc"
    u0: float = 0.9
    smooth: ClassVar[bool] = False

    def __post_init__(self) -> None:
        checks.number("u0", self.u0, above=0, below=1)

    @property
    def jumps(self) -> tuple[Jump, ...]:
        """The jump from 0 to u0 at u0."""
        return (Jump(self.u0, self.u0),)

    def _value(self, u: Floats) -> ArrayLike:
        return np.where(u >= self.u0, u, 0.0)

    def _slope(self, u: Floats) -> ArrayLike:
        return np.where(u >= self.u0, 1.0, 0.0)

    def _area(self, u: Floats) -> ArrayLike:
        return np.maximum(u**2 - self.u0**2, 0.0) / 2


@dataclass(frozen=True)
class PNormPush(ScoreGeneratingFunction):
    """``phi(u) = u^q``: high ranks count more, the more the larger q is.

    Take it for the upper part of the list.

    Parameters
    ----------
    q : float >= 1
        Exponent.

    Notes
    -----
    Rudin's criterion takes ranks among the negatives, this one those among all items.

    Examples
    --------
    >>> PNormPush(q=2)([0.5, 1.0])
    array([0.25, 1.  ])
    """

    word: ClassVar[str] = "p-norm-push"
    q: float = 3

    def __post_init__(self) -> None:
        checks.number("q", self.q, at_least=1)

    def _value(self, u: Floats) -> ArrayLike:
        return u**self.q

    def _slope(self, u: Floats) -> ArrayLike:
        return self.q * u ** (self.q - 1)

    def _curvature(self, u: Floats) -> ArrayLike:
        # It is infinite at 0 for 1 < q < 2.
        factor = self.q * (self.q - 1)
        return factor * u ** (self.q - 2) if factor else np.zeros_like(u)

    def _area(self, u: Floats) -> ArrayLike:
        return u ** (self.q + 1) / (self.q + 1)


@dataclass(frozen=True)
class DCG(ScoreGeneratingFunction):
    """``phi(u) = 1 / log2(1 + r)`` for ``r = (N + 1)(1 - u)``, the rank from the top, and r <= k.

    Take it for what a reader of the list sees.

    The sum over positives is the discounted cumulative gain of binary labels. Tied items take the
    discount of their mid-rank. The source prints the cut as ``u >= k / (N + 1)``, which keeps all
    but the last k - 1 items.

    Parameters
    ----------
    k : int >= 1, optional
        Ranks that count; default all.
    n : float > 0, optional
        Number N of ranked items, or their total weight; `of_size` sets it.

    Examples
    --------
    >>> DCG(k=2, n=3)([0.75, 0.5, 0.25]).round(3)
    array([1.   , 0.631, 0.   ])
    """

    word: ClassVar[str] = "dcg"
    k: int | None = None
    n: float | None = None
    smooth: ClassVar[bool] = False
    projected: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.k is not None:
            checks.whole_number("k", self.k, at_least=1)
        if self.n is not None:
            checks.number("n", self.n, above=0)

    @property
    def jumps(self) -> tuple[Jump, ...]:
        """The jump from 0, half a rank below the last rank that counts."""
        size = self._size
        if self.k is None or self.k >= size + 0.5:
            return ()
        return (Jump(1 - (self.k + 0.5) / (size + 1), 1 / float(np.log2(1.5 + self.k))),)

    def of_size(self, n: float) -> DCG:
        """Return the function for n items."""
        return DCG(self.k, n)

    @property
    def _size(self) -> float:
        """The number of items, which must be given."""
        if self.n is None:
            raise ArgumentError("DCG depends on the number of items; give n, or take of_size(n).")
        return self.n

    def _inverse(self, u: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Return 1 + r, r being at least 1, and whether each rank counts."""
        size = self._size + 1
        rank = size * (1 - u)
        # A mid-rank of k + 1/2 does not count, whichever way u was rounded.
        last = np.inf if self.k is None else self.k + 0.5 - _ROUNDING * size
        return 1 + np.maximum(rank, 1.0), rank < last

    def _sloping(self, u: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Return 1 + r, and whether the discount is neither cut off nor that of the first rank."""
        inverse, counts = self._inverse(u)
        return inverse, counts & ((self._size + 1) * (1 - u) >= 1 - _HAIR)

    def _value(self, u: Floats) -> ArrayLike:
        inverse, counts = self._inverse(u)
        return np.where(counts, 1 / np.log2(inverse), 0.0)

    def _slope(self, u: Floats) -> ArrayLike:
        inverse, counts = self._sloping(u)
        slope = (self._size + 1) * np.log(2) / (inverse * np.log(inverse) ** 2)
        return np.where(counts, slope, 0.0)

    def _curvature(self, u: Floats) -> ArrayLike:
        inverse, counts = self._sloping(u)
        log = np.log(inverse)
        bend = (self._size + 1) ** 2 * np.log(2) * (log + 2) / (inverse**2 * log**3)
        return np.where(counts, bend, 0.0)

    def _area(self, u: Floats) -> ArrayLike:
        # Logarithmic integrals, and a rectangle beyond rank 1.
        size = self._size + 1
        lowest = 1 + size if self.k is None else min(1.5 + self.k, 1 + size)
        inverse = np.clip(1 + size * (1 - u), 2.0, lowest)
        curved = np.log(2) * (expi(np.log(lowest)) - expi(np.log(inverse)))
        return np.asarray((curved + np.maximum(1 - size * (1 - u), 0.0)) / size)


@dataclass(frozen=True)
class RTB(ScoreGeneratingFunction):
    """``phi(u) = SoftPlus(u - u0) + u0 Sigmoid(u - u0)``: a smooth version of `LocalAUC`.

    Take it for a shortlist where a gradient is needed, as for learning.

    SoftPlus is ``log(1 + exp(beta x)) / beta`` and Sigmoid ``1 / (1 + exp(-lam x))``; with large
    slopes phi is ``u 1{u >= u0}``. RTB stands for "ranking the best".

    Parameters
    ----------
    u0 : float in (0, 1)
        Where the best items begin.
    beta, lam : float in [0.001, 1e6]
        Slopes of both parts. The source gives no values.

    Examples
    --------
    >>> RTB(u0=0.9, beta=1000, lam=1000)([0.8, 0.95]).round(3)
    array([0.  , 0.95])
    """

    word: ClassVar[str] = "rtb"
    u0: float = 0.9
    beta: float = 20
    lam: float = 20

    def __post_init__(self) -> None:
        checks.number("u0", self.u0, above=0, below=1)
        for name in ("beta", "lam"):
            slope = getattr(self, name)
            checks.number(name, slope, at_least=_LEAST_SLOPE, at_most=_LARGEST_SLOPE)

    def _value(self, u: Floats) -> ArrayLike:
        x = u - self.u0
        return _softplus(x, self.beta) + self.u0 * expit(self.lam * x)

    def _slope(self, u: Floats) -> ArrayLike:
        x = u - self.u0
        s = expit(self.lam * x)
        return expit(self.beta * x) + self.u0 * self.lam * s * (1 - s)

    def _curvature(self, u: Floats) -> ArrayLike:
        x = u - self.u0
        r, s = expit(self.beta * x), expit(self.lam * x)
        return self.beta * r * (1 - r) + self.u0 * self.lam**2 * s * (1 - s) * (1 - 2 * s)

    def _area(self, u: Floats) -> ArrayLike:
        x = u - self.u0
        soft = _softplus_integral(x, self.beta) - _softplus_integral(-self.u0, self.beta)
        return soft + self.u0 * (_softplus(x, self.lam) - _softplus(-self.u0, self.lam))


def _softplus(x: Floats | float, slope: float) -> Floats:
    """Return ``log(1 + exp(slope x)) / slope``."""
    return np.asarray(np.logaddexp(0.0, slope * np.asarray(x)) / slope)


def _softplus_integral(x: Floats | float, slope: float) -> Floats:
    """Return the integral of SoftPlus from -infinity: ``-Li2(-exp(slope x)) / slope^2``."""
    scaled = slope * np.asarray(x, dtype=np.float64)
    # The identities are Li2(-e^a) = -Li2(-e^-a) - pi^2 / 6 - a^2 / 2 and spence(1 + y) = Li2(-y).
    small = -spence(1 + np.exp(-np.abs(scaled)))
    large = np.pi**2 / 6 + scaled**2 / 2 - small
    return np.asarray(np.where(scaled > 0, large, small) / slope**2)
