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


def few_wins(rng: np.random.Generator, shape: tuple[int, int], shift: float) -> Floats:
    """Draw a few large wins and many small losses, of mean 0 without shift."""
    wins = rng.random(shape) < 0.15
    return shift + np.where(wins, rng.normal(0.34, 0.05, shape), rng.normal(-0.06, 0.03, shape))


def gamma(k: float) -> Law:
    """Return a gamma law less its mean, whose skewness is 2 / sqrt(k)."""
    return lambda rng, shape, shift: np.asarray(0.1 * (rng.gamma(k, size=shape) - k + shift))


def heavy(rng: np.random.Generator, shape: tuple[int, int], shift: float) -> Floats:
    """Draw from Student's law with three degrees of freedom."""
    return np.asarray(0.1 * (rng.standard_t(3, shape) + shift))


def lognormal(rng: np.random.Generator, shape: tuple[int, int], shift: float) -> Floats:
    """Draw from a lognormal law less its mean."""
    return np.asarray(0.1 * (rng.lognormal(size=shape) - np.exp(0.5) + shift))


def normal(rng: np.random.Generator, shape: tuple[int, int], shift: float) -> Floats:
    """Draw from a normal law."""
    return rng.normal(0.1 * shift, 0.1, shape)


def rare_wins(rng: np.random.Generator, shape: tuple[int, int], shift: float) -> Floats:
    """Draw one large win in twenty and small losses, of mean 0 without shift."""
    wins = rng.random(shape) < 0.05
    return shift + np.where(wins, rng.normal(0.57, 0.05, shape), rng.normal(-0.03, 0.03, shape))


def zeros_and_wins(rng: np.random.Generator, shape: tuple[int, int], shift: float) -> Floats:
    """Draw zeros, and a fifth of exponential wins; the mean without shift is .02."""
    return shift + np.where(rng.random(shape) < 0.2, 0.1 * rng.exponential(size=shape), 0.0)


def zeros_and_others(rng: np.random.Generator, shape: tuple[int, int], shift: float) -> Floats:
    """Draw zeros, and three in ten of an exponential law of mean 0."""
    others = rng.random(shape) < 0.3
    return shift + np.where(others, 0.2 * (rng.exponential(size=shape) - 1), 0.0)


def contaminated(rng: np.random.Generator, shape: tuple[int, int], shift: float) -> Floats:
    """Draw small normal values, and one in ten of fifteen times their deviation."""
    wide = rng.random(shape) < 0.1
    return shift + np.where(wide, rng.normal(0, 0.3, shape), rng.normal(0, 0.02, shape))


def of_success(rng: np.random.Generator, shape: tuple[int, int], shift: float) -> Floats:
    """Draw differences of success, of which four in five are 0."""
    drawn = rng.random(shape)
    return shift + np.where(drawn < 0.1, 1.0, np.where(drawn > 0.9, -1.0, 0.0))


LAWS: dict[str, Law] = {
    "AP": of_ap,
    "P@10": of_precision,
    "RR": of_rr,
    "skewed": skewed,
    "mostly 0": mostly_zero,
}

# Differences of mean 0 for which p-values of the mean are hard, and some for which they are not.
SKEWED: dict[str, Law] = {
    "few wins": few_wins,
    "gamma(1/2)": gamma(0.5),
    "gamma(1)": gamma(1.0),
    "gamma(2)": gamma(2.0),
    "gamma(4)": gamma(4.0),
    "lognormal": lognormal,
    "normal": normal,
    "t(3)": heavy,
    "AP": of_ap,
    "RR": of_rr,
    "P@10": of_precision,
    "mostly 0": mostly_zero,
}

# Differences with many zeros, rare large values or heavy tails, and some that are harmless.
SPARSE: dict[str, Law] = {
    **{name: SKEWED[name] for name in ("normal", "AP", "RR", "P@10", "t(3)", "few wins")},
    "rare wins": rare_wins,
    **{name: SKEWED[name] for name in ("gamma(1/2)", "gamma(1)", "lognormal", "mostly 0")},
    "zeros and wins": zeros_and_wins,
    "zeros and others": zeros_and_others,
    "contaminated": contaminated,
    "success": of_success,
}
# The mean of each, without shift, where it is not 0.
MEANS = {"zeros and wins": 0.02}
