"""How an interval is to cover a quantity: at which level, at which ends, within which range."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from math import isnan

import numpy as np
from scipy.special import ndtr, stdtrit

from prframe import checks
from prframe.stats._p_values import check_alternative
from prframe.typing import Alternative

_UNBOUNDED = (-np.inf, np.inf)
# No interval misses the quantity with a smaller probability, as levels near 1 are not exact.
_LEAST_TAIL = 1e-12


@dataclass(frozen=True)
class Confidence:
    """The coverage of an interval, the ends that it bounds, and the range of the quantity.

    Attributes
    ----------
    level : float in (0, 1)
        Coverage.
    alternative : {"two-sided", "less", "greater"}
        As in `scipy.stats.bootstrap`: ``"less"`` gives an upper confidence bound and
        ``"greater"`` a lower one, and the other end is that of the range.
    limits : tuple of float
        The range of the estimated quantity, to which the ends are clipped; infinite if there is
        none.

    Examples
    --------
    >>> Confidence(0.9, "greater").ends(low=0.3, high=0.6)
    (0.3, inf)
    """

    level: float = 0.95
    alternative: Alternative = "two-sided"
    limits: tuple[float, float] = _UNBOUNDED

    def __post_init__(self) -> None:
        """Check the level and the alternative."""
        checks.number("confidence_level", self.level, above=0, below=1)
        check_alternative(self.alternative)

    @classmethod
    def of(cls, given: Confidence | None) -> Confidence:
        """Return what a caller gives, or 95 %, two-sided and without limits."""
        checks.instance("confidence", cls() if given is None else given, cls)
        return given or cls()

    @property
    def tail(self) -> float:
        """The probability of missing the quantity that is allowed at each bounded end."""
        return (1 - self.level) / (2 if self.alternative == "two-sided" else 1)

    def expanded(self, n: int) -> Confidence:
        """Return the level at which quantiles of resamples cover in samples of n units.

        Resamples vary less than samples do, by ``sqrt((n - 1) / n)``, and as a normal distribution
        where Student's would be right. So the tail a becomes ``Phi(-sqrt(n / (n - 1)) t_{n-1}(1 -
        a))`` (Hesterberg, *What teachers should know about the bootstrap*, 2015, section 5.3).
        """
        n = max(n, 2)
        tail = float(ndtr(np.sqrt(n / (n - 1)) * stdtrit(n - 1, self.tail)))
        sides = 2 if self.alternative == "two-sided" else 1
        return replace(self, level=1 - sides * max(tail, _LEAST_TAIL))

    def ends(self, low: float, high: float) -> tuple[float, float]:
        """Clip both ends, and open the one that the alternative leaves unbounded.

        Both are NaN if an end that is bounded is NaN.
        """
        least, most = self.limits
        # NaN, which is neither smaller nor larger, stays.
        low = least if self.alternative == "less" else min(max(float(low), least), most)
        high = most if self.alternative == "greater" else min(max(float(high), least), most)
        return (np.nan, np.nan) if isnan(low) or isnan(high) else (low, high)


@lru_cache
def within(confidence: Confidence, limits: tuple[float, float]) -> Confidence:
    """Return the same for a quantity of some range; the groups of a call share these."""
    return replace(confidence, limits=limits)
