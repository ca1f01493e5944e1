"""The terms of walks on a lattice: which hits, and which positives of a step, have what chance.

Terms do not depend on the lattice, so that walks of several widths take theirs from one plan.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np

from prframe.stats.null.average_precision.steps import (
    DENSE,
    GROWTH,
    Items,
    Problem,
    Retrieved,
    Steps,
    log_binomial,
    log_hypergeometric,
    ranges,
)
from prframe.typing import Floats, Integers

# Growth of T that varies by at most this standard deviation, in points of the lattice, is replaced
# by its mean. Growth that varies more becomes two values.
_NARROW = 0.2
# Steps are so short a share of the rank if a tie block holds more than this share of what is
# retrieved, as T differs by where the few other positives are.
_LARGE, _SHORT = 1 / 8, 0.005
# Where at most so many hits are expected so many ranks are single steps.
_FEW_HITS, _DENSE_OF_FEW = 6, 512
# Numbers of hits are likely if the logarithm of their chance is above this.
_UNLIKELY = -90.0
# A walk takes at most half a second with so many likely hits; of tie blocks a second with so many
# terms.
_MOST_HITS, _MOST_TERMS = 300, 4e5
# The number of terms that are computed at a time, which bounds the memory.
_AT_ONCE = 1 << 16

# Steps, numbers of hits at their ends, and the logarithms of the chances of these.
Likely: TypeAlias = tuple[Integers, Integers, Floats]


class Terms(NamedTuple):
    """Terms of steps: row of hits at the end, hits above, mean and deviation of growth, chance."""

    row: Integers
    above: Integers
    growth: Floats
    spread: Floats
    chance: Floats

    def split(self, cell: float) -> tuple[Integers, Floats, Floats]:
        """Return places, growth and chance of terms, two for growth that varies."""
        number, two = self.growth.size, np.flatnonzero(self.spread > _NARROW * cell)
        again = np.concatenate([np.arange(number), two])
        growth, chance = self.growth[again], self.chance[again]
        growth[two] -= self.spread[two]
        growth[number:] += self.spread[two]
        chance[two] /= 2
        chance[number:] /= 2
        return again, np.maximum(growth, 0.0), chance


class Block(NamedTuple):
    """The terms of steps that follow each other."""

    # Per step: the least hits above it, and the least and the most at its end.
    low_above: Integers
    low: Integers
    high: Integers
    # Per row: the step, and the hits at its end.
    step: Integers
    hits: Integers
    terms: Terms


class Plan:
    """The hits that are likely at the end of each step, and the terms of the steps."""

    # All cases have the tie blocks with these ends, and all or none expect few hits (`are_few`).
    # Chances whose logarithm is below `never` do not count.
    def __init__(self, cases: Sequence[Retrieved], ends: Integers | None, never: float) -> None:
        self.never = never
        n, n_pos, depth = (np.array(column) for column in zip(*cases, strict=True))
        self.items = Items(int(depth.max()), int(depth.max()), ends)
        self.most = int(n_pos.max())
        self.steps = steps_of(self.items, are_few=are_few(cases[0]))
        self._n, self._n_pos = (n.min(), n.max()), (n_pos.min(), n_pos.max())
        self._blocks: list[Block] = []

    def blocks(self) -> Iterator[Block]:
        """Yield the terms of all steps, those of some steps at a time."""
        begin, place = 0, 0
        while begin < self.steps.size.size:
            if place == len(self._blocks):
                steps = self.steps.part(slice(begin, None))
                rows = np.minimum(steps.end, self.most) + 1
                terms = np.cumsum(rows * np.minimum(steps.size + 1, rows))
                count = max(1, int(np.searchsorted(terms, _AT_ONCE)))
                self._blocks.append(self.block(steps.part(slice(count))))
            yield self._blocks[place]
            begin, place = begin + self._blocks[place].low.size, place + 1

    def block(self, steps: Steps) -> Block:
        """Compute the terms of steps that follow each other."""
        ends = np.append(steps.above[:1], steps.end)
        step, hits, log_chance = self._likely(ends)
        first = np.searchsorted(step, np.arange(ends.size))
        low, high = hits[first], hits[np.append(first[1:], hits.size) - 1]
        own = slice(int(first[1]), None)
        step, hits = step[own] - 1, hits[own]
        terms = self.terms(steps, (low[:-1], high[:-1]), (step, hits, log_chance[own]))
        return Block(low[:-1], low[1:], high[1:], step, hits, terms)

    def shares(self, cases: Sequence[Retrieved]) -> tuple[Integers, Integers, Floats]:
        """Return the cases, the likely numbers of retrieved positives, and their chances."""
        n, n_pos, depth = np.array(cases).T
        low = np.maximum(0, n_pos - (n - depth))
        of, place = ranges(np.minimum(depth, n_pos) - low + 1)
        retrieved = low[of] + place
        log_share = log_hypergeometric(n[of], n_pos[of], depth[of], retrieved)
        likely = log_share > self.never
        return of[likely], retrieved[likely], np.exp(log_share[likely])

    def _likely(self, ends: Integers) -> Likely:
        """Return places of ranks, likely hits there, and bounds of the logs of their chances."""
        of, hits = ranges(np.minimum(ends, self.most) + 1)
        end = ends[of]
        n = np.maximum(self._n[0], end)
        most = np.minimum(self._n_pos[1], n)
        above = log_hypergeometric(n, most, end, hits)
        below = log_hypergeometric(self._n[1], self._n_pos[0], end, hits)
        high, low = end * (most / n), end * (self._n_pos[0] / self._n[1])
        # Where some case expects fewer hits, and some case more, the bound is 0.
        log_chance = np.where(hits >= high, above, np.where(hits <= low, below, 0.0))
        likely = np.flatnonzero(log_chance > self.never)
        first, last = np.zeros((2, ends.size), np.int64)
        first[of[likely[::-1]]] = hits[likely[::-1]]
        last[of[likely]] = hits[likely]
        between = (hits >= first[of]) & (hits <= last[of])
        return of[between], hits[between], log_chance[between]

    def terms(self, steps: Steps, rows: tuple[Integers, Integers], likely_ends: Likely) -> Terms:
        """Return the terms of steps, with least and most hits above in `rows`, to likely ends."""
        of, hits, log_chance_of_hits = likely_ends
        above, size, end = (column[of] for column in (steps.above, steps.size, steps.end))
        fewest = np.maximum(0, hits - rows[1][of])
        row, place = ranges(np.maximum(np.minimum(size, hits - rows[0][of]) - fewest + 1, 0))
        j = fewest[row] + place
        hits_above = hits[row] - j
        log_chance = log_binomial(size[row], j) + log_binomial(above[row], hits_above)
        log_chance -= log_binomial(end, hits)[row]
        likely = log_chance > (self.never - log_chance_of_hits)[row]
        row, hits_above, number = row[likely], hits_above[likely], j[likely]
        growth = steps.growth(of[row], hits_above, number)
        spread = steps.deviation(of[row], hits_above, number)
        return Terms(row, hits_above, growth, spread, np.exp(log_chance[likely]))


@lru_cache(maxsize=4096)
def likely_hits(case: Retrieved) -> int:
    """Return how many retrieved positives are likely enough to matter for any tail."""
    hits = np.arange(min(case.depth, case.n_pos) + 1)
    log_chance = log_hypergeometric(*case, hits)
    return int(hits[log_chance > _UNLIKELY].max(initial=0))


def is_quick(problem: Problem) -> bool:
    """Whether walks of a group on a lattice are quick."""
    case, items = problem.retrieved, problem.items
    hits = likely_hits(case)
    if hits > _MOST_HITS or not items.is_tied:
        return hits <= _MOST_HITS
    steps = steps_of(items, are_few=are_few(case))
    share = steps.size / np.maximum(steps.end, 1)
    return bool((hits * (4 + 2 * np.minimum(hits * share, steps.size))).sum() <= _MOST_TERMS)


def are_few(case: Retrieved) -> bool:
    """Whether so few hits are expected that single ranks carry weight."""
    return case.n_pos * case.depth <= _FEW_HITS * case.n


def steps_of(items: Items, *, are_few: bool) -> Steps:
    """Return the steps of walks, which are short where a tie block is large, or hits are few."""
    largest = 0 if items.ends is None else np.diff(items.ends, prepend=0).max(initial=0)
    is_large = largest > _LARGE * items.depth
    if are_few and not is_large:
        return items.table(_DENSE_OF_FEW, GROWTH / 2)
    return items.table(DENSE, _SHORT if is_large else GROWTH)
