"""Score-generating functions of classical two-sample tests, each best against some alternative."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from prframe.stats._arrays import fractions
from prframe.stats.score_functions.base import Jump, ScoreGeneratingFunction
from prframe.typing import Floats


class _Linear(ScoreGeneratingFunction):
    """``phi(u) = slope (u - centre)``."""

    _slope: ClassVar[float] = 1.0
    _centre: ClassVar[float] = 0.0

    def __call__(self, u: ArrayLike) -> Floats:
        """Return ``slope (u - centre)``."""
        return np.asarray(self._slope * (fractions("u", u) - self._centre))

    def derivative(self, u: ArrayLike) -> Floats:
        """Return the slope."""
        return np.full_like(fractions("u", u), self._slope)

    def second_derivative(self, u: ArrayLike) -> Floats:
        """Return 0."""
        return np.zeros_like(fractions("u", u))

    def integral(self, u: ArrayLike) -> Floats:
        """Return ``slope (u^2 / 2 - centre u)``."""
        numbers = fractions("u", u)
        return np.asarray(self._slope / 2 * (numbers**2 - 2 * self._centre * numbers))

    def step(self, n: int) -> float:
        """Return one rank."""
        return self._slope / (n + 1)


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

    Take it to compare values of different phi; its p-values are those of the rank sum. It is best
    against shifts of logistic distributions.

    Examples
    --------
    >>> Logistic()([0.5, 1.0]).round(3)
    array([0.   , 1.732])
    """

    word: ClassVar[str] = "logistic"
    _slope: ClassVar[float] = 12**0.5
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

    def __call__(self, u: ArrayLike) -> Floats:
        """Return ``-log(1 - u)``, infinite at 1."""
        with np.errstate(divide="ignore"):
            return np.asarray(-np.log1p(-fractions("u", u)))

    def derivative(self, u: ArrayLike) -> Floats:
        """Return ``1 / (1 - u)``."""
        with np.errstate(divide="ignore"):
            return np.asarray(1 / (1 - fractions("u", u)))

    def second_derivative(self, u: ArrayLike) -> Floats:
        """Return ``1 / (1 - u)^2``."""
        return self.derivative(u) ** 2

    def integral(self, u: ArrayLike) -> Floats:
        """Return ``u + (1 - u) log(1 - u)``."""
        # SciPy is imported here, because its import takes longer than most evaluations.
        from scipy.special import xlogy  # noqa: PLC0415

        numbers = fractions("u", u)
        return np.asarray(numbers + xlogy(1 - numbers, 1 - numbers))


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

    def __call__(self, u: ArrayLike) -> Floats:
        """Return the sign."""
        return np.asarray(np.sign(fractions("u", u) - 0.5))

    def derivative(self, u: ArrayLike) -> Floats:
        """Return 0."""
        return np.zeros_like(fractions("u", u))

    def second_derivative(self, u: ArrayLike) -> Floats:
        """Return 0."""
        return np.zeros_like(fractions("u", u))

    def integral(self, u: ArrayLike) -> Floats:
        """Return ``|u - 1/2| - 1/2``."""
        return np.asarray(np.abs(fractions("u", u) - 0.5) - 0.5)

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

    def __call__(self, u: ArrayLike) -> Floats:
        """Return the normal quantile, infinite at 0 and 1."""
        # SciPy is imported here, because its import takes longer than most evaluations.
        from scipy.special import ndtri  # noqa: PLC0415

        return np.asarray(ndtri(fractions("u", u)))

    def derivative(self, u: ArrayLike) -> Floats:
        """Return ``1 / density(Phi^{-1}(u))``."""
        with np.errstate(divide="ignore"):
            return np.asarray(1 / _density(self(u)))

    def second_derivative(self, u: ArrayLike) -> Floats:
        """Return ``Phi^{-1}(u) / density(Phi^{-1}(u))^2``."""
        quantile = self(u)
        with np.errstate(divide="ignore"):
            return np.asarray(quantile / _density(quantile) ** 2)

    def integral(self, u: ArrayLike) -> Floats:
        """Return ``-density(Phi^{-1}(u))``."""
        return np.asarray(-_density(self(u)))


def _density(x: Floats) -> Floats:
    """Return the density of the standard normal distribution."""
    return np.asarray(np.exp(-(x**2) / 2) / (2 * np.pi) ** 0.5)
