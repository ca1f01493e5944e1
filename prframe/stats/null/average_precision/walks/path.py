"""The most likely way down the ranks, if large values of T = n_pos AP are favoured.

Among all rankings, each weighted by exp(slope T), the numbers of hits at the ends of the steps
scatter about the path that maximises

    sum over steps of  log C(m, j) + slope E[growth of T | hits above, j],

where m ranks hold j positives, and log C(m, j) is approximated by
``m log m - j log j - (m - j) log(m - j)``. Newton's method solves tridiagonal systems, whose
pivots tell how far the hits scatter. The path says about which numbers of hits to walk.
"""

from typing import NamedTuple

import numpy as np

from prframe.stats.null.average_precision.steps import smooth_log_binomial
from prframe.stats.null.average_precision.walks.rows import Lanes, Path
from prframe.typing import Flags, Floats

# A move of Newton's method goes at most this share of the way to impossible hits. The positives of
# a step stay above the second share of its ranks, and as far below all of them.
_WAY, _EDGE = 0.9, 1e-9
# The most turns of Newton's method, which ends where no hits moved by more than this, relative to
# 1 plus the root of the most hits.
_MOST_TURNS, _CLOSE_ENOUGH = 40, 1e-3
# Values more than this many standard deviations above the mean begin with hits gathered at the
# top, which take the second share of the top ranks.
_FAR, _FULL = 8.0, 0.98
# A number of positives that cannot vary has this precision, 1 over its variance.
_FIXED = 1e12
# T clusters if its characteristic function, at one of these frequencies in units of 1 over the
# tilted standard deviation, is above this number times the frequency, over 1 plus slope times
# deviation.
PROBED, BACK = np.arange(8.0, 200.0, 0.5), 0.004


class _Local(NamedTuple):
    """T, its gradient, that of the objective, and the precision, each at a path."""

    total: Floats
    rise: Floats
    gradient: Floats
    diagonal: Floats
    beside: Floats


def most_likely(lanes: Lanes, total: Floats) -> Path:
    """Return the path on which T has a value, and its slope; the even path where none is found."""
    hits = _even(lanes)
    with np.errstate(all="ignore"):
        even = _described(lanes, hits, np.zeros(total.size))
        far = total - _about(lanes, hits, even.slope).total > _FAR * even.deviation
        hits = np.where(far[:, None], _gathered(lanes, total), hits)
        climbed = _climbed(lanes, hits, far.astype(np.float64), total)
    lost = np.zeros(total.size, np.bool_)
    for column in climbed:
        lost |= ~np.isfinite(column.reshape(total.size, -1)).all(axis=1)
    return chosen_paths(lost, even, climbed)


def leaning(lanes: Lanes, slope: "Floats | float", near: Path) -> Path:
    """Return the most likely paths under slopes; those of random ranking where none is found."""
    slope = np.full(lanes.n.size, slope)
    with np.errstate(all="ignore"):
        climbed = _climbed(lanes, near.hits.copy(), slope, None)
    found = np.isfinite(climbed.scatter).all(axis=1) & np.isfinite(climbed.hits).all(axis=1)
    return chosen_paths(np.asarray(~found), at_random(lanes)._replace(slope=slope), climbed)


def at_random(lanes: Lanes) -> Path:
    """Return the path of random ranking, with a slope of 0."""
    return _described(lanes, _even(lanes), np.zeros(lanes.n.size))


def total_on(lanes: Lanes, path: Path) -> Floats:
    """Return T on paths."""
    return _about(lanes, path.hits, path.slope).total


def log_chance(lanes: Lanes, path: Path) -> Floats:
    """Return log of roughly the chance of the hits of paths, over that of the even path."""
    hits = np.array([path.hits, _even(lanes)])
    j = np.clip(np.diff(hits, axis=2), 0.0, lanes.size)
    ways = smooth_log_binomial(lanes.size, j).sum(axis=2)
    return np.asarray(ways[0] - ways[1])


def coupling(lanes: Lanes, path: Path) -> tuple[Floats, Floats]:
    """Return how hits above each step but the first scatter, and rise with those at its end."""
    with np.errstate(all="ignore"):
        local = _about(lanes, path.hits, path.slope)
        pivots = _forward(local)
        scatter = 1 / np.sqrt(np.abs(pivots))
        rise = -local.beside / pivots[:, :-1]
    rise = np.where(np.isfinite(rise), np.clip(rise, 0.0, 1.0), 1.0)
    return np.where(np.isfinite(scatter), scatter, 0.0), np.pad(rise, ((0, 0), (0, 1)))


def are_clustered(lanes: Lanes, path: Path) -> Flags:
    """Whether T takes few values, or clusters: its characteristic function comes back."""
    waves = np.exp(log_waves(lanes, path, PROBED / path.deviation[:, None]))
    return np.asarray((waves > returning(path.slope * path.deviation)).any(axis=1))


def returning(steepness: Floats) -> Floats:
    """Return the sizes at the probed frequencies above which T clusters, by slope * deviation."""
    return np.asarray(BACK * PROBED / (1 + np.abs(steepness)[..., None]))


def log_waves(lanes: Lanes, path: Path, frequency: Floats) -> Floats:
    """Return roughly log of the sizes of T's tilted characteristic function, a row per lane."""
    # They are |sum over steps of v exp(i w d)| - sum of v, where v is the variance of the number
    # of positives in a step, and one more of them raises T by d.
    size = np.where(lanes.size > 0, lanes.size, 1.0)
    j = np.clip(np.diff(path.hits, axis=1), 0.0, lanes.size)
    own = (path.hits[:, :-1] + 1) * lanes.single + (2 * j - 1) * lanes.pair
    below = j * lanes.single
    rise = own + np.cumsum(below[:, ::-1], axis=1)[:, ::-1] - below
    variance = j * (1 - j / size)
    waves = np.zeros(frequency.shape)
    for lane, weights in enumerate(variance):
        phase = np.outer(frequency[lane], rise[lane])
        waves[lane] = np.hypot(np.cos(phase) @ weights, np.sin(phase) @ weights) - weights.sum()
    return waves


def chosen_paths(is_first: Flags, path: Path, other: Path) -> Path:
    """Return the first path for the lanes that are chosen, and the second for the others."""
    shapes = ((-1, *[1] * (column.ndim - 1)) for column in path)
    return Path(*map(np.where, map(is_first.reshape, shapes), path, other))


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
    """Improve a path by Newton's method; without a value of T the slope stays as it is."""
    moves = np.ones(slope.size)
    for _ in range(_MOST_TURNS):
        local = _about(lanes, hits, slope)
        solved = _solved(local, np.stack([local.gradient, local.rise]))
        change = np.zeros(slope.size)
        if total is not None:
            lack = total - local.total - (local.rise * solved[0]).sum(axis=1)
            change = lack / (local.rise * solved[1]).sum(axis=1)
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
    curvature = (local.rise * _solved(local, local.rise[None])[0]).sum(axis=1)
    # Each of the two eliminations knows one side of a step only.
    turned = local._replace(diagonal=local.diagonal[:, ::-1], beside=local.beside[:, ::-1])
    precision = np.abs(_forward(local) + _forward(turned)[:, ::-1] - local.diagonal)
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
    total = (j * (above + 1) * single + j * (j - 1) * pair).sum(axis=1)
    rise = by_own[:, :-1] + by_above[:, 1:] - by_own[:, 1:]
    s = slope[:, None]
    # Hits behind the last step cannot vary, so that longer lanes change no digit of a lane.
    last = ~has_items[:, 1:]
    diagonal = second[:, :-1] + second[:, 1:]
    diagonal = diagonal - 2 * s * (pair[:, :-1] + pair[:, 1:] - single[:, 1:])
    beside = -second[:, 1:-1] - s * (single - 2 * pair)[:, 1:-1]
    return _Local(
        total,
        np.where(last, 0.0, rise),
        np.where(last, 0.0, first[:, :-1] - first[:, 1:] + s * rise),
        np.where(last, _FIXED, diagonal),
        np.where(last[:, 1:], 0.0, beside),
    )


def _is_free(lanes: Lanes, hits: Floats) -> Flags:
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
