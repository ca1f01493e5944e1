"""Scoring rules with parameters: what they compute, and how gradients come back through them."""

from abc import ABC, abstractmethod
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from prframe.typing import Floats

Labels: TypeAlias = NDArray[np.bool_]
# The smallest eigenvalue of a positive definite matrix, relative to the mean or the largest one.
_FLOOR = 1e-6
# The spread of a column, relative to its largest entry, below which it is constant.
_CONSTANT = 1e-14


class Whitening(NamedTuple):
    """A matrix A by which items ``A' z`` have covariance I, and its inverse where it has one."""

    matrix: Floats
    inverse: Floats


class ScoringRule(ABC):
    """A family of scoring functions s(z), indexed by an array of coefficients.

    The optimiser sees `parameters`, any numbers that stand for admissible coefficients.

    Attributes
    ----------
    centred : bool
        Whether moving all items changes no order.
    """

    centred: bool

    @abstractmethod
    def shape(self, d: int) -> tuple[int, ...]:
        """Return the shape of the coefficients for d features."""

    @abstractmethod
    def vc_dimension(self, d: int) -> int:
        """Return the Vapnik-Chervonenkis dimension of the sets where scores exceed a level."""

    @abstractmethod
    def scores(self, coef: Floats, z: Floats) -> Floats:
        """Return the scores of the rows of z."""

    @abstractmethod
    def pull_back(self, gradient: Floats, z: Floats) -> Floats:
        """Return the gradient by coefficients from that by scores."""

    @abstractmethod
    def moved(self, coef: Floats, matrix: Floats) -> Floats:
        """Return the coefficients for items z from those for ``matrix' z``."""

    @abstractmethod
    def first(self, z: Floats, positive: Labels) -> Floats:
        """Return good coefficients for items of which `whitening` has been taken."""

    @abstractmethod
    def drawn(self, d: int, random: np.random.RandomState) -> Floats:
        """Return random coefficients of norm 1."""

    def projected(self, coef: Floats) -> Floats:
        """Return the nearest admissible coefficients."""
        return coef

    def coefficients(self, parameters: Floats, d: int) -> Floats:
        """Return what parameters stand for."""
        return parameters.reshape(self.shape(d))

    def parameters(self, coef: Floats) -> Floats:
        """Return parameters that stand for coefficients."""
        return coef.ravel()

    def chained(self, gradient: Floats, parameters: Floats) -> Floats:  # noqa: ARG002 - for some
        """Return the gradient by parameters from that by coefficients."""
        return gradient.ravel()

    def whitening(self, z: Floats) -> "Whitening":
        """Return A, of shape (d, r), such that the items ``A' z`` have covariance I of rank r.

        About the mean where the rule allows to move the items, else about 0.
        """
        largest = np.abs(z).max(axis=0)
        scaled = z / np.where(largest > 0, largest, 1.0)
        if self.centred:
            scaled = scaled - scaled.mean(axis=0)
        spread = np.sqrt((scaled**2).mean(axis=0))
        # Of a constant column rounding is left.
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
    """``s(z) = <theta, z>``, with theta of shape (d,).

    Best where both classes are normal with one covariance matrix S:
    ``theta = S^-1 (mu_X - mu_Y)``.
    """

    centred = True

    def shape(self, d: int) -> tuple[int, ...]:
        """Return (d,)."""
        return (d,)

    def vc_dimension(self, d: int) -> int:
        """Return d + 1, that of half-spaces."""
        return d + 1

    def scores(self, coef: Floats, z: Floats) -> Floats:
        """Return ``<theta, z>``."""
        return np.asarray(z @ coef)

    def pull_back(self, gradient: Floats, z: Floats) -> Floats:
        """Return ``Z' gradient``."""
        return np.asarray(gradient @ z)

    def moved(self, coef: Floats, matrix: Floats) -> Floats:
        """Return ``matrix theta``."""
        return np.asarray(matrix @ coef)

    def first(self, z: Floats, positive: Labels) -> Floats:
        """Return the difference of means, for whitened items the discriminant of Fisher."""
        return np.asarray(z[positive].mean(axis=0) - z[~positive].mean(axis=0))

    def drawn(self, d: int, random: np.random.RandomState) -> Floats:
        """Return a direction, all being equally likely."""
        return _unit(random.standard_normal(d))


class QuadraticRule(ScoringRule):
    """``s(z) = z' theta z``, with theta symmetric of shape (d, d).

    Best where both classes are normal with mean 0: ``theta = S_Y^-1 - S_X^-1``, which the source
    prints the other way round. All d^2 entries are parameters: gradients are symmetric, hence so
    are all iterates.
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

    def pull_back(self, gradient: Floats, z: Floats) -> Floats:
        """Return ``Z' diag(gradient) Z``."""
        return np.asarray((z.T * gradient) @ z)

    def moved(self, coef: Floats, matrix: Floats) -> Floats:
        """Return ``matrix theta matrix'``."""
        return _symmetric(matrix @ coef @ matrix.T)

    def first(self, z: Floats, positive: Labels) -> Floats:
        """Return the difference of inverse second moments, drawn towards the pooled ones, I."""
        return _inverse_moments(z[~positive]) - _inverse_moments(z[positive])

    def drawn(self, d: int, random: np.random.RandomState) -> Floats:
        """Return a symmetric matrix of normal entries."""
        entries = random.standard_normal((d, d))
        return _unit(entries + entries.T)

    def projected(self, coef: Floats) -> Floats:
        """Return the symmetric part; nothing but rounding makes another."""
        return _symmetric(coef)


class DefiniteRule(QuadraticRule):
    """``s(z) = z' theta z``, with theta symmetric and positive definite.

    To the optimiser, ``theta = L L' + 1e-6 tr(L L') / d I`` with any L of shape (d, d).
    """

    def projected(self, coef: Floats) -> Floats:
        """Raise eigenvalues to 1e-6 of the largest in size."""
        values, vectors = np.linalg.eigh(coef)
        raised = np.maximum(values, _FLOOR * max(np.abs(values).max(), np.finfo(float).tiny))
        return _symmetric((vectors * raised) @ vectors.T)

    def drawn(self, d: int, random: np.random.RandomState) -> Floats:
        """Return a matrix of the distribution of Wishart with d degrees of freedom."""
        entries = random.standard_normal((d, d))
        return self.projected(_unit(entries @ entries.T))

    def coefficients(self, parameters: Floats, d: int) -> Floats:
        """Return ``L L'``, and a little of I."""
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
        more = gradient + _FLOOR * np.trace(gradient) / d * np.eye(d)
        return np.asarray(2 * more @ parameters.reshape(d, d)).ravel()


def scoring_rule(rule: str, positive_definite: bool) -> ScoringRule:  # noqa: FBT001 - as named
    """Return the rules that are meant."""
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
    """Return the inverse of the second moments of a class, shrunk towards I if items are few."""
    n, d = z.shape
    return np.linalg.inv((z.T @ z + d * np.eye(d)) / (n + d))
