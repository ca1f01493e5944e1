"""Models of Clemencon, Limnios & Vayatis 2021, section 5.2, with everything written down.

Two classes are normal in 15 dimensions and differ in location (Loc1 to Loc3) or in scale (Scale1 to
Scale3). The source leaves open the mean of the negatives and the matrices. Here all matrices have
the same eigenvectors and equally spaced eigenvalues. The mean of the negatives is as long as makes
the best AUC .64, .76 and .86 in the location models.

The source asks for a positive definite theta in the scale models. The best rule is of this kind if
positives are spread more in all directions, so H has eigenvalues from 0 to 12, which makes the best
AUC .69, .71 and .73. In the variants "Scale1, both signs" to "Scale3, both signs" they go from -12
to 12 and theta is any symmetric matrix, with best AUCs of .76, .80 and .84. In "Scale3, to 24" they
go from 0 to 24.
"""

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

Floats: TypeAlias = NDArray[np.floating]

D, CHUNK = 15, 1 << 16
# Best AUC of Loc1 to Loc3: Phi(5 eps / sqrt(2)).
DISTANCE = 5.0
H_SIZE = 12.0


def eigenvectors() -> Floats:
    """Return the product of rotations by 15 degrees in the planes (1, 2), (2, 3), ..., (14, 15)."""
    product = np.eye(D)
    cos, sin = np.cos(np.pi / 12), np.sin(np.pi / 12)
    for i in range(D - 1):
        product[:, i : i + 2] = product[:, i : i + 2] @ np.array([[cos, -sin], [sin, cos]])
    return product


def matrix(low: float, high: float) -> Floats:
    """Return a nearly diagonal matrix with 15 equally spaced eigenvalues."""
    # 7 and 15 have no common factor: neighbours get eigenvalues that differ by half the range.
    values = np.linspace(low, high, D)[7 * np.arange(D) % D]
    vectors = eigenvectors()
    return (vectors * values) @ vectors.T


class Form(NamedTuple):
    """The scoring rule ``z' A z + <b, z>``; A is None in a linear one."""

    quadratic: Floats | None
    linear: Floats

    def __call__(self, z: Floats) -> Floats:
        """Return the scores of the rows of z, in the precision of z."""
        linear = self.linear.astype(z.dtype)
        if self.quadratic is None:
            return z @ linear
        quadratic, scores = self.quadratic.astype(z.dtype), np.empty(len(z), z.dtype)
        for start in range(0, len(z), CHUNK):
            part = z[start : start + CHUNK]
            scores[start : start + CHUNK] = np.einsum("ij,ij->i", part @ quadratic + linear, part)
        return scores


class Sample(NamedTuple):
    """Items of both classes."""

    positives: Floats
    negatives: Floats

    def pooled(self) -> tuple[Floats, NDArray[np.int64]]:
        """Return features and labels."""
        n_pos, n_neg = len(self.positives), len(self.negatives)
        return np.concatenate(self), np.repeat([1, 0], [n_pos, n_neg])


@dataclass(frozen=True, eq=False)
class Model:
    """Two normal classes; the means or the covariance matrices are the same.

    `definite` says whether theta must be positive definite in quadratic rules.
    """

    name: str
    rule: str
    means: tuple[Floats, Floats]
    covariances: tuple[Floats, Floats]
    definite: bool = False

    def sample(self, n: int, rng: np.random.Generator, dtype: type = np.float64) -> Sample:
        """Draw n items of each class, some at a time."""
        classes = []
        for mean, covariance in zip(self.means, self.covariances, strict=True):
            root, z = np.linalg.cholesky(covariance), np.empty((n, D), dtype)
            for start in range(0, n, CHUNK):
                part = z[start : start + CHUNK]
                part[:] = rng.standard_normal(part.shape) @ root.T + mean
            classes.append(z)
        return Sample(*classes)

    def optimum(self) -> Form:
        """Return the best rule, by the ratio of densities.

        ``S^-1 (mu_X - mu_Y)``, or ``S_Y^-1 - S_X^-1``. The source prints the latter with the other
        sign, for the rule ``z' theta^-1 z``, of which the optimum is the inverse of this matrix.
        """
        inverse_pos, inverse_neg = (np.linalg.inv(one) for one in self.covariances)
        shift = inverse_pos @ (self.means[0] - self.means[1])
        return Form(None if self.rule == "linear" else inverse_neg - inverse_pos, shift)

    def distance(self) -> float:
        """Return d', the distance of means, where the rule is linear."""
        difference = self.means[0] - self.means[1]
        return float(np.sqrt(difference @ np.linalg.solve(self.covariances[0], difference)))


def optimal_location_roc(fpr: Floats, distance: float) -> Floats:
    """Return ``1 - Phi(Phi^-1(1 - a) - d')``; the source prints a plus."""
    return ndtr(distance - ndtri(1 - np.asarray(fpr)))


def location(number: int) -> Model:
    """Return Loc1, Loc2 or Loc3: ``mu_X = (1 + eps) mu_Y``, one covariance matrix."""
    epsilon, covariance = number / 10, matrix(0.5, 1.5)
    ones = np.ones(D)
    mean = DISTANCE * ones / np.sqrt(ones @ np.linalg.solve(covariance, ones))
    return Model(f"Loc{number}", "linear", ((1 + epsilon) * mean, mean), (covariance, covariance))


def scale(number: int, low: float = 0.0, high: float = H_SIZE) -> Model:
    """Return Scale1, Scale2 or Scale3: ``S_X = I + (eps / d) H``, ``S_Y = I``, both centred.

    H has eigenvalues from low to high.
    """
    epsilon, zero = 0.6 + number / 10, np.zeros(D)
    covariance = np.eye(D) + epsilon / D * matrix(low, high)
    variant = ", both signs" if low < 0 else f", to {high:g}" if high != H_SIZE else ""
    name, definite = f"Scale{number}{variant}", low >= 0
    return Model(name, "quadratic", (zero, zero), (covariance, np.eye(D)), definite)


def both_signs(number: int) -> Model:
    """Return a scale model whose positives are spread more or less, by direction."""
    return scale(number, -H_SIZE)
