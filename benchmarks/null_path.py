"""The most likely path of the hits down a ranking whose law is tilted by exp(slope T).

Where a step holds the share x of positives, the entropy of the shares plus slope times T is
largest if ``logit x = theta + slope (what a positive adds here and to what is below)``. What it
adds below is a constant less what the positives so far got from those above them, so that one
number, theta, gives the whole path from the top down: it is chosen so that the path ends with
n_pos hits.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from benchmarks.null_steps import Floats, Shape, Steps

# Candidates of theta at a time, and how often their spacing shrinks by as much.
_CANDIDATES, _ROUNDS = 12, 10


@dataclass(frozen=True)
class Path:
    """The path at a slope: hits below each step, and how they scatter around it.

    Near the path the law is a Gaussian chain: given that the hits above exceed the path by d, the
    positives of step k exceed it by ``pull[k] d`` on average, with standard deviation ``step[k]``;
    ``width`` is the standard deviation of the hits below each step.
    """

    hits: Floats
    pull: Floats
    step: Floats
    width: Floats


def totals(
    steps: Steps, shape: Shape, slopes: Floats, boost: Floats | None = None
) -> tuple[Floats, Floats]:
    """Return T of the path at each slope, and the hits of the path below each step."""
    low, high = np.full(slopes.size, -60.0), np.full(slopes.size, 60.0)
    fractions = np.arange(1, _CANDIDATES + 1) / (_CANDIDATES + 1)
    scaled = np.repeat(slopes, _CANDIDATES)
    # T adds to the log odds at most so much.
    boost = np.zeros(steps.size.size) if boost is None else boost
    low -= np.maximum(slopes, 0) * 30
    high += np.maximum(-slopes, 0) * 30
    for _ in range(_ROUNDS):
        theta = low[:, None] + (high - low)[:, None] * fractions
        hits, _ = _shoot(steps, theta.ravel(), scaled, boost)
        below = (hits[-1].reshape(theta.shape) < shape.n_pos).sum(axis=1)
        edges = np.column_stack([low, theta, high])
        rows = np.arange(slopes.size)
        low, high = edges[rows, below], edges[rows, below + 1]
    hits, total = _shoot(steps, (low + high) / 2, slopes, boost)
    return total, hits


def slopes_for(steps: Steps, shape: Shape, values: Floats, unit: float) -> Floats:
    """Return slopes whose paths have T at the values, `unit` being the deviation of T."""
    steepness = np.geomspace(1e-2 / unit, max(300.0, 60 / unit), 24)
    return _steep_enough(steps, shape, values, steepness)


def slopes_below(steps: Steps, shape: Shape, values: Floats, unit: float) -> Floats:
    """Return slopes, which are negative, whose paths have T at values below its mean."""
    return -_steep_enough(steps, shape, values, np.geomspace(1e-2 / unit, 1e6 / unit, 60), -1)


def _steep_enough(
    steps: Steps, shape: Shape, values: Floats, steepness: Floats, sign: int = 1
) -> Floats:
    """Return how steep slopes of a sign are whose paths have T at the values."""
    for _ in range(3):
        found = np.maximum.accumulate(sign * totals(steps, shape, sign * steepness)[0])
        # The slope of a value grows with the distance from the mean.
        rough = np.exp(np.interp(sign * values, found, np.log(steepness)))
        near = np.exp(np.linspace(-0.15, 0.15, 5))
        steepness = np.unique((rough[:, None] * near).ravel())
    return rough


def path_of(steps: Steps, shape: Shape, slope: float, boost: Floats) -> Path:
    """Return the path at a slope, and the Gaussian chain around it.

    `boost` is added to the log odds of each step.
    """
    hits = np.append(0.0, totals(steps, shape, np.array([slope]), boost)[1][:, 0])
    inside = np.diff(hits)
    share = np.clip(inside / steps.size, 1e-300, 1 - 1e-12)
    bend = 1 / np.maximum(steps.size * share * (1 - share), 1e-300)
    curve = bend - 2 * slope * steps.pair * (1 - 1 / steps.size)
    curve = np.where(curve > bend / 100, curve, bend / 100)
    pull, step = np.zeros(inside.size), np.zeros(inside.size)
    cross = slope * steps.single
    # The value below the last step but one: the last step takes all that is left.
    pull[-1], future = -1.0, -curve[-1] - 2 * cross[-1]
    for k in range(inside.size - 2, -1, -1):
        stiff = max(curve[k] - future, bend[k] / 100)
        pull[k], step[k] = (cross[k] + future) / stiff, stiff**-0.5
        # Where the chain is unstable a bound keeps the window finite.
        future = min(future + (cross[k] + future) ** 2 / stiff, bend[k])
        pull[k] = np.clip(pull[k], -1.0, 4.0)
    width = np.zeros(inside.size)
    spread = 0.0
    for k in range(inside.size):
        spread = (1 + pull[k]) ** 2 * spread + step[k] ** 2
        spread = min(spread, float(hits[-1]) ** 2 + 1)
        width[k] = spread**0.5
    return Path(hits[1:], pull, step, width)


def _shoot(steps: Steps, theta: Floats, slopes: Floats, boost: Floats) -> tuple[Floats, Floats]:
    """Return hits below each step and T, from the top down."""
    hits, got, total = (np.zeros(theta.size) for _ in range(3))
    below = np.empty((steps.size.size, theta.size))
    share = np.zeros(theta.size)
    for k, size in enumerate(steps.size.tolist()):
        single, pair = float(steps.single[k]), float(steps.pair[k]) * (1 - 1 / size)
        base = theta + boost[k] + slopes * ((hits + 1) * single - got)
        # A positive meets the others of its step, whose share is the same.
        meets = slopes * size * (2 * pair - single)
        share = expit(base + meets * share)
        for _ in range(1 if size == 1 or abs(2 * pair - single) < 0.1 * single else 30):
            share = (share + expit(base + meets * share)) / 2
        inside = size * share
        total += inside * ((hits + 1) * single + inside * pair)
        hits = hits + inside
        got += inside * single
        below[k] = hits
    return below, total
