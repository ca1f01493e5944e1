"""Tails of the sum of the AP of rankings of which few carry most of the weight, on a lattice.

Where positives are rare a sum takes few values, or clusters about what single rankings earn, and
neither a saddlepoint nor the inversion is accurate. The distribution of each AP is found on a
lattice (`ladder`), and all of them are added up under a slope that makes the value likely, so that
no digits are lost far out (`tilted`). Cells twice as wide tell how much the lattice matters.
"""

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import groupby
from math import ceil, log

import numpy as np

from prframe.stats.null.average_precision.sums.ladder import (
    Alike,
    Grid,
    Ladder,
    OnLattice,
    retrieved,
)
from prframe.stats.null.average_precision.sums.terms import Term
from prframe.stats.null.average_precision.sums.tilted import Rough, Tilted, slope_of
from prframe.stats.null.average_precision.tails.plain.lattice import (
    DEEPER,
    MOST_HITS,
    combined_tails,
)
from prframe.stats.null.average_precision.tails.plain.plans import likely_hits, walk_terms
from prframe.stats.null.average_precision.tails.plain.walk import nearby
from prframe.stats.null.average_precision.tails.tail import Tail
from prframe.typing import Floats

# These numbers of cells up to the value are tried until two in a row agree.
_CELLS = (512, 1024, 2048, 4096, 8192)
# With 4096 cells points are so close that a mean AP is this many times as large as their distance.
# The weight that is shared between points is also to add no more to the standard deviation of the
# sum than half a cell, so that single values of the sum stay apart.
_CLOSE = 16
# Values share a lattice if their logarithms to this base have the same whole part.
_ALIKE_TARGETS = 2.0
# Terms share a walk if the logarithms of their numbers of positives to this base have the same
# whole part.
_ALIKE_VALUES = 4.0
# The most work of all walks, in terms times points of the lattice, which takes some seconds. More
# points are not tried beyond this.
_MOST_WORK = 1e10
# Adding two numbers on a lattice of N points takes as long as this times N log N terms.
_WORK_OF_SUMS = 30.0
# A lattice is tried first where fewer positives than this are expected in a ranking, or at the
# first ranks of all rankings together.
_RARE, _RARE_ON_TOP = 1.0, 0.1
# If logarithms from lattices of two widths differ by less than this, they give an estimate.
_ESTIMATED = 0.5


def lattice_sum_tails(
    terms: Sequence[Term], targets: Floats, guesses: Floats
) -> list[Tail | None]:
    """Return the tails of values of a sum; None where a lattice is too coarse, or would take long.

    `guesses` are roughly the logarithms of the smaller tails.
    """
    tails: list[Tail | None] = [None] * targets.size
    size = np.floor(np.log(targets) / np.log(_ALIKE_TARGETS))
    for alike in np.unique(size).tolist():
        chosen = np.flatnonzero(size == alike)
        parts = [chosen]
        if chosen.size > 1 and not _is_possible(terms, float(guesses[chosen].min())):
            # Values that are less far out do not have to do without a lattice.
            parts = np.split(chosen, chosen.size)
        for part in parts:
            together = _shared_tails(terms, targets[part], float(guesses[part].min()))
            for place, tail in zip(part.tolist(), together, strict=True):
                tails[place] = tail
    return tails


def _shared_tails(terms: Sequence[Term], targets: Floats, guess: float) -> list[Tail | None]:
    """Return the tails of values that share a lattice."""
    tails: list[Tail | None] = [None] * targets.size
    level = _level(guess)
    if level is None:
        return tails
    never, furthest = level
    open_, coarse = np.arange(targets.size), None
    alike = [Alike.of(members) for members in _alike(terms)]
    for cells in _CELLS:
        grid = _grid(terms, float(targets.max()), cells)
        if not open_.size or not _is_feasible(terms, never, grid):
            break
        fine = _log_pairs([Ladder(each, grid, never) for each in alike], targets, grid)
        least = float(fine[0].min())
        if coarse is None and least < furthest:
            return _shared_tails(terms, targets, least)
        if coarse is not None:
            both, lumpy = combined_tails(fine, coarse, grid.cell, furthest)
            apart = np.abs(fine[0] - coarse[0]).max(axis=0)
            for place in open_.tolist():
                reached, missed = both[:2, place].tolist()
                if np.isnan(reached):
                    tails[place] = tails[place] if lumpy[place] else None
                elif not lumpy[place] or apart[place] < _ESTIMATED:
                    method = "estimate" if lumpy[place] else "lattice"
                    tails[place] = Tail(reached, missed, method)
            open_ = open_[lumpy[open_]]
        coarse = fine
    return tails


def _level(guess: float) -> tuple[float, float] | None:
    """Return the chances that count for a tail of a size, and the least tail that they allow."""
    return next((level for level in DEEPER if guess > level[1]), None)


def _is_possible(terms: Sequence[Term], guess: float) -> bool:
    """Whether there is a lattice for a tail of a size."""
    level = _level(guess)
    return level is not None and _is_feasible(terms, level[0], _grid(terms, 1.0, _CELLS[-1]))


def is_rare(terms: Sequence[Term]) -> bool:
    """Whether so few positives are expected, on top or retrieved at all, that sums cluster."""
    first = sum(term.often * term.n_pos / term.items.n for term in terms)
    hits = sum(term.often * term.items.depth * term.n_pos / term.items.n for term in terms)
    return first < _RARE_ON_TOP or hits < _RARE * sum(term.often for term in terms)


def _grid(terms: Sequence[Term], largest: float, cells: int) -> Grid:
    """Return a lattice of so many cells up to the largest value, and some beyond it."""
    cell = largest / cells
    mean = sum(term.often * term.mean for term in terms)
    number = sum(term.often for term in terms)
    each = mean / number
    close = max(_CLOSE * largest / 4096 / each, number**0.5)
    fine = min(4 * mean / cell, close)
    return Grid(cell, max(ceil(fine), 1), ceil(cells + nearby(1.0).max()) + 1)


def _is_feasible(terms: Sequence[Term], never: float, grid: Grid) -> bool:
    """Whether the walks to all terms, and the sums, take no more than some seconds."""
    sums = sum(1 + log(term.often) / log(2) for term in terms)
    work = _WORK_OF_SUMS * sums * grid.size * log(grid.size)
    for alike in _alike(terms):
        hits = max(likely_hits(retrieved(term), never) for term in alike)
        if hits > MOST_HITS:
            return False
        longest = max(alike, key=lambda term: term.items.depth)
        work += walk_terms(hits, longest.items) * grid.cells * len(grid.bands)
    return work < _MOST_WORK


def _alike(terms: Sequence[Term]) -> list[list[Term]]:
    """Return groups of terms that share a walk: they have equal blocks and similar sizes of T."""

    def kind(term: Term) -> tuple[tuple[int, ...], int]:
        """Return the ends of the tie blocks, and the class of the number of positives."""
        ends = () if term.items.ends is None else tuple(term.items.ends.tolist())
        return ends, int(np.log(term.n_pos) / np.log(_ALIKE_VALUES))

    return [list(alike) for _, alike in groupby(sorted(terms, key=kind), key=kind)]


def _log_pairs(ladders: Sequence[Ladder], targets: Floats, grid: Grid) -> Floats:
    """Return the logarithms of P(S >= y) and P(S < y) for targets and values nearby.

    The result has the shape (8, 2, n_targets). The distributions of terms are made anew for each
    target, since those of hundreds of terms would take gigabytes together.
    """
    points = grid.fine / grid.cell
    terms = [(Rough.of(each, grid.fine), often) for each, often in _all(ladders)]
    tails = []
    for target in targets.tolist():
        slope = slope_of(terms, target * points)
        total = _sum(ladders, slope)
        tails.append(total.log_tails(slope, (target + nearby(grid.cell)) * points))
    return np.stack(tails, axis=2).transpose(1, 0, 2)


def _all(ladders: Sequence[Ladder]) -> Iterator[tuple[OnLattice, int]]:
    """Yield the distributions of all terms, and how often each is added."""
    for ladder in ladders:
        yield from ladder.distributions()


def _sum(ladders: Sequence[Ladder], slope: float) -> Tilted:
    """Return the distribution of the sum under a slope."""
    terms = (Tilted.of(each, slope).times(often, slope) for each, often in _all(ladders))
    return reduce(lambda total, term: total.added(term, slope), terms)
