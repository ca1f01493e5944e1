"""Tails of T for groups of any size, each by a walk of its own along the most likely path.

First a saddlepoint, which needs the generating function at nine real slopes. It is taken if

- the tilted T is nearly normal, and the formula's second term matters little, and
- what the walk found can be read back: continued from the saddlepoint to a slope of 0 by its
  derivatives, log E[exp(sT)] must be 0 there and have the mean and the variance of T, which are
  known exactly and by other means.

Else the characteristic function is inverted along the same path. If that does not settle either,
or the walk cannot be read back near 0 where it should be, the value is an estimate, and says so.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prframe.stats.null.average_precision.generating_function.course import DENSE, GROWTH, Course
from prframe.stats.null.average_precision.generating_function.inversion import Inversion
from prframe.stats.null.average_precision.generating_function.path import (
    Lanes,
    Path,
    log_waves,
    most_likely,
    resampled,
)
from prframe.stats.null.average_precision.generating_function.saddlepoint import (
    Points,
    along_paths,
    tails,
)
from prframe.stats.null.average_precision.generating_function.steps import Items
from prframe.typing import Floats

# The tilted skewness and kurtosis up to which the saddlepoint is within .3 %, and how much its
# second term may matter.
_SKEWED, _PEAKED, _DOUBTED = 0.45, 0.45, 0.02
# Up to so many tilted standard deviations a walk is read back, and how well it must be.
_READABLE, _READ = 4.0, 0.02
# Further out it is walked again by other steps, and must agree so well, or to so many digits.
_DENSE, _GROWTH, _SAME, _SAME_DIGITS = 48, 0.06, 0.02, 1e-4
# Frequencies, over the standard deviation, at which a characteristic function may be back, and how
# large it may be for each of them.
PROBED, BACK = np.arange(8.0, 200.0, 0.5), 0.004
# An inversion takes a slope of so many over the standard deviation at least.
FLATTEST = 0.3
# So many lanes are walked at once.
_LANES = 512


class Problem(NamedTuple):
    """A value of T = n_pos AP, and what its distribution is.

    `mean` and `deviation` are those of T under random ranking.
    """

    items: Items
    n_pos: int
    target: float
    mean: float
    deviation: float


class PlannedTail(NamedTuple):
    """Logarithms of P(T >= target) and P(T < target), the slope, and how they were found."""

    log_reached: float
    log_missed: float
    slope: float
    method: str

    @classmethod
    def of(cls, log_tail: float, slope: float, method: str) -> "PlannedTail":
        """Return both tails, if that on the side of the slope is known."""
        log_rest = float(np.log(-np.expm1(log_tail))) if log_tail < 0 else -np.inf
        both = (log_tail, log_rest) if slope >= 0 else (log_rest, log_tail)
        return cls(*both, slope, method)

    @property
    def is_settled(self) -> bool:
        """Whether the value is as accurate as a method can be."""
        return self.method in {"saddlepoint", "transform"}


def planned_tails(
    problems: Sequence[Problem], *, only_inversion: bool = False, only_saddlepoint: bool = False
) -> "list[PlannedTail | None]":
    """Return the tails; None where a saddlepoint alone is wanted and will not do."""
    steps = [problem.items.table(DENSE, GROWTH) for problem in problems]
    order = sorted(range(len(problems)), key=lambda place: steps[place].size.size)
    found: list[PlannedTail | None] = [None] * len(problems)
    for begin in range(0, len(order), _LANES):
        chosen = order[begin : begin + _LANES]
        some = [problems[place] for place in chosen]
        lanes = Lanes.of([steps[place] for place in chosen], [p.n_pos for p in some])
        targets, mean, deviation = np.array([problem[2:] for problem in some]).T
        points, paths = along_paths(lanes, targets)
        approximation = tails(points, targets)
        good = is_trusted(points, approximation.doubt, (targets, mean, deviation))
        good &= ~is_lumpy(lanes, paths)
        good &= _is_confirmed(some, lanes, points, paths, approximation.log_tail)
        for lane, place in enumerate(chosen):
            if good[lane] and not only_inversion:
                log_tail = float(approximation.log_tail[lane])
                slope = float(points.slope[lane])
                found[place] = PlannedTail.of(log_tail, slope, "saddlepoint")
            elif not only_saddlepoint:
                own = lanes.taken(np.array([lane]))
                path = paths.taken(np.array([lane]))
                found[place] = _inverted(own, path, problems[place])
    return found


def is_trusted(
    points: Points, doubt: Floats, known: tuple[Floats, Floats, Floats]
) -> NDArray[np.bool_]:
    """Whether saddlepoints will do, `known` being the value, the exact mean and deviation of T."""
    with np.errstate(invalid="ignore"):
        skewness = np.abs(points.third / points.second**1.5)
        kurtosis = np.abs(points.fourth / points.second**2)
        u = np.abs(points.slope) * np.sqrt(points.second)
    is_near_normal = (skewness < _SKEWED) & (kurtosis < _PEAKED) & (doubt < _DOUBTED)
    # What the next derivative might add, from how the last ones compare.
    close = _misread(points, *known) <= _READ + (skewness + kurtosis) * u**2
    return np.asarray(is_near_normal & (close | (u > _READABLE)))


def _is_confirmed(
    problems: Sequence[Problem], lanes: Lanes, points: Points, paths: Path, log_tail: Floats
) -> NDArray[np.bool_]:
    """Whether walks by other steps, through other rows, come to the same; asked far out only."""
    confirmed = np.ones(len(problems), np.bool_)
    u = np.abs(points.slope) * np.sqrt(points.second)
    far = np.flatnonzero(u > _READABLE).tolist()
    if far:
        chosen = np.array(far)
        steps = [problems[place].items.table(_DENSE, _GROWTH) for place in far]
        other = Lanes.of(steps, [problems[place].n_pos for place in far])
        path = resampled(paths.taken(chosen), lanes.taken(chosen), other)
        slopes = points.slope[chosen, None]
        again = Course.planned(other, path._replace(slope=slopes[:, 0])).log_mgf(slopes)[:, 0]
        most = np.maximum(_SAME, _SAME_DIGITS * np.abs(log_tail[chosen]))
        confirmed[chosen] = np.abs(again - points.log_mgf[chosen]) <= most
    return confirmed


def is_lumpy(lanes: Lanes, path: Path) -> NDArray[np.bool_]:
    """Whether T takes few values or clusters, which a saddlepoint smooths over, by lane."""
    deviation = path.deviation[:, None]
    waves = log_waves(lanes, path, PROBED / deviation)
    steepness = 1 + np.abs(path.slope)[:, None] * deviation
    return np.asarray((np.exp(waves) * steepness > BACK * PROBED).any(axis=1))


def problem_is_lumpy(problem: Problem) -> bool:
    """Whether the T of a problem takes few values or clusters."""
    steps = problem.items.table(DENSE, GROWTH)
    lanes = Lanes.of([steps], [problem.n_pos])
    path = most_likely(lanes, np.array([problem.target]))
    return bool(is_lumpy(lanes, path)[0])


def _misread(points: Points, target: Floats, mean: Floats, deviation: Floats) -> Floats:
    """Return by how much derivatives lead to another distribution than that of random ranking."""
    s, log_mgf, second, third, fourth = points[:5]
    zero = log_mgf - s * target + s**2 / 2 * second - s**3 / 6 * third + s**4 / 24 * fourth
    first = target - s * second + s**2 / 2 * third - s**3 / 6 * fourth
    bend = second - s * third + s**2 / 2 * fourth
    off = [zero, (first - mean) / deviation, bend / deviation**2 - 1]
    return np.asarray(np.max(np.abs(off), axis=0))


def _inverted(lane: Lanes, path: Path, problem: Problem) -> PlannedTail:
    """Invert the characteristic function of a walk along a path."""
    course = Course.planned(lane, path)
    inversion = Inversion(course, np.array([problem.mean]), np.array([problem.deviation]))
    target, slope = np.array([problem.target]), float(path.slope[0])
    flat = FLATTEST / float(path.deviation[0])
    found = PlannedTail(0.0, 0.0, slope, "bound")
    # Close to the mean both sides will do.
    for tilt in [slope] if abs(slope) >= flat else [-flat, flat]:
        at = inversion.at(tilt, np.zeros(1, np.int64), target)
        log_tail = float((at.reached if tilt > 0 else at.missed)[0])
        method = "bound" if at.bounded[0] else "transform" if at.converged[0] else "estimate"
        found = PlannedTail.of(log_tail, tilt, method)
        if method == "transform":
            break
    return found
