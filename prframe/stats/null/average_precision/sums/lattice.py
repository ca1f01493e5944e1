"""Tails of the sum of the AP of rankings of which few carry most of the weight, on a lattice.

Where positives are rare a sum takes few values, or clusters about what single rankings earn, and
neither a saddlepoint nor the inversion is accurate. The distribution of each AP is found on a
lattice (`tails.plain`), brought to the points 0, 1, 2, ... of one lattice for all of them, and
added up term by term. A sum that reaches the last point stays there. Nothing is subtracted but
neighbouring tails of one AP, so that no digits are lost far out; points twice as far apart tell
how much the lattice matters.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple, cast

import numpy as np

from prframe.stats.null.average_precision.sums.terms import Term
from prframe.stats.null.average_precision.tails.plain.lattice import (
    MOST_HITS,
    NEVER,
    combined_tails,
    logs,
)
from prframe.stats.null.average_precision.tails.plain.plans import (
    Plans,
    Retrieved,
    Shape,
    likely_hits,
    walk_terms,
)
from prframe.stats.null.average_precision.tails.plain.walk import Walk, nearby
from prframe.stats.null.average_precision.tails.tail import Tail
from prframe.typing import Floats

# These numbers of points up to the value are tried until two in a row agree.
_POINTS = (2048, 4096, 8192)
# Values share a lattice if their logarithms to this base have the same whole part.
_ALIKE_TARGETS = 2.0
# Terms share a walk if the logarithms of their numbers of positives to this base have the same
# whole part.
_ALIKE_VALUES = 4.0
# The most work of all walks, in terms times points of the lattice, which takes some seconds. More
# points are not tried beyond this.
_MOST_WORK = 4e9
# A lattice is tried first where fewer positives than this are expected in a ranking.
_RARE = 1.0
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
    alike = [_Alike.of(members) for members in _alike(terms)]
    for points in _POINTS:
        if not open_.size or not _is_feasible(terms, never, points):
            break
        cell = float(targets.max()) / points
        fine = _pairs(alike, targets, cell, never)
        if coarse is not None:
            both, lumpy = combined_tails(logs(fine), logs(coarse), cell, furthest)
            with np.errstate(divide="ignore", invalid="ignore"):
                apart = np.abs(np.log(fine[0] / coarse[0])).max(axis=0)
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
    return next((level for level in NEVER if guess > level[1]), None)


def _is_possible(terms: Sequence[Term], guess: float) -> bool:
    """Whether there is a lattice for a tail of a size."""
    level = _level(guess)
    return level is not None and _is_feasible(terms, level[0], _POINTS[-1])


def is_rare(terms: Sequence[Term]) -> bool:
    """Whether so few positives are expected among the retrieved items that sums cluster."""
    hits = sum(term.often * term.items.depth * term.n_pos / term.items.n for term in terms)
    return hits < _RARE * sum(term.often for term in terms)


def _is_feasible(terms: Sequence[Term], never: float, points: int) -> bool:
    """Whether the walks to all terms take no more than some seconds."""
    work = 0.0
    for alike in _alike(terms):
        hits = max(likely_hits(_retrieved(term), never) for term in alike)
        if hits > MOST_HITS:
            return False
        longest = max(alike, key=lambda term: term.items.depth)
        work += walk_terms(hits, longest.items) * points
    return work < _MOST_WORK


def _alike(terms: Sequence[Term]) -> list[list[Term]]:
    """Return groups of terms that share a walk: they have equal blocks and similar sizes of T."""

    def kind(term: Term) -> tuple[tuple[int, ...], int]:
        """Return the ends of the tie blocks, and the class of the number of positives."""
        ends = () if term.items.ends is None else tuple(term.items.ends.tolist())
        return ends, int(np.log(term.n_pos) / np.log(_ALIKE_VALUES))

    return [list(alike) for _, alike in groupby(sorted(terms, key=kind), key=kind)]


def _retrieved(term: Term) -> Retrieved:
    """Return n, n_pos and depth of a term, without its tie blocks."""
    return Retrieved(term.items.n, term.n_pos, term.items.depth)


class _Alike(NamedTuple):
    """Terms that share walks, and the plans of these."""

    terms: Sequence[Term]
    plans: Plans

    @classmethod
    def of(cls, terms: Sequence[Term]) -> "_Alike":
        """Return terms that share walks."""
        cases = [_retrieved(term) for term in terms]
        return cls(terms, Plans(Shape.of(cases, terms[0].items.ends)))


def _pairs(all_alike: Sequence[_Alike], targets: Floats, cell: float, never: float) -> Floats:
    """Return P(S >= y) and P(S < y) for targets and values nearby, shape (8, 2, n_targets)."""
    offsets = nearby(cell)
    size = int(np.ceil((targets.max() + offsets.max()) / cell)) + 2
    # A point stands for all values that are nearer to it than to its neighbours.
    borders = (np.arange(size + 1, dtype=np.float64) - 0.5) * cell
    total: _OnLattice | None = None
    for alike in all_alike:
        for term, reached in zip(alike.terms, _reached(alike, borders, never), strict=True):
            own = _times(_OnLattice(reached[:-1] - reached[1:], float(reached[-1])), term.often)
            total = own if total is None else _added(total, own)
    inside, beyond = cast(_OnLattice, total)
    above = np.cumsum(inside[::-1])[::-1] - inside / 2 + beyond
    below = np.cumsum(inside) - inside / 2
    at = (targets + offsets[:, None]) / cell
    tails = [np.interp(at, np.arange(size), column) for column in (above, below)]
    return np.stack(tails, axis=1)


class _OnLattice(NamedTuple):
    """The chances of the points of a lattice, and of all values beyond them."""

    inside: Floats
    beyond: float


def _added(first: _OnLattice, second: _OnLattice) -> _OnLattice:
    """Return the distribution of the sum of two independent numbers."""
    size = first.inside.size
    reached = np.cumsum(np.append(second.inside, second.beyond)[::-1])[:size]
    beyond = first.beyond + float(first.inside @ reached)
    return _OnLattice(np.convolve(first.inside, second.inside)[:size], beyond)


def _times(each: _OnLattice, often: int) -> _OnLattice:
    """Return the distribution of the sum of equal independent numbers."""
    if often == 1:
        return each
    half = _times(each, often // 2)
    total = _added(half, half)
    return _added(total, each) if often % 2 else total


def _reached(alike: _Alike, x: Floats, never: float) -> list[Floats]:
    """Return P(AP >= x) for rising values, for each of the terms, which share a walk."""
    cases = [_retrieved(term) for term in alike.terms]
    n_pos = np.array([case.n_pos for case in cases])
    # Values above 1 are never reached, so that the walk ends before them.
    possible = x <= 1
    top = float(x[possible][-1] * n_pos.max())
    walk = Walk(alike.plans, top, (x[1] - x[0]) * int(n_pos.min()), never)
    chances = np.zeros((len(cases), x.size))
    for row, case in zip(chances, cases, strict=True):
        row[possible] = walk.reached(case, x[possible] * case.n_pos)
    return list(chances)
