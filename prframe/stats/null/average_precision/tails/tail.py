"""Tails of AP, how they were found, and what quick methods know of them."""

from math import expm1, inf, isnan, log
from typing import Literal, NamedTuple, TypeAlias

from prframe.stats.null.average_precision.tails.lattice import LatticeTails
from prframe.stats.null.average_precision.tails.merged_walk import Tails
from prframe.stats.null.average_precision.tails.planned import PlannedTail

APNullMethod: TypeAlias = Literal["auto", "exact", "lattice", "saddlepoint", "transform"]


class Tail(NamedTuple):
    """Logarithms of P(AP >= x) and P(AP < x), and how they were found."""

    log_reached: float
    log_missed: float
    method: str


# A group, and a value of its AP.
Asked: TypeAlias = tuple[int, float]


class Hint(NamedTuple):
    """What the inversion knows: tails, and the slope of their logarithms."""

    tail: Tail
    slope: float
    is_settled: bool
    is_from_lattice: bool = False


def lattice_hints(tails: LatticeTails) -> list[Hint | None]:
    """Return what a lattice tells; None where it does not reach."""
    hints: list[Hint | None] = []
    for reached, missed, slope, lumpy in zip(*(column.tolist() for column in tails), strict=True):
        method = "estimate" if lumpy else "lattice"
        tail = Tail(min(reached, 0.0), min(missed, 0.0), method)
        hints.append(None if isnan(slope) else Hint(tail, slope, not lumpy, is_from_lattice=True))
    return hints


def planned_hint(tail: PlannedTail | None) -> Hint | None:
    """Return what a walk of its own tells; None where it tells nothing."""
    if tail is None:
        return None
    logs = Tail(tail.log_reached, tail.log_missed, tail.method)
    return Hint(logs, abs(tail.slope), is_settled=tail.is_settled)


def constant_tail(*, is_reached: bool) -> Tail:
    """Return the tails of a value where AP is certain."""
    return Tail(0.0, -inf, "exact") if is_reached else Tail(-inf, 0.0, "exact")


def as_tail(tails: Tails) -> Tail:
    """Return them with how they were found."""
    method = "exact" if tails.is_exact else "lattice"
    # Sums of chances may be wrong in the last digit, and not 1 where the rest is 0.
    reached = 0.0 if tails.missed == -inf else min(tails.reached, 0.0)
    missed = 0.0 if tails.reached == -inf else min(tails.missed, 0.0)
    return Tail(reached, missed, method)


def log_rest(log_chance: float) -> float:
    """Return the logarithm of 1 less a chance."""
    return log(-expm1(log_chance)) if log_chance < 0 else -inf


def extrapolated(wide: float, narrow: float) -> float:
    """Return the logarithm for cells of no width."""
    return narrow + (narrow - wide) / 3 if wide > -inf else narrow
