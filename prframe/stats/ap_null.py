"""The null distribution of average precision: every ranking equally likely."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prframe import checks
from prframe.errors import PrframeError
from prframe.stats.ap_course import Group
from prframe.stats.ap_draws import drawn
from prframe.stats.ap_fits import ap_minimum
from prframe.stats.ap_moments import ap_null_moments, tie_blocks
from prframe.stats.ap_shape import ap_null_shape
from prframe.stats.ap_steps import Floats, Integers, Items
from prframe.stats.ap_tails import EQUAL, Method, NullTails, beyond
from prframe.stats.inputs import random_generator, reals

Seed = int | np.random.Generator | None

# Halvings that leave nothing of [0, 1] but rounding.
_HALVINGS = 60
# A level that is attained is, whatever the last digits say.
_SLACK = 1e-12
_SMALLEST = float(np.nextafter(0, 1))


class APNull:
    """The distribution of AP when all rankings of n items, n_pos of them positive, are alike.

    Parameters
    ----------
    n : int
        Items, >= 1.
    n_pos : int
        Positives among them, 1..n.
    ties : sequence of int, optional
        Sizes of the tie blocks, best first, which add up to `n`. AP counts at the ends of blocks,
        as with ``ties="group"``.
    method : {"auto", "exact", "lattice", "transform"}, default "auto"
        How probabilities are computed, see Notes.

    Attributes
    ----------
    n, n_pos : int
    ties : ndarray of int or None
    method : str

    Raises
    ------
    PrframeError
        Numbers out of range, blocks that do not add up to n, or, once probabilities are asked
        for, a method that cannot take so many rankings.

    Notes
    -----
    ``sf(x) = P(AP >= x)`` and ``cdf(x) = P(AP <= x)``: equality counts on both sides, and values
    that differ by less than 1e-12 relative are equal. Tails are accurate relative to themselves,
    on both sides; `logsf` and `logcdf` go on where floats end. What is possible never has
    probability 0, and ``sf(1) = 1/C(n, n_pos)``.

    "exact" counts rankings, cutting off those that are decided; "lattice" walks down the ranks
    and merges states that nearly agree; "transform" inverts the characteristic function of a
    tilted law. "auto" counts where there are at most 65,536 rankings, or few that are good
    enough, walks where single rankings carry weight otherwise, and inverts in all other cases.
    What "auto" takes is within 0.5 % where P is above 1e-20 and within 2 % down to 1e-50. Further
    out the logarithm is good to 1 %: P to a few per cent, or close to AP = 1, where steps over
    several ranks are too coarse for many positives, to a factor. On demand "lattice" may be 2 %
    off with a hundred positives; "transform" differs from "auto" in that it never counts first,
    and walks too where the inversion does not settle.

    Without ties the time hardly depends on the sizes: 0.1 s for the first value of a million
    items, 10,000 of them positive. Each tie block is a step near the top; further down blocks
    are taken together.

    Examples
    --------
    Of 45 rankings one has both positives at the top, and one more has an AP of at least 5/6.

    >>> null = APNull(n=10, n_pos=2)
    >>> round(45 * null.sf(1.0), 6), round(45 * null.sf(5 / 6), 6)
    (1.0, 2.0)
    >>> round(null.mean(), 6), round(null.std(), 6)
    (0.371464, 0.201471)

    A tail, the critical value of a test at 5 %, and a probability that no float holds:

    >>> null = APNull(n=1000, n_pos=100)
    >>> print(f"{null.sf(0.15):.2e}, {null.isf(0.05):.3f}")
    2.12e-03, 0.127
    >>> print(f"{APNull(n=10**6, n_pos=10**4).logsf(0.5):.0f}")
    -21802
    """

    def __init__(
        self, n: int, n_pos: int, ties: Sequence[int] | None = None, method: Method = "auto"
    ) -> None:
        self.n = checks.whole_number("n", n, at_least=1)
        self.n_pos = checks.whole_number("n_pos", n_pos, at_least=1)
        if self.n_pos > self.n:
            raise PrframeError(f"`n_pos` must be at most n = {self.n}; got {self.n_pos}.")
        self.ties = None if ties is None else tie_blocks(ties, self.n).astype(np.int64)
        checks.one_of("method", method, get_args(Method))
        self.method: Method = method

    def __repr__(self) -> str:
        """Return how it was made."""
        ties = "" if self.ties is None else ", ties=..."
        return f"APNull(n={self.n}, n_pos={self.n_pos}{ties})"

    def mean(self) -> float:
        """Return the mean."""
        return float(self._moments[0])

    def var(self) -> float:
        """Return the variance."""
        return float(self._moments[1])

    def std(self) -> float:
        """Return the standard deviation."""
        return float(np.sqrt(self.var()))

    def stats(self, moments: str = "mv") -> tuple[float, ...]:
        """Return moments.

        Parameters
        ----------
        moments : str of the letters m, v, s, k, default "mv"
            Mean, variance, skewness, excess kurtosis.

        Returns
        -------
        tuple of float
            In this order, whatever the order asked for.
        """
        if not moments or set(moments) - set("mvsk"):
            raise PrframeError(f"`moments` must be letters of 'mvsk'; got {moments!r}.")
        values = dict(zip("mv", (self.mean(), self.var()), strict=True))
        if set(moments) & set("sk"):
            shape = ap_null_shape(self.n, self.n_pos, self._sizes)
            values |= {"s": float(shape.skewness), "k": float(shape.kurtosis)}
        return tuple(value for letter, value in values.items() if letter in moments)

    def support(self) -> tuple[float, float]:
        """Return the least and the largest value."""
        if self.ties is None:
            return float(ap_minimum(self.n, self.n_pos)), 1.0
        return self._tied_extremes

    def sf(self, x: ArrayLike) -> "Floats | float":
        """Return P(AP >= x).

        Parameters
        ----------
        x : array_like of float
            Values of AP. Many of them are cheaper together, and never rise.

        Returns
        -------
        float or ndarray of float
            The least positive float where it is smaller; see `logsf`.
        """
        return self._plain(self._logs(x, 0))

    def logsf(self, x: ArrayLike) -> "Floats | float":
        """Return the logarithm of P(AP >= x), x being an array_like of float."""
        return self._shaped(self._logs(x, 0))

    def cdf(self, x: ArrayLike) -> "Floats | float":
        """Return P(AP <= x), x being an array_like of float."""
        return self._plain(self._logs(x, 1))

    def logcdf(self, x: ArrayLike) -> "Floats | float":
        """Return the logarithm of P(AP <= x), x being an array_like of float."""
        return self._shaped(self._logs(x, 1))

    def isf(self, q: ArrayLike) -> "Floats | float":
        """Return the least x with P(AP >= x) <= q: the critical value at level q.

        Parameters
        ----------
        q : array_like of float in (0, 1]

        Returns
        -------
        float or ndarray of float
            To 1e-12. NaN where no value is as rare as that.
        """
        level, low, high = self._levels(q)
        largest = np.full(level.shape, self.support()[1])
        rare = self._first(low, high, lambda x: self._logs(x, 0) <= level + _SLACK)[1]
        # Rankings of equal AP may differ in the last digit: step over all of them.
        rare = np.minimum(rare * (1 + EQUAL / 2), largest)
        # P(AP >= x) stays what it is up to the next value that AP can take.
        reached = self._logs(rare, 0) - _SLACK
        high, gap = rare, EQUAL
        while ((self._logs(high, 0) >= reached) & (high < largest)).any():
            high, gap = np.minimum(rare * (1 + gap), largest), 4 * gap
        found = self._first(rare, high, lambda x: self._logs(x, 0) < reached)[0]
        return self._shaped(np.where(self._logs(largest, 0) <= level + _SLACK, found, np.nan))

    def ppf(self, q: ArrayLike) -> "Floats | float":
        """Return the least x with P(AP <= x) >= q.

        Parameters
        ----------
        q : array_like of float in (0, 1]

        Returns
        -------
        float or ndarray of float
            To 1e-12.
        """
        level, low, high = self._levels(q, rising=True)
        found = self._first(low, high, lambda x: self._logs(x, 1) >= level - _SLACK)[1]
        return self._shaped(found)

    def sf_bounds(self, x: float, cell: float = 0.02) -> tuple[float, float]:
        """Return certified bounds of P(AP >= x).

        The walk of "lattice" with every rounding down, and with every rounding up.

        Parameters
        ----------
        x : float
            Value of AP.
        cell : float in (0, 1), default 0.02
            States closer than this share of what they lack become one; smaller cells give closer
            bounds and take longer.

        Returns
        -------
        tuple of float
            The true value lies between them, but for rounding of floats (1e-12 relative).
        """
        checks.number("cell", cell, above=0, below=1)
        value = float(reals("x", x))
        return self._tails.bounds(0, value, cell)

    def rvs(self, size: int = 1, rng: Seed = None) -> Floats:
        """Draw values.

        Parameters
        ----------
        size : int, default 1
            How many, >= 1.
        rng : int or numpy.random.Generator, optional
            Seed, or generator.

        Returns
        -------
        ndarray of float, shape (size,)
        """
        size = checks.whole_number("size", size, at_least=1)
        return drawn(Items(self.n, self.n, self._ends), self.n_pos, size, random_generator(rng))

    @cached_property
    def _sizes(self) -> list[int] | None:
        return None if self.ties is None else self.ties.tolist()

    @cached_property
    def _ends(self) -> Integers | None:
        return None if self.ties is None else np.cumsum(self.ties)

    @cached_property
    def _moments(self) -> tuple[Floats, Floats]:
        return ap_null_moments(self.n, self.n_pos, self._sizes)

    @cached_property
    def _tails(self) -> NullTails:
        return NullTails([Group(self.n, self.n_pos)], None, self._ends)

    def _logs(self, x: ArrayLike, side: int) -> Floats:
        """Return the logarithms of P(AP >= x), or of P(AP <= x)."""
        values = reals("x", x)
        if np.isnan(values).any():
            raise PrframeError("`x` must not be NaN.")
        # Equality counts: P(AP <= x) is all that does not reach beyond what equals x.
        asked, places = np.unique(values, return_inverse=True)
        if side:
            asked = np.where(asked >= 0, beyond(asked), asked)
        tails = self._tails.tails(np.zeros(asked.size, np.int64), asked, self.method)
        logs = np.array([tail[side] for tail in tails], dtype=np.float64)
        # Neighbours may differ by less than the error of each.
        logs = np.maximum.accumulate(logs) if side else np.minimum.accumulate(logs)
        return np.asarray(logs[places].reshape(values.shape))

    @staticmethod
    def _shaped(values: Floats) -> "Floats | float":
        return float(values) if values.ndim == 0 else values

    def _plain(self, logs: Floats) -> "Floats | float":
        """Return probabilities, none of them 0 but the impossible."""
        chance = np.exp(logs)
        return self._shaped(np.where(np.isfinite(logs), np.maximum(chance, _SMALLEST), 0.0))

    def _levels(self, q: ArrayLike, *, rising: bool = False) -> tuple[Floats, Floats, Floats]:
        """Return logarithms of levels, and values that the answers lie between (Cantelli)."""
        levels = reals("q", q)
        if not ((levels > 0) & (levels <= 1)).all():
            raise PrframeError(f"`q` must lie in (0, 1]; got {checks.brief(q)}.")
        odds = np.sqrt(levels / np.maximum(1 - levels, _SLACK))
        below, above = (1 / odds, odds) if rising else (odds, 1 / odds)
        # Wider than the inequality asks for, as probabilities are found to 1 %.
        low, high = self.mean() - 2 * self.std() * below, self.mean() + 2 * self.std() * above
        return np.log(levels), np.clip(low, *self.support()), np.clip(high, *self.support())

    @staticmethod
    def _first(
        low: Floats, high: Floats, holds: Callable[[Floats], NDArray[np.bool_]]
    ) -> tuple[Floats, Floats]:
        """Return the last x for which something does not hold, and the first for which it does.

        Both are the end at which it holds, or does not hold, all the way.
        """
        low, high = np.where(holds(low), [low, low], [low, high])
        low = np.where(holds(high), low, high)
        for _ in range(_HALVINGS):
            if (high - low <= EQUAL / 4 * high).all():
                break
            middle = (low + high) / 2
            good = holds(middle)
            low, high = np.where(good, low, middle), np.where(good, middle, high)
        return low, high

    @cached_property
    def _tied_extremes(self) -> tuple[float, float]:
        """The least and the largest sum, block by block for every number of positives so far."""
        hits = np.arange(self.n_pos + 1)
        least = np.where(hits == 0, 0.0, np.inf)
        largest = -least
        end = 0
        for size in self._sizes or []:
            end += size
            low, high = least.copy(), largest.copy()
            for j in range(1, min(size, self.n_pos) + 1):
                gain = j * hits[j:] / end
                low[j:] = np.minimum(low[j:], least[:-j] + gain)
                high[j:] = np.maximum(high[j:], largest[:-j] + gain)
            least, largest = low, high
        return float(least[-1]) / self.n_pos, float(largest[-1]) / self.n_pos
