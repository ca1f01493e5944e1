"""Tails of sums of many numbers with random signs, by saddlepoints and by inversion.

With ``K(t) = sum_i log cosh(t d_i)``, both take the slope t at which ``K'(t) = sum_i d_i
tanh(t d_i)`` is the sum in question. Sizes are divided by the root of the sum of their squares.
"""

import numpy as np

from prframe.stats._batches import batches
from prframe.stats.null.tilted import Complexes, Inverted, Points, inverted, tails
from prframe.typing import Flags, Floats, Integers

# Newton's method takes few steps, since the sum is nearly normal.
_STEPS, _CLOSE = 50, 1e-11
# A saddlepoint is taken if its second term changes the tail by no more than the first share, and
# no single sum may be more than the other share of it.
_DOUBT, _ATOM = 1e-3, 2e-3
# Sums cluster if the characteristic function of this many of the numbers, of all sizes, comes back
# between these frequencies, where it then changes the tail by the share. Lobes are wider than the
# step.
_LOOKED_AT, _LOBE, _FARTHEST, _CLUSTERED, _STEP = 64, 4.5, 1600.0, 1e-4, 1.5
# This many columns are looked at together.
_ROWS = 32
# The least slope of an inversion; near the mean any will do.
_FLATTEST = 0.3
# The period is this many standard deviations, from which tilted sums are this far with a chance of
# e^-72 (Hoeffding), or so long that the logarithm of what is repeated, relative to the tail, is
# below the second number.
_PERIOD, _REPEATED = 12.0, -23.0
# Frequencies of sums that cluster go up to this one, and the terms of the second half of them may
# add up to this share of the tail. A logarithm farther than that from a rough one is not believed.
_ALL, _LATE, _FAR = 6000.0, 3e-3, 2.0
# This many factors of the characteristic function are multiplied at a time until it is this small.
_PART, _NOTHING = 16, 1e-17


def _slopes(sizes: Floats, total: Floats) -> tuple[Floats, Flags]:
    """Solve K'(t) = total >= 0 by column, and tell where Newton's method converged."""
    slope, converged = total.copy(), np.zeros(total.shape, np.bool_)
    for _ in range(_STEPS):
        tanh = np.tanh(slope * sizes)
        step = total - (sizes * tanh).sum(axis=0)
        step /= (sizes**2 * (1 - tanh**2)).sum(axis=0)
        # K' is concave, so that steps from below overshoot nowhere.
        slope = slope + step
        converged = np.abs(step) <= _CLOSE * slope
        if converged.all():
            break
    return slope, converged


def _log_mgf(sizes: Floats, slope: Floats | float) -> Floats:
    """Return K(t) by column, where cosh may overflow."""
    tilted = sizes * slope
    return np.asarray((tilted + np.log1p(np.exp(-2 * tilted)) - np.log(2)).sum(axis=0))


def saddlepoint_tails(rising: Floats, total: Floats, log_atom: Floats) -> tuple[Floats, Flags]:
    """Return log P(S >= total >= 0), a column of rising sizes each, and which are good."""
    # `log_atom` has the logarithms of the probabilities of the likeliest sums.
    with np.errstate(all="ignore"):
        slope, converged = _slopes(rising, total)
        tanh = np.tanh(slope * rising)
        square = 1 - tanh**2
        second = (rising**2 * square).sum(axis=0)
        third = (-2 * rising**3 * tanh * square).sum(axis=0)
        fourth = (rising**4 * square * (6 * tanh**2 - 2)).sum(axis=0)
        points = Points(slope, _log_mgf(rising, slope), second, third, fourth)
        log_tail, doubt = tails(points, total)
        good = converged & (doubt <= _DOUBT) & (log_atom < log_tail + np.log(_ATOM))
    places = np.flatnonzero(good)
    for some in batches(places.size, 1, _ROWS):
        columns = places[some]
        sizes = _of_all_sizes(rising[:, columns].T)
        good[columns] = ~_come_back(sizes, slope[columns], _LOBE, _FARTHEST)
    return log_tail, good


def _of_all_sizes(rising: Floats) -> Floats:
    """Choose some of the sizes of each row, the largest first, which are of all sizes but 0."""
    number = np.count_nonzero(rising, axis=1)
    place = np.arange(2 * _LOOKED_AT) * np.maximum(1, number // _LOOKED_AT)[:, None]
    within = place < number[:, None]
    chosen = np.take_along_axis(rising, rising.shape[1] - 1 - np.where(within, place, 0), axis=1)
    return np.asarray(chosen * within)


def _come_back(all_sizes: Floats, slopes: Floats, first: float, last: float) -> Flags:
    """Tell which rows of sizes have a large characteristic function between frequencies."""
    # The first one is in units of one over the standard deviation of the row.
    sizes, slope = all_sizes.astype(np.float32), slopes[:, None].astype(np.float32)
    left = (1 - np.tanh(slope * sizes) ** 2) * np.float32(1 - 1e-6)
    step = np.float32(_STEP) / np.sqrt((sizes**2).sum(axis=1, keepdims=True))
    frequency = step * np.arange(first / _STEP, last / step.min(), dtype=np.float32)
    least = (_CLUSTERED * frequency / np.maximum(slope, 1)) ** 2
    least[frequency >= last] = np.inf
    with np.errstate(over="ignore"):
        for size, rest in zip(sizes.T[:, :, None], left.T[:, :, None], strict=True):
            least /= 1 - np.sin(frequency * size) ** 2 * rest
    return np.asarray((least < 1).any(axis=1))


class TiltedSums:
    """The sum of rising sizes and their counts, tilted so that its mean is at a total >= 0."""

    def __init__(self, kinds: tuple[Floats, Integers], total: float) -> None:
        self._kinds, self._total = kinds, total
        self._rising = rising = np.repeat(*kinds)
        with np.errstate(all="ignore"):
            slope = float(_slopes(rising[:, None], np.array([total]))[0][0])
        # Next to the largest sum the search may overflow; a steep tilt serves there.
        self._slope = max(slope, _FLATTEST) if np.isfinite(slope) else 1 / float(rising[0])
        self._log_mgf = float(_log_mgf(rising, self._slope))
        self._factor = self._log_mgf - self._slope * total
        variance = float((rising**2 * (1 - np.tanh(self._slope * rising) ** 2)).sum())
        self._rough = self._factor - float(np.log1p(2.5 * self._slope * variance**0.5))
        self._period = max(_PERIOD, (self._rough + _REPEATED) / -self._slope)

    def at_least(self) -> tuple[float, bool]:
        """Return log P(S >= total), half of P(S = total) included, and whether it is accurate."""
        few = self._inverted(self._total, self._period)
        if few.converged[0]:
            # Large and small sizes alternate.
            parts = max(1, self._rising.size // _LOOKED_AT)
            mixed = np.concatenate([self._rising[::-1][start::parts] for start in range(parts)])
            if not _come_back(mixed[None], np.array([self._slope]), few.last, _ALL)[0]:
                return float(few.log_tail[0]), True
        most = int(_ALL * self._period / (2 * np.pi))
        found = self._inverted(self._total, self._period, close=0.0, most=most)
        log_tail = float(found.log_tail[0])
        late = 2 * np.pi / self._period * np.arange(most // 2, most, dtype=np.float64)
        left = 2 / self._period * float((np.abs(self._phi(late)) / late).sum())
        if left <= _LATE * np.exp(log_tail - self._factor):
            return log_tail, True
        return (log_tail if abs(log_tail - self._rough) <= _FAR else self._rough), False

    def on_lattice(self, unit: float) -> float:
        """Return log P(S >= total) if sizes are multiples of a unit, and sums two units apart."""
        period = 2 * unit * np.ceil(self._period / (2 * unit))
        found = self._inverted(self._total - unit, period, 2 * unit, close=0.0, most=1 << 40)
        return float(found.log_tail[0])

    def _inverted(
        self, x: float, period: float, span: float = 0.0, close: float = 1e-8, most: int = 2048
    ) -> Inverted:
        """Invert the characteristic function."""
        tilt, spacing, values = (self._slope, self._log_mgf), 2 * np.pi / period, np.array([x])
        return inverted(self._phi, *tilt, values, spacing, span=span, close=close, most=most)

    def _phi(self, frequency: Floats) -> Complexes:
        """Return the characteristic function of the tilted sum."""
        values, counts = self._kinds
        tanh, alone = np.tanh(self._slope * values), bool((counts == 1).all())
        product, left = np.ones(frequency.size, np.complex128), np.arange(frequency.size)
        # Each part has values of all sizes, so that most products vanish after few parts.
        parts = -(-values.size // _PART)
        for some in (slice(start, None, parts) for start in range(parts)):
            angle = np.outer(frequency[left], values[some])
            factor = np.cos(angle) + 1j * tanh[some] * np.sin(angle)
            product[left] *= np.prod(factor if alone else factor ** counts[some], axis=1)
            left = left[np.abs(product[left]) > _NOTHING]
        return product
