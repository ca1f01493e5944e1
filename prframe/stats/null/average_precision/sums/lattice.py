"""Tails of the sum of the AP of rankings of which few carry most of the weight, on a lattice.

Where positives are rare a sum takes few values, or clusters about what single rankings earn, and
neither a saddlepoint nor the inversion is accurate. The distribution of each AP is found on a
lattice (`ladder`), and all of them are added up under a slope that makes the value likely, so that
no digits are lost far out (`tilted`). Cells twice as wide tell how much the lattice matters.

Rankings with too many hits for a lattice are kept beside it (`smooth`).
"""

from collections.abc import Sequence
from itertools import groupby
from math import ceil, log

import numpy as np
from numpy.typing import NDArray

from prframe.stats.null.average_precision.sums.beside import Beside
from prframe.stats.null.average_precision.sums.ladder import Alike, Grid, Ladder, retrieved
from prframe.stats.null.average_precision.sums.terms import Term
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
# The last terms of the expansion for rankings beside the lattice may add this share of a tail. If
# they add more, an estimate may be left.
_DOUBTED = 0.02
# If walks of rankings on the lattice take too long, this share of them is tried, those with the
# fewest likely hits.
_FEWER = 0.8


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
    terms, others = _parted(terms, never)
    if not terms:
        return tails
    beside = Beside(others, targets)
    open_, coarse = np.arange(targets.size), None
    alike = [Alike.of(members) for members in _alike(terms)]
    for cells in _CELLS:
        grid = _grid(terms, beside.largest(terms), cells)
        if not open_.size or not _is_feasible(terms, never, grid):
            break
        fine = beside.log_pairs([Ladder(each, grid, never) for each in alike], grid)
        if np.isnan(fine).all():
            break
        least = fine[0].min(axis=0)
        if coarse is None and (is_deep := least < furthest).any():
            return _deeper_tails([*terms, *others], targets, (is_deep, least, guess))
        if coarse is not None:
            both, lumpy = combined_tails(fine, coarse, grid.cell, furthest)
            apart = np.maximum(np.abs(fine[0] - coarse[0]).max(axis=0), beside.doubt)
            is_rough = lumpy | (beside.doubt > _DOUBTED)
            for place in open_.tolist():
                if not is_rough[place] or apart[place] < _ESTIMATED:
                    tails[place] = _tail(both[:2, place], tails[place], is_rough=is_rough[place])
            open_ = open_[lumpy[open_]]
        coarse = fine
    return tails


def _deeper_tails(
    terms: Sequence[Term],
    targets: Floats,
    known: tuple[NDArray[np.bool_], Floats, float],
) -> list[Tail | None]:
    """Return the tails of values of which some are further out than was guessed.

    Known are which of them are, the logarithms of their tails roughly, and the guess. The others
    do not have to do without a lattice because there is none for these.
    """
    is_deep, least, guess = known
    tails: list[Tail | None] = [None] * targets.size
    for chosen, own_guess in (
        (np.flatnonzero(is_deep), float(least[is_deep].min())),
        (np.flatnonzero(~is_deep), guess),
    ):
        if chosen.size:
            part = _shared_tails(terms, targets[chosen], own_guess)
            for place, tail in zip(chosen.tolist(), part, strict=True):
                tails[place] = tail
    return tails


def _tail(both: Floats, before: Tail | None, *, is_rough: bool) -> Tail | None:
    """Return tails from their logarithms, of which rough ones are estimates.

    If they are NaN, an estimate of before is kept as long as there is nothing but estimates.
    """
    reached, missed = both.tolist()
    if np.isnan(reached):
        return before if is_rough else None
    return Tail(reached, missed, "estimate" if is_rough else "lattice")


def _level(guess: float) -> tuple[float, float] | None:
    """Return the chances that count for a tail of a size, and the least tail that they allow."""
    return next((level for level in DEEPER if guess > level[1]), None)


def _is_possible(terms: Sequence[Term], guess: float) -> bool:
    """Whether there is a lattice for a tail of a size."""
    level = _level(guess)
    if level is None:
        return False
    terms, _ = _parted(terms, level[0])
    return bool(terms) and _is_feasible(terms, level[0], _grid(terms, 1.0, _CELLS[-1]))


def _parted(terms: Sequence[Term], never: float) -> tuple[list[Term], list[Term]]:
    """Return the terms that have a lattice, and the others, which have more likely hits."""
    hits = {id(term): likely_hits(retrieved(term), never) for term in terms}
    order = sorted(terms, key=lambda term: hits[id(term)])
    number = sum(hits[id(term)] <= MOST_HITS for term in terms)
    while number and not _is_feasible(
        order[:number], never, _grid(order[:number], 1.0, _CELLS[1])
    ):
        number = int(number * _FEWER)
    return order[:number], order[number:]


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
