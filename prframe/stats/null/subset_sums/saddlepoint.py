"""The distribution of the sum of numbers drawn without replacement, where it is not counted.

Drawing n numbers is drawing each independently, given that n are drawn. For
``K(s, t) = sum_i log(1 - p + p exp(s a_i + t))`` with p = n / N, and s, t such that K has the
derivatives x and n there,

    r = sgn(s) sqrt(2 (s x + t n - K(s, t))),    u = s sqrt(det K''(s, t) / (n (1 - p))),
    P(S >= x) = 1 - Phi(r) + phi(r) (1/u - 1/r),

with an error that is relative (Skovgaard 1987; for permutation tests Robinson 1982, Booth & Butler
1990). On a lattice of unit d, x is d/2 less, and in u ``2 sinh(d s/2) / d`` takes the place of s.
Where the tilted sum is far from normal, its characteristic function is inverted. In lists that are
cut off, sums clump by the number of draws from the large last block: there tails are added up,
given each number.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import erfcx, expit, gammaln

from prframe.stats.null.average_precision.steps import log_binomial
from prframe.stats.null.subset_sums.counting import (
    PAIR,
    ROUNDING,
    FewDrawn,
    Tails,
    Urn,
    ends,
    outside,
)
from prframe.stats.null.tilted import Complexes, complement, inverted
from prframe.typing import Floats

# Newton's method takes at most this many steps, to slopes this small. Each must lower the height
# by this share of the fall that the slope predicts (Armijo), and takes the curvature to be no less
# than about the last share of that at the mean.
_STEPS, _TOLERANCE, _ENOUGH, _FLAT = 60, 1e-10, 1e-4, 1e-12
# The hyperbolic sine of this is still a float.
_MOST = 700.0
# Closer to the mean than this many standard deviations both terms of the correction cancel.
_CLOSE = 0.05
# Sums of positive numbers that are 0 but for rounding are replaced by this.
_LEAST = 1e-150
# The saddlepoint is taken if the next term of the expansion is no larger than this, roughly.
_DOUBT = 0.04
# Sums clump if their characteristic function comes back between these frequencies, in units of one
# over the tilted standard deviation, where it then may change the tail by the share. Lobes are
# wider than the step. This many numbers of all sizes tell.
_LOBE, _FARTHEST, _STEP, _CLUMPED, _LOOKED_AT = 4.5, 200.0, 1.5, 2e-3, 96
# An inversion is tilted by at least this many standard deviations; its period has this many. The
# number that is drawn is within so many of its own; frequencies for it go all the way round if
# they are no more than the next number. Sums of smooth distributions end after so many units of
# one over the tilted standard deviation. What takes more factors than the last is not tried.
_TILTED, _PERIOD, _REPEATED, _WIDE, _ROUND = 0.3, 24.0, -23.0, 8.0, 128
_GONE, _FACTORS = 6.5, 1 << 19
# A number of draws from the block counts if the logarithm of its chance is at most this far below
# that of the tail. Estimates may make up this share of a tail that is no estimate.
_UNLIKELY, _ROUGH = 12.0, 0.1
# An estimate whose logarithm is farther from that of the saddlepoint is not believed.
_FAR = 1.0


class _Tilted(NamedTuple):
    """The tilt at a value: s, the height ``K - s x - t n``, and the moments under the tilt."""

    s: float
    height: float
    share: Floats
    # The variance of the number of numbers that are drawn, and mean and variance of the sum given
    # it; the second derivatives of K have the determinant weight * scatter.
    weight: float
    centre: float
    scatter: float


def approximate_tails(urn: Urn, x: float) -> tuple[Tails, str]:
    """Return tails of a value within the support by saddlepoint or inversion, and which."""
    tails, method = _of_all_draws(urn, x)
    is_cut = method == "estimate" and 2 * int(urn.sizes.max()) > urn.size
    return _given_last(urn, x, min(tails) - _UNLIKELY) if is_cut else (tails, method)


def _given_last(urn: Urn, x: float, least: float) -> tuple[Tails, str]:
    """Add up tails given the numbers of draws from the largest block with log chance > `least`."""
    last = int(urn.sizes.argmax())
    values, sizes = np.delete(urn.values, last), np.delete(urn.sizes, last)
    block, others = float(urn.sizes[last]), float(sizes.sum())
    number = np.arange(max(0.0, urn.n - block), min(others, urn.n) + 1)
    chance = log_binomial(others, number) + log_binomial(block, urn.n - number)
    chance -= log_binomial(urn.size, urn.n)
    found, is_rough = [], []
    for k, log_chance in zip(number.tolist(), chance.tolist(), strict=True):
        if log_chance > least:
            rest = Urn(values, sizes, int(k), max(urn.n, urn.added))
            y = x - (urn.n - k) * float(urn.values[last])
            tails, method = outside(rest, y), "exact"
            if tails is None and k <= PAIR:
                tails = FewDrawn(rest).tails(y)
            elif tails is None:
                tails, method = _of_all_draws(rest, y)
            found.append([log_chance + tail for tail in tails])
            is_rough.append(method == "estimate")
    logs = np.array(found)
    total, rough = (np.logaddexp.reduce(each, axis=0) for each in (logs, logs[is_rough]))
    is_sure = bool((rough - total <= np.log(_ROUGH)).all())
    return Tails(*np.minimum(total, 0.0).tolist()), "saddlepoint" if is_sure else "estimate"


def _of_all_draws(urn: Urn, x: float) -> tuple[Tails, str]:
    """Return tails of a value within the support, as if sums did not clump by a block."""
    above, below, unit = x, x, 0.0
    if urn.lattice is not None:
        unit, least = urn.lattice.unit, urn.n * urn.lattice.least
        place = (x - least) / unit
        above = least + unit * (np.ceil(place - ROUNDING) - 0.5)
        below = least + unit * (np.floor(place + ROUNDING) + 0.5)
    upper, method = _smooth(urn, above, unit)
    lower = upper if above == below else _smooth(urn, below, unit)[0]
    # The tails of values within the support are no rarer than its ends.
    least, most = ends(urn)
    return Tails(max(upper.above, most), max(lower.below, least)), method


def _smooth(urn: Urn, x: float, unit: float) -> tuple[Tails, str]:
    """Return both tails of a value that the sum does not take, and how they were computed."""
    tilted = _solved(urn, x)
    r, term = _root(urn, tilted, unit)
    if abs(x - urn.mean) < _CLOSE * urn.variance**0.5:
        close = urn.mean + _CLOSE * urn.variance**0.5 * np.array([-1.0, 1.0])
        terms = [_root(urn, _solved(urn, each), unit)[1] for each in close.tolist()]
        term = float(np.interp(x, close, terms))
    near, method = _tail(abs(r), term if r >= 0 else -term), "saddlepoint"
    back = _come_back(urn, tilted, unit)
    if back or _doubt(urn, tilted) > _DOUBT:
        log_tail, is_good = _inverted(urn, x, unit, back)
        method = "inversion" if is_good else "estimate"
        near = log_tail if is_good or abs(log_tail - near) <= _FAR else near
    sides = (near, complement(near))
    return Tails(*(sides if r >= 0 else sides[::-1])), method


def _root(urn: Urn, tilted: _Tilted, unit: float) -> tuple[float, float]:
    """Return r, and the correction 1/u - 1/r, which is 0 where the curvature vanishes."""
    r = float(np.sign(tilted.s) * np.sqrt(max(-2 * tilted.height, 0.0)))
    s = np.clip(unit * tilted.s / 2, -_MOST, _MOST)
    s = 2 * np.sinh(s) / unit if unit else tilted.s
    spread = urn.n * (1 - urn.n / urn.size)
    with np.errstate(divide="ignore", invalid="ignore"):
        u = s * np.sqrt(tilted.weight * tilted.scatter / spread)
        term = 1 / u - 1 / np.float64(r)
    return r, float(term) if np.isfinite(term) else 0.0


def _tail(r: float, term: float) -> float:
    """Return log [1 - Phi(r) + phi(r) term], for r >= 0."""
    inner = (np.pi / 2) ** 0.5 * float(erfcx(r / 2**0.5)) + term
    log_inner = np.log(inner) if inner > 0 else -np.inf
    return float(min(-(r**2) / 2 - np.log(2 * np.pi) / 2 + log_inner, 0.0))


def _doubt(urn: Urn, tilted: _Tilted) -> float:
    """Return about how large the next term is, from skewness and kurtosis of the tilted sum."""
    spread = tilted.share * (1 - tilted.share)
    away = (urn.values - tilted.centre) / max(tilted.scatter, _LEAST) ** 0.5
    third = float((urn.sizes * spread * (1 - 2 * tilted.share)) @ away**3)
    fourth = float((urn.sizes * spread * (1 - 6 * spread)) @ away**4)
    return abs(fourth / 8 - 5 * third**2 / 24) + third**2 / 24


def _solved(urn: Urn, x: float) -> _Tilted:
    """Find the tilt at a value, where a convex function is least, by Newton's method."""
    scale = (urn.variance / urn.n) ** 0.5
    values, sizes = (urn.values - urn.centre) / scale, urn.sizes.astype(np.float64)
    goal, logit = np.array([(x - urn.mean) / scale, urn.n]), np.log(urn.n / (urn.size - urn.n))
    rest = urn.size * np.log(urn.size / (urn.size - urn.n))
    # Rounding grows with the size of the sums.
    tolerance = _TOLERANCE * urn.n**0.5

    def at(theta: Floats) -> tuple[_Tilted, Floats]:
        """Return the state at (s, t), and the slope."""
        shift = theta[0] * values + theta[1] + logit
        share = expit(shift)
        height = float(np.logaddexp(0.0, shift) @ sizes - rest - theta @ goal)
        drawn, spread = share * sizes, share * (1 - share) * sizes
        # Where all or nothing is drawn of each block, weights are 0 but for rounding.
        weight = float(spread.sum())
        centre = float(spread @ values) / max(weight, _LEAST)
        scatter = float(spread @ (values - centre) ** 2)
        slope = np.array([drawn @ values, drawn.sum()]) - goal
        return _Tilted(float(theta[0]), height, share, weight, centre, scatter), slope

    theta = np.zeros(2)
    state, slope = at(theta)
    for _ in range(_STEPS):
        if (np.abs(slope) <= tolerance).all():
            break
        by_s = (slope[0] - state.centre * slope[1]) / max(state.scatter, _FLAT * urn.n)
        by_t = state.centre * by_s - slope[1] / max(state.weight, _FLAT * urn.n)
        step, length = np.array([-by_s, by_t]), 1.0
        moved, moved_slope = at(theta + step)
        drop = float(slope @ step)
        while moved.height > state.height + _ENOUGH * length * drop + tolerance and length > _FLAT:
            length /= 2
            moved, moved_slope = at(theta + length * step)
        # Heights lose digits in long sums, so that a fall of the slopes counts as well.
        if moved.height >= state.height and np.abs(moved_slope).max() >= np.abs(slope).max():
            break
        theta, state, slope = theta + length * step, moved, moved_slope
    centre, scatter = urn.centre + state.centre * scale, state.scatter * scale**2
    return state._replace(s=state.s / scale, centre=centre, scatter=scatter)


def _come_back(urn: Urn, tilted: _Tilted, unit: float) -> float:
    """Return the last frequency at which the characteristic function may be large, 0 if none."""
    # It is about exp(R - V), V and R being the sums of all draws' variances, plain and turned.
    # Multiples of the golden ratio are spread out, and have no period.
    few = np.arange(_LOOKED_AT) * ((5**0.5 - 1) / 2) % 1
    some = np.unique((few * urn.values.size).astype(np.int64))
    some = some if urn.values.size > _LOOKED_AT else np.arange(urn.values.size)
    spread = (urn.sizes * tilted.share * (1 - tilted.share))[some]
    spread *= tilted.weight / max(float(spread.sum()), _LEAST)
    deviation = max(tilted.scatter, _LEAST) ** 0.5
    last = min(_FARTHEST, np.pi / unit * deviation) if unit else _FARTHEST
    frequency = np.arange(_LOBE, last, _STEP)
    turned = np.exp(1j / deviation * np.outer(frequency, urn.values[some] - tilted.centre))
    size = np.exp(np.abs(turned @ spread) - tilted.weight) / frequency
    large = frequency[size * max(abs(tilted.s) * deviation, 1.0) > _CLUMPED]
    return float(large.max(initial=0.0) / deviation)


def _inverted(urn: Urn, x: float, unit: float, back: float) -> tuple[float, bool]:
    """Return the logarithm of the tail on the side of a value, and whether it is good."""
    side = 1 if x >= urn.mean else -1
    at = side * max(side * x, side * urn.mean + _TILTED * urn.variance**0.5)
    tilted = _solved(urn, at)
    # Numbers are counted from where most of those lie that may be drawn or not.
    order = np.cumsum(urn.sizes * tilted.share * (1 - tilted.share))
    middle = float(urn.values[np.searchsorted(order, order[-1] / 2)])
    turns = max(16, int(np.ceil(2 * _WIDE * tilted.weight**0.5)))
    angle = 2 * np.pi / turns * np.arange(-(turns // 2), turns - turns // 2)
    if turns > _ROUND:
        angle = angle[np.abs(angle) * tilted.weight**0.5 <= _WIDE]
    many = urn.sizes > 1

    def given(frequency: Floats) -> Complexes:
        """Return the characteristic function of the sum, times the chance that n are drawn."""
        turned = tilted.share * np.exp(1j * np.outer(frequency, urn.values - middle))
        total = np.zeros(frequency.size, np.complex128)
        for each in angle.tolist():
            factor = 1 - tilted.share + turned * np.exp(1j * each)
            factor[:, many] **= urn.sizes[many]
            total += np.exp(-1j * each * urn.n) * factor.prod(axis=1)
        return total / turns

    chance = max(float(given(np.zeros(1)).real[0]), _LEAST)
    log_ways = float(gammaln(urn.size + 1) - gammaln(urn.n + 1) - gammaln(urn.size - urn.n + 1))
    log_fair = urn.n * np.log(urn.n / urn.size) + (urn.size - urn.n) * np.log1p(-urn.n / urn.size)
    origin = urn.n * middle
    log_mgf = tilted.height + tilted.s * (at - origin) + np.log(chance) - log_ways - log_fair
    period = _PERIOD * tilted.scatter**0.5 + 2 * float(urn.values[-1] - urn.values[0])
    rough = tilted.height + tilted.s * (at - x)
    period = max(period, (_REPEATED + rough) / -abs(tilted.s))
    period = unit * np.ceil(period / unit) if unit else period
    needed = int((back + _GONE / tilted.scatter**0.5) * period / (2 * np.pi))
    if angle.size * urn.values.size * needed > _FACTORS:
        return -np.inf, False
    most, close = max(64, needed if back else 2 * needed), 0.0 if back else 1e-6
    tilt, values, spacing = (tilted.s, log_mgf), np.array([x - origin]), 2 * np.pi / period
    found = inverted(
        lambda w: given(w) / chance, *tilt, values, spacing, span=unit, close=close, most=most
    )
    is_far = back * tilted.scatter**0.5 > 0.9 * _FARTHEST
    is_good = bool(found.converged[0]) or (most >= needed > 0 and not is_far)
    return float(np.nan_to_num(found.log_tail[0], nan=-np.inf)), is_good
