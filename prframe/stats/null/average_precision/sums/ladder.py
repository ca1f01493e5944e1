"""The distribution of one AP on a lattice, as fine as sums of many of them need it.

In a sum of many AP each of them may be much less than the distance at which the sum has to be
known, and its weight would be laid on the points 0 and 1. The lattice is therefore finer than
that, and the distribution is found by several walks (`tails.plain.walk`): the finest one for the
least values, and for larger ones walks with points further and further apart. All of them share
weight between points so that the mean is kept.
"""

from collections.abc import Iterator, Sequence
from math import ceil, log
from typing import NamedTuple

import numpy as np

from prframe.stats.null.average_precision.sums.terms import Term
from prframe.stats.null.average_precision.tails.plain.plans import Plans, Retrieved, Shape
from prframe.stats.null.average_precision.tails.plain.walk import Walk
from prframe.typing import Floats, Integers

# The points of a walk are about this many times as far apart as those of the walk before it.
_FURTHER = 8.0


class Grid(NamedTuple):
    """A lattice.

    Attributes
    ----------
    cell : float
        The distance at which the sum has to be known.
    fine : int
        The number of points of a cell.
    cells : int
        The number of cells.
    """

    cell: float
    fine: int
    cells: int

    @property
    def size(self) -> int:
        """The number of points."""
        return self.cells * self.fine + 1

    @property
    def bands(self) -> list[tuple[int, int]]:
        """How many points of the lattice a point of each walk is, and its last point.

        No walk has more points than the last one, which has a point for each cell.
        """
        further = ceil(log(self.fine) / log(_FURTHER))
        steps = [round(self.fine ** (step / further)) for step in range(further)]
        return [(each, self.cells) for each in [*steps, self.fine]]


class OnLattice(NamedTuple):
    """The chances of the points of a lattice, and of all values beyond them."""

    inside: Floats
    beyond: float


class Alike(NamedTuple):
    """Terms that share walks, and the plans of these."""

    terms: Sequence[Term]
    plans: Plans

    @classmethod
    def of(cls, terms: Sequence[Term]) -> "Alike":
        """Return terms that share walks: they have equal blocks."""
        cases = [retrieved(term) for term in terms]
        return cls(terms, Plans(Shape.of(cases, terms[0].items.ends)))


def retrieved(term: Term) -> Retrieved:
    """Return n, n_pos and depth of a term, without its tie blocks."""
    return Retrieved(term.items.n, term.n_pos, term.items.depth)


class Ladder:
    """Walks to terms, the finest first.

    Parameters
    ----------
    alike : Alike
    grid : Grid
    never : float
        Chances whose logarithm is below this do not count.
    """

    def __init__(self, alike: Alike, grid: Grid, never: float) -> None:
        self._alike, self._grid = alike, grid
        n_pos = [term.n_pos for term in alike.terms]
        self._least = min(n_pos)
        self._walks = []
        for fine, points in grid.bands:
            # No AP is above 1, so that the walk may end there.
            top = min(points * fine * self._unit, 1.0) * max(n_pos)
            self._walks.append(Walk(alike.plans, top, fine * self._unit * self._least, never))

    @property
    def _unit(self) -> float:
        """The distance of the points of the lattice."""
        return self._grid.cell / self._grid.fine

    def distributions(self) -> Iterator[tuple[OnLattice, int]]:
        """Yield the distribution of the AP of each term, and how often it is added."""
        for term in self._alike.terms:
            yield self._of(retrieved(term)), term.often

    def _of(self, case: Retrieved) -> OnLattice:
        """Return the distribution of the AP of a case."""
        size, begun = self._grid.size, 0
        inside, beyond = np.zeros(size), 0.0
        for walk, (fine, points) in zip(self._walks, self._grid.bands, strict=True):
            weight, beyond = walk.weights(case)
            laid = _laid(weight, self._least / case.n_pos, points + 1)
            beyond += float(laid[points + 1 :].sum())
            end = points * fine
            # A point of the walk stands for values between its neighbours, the nearer the more.
            place = np.arange(begun // 2, end + 1)
            own = np.interp(place / fine, np.arange(points + 1), laid[: points + 1]) / fine
            inside[place] += np.asarray(own) * _window(
                place, begun, 0 if fine == self._grid.fine else end
            )
            # What the last point stands for lies beyond the lattice in part.
            beyond += float(laid[points]) * (1 - 1 / fine) / 2
            begun = end
        # Chances of hits are rounded, which many terms would multiply.
        total = float(inside.sum()) + beyond
        return OnLattice(inside / total, beyond / total)


def _window(place: Integers, begun: int, end: int) -> Floats:
    """Return the share that a walk has of points, which it takes over from one and leaves to one.

    They change over from half of `begun` to it, and from half of `end` to it; 0 stands for none.
    """
    rise = np.clip(2 * place / begun - 1, 0.0, 1.0) if begun else np.ones(place.size)
    fall = np.clip(2 - 2 * place / end, 0.0, 1.0) if end else np.ones(place.size)
    return np.asarray(rise * fall)


def _laid(weight: Floats, ratio: float, least: int) -> Floats:
    """Lay weight at points on others, which are `ratio` times as many; share it and keep the mean.

    At least so many points are returned.
    """
    point, part = np.divmod(np.arange(weight.size) * ratio, 1.0)
    place = point.astype(np.int64)
    number = max(int(place[-1]) + 2, least)
    below, above = weight * (1 - part), weight * part
    laid = np.bincount(place, below, number) + np.bincount(place + 1, above, number)
    return np.asarray(laid, dtype=np.float64)
