"""The most likely way down the ranks, if large values of T = n_pos AP are favoured.

Among all rankings, each weighted by exp(slope T), the numbers of hits at the ends of the steps
scatter about the path that maximises

    sum over steps of  log C(m, j) + slope E[growth of T | hits above, j],

where m ranks hold j positives, and log C(m, j) is approximated by
``m log m - j log j - (m - j) log(m - j)``. Neighbouring steps alone interact, so that Newton's
method solves tridiagonal systems. Their pivots tell how far the hits scatter about the path.
Nothing here is a probability: the path says about which numbers of hits to walk (`Course`), and
the results of the walk are checked.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prframe.stats._arrays import row_sums
from prframe.stats.null.average_precision.generating_function.lanes import Lanes, Path
from prframe.stats.null.average_precision.generating_function.sunken_path import (
    is_sunken,
    sunken,
)
from prframe.typing import Floats

# A move of Newton's method goes at most this share of the way to an impossible number of
# positives.
_WAY = 0.9
# The positives of a step are kept above this share of its ranks, and as far below all of them, so
# that their logarithms are finite.
_EDGE = 1e-9
# The most turns of Newton's method. The path is then taken as it is.
_MOST_TURNS = 40
# A path has arrived if no number of hits moved by more than this, relative to 1 plus the root of
# the largest number of hits.
_CLOSE_ENOUGH = 1e-3
# For values of T more than this many standard deviations above the mean, the search begins with
# hits gathered at the top. For others it begins with evenly spread hits.
_FAR = 8.0
# Gathered hits take this share of the top ranks.
_FULL = 0.98
# A number of positives that cannot vary has this precision, 1 over its variance.
_FIXED = 1e12


class _Local(NamedTuple):
    """T, its gradient, that of the objective, and the precision, each at a path."""

    total: Floats
    rise: Floats
    gradient: Floats
    diagonal: Floats
    beside: Floats


def most_likely(lanes: Lanes, total: Floats) -> Path:
    """Return the path on which T has a value, and the slope that leads there.

    Where Newton's method fails, it is the path of random ranking, with a slope of 0.

    Parameters
    ----------
    lanes : Lanes
        Of two steps at least.
    total : ndarray of float, shape (n_lanes,)
        Values of T.
    """
    hits = _even(lanes)
    with np.errstate(all="ignore"):
        even = _described(lanes, hits, np.zeros(total.size))
        begin = _about(lanes, hits, even.slope).total
        # Rankings with very large T have their hits at the top, far from the even path, so that
        # Newton's method begins there.
        far = total - begin > _FAR * even.deviation
        hits = np.where(far[:, None], _gathered(lanes, total), hits)
        climbed = _climbed(lanes, hits, far.astype(np.float64), total)
        low = is_sunken(lanes, total, begin)
        if low.any():
            climbed = chosen_paths(low, sunken(lanes, total), climbed)
    lost = np.zeros(total.size, np.bool_)
    for column in climbed:
        lost |= ~np.isfinite(column.reshape(total.size, -1)).all(axis=1)
    return chosen_paths(lost, even, climbed)


def leaning(lanes: Lanes, slope: Floats) -> tuple[Path, Floats]:
    """Return the most likely paths for slopes > 0, and T on them.

    The search begins at even hits, and with all at the top, and the more likely path is returned.
    """
    begins = _even(lanes), _gathered(lanes, lanes.n_pos)
    with np.errstate(all="ignore"):
        first, second = (_climbed(lanes, hits, slope, None) for hits in begins)
        likely = [_likelihood(lanes, path) for path in (first, second)]
    path = chosen_paths(likely[0] >= likely[1], first, second)
    lost = ~np.isfinite(np.maximum(*likely)) | ~np.isfinite(path.scatter).all(axis=1)
    path = chosen_paths(lost, at_random(lanes), path)._replace(slope=slope)
    return path, _about(lanes, path.hits, slope).total


def _likelihood(lanes: Lanes, path: Path) -> Floats:
    """Return the logarithm of how likely a path is, one per lane, up to a constant.

    It is the entropy plus slope times T on the path: the logarithm of the number of rankings along
    the path, each weighted by exp(slope T). Where the path is not finite, it is -inf.
    """
    value = entropy(lanes, path) + path.slope * _about(lanes, path.hits, path.slope).total
    return np.where(np.isfinite(value), value, -np.inf)


def entropy(lanes: Lanes, path: Path) -> Floats:
    """Return the entropy of the positives within the steps of a path, one per lane."""
    m = np.where(lanes.size > 0, lanes.size, 1.0)
    share = np.clip(np.diff(path.hits, axis=1) / m, _EDGE, 1 - _EDGE)
    return row_sums(lanes.size * (-share * np.log(share) - (1 - share) * np.log1p(-share)))


def at_random(lanes: Lanes) -> Path:
    """Return the path of random ranking, with a slope of 0."""
    return _described(lanes, _even(lanes), np.zeros(lanes.n.size))


def coupling(lanes: Lanes, path: Path) -> tuple[Floats, Floats]:
    """Return how the hits above a step scatter, and rise, with those at its end, under the tilt.

    Both are ndarrays of float of shape (n_lanes, n_steps - 1), for each step but the first.
    """
    with np.errstate(all="ignore"):
        local = _about(lanes, path.hits, path.slope)
        pivots = _forward(local)
        scatter = 1 / np.sqrt(np.abs(pivots))
        rise = -local.beside / pivots[:, :-1]
    rise = np.where(np.isfinite(rise), np.clip(rise, 0.0, 1.0), 1.0)
    return np.where(np.isfinite(scatter), scatter, 0.0), np.pad(rise, ((0, 0), (0, 1)))


def resampled(path: Path, lanes: Lanes, other: Lanes) -> Path:
    """Return paths at the ends of other steps through the same items."""
    hits = np.zeros((other.n.size, other.end.shape[1] + 1))
    scatter = np.zeros((other.n.size, other.end.shape[1] - 1))
    for lane in range(other.n.size):
        ends = lanes.end[lane]
        hits[lane, 1:] = np.interp(other.end[lane], [0, *ends], path.hits[lane])
        at = other.end[lane, :-1]
        # Towards the last rank variances fall evenly, not deviations.
        scatter[lane] = np.sqrt(np.interp(at, ends, [*path.scatter[lane] ** 2, 0.0]))
    return Path(hits, path.slope, path.deviation, scatter)


def log_waves(lanes: Lanes, path: Path, frequencies: Floats) -> Floats:
    """Return roughly the logarithm of the absolute value of T's tilted characteristic function.

    It is ``|sum over steps of v exp(i w d)| - sum of v``, where v is the variance of the whole
    number of positives in a step, and one more of them raises T by d. Where all d that matter are
    multiples of one number the function comes back to 1: T takes few values, or clusters.

    Parameters
    ----------
    frequencies : ndarray of float, shape (n_lanes, n_frequencies)
    """
    size = np.where(lanes.size > 0, lanes.size, 1.0)
    j = np.clip(np.diff(path.hits, axis=1), 0.0, lanes.size)
    own = (path.hits[:, :-1] + 1) * lanes.single + (2 * j - 1) * lanes.pair
    below = j * lanes.single
    later = np.cumsum(below[:, ::-1], axis=1)[:, ::-1] - below
    variance = j * (1 - j / size)
    total = np.zeros(frequencies.shape)
    for lane, rise in enumerate(own + later):
        phase = np.outer(frequencies[lane], rise)
        real, imaginary = (row_sums(wave(phase) * variance[lane]) for wave in (np.cos, np.sin))
        total[lane] = np.hypot(real, imaginary)
    return np.asarray(total - row_sums(variance)[:, None])


def chosen_paths(is_first: NDArray[np.bool_], path: Path, other: Path) -> Path:
    """Return the first path for the lanes that are chosen, and the second for the others."""
    columns = (
        np.where(is_first.reshape(-1, *[1] * (first.ndim - 1)), first, second)
        for first, second in zip(path, other, strict=True)
    )
    return Path(*columns)


def _even(lanes: Lanes) -> Floats:
    """Return the hits to be expected of random ranking."""
    return np.pad((lanes.n_pos / lanes.n)[:, None] * lanes.end, ((0, 0), (1, 0)))


def _gathered(lanes: Lanes, total: Floats) -> Floats:
    """Return hits of which as many are at the top as T needs, and the others evenly spread."""
    n, n_pos = lanes.n[:, None], lanes.n_pos[:, None]
    share = (total[:, None] - n_pos * n_pos / n) / (n - n_pos) * n / n_pos
    end = np.pad(lanes.end, ((0, 0), (1, 0)))
    top = _FULL * np.minimum(end, np.clip(share, 0.0, _FULL) * n_pos)
    rest = (n_pos - top[:, -1:]) / (n - top[:, -1:])
    return np.asarray(top + rest * (end - top))


def _climbed(lanes: Lanes, hits: Floats, slope: Floats, total: Floats | None) -> Path:
    """Improve a path by Newton's method; without a value of T the slope stays as it is.

    A lane that has arrived stays where it is, whatever the others do.
    """
    moves = np.ones(slope.size)
    for _ in range(_MOST_TURNS):
        local = _about(lanes, hits, slope)
        solved = _solved(local, np.stack([local.gradient, local.rise]))
        curvature = row_sums(local.rise * solved[1])
        change = np.zeros(slope.size)
        if total is not None:
            lack = total - local.total - row_sums(local.rise * solved[0])
            change = lack / curvature
        move = solved[0] + change[:, None] * solved[1]
        share = moves * _possible_share(lanes, hits, move)
        hits[:, 1:-1] += share[:, None] * move
        slope = slope + share * change
        reach = np.abs(move).max(axis=1) / (1 + np.sqrt(np.abs(hits).max(axis=1)))
        moves[(share == 1) & (reach < _CLOSE_ENOUGH)] = 0.0
        if not moves.any():
            break
    return _described(lanes, hits, slope)


def _described(lanes: Lanes, hits: Floats, slope: Floats) -> Path:
    """Return a path with how hits and T scatter about it."""
    local = _about(lanes, hits, slope)
    curvature = row_sums(local.rise * _solved(local, local.rise[None])[0])
    # Each of the two eliminations knows one side of a step only.
    precision = np.abs(_forward(local) + _backward(local) - local.diagonal)
    return Path(hits, slope, np.sqrt(np.abs(curvature)), 1 / np.sqrt(precision))


def _about(lanes: Lanes, hits: Floats, slope: Floats) -> _Local:
    """Return the objective's derivatives at a path."""
    m, single, pair = lanes.size, lanes.single, lanes.pair
    has_items = m > 0
    size = np.where(has_items, m, 1.0)
    above = hits[:, :-1]
    free = _is_free(lanes, hits)
    j = np.clip(np.diff(hits, axis=1), _EDGE * size, (1 - _EDGE) * size)
    first = np.where(has_items, np.log((size - j) / j), 0.0)
    second = np.where(free, 1 / j + 1 / (size - j), _FIXED)
    by_own, by_above = (above + 1) * single + (2 * j - 1) * pair, j * single
    total = row_sums(j * (above + 1) * single + j * (j - 1) * pair)
    rise = by_own[:, :-1] + by_above[:, 1:] - by_own[:, 1:]
    s = slope[:, None]
    # Hits behind the last step cannot vary, so that longer lanes change no digit of a lane.
    last = ~has_items[:, 1:]
    diagonal = second[:, :-1] + second[:, 1:]
    diagonal = diagonal - 2 * s * (pair[:, :-1] + pair[:, 1:] - single[:, 1:])
    diagonal = np.where(last, _FIXED, diagonal)
    beside = -second[:, 1:-1] - s * (single - 2 * pair)[:, 1:-1]
    beside = np.where(last[:, 1:], 0.0, beside)
    rise = np.where(last, 0.0, rise)
    gradient = np.where(last, 0.0, first[:, :-1] - first[:, 1:] + s * rise)
    return _Local(total, rise, gradient, diagonal, beside)


def _is_free(lanes: Lanes, hits: Floats) -> NDArray[np.bool_]:
    """Whether the positives of a step can vary, as it is neither full of them nor empty."""
    j = np.diff(hits, axis=1)
    edge = 2 * _EDGE * lanes.size
    return np.asarray((j > edge) & (lanes.size - j > edge))


def _forward(local: _Local) -> Floats:
    """Return the pivots of the elimination from the first step on."""
    pivots = local.diagonal.copy()
    square = local.beside**2
    for k in range(1, pivots.shape[1]):
        pivots[:, k] -= square[:, k - 1] / pivots[:, k - 1]
    return pivots


def _backward(local: _Local) -> Floats:
    """Return the pivots of the elimination from the last step on."""
    turned = local._replace(diagonal=local.diagonal[:, ::-1], beside=local.beside[:, ::-1])
    return _forward(turned)[:, ::-1]


def _solved(local: _Local, right: Floats) -> Floats:
    """Solve for right sides of shape (n_sides, n_lanes, n_steps - 1)."""
    pivots = _forward(local)
    ratio = local.beside / pivots[:, :-1]
    solution = right.copy()
    for k in range(1, solution.shape[2]):
        solution[:, :, k] -= ratio[:, k - 1] * solution[:, :, k - 1]
    solution[:, :, -1] /= pivots[:, -1]
    for k in range(solution.shape[2] - 2, -1, -1):
        solution[:, :, k] = solution[:, :, k] / pivots[:, k] - ratio[:, k] * solution[:, :, k + 1]
    return solution


def _possible_share(lanes: Lanes, hits: Floats, move: Floats) -> Floats:
    """Return the share of a move that leaves every step with a possible number of positives."""
    j = np.diff(hits, axis=1)
    change = np.diff(np.pad(move, ((0, 0), (1, 1))), axis=1)
    room = np.where(change < 0, j, lanes.size - j)
    moves = _is_free(lanes, hits) & (change != 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(moves, room / np.abs(change), np.inf)
    return np.asarray(np.clip(_WAY * share.min(axis=1), 0.0, 1.0))
