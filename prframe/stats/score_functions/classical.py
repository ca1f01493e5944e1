"""Score-generating functions of classical two-sample tests, each best against some alternative."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri, xlogy

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
