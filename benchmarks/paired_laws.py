"""Differences of two systems over queries, as metrics make them: laws to draw from."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Floats: TypeAlias = NDArray[np.float64]
Law: TypeAlias = Callable[[np.random.Generator, tuple[int, int], float], Floats]


def of_ap(rng: np.random.Generator, shape: tuple[int, int], shift: float) -> Floats:
    """Draw differences of AP: queries are easy or hard, the first system a little better."""
    hardness = rng.normal(-0.8, 1.0, shape)
    first, second = (hardness + 0.6 * rng.normal(size=shape) for _ in "ab")
    return np.asarray(expit(first + shift) - expit(second))


def of_precision(rng: np.random.Generator, shape: tuple[int, int], shift: float) -> Floats:
    """Draw differences of P@10, of which many are 0 and others tie."""
    hardness = rng.normal(-0.8, 1.5, shape)
    hits = [rng.binomial(10, expit(hardness + more)) for more in (shift, 0.0)]
    return np.asarray((hits[0] - hits[1]) / 10)


def of_rr(rng: np.random.Generator, shape: tuple[int, int], shift: float) -> Floats:
    """Draw differences of reciprocal ranks."""
    chance = expit(rng.normal(-0.5, 1.5, shape))
    ranks = [rng.geometric(np.clip(chance * more, 1e-3, 1)) for more in (np.exp(shift), 1.0)]
    return np.asarray(1 / ranks[0] - 1 / ranks[1])


def skewed(rng: np.random.Generator, shape: tuple[int, int], shift: float) -> Floats:
    """Draw from an exponential law of mean 0: small losses and a few large wins."""
    return 0.1 * (rng.exponential(size=shape) - 1 + shift)


def mostly_zero(rng: np.random.Generator, shape: tuple[int, int], shift: float) -> Floats:
    """Draw zeros, and a fifth of other values."""
    return np.where(rng.random(shape) < 0.2, rng.normal(shift / 4, 0.2, shape), 0.0)


LAWS: dict[str, Law] = {
    "AP": of_ap,
    "P@10": of_precision,
    "RR": of_rr,
    "skewed": skewed,
    "mostly 0": mostly_zero,
}
