"""The base of null distributions: all that follows from their tails and their moments."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Literal, NamedTuple, Self, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri_exp

from prframe import checks
from prframe.errors import ArgumentError, PrframeError
from prframe.stats._arrays import random_generator, reals
from prframe.stats._p_values import check_alternative, from_tails, probability
from prframe.stats.null.quantiles import bracketed
from prframe.typing import Alternative, Floats

Side: TypeAlias = Literal["upper", "lower"]

BOTH: tuple[Side, ...] = get_args(Side)
Seed: TypeAlias = int | np.random.Generator | None

# Logarithms of a probability and of a level are equal if they differ by less than this.
_SLACK = 1e-12
# Searches begin at normal quantiles, no further from the mean than this many standard deviations.
_FAR = 6.0
_LARGEST = float(np.finfo(np.float64).max)
# Longer lists are cut short in a repr, and of them so many numbers are shown at both ends.
_LONG_LIST, _SHOWN = 100, 3
# A bracket about a quantile need not be narrower than this share of the standard deviation where
# single values of X cannot be told apart.
_SMOOTH = 1e-3
# The method of what has no probability.
UNDEFINED = "undefined"
# A bracket as wide as this share of a lattice's step holds at most one of its points.
_CELL = 0.4
# Numbers add up without rounding if they are whole once multiplied by this.
_DYADIC = 2.0**20
# A value X counts as reaching numbers up to its rounding above it. A number is moved down by this
# many roundings to be below all values that count as equal to it.
_COUNTED_ABOVE = 1.1
# A value X counts as not exceeding numbers down to twice its rounding below it. A number is moved
# up by this many roundings to be above all values that count as equal to it.
_COUNTED_BELOW = 2.1


class TailProbabilities(NamedTuple):
    """Both tails of values, and the method by which they were computed.

    ``log_sf`` and ``log_cdf`` are the logarithms of P(X >= x) and P(X <= x), ``method`` is that of
    P(X >= x) where the sides differ; floats and str, or arrays in the shape of x.

    Examples
    --------
    >>> from prframe.stats import SignFlipNull
    >>> tails = SignFlipNull([1.0, 2.0, 4.0]).tails(3.0)
    >>> round(float(np.exp(tails.log_sf)), 9), round(float(np.exp(tails.log_cdf)), 9), tails.method
    (0.375, 0.75, 'exact')
    """

    log_sf: Floats | float
    log_cdf: Floats | float
    method: NDArray[np.str_] | str


class BothTails(NamedTuple):
    """The logarithms of both tails of rising numbers, one of which may not be asked for."""

    upper: Floats
    lower: Floats
    method: NDArray[np.str_]


def sided(upper: Floats, lower: Floats, alternative: Alternative) -> Floats:
    """Return p-values from the logarithms of both tails; a tail that is not needed may be NaN."""
    return from_tails(probability(upper), probability(lower), alternative)


def shaped(values: Floats) -> Floats | float:
    """Return an array, or the number that is its only entry."""
    return float(values) if values.ndim == 0 else values


class NullDistribution(ABC):
    """A distribution under a null hypothesis: `APNull`, `LinearRankNull` or `SignFlipNull`.

    It works like a frozen distribution of ``scipy.stats``, except that equality counts on both
    sides: ``sf(x) = P(X >= x)`` and ``cdf(x) = P(X <= x)``. The argument `method` of the class, or
    ``using(method)``, says how to compute probabilities.

    Notes
    -----
    Values that differ only by rounding are equal. Within one call, probabilities are monotone in
    x, and possible values never have probability 0. Probabilities of NaN are NaN. A value that is
    no number, a level outside (0, 1], an unknown name, or a method that does not suit the
    distribution raises a `PrframeError`.

    Examples
    --------
    >>> from prframe.stats import LinearRankNull
    >>> null = LinearRankNull(range(1, 9), n_pos=3)
    >>> null.isf([0.05, 0.01]), round(null.p_value(20, "two-sided"), 6)
    (array([20., nan]), 0.071429)
    """

    # Where the values that X takes cannot be told apart, a quantile is close enough if the
    # logarithm of its probability is beyond that of the level by this, to within half of it.
    _close = 6e-7

    @abstractmethod
    def _arguments(self) -> dict[str, object]:
        """Return the arguments that make this distribution, without those that are defaults."""

    def __repr__(self) -> str:
        """Return the call that makes this distribution."""
        given = ", ".join(f"{name}={_written(x)}" for name, x in self._arguments().items())
        return f"{type(self).__name__}({given})"

    @abstractmethod
    def mean(self) -> float:
        """Return the mean."""

    @abstractmethod
    def var(self) -> float:
        """Return the variance."""

    def std(self) -> float:
        """Return the standard deviation."""
        return float(np.sqrt(self.var()))

    def stats(self, moments: str = "mv") -> tuple[float, ...]:
        """Return moments by letters: mean (m), variance (v), skewness (s), excess kurtosis (k).

        They come in this order. Skewness and kurtosis are NaN where the variance is 0.
        """
        if not moments or set(moments) - set("mvsk"):
            raise ArgumentError(f"`moments` must be letters of 'mvsk'; got {moments!r}.")
        values = dict(zip("mv", (self.mean(), self.var()), strict=True))
        if set(moments) & set("sk"):
            values |= dict(zip("sk", self._shape(), strict=True))
        return tuple(value for letter, value in values.items() if letter in moments)

    @abstractmethod
    def support(self) -> tuple[float, float]:
        """Return the least and the largest value."""

    def sf(self, x: ArrayLike) -> Floats | float:
        """Return P(X >= x) in the shape of x, an array_like of float.

        Where X can be as large, it is at least the least positive float (see `logsf`).
        """
        return shaped(probability(self._tails("x", x, ("upper",)).upper))

    def logsf(self, x: ArrayLike) -> Floats | float:
        """Return the logarithm of P(X >= x), x being an array_like of float."""
        return shaped(self._tails("x", x, ("upper",)).upper)

    def cdf(self, x: ArrayLike) -> Floats | float:
        """Return P(X <= x), x being an array_like of float."""
        return shaped(probability(self._tails("x", x, ("lower",)).lower))

    def logcdf(self, x: ArrayLike) -> Floats | float:
        """Return the logarithm of P(X <= x), x being an array_like of float."""
        return shaped(self._tails("x", x, ("lower",)).lower)

    def tails(self, x: ArrayLike) -> TailProbabilities:
        """Return the logarithms of both tails and the method, that of NaN being "undefined"."""
        upper, lower, method = self._tails("x", x, BOTH)
        names = str(method) if method.ndim == 0 else method
        return TailProbabilities(shaped(upper), shaped(lower), names)

    def p_value(
        self, statistic: ArrayLike, alternative: Alternative = "greater"
    ) -> Floats | float:
        """Return the p-value of a statistic.

        Parameters
        ----------
        statistic : array_like of float
            Observed values. The p-value is 0 only beyond all values that X can take.
        alternative : {"greater", "less", "two-sided"}
            ``P(X >= x)``, ``P(X <= x)``, or twice the smaller of both, at most 1.
        """
        check_alternative(alternative)
        if isinstance(statistic, str) and statistic in get_args(Alternative):
            raise PrframeError(
                f"`statistic` must be numbers; got {statistic!r}; name the argument: "
                f"alternative={statistic!r}."
            )
        sides: dict[Alternative, tuple[Side, ...]] = {"greater": ("upper",), "less": ("lower",)}
        upper, lower, _ = self._tails("statistic", statistic, sides.get(alternative, BOTH))
        return shaped(sided(upper, lower, alternative))

    def isf(self, q: ArrayLike) -> Floats | float:
        """Return the least value x with P(X >= x) <= q: the critical value at level q.

        It is in the shape of q, an array_like of float in (0, 1]: a value that X takes, or less by
        no more than rounding, where these can be distinguished; elsewhere its probability is just
        below q, for AP by about .1 % of q. NaN where no value is as rare as that, and the least
        value where q is 1.
        """
        return self._quantiles(q, "upper")

    def ppf(self, q: ArrayLike) -> Floats | float:
        """Return the least value x with P(X <= x) >= q, as `isf` does; the largest for q = 1."""
        return self._quantiles(q, "lower")

    def using(self, method: Any) -> Self:  # noqa: ANN401 - each class has its own names
        """Return the same distribution, computed by another `method` that the class takes."""
        if method == getattr(self, "method", None):
            return self
        return type(self)(**(self._arguments() | {"method": method}))

    def rvs(self, size: int = 1, rng: Seed = None) -> Floats:
        """Draw values, shape (size,); `rng` is a seed, a generator or None."""
        size = checks.whole_number("size", size, at_least=1)
        return self._draws(size, random_generator(rng))

    def _quantiles(self, q: ArrayLike, side: Side) -> Floats | float:
        """Return quantiles of the upper or the lower tail."""
        levels = reals("q", q)
        if not ((levels > 0) & (levels <= 1)).all():
            raise PrframeError(f"`q` must lie in (0, 1]; got {checks.brief(q)}.")
        # At level 1 they are the ends of the values.
        quantiles = np.full(levels.shape, self.support()[side == "lower"])
        quantiles[levels < 1] = self._found(np.log(levels[levels < 1]), side)
        return shaped(quantiles)

    def _found(self, level: Floats, side: Side) -> Floats:
        """Return quantiles of one of the tails at logarithms of levels below 1."""
        sign = 1 if side == "upper" else -1
        apart = np.ones(level.size, np.bool_)

        def beyond(places: NDArray[np.int64], x: Floats) -> Floats:
            """Return how far the logarithm of the tail is beyond each level, 0 if close enough."""
            tails = self._tails("x", self._nearest_points(x), (side,))
            logs = tails.upper if side == "upper" else tails.lower
            apart[places] = self._are_apart(tails.method)
            with np.errstate(invalid="ignore"):
                far = np.clip(sign * (level[places] - logs) + _SLACK, -_LARGEST, _LARGEST)
            middle = far - np.where(apart[places], 0.0, self._close)
            is_close = np.abs(middle) <= self._close / 2
            return np.where(~apart[places] & is_close, 0.0, middle)

        def width(places: NDArray[np.int64], x: Floats) -> Floats:
            """Return the width of brackets that need not be narrower."""
            return np.maximum(self._width(x), np.where(apart[places], 0.0, _SMOOTH * self.std()))

        start = self.mean() - sign * self.std() * np.clip(ndtri_exp(level), -_FAR, _FAR)
        step = np.full(level.shape, self.std())
        _, found, reached = bracketed(beyond, start, step, self.support(), width)
        if side == "lower":
            return self._not_below(found)
        if apart.any():
            found[apart] = self._last_as_rare(found[apart])
        return np.where(reached, found, np.nan)

    @abstractmethod
    def _shape(self) -> tuple[float, float]:
        """Return skewness and excess kurtosis, NaN where the variance is 0."""

    @abstractmethod
    def _log_tails(self, x: Floats, sides: tuple[Side, ...]) -> BothTails:
        """Return the tails of distinct, rising numbers, infinite ones included."""

    @abstractmethod
    def _draws(self, size: int, generator: np.random.Generator) -> Floats:
        """Draw values, `size` in number."""

    @abstractmethod
    def _rounding(self, x: Floats) -> Floats:
        """Return by how much numbers may differ from x and still count as equal."""

    def _lattice(self) -> tuple[float, float] | None:
        """Return a value and the distance of neighbouring values, if values are on a lattice."""
        return None

    def _tails(self, name: str, x: ArrayLike, sides: tuple[Side, ...]) -> BothTails:
        """Return the tails of numbers, in their shape; those of NaN are NaN."""
        values = reals(name, x)
        defined = ~np.isnan(values)
        nothing = np.full(values.shape, np.nan)
        found = BothTails(nothing, nothing.copy(), np.full(values.shape, UNDEFINED, "<U11"))
        asked, places = np.unique(values[defined], return_inverse=True)
        if asked.size:
            tails = self._log_tails(asked, sides)
            # Probabilities of neighbours may differ by less than their errors, and must be
            # monotone.
            found.upper[defined] = np.minimum.accumulate(tails.upper)[places]
            found.lower[defined] = np.maximum.accumulate(tails.lower)[places]
            found.method[defined] = np.asarray(tails.method)[places]
        return found

    def _width(self, x: Floats) -> Floats:
        """Return the width of brackets that need not be narrower."""
        lattice = self._lattice()
        return np.full(x.shape, _CELL * lattice[1]) if lattice else self._rounding(x) / 2

    def _set(self, **attributes: object) -> None:
        """Set the attributes, which are frozen later on."""
        for name, value in attributes.items():
            object.__setattr__(self, name, value)

    def _are_apart(self, method: NDArray[np.str_]) -> NDArray[np.bool_]:
        """Whether probabilities by these methods tell the values that X takes apart."""
        return np.asarray((method == "exact") | (self._lattice() is not None))

    def _last_as_rare(self, above: Floats) -> Floats:
        """Return the largest value with the same P(X >= x) as each number, or just less."""
        lattice, (least, largest) = self._lattice(), self.support()
        # Values that are equal may differ in the last digit, and all of them are stepped over.
        rare = self._nearest_points(above) if lattice else above + self._rounding(above) / 2
        rare = np.minimum(rare, largest)
        gap = np.full(rare.shape, lattice[1]) if lattice else self._rounding(rare)
        kept = self._upper(rare) - _SLACK

        def lost(places: NDArray[np.int64], x: Floats) -> Floats:
            """Return 1 where P(X >= x) is less than at the number of each place, else -1."""
            return np.where((x > rare[places]) & (self._upper(x) < kept[places]), 1.0, -1.0)

        ends = (least, largest)
        last, _, is_lost = bracketed(lost, rare + gap, gap, ends, lambda _, x: self._width(x), 0)
        last = self._nearest_points(np.where(is_lost, np.maximum(last, rare), largest))
        if self._is_exact:
            return last
        # Numbers are moved below all values that count as equal, if they stay as rare.
        below = last - _COUNTED_ABOVE * self._rounding(last)
        return np.where(self._upper(below) <= kept + 2 * _SLACK, below, last)

    def _not_below(self, x: Floats) -> Floats:
        """Return numbers moved above all values that count as equal."""
        x = self._nearest_points(x)
        if self._is_exact:
            return x
        return np.minimum(x + _COUNTED_BELOW * self._rounding(x), self.support()[1])

    @property
    def _is_exact(self) -> bool:
        """Whether values are sums without rounding, as on a lattice of dyadic numbers."""
        lattice = self._lattice()
        return lattice is not None and all((_DYADIC * end).is_integer() for end in lattice)

    def _upper(self, x: Floats) -> Floats:
        """Return logarithms of P(X >= x), at points of the lattice if there is one."""
        return self._tails("x", self._nearest_points(x), ("upper",)).upper

    def _nearest_points(self, x: Floats) -> Floats:
        """Return the nearest points of the lattice; the numbers themselves without one."""
        lattice = self._lattice()
        if lattice is None:
            return x
        origin, step = lattice
        return origin + step * np.rint((x - origin) / step)


def _written(value: object) -> str:
    """Write an argument as a call has it; of long lists the first and last numbers."""
    if not isinstance(value, np.ndarray):
        return repr(value)
    if value.size <= _LONG_LIST:
        return repr(value.tolist())
    shown = [*map(repr, value[:_SHOWN].tolist()), "...", *map(repr, value[-_SHOWN:].tolist())]
    return f"[{', '.join(shown)}]"
