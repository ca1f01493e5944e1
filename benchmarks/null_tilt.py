"""Draws of rankings whose law is tilted by exp(slope T), each with its exact weight.

The hits below the steps are a Markov chain, tilted too. Its backward recursion,
``V(h above) = sum over j of C(size, j) E exp(slope growth) V(h + j below)``, is solved on a window
of hits around the most likely path: on all whole numbers where the window is small, and as a
polynomial through some of them where it is wide. This need not be exact: it only says how to draw.
A draw counts with the weight ``prod C(size, j) / q(j)`` over C(n, n_pos), q being the chance that
it was drawn with; what is random inside a run is drawn as under random ranking.

The most likely path: where a step holds the share x of positives, the entropy of the shares plus
slope times T is largest if ``logit x = theta + slope (what a positive adds here and to what is
below)``. What it adds below is a constant less what the positives so far got from those above
them, so that theta gives the whole path from the top down: it ends with n_pos hits.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev
from scipy.special import expit, ndtr

from benchmarks.null_steps import Floats, Integers, Shape, Steps, grown, log_choose

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


# A window reaches so many deviations from the path, and so many hits more.
_REACH, _MARGIN = 8.0, 8.0
# Deviations up to here: whole numbers; steps up to here: tables of the chances of each number.
_WHOLE, _TABLED = 8.0, 4.0
# The largest window of whole numbers where it is not needed, and the nodes of a polynomial.
_ALL, _NODES = 260, 15
_MOST_SKEW = 0.25


@dataclass(frozen=True)
class Window:
    """Logarithms of V at numbers of hits, all whole numbers from the first on or a few."""

    hits: Integers
    logs: Floats
    fit: Floats | None
    least: int
    most: int

    def __call__(self, hits: Floats) -> Floats:
        """Return logarithms of V, linear beyond the window, none where no ranking goes."""
        low, high = float(self.hits[0]), float(self.hits[-1])
        inside = np.clip(hits, low, high)
        if self.fit is None:
            value = self.logs[(inside - low).astype(np.int64)]
            with np.errstate(invalid="ignore"):
                ends = np.diff(self.logs)[[0, -1]] if self.logs.size > 1 else np.zeros(2)
        else:
            value = chebyshev.chebval(self._unit(inside), self.fit)
            edge = chebyshev.chebder(self.fit)
            ends = chebyshev.chebval([-1.0, 1.0], edge) * 2 / (high - low)
        ends = np.where(np.isfinite(ends), ends, 0.0)
        beyond = hits - inside
        value = value + np.where(beyond > 0, ends[1], ends[0]) * beyond
        return np.where((hits >= self.least) & (hits <= self.most), value, -np.inf)

    def fitted(self, values: Floats) -> Floats:
        """Return polynomials through columns of values at the hits."""
        return fitted(self._unit(self.hits), values)

    def at(self, hits: Floats, fits: Floats) -> Floats:
        """Return the values of polynomials, those of the ends beyond the window."""
        return np.asarray(chebyshev.chebval(np.clip(self._unit(hits), -1.0, 1.0), fits))

    def _unit(self, hits: Floats | Integers) -> Floats:
        low, high = self.hits[0], self.hits[-1]
        return np.asarray((2.0 * hits - low - high) / (high - low))


@dataclass(frozen=True)
class Law:
    """How to draw the positives of a step, given the hits above."""

    window: Window
    first: int
    chances: Floats | None
    shape: Floats


class Tilt(NamedTuple):
    """How to tilt: a slope of T, and how far down the top reaches that expects one positive more.

    A slope alone draws badly where T is large as often as not because of one lucky positive.
    """

    slope: float
    top: float = 0.0


def boosts(steps: Steps, shape: Shape, top: float) -> Floats:
    """Return what is added to the log odds of a positive in each step."""
    middle = steps.above + (steps.size + 1) / 2
    usual = shape.n_pos / max(1, shape.n - shape.n_pos)
    extra = np.log1p(1 / max(top, 1.0) / usual)
    return np.where(middle <= max(top, 1.0), extra, 0.0) if top else np.zeros(middle.size)


@dataclass(frozen=True)
class Sample:
    """Draws of T, and the logarithms of their weights."""

    total: Floats
    log_weight: Floats


def fitted(unit: Floats, values: Floats) -> Floats:
    """Return the polynomials through values at nodes."""
    return np.linalg.solve(chebyshev.chebvander(unit, unit.size - 1), values)


class Tilted:
    """Rankings of a shape, tilted."""

    def __init__(self, steps: Steps, shape: Shape, tilt: Tilt) -> None:
        self.steps, self.shape, self.slope = steps, shape, tilt.slope
        self._boost = boosts(steps, shape, tilt.top)
        self._path = path_of(steps, shape, tilt.slope, self._boost)
        last = steps.size.size - 1
        self._laws: list[Law] = []
        below: Window | None = None
        for k in range(last, -1, -1):
            law, below = self._solved(k, below)
            self._laws.append(law)
        self._laws.reverse()
        # A path that is not the likely one, where two compete, can leave V with nothing.
        self._is_usable = bool(np.isfinite(below.logs).all()) if below else False

    def draw(self, draws: int, rng: np.random.Generator) -> Sample:
        """Draw rankings."""
        hits, total, log_weight = (np.zeros(draws) for _ in range(3))
        if not self._is_usable:
            return Sample(total, np.full(draws, -np.inf))
        for k, law in enumerate(self._laws):
            if k == len(self._laws) - 1:
                inside, log_chance = self.shape.n_pos - hits, np.zeros(draws)
            elif law.chances is None:
                inside, log_chance = _normal(law, hits, rng)
            else:
                inside, log_chance = _tabled(law, hits, rng)
            least, most = self._bounds(k + 1)
            legal = (inside >= np.maximum(least - hits, 0)) & (
                inside <= np.minimum(most - hits, self.steps.size[k])
            )
            # What no ranking can have weighs nothing, and goes on as something that one can.
            inside = np.clip(
                inside,
                np.maximum(least - hits, 0),
                np.minimum(most - hits, float(self.steps.size[k])),
            )
            log_weight += np.where(
                legal, log_choose(float(self.steps.size[k]), inside) - log_chance, -np.inf
            )
            total += grown(self.steps, k, hits, inside, rng)
            hits = hits + inside
        return Sample(total, log_weight - log_choose(self.shape.n, self.shape.n_pos))

    def _bounds(self, k: int) -> tuple[int, int]:
        """Return the least and the most hits above step k."""
        above = int(self.steps.above[k]) if k < self.steps.size.size else self.shape.n
        n, n_pos = self.shape.n, self.shape.n_pos
        return max(0, n_pos - (n - above)), min(n_pos, above)

    def _window(self, k: int) -> Integers:
        """Return the hits above step k at which V is found."""
        least, most = self._bounds(k)
        if k == 0 or least == most:
            return np.array([least])
        path, width = float(self._path.hits[k - 1]), float(self._path.width[k - 1])
        low, high = path - _REACH * width - _MARGIN, path + _REACH * width + _MARGIN
        low, high = int(np.clip(low, least, most)), int(np.clip(high + 1, least, most))
        if most - least < _ALL:
            low, high = least, most
        if high - low < 4 * _NODES or width < _WHOLE or self._path.step[k] < _TABLED + 1:
            return np.arange(low, high + 1)
        nodes = np.cos(np.pi * np.arange(_NODES) / (_NODES - 1))
        return np.unique(np.rint((low + high) / 2 - (high - low) / 2 * nodes).astype(np.int64))

    def _solved(self, k: int, below: Window | None) -> tuple[Law, Window]:
        """Return how to draw step k, and V above it."""
        window = self._window(k)
        least, most = self._bounds(k)
        hits = window.astype(np.float64)
        is_whole = window.size == window[-1] - window[0] + 1
        if below is None:
            inside = (self.shape.n_pos - hits)[:, None]
            logs = self._term(k, hits[:, None], inside)
        else:
            inside = self._numbers(k, hits, below)
            logs = self._term(k, hits[:, None], inside) + below(hits[:, None] + inside)
        top = logs.max(axis=1, keepdims=True)
        top = np.where(np.isfinite(top), top, 0.0)
        weight = np.exp(logs - top)
        norm = weight.sum(axis=1)
        stride = float(inside[0, 1] - inside[0, 0]) if inside.shape[1] > 1 else 1.0
        with np.errstate(divide="ignore"):
            value = top[:, 0] + np.log(norm * stride)
        shape = _moments(inside, weight, norm)
        above = Window(window, value, None, least, most)
        if not is_whole:
            above = Window(window, value, above.fitted(value), least, most)
        table = None
        if is_whole and stride == 1 and shape[1].max() < _TABLED:
            table = np.cumsum(weight / np.maximum(norm, 1e-300)[:, None], axis=1)
        elif not is_whole:
            shape = above.fitted(shape.T)
        return Law(above, int(inside[0, 0]), table, shape), above

    def _numbers(self, k: int, hits: Floats, below: Window) -> Floats:
        """Return numbers of positives of step k that cover what is likely for all hits above."""
        path = self._path
        centre = float(path.hits[k] - path.hits[k - 1]) if k else float(path.hits[0])
        shift = path.pull[k] * (hits[[0, -1]] - (path.hits[k - 1] if k else 0.0))
        deviation = float(path.step[k])
        reach = _REACH * deviation + _MARGIN
        low = max(0, below.least - int(hits[-1]), int(centre + shift.min() - reach))
        high = min(
            int(self.steps.size[k]),
            below.most - int(hits[0]),
            int(centre + shift.max() + reach) + 1,
        )
        stride = 1 if deviation < _WHOLE else int(0.7 * deviation)
        low, high = min(low, high), max(low, high)
        return np.arange(low, high + 1, stride, dtype=np.float64)[None, :]

    def _term(self, k: int, hits: Floats, inside: Floats) -> Floats:
        """Return log C(size, j) E exp(slope growth)."""
        size = float(self.steps.size[k])
        tilt = self.slope * self.steps.growth(k, hits, inside)
        legal = (inside >= 0) & (inside <= size)
        if self.steps.spread[k]:
            tilt = tilt + self.slope**2 / 2 * self.steps.variance(k, hits, inside)
            # Steep negative slopes leave the normal variate behind, but not the least growth.
            least = inside * (hits + (inside + 1) / 2) / (self.steps.above[k] + size)
            tilt = np.minimum(tilt, self.slope * least) if self.slope < 0 else tilt
        with np.errstate(invalid="ignore"):
            logs = log_choose(size, inside) + tilt + self._boost[k] * inside
        return np.where(legal, logs, -np.inf)


def _moments(inside: Floats, weight: Floats, norm: Floats) -> Floats:
    """Return mean, standard deviation and skewness of the positives of a step, by hits above."""
    norm = np.maximum(norm, 1e-300)
    inside = np.broadcast_to(inside, weight.shape)
    mean = (weight * inside).sum(axis=1) / norm
    off = inside - mean[:, None]
    square = weight * off * off
    deviation = np.sqrt(np.maximum(square.sum(axis=1) / norm, 1e-12))
    skew = (square * off).sum(axis=1) / norm / deviation**3
    return np.stack([mean, deviation, np.clip(skew, -_MOST_SKEW, _MOST_SKEW)])


def _tabled(law: Law, hits: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw positives by the table of their chances; return them, and the logs of the chances."""
    table = law.chances
    assert table is not None
    window = law.window.hits
    row = np.clip(hits - window[0], 0, window.size - 1).astype(np.int64)
    uniform = rng.random(hits.size)
    column = np.zeros(hits.size, np.int64)
    for number in range(table.shape[1] - 1):
        column += table[row, number] < uniform
    chance = table[row, column] - np.where(column > 0, table[row, column - 1], 0.0)
    return law.first + column.astype(np.float64), np.log(np.maximum(chance, 1e-300))


def _normal(law: Law, hits: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw positives by rounding a normal variate with some skewness."""
    if law.window.fit is None:
        window = law.window.hits
        row = np.clip(hits - window[0], 0, window.size - 1).astype(np.int64)
        mean, deviation, skew = law.shape[:, row]
    else:
        mean, deviation, skew = law.window.at(hits, law.shape)
    deviation = np.maximum(deviation, 0.3)
    bend = np.clip(skew, -_MOST_SKEW, _MOST_SKEW) / 6
    normal = rng.standard_normal(hits.size)
    inside = np.rint(mean + deviation * (normal + bend * (normal * normal - 1)))
    edges = (inside[:, None] + [-0.5, 0.5] - mean[:, None]) / deviation[:, None] + bend[:, None]
    root = np.sqrt(np.maximum(1 + 4 * bend[:, None] * edges, 0.0))
    upper = 2 * edges / (1 + root)
    side = np.where(upper[:, :1] > 0, -1.0, 1.0)
    ends = ndtr(side * upper)
    return inside, np.log(np.maximum(np.abs(ends[:, 1] - ends[:, 0]), 1e-300))
