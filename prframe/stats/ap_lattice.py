"""Tails of T = n_pos AP for many small groups at once, from its distribution on a lattice.

Let row h hold the distribution of T over all rankings of t items with h positives. The last m of
the t ranks hold j of the positives with a hypergeometric chance, and T grows by g, so that

    row h of t  =  sum over j of  P(j | h) times row h - j of t - m, moved by g.

As with generating functions (`ap_course`) one walk down the ranks holds this for every number of
retrieved items (= t) and of positives among them (= h), and so for every n and n_pos. T is kept on
a lattice; what falls between two points is shared between them, which keeps the mean. Single
rankings may carry weight here, where a characteristic function hardly dies away; for many
positives a lattice is too wide.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prframe.stats.ap_course import DENSE, GROWTH
from prframe.stats.ap_steps import Floats, Integers, Items, Steps, log_binomial

# Points of the lattice per unit of T, and the least value of T for which they are close enough.
_FINE = 1024
NEAREST = 80 / _FINE
# Chances below this never count, not even far out.
_NEVER = -60.0
# Over so much of T the slope of the tail's logarithm is taken.
_NEARBY = 0.05
# Where the tails are asked for: at x, there, and next to x. What lies between the last two should
# be less than this share of the tail.
_OFFSETS, _LUMPY = (0.0, _NEARBY, -1.5 / _FINE, 1.5 / _FINE), 0.03
_LEAST = 1e-300


class LatticeTails(NamedTuple):
    """Logarithms of P(T >= x) and P(T < x), and the slope of the smaller one's logarithm.

    `lumpy` tells where single values of T next to x carry weight, which a lattice smears.
    """

    reached: Floats
    missed: Floats
    slope: Floats
    lumpy: NDArray[np.bool_]


class _Rows(NamedTuple):
    """The distributions by number of hits: on the lattice, and how much lies beyond it."""

    weight: Floats
    beyond: Floats


class Retrieved(NamedTuple):
    """Items, positives among them, and how many of the items are retrieved."""

    n: int
    n_pos: int
    depth: int


def lattice_tails(cases: Sequence[Retrieved], x: Floats) -> LatticeTails:
    """Return the tails of a value of T for each case, x being at least NEAREST."""
    depth, most = max(case.depth for case in cases), max(case.n_pos for case in cases)
    items = Items(depth, depth)
    steps = items.table(DENSE, GROWTH)
    leave = np.searchsorted(steps.end, [case.depth for case in cases])
    width = int(np.ceil((float(x.max()) + _NEARBY) * _FINE)) + 2
    rows = _Rows(np.zeros((most + 1, width)), np.zeros(most + 1))
    rows.weight[0, 0] = 1.0
    found = np.zeros((2 * len(_OFFSETS), x.size))
    high = 0
    for step in range(int(leave.max()) + 1):
        if leaving := np.flatnonzero(leave == step).tolist():
            survival = _survival(rows, high)
            for place in leaving:
                end = np.array([cases[place].depth])
                cut = items.between(steps.above[step : step + 1], end)
                found[:, place] = _left(survival, cut, cases[place], float(x[place]))
        after = min(int(steps.end[step]), most)
        rows = _moved(rows, steps.one(step), high, after)
        high = after
    pairs = np.log(np.maximum(found, _LEAST)).reshape(len(_OFFSETS), 2, x.size)
    smaller = np.where(pairs[0, 0] <= pairs[0, 1], pairs[:, 0], pairs[:, 1])
    slope = np.abs(smaller[1] - smaller[0]) / _NEARBY
    lumpy = np.abs(smaller[2] - smaller[3]) > _LUMPY
    return LatticeTails(pairs[0, 0], pairs[0, 1], np.maximum(slope, _LEAST), lumpy)


def _chances(step: Steps, hits: int, high: int) -> tuple[Integers, Floats]:
    """Return how many of the hits a step may hold, and the chances, if `high` may stand above."""
    above, size = int(step.above[0]), int(step.size[0])
    j = np.arange(max(0, hits - min(high, above)), min(size, hits) + 1)
    log_chance = log_binomial(size, j) + log_binomial(above, hits - j)
    log_chance -= log_binomial(np.array([above + size]), np.array([hits]))
    likely = log_chance > _NEVER
    return j[likely], np.exp(log_chance[likely])


def _growths(step: Steps, above: int, j: int) -> list[float]:
    """Return what T grows by: two numbers with the mean and the variance, or one."""
    growth = j * (above + 1) * float(step.single[0]) + j * (j - 1) * float(step.pair[0])
    share = j * (1 - j / int(step.size[0]))
    spread = (share * (above + j / 2) ** 2 * float(step.spread[0])) ** 0.5
    return [growth] if spread * _FINE < _NEARBY else [growth - spread, growth + spread]


def _moved(rows: _Rows, step: Steps, high: int, most: int) -> _Rows:
    """Take a step."""
    weight, beyond = np.zeros_like(rows.weight), np.zeros_like(rows.beyond)
    width = weight.shape[1]
    for hits in range(most + 1):
        for j, chance in zip(*_chances(step, hits, high), strict=True):
            before = rows.weight[hits - j]
            beyond[hits] += chance * rows.beyond[hits - j]
            growths = _growths(step, hits - int(j), int(j))
            for growth in growths:
                place, share = divmod(max(growth, 0.0) * _FINE, 1.0)
                for shift, part in ((int(place), 1 - share), (int(place) + 1, share)):
                    factor = part * chance / len(growths)
                    if factor:
                        keep = max(width - shift, 0)
                        weight[hits, shift:] += factor * before[:keep]
                        beyond[hits] += factor * before[keep:].sum()
    return _Rows(weight, beyond)


def _survival(rows: _Rows, high: int) -> tuple[Floats, Floats]:
    """Return P(T >= x) and P(T < x) at the points of the lattice, by number of hits."""
    weight, beyond = rows.weight[: high + 1], rows.beyond[: high + 1]
    # A point stands for all that was nearer to it than to its neighbours.
    above = np.cumsum(weight[:, ::-1], axis=1)[:, ::-1] - weight / 2 + beyond[:, None]
    return above, np.cumsum(weight, axis=1) - weight / 2


def _left(survival: tuple[Floats, Floats], cut: Steps, case: Retrieved, x: float) -> Floats:
    """Take the last step of a case; return both tails of the value, and of another nearby."""
    n, n_pos, depth = case
    high = survival[0].shape[0] - 1
    found = np.zeros(2 * len(_OFFSETS))
    retrieved = np.arange(max(0, n_pos - (n - depth)), min(depth, n_pos) + 1)
    log_share = log_binomial(depth, retrieved) + log_binomial(n - depth, n_pos - retrieved)
    log_share -= log_binomial(np.array([n]), np.array([n_pos]))
    for hits, share in zip(retrieved.tolist(), np.exp(log_share).tolist(), strict=True):
        for j, chance in zip(*_chances(cut, hits, high), strict=True):
            above = hits - int(j)
            growths = _growths(cut, above, int(j))
            for growth in growths:
                factor = share * chance / len(growths)
                for place, offset in enumerate(_OFFSETS):
                    pair = _at(survival, above, x + offset - growth)
                    found[2 * place : 2 * place + 2] += factor * pair
    return found


def _at(survival: tuple[Floats, Floats], hits: int, x: float) -> Floats:
    """Return P(T >= x) and P(T < x) given hits, between the points of the lattice."""
    if x <= 0:
        return np.array([1.0, 0.0])
    place, share = divmod(x * _FINE, 1.0)
    pair = slice(int(place), int(place) + 2)
    weight = np.array([1 - share, share])
    return np.array([side[hits, pair] @ weight for side in survival])
