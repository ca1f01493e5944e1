"""Monte Carlo and enumeration of AP under random ranking, with nothing of prframe in them."""

from dataclasses import dataclass
from math import comb
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]

# AP is a sum of fractions: values that differ by less are one.
EQUAL = 1e-12


@dataclass(frozen=True)
class Estimate:
    """A probability, and its standard error relative to it."""

    value: float
    error: float


def tilted(n: int, n_pos: int, ap: float, draws: int, rng: np.random.Generator) -> Estimate:
    """Return P(AP >= ap) from rankings that are drawn with AP near the value, and reweighted.

    Rank t holds a positive with the odds of random ranking times ``exp(tilt * g)``, where g is
    about what this adds to the expected sum of precisions, given what is above: (h + 1)/t at once
    and, with h positives above, (n_pos - 2h - 1) log(n/t)/(n - t) further down. The tilt puts the
    mean of AP at the value.
    """
    low, high = 0.0, 1.0
    while _walk(n, n_pos, high, 500, rng)[0].mean() < ap:
        low, high = high, 2 * high
    for _ in range(8):
        middle = (low + high) / 2
        is_below = _walk(n, n_pos, middle, 500, rng)[0].mean() < ap
        low, high = (middle, high) if is_below else (low, middle)
    values, log_weight = _walk(n, n_pos, (low + high) / 2, draws, rng)
    weight = np.where(values >= ap * (1 - EQUAL), np.exp(log_weight), 0.0)
    mean = float(weight.mean())
    return Estimate(mean, float(weight.std()) / draws**0.5 / mean)


def _walk(
    n: int, n_pos: int, tilt: float, draws: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return AP, and the logarithm of how much less often random ranking draws it."""
    hits, total, log_weight = (np.zeros(draws) for _ in range(3))
    for rank in range(1, n + 1):
        left = n - rank + 1
        chance = (n_pos - hits) / left
        gain = (hits + 1) / rank
        later = (n_pos - 2 * hits - 1) * np.log(n / rank) / max(1, n - rank)
        log_boost = tilt * (gain + later)
        boost = np.exp(log_boost)
        norm = 1 + chance * (boost - 1)
        is_hit = rng.random(draws) < chance * boost / norm
        log_weight += np.log(norm) - log_boost * is_hit
        total += gain * is_hit
        hits += is_hit
        if rank % 64 == 0 and (hits == n_pos).all():
            break
    return total / n_pos, log_weight


def enumerated(n: int) -> dict[int, Floats]:
    """Return AP of all rankings of n items, sorted, by the number of positives."""
    masks = np.arange(1, 1 << n, dtype=np.uint32)
    hits, total = np.zeros(masks.size), np.zeros(masks.size)
    for rank in range(1, n + 1):
        is_hit = (masks >> np.uint32(rank - 1) & np.uint32(1)).astype(np.float64)
        hits += is_hit
        total += is_hit * hits / rank
    order = np.lexsort((total, hits))
    by_count = np.split(total[order], np.cumsum([comb(n, m) for m in range(1, n)]))
    return {m: values / m for m, values in enumerate(by_count, start=1)}


def upper_tails(values: Floats, at: Floats) -> Floats:
    """Return how often sorted values reach others."""
    reached = values.size - np.searchsorted(values, at * (1 - EQUAL))
    return np.asarray(reached / values.size)
