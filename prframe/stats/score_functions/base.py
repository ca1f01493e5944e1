"""Score-generating functions phi on (0, 1), which linear rank statistics add up over positives.

phi is taken at ``rank / (N + 1)``, ranks rising with the scores. Standard errors and learning need
its derivatives and jumps; its integral relates the statistic to the ROC curve.

A block of tied items holds the places ``start + 1 .. end`` from the top of n items, with the ranks
``n + 1 - place``. Places and n may be sums of weights.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import fields
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from prframe.stats._arrays import fractions
from prframe.typing import Floats, Integers

# The names of the functions, which are known before the classes are loaded.
WORDS = (
    "dcg",
    "local-auc",
    "logistic",
    "logrank",
    "median",
    "mww",
    "p-norm-push",
    "rtb",
    "van-der-waerden",
)

# So many terms are summed at a time, which bounds the memory, whatever the block sizes.
_CHUNK = 1 << 20
# So many ranks at either end of a sum are taken one by one, where phi may be steep.
_SINGLE = 1 << 14
# Users do not set these parameters.
_HIDDEN = frozenset({"n"})


class Jump(NamedTuple):
    """The place and the size of a jump of a score-generating function."""

    at: float
    size: float


class ScoreGeneratingFunction(ABC):
    """A nondecreasing function of the normalised rank, phi.

    Arguments are numbers u in [0, 1], arrays of any shape; results have their shape. See
    Clemencon, Limnios & Vayatis 2021, Definition 1 and sections 2.2, 2.3 and 5.2.

    Attributes
    ----------
    word : str
        The name without parameters.
    smooth : bool
        Whether phi is twice continuously differentiable (Assumption 2 of the source).
    projected : bool
        Whether the Hajek projection, and so the standard error, describes the statistic.

    Examples
    --------
    >>> from prframe.stats import PNormPush
    >>> phi = PNormPush(q=3)
    >>> phi.name, phi([0.5, 1.0]), phi.derivative([0.5, 1.0])
    ('p-norm-push(q=3)', array([0.125, 1.   ]), array([0.75, 3.  ]))
    """

    word: ClassVar[str]
    smooth: ClassVar[bool] = True
    projected: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """The name with the parameters that are set, as `parse_phi` understands it."""
        values = {name: getattr(self, name) for name in parameters(type(self))}
        settings = [f"{name}={value}" for name, value in values.items() if value is not None]
        return f"{self.word}({', '.join(settings)})" if settings else self.word

    @property
    def jumps(self) -> tuple[Jump, ...]:
        """Where the function is not continuous; the derivative is that between jumps."""
        return ()

    def __call__(self, u: ArrayLike) -> Floats:
        """Return phi(u), which may be infinite at 0 and 1."""
        with np.errstate(divide="ignore"):
            return np.asarray(self._value(fractions("u", u)), dtype=np.float64)

    def derivative(self, u: ArrayLike) -> Floats:
        """Return phi'(u)."""
        with np.errstate(divide="ignore"):
            return np.asarray(self._slope(fractions("u", u)), dtype=np.float64)

    def second_derivative(self, u: ArrayLike) -> Floats:
        """Return phi''(u)."""
        with np.errstate(divide="ignore"):
            return np.asarray(self._curvature(fractions("u", u)), dtype=np.float64)

    def integral(self, u: ArrayLike) -> Floats:
        """Return the integral of phi from 0 to u."""
        return np.asarray(self._area(fractions("u", u)), dtype=np.float64)

    @abstractmethod
    def _value(self, u: Floats) -> ArrayLike: ...

    @abstractmethod
    def _slope(self, u: Floats) -> ArrayLike: ...

    def _curvature(self, u: Floats) -> ArrayLike:
        return np.zeros_like(u)

    @abstractmethod
    def _area(self, u: Floats) -> ArrayLike: ...

    def of_size(self, n: float) -> Self:
        """Return the function for n ranked items; itself, unless it depends on n."""
        return self

    def step(self, n: int) -> float:
        """Return the distance of neighbouring values of the statistic without ties, or 0."""
        return 0.0


def parameters(kind: type[ScoreGeneratingFunction]) -> list[str]:
    """Return the names of the parameters that users may set, in their order."""
    return [entry.name for entry in fields(kind) if entry.name not in _HIDDEN]  # type: ignore[arg-type]


def mid_rank_score(
    phi: ScoreGeneratingFunction, start: ArrayLike, end: ArrayLike, n: ArrayLike
) -> Floats:
    """Return phi at mid-ranks of blocks, ``phi((n + 1 - (start + end + 1) / 2) / (n + 1))``."""
    start, end, n = (np.asarray(value, dtype=np.float64) for value in (start, end, n))
    return _at_places(phi, (start + end + 1) / 2, n)


def expected_score(
    phi: ScoreGeneratingFunction, start: ArrayLike, end: ArrayLike, n: ArrayLike
) -> Floats:
    """Return the mean of phi over the places of each block, which is over all orders of ties.

    Every place is evaluated, but once for equal blocks; a block without items gives 0.
    """
    start, end, n = (np.asarray(value, dtype=np.int64) for value in (start, end, n))
    values = np.where(end > start, mid_rank_score(phi, start, end, n), 0.0)
    tied = end - start > 1
    if tied.any():
        blocks, block_of = np.unique(
            np.stack([start[tied], end[tied], n[tied]]), axis=1, return_inverse=True
        )
        values[tied] = _means(phi, *blocks)[block_of.ravel()]
    return values


def mean_score(phi: ScoreGeneratingFunction, first: int, last: int, n: int) -> float:
    """Return the mean of phi over the ranks first .. last of n items without ties.

    Above 2^20 ranks, those away from the ends and jumps are summed by the Euler-Maclaurin formula
    for midpoints: the integral of phi less a 24th of the difference of its slopes. The error is
    below 1e-9 of the range of phi on the ranks.
    """
    if last - first < _CHUNK:
        return float(phi(np.arange(first, last + 1) / (n + 1)).mean())
    jumps = [jump.at * (n + 1) for jump in phi.jumps]
    near = [(int(at) - 1, int(at) + 2) for at in jumps if first < at < last]
    near += [(first, first + _SINGLE), (last - _SINGLE, last)]
    total, done = 0.0, first - 1
    for low, high in sorted(near):
        begin, end = max(low, done + 1), min(high, last)
        if begin > done + 1:
            total += _sum_between(phi, done + 0.5, begin - 0.5, n)
        total += float(phi(np.arange(begin, end + 1) / (n + 1)).sum())
        done = max(done, end)
    return total / (last - first + 1)


def _sum_between(phi: ScoreGeneratingFunction, low: float, high: float, n: int) -> float:
    """Return the sum of phi over the ranks between two borders, which lie half way between."""
    borders = np.array([low, high]) / (n + 1)
    area, slope = np.diff(phi.integral(borders))[0], np.diff(phi.derivative(borders))[0]
    return float(area * (n + 1) - slope / (n + 1) / 24)


def _means(phi: ScoreGeneratingFunction, start: Integers, end: Integers, n: Integers) -> Floats:
    """Return the mean of phi over the places of each block."""
    sums = np.zeros(start.size)
    for block, first, length in _parts(start, end):
        begins = np.cumsum(length) - length
        place = np.repeat(first - begins, length) + np.arange(1, length.sum() + 1)
        values = _at_places(phi, place, np.repeat(n[block], length))
        np.add.at(sums, block, np.add.reduceat(values, begins))
    return np.asarray(sums / (end - start))


def _parts(start: Integers, end: Integers) -> Iterator[tuple[Integers, Integers, Integers]]:
    """Yield parts of blocks in batches: their blocks, the items above them, and their lengths."""
    pieces = -(-(end - start) // _CHUNK)
    block = np.repeat(np.arange(start.size), pieces)
    within = np.arange(block.size) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    first = start[block] + within * _CHUNK
    length = np.minimum(end[block] - first, _CHUNK)
    cuts = np.flatnonzero(np.diff(np.cumsum(length) // _CHUNK)) + 1
    for rows in np.split(np.arange(block.size), cuts):
        yield block[rows], first[rows], length[rows]


def _at_places(phi: ScoreGeneratingFunction, place: Floats | Integers, n: ArrayLike) -> Floats:
    """Return phi at places from the top, each among n items."""
    totals = np.asarray(n, dtype=np.float64)
    u = (totals + 1 - place) / (totals + 1)
    if phi.of_size(1) == phi:
        return phi(u)
    sizes, size_of = np.unique(totals, return_inverse=True)
    order = np.argsort(size_of, kind="stable")
    rows_of_sizes = np.split(order, np.flatnonzero(np.diff(size_of[order])) + 1)
    values = np.zeros_like(u)
    for size, rows in zip(sizes, rows_of_sizes, strict=False):
        values[rows] = phi.of_size(float(size))(u[rows])
    return values
