"""The paths of rare positives that crowd at the end of the ranking, in closed form.

Newton's method does not find them, as hardly any positive is in most of the steps. Let v = 1/R be
the places of the positives. Weighted by exp(slope T), what lies between the i-th positive and the
next has the rate ``|slope| i (i + 1)/2 + i/v``, as T is linear in v, and ranks are R^2 times as
dense. So the hits above rank R are about ``R / (n/n_pos + |slope|/2 log(n/R))``, which is the even
path if the slope is 0.
"""

import numpy as np
from numpy.typing import NDArray

from prframe.stats._arrays import row_sums
from prframe.stats.null.average_precision.approximations import ap_minimum
from prframe.stats.null.average_precision.generating_function.lanes import Lanes, Path
from prframe.typing import Floats

# Values of T are low if they are less than this share of the way from the least to that of the
# even path. Positives are rare if they are at most the second share of the items.
_LOW, _RARE = 0.5, 0.05
# A slope is sought between this times items per positive, and this times positives per excess of T
# over the least, in so many turns.
_FLAT, _STEEP = 2e-3, 20.0
_TURNS = 24
# Slopes this many times as steep as that hardly lower T any more.
_STEEPER = 50.0
_TINY = 1e-300


def are_rare(lanes: Lanes) -> NDArray[np.bool_]:
    """Whether positives are so rare that these paths are close."""
    return np.asarray(lanes.n_pos <= _RARE * lanes.n)


def is_sunken(lanes: Lanes, total: Floats, even: Floats) -> NDArray[np.bool_]:
    """Whether positives are rare and values of T low, given T on the even path."""
    least = _least(lanes)
    return are_rare(lanes) & (total > least) & (total - least < _LOW * (even - least))


def sunken(lanes: Lanes, total: Floats) -> Path:
    """Return the paths on which T has values that are low."""
    flat, least = lanes.n / lanes.n_pos * _FLAT, _least(lanes)
    excess = np.where(_are_whole(lanes), total - least, total)
    steep = np.maximum(_STEEP * lanes.n_pos / excess, flat)
    # T on the steepest path is not quite the least, as paths go through fractions of positives.
    lowest = np.where(_are_whole(lanes), total_at(lanes, -_STEEPER * steep), 0.0)
    for _ in range(_TURNS):
        middle = np.sqrt(flat * steep)
        is_flat = total_at(lanes, -middle) - lowest > excess
        flat, steep = np.where(is_flat, middle, flat), np.where(is_flat, steep, middle)
    return sunken_at(lanes, -np.sqrt(flat * steep))


def total_at(lanes: Lanes, slope: Floats) -> Floats:
    """Return T on the paths under negative slopes."""
    hits = _crowded(lanes, slope)
    j = np.diff(hits, axis=1)
    return row_sums(j * (hits[:, :-1] + 1) * lanes.single + j * (j - 1) * lanes.pair)


def sunken_at(lanes: Lanes, slope: Floats) -> Path:
    """Return the paths under negative slopes."""
    hits = _crowded(lanes, slope)
    # The i-th gap has a standard deviation of its mean, and the i-th place the sum of theirs.
    inside = hits[:, 1:-1]
    scatter = np.sqrt(inside * (1 - inside / lanes.n_pos[:, None]) / 3)
    # The excess over the least T is nearly gamma distributed, with n_pos degrees of freedom.
    return Path(hits, slope, np.sqrt(lanes.n_pos) / np.maximum(-slope, _TINY), scatter)


def _are_whole(lanes: Lanes) -> NDArray[np.bool_]:
    """Whether all items are retrieved, so that each of them adds to T."""
    return np.asarray(((lanes.single > 0) | (lanes.size == 0)).all(axis=1))


def _least(lanes: Lanes) -> Floats:
    """Return the least T of rankings without ties, which have all positives at the end."""
    return lanes.n_pos * ap_minimum(lanes.n, lanes.n_pos)


def _crowded(lanes: Lanes, slope: Floats) -> Floats:
    """Return the hits at the beginning and at the end of each step."""
    n, n_pos = lanes.n[:, None], lanes.n_pos[:, None]
    end = np.pad(lanes.end, ((0, 0), (1, 0)))
    hits = n_pos * end / n
    for _ in range(2):
        # Positives stand above those that are further down already.
        lift = np.log(np.maximum((n - n_pos + hits) / np.maximum(end, 1), 1.0))
        hits = end / (n / n_pos - slope[:, None] / 2 * lift)
    return np.clip(hits, n_pos - (n - end), np.minimum(n_pos, end))
