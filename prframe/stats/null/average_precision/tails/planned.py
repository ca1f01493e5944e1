"""Tails of T for groups of any size, each by a walk of its own along the most likely path.

A saddlepoint is tried first, which needs the generating function at a few real slopes. It is taken
if

- the tilted T is nearly normal, and the formula's second term matters little, and
- the result of the walk can be read back: continued from the saddlepoint to a slope of 0 by its
  derivatives, log E[exp(sT)] must be 0 there and have the mean and the variance of T, which are
  known exactly and by other means.

Otherwise the characteristic function is inverted along the same path. If that does not converge
either, the value is an estimate, or a bound, and is marked as such.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prframe.stats.null.average_precision.generating_function.inversion import Inversion
from prframe.stats.null.average_precision.generating_function.lanes import Lanes, Path
from prframe.stats.null.average_precision.generating_function.likely_path import (
    log_waves,
    most_likely,
    resampled,
)
from prframe.stats.null.average_precision.generating_function.path_search import (
    along_paths,
    moved_paths,
    rounded,
)
from prframe.stats.null.average_precision.generating_function.saddlepoint import Points, tails
from prframe.stats.null.average_precision.generating_function.steps import Items, Steps
from prframe.stats.null.average_precision.generating_function.walk import DENSE, GROWTH, Course
from prframe.stats.null.average_precision.tails.neighbours import (
    DOUBTED,
    KeptInversion,
    KeptSaddlepoint,
    KnownPath,
    PlannedTail,
    Shared,
)
from prframe.typing import Floats, Integers

# A saddlepoint is taken if the skewness of the tilted T is below this in size. It is within .3 %
# then; otherwise the characteristic function is inverted.
_SKEWED = 0.45
# The excess kurtosis of the tilted T must be below this in size.
_PEAKED = 0.45
# The slope times the standard deviation of the tilted T up to which the walk is checked by the
# exact mean and variance of T. A walk with a steeper slope is checked by a second walk.
_READABLE = 4.0
# The first check allows this error of log E[exp(sT)] at a slope of 0, of the mean in standard
# deviations of T, and of the variance in variances of T; and more the more skewed T is.
_READ = 0.02
# In the second walk each of the first ranks, this many, is a step.
_DENSE = 48
# A step of the second walk takes this share of the rank beyond these.
_GROWTH = 0.06
# In a fine walk steps are so long.
_FINE_GROWTH = 0.03
# In a rough walk these are fewer, and further steps are longer.
_ROUGH_DENSE = 24
_ROUGH_GROWTH = 0.3
# The values of log E[exp(sT)] from the two walks may differ by this.
_SAME = 0.02
# They may also differ by this share of the tail's logarithm, if that is more.
_SAME_DIGITS = 1e-4
# T takes few values, or clusters, if its tilted characteristic function is large again at one of
# these frequencies, in units of 1 over the standard deviation of the tilted T.
PROBED = np.arange(8.0, 200.0, 0.5)
# It is large if its size exceeds this times the frequency in these units, divided by 1 plus the
# slope times the standard deviation.
BACK = 0.004
# The least slope of an inversion, in size and in units of 1 over the tilted standard deviation of
# T.
FLATTEST = 0.3
# Where the slope of the path times the tilted standard deviation is larger than this, an inversion
# takes a slope that is flatter by the second number, in units of 1 over that deviation.
_WIDE, _FLATTER = 20.0, 1.0
# Where the slope of a value's path does not lead to it, walks are along the paths of values at
# these shares of its distance from the mean.
_CLOSER = (1.0, 0.85, 0.7, 0.55, 0.4, 0.3)
# A search for a path begins at that of a value up to this many tilted standard deviations away.
_WITHIN_REACH = 8.0
# Saddlepoints are far from being accurate if skewness, kurtosis, the second term or the returning
# characteristic function are this many times too large.
_FAR_OFF = 2.0
# Those of values that differ from one by at most this share are not tried if it is that far, or by
# at most the second share if it is not trusted.
_ALIKE, _SAME_VALUE = 0.02, 1e-4
# The number of groups that are walked side by side, which bounds the memory.
_LANES = 512


class Problem(NamedTuple):
    """A value of T = n_pos AP, and the rankings that make its distribution.

    `mean` and `deviation` are those of T under random ranking. The paths and the inversions that
    are made for the problem are added to those that it shares, if there are any. A fine problem
    has shorter steps, and one that `is_fine_below` has short ones at the last ranks.
    """

    items: Items
    n_pos: int
    target: float
    mean: float
    deviation: float
    shared: Shared | None = None
    is_fine_below: bool = False
    is_fine: bool = False

    @property
    def is_rough(self) -> bool:
        """Whether the walk has fewer steps."""
        return self.shared is not None and self.shared.is_rough

    @property
    def steps(self) -> Steps:
        """The steps of the walk."""
        growth = _FINE_GROWTH if self.is_fine else GROWTH
        return self.few_steps if self.is_rough else self._steps(DENSE, growth)

    @property
    def few_steps(self) -> Steps:
        """The steps of a rough walk."""
        return self._steps(_ROUGH_DENSE, _ROUGH_GROWTH)

    @property
    def other_steps(self) -> Steps:
        """The steps of the second walk."""
        return self._steps(_DENSE, _GROWTH)

    def _steps(self, dense: float, growth: float) -> Steps:
        return self.items.table(dense, growth, is_fine_below=self.is_fine_below)


def planned_tails(
    problems: Sequence[Problem], *, only_inversion: bool = False, only_saddlepoint: bool = False
) -> "list[PlannedTail | None]":
    """Return the tails; None where only a saddlepoint may be taken and it is not trusted."""
    if only_saddlepoint:
        futile = [_is_futile(problem) for problem in problems]
        tried = [problem for problem, skip in zip(problems, futile, strict=True) if not skip]
        given = iter(_side_by_side(tried, only_saddlepoint=True))
        return [None if skip else next(given) for skip in futile]
    return _side_by_side(problems, only_inversion=only_inversion)


def _side_by_side(
    problems: Sequence[Problem], *, only_inversion: bool = False, only_saddlepoint: bool = False
) -> "list[PlannedTail | None]":
    """Return the tails of problems, whose walks go side by side."""
    steps = [problem.steps for problem in problems]
    order = sorted(range(len(problems)), key=lambda place: steps[place].size.size)
    results: list[PlannedTail | None] = [None] * len(problems)
    for begin in range(0, len(order), _LANES):
        chosen = order[begin : begin + _LANES]
        batch = [problems[place] for place in chosen]
        lanes = Lanes.of([steps[place] for place in chosen], [p.n_pos for p in batch])
        targets, mean, deviation = np.array([problem[2:5] for problem in batch]).T
        points, paths = _walked(batch, lanes)
        approximation = tails(points, targets)
        good = is_trusted(points, approximation.doubt, (targets, mean, deviation))
        good &= lumpiness(lanes, paths) <= 1
        # Where a saddlepoint is not taken anyway, or need not be exact, there is no second walk.
        is_exact = [not problem.is_rough for problem in batch]
        far = points._replace(slope=np.where(good & is_exact, points.slope, 0.0))
        good &= _is_confirmed(batch, lanes, far, paths, approximation.log_tail)
        reach = np.where(_are_hopeless(points, approximation.doubt), _ALIKE, _SAME_VALUE) * targets
        for lane, place in enumerate(chosen):
            shared = problems[place].shared
            if shared is not None and not good[lane]:
                shared.futile.append((float(targets[lane]), float(reach[lane])))
            if good[lane] and not only_inversion:
                log_tail = float(approximation.log_tail[lane])
                slope = float(points.slope[lane])
                results[place] = PlannedTail.of(log_tail, slope, "saddlepoint")
                if shared is not None:
                    own_points = Points(*(column[lane : lane + 1] for column in points))
                    kept = KeptSaddlepoint(own_points, float(targets[lane]), shared.is_rough)
                    shared.saddlepoints.append(kept)
            elif not only_saddlepoint:
                own = lanes.taken(np.array([lane]))
                path = paths.taken(np.array([lane]))
                results[place] = _inverted(own, path, problems[place])
    return results


def is_trusted(
    points: Points, doubt: Floats, known: tuple[Floats, Floats, Floats]
) -> NDArray[np.bool_]:
    """Whether saddlepoints are accurate; `known` is the value, exact mean and deviation of T."""
    with np.errstate(invalid="ignore"):
        skewness = np.abs(points.third / points.second**1.5)
        kurtosis = np.abs(points.fourth / points.second**2)
        u = np.abs(points.slope) * np.sqrt(points.second)
    is_near_normal = (skewness < _SKEWED) & (kurtosis < _PEAKED) & (doubt < DOUBTED)
    # The next derivatives may add about (skewness + kurtosis) u^2, which is allowed for.
    close = _misread(points, *known) <= _READ + (skewness + kurtosis) * u**2
    return np.asarray(is_near_normal & (close | (u > _READABLE)))


def _are_hopeless(points: Points, doubt: Floats) -> NDArray[np.bool_]:
    """Whether saddlepoints are so far from accurate that those of neighbours are not either."""
    with np.errstate(invalid="ignore"):
        skewness = np.abs(points.third / points.second**1.5) / _SKEWED
        kurtosis = np.abs(points.fourth / points.second**2) / _PEAKED
    worst = np.maximum(np.maximum(skewness, kurtosis), doubt / DOUBTED)
    # A polynomial that has no saddlepoint tells nothing of others.
    return np.asarray(~(worst <= _FAR_OFF))


def _walked(problems: Sequence[Problem], lanes: Lanes) -> tuple[Points, Path]:
    """Return saddlepoints and paths, which are added to those that the problems share.

    Where all have known paths of neighbouring values, the search begins there.
    """
    targets = np.array([problem.target for problem in problems])
    points, paths = _from_known(problems, lanes, targets)
    is_hopeless = _are_hopeless(points, tails(points, targets).doubt)
    for lane, problem in enumerate(problems):
        # Where no walk kept within its rows the slope is 0.
        if problem.shared is not None and paths.slope[lane] != 0:
            at = np.array([lane])
            own = lanes.taken(at), paths.taken(at), problem.target, bool(is_hopeless[lane])
            problem.shared.paths.append(KnownPath(*own))
    return points, paths


def _from_known(problems: Sequence[Problem], lanes: Lanes, targets: Floats) -> tuple[Points, Path]:
    """Return saddlepoints and paths, to which those of neighbours moved if there are any."""
    known = [path for problem in problems if (path := _nearest(problem)) is not None]
    is_hopeless = all(path.is_hopeless for path in known)
    # Saddlepoints that are exact depend on where their nodes are, which `sf` must have too.
    is_rough = all(problem.is_rough for problem in problems)
    if len(known) < len(problems) or not (is_hopeless or is_rough):
        coarse = None if is_rough else partial(_in_few_steps, problems)
        likely = most_likely(lanes, targets)
        futile = lumpiness(lanes, likely) > _FAR_OFF
        return along_paths(lanes, targets, likely, coarse, futile)
    each = [
        resampled(path.path, path.lanes, lanes.taken(np.array([lane])))
        for lane, path in enumerate(known)
    ]
    begin = Path(*(np.concatenate(columns) for columns in zip(*each, strict=True)))
    paths = moved_paths(lanes, targets, begin)
    if paths is not None and is_hopeless:
        return Points(*np.full((len(Points._fields), targets.size), np.nan)), paths
    return along_paths(lanes, targets, paths)


def _in_few_steps(problems: Sequence[Problem], places: Integers) -> Lanes:
    """Return lanes of few steps for some of the problems."""
    steps = [problems[place].few_steps for place in places.tolist()]
    return Lanes.of(steps, [problems[place].n_pos for place in places.tolist()])


def _is_futile(problem: Problem) -> bool:
    """Whether the saddlepoint of a value next to it was not trusted."""
    known = problem.shared.futile if problem.shared else []
    return any(abs(target - problem.target) <= reach for target, reach in known)


def _nearest(problem: Problem) -> KnownPath | None:
    """Return the known path of the nearest value, if that is near enough; None without one."""
    known = problem.shared.paths if problem.shared else []
    # The last one is the one in question if several are as near.
    near = min(known[::-1], key=lambda path: abs(path.target - problem.target), default=None)
    if near is None or abs(near.target - problem.target) > _WITHIN_REACH * near.path.deviation[0]:
        return None
    return near


def _is_confirmed(
    problems: Sequence[Problem], lanes: Lanes, points: Points, paths: Path, log_tail: Floats
) -> NDArray[np.bool_]:
    """Whether walks by other steps and rows agree, which is checked far out only."""
    confirmed = np.ones(len(problems), np.bool_)
    u = np.abs(points.slope) * np.sqrt(points.second)
    far = np.flatnonzero(u > _READABLE).tolist()
    if far:
        chosen = np.array(far)
        steps = [problems[place].other_steps for place in far]
        other = Lanes.of(steps, [problems[place].n_pos for place in far])
        path = resampled(paths.taken(chosen), lanes.taken(chosen), other)
        slopes = points.slope[chosen, None]
        again = Course.planned(other, path._replace(slope=slopes[:, 0])).log_mgf(slopes)[:, 0]
        most = np.maximum(_SAME, _SAME_DIGITS * np.abs(log_tail[chosen]))
        confirmed[chosen] = np.abs(again - points.log_mgf[chosen]) <= most
    return confirmed


def lumpiness(lanes: Lanes, path: Path) -> Floats:
    """Return by how much characteristic functions are too large once they return, by lane.

    Beyond 1 T takes few values or clusters, which a saddlepoint smooths over.
    """
    deviation = path.deviation[:, None]
    waves = log_waves(lanes, path, PROBED / deviation)
    steepness = 1 + np.abs(path.slope)[:, None] * deviation
    return np.asarray((np.exp(waves) * steepness / (BACK * PROBED)).max(axis=1))


def problem_is_lumpy(problem: Problem) -> bool:
    """Whether the T of a problem takes few values or clusters."""
    lanes = Lanes.of([problem.steps], [problem.n_pos])
    return bool(lumpiness(lanes, most_likely(lanes, np.array([problem.target])))[0] > 1)


def _misread(points: Points, target: Floats, mean: Floats, deviation: Floats) -> Floats:
    """Return how far the derivatives, continued to a slope of 0, are from the exact moments."""
    s, log_mgf, second, third, fourth = points[:5]
    zero = log_mgf - s * target + s**2 / 2 * second - s**3 / 6 * third + s**4 / 24 * fourth
    first = target - s * second + s**2 / 2 * third - s**3 / 6 * fourth
    bend = second - s * third + s**2 / 2 * fourth
    off = [zero, (first - mean) / deviation, bend / deviation**2 - 1]
    return np.asarray(np.max(np.abs(off), axis=0))


def _inverted(lane: Lanes, path: Path, problem: Problem) -> PlannedTail:
    """Invert the characteristic function of a walk along a path."""
    course = Course.planned(lane, path)
    expected = problem.shared.expected if problem.shared else 0.0
    moments = np.array([problem.mean]), np.array([problem.deviation])
    inversion = Inversion(course, *moments, expected)
    slope = _slope_of_inversion(path)
    flat = float(rounded(FLATTEST / path.deviation)[0])
    tail = PlannedTail(0.0, 0.0, slope, "bound")
    along = KeptInversion(inversion, slope, problem.target, problem.is_rough)
    # Close to the mean a slope on either side serves.
    for tilt in [slope] if abs(slope) >= flat else [-flat, flat]:
        along = KeptInversion(inversion, tilt, problem.target, problem.is_rough)
        tail = along.tail(problem.target)
        if tail.is_accurate:
            break
    leapt = _leaping(lane, problem, slope) if tail.method == "bound" else None
    if leapt is not None:
        tail, along = leapt
    if problem.shared is not None:
        problem.shared.inversions.append(along)
    return tail


def _slope_of_inversion(path: Path) -> float:
    """Return the slope at which a path is inverted.

    Any slope will do. That of the path itself spreads T far beyond the value where the tail has
    long steps to come, and a flatter one asks for a shorter period.
    """
    slope, deviation = float(path.slope[0]), float(path.deviation[0])
    if abs(slope) * deviation > _WIDE:
        slope -= np.sign(slope) * _FLATTER / deviation
    return float(rounded(np.array([slope]))[0])


def _leaping(
    lane: Lanes, problem: Problem, slope: float
) -> "tuple[PlannedTail, KeptInversion] | None":
    """Return the tail where the slope of the value's path leads elsewhere, and its inversion.

    Positives that fill a small tie block raise T with the square of their number. Beyond some
    slope the tilted walk leaps there, so that its mean is far from the value. Walks along the
    paths of values closer to the mean are inverted at slopes whose tilted means are about the
    value, if there are any. Two that agree are an answer; one alone is an estimate, and there may
    be None.
    """
    known: list[tuple[PlannedTail, KeptInversion]] = []
    for share in _CLOSER:
        closer = problem.mean + share * (problem.target - problem.mean)
        path = most_likely(lane, np.array([closer]))
        course = Course.planned(lane, path)
        inversion = Inversion(course, np.array([problem.mean]), np.array([problem.deviation]))
        # A search that came to nothing has no slope.
        own = inversion.tilts.slope_at(problem.target, slope or float(path.slope[0]))
        if own is None:
            continue
        along = KeptInversion(inversion, own, problem.target, problem.is_rough)
        tail = along.tail(problem.target)
        if not tail.is_accurate:
            continue
        most = max(_SAME, _SAME_DIGITS * abs(tail.log_tail))
        if any(abs(tail.log_tail - other.log_tail) <= most for other, _ in known):
            return tail, along
        known.append((tail, along))
    if not known:
        return None
    tail, along = max(known, key=lambda each: each[0].log_tail)
    return tail._replace(method="estimate"), along._replace(is_sure=False)
