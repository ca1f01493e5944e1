"""The null distribution of average precision, under which every ranking is equally likely."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from prframe import checks
from prframe.errors import PrframeError
from prframe.stats._tolerances import EQUAL
from prframe.stats.null.average_precision.counting import beyond, drawn
from prframe.stats.null.average_precision.groups import Case, Cases
from prframe.stats.null.average_precision.moments import retrieved_blocks
from prframe.stats.null.average_precision.steps import APNullMethod, log_binomial
from prframe.stats.null.average_precision.walks.path import at_random
from prframe.stats.null.average_precision.walks.rows import Lanes
from prframe.stats.null.average_precision.walks.tilts import Course
from prframe.stats.null.base import BothTails, NullDistribution, Side
from prframe.typing import Floats, Integers

# Quantiles are values that AP takes if the logarithm of the number of rankings is at most this.
_LOG_FEW = 18.0
# The steps of the walk for skewness and kurtosis: so many single ranks, and this share of the rank
# further down.
_DENSE, _GROWTH = 256, 0.02


@dataclass(frozen=True, eq=False, repr=False, init=False)
class APNull(NullDistribution):
    """The distribution of AP if all rankings of n items, n_pos positive, are equally likely.

    Probabilities, quantiles and p-values have the methods of every `NullDistribution`.

    Parameters
    ----------
    n, n_pos : int
        Items, >= 1, and positives among them, 1..n.
    ties : sequence of int, optional
        Sizes of the tie blocks, best first, which add up to `n`, or to `depth`. AP counts at the
        ends of blocks, as with ``ties="group"``.
    depth : int, optional
        How many of the items are retrieved, 0..n; default all. Positives beyond the depth add
        nothing to AP but count in `n_pos`.
    method : {"auto", "exact", "lattice", "saddlepoint", "transform"}, default "auto"
        How probabilities are computed, see Notes.

    Raises
    ------
    PrframeError
        Numbers out of range, blocks that do not add up to n or to depth, or, when you ask for
        probabilities, too many rankings for the method.

    Notes
    -----
    "auto" counts rankings if they, or those at least as good, are few ("exact"), and uses a
    "lattice" if few hits are likely. Otherwise it uses a "saddlepoint" if the tilted AP is nearly
    normal, or inverts the characteristic function ("transform"). If tie blocks make AP cluster, it
    makes 50,000 tilted draws, always the same ("monte-carlo", standard error at most .5 %). P is
    within 1 % down to 1e-12 and 3 % down to 1e-30, lower tails within 2 % down to 1e-6, for 2 to
    20 million items, one in a million to 90 % of them positive, any ties and any depth. Beyond
    that, and if no method has a small enough error bound, `tails` says "estimate", and log P is
    within 5 %.

    Examples
    --------
    Of 45 rankings one has both positives at the top, and one more has an AP of at least 5/6.

    >>> null = APNull(n=10, n_pos=2)
    >>> round(45 * null.sf(1.0), 6), round(45 * null.sf(5 / 6), 6)
    (1.0, 2.0)

    A tail, and the critical value of a test at 5 %, if the first 100 items are retrieved:

    >>> null = APNull(n=1000, n_pos=100, depth=100)
    >>> print(f"{null.isf(0.05):.4f}, {null.p_value(0.03):.4f}")
    0.0316, 0.0622
    """

    n: int
    n_pos: int
    ties: Integers | None
    depth: int
    method: APNullMethod

    # A critical value whose probability is within .1 % of the level is close enough.
    _close = 1e-3

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

    def mean(self) -> float:
        """Return the mean."""
        return float(self._cases.mean[0])

    def var(self) -> float:
        """Return the variance."""
        return float(self._cases.variance[0])

    def support(self) -> tuple[float, float]:
        """Return the least and the largest value."""
        return self._cases.support(0)

    @cached_property
    def _cases(self) -> Cases:
        """The distribution as one group."""
        return Cases([self._case])

    @property
    def _case(self) -> Case:
        """What makes the distribution."""
        ties = None if self.ties is None else tuple(self.ties.tolist())
        return Case(self.n, self.n_pos, self.depth, ties)

    def _shape(self) -> tuple[float, float]:
        """Return skewness and excess kurtosis, of the tilted walk with slope 0."""
        steps = self._case.items.table(_DENSE, _GROWTH)
        if self.n_pos == self.n or steps.size.size == 1:
            return np.nan, np.nan
        lanes = Lanes.of([steps], [self.n_pos])
        state = Course.planned(lanes, at_random(lanes)).tilt(np.zeros(1)).state
        second, third, fourth = (float(column[0]) for column in state[2:])
        return (third / second**1.5, fourth / second**2) if second > 0 else (np.nan, np.nan)

    def _log_tails(self, x: Floats, sides: tuple[Side, ...]) -> BothTails:
        """Return the tails of rising numbers on the sides that are asked for."""
        least = 1 / (self.n * self.n_pos)
        upper, lower = np.full((2, x.size), np.nan)
        method = np.full(x.size, "exact", dtype="<U11")
        if "lower" in sides:
            # Equality counts: P(AP <= x) is 1 - P(AP >= y) for y just beyond what equals x.
            above = np.where(x >= 0, beyond(x, least), x)
            lower, method = self._reached(above, 1)
        if "upper" in sides:
            upper, method = self._reached(np.where(x > 0, np.maximum(x, least / 2), x), 0)
        return BothTails(upper, lower, method)

    def _reached(self, x: Floats, side: int) -> tuple[Floats, NDArray[np.str_]]:
        """Return logarithms of P(AP >= x), or of P(AP < x), and the method of each."""
        finite = np.clip(np.nan_to_num(x), -1.0, 2.0)
        tails = Cases([self._case] * x.size).tails(finite, self.method) if x.size else []
        logs = np.array([tail[side] for tail in tails], dtype=np.float64)
        return logs, np.array([tail.method for tail in tails], dtype="<U11")

    def _rounding(self, x: Floats) -> Floats:
        """Return by how much AP may differ from x and still count as equal."""
        return np.abs(x) * EQUAL

    def _are_apart(self, method: NDArray[np.str_]) -> NDArray[np.bool_]:
        """Whether rankings were counted, and are few; other methods smooth over single values."""
        is_few = log_binomial(self.n, self.n_pos) <= _LOG_FEW
        return np.asarray((method == "exact") & is_few)

    def _draws(self, size: int, generator: np.random.Generator) -> Floats:
        """Draw rankings."""
        return drawn(self._case.items, self.n_pos, size, generator)
