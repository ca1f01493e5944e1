"""Tails from walks, of which those of many values go side by side."""

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

from prframe.stats.null.average_precision.tails.merged.walk import Tails, Walk, walked
from prframe.stats.null.average_precision.tails.tail import Tail, as_tail, extrapolated, log_rest

# Tails from two walks are estimates if the extrapolation changes a logarithm by more than this.
_APART = 0.01


class Merger(NamedTuple):
    """The walks for one value of AP.

    If the first walk merges states, and there is a second one with closer cells, the logarithm of
    the tail is extrapolated from both to cells of width 0, as its error grows with the square of
    the width.

    Attributes
    ----------
    first : Walk
    second : Walk, optional
    log_least : float
        The logarithm of the chance of one ranking, which tails are raised to.
    may_be_empty : bool
        Whether it may be that no ranking reaches the value, as with ties or a depth.
    """

    first: Walk
    second: Walk | None = None
    log_least: float = -inf
    may_be_empty: bool = True

    def tail(self, wide: Tails, narrow: Tails | None) -> Tail:
        """Return the tails from those of the walks, of which the second may not be needed."""
        if narrow is None:
            tail = as_tail(wide)
            return self._possible(tail._replace(method="estimate") if wide.is_widened else tail)
        if narrow.reached <= narrow.missed:
            reached = min(extrapolated(wide.reached, narrow.reached), 0.0)
            tail, apart = Tail(reached, log_rest(reached), "lattice"), reached - narrow.reached
        else:
            missed = min(extrapolated(wide.missed, narrow.missed), 0.0)
            tail, apart = Tail(log_rest(missed), missed, "lattice"), missed - narrow.missed
        is_close = abs(apart) <= _APART and not narrow.is_widened
        return self._possible(tail if is_close else tail._replace(method="estimate"))

    def _possible(self, tail: Tail) -> Tail:
        """Raise tails to the chance of a ranking, unless no ranking may reach the value."""
        reached = tail.log_reached
        if reached > -inf or not self.may_be_empty:
            reached = max(reached, self.log_least)
        return Tail(reached, max(tail.log_missed, self.log_least), tail.method)


def merged_tails(mergers: Sequence[Merger]) -> list[Tail]:
    """Return the tails of values by walks."""
    firsts = walked([merger.first for merger in mergers])
    pairs = list(zip(mergers, firsts, strict=True))
    seconds = [merger.second for merger, first in pairs if first.is_merged]
    again = iter(walked([second for second in seconds if second is not None]))
    return [
        merger.tail(first, next(again) if first.is_merged and merger.second else None)
        for merger, first in pairs
    ]
