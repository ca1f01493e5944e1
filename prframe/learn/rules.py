"""Scoring rules with parameters: their scores, and the gradients by their coefficients."""

from abc import ABC, abstractmethod
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from prframe.typing import Floats

Labels: TypeAlias = NDArray[np.bool_]
# The least eigenvalue of a positive definite matrix, relative to the mean or the largest one.
_FLOOR = 1e-6
# A column counts as constant if its spread, relative to its largest entry, is below this.
_CONSTANT = 1e-14


class Whitening(NamedTuple):
    """A matrix A such that the items ``A' z`` have covariance I, and its inverse.

    Where columns are constant or depend on each other, the inverse covers the rest of the space.
    """

    matrix: Floats
    inverse: Floats


class ScoringRule(ABC):
    """A family of scoring functions s(z), indexed by an array of coefficients.

    The optimiser works with `parameters`: any numbers are allowed, and stand for admissible
    coefficients.

    Attributes
    ----------
    centred : bool
        Whether adding one vector to all items leaves their order as it is.
    """

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
        """Return coefficients that give scores divided by a number, in the same order at least."""
        return np.asarray(coef / spread)

    def coefficients(self, parameters: Floats, d: int) -> Floats:
        """Return the coefficients that parameters stand for."""
        return parameters.reshape(self.shape(d))

    def parameters(self, coef: Floats) -> Floats:
        """Return parameters that stand for coefficients."""
        return coef.ravel()

    def chained(self, gradient: Floats, parameters: Floats) -> Floats:  # noqa: ARG002 - subclasses
        """Return the gradient by parameters, given the gradient by coefficients."""
        return gradient.ravel()

    def whitening(self, z: Floats) -> "Whitening":
        """Return A, of shape (d, r), such that the items ``A' z`` have covariance I of rank r.

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
        return Whitening(matrix, inverse)


class LinearRule(ScoringRule):
    """The rule ``s(z) = <theta, z>``, with theta of shape (d,).

    It is the best rule if both classes are normal with one covariance matrix S, for
    ``theta = S^-1 (mu_X - mu_Y)``.
    """

    centred = True

    def shape(self, d: int) -> tuple[int, ...]:
        """Return (d,)."""
        return (d,)

    def vc_dimension(self, d: int) -> int:
        """Return d + 1, the Vapnik-Chervonenkis dimension of half-spaces."""
        return d + 1

    def scores(self, coef: Floats, z: Floats) -> Floats:
        """Return ``<theta, z>``."""
        return np.asarray(z @ coef)

    def pull_back(self, coef: Floats, gradient: Floats, z: Floats) -> Floats:  # noqa: ARG002
        """Return ``Z' gradient``."""
        return np.asarray(gradient @ z)

    def moved(self, coef: Floats, matrix: Floats) -> Floats:
        """Return ``matrix theta``."""
        return np.asarray(matrix @ coef)

    def first(self, z: Floats, positive: Labels) -> Floats:
        """Return the difference of means, which for whitened items is Fisher's discriminant."""
        return np.asarray(z[positive].mean(axis=0) - z[~positive].mean(axis=0))

    def drawn(self, d: int, random: np.random.RandomState) -> Floats:
        """Return a random direction; all directions are equally likely."""
        return _unit(random.standard_normal(d))


class QuadraticRule(ScoringRule):
    """The rule ``s(z) = z' theta z``, with theta symmetric of shape (d, d).

    It is the best rule if both classes are normal with mean 0, for ``theta = S_Y^-1 - S_X^-1``,
    which the source prints the other way round. All d^2 entries are parameters; as gradients are
    symmetric, all iterates are.
    """

    centred = False

    def shape(self, d: int) -> tuple[int, ...]:
        """Return (d, d)."""
        return (d, d)

    def vc_dimension(self, d: int) -> int:
        """Return ``d(d + 1) / 2 + 1``, that of half-spaces of products of features."""
        return d * (d + 1) // 2 + 1

    def scores(self, coef: Floats, z: Floats) -> Floats:
        """Return ``z' theta z``."""
        return np.asarray(np.einsum("ij,ij->i", z @ coef, z))

    def pull_back(self, coef: Floats, gradient: Floats, z: Floats) -> Floats:  # noqa: ARG002
        """Return ``Z' diag(gradient) Z``."""
        return np.asarray((z.T * gradient) @ z)

    def moved(self, coef: Floats, matrix: Floats) -> Floats:
        """Return ``matrix theta matrix'``."""
        return _symmetric(matrix @ coef @ matrix.T)

    def first(self, z: Floats, positive: Labels) -> Floats:
        """Return the difference of inverse second moments, each shrunk towards I."""
        return _inverse_moments(z[~positive]) - _inverse_moments(z[positive])

    def drawn(self, d: int, random: np.random.RandomState) -> Floats:
        """Return a symmetric matrix of normal entries."""
        entries = random.standard_normal((d, d))
        return _unit(entries + entries.T)

    def projected(self, coef: Floats) -> Floats:
        """Return the symmetric part, from which the matrix differs by rounding errors alone."""
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


def scoring_rule(
    rule: str,
    positive_definite: bool,  # noqa: FBT001 - as named
) -> LinearRule | QuadraticRule:
    """Return the family of scoring rules of this name."""
    if rule == "linear":
        return LinearRule()
    return DefiniteRule() if positive_definite else QuadraticRule()


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
