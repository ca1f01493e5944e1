"""Draws of rankings whose law is tilted by exp(slope T), each with its exact weight.

The hits below the steps are a Markov chain, tilted too. Its backward recursion,
``V(h above) = sum over j of C(size, j) E exp(slope growth) V(h + j below)``, is solved on a window
of hits around the most likely path: on all whole numbers where the window is small, and as a
polynomial through some of them where it is wide. This need not be exact: it only says how to draw.
A draw counts with the weight ``prod C(size, j) / q(j)`` over C(n, n_pos), q being the chance that
it was drawn with; what is random inside a run is drawn as under random ranking.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev
from scipy.special import ndtr

from benchmarks.null_draws import grown
from benchmarks.null_path import path_of
from benchmarks.null_steps import Floats, Integers, Shape, Steps, log_choose

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
