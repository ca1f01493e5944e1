"""What is asked, and what is found: a value of AP in its group, and both tails with a method."""

from math import expm1, inf, log
from typing import Literal, NamedTuple, TypeAlias

from prframe.stats.null.average_precision.steps import Items, Steps

APNullMethod: TypeAlias = Literal["auto", "exact", "lattice", "saddlepoint", "transform"]


class Tail(NamedTuple):
    """The logarithms of P(AP >= x) and P(AP < x), and the method."""

    log_reached: float
    log_missed: float
    method: str

    @classmethod
    def of(cls, log_tail: float, method: str, *, is_upper: bool) -> "Tail":
        """Return both tails, given the logarithm of one."""
        log_tail = min(log_tail, 0.0)
        other = log(-expm1(log_tail)) if log_tail < 0 else -inf
        return cls(log_tail, other, method) if is_upper else cls(other, log_tail, method)


class Problem(NamedTuple):
    """A value of T = n_pos AP, and the rankings that make its distribution.

    `mean` and `deviation` are those of T under random ranking. A problem that `is_fine_below` has
    short steps at the last ranks: low values, and those near 1 where negatives are few.
    """

    items: Items
    n_pos: int
    target: float
    mean: float
    deviation: float
    is_fine_below: bool = False

    @property
    def steps(self) -> Steps:
        """The steps of the walk."""
        return self.items.table(is_fine_below=self.is_fine_below)

    @property
    def key(self) -> tuple[object, ...]:
        """What tells problems apart: n, depth, the ends of tie blocks, and all else."""
        ends = None if self.items.ends is None else self.items.ends.tobytes()
        return self.items.n, self.items.depth, ends, *self[1:]
