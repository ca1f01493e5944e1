"""References of P(AP >= ap) under random ranking, with nothing of prframe's tails in them.

Each gives the logarithm of the probability with a standard error. Of prframe there are only the
exact moments, which are tested elsewhere: mean and variance to say where a value lies, and the
first four cumulants for the Edgeworth series.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr, ndtr

from benchmarks.null_draws import permuted
from benchmarks.null_path import path_of, slopes_for
from benchmarks.null_steps import Floats, Shape, Steps, log_choose, steps_of
from benchmarks.null_tilt import Sample, Tilted
from benchmarks.simulation import EQUAL
from prframe.stats import ap_null_moments, ap_null_shape
from prframe.stats.ap_moments import retrieved_moments

# References with a larger error than this are none.
WORST = 0.05
# An Edgeworth series is taken up to this skewness, and this far from the mean.
_MOST_SKEW, _MOST_DEVIATIONS = 0.3, 4.001
_PILOT, _PILOTS = 400, 4
_ENUMERABLE = 20
_FEWEST = 400


class Reference(NamedTuple):
    """The logarithm of a probability, its standard error, and where it comes from."""

    log_p: float
    error: float
    source: str


NONE = Reference(float("nan"), inf, "none")


@dataclass(frozen=True)
class Location:
    """Mean and standard deviation of T = n_pos AP under random ranking."""

    mean: float
    deviation: float


def location(shape: Shape) -> Location:
    """Return where T lies."""
    if shape.depth < shape.n:
        found = retrieved_moments(shape.n, shape.n_pos, shape.depth, shape.ties)
    else:
        found = ap_null_moments(shape.n, shape.n_pos, shape.ties)
    mean, variance = float(found.mean), float(found.variance)
    return Location(shape.n_pos * mean, shape.n_pos * variance**0.5)


def counted(shape: Shape, ap: float) -> Reference:
    """Return the exact answer where it is known: one positive, or all of them at the top."""
    if shape.n_pos == 1:
        last = np.cumsum(shape.ties) if shape.ties else np.arange(1, shape.depth + 1)
        good = int(last[1 / last >= ap * (1 - EQUAL)].max(initial=0))
        return Reference(log(good / shape.n) if good else -inf, 0.0, "count")
    if ap >= 1 - EQUAL and shape.ties is None and shape.depth >= shape.n_pos:
        return Reference(-float(log_choose(shape.n, shape.n_pos)), 0.0, "count")
    return NONE


def enumerated(shape: Shape, ap: Floats) -> list[Reference]:
    """Return the exact answers for at most twenty items: all rankings, one by one."""
    if shape.n > _ENUMERABLE:
        return [NONE] * ap.size
    masks = np.arange(1 << shape.n, dtype=np.uint32)
    masks = masks[np.bitwise_count(masks) == shape.n_pos]
    hits, total = np.zeros(masks.size), np.zeros(masks.size)
    start = 0
    for size in shape.ties or (1,) * shape.depth:
        block = np.uint32(((1 << size) - 1) << start)
        inside = np.bitwise_count(masks & block).astype(np.float64)
        hits += inside
        start += size
        total += inside * hits / start
    good = [(total >= shape.n_pos * value * (1 - EQUAL)).mean() for value in ap]
    return [Reference(log(p) if p else -inf, 0.0, "enumeration") for p in good]


def sampled(shape: Shape, ap: Floats, draws: int, rng: np.random.Generator) -> list[Reference]:
    """Return how often random rankings are as good, where that is often enough to tell."""
    return tallied(permuted(shape, draws, rng), shape.n_pos * ap)


def tallied(drawn: Floats, values: Floats) -> list[Reference]:
    """Return how often draws reach values."""
    ordered = np.sort(drawn)
    good = drawn.size - np.searchsorted(ordered, values * (1 - EQUAL))
    return [_share(int(count), drawn.size) for count in good]


def _share(good: int, draws: int) -> Reference:
    if good < _FEWEST:
        return NONE
    # One ranking more on the other side, so that a share of 1 has an error too.
    error = ((draws - good + 1) / good / draws) ** 0.5
    return Reference(log(good / draws), error, "permutations")


def edgeworth(shape: Shape, ap: Floats) -> list[Reference]:
    """Return the Edgeworth series with the exact cumulants, where the law is close to normal.

    The error is the size of the last terms that are taken: those with the kurtosis and the
    square of the skewness.
    """
    where = location(shape)
    if shape.depth < shape.n or not where.deviation:
        return [NONE] * ap.size
    found = ap_null_shape(shape.n, shape.n_pos, shape.ties)
    skew, kurtosis = float(found.skewness), float(found.kurtosis)
    if not abs(skew) < _MOST_SKEW:
        return [NONE] * ap.size
    return [
        _series((shape.n_pos * value - where.mean) / where.deviation, skew, kurtosis)
        for value in ap
    ]


def _series(z: float, skew: float, kurtosis: float) -> Reference:
    """Return the Edgeworth series of a tail at z standard deviations."""
    if abs(z) > _MOST_DEVIATIONS:
        return NONE
    density = np.exp(-z * z / 2) / (2 * np.pi) ** 0.5
    first = density * skew / 6 * (z * z - 1)
    second = density * (
        kurtosis / 24 * (z**3 - 3 * z) + skew * skew / 72 * (z**5 - 10 * z**3 + 15 * z)
    )
    p = float(ndtr(-z)) + first + second
    # Near a zero of the last terms their size elsewhere counts.
    scale = density * (abs(kurtosis) / 24 + skew * skew / 72) * (1 + abs(z))
    error = max(abs(second), scale) / p if p > 0 else inf
    return Reference(log(p), error, "Edgeworth") if error < WORST else NONE


@dataclass(frozen=True)
class Slopes:
    """The steps of a ranking, and slopes that put the mean of T at values."""

    steps: Steps
    slopes: Floats


def slopes_of(shape: Shape, ap: Floats) -> Slopes:
    """Return slopes for values of AP above the mean."""
    steps = steps_of(shape)
    unit = location(shape).deviation
    return Slopes(steps, slopes_for(steps, shape, shape.n_pos * ap, unit))


def tilted(
    shape: Shape,
    slopes: Slopes,
    number: int,
    ap: float,
    draws: int,
    rng: np.random.Generator,
    factor: float = 1.0,
) -> Reference:
    """Return P(AP >= ap) by importance sampling, the mean of AP being about the value.

    With `factor` the slope is another than that which is best.
    """
    value = shape.n_pos * ap
    slope = float(slopes.slopes[number])
    for _ in range(_PILOTS):
        law = Tilted(slopes.steps, shape, slope, path_of(slopes.steps, shape, slope))
        pilot = law.draw(_PILOT, rng)
        better = _better(pilot, slope, value)
        if abs(better - slope) < 0.02 * slope:
            break
        slope = better
    if factor != 1:
        slope *= factor
        law = Tilted(slopes.steps, shape, slope, path_of(slopes.steps, shape, slope))
    return weighed(law.draw(draws, rng), value)


def _better(pilot: Sample, slope: float, value: float) -> float:
    """Return the slope, not far away, at which the reweighted pilot has its mean at a value."""
    tilt = pilot.log_weight + slope * pilot.total
    tilt = np.where(np.isfinite(tilt), tilt, -1e9)
    off = pilot.total - value
    if abs(off.mean()) < 0.4 * off.std():
        return slope
    reach = 1.5 / max(float(off.std()), 1e-300)
    low, high = slope - min(reach, slope / 2), slope + min(reach, slope)
    for _ in range(30):
        middle = (low + high) / 2
        logs = tilt + (middle - slope) * off
        weight = np.exp(logs - logs.max())
        low, high = (middle, high) if (weight @ off) < 0 else (low, middle)
    return (low + high) / 2


def weighed(sample: Sample, value: float) -> Reference:
    """Return the weighted share of draws that reach a value."""
    logs = np.where(sample.total >= value * (1 - EQUAL), sample.log_weight, -inf)
    top = logs.max()
    if not np.isfinite(top):
        return NONE
    weight = np.exp(logs - top)
    error = float(weight.std() / weight.mean() / weight.size**0.5)
    # A few draws that carry everything know their own error badly.
    if weight.sum() ** 2 / (weight**2).sum() < 50:
        return NONE
    return Reference(float(top + np.log(weight.mean())), error, "tilted")


def best(found: Sequence[Reference]) -> Reference:
    """Return the reference with the least error, or none."""
    chosen = min(found, key=lambda one: one.error)
    return chosen if chosen.error <= WORST else NONE


def depth_of(z: float) -> float:
    """Return roughly the logarithm of the probability of z standard deviations, were T normal."""
    return float(log_ndtr(-z))
