"""Kernel estimates of the distribution of the scores of one class.

A sum over n scores at m thresholds would take n m steps. So the sorted scores are gathered into a
few thousand nodes, each the mean of a run of neighbours. A run holds at most a hundredth of the
scores between it and the nearer end, and is at most a quarter of the bandwidth wide.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from prframe import checks
from prframe.errors import ArgumentError, PrframeError
from prframe.stats._tolerances import EQUAL
from prframe.stats.rankings import ClassScores
from prframe.typing import Bandwidth, BandwidthRule, Floats, KernelName

Places = NDArray[np.intp]

# A run of neighbours holds at most this part of the scores beyond it.
_RUN = 0.01
# The normal tail beyond this many standard deviations is 1e-19, and that of a box is 0.
_REACH = 9.0
# The number of thresholds that are evaluated at a time, all with the same nodes.
_CHUNK = 64
_STEPS = 200
# A threshold is found where the share beyond it is right but for this part.
_SOLVED = 1e-14
# The sum of the squares of larger scores overflows.
_LARGEST = 1e140
# The largest width of a run, in bandwidths, and the largest number of runs due to it.
_WIDTH, _MANY = 0.25, 20_000
# The interquartile range of the standard normal distribution.
_NORMAL_IQR = 1.349


def _robust(scores: Floats, deviation: float) -> float:
    """Return Silverman's rule of thumb, which outliers do not move."""
    low, high = np.quantile(scores, [0.25, 0.75])
    # With many ties the quartiles may coincide, and the standard deviation is taken instead.
    spread = min(deviation, (high - low) / _NORMAL_IQR) or deviation
    return float(0.9 * spread * scores.size**-0.2)


_RULES: dict[str, Callable[[Floats, float], float]] = {
    "scott": lambda scores, deviation: deviation * scores.size**-0.2,
    "silverman": lambda scores, deviation: deviation * (0.75 * scores.size) ** -0.2,
    "robust": _robust,
    "undersmoothed": lambda scores, deviation: deviation * scores.size ** (-1 / 3),
}


@dataclass(frozen=True)
class KernelShape:
    """A symmetric density of standard deviation 1, as its height over that at 0."""

    cdf: Callable[[Floats], Floats]
    height: Callable[[Floats], Floats]
    # The area below the height.
    area: float


# A uniform distribution of standard deviation 1 reaches so far to either side.
_HALF_WIDTH = float(np.sqrt(3))
_SHAPES: dict[KernelName, KernelShape] = {
    "gaussian": KernelShape(ndtr, lambda z: np.exp(-z * z / 2), float(np.sqrt(2 * np.pi))),
    "box": KernelShape(
        lambda z: np.clip(0.5 + z / (2 * _HALF_WIDTH), 0.0, 1.0),
        lambda z: (np.abs(z) <= _HALF_WIDTH).astype(np.float64),
        2 * _HALF_WIDTH,
    ),
}


@dataclass(frozen=True)
class ClassKernel:
    """A kernel of standard deviation `bandwidth` around every score of a class.

    The ascending `nodes` stand for `counts` of scores, `top` scores are +inf, and `total` counts
    all items, of which those that are not retrieved lie below every threshold.
    """

    nodes: Floats
    counts: Floats
    top: int
    total: int
    bandwidth: float
    shape: KernelShape = _SHAPES["gaussian"]

    @cached_property
    def retrieved(self) -> float:
        """The share of the items that lies above -inf."""
        return float(self._upwards[0])

    @cached_property
    def _upwards(self) -> Floats:
        """The shares of the items from each node upwards, and at +inf."""
        return np.asarray(np.cumsum(np.append(self.top, self.counts[::-1]))[::-1] / self.total)

    def sf(self, threshold: Floats) -> Floats:
        """Return the share above each threshold."""
        return self._sum(self.shape.cdf, threshold, self._upwards)

    def pdf(self, threshold: Floats) -> Floats:
        """Return the density at each threshold."""
        scale = self.bandwidth * self.shape.area
        none = np.zeros(self.nodes.size + 1)
        return np.asarray(self._sum(self.shape.height, threshold, none) / scale)

    def _sum(
        self, function: Callable[[Floats], Floats], threshold: Floats, beyond: Floats
    ) -> Floats:
        """Return the mean over items of f((node - t) / bandwidth); `beyond` are far above t."""
        flat = threshold.ravel()
        order = np.argsort(flat)
        total = np.empty(flat.size)
        reach = _REACH * self.bandwidth
        for start in range(0, flat.size, _CHUNK):
            chunk = order[start : start + _CHUNK]
            low = np.searchsorted(self.nodes, flat[chunk[0]] - reach)
            high = np.searchsorted(self.nodes, flat[chunk[-1]] + reach)
            distance = (self.nodes[low:high] - flat[chunk, None]) / self.bandwidth
            total[chunk] = function(distance) @ self.counts[low:high] / self.total + beyond[high]
        return total.reshape(threshold.shape)

    def isf(self, share: Floats) -> Floats:
        """Return the threshold above which a share lies, -inf beyond that of retrieved items."""
        flat = share.ravel()
        reach = (self.nodes.size > 0) & (flat < self.retrieved * (1 - EQUAL))
        thresholds = np.where(reach, np.inf, -np.inf)
        inner = np.flatnonzero(reach & (flat > self._upwards[-1]))
        thresholds[inner] = self._solve(flat[inner])
        return thresholds.reshape(share.shape)

    def _solve(self, share: Floats) -> Floats:
        """Solve ``sf(t) = share`` by Newton's method, or by halving if that leaves the bracket."""
        thresholds = np.empty(share.size)
        active = np.arange(share.size)
        if not active.size:
            return thresholds
        rank = self.nodes.size - np.searchsorted(self._upwards[::-1], share)
        t = self.nodes[np.clip(rank, 0, self.nodes.size - 1)]
        # These ends are so far out that the tail beyond them is 0 in floating point.
        low = np.full(share.size, self.nodes[0] - 2 * _REACH * self.bandwidth)
        high = np.full(share.size, self.nodes[-1] + 5 * _REACH * self.bandwidth)
        for _ in range(_STEPS):
            thresholds[active] = t
            excess = self.sf(t) - share[active]
            low, high = np.where(excess > 0, t, low), np.where(excess > 0, high, t)
            open_ = (np.abs(excess) > _SOLVED * share[active]) & (np.nextafter(low, high) < high)
            active, t, low, high = active[open_], t[open_], low[open_], high[open_]
            if not active.size:
                break
            with np.errstate(divide="ignore", over="ignore"):
                t = t + excess[open_] / self.pdf(t)
            t = np.where((low < t) & (t < high), t, (low + high) / 2)
        return thresholds


def class_kernels(
    positives: ClassScores,
    negatives: ClassScores,
    bandwidth: Bandwidth,
    kernel: KernelName = "gaussian",
) -> tuple[ClassKernel, ClassKernel]:
    """Smooth both classes; `bandwidth` is a rule or number for both, or a pair of these."""
    checks.one_of("kernel", kernel, get_args(KernelName))
    pair = _pair(bandwidth)
    finite = [scores.finite for scores in (positives, negatives)]
    every = np.concatenate(finite)
    if (largest := np.abs(every).max(initial=0.0)) > _LARGEST:
        raise PrframeError(
            f"scores to be smoothed must be at most {_LARGEST:g} in size; got {largest:g}; "
            "scale them."
        )
    pooled = _deviation(every)
    first, second = (
        _kernel(values, scores, _bandwidth(rule, values, pooled), _SHAPES[kernel])
        for rule, values, scores in zip(pair, finite, (positives, negatives), strict=True)
    )
    return first, second


def _pair(bandwidth: Bandwidth) -> Sequence[BandwidthRule | float]:
    """Require rules or numbers, and return those of positives and negatives."""
    pair = bandwidth if isinstance(bandwidth, (tuple, list)) else (bandwidth, bandwidth)
    if len(pair) != 2:  # noqa: PLR2004
        raise ArgumentError(
            "`bandwidth` must be a rule, a number, or a pair of these, "
            f"for positives and negatives; got {checks.brief(bandwidth)}."
        )
    for rule in pair:
        if isinstance(rule, str):
            checks.one_of("bandwidth", rule, get_args(BandwidthRule))
        else:
            checks.number("bandwidth", rule, above=0)
    return pair


def _deviation(scores: Floats) -> float:
    """Return the standard deviation, 0 where all scores are equal."""
    if not scores.size or scores.min() == scores.max():
        return 0.0
    return float(scores.std(ddof=1))


def _bandwidth(rule: BandwidthRule | float, scores: Floats, pooled: float) -> float:
    """Return the bandwidth of one class by a rule, or the given number."""
    if not isinstance(rule, str):
        return float(rule)
    # If all scores are equal, any width can be taken that is the same for both classes.
    if not pooled or not scores.size:
        return pooled or 1.0
    # A class without spread takes that of all scores.
    return _RULES[rule](scores, _deviation(scores) or pooled)


def _kernel(
    finite: Floats, scores: ClassScores, bandwidth: float, shape: KernelShape
) -> ClassKernel:
    """Gather sorted finite scores into nodes."""
    starts = np.union1d(_runs(finite.size), _cells(finite, bandwidth))
    sizes = np.diff(np.append(starts, finite.size))
    nodes = np.add.reduceat(finite, starts) / sizes if finite.size else finite
    top = scores.ascending.size - finite.size
    counts, total = sizes.astype(np.float64), max(scores.total, 1)
    return ClassKernel(nodes, counts, top, total, bandwidth, shape)


def _runs(n: int) -> Places:
    """Return the places where runs of n sorted scores start, by the same rule from both ends."""
    starts, place = [], 0
    while place < n // 2:
        starts.append(place)
        place += max(1, int(_RUN * place))
    lower = np.array(starts, dtype=np.intp)
    # In the upper half, the mirror image of the lower one, a run starts where the image ends.
    upper = n - np.minimum(np.append(lower[1:], n // 2), n // 2)[::-1]
    middle = np.arange(n // 2, n - n // 2)
    return np.concatenate([lower, middle, upper[: lower.size]])


def _cells(finite: Floats, bandwidth: float) -> Places:
    """Return the first places in cells as wide as a run, only those after wide gaps if many."""
    with np.errstate(over="ignore"):
        cell = np.floor(finite / (_WIDTH * bandwidth))
    first = np.flatnonzero(cell[1:] != cell[:-1]) + 1
    if first.size > _MANY:
        gaps = finite[first] - finite[first - 1]
        first = first[np.argpartition(gaps, -_MANY)[-_MANY:]]
    return first
