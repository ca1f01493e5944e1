"""The null distribution of average precision, under which every ranking is equally likely."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prframe import checks
from prframe.errors import PrframeError
from prframe.stats._arrays import reals
from prframe.stats._tolerances import EQUAL
from prframe.stats.null.average_precision.atoms import ap_atoms
from prframe.stats.null.average_precision.draws import drawn
from prframe.stats.null.average_precision.extremes import ap_extremes, ap_largest, beyond
from prframe.stats.null.average_precision.generating_function.steps import Items, log_binomial
from prframe.stats.null.average_precision.generating_function.walk import Group
from prframe.stats.null.average_precision.moments import (
    ap_null_moments,
    retrieved_blocks,
    retrieved_moments,
)
from prframe.stats.null.average_precision.search_starts import SearchStarts
from prframe.stats.null.average_precision.shape import ap_null_shape, retrieved_shape
from prframe.stats.null.average_precision.tails.neighbours import Sharing
from prframe.stats.null.average_precision.tails.null_tails import NullTails
from prframe.stats.null.average_precision.tails.routes import all_tails
from prframe.stats.null.average_precision.tails.tail import APNullMethod
from prframe.stats.null.base import NullDistribution, RisingOf
from prframe.stats.null.quantiles import Bracket, Search
from prframe.stats.null.tail_probabilities import BothTails, Side, shaped
from prframe.typing import Floats, Integers

# A value that AP can take is the quantile itself if they differ by less than this many times the
# rounding of AP.
_NEAR = 5
# Tails of these two are the same if their logarithms differ by no more than this.
_SAME_TAIL = 1e-9
# Quantiles are values that AP takes if the logarithm of the number of rankings is at most this.
_LOG_FEW = 18.0
# Otherwise they may be off by this share of their distance from the ends of the support.
_SAME = 1e-9
# In a rough search quantiles are this close to the level (`_close`), and so are those from walks
# with merged states, whose tails vary by some 3e-4 of themselves from one value to the next.
_ROUGHLY_CLOSE = 2e-3
# Elsewhere they are this close, as characteristic functions in single precision may differ by a
# few millionths with what other values are asked for.
_CLOSE = 6e-6
# With more tied items than this, and many rankings, a search knows neither shape nor least value.
_LONG = 10_000


@dataclass(frozen=True, eq=False, repr=False, init=False)
class APNull(NullDistribution):
    """The distribution of AP when all rankings of n items, n_pos of them positive, are alike.

    Probabilities, quantiles and p-values have the methods of every `NullDistribution`.

    Parameters
    ----------
    n : int
        Items, >= 1.
    n_pos : int
        Positives among them, 1..n.
    ties : sequence of int, optional
        Sizes of the tie blocks, best first, which add up to `n`, or to `depth`. AP counts at the
        ends of blocks, as with ``ties="group"``.
    depth : int, optional
        How many of the items are retrieved, 0..n; all unless given. Positives beyond the depth
        earn nothing and count in `n_pos`.
    method : {"auto", "exact", "lattice", "saddlepoint", "transform"}, default "auto"
        How probabilities are computed, see Notes.

    Attributes
    ----------
    n, n_pos, depth : int
    ties : ndarray of int or None
    method : str

    Raises
    ------
    PrframeError
        Numbers out of range, blocks that do not add up to n, or to depth, or, once probabilities
        are asked for, a method that cannot take so many rankings.

    Notes
    -----
    Equality counts on both sides, and values that differ by less than 1e-12 relative are equal.
    Tails are accurate relative to themselves, on both sides; `logsf` and `logcdf` go on where
    floats end. Without ties and without a depth ``sf(1) = 1/C(n, n_pos)``.

    "exact" counts rankings, and follows none further once it is decided. It is refused beyond
    4,194,304 rankings, of which those that differ within blocks or below the depth alone count as
    one; but up to three positives are counted by a search for the last of them, among up to 4,095
    tie blocks, or retrieved items without ties, and two among up to eight million. Up to three
    negatives are, without ties, among up to 11,585 items, or 67 million if there are but two.
    "lattice" walks down the ranks and merges states that nearly agree; it is refused with more
    than 400 positives and more than 400 negatives, unless few rankings are as good, or as bad.
    "saddlepoint" needs the generating function at a few real slopes; "transform" inverts the
    characteristic function of a tilted distribution.

    Without ties up to 100 million items may be retrieved, and 10^12 with one or two positives:
    beyond that neighbouring values of AP are as close as their rounding.

    "auto" counts where there are at most 65,536 rankings, or few that are good enough; walks where
    single rankings carry weight, or where the first few hits of rare positives decide; with ties,
    or more than 256 positives, takes a saddlepoint where the tilted distribution is nearly normal
    and the generating function has the exact mean and variance, or other steps agree; draws
    rankings, always the same, where tie blocks leave these unsure; and inverts in all other cases.
    With k > 3 negatives among n untied items, where k^2 is at most n / 1000, P(AP >= x) above the
    mean is the probability that a number with a gamma distribution of shape k is at most
    n_pos (1 - x) + k (k + 1) / (4n), within .1 %; `tails` says "gamma" then. Next to 1 rankings
    are counted by their pairs in the wrong order among a million items and more.

    The method that "auto" takes is within 1 % where P is above 1e-20 and within 2 % down to 1e-50;
    further out the logarithm has four digits. It may be up to 3 % off where the value itself
    weighs up to 6 % of the tail, as with few positives beside a large tie block. `tails` says
    "monte-carlo" of a standard error of up to 2.3 %, "estimate" if the inversion has not
    converged, and "bound" if P is at most that. If asked for, "lattice" may be 2 % off with a
    hundred positives, "saddlepoint" gives way to "transform", and that to a walk where the
    inversion does not converge.

    Quantiles are values that AP takes if there are at most exp(18) rankings and these are counted.
    Otherwise P(AP >= isf(q)) is at most q, and next to it as far as single rankings allow.

    Without ties the time hardly depends on the sizes: a value takes milliseconds to a second, also
    among 20 million items of which half are positive. Far from chance, or where the first few hits
    decide, rare positives among millions of items take up to some seconds. Each tie block is a
    step near the top; further down several blocks are one step.

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

    Of 1,000 items the first 100 are retrieved, where 10 positives are expected among 100:

    >>> null = APNull(n=1000, n_pos=100, depth=100)
    >>> print(f"{null.mean():.4f}, {null.isf(0.05):.4f}, {null.p_value(0.03):.4f}")
    0.0146, 0.0316, 0.0622
    """

    n: int
    n_pos: int
    ties: Integers | None
    depth: int
    method: APNullMethod

    def __init__(
        self,
        n: int,
        n_pos: int,
        ties: Sequence[int] | None = None,
        *,
        depth: int | None = None,
        method: APNullMethod = "auto",
    ) -> None:
        n = checks.whole_number("n", n, at_least=1)
        n_pos = checks.whole_number("n_pos", n_pos, at_least=1)
        if n_pos > n:
            raise PrframeError(f"`n_pos` must be at most n = {n}; got {n_pos}.")
        retrieved = n if depth is None else checks.whole_number("depth", depth, at_least=0)
        if retrieved > n:
            raise PrframeError(f"`depth` must be at most n = {n}; got {retrieved}.")
        blocks = None if ties is None else retrieved_blocks(ties, n, depth)
        checks.one_of("method", method, get_args(APNullMethod), in_order=True)
        self._set(n=n, n_pos=n_pos, ties=blocks, depth=retrieved, method=method)

    def _arguments(self) -> dict[str, object]:
        """Return the arguments that make this distribution, without those that are defaults."""
        given: dict[str, object] = {"n": self.n, "n_pos": self.n_pos}
        given |= {} if self.ties is None else {"ties": self.ties}
        given |= {"depth": self.depth} if self.depth < self.n else {}
        return given | ({"method": self.method} if self.method != "auto" else {})

    def using(self, method: APNullMethod) -> Self:
        """Return the same distribution, whose probabilities are computed by another method.

        Parameters
        ----------
        method : {"auto", "exact", "lattice", "saddlepoint", "transform"}

        Returns
        -------
        APNull

        Raises
        ------
        PrframeError
            Another method.
        """
        checks.one_of("method", method, get_args(APNullMethod), in_order=True)
        other = copy(self)
        object.__setattr__(other, "method", method)
        return other

    def mean(self) -> float:
        """Return the mean."""
        return float(self._moments[0])

    def var(self) -> float:
        """Return the variance."""
        return float(self._moments[1])

    def support(self) -> tuple[float, float]:
        """Return the least and the largest value."""
        return self._extremes

    def sf_bounds(self, x: ArrayLike, cell: float = 0.02) -> tuple[Floats | float, Floats | float]:
        """Return certified bounds of P(AP >= x).

        They are from the walk of "lattice" with every rounding down, and with every rounding up.

        Parameters
        ----------
        x : array_like of float
            Values of AP, each of which takes two walks.
        cell : float in (0, 1), default 0.02
            States become one if they are closer than this share of what they lack; smaller cells
            give closer bounds and take longer.

        Returns
        -------
        low, high : float or ndarray of float
            In the shape of x, NaN where x is NaN. The true value lies between them, but for
            rounding of floats (1e-12 relative).

        Raises
        ------
        PrframeError
            A value that is no number, `cell` out of range, or more than 400 positives and more
            than 400 negatives, unless few rankings are as good, or as bad.
        """
        checks.number("cell", cell, above=0, below=1)
        values = reals("x", x)
        bounds = [
            (np.nan, np.nan) if np.isnan(value) else self._null_tails.bounds(0, value, cell)
            for value in values.ravel().tolist()
        ]
        low, high = np.array(bounds).reshape(-1, 2).T
        return shaped(low.reshape(values.shape)), shaped(high.reshape(values.shape))

    @cached_property
    def _sizes(self) -> list[int] | None:
        """The sizes of the tie blocks; None without ties."""
        return None if self.ties is None else self.ties.tolist()

    @cached_property
    def _ends(self) -> Integers | None:
        """The ranks at which tie blocks end; None without ties."""
        return None if self.ties is None else np.cumsum(self.ties)

    @cached_property
    def _items(self) -> Items:
        """The items, of which the first are ranked, with the ends of tie blocks."""
        return Items(self.n, self.depth, self._ends)

    @cached_property
    def _extremes(self) -> tuple[float, float]:
        """The least and the largest value."""
        return ap_extremes(self._items, self.n_pos)

    @cached_property
    def _moments(self) -> tuple[Floats, Floats]:
        """The mean and the variance of AP."""
        if self.depth < self.n:
            return retrieved_moments(self.n, self.n_pos, self.depth, self._sizes)
        return ap_null_moments(self.n, self.n_pos, self._sizes)

    @cached_property
    def _null_tails(self) -> NullTails:
        """The tails of this distribution, by each of the methods."""
        depth = self.depth if self.depth < self.n else None
        return NullTails([Group(self.n, self.n_pos)], depth, self._ends)

    def _shape(self) -> tuple[float, float]:
        """Return skewness and excess kurtosis."""
        if self.depth < self.n:
            shape = retrieved_shape(self.n, self.n_pos, self.depth, self._sizes)
        else:
            shape = ap_null_shape(self.n, self.n_pos, self._sizes)
        return float(shape.skewness), float(shape.kurtosis)

    def _log_tails(self, x: Floats, sides: tuple[Side, ...]) -> BothTails:
        """Return the tails of rising numbers on the sides that are asked for."""
        nothing = np.full(x.shape, np.nan)
        tails = BothTails(nothing, nothing, np.full(x.shape, "exact", dtype="<U11"))
        if "lower" in sides:
            # Equality counts, so that P(AP <= x) is 1 - P(AP >= y) for y just beyond what equals
            # x.
            logs, method = self._reached(np.where(x >= 0, beyond(x, self._least_positive), x), 1)
            tails = BothTails(tails.upper, logs, method)
        if "upper" in sides:
            raised = np.where(x > 0, np.maximum(x, self._least_positive / 2), x)
            logs, method = self._reached(raised, 0)
            tails = tails._replace(upper=logs, method=method)
        return tails

    def _reached(self, x: Floats, side: int) -> tuple[Floats, NDArray[np.str_]]:
        """Return logarithms of P(AP >= x), or of P(AP < x), and the method of each."""
        logs, method = np.full(x.shape, (0.0, -np.inf)[side]), np.full(x.shape, "exact", "<U11")
        # With a depth, this class alone knows the least AP of all rankings.
        undecided = x > (self.support()[0] if self.ties is None else 0.0) * (1 + EQUAL)
        if not self.depth:
            logs[undecided] = (-np.inf, 0.0)[side]
        elif undecided.any():
            asked = x[undecided]
            group = np.zeros(asked.size, np.int64)
            (tails,) = all_tails([(self._null_tails, group, asked)], self.method)
            logs[undecided] = [tail[side] for tail in tails]
            method[undecided] = [tail.method for tail in tails]
        return logs, method

    def _rounding(self, x: Floats) -> Floats:
        """Return by how much AP may differ from x and still count as equal."""
        return np.abs(x) * EQUAL

    def _are_apart(self, method: NDArray[np.str_]) -> NDArray[np.bool_]:
        """Whether rankings were counted, and are few; other methods smooth over single values."""
        return np.asarray((method == "exact") & self._has_few_rankings)

    @property
    def _has_few_rankings(self) -> bool:
        """Whether rankings are so few that quantiles are to be values that AP takes."""
        return bool(self._null_tails.log_rankings[0] <= _LOG_FEW)

    def _narrow(self, x: Floats) -> Floats:
        """Return the width of brackets that need not be narrower."""
        width = super()._narrow(x)
        # No value but 0 is as close to 0 as that.
        width = np.maximum(
            width, np.where(x < self._least_positive, self._least_positive / 4, 0.0)
        )
        if self._has_few_rankings:
            return width
        least = 0.0 if self._is_long else self.support()[0]
        return np.maximum(width, _SAME * np.minimum(x - least, self._largest - x))

    def _begin(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return what a search begins with, without what would take longer than it saves."""
        return ((np.nan, np.nan), (0.0, self._largest)) if self._is_long else super()._begin()

    @property
    def _is_long(self) -> bool:
        """Whether there are so many tied items that the least value and the shape take long."""
        many = self.ties is not None and self.depth > _LONG
        return many and not self._has_few_rankings

    @property
    def _largest(self) -> float:
        """The largest value."""
        return ap_largest(self._items, self.n_pos)

    def _bracket(self, search: Search, rising: RisingOf) -> Bracket:
        """Search with rough walks first, and then from close by with walks that values share.

        The second search begins with the path that `sf` finds, on which tails of rare positives
        depend by up to 3e-4 of themselves.
        """
        rough = Sharing(is_rough=True)
        bracket = super(APNull, self._sharing(rough))._bracket(search, rising)
        if not rough.is_used:
            return bracket
        is_known = bracket.slope > 0
        again = search.begun(bracket.above, bracket.slope, is_known)
        again = replace(again, start=bracket.above)
        return super(APNull, self._sharing(rough.followed()))._bracket(again, rising)

    @property
    def _close(self) -> float:
        """By how much a quantile is beyond its level where values cannot be told apart."""
        shares = self._null_tails.shares
        if shares and (shares.is_merged or (shares.is_rough and shares.is_used)):
            return _ROUGHLY_CLOSE
        return _CLOSE

    def _sharing(self, shares: Sharing) -> Self:
        """Return the same distribution, whose neighbouring values share inversions."""
        other = copy(self)
        object.__setattr__(other, "_null_tails", self._null_tails.sharing(shares))
        return other

    def _rare(self, levels: Floats) -> Floats:
        """Return critical values, none of which lies between 0 and the least hit."""
        if not 0 < self.depth <= self.n - self.n_pos:
            return super()._rare(levels)
        # A single positive at the end of the list; a number next to 0 is as rare as that.
        least = (1 - EQUAL / 2) / (self.depth * self.n_pos)
        found = np.full(levels.size, least)
        is_rarer = np.log(levels) < self._log_any_hit
        if is_rarer.any():
            found[is_rarer] = np.maximum(super()._rare(levels[is_rarer]), least)
        return found

    @property
    def _log_any_hit(self) -> float:
        """The logarithm of the chance that a positive is retrieved, so that AP is not 0."""
        log_none = log_binomial(self.n - self.depth, self.n_pos) - log_binomial(self.n, self.n_pos)
        return float(np.log(-np.expm1(log_none)))

    def _search(self, levels: Floats, sign: Literal[-1, 1]) -> Search:
        """Return a search that begins where quantiles are likely to be."""
        search = super()._search(levels, sign)
        return self._starts.begun(search, levels.ravel()) if sign > 0 else search

    @cached_property
    def _starts(self) -> SearchStarts:
        """Where searches for critical values begin."""
        return SearchStarts(self._items, self.n_pos, self.mean(), self.std(), self._largest)

    def _taken(self, x: Floats, side: Side) -> Floats:
        """Return the least or the largest values of AP that equal quantiles but for rounding."""
        if self._atoms is None:
            return x
        near = _NEAR * self._rounding(np.maximum(x, self._least_positive))
        first = np.searchsorted(self._atoms, x - near)
        end = np.searchsorted(self._atoms, x + near, side="right")
        place = np.minimum(first if side == "upper" else end - 1, self._atoms.size - 1)
        taken = np.where(first < end, self._atoms[place], x)
        # Next to a value that is too likely it is not that value which is critical.
        tail = self.logsf if side == "upper" else self.logcdf
        moved = np.flatnonzero(taken != x)
        if moved.size:
            larger = np.asarray(tail(taken[moved])) > np.asarray(tail(x[moved])) + _SAME_TAIL
            taken[moved[larger]] = x[moved[larger]]
        return taken

    @property
    def _least_positive(self) -> float:
        """Return a number that no value of AP but 0 is below."""
        return 1 / (self.n * self.n_pos)

    @cached_property
    def _atoms(self) -> Floats | None:
        """The values that AP can take, rising; None where there are many."""
        return ap_atoms(self._items, self.n_pos)

    def _draws(self, size: int, generator: np.random.Generator) -> Floats:
        """Draw rankings."""
        return drawn(self._items, self.n_pos, size, generator)
