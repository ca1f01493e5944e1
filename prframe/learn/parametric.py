"""Scoring rules that users give by their scores and gradients."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from prframe.errors import PrframeError
from prframe.learn.rules import Labels, ScoringRule, Whitening
from prframe.typing import Floats

Scores: TypeAlias = Callable[[Floats, Floats], ArrayLike]
Start: TypeAlias = Callable[[int, np.random.RandomState], ArrayLike]
Projection: TypeAlias = Callable[[Floats], ArrayLike]


@dataclass(frozen=True)
class ParametricRule(ScoringRule):
    """A family of scoring rules ``s_theta(z)``, differentiable by theta.

    `RankStatisticRanker` takes it as `rule`. The gradient of the criterion by theta is the sum
    over items of its derivative by the item's score times ``d s_theta(z) / d theta``, which is eq.
    (5.1) with (5.2).

    Parameters
    ----------
    score : callable
        ``score(z, theta)`` returns the scores of the rows of z, shape (N,), for z of shape (N, d).
    gradient : callable
        ``gradient(z, theta)`` returns the derivatives of each score by theta, shape (N,) followed
        by the shape of theta.
    start : callable
        ``start(d, random)`` returns coefficients to begin with, a finite array of any shape that
        depends on d alone; `random` is a ``numpy.random.RandomState``.
    project : callable, optional
        ``project(theta)`` returns the nearest admissible coefficients, to which Algorithm 1 goes
        back after each step. L-BFGS takes rules without it alone: there, write theta as a function
        of numbers that are free.

    Raises
    ------
    PrframeError
        By `RankStatisticRanker.fit`: functions whose results have other shapes.

    Notes
    -----
    Both functions are called once per iteration, and the memory for N gradients is that of N
    arrays like theta. For most rules the criterion has several maxima: see `n_init`.

    References
    ----------
    Clemencon, Limnios & Vayatis 2021, section 5.1.

    Examples
    --------
    Items are the better the nearer they are to a point, which is learned.

    >>> from prframe.learn import RankStatisticRanker
    >>> rule = ParametricRule(
    ...     score=lambda z, theta: -((z - theta) ** 2).sum(axis=1),
    ...     gradient=lambda z, theta: 2 * (z - theta),
    ...     start=lambda d, random: np.zeros(d),
    ... )
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(4000, 2))
    >>> y = np.hypot(X[:, 0] - 1, X[:, 1] + 1) + 0.3 * rng.normal(size=4000) < 1
    >>> point = RankStatisticRanker("mww", rule).fit(X, y).coef_
    >>> bool(np.abs(point - [1, -1]).max() < 0.2)
    True
    """

    score: Scores
    gradient: Scores
    start: Start
    project: Projection | None = None

    centred = False

    def shape(self, d: int) -> tuple[int, ...]:
        """Return the shape of the coefficients at the start."""
        return self.drawn(d, np.random.RandomState(0)).shape

    def scores(self, coef: Floats, z: Floats) -> Floats:
        """Return ``score(z, theta)``."""
        return _shaped("score", self.score(z, coef), (len(z),))

    def pull_back(self, coef: Floats, gradient: Floats, z: Floats) -> Floats:
        """Return the sum over items of both derivatives' products."""
        slopes = _shaped("gradient", self.gradient(z, coef), (len(z), *coef.shape))
        return np.asarray(np.tensordot(gradient, slopes, axes=1))

    def moved(self, coef: Floats, matrix: Floats) -> Floats:  # noqa: ARG002
        """Return the coefficients, as the rule takes the features as they are."""
        return coef

    def scaled(self, coef: Floats, spread: float) -> Floats:  # noqa: ARG002
        """Return the coefficients, of which it is not known how they scale scores."""
        return coef

    def whitening(self, z: Floats) -> Whitening:
        """Return the identity."""
        return Whitening(np.eye(z.shape[1]), np.eye(z.shape[1]))

    def first(self, z: Floats, positive: Labels) -> Floats:  # noqa: ARG002
        """Return nothing; the ranker then begins at `start`."""
        return np.zeros(0)

    def drawn(self, d: int, random: np.random.RandomState) -> Floats:
        """Return ``start(d, random)``."""
        coef = np.array(self.start(d, random), dtype=np.float64)
        if not np.isfinite(coef).all():
            raise PrframeError(f"`start` must return finite numbers; got {coef}.")
        return coef

    def projected(self, coef: Floats) -> Floats:
        """Return ``project(theta)``, or theta itself."""
        if self.project is None:
            return coef
        return _shaped("project", self.project(coef), coef.shape)


def _shaped(name: str, values: ArrayLike, shape: tuple[int, ...]) -> Floats:
    """Require a user's function to return an array of the expected shape."""
    array = np.asarray(values, dtype=np.float64)
    if array.shape != shape:
        raise PrframeError(f"`{name}` must return shape {shape}; got {array.shape}.")
    return array
