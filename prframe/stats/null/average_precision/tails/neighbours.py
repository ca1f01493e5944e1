"""What a search for a quantile of AP keeps of one value of T for the values next to it.

A walk made for one value serves others nearby, whose own would hardly differ.
"""

from dataclasses import dataclass, field
from math import log
from typing import NamedTuple

import numpy as np

from prframe.stats.null.average_precision.generating_function.inversion import Inversion
from prframe.stats.null.average_precision.generating_function.lanes import Lanes, Path
from prframe.stats.null.average_precision.generating_function.saddlepoint import (
    Points,
    moved,
    tails,
)

# The second term of the saddlepoint's formula must change the tail by less than this share of it.
DOUBTED = 0.02
# An inversion serves values up to so many tilted standard deviations away from that which it was
# made for, where the integral may be smaller by the second factor. Its absolute error is the same.
_NEARBY, _NEARBY_ROUGHLY = (0.25, 4.0), (1.0, 100.0)
# A saddlepoint serves values this far away, or roughly so far. Walks along paths of values further
# away give tails that differ by some 1e-5 of themselves.
_NEXT, _NEXT_ROUGHLY = 5e-4, 0.25


class PlannedTail(NamedTuple):
    """The logarithms of P(T >= target) and P(T < target), the slope, and the method."""

    log_reached: float
    log_missed: float
    slope: float
    method: str

    @classmethod
    def of(cls, log_tail: float, slope: float, method: str) -> "PlannedTail":
        """Return both tails from that on the side of the slope."""
        log_rest = float(np.log(-np.expm1(log_tail))) if log_tail < 0 else -np.inf
        logs = (log_tail, log_rest) if slope >= 0 else (log_rest, log_tail)
        return cls(*logs, slope, method)

    @property
    def log_tail(self) -> float:
        """The logarithm of the tail on the side of the slope."""
        return self.log_reached if self.slope >= 0 else self.log_missed

    @property
    def is_accurate(self) -> bool:
        """Whether the value is neither an estimate nor a bound."""
        return self.method in {"saddlepoint", "transform"}


class KeptInversion(NamedTuple):
    """An inversion along the path of one value, with a slope; it serves values nearby as well.

    Unless it is sure that the path is the one that matters, tails are estimates.
    """

    inversion: Inversion
    slope: float
    target: float
    is_rough: bool
    is_sure: bool = True

    def near(self, target: float) -> PlannedTail | None:
        """Return the tails of a value if its own path would hardly differ; None otherwise."""
        tilt = self.inversion.tilts.at(self.slope)
        nearby, smaller = _NEARBY_ROUGHLY if self.is_rough else _NEARBY
        if abs(target - self.target) > nearby * tilt.variance[0] ** 0.5:
            return None
        own, tail = self.tail(self.target), self.tail(target)
        fallen = own.log_tail - tail.log_tail - self.slope * (target - self.target)
        return tail if fallen <= log(smaller) and tail.method == own.method else None

    def tail(self, target: float) -> PlannedTail:
        """Return the tails of a value."""
        at = self.inversion.at(self.slope, np.zeros(1, np.int64), np.array([target]))
        log_tail = float((at.reached if self.slope > 0 else at.missed)[0])
        is_accurate = at.converged[0] and self.is_sure
        method = "bound" if at.bounded[0] else "transform" if is_accurate else "estimate"
        return PlannedTail.of(log_tail, self.slope, method)


class KeptSaddlepoint(NamedTuple):
    """The saddlepoint of one value, and the derivatives there; it serves values nearby as well."""

    points: Points
    target: float
    is_rough: bool

    def near(self, target: float) -> PlannedTail | None:
        """Return the tails of a value if its own walk would hardly differ; None otherwise."""
        nearby = _NEXT_ROUGHLY if self.is_rough else _NEXT
        if abs(target - self.target) > nearby * self.points.second[0] ** 0.5:
            return None
        other = np.array([target])
        points = moved(self.points, np.array([self.target]), other)
        tail = tails(points, other)
        if not tail.doubt[0] < DOUBTED:
            return None
        return PlannedTail.of(float(tail.log_tail[0]), float(points.slope[0]), "saddlepoint")


class KnownPath(NamedTuple):
    """The path of a value of T, and whether saddlepoints nearby are far from being accurate."""

    lanes: Lanes
    path: Path
    target: float
    is_hopeless: bool


@dataclass
class Shared:
    """What neighbouring values of a group share, in rough walks or not.

    Rough walks have fewer steps, and inversions of them serve more values. `is_merged` and
    `is_coarse` tell whether values needed walks with merged states, or closer lattices or more of
    the first hits, which rough tails do without; `futile` has the values of T whose saddlepoints
    are not trusted, and how far this holds. `beyond` has, by the logarithm of a tail, the largest
    T whose rough tail is above it and the least one whose is below. Characteristic functions are
    expected to have died away at a frequency, which rough walks tell.
    """

    is_rough: bool
    paths: list[KnownPath] = field(default_factory=list)
    inversions: list[KeptInversion] = field(default_factory=list)
    saddlepoints: list[KeptSaddlepoint] = field(default_factory=list)
    expected: float = 0.0
    is_merged: bool = False
    is_coarse: bool = False
    futile: list[tuple[float, float]] = field(default_factory=list)
    beyond: dict[float, tuple[float, float]] = field(default_factory=dict)

    @property
    def needed(self) -> float:
        """The frequency that the last inversion needed, 0 without any."""
        return self.inversions[-1].inversion.needed if self.inversions else 0.0

    def near(self, target: float) -> PlannedTail | None:
        """Return the tails of a value by what was found for a neighbour; None without one."""
        known: list[KeptInversion | KeptSaddlepoint] = [*self.inversions, *self.saddlepoints]
        found = (kept.near(target) for kept in known)
        return next((tail for tail in found if tail is not None), None)

    def is_beyond(self, target: float, level: float) -> bool | None:
        """Return whether the rough tail of a value is below a level; None if this is not known."""
        above, below = self.beyond.get(level, (-np.inf, np.inf))
        return True if target >= below else False if target <= above else None

    def note(self, target: float, level: float, *, is_beyond: bool) -> None:
        """Note whether the rough tail of a value is below a level, as all further out are then."""
        above, below = self.beyond.get(level, (-np.inf, np.inf))
        ends = (above, min(target, below)) if is_beyond else (max(target, above), below)
        self.beyond[level] = ends

    def forget(self) -> None:
        """Leave nothing to be found for neighbours."""
        self.inversions.clear()
        self.saddlepoints.clear()


@dataclass(frozen=True)
class Sharing:
    """What neighbouring values share by group."""

    is_rough: bool = False
    groups: dict[int, Shared] = field(default_factory=dict)

    @property
    def is_used(self) -> bool:
        """Whether any value had a walk of its own."""
        groups = self.groups.values()
        return self.is_merged or any(own.paths or own.futile or own.is_coarse for own in groups)

    @property
    def is_merged(self) -> bool:
        """Whether any value needed walks with merged states."""
        return any(shared.is_merged for shared in self.groups.values())

    def followed(self) -> "Sharing":
        """Return what values share in exact walks that follow rough ones."""
        groups = self.groups.items()
        each = {
            at: Shared(is_rough=False, expected=own.needed, beyond=own.beyond)
            for at, own in groups
        }
        return Sharing(groups=each)

    def of(self, group: int) -> Shared:
        """Return what the values of a group share."""
        if group not in self.groups:
            self.groups[group] = Shared(self.is_rough)
        return self.groups[group]
