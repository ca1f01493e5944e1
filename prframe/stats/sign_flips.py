"""The law of a sum of numbers with random signs: what paired randomization tests compare with."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import remainder
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prframe import checks
from prframe.errors import PrframeError
from prframe.stats.inputs import Floats, reals
from prframe.typing import Alternative

Integers: TypeAlias = NDArray[np.int64]
SignFlipMethod: TypeAlias = Literal["auto", "exact", "convolution"]

# Numbers whose sums are all counted, in two halves: where that is quick, and at most.
_QUICK, _MOST = 32, 44
# Cells of the grid on which sums are convolved, at most and at least, and cells of all steps on it.
_CELLS, _COARSE, _STEPS = 1 << 16, 1 << 14, 1 << 29
# Cells of all steps along a lattice, unless the grid would take more.
_LATTICE_STEPS = 1 << 25
# The grid reaches so many standard deviations: beyond, every probability is 0.
_REACH = 40.0
# Numbers have a common unit if it is not smaller than this share of the largest; remainders
# below the second share are rounding.
_UNIT, _ROUNDING = 1e-6, 1e-10
# Sums that differ by less, times the largest, are equal.
EQUAL = 1e-12
# An atom is left out of account below this share of its tail.
_NEGLIGIBLE = 1e-4
# Places on a lattice are whole to within this.
_WHOLE = 1e-4
# Signs drawn at a time, 8 bytes each.
_CHUNK = 1 << 20


@dataclass(frozen=True, eq=False)
class SignFlipNull:
    """The distribution of ``S = sum_i e_i d_i`` with independent fair signs ``e_i``.

    The null distribution of every paired randomization test: of the sum of differences, of the
    signed ranks (Wilcoxon), of the signs alone (sign test).

    Parameters
    ----------
    differences : array_like of float, shape (n,)
        The numbers d; their signs do not matter, zeros have no effect.
    method : {"auto", "exact", "convolution"}
        ``"exact"``: all 2^n sums are counted, from the sorted sums of two halves, for n <= 44, or
        drawn on their lattice if the numbers have a common unit. ``"convolution"``: on a grid of
        65,536 cells. ``"auto"``: exact on a lattice and for n <= 32, else convolution.

    Raises
    ------
    PrframeError
        Numbers that are not finite, or too many for ``"exact"``.

    Notes
    -----
    Where the grid can hold all sums of numbers with a common unit, it is that of the unit. Else
    every number is rounded to it, the sum of their squares kept, and each atom spread over the
    step between two neighbours. As nothing is subtracted, small probabilities keep their digits:
    against counting, for n from 25 to 36, those of numbers from smooth laws are within 0.3 % down
    to 1e-8 (``pytest tests/test_sign_flips.py``). Where many sums nearly tie, as those of
    differences of reciprocal ranks do, and next to the largest sum, it is within 1.2 % down to
    1e-5 and 10 % below (``python -m benchmarks.paired_study``).

    References
    ----------
    Fisher, *The design of experiments*, 1935, section 21; Pitman 1937.

    Examples
    --------
    >>> null = SignFlipNull([1.0, 2.0, 4.0])
    >>> null.sf(7.0), null.sf(3.0), null.std()
    (0.125, 0.375, 4.58257569495584)
    """

    differences: ArrayLike
    method: SignFlipMethod = "auto"

    def __post_init__(self) -> None:
        """Check the numbers and the method."""
        checks.one_of("method", self.method, get_args(SignFlipMethod))
        numbers = reals("differences", self.differences)
        if numbers.ndim != 1 or not np.isfinite(numbers).all():
            raise PrframeError(
                f"`differences` must be a list of finite numbers; "
                f"got {checks.brief(self.differences)}."
            )
        object.__setattr__(self, "differences", numbers[numbers != 0])
        if self.method == "exact" and self.how != "exact":
            raise PrframeError(
                f"method='exact' counts the signs of at most {_MOST} differences without a common "
                f"unit; got {self._sizes.size}; take 'auto' or 'convolution'."
            )

    @cached_property
    def _sizes(self) -> Floats:
        """The absolute numbers, rising, without zeros."""
        return np.sort(np.abs(np.asarray(self.differences)))

    @cached_property
    def how(self) -> Literal["exact", "convolution"]:
        """How probabilities are computed."""
        if self.method == "convolution":
            return "convolution"
        limit = _MOST if self.method == "exact" else _QUICK
        return "exact" if self._places is not None or self._sizes.size <= limit else "convolution"

    @cached_property
    def _places(self) -> "Integers | None":
        """The numbers in their common unit, if they have one and the walk along it is short."""
        places = _lattice(self._sizes)
        if places is None or not places.size:
            return places
        most = max(_LATTICE_STEPS, self._sizes.size * _cells(self._sizes.size))
        reach = np.minimum(places.cumsum(), _reach(places))
        return places if 2.0 * reach.sum(dtype=np.float64) <= most else None

    @cached_property
    def _on_lattice(self) -> bool:
        """Whether sums are counted along the lattice of the numbers: the grid holds it."""
        return self._places is not None and (
            self.how == "exact" or int(self._places.sum()) < _CELLS
        )

    @cached_property
    def _slack(self) -> float:
        """What sums may differ by and be equal."""
        return EQUAL * float(self._sizes.sum())

    @cached_property
    def _halves(self) -> tuple[Floats, Floats]:
        """All sums of either half of the numbers, rising."""
        return _all_sums(self._sizes[::2]), _all_sums(self._sizes[1::2])

    @cached_property
    def _grid(self) -> "_Grid":
        """The law on a grid: the lattice of the numbers, or a fine one."""
        if self._places is not None and self._on_lattice:
            unit = float(self._sizes.sum()) / max(int(self._places.sum()), 1)
            return _Grid.of_places(self._places, unit, unit)
        return _Grid.rounded(self._sizes)

    def std(self) -> float:
        """Return the standard deviation, the root of the sum of squares."""
        return _norm(self._sizes)

    def sf(self, x: float) -> float:
        """Return P(S >= x).

        Parameters
        ----------
        x : float

        Returns
        -------
        float in [0, 1]
            At least 2^-n for a sum that is possible, as far as that is a floating point number.
        """
        most = float(self._sizes.sum())
        if x > most + self._slack or x <= self._slack - most:
            return float(x <= self._slack - most)
        if x >= most - self._slack:
            return self._least
        if self._on_lattice:
            return self._grid.from_place(np.ceil((x - self._slack) / self._grid.unit - _WHOLE))
        if self.how == "exact":
            left, right = self._halves
            # Rising queries find their places in the cache.
            below = np.searchsorted(right, x - self._slack - left[::-1])
            return float((right.size - below).mean() / right.size)
        return max(self._grid.at_least(x), self._least)

    def p_value(self, alternative: Alternative = "two-sided") -> float:
        """Return the p-value of the sum of the numbers themselves, with the signs they have.

        Parameters
        ----------
        alternative : {"two-sided", "less", "greater"}
            ``P(|S| >= |s|)``, ``P(S <= s)`` or ``P(S >= s)``, s being the sum.

        Returns
        -------
        float in [0, 1]
        """
        checks.one_of("alternative", alternative, get_args(Alternative))
        numbers = np.asarray(self.differences)
        total = float(numbers.sum())
        if alternative == "two-sided" and abs(total) <= self._slack:
            return 1.0
        upward = total > 0 if alternative == "two-sided" else alternative == "greater"
        tail = self._tail(numbers if upward else -numbers)
        return min(1.0, 2 * tail) if alternative == "two-sided" else tail

    def _tail(self, numbers: Floats) -> float:
        """Return the probability of their sum or more."""
        total = float(numbers.sum())
        tail = self.sf(total)
        if (
            self.how == "exact"
            or self._on_lattice
            or abs(total) >= self._sizes.sum() - self._slack
        ):
            return tail
        # On a grid, atoms are spread to both sides; that of the sum itself counts in full.
        own = _ways(numbers)
        if own < _NEGLIGIBLE * tail:
            return tail
        if self._grid.coarse:
            return min(1.0, tail + own / 2)
        return self._grid.at_least_sum(numbers, own)

    @cached_property
    def _least(self) -> float:
        """The probability of the largest sum, or the least number there is."""
        return max(0.5**self._sizes.size, float(np.finfo(float).tiny))


@dataclass(frozen=True, eq=False)
class _Grid:
    """Probabilities of the sums on a grid, which stand two places apart.

    Places are counted from the sum 0. Numbers were divided by `step` and rounded; a place stands
    for `unit`, which differs from it so that the variance is right. On a coarse grid numbers were
    rounded so that their squares add up, and equal ones not alike.
    """

    first: int
    upward: Floats
    unit: float
    step: float
    coarse: bool = False

    @classmethod
    def of_places(cls, places: Integers, unit: float, step: float) -> "_Grid":
        """Convolve the flips of whole numbers, the smallest first; drop what is out of reach."""
        total = int(places.sum())
        half = min(total, _reach(places))
        chance = np.zeros(2 * half + 1)
        chance[half] = 1.0
        extent = 0
        for place in places:
            low, high = half - extent, half + extent + 1
            moved = 0.5 * chance[low:high]
            chance[low:high] = 0.0
            left, right = max(place - low, 0), max(high + place - chance.size, 0)
            chance[low - place + left : high - place] += moved[left:]
            chance[low + place : high + place - right] += moved[: moved.size - right]
            extent = min(extent + int(place), half)
        start = (half - total) % 2
        atoms = chance[start::2]
        return cls(start - half, np.cumsum(atoms[::-1])[::-1], unit, step)

    @classmethod
    def rounded(cls, sizes: Floats) -> "_Grid":
        """Round to a fine grid, and scale so that the variance stays."""
        spread = _norm(sizes)
        cells = _cells(sizes.size)
        step = 2 * min(float(sizes.sum()), _REACH * spread) / cells
        coarse = cells < _CELLS
        rounded = _rounded_squares(sizes / step) if coarse else np.rint(sizes / step)
        places = rounded[rounded > 0].astype(np.int64)
        norm = float(np.sqrt((rounded**2).sum()))
        return replace(cls.of_places(places, spread / norm, step), coarse=coarse)

    def from_place(self, place: float) -> float:
        """Return P(S >= place), in units."""
        at = int(np.ceil((place - self.first) / 2))
        return float(self.upward[max(at, 0)]) if at < self.upward.size else 0.0

    def at_least(self, x: float) -> float:
        """Return P(S >= x), each atom spread evenly to both sides."""
        place = (x / self.unit - self.first + 1) / 2
        below = int(np.clip(np.floor(place), 0, self.upward.size - 1))
        here, beyond = np.append(self.upward, 0.0)[below : below + 2]
        share = float(np.clip(place - below, 0.0, 1.0))
        # On a log scale, as tails fall; the last atom ends with its step.
        return float(here ** (1 - share) * beyond**share if beyond > 0 else here * (1 - share))

    def at_least_sum(self, numbers: Floats, own: float) -> float:
        """Return P(S >= their sum): the sum's own atom in full, and half of what is rounded to it.

        Sums of the same parts are rounded alike.
        """
        place = float(np.rint(numbers / self.step).sum())
        here, beyond = self.from_place(place), self.from_place(place + 1)
        return here - max(here - beyond - own, 0.0) / 2


def _norm(sizes: Floats) -> float:
    """Return the root of the sum of squares of rising numbers, which itself may overflow."""
    return float(sizes[-1] * np.sqrt(((sizes / sizes[-1]) ** 2).sum())) if sizes.size else 0.0


def _cells(n: int) -> int:
    """Return the size of the grid for so many numbers."""
    return min(_CELLS, max(_COARSE, _STEPS // n))


def _reach(places: Integers) -> int:
    """Return how far from 0 sums of whole, rising numbers are of account."""
    return int(_REACH * np.sqrt((places.astype(float) ** 2).sum())) + int(places[-1]) + 1


def _rounded_squares(ratios: Floats) -> Floats:
    """Round rising numbers up or down so that their squares add up, as near as may be."""
    low = np.floor(ratios)
    share = (ratios**2 - low**2) / (2 * low + 1)
    return low + np.diff(np.rint(np.cumsum(share)), prepend=0.0)


def _ways(numbers: Floats) -> float:
    """Return the probability of signs by which numbers of one size exchange theirs."""
    # On use: SciPy takes longer to import than most evaluations take.
    from scipy.special import gammaln  # noqa: PLC0415

    sizes = np.abs(numbers)
    _, kind = np.unique(np.round(sizes / sizes.max(), 12), return_inverse=True)
    number, above = np.bincount(kind), np.bincount(kind, weights=numbers > 0)
    ways = gammaln(number + 1) - gammaln(above + 1) - gammaln(number - above + 1)
    return float(np.exp(ways.sum() - numbers.size * np.log(2)))


def _all_sums(numbers: Floats) -> Floats:
    """Return the sums of some numbers under all signs, rising."""
    sums = np.zeros(1)
    for number in numbers:
        sums = np.concatenate([sums - number, sums + number])
    return np.sort(sums)


def _lattice(sizes: Floats) -> "Integers | None":
    """Return positive, rising numbers in their common unit, if they have one."""
    if not sizes.size:
        return np.zeros(0, dtype=np.int64)
    largest, unit = float(sizes[-1]), 0.0
    for size in sizes.tolist():
        # Euclid's algorithm, up to rounding.
        rest = size
        while rest > _ROUNDING * largest:
            unit, rest = rest, abs(remainder(unit, rest))
        if unit < _UNIT * largest:
            return None
    places = sizes / unit
    whole = np.rint(places)
    return None if (np.abs(places - whole) > _WHOLE).any() else whole.astype(np.int64)


def random_signs(
    n: int, n_resamples: int, rng: np.random.Generator, at_once: int = _CHUNK
) -> Iterator[Floats]:
    """Yield rows of n fair signs, -1 or 1, as many rows in all as there are resamples.

    The signs do not depend on how many rows come at once.
    """
    # Whole words for each row, so that rows may be cut anywhere.
    words = (n + 63) // 64
    some = max(1, min(at_once, _CHUNK // max(n, 1)))
    for start in range(0, n_resamples, some):
        rows = min(some, n_resamples - start)
        drawn = rng.integers(0, 1 << 64, size=(rows, words), dtype=np.uint64)
        bits = drawn.astype("<u8").view(np.uint8)
        yield np.unpackbits(bits, axis=1, count=n).astype(np.float64) * 2 - 1


def all_signs(n: int, at_once: int = _CHUNK) -> Iterator[Floats]:
    """Yield all 2^n rows of n signs, each once, some at a time."""
    some = max(1, min(at_once, _CHUNK // max(n, 1)))
    for start in range(0, 1 << n, some):
        numbers = np.arange(start, min(start + some, 1 << n))
        yield (numbers[:, None] >> np.arange(n) & 1).astype(np.float64) * 2 - 1
