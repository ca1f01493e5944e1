"""Tails of AP with their methods, and the hints of quick methods about them."""

from math import expm1, inf, isnan, log
from typing import Literal, NamedTuple, TypeAlias

from prframe.errors import PrframeError
from prframe.stats.null.average_precision.tails.merged.walk import Tails
from prframe.stats.null.average_precision.tails.neighbours import PlannedTail
from prframe.stats.null.average_precision.tails.plain.lattice import LatticeTails

APNullMethod: TypeAlias = Literal["auto", "exact", "lattice", "saddlepoint", "transform"]


# Tails are accurate among so many retrieved items without ties.
LARGEST_DEPTH = 10**8


class Tail(NamedTuple):
    """The logarithms of P(AP >= x) and P(AP < x), and the method."""

    log_reached: float
    log_missed: float
    method: str


# The pair is a group and a value of its AP.
Asked: TypeAlias = tuple[int, float]


class Hint(NamedTuple):
    """Tails from a lattice or the generating function, and the slope of their logarithms."""

    tail: Tail
    slope: float
    is_accurate: bool
    is_from_lattice: bool = False


def as_hints(tails: LatticeTails) -> list[Hint | None]:
    """Return the hints from a lattice; None where its terms were too few for so small a tail."""
    hints: list[Hint | None] = []
    for reached, missed, slope, lumpy in zip(*(column.tolist() for column in tails), strict=True):
        method = "estimate" if lumpy else "lattice"
        tail = Tail(min(reached, 0.0), min(missed, 0.0), method)
        hints.append(None if isnan(slope) else Hint(tail, slope, not lumpy, is_from_lattice=True))
    return hints


def planned_hint(tail: PlannedTail | None) -> Hint | None:
    """Return the hint from a group's own walk; None where that gave no tails."""
    if tail is None:
        return None
    logs = Tail(tail.log_reached, tail.log_missed, tail.method)
    return Hint(logs, abs(tail.slope), is_accurate=tail.is_accurate)


def refuse_large(depth: int, n_pos: int, most: int) -> None:
    """Refuse tails among more retrieved items than floats can tell apart."""
    if depth > most:
        raise PrframeError(
            f"AP with n_pos={n_pos} and {depth:,} retrieved items has no p-value here: "
            f"beyond {most:,} items, neighbouring values are as close as their rounding. Draw "
            "random rankings instead, in ap_test with method='monte-carlo'; if the ranking is cut "
            "off, say where."
        )


def constant_tail(*, is_reached: bool) -> Tail:
    """Return the tails of a value where AP is constant."""
    return Tail(0.0, -inf, "exact") if is_reached else Tail(-inf, 0.0, "exact")


def as_tail(tails: Tails) -> Tail:
    """Return the tails of a walk with its method."""
    method = "exact" if tails.is_exact else "lattice"
    # Sums of chances may be off in the last digit, and differ from 1 where the other tail is 0.
    reached = 0.0 if tails.missed == -inf else min(tails.reached, 0.0)
    missed = 0.0 if tails.reached == -inf else min(tails.missed, 0.0)
    return Tail(reached, missed, method)


def log_rest(log_chance: float) -> float:
    """Return the logarithm of 1 minus a chance."""
    return log(-expm1(log_chance)) if log_chance < 0 else -inf


def extrapolated(wide: float, narrow: float) -> float:
    """Return the logarithm of a tail, extrapolated to cells of width 0."""
    return narrow + (narrow - wide) / 3 if wide > -inf else narrow
