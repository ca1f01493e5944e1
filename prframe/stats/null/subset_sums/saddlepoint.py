"""The distribution of the sum of numbers drawn without replacement, by the double saddlepoint.

Drawing n numbers is drawing each independently with some probability, given that n are drawn. For
``K(s, t) = sum_i log(1 - p + p exp(s a_i + t))`` with p = n / N, and s, t such that K has the
derivatives x and n there,

    r = sgn(s) sqrt(2 (s x + t n - K(s, t))),    u = s sqrt(det K''(s, t) / (n (1 - p))),
    P(S >= x) = 1 - Phi(r) + phi(r) (1/u - 1/r),

with an error that is relative, in the far tails too (Skovgaard 1987; for permutation tests
Robinson 1982, Booth & Butler 1990). On a lattice of unit d, x is d/2 less, and in u
``2 sinh(d s/2) / d`` takes the place of s.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx, expit

from prframe.stats.null.subset_sums.contents import ROUNDING, Lattice, Points
from prframe.stats.null.subset_sums.counting import Tails, Urn
from prframe.typing import Floats

_STEPS = 60
_TOLERANCE = 1e-10
# A step must lower the height by this share of the fall that the slope predicts (Armijo).
_ENOUGH = 1e-4
# A step of the search takes the curvature of the function to be at least about this share of its
# curvature at the mean, so that it is not too long where the function is flat.
_FLAT = 1e-12
# The hyperbolic sine of this is still a float.
_MOST = 700.0
# Closer to the mean than this many standard deviations both terms of the correction cancel.
_CLOSE = 0.05
# Sums of positive numbers that are 0 but for rounding are replaced by this.
_LEAST = 1e-150


class _Saddlepoints(NamedTuple):
    """The saddlepoints for several x: r, u, the share of each point that is drawn, and s."""

    r: Floats
    u: Floats
    share: Floats
    slope: Floats


class Approximation(NamedTuple):
    """Both tails, the points that stand for the numbers, and the share of each that is drawn."""

    tails: Tails
    points: Points
    share: Floats


def approximate(urn: Urn, x: float, lattice: Lattice | None) -> Approximation:
    """Approximate tails; the variance must not be 0, and x must lie within the support."""
    above, below, unit = x, x, 0.0
    if lattice is not None:
        unit, least = lattice.unit, urn.n * lattice.least
        place = (x - least) / unit
        above = least + unit * (np.ceil(place - ROUNDING) - 0.5)
        below = least + unit * (np.floor(place + ROUNDING) + 0.5)
    asked = np.unique([x, above, below])
    close = urn.mean + _CLOSE * urn.variance**0.5 * np.array([-1.0, 1.0])
    near = (close[0] < asked) & (asked < close[1])
    solved_at = np.concatenate([asked, close]) if near.any() else asked
    stand_ins, points = _solve_closely(urn, solved_at, unit)
    with np.errstate(divide="ignore", invalid="ignore"):
        term = 1 / points.u - 1 / points.r
    # The correction is 0 where the curvature vanishes.
    term = np.where(np.isfinite(term), term, 0.0)
    if near.any():
        term[: asked.size][near] = np.interp(asked[near], close, term[-2:])
    middle, up, down = np.searchsorted(asked, [x, above, below])
    tails = [_from_r(float(points.r[i]), float(term[i])) for i in (up, down)]
    return Approximation(Tails(tails[0].above, tails[1].below), stand_ins, points.share[middle])


def _from_r(r: float, term: float) -> Tails:
    """Return the tails for the root r and the correction 1/u - 1/r."""
    # As 1 - Phi(r) = phi(r) Mills(r), the tail beyond r is accurate, and the other is its
    # complement.
    side = 1 if r >= 0 else -1
    mills = (np.pi / 2) ** 0.5 * erfcx(side * r / 2**0.5)
    inner = max(float(mills) + side * term, 0.0)
    near = -(r**2) / 2 - np.log(2 * np.pi) / 2 + (np.log(inner) if inner > 0 else -np.inf)
    near = min(near, 0.0)
    far = complement(near)
    return Tails(near, far) if side == 1 else Tails(far, near)


def complement(log_chance: float) -> float:
    """Return log(1 - p) for log(p)."""
    return float(np.log(-np.expm1(log_chance))) if log_chance < 0 else -np.inf


class _State(NamedTuple):
    """The function to minimise, its gradient and Hessian, and the share drawn of each block.

    The Hessian is given by sums of weights, and by their centre and scatter, which lose no digits.
    """

    height: Floats
    slope: Floats
    weight: Floats
    centre: Floats
    scatter: Floats
    share: Floats

    @property
    def determinant(self) -> Floats:
        """The determinant of the Hessian."""
        return np.asarray(self.weight * self.scatter)

    def step(self, least: float) -> Floats:
        """Return the step of Newton's method; the curvature has a least value."""
        weight, scatter = np.maximum(self.weight, least), np.maximum(self.scatter, least)
        by_s = (self.slope[:, 0] - self.centre * self.slope[:, 1]) / scatter
        return np.stack([-by_s, self.centre * by_s - self.slope[:, 1] / weight], axis=-1)


class _Cumulants:
    """The function ``K(s, t) - s x - t n``, whose least value is the saddlepoint, for several x.

    K is the logarithm of the generating function of the sum (s) and the number (t) of the numbers
    that are drawn, of which n are drawn in the end. The numbers are centred and scaled.
    """

    def __init__(self, urn: Urn, points: Points, x: Floats, scale: float) -> None:
        # Rounding grows with the size of the sums.
        self.tolerance = _TOLERANCE * urn.n**0.5
        self._sizes = points.weights
        self._values = (points.values - urn.contents.mean) / scale
        self._goal = np.stack([(x - urn.mean) / scale, np.full(x.size, float(urn.n))], axis=-1)
        self._logit = float(np.log(urn.n / (urn.size - urn.n)))
        self._rest = urn.size * float(np.log(urn.size / (urn.size - urn.n)))

    def __call__(self, theta: Floats) -> _State:
        """Evaluate the function at rows of (s, t)."""
        shift = theta[:, :1] * self._values + theta[:, 1:] + self._logit
        share = expit(shift)
        # The height is the sum of log(1 - p + p e^(s a + t)), computed without overflow.
        height = np.logaddexp(0.0, shift) @ self._sizes - self._rest
        drawn, spread = share * self._sizes, share * (1 - share) * self._sizes
        slope = np.stack([drawn @ self._values, drawn.sum(-1)], axis=-1)
        # Where all or nothing is drawn of each block, weights are 0 but for rounding.
        weight = spread.sum(-1)
        centre = spread @ self._values / np.maximum(weight, _LEAST)
        scatter = (spread * (self._values - centre[:, None]) ** 2).sum(-1)
        level = height - (theta * self._goal).sum(-1)
        return _State(level, slope - self._goal, weight, centre, scatter, share)


def _solve_closely(urn: Urn, x: Floats, unit: float) -> tuple[Points, _Saddlepoints]:
    """Solve for the saddlepoints of several x with the fewest points that are accurate enough."""
    for points in urn.contents.stand_ins():
        saddlepoints = _solve(urn, points, x, unit)
        if points.suit(float(np.abs(saddlepoints.slope).max()), urn.n):
            return points, saddlepoints
    return urn.contents.all_points, _solve(urn, urn.contents.all_points, x, unit)


def _solve(urn: Urn, points: Points, x: Floats, unit: float) -> _Saddlepoints:
    """Find the saddlepoints of several x, which minimise convex functions, by Newton's method."""
    scale = (urn.variance / urn.n) ** 0.5
    cumulants, theta = _Cumulants(urn, points, x, scale), np.zeros((x.size, 2))
    state = cumulants(theta)
    for _ in range(_STEPS):
        if (np.abs(state.slope) <= cumulants.tolerance).all():
            break
        moved, moved_state = _descended(cumulants, theta, state.step(_FLAT * urn.n), state)
        # Heights lose digits in long sums, so that a fall of the slopes counts as well.
        lower = (moved_state.height < state.height) | (_steepest(moved_state) < _steepest(state))
        if not lower.any():
            break
        theta = np.where(lower[:, None], moved, theta)
        state = _State(*(_rows(lower, *pair) for pair in zip(moved_state, state, strict=True)))
    s, width = theta[:, 0], unit / scale
    r = np.sign(s) * np.sqrt(np.maximum(-2 * state.height, 0.0))
    s = 2 * np.sinh(np.clip(width * s / 2, -_MOST, _MOST)) / width if width else s
    spread = urn.n * (1 - urn.n / urn.size)
    u = s * np.sqrt(state.determinant / spread)
    return _Saddlepoints(r, u, state.share, theta[:, 0] / scale)


def _steepest(state: _State) -> Floats:
    """Return the larger component of each row's gradient."""
    return np.asarray(np.abs(state.slope).max(axis=-1))


def _rows(chosen: NDArray[np.bool_], first: Floats, second: Floats) -> Floats:
    """Return the rows of the first array where they are chosen, else those of the second."""
    return np.where(chosen[:, None] if first.ndim > 1 else chosen, first, second)


def _descended(
    cumulants: _Cumulants, theta: Floats, step: Floats, before: _State
) -> tuple[Floats, _State]:
    """Take a step in each row, halved until it lowers the function that is minimised."""
    drop = (before.slope * step).sum(-1)
    length = np.ones(theta.shape[0])
    moved, state = theta + step, cumulants(theta + step)
    for _ in range(_STEPS):
        too_far = state.height > before.height + _ENOUGH * length * drop + cumulants.tolerance
        if not too_far.any():
            break
        length = np.where(too_far, length / 2, length)
        moved = theta + length[:, None] * step
        state = cumulants(moved)
    return moved, state
