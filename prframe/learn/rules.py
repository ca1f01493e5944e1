"""Scoring rules with coefficients: their scores and gradients."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prframe.errors import PrframeError
from prframe.typing import Floats

Labels: TypeAlias = NDArray[np.bool_]
Scores: TypeAlias = Callable[[Floats, Floats], ArrayLike]
Start: TypeAlias = Callable[[int, np.random.RandomState], ArrayLike]
Projection: TypeAlias = Callable[[Floats], ArrayLike]
# The least eigenvalue of a positive definite matrix, relative to the mean or the largest one.
_FLOOR = 1e-6
# A column counts as constant if its spread, relative to its largest entry, is below this.
_CONSTANT = 1e-14


class ScoringRule(ABC):
    """A family of scoring functions s(z), indexed by an array of coefficients.

    The optimiser works with `parameters`, any numbers, which stand for admissible coefficients.
    """

    # Whether adding one vector to all items leaves their order as it is.
    centred: bool

    @abstractmethod
    def shape(self, d: int) -> tuple[int, ...]:
        """Return the shape of the coefficients for d features."""

    @abstractmethod
    def scores(self, coef: Floats, z: Floats) -> Floats:
        """Return the scores of the rows of z."""

    @abstractmethod
    def pull_back(self, coef: Floats, gradient: Floats, z: Floats) -> Floats:
        """Return the gradient by coefficients, given the gradient by scores."""

    @abstractmethod
    def moved(self, coef: Floats, matrix: Floats) -> Floats:
        """Return the coefficients for items z, given those for items ``matrix' z``."""

    @abstractmethod
    def first(self, z: Floats, positive: Labels) -> Floats:
        """Return good coefficients to start from, for items that have been whitened."""

    @abstractmethod
    def drawn(self, d: int, random: np.random.RandomState) -> Floats:
        """Return random coefficients of norm 1."""

    def projected(self, coef: Floats) -> Floats:
        """Return the nearest admissible coefficients."""
        return coef

    def scaled(self, coef: Floats, spread: float) -> Floats:
        """Return coefficients that give the scores divided by a number."""
        return np.asarray(coef / spread)

    def coefficients(self, parameters: Floats, d: int) -> Floats:
        """Return the coefficients that parameters stand for."""
        return parameters.reshape(self.shape(d))

    def parameters(self, coef: Floats) -> Floats:
        """Return parameters that stand for coefficients."""
        return coef.ravel()

    def chained(self, gradient: Floats, parameters: Floats) -> Floats:
        """Return the gradient by parameters, given the gradient by coefficients."""
        return gradient.ravel()

    def whitening(self, z: Floats) -> tuple[Floats, Floats]:
        """Return A such that the items ``A' z`` have covariance I, and its pseudo-inverse.

        The covariance is about the mean if the rule is `centred`, else about 0.
        """
        largest = np.abs(z).max(axis=0)
        scaled = z / np.where(largest > 0, largest, 1.0)
        if self.centred:
            scaled = scaled - scaled.mean(axis=0)
        spread = np.sqrt((scaled**2).mean(axis=0))
        # Only rounding errors are left of a constant column.
        varies = spread > _CONSTANT
        alike = scaled[:, varies] / spread[varies]
        values, vectors = np.linalg.eigh(alike.T @ alike / len(z))
        kept = values > len(values) * np.finfo(float).eps * values.max(initial=0.0)
        roots, unit = np.sqrt(values[kept]), (spread * largest)[varies]
        matrix = np.zeros((z.shape[1], roots.size))
        matrix[varies] = vectors[:, kept] / roots / unit[:, None]
        inverse = np.zeros(matrix.T.shape)
        inverse[:, varies] = (vectors[:, kept] * roots).T * unit
        return matrix, inverse


class LinearRule(ScoringRule):
    """The rule ``s(z) = <theta, z>``, with theta of shape (d,)."""

    centred = True

    def shape(self, d: int) -> tuple[int, ...]:
        return (d,)

    def scores(self, coef: Floats, z: Floats) -> Floats:
        return np.asarray(z @ coef)

    def pull_back(self, coef: Floats, gradient: Floats, z: Floats) -> Floats:
        return np.asarray(gradient @ z)

    def moved(self, coef: Floats, matrix: Floats) -> Floats:
        return np.asarray(matrix @ coef)

    def first(self, z: Floats, positive: Labels) -> Floats:
        """Return the difference of means, which for whitened items is Fisher's discriminant."""
        return np.asarray(z[positive].mean(axis=0) - z[~positive].mean(axis=0))

    def drawn(self, d: int, random: np.random.RandomState) -> Floats:
        """Return a random direction; all directions are equally likely."""
        return _unit(random.standard_normal(d))


class QuadraticRule(ScoringRule):
    """The rule ``s(z) = z' theta z``, with theta symmetric of shape (d, d).

    For normal classes of mean 0 it is best with ``theta = S_Y^-1 - S_X^-1``, which the source
    prints the other way round.
    """

    centred = False

    def shape(self, d: int) -> tuple[int, ...]:
        return (d, d)

    def scores(self, coef: Floats, z: Floats) -> Floats:
        return np.asarray(np.einsum("ij,ij->i", z @ coef, z))

    def pull_back(self, coef: Floats, gradient: Floats, z: Floats) -> Floats:
        return np.asarray((z.T * gradient) @ z)

    def moved(self, coef: Floats, matrix: Floats) -> Floats:
        return _symmetric(matrix @ coef @ matrix.T)

    def first(self, z: Floats, positive: Labels) -> Floats:
        """Return the difference of inverse second moments, each shrunk towards I."""
        return _inverse_moments(z[~positive]) - _inverse_moments(z[positive])

    def drawn(self, d: int, random: np.random.RandomState) -> Floats:
        """Return a symmetric matrix of normal entries."""
        entries = random.standard_normal((d, d))
        return _unit(entries + entries.T)

    def projected(self, coef: Floats) -> Floats:
        return _symmetric(coef)


class DefiniteRule(QuadraticRule):
    """The rule ``s(z) = z' theta z``, with theta symmetric and positive definite.

    The parameters are any matrix L of shape (d, d): ``theta = L L' + 1e-6 tr(L L') / d I``.
    """

    def projected(self, coef: Floats) -> Floats:
        """Raise eigenvalues to at least 1e-6 of the largest absolute value among them."""
        values, vectors = np.linalg.eigh(_symmetric(coef))
        raised = np.maximum(values, _FLOOR * max(np.abs(values).max(), np.finfo(float).tiny))
        return _symmetric((vectors * raised) @ vectors.T)

    def drawn(self, d: int, random: np.random.RandomState) -> Floats:
        """Return a matrix from the Wishart distribution with d degrees of freedom."""
        entries = random.standard_normal((d, d))
        return self.projected(_unit(entries @ entries.T))

    def coefficients(self, parameters: Floats, d: int) -> Floats:
        """Return ``L L'`` plus a small multiple of I."""
        square = super().coefficients(parameters, d)
        square = square @ square.T
        return np.asarray(square + _FLOOR * np.trace(square) / d * np.eye(d))

    def parameters(self, coef: Floats) -> Floats:
        """Return the symmetric root of the nearest definite matrix."""
        values, vectors = np.linalg.eigh(self.projected(coef))
        return np.asarray((vectors * np.sqrt(values)) @ vectors.T).ravel()

    def chained(self, gradient: Floats, parameters: Floats) -> Floats:
        """Return ``2 (G + 1e-6 tr(G) / d I) L``."""
        d = len(gradient)
        by_square = gradient + _FLOOR * np.trace(gradient) / d * np.eye(d)
        return np.asarray(2 * by_square @ parameters.reshape(d, d)).ravel()


@dataclass(frozen=True)
class ParametricRule(ScoringRule):
    """A family of scoring rules ``s_theta(z)``, differentiable by theta.

    Pass it as `rule` to `RankStatisticRanker`, which applies the chain rule, eq. (5.1) with (5.2)
    of Clemencon, Limnios & Vayatis 2021.

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
        ``project(theta)`` returns the nearest admissible coefficients, after each step of
        Algorithm 1. For L-BFGS, write theta as a function of free numbers instead.

    Raises
    ------
    PrframeError
        By `RankStatisticRanker.fit`: functions whose results have other shapes.

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
        return _shaped("score", self.score(z, coef), (len(z),))

    def pull_back(self, coef: Floats, gradient: Floats, z: Floats) -> Floats:
        slopes = _shaped("gradient", self.gradient(z, coef), (len(z), *coef.shape))
        return np.asarray(np.tensordot(gradient, slopes, axes=1))

    def moved(self, coef: Floats, matrix: Floats) -> Floats:
        """Return the coefficients, as the rule takes the features as they are."""
        return coef

    def scaled(self, coef: Floats, spread: float) -> Floats:
        """Return the coefficients, as their scale is unknown."""
        return coef

    def whitening(self, z: Floats) -> tuple[Floats, Floats]:
        return np.eye(z.shape[1]), np.eye(z.shape[1])

    def first(self, z: Floats, positive: Labels) -> Floats:
        """Return nothing; the ranker then begins at `start`."""
        return np.zeros(0)

    def drawn(self, d: int, random: np.random.RandomState) -> Floats:
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


def _unit(coef: Floats) -> Floats:
    """Divide by the Euclidean norm."""
    return np.asarray(coef / np.linalg.norm(coef))


def _symmetric(matrix: Floats) -> Floats:
    """Return the symmetric part of a matrix."""
    return np.asarray((matrix + matrix.T) / 2)


def _inverse_moments(z: Floats) -> Floats:
    """Return the inverse second moments of a class, shrunk towards I where items are few."""
    n, d = z.shape
    return np.linalg.inv((z.T @ z + d * np.eye(d)) / (n + d))
