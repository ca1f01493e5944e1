"""The terms of walks on a lattice: which hits, and which positives of a step, have what chance.

Terms do not depend on the lattice, and a term has the same digits whatever other cases there are,
so that walks of several widths, to several cases, take theirs from one plan.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from prframe.stats.null.average_precision.generating_function.steps import (
    Items,
    Steps,
    log_binomial,
    log_hypergeometric,
)
from prframe.stats.null.average_precision.generating_function.walk import DENSE, GROWTH
from prframe.stats.null.average_precision.tails.plain.sizes import Sizes
from prframe.typing import Floats, Integers

# Growth of T that varies by at most this standard deviation, in points of the lattice, is replaced
# by its mean. Growth that varies more becomes two values.
_NARROW = 0.2
# If a tie block holds more than this share of the retrieved items, steps take so small a share of
# the rank.
_LARGE, _SHORT = 1 / 8, 0.005
# The number of terms that are computed at a time, which bounds the memory.
_AT_ONCE = 1 << 16


class Retrieved(NamedTuple):
    """The numbers of items, of positives among them, and of items that are retrieved."""

    n: int
    n_pos: int
    depth: int


class Terms(NamedTuple):
    """The terms of steps: the row of hits at their end, hits above, growth, and the chance.

    Growth scatters with the standard deviation `spread`.
    """

    row: Integers
    above: Integers
    growth: Floats
    spread: Floats
    chance: Floats

    def split(self, cell: float) -> "tuple[Integers, Floats, Floats]":
        """Return the places of terms whose growth is certain, their growth and their chance."""
        return split_growth(self.growth, self.spread, self.chance, cell)


def split_growth(
    growth: Floats, spread: Floats, chance: Floats, cell: "float | Floats"
) -> tuple[Integers, Floats, Floats]:
    """Return the places of terms whose growth is certain, their growth and their chance.

    Growth that varies is two values with its mean and variance, or one where the lattice itself
    spreads it as much.
    """
    number, two = growth.size, np.flatnonzero(spread > _NARROW * cell)
    again = np.concatenate([np.arange(number), two])
    growth, chance = growth[again], chance[again]
    growth[two] -= spread[two]
    growth[number:] += spread[two]
    chance[two] /= 2
    chance[number:] /= 2
    return again, np.maximum(growth, 0.0), chance


class Block(NamedTuple):
    """The terms of steps that follow each other.

    Attributes
    ----------
    low_above, low, high : ndarray of int, shape (n_steps,)
        The least hits above each step, and the least and the most at its end.
    step, hits : ndarray of int, shape (n_rows,)
        The step of each row, counted from the first one, and the hits at its end.
    terms : Terms
    """

    low_above: Integers
    low: Integers
    high: Integers
    step: Integers
    hits: Integers
    terms: Terms

    def among(self, steps: int, most: int) -> "Block":
        """Return the first steps, with at most so many hits."""
        if steps >= self.low.size and most >= int(self.high.max()):
            return self
        wanted = (self.step < steps) & (self.hits <= most)
        terms = Terms._make(column[wanted[self.terms.row]] for column in self.terms)
        high = np.minimum(self.high[:steps], most)
        return self._replace(
            low_above=self.low_above[:steps], low=self.low[:steps], high=high, terms=terms
        )


class Shape(NamedTuple):
    """Cases, and the ends of the tie blocks, if any, which all of them have.

    `sizes` is the range of their sizes, or a larger one; it says which hits and terms count.
    """

    cases: Sequence[Retrieved]
    ends: Integers | None
    sizes: Sizes

    @classmethod
    def of(cls, cases: Sequence[Retrieved], ends: Integers | None) -> "Shape":
        """Return the shape of cases that need not give the same digits among others."""
        return cls(cases, ends, Sizes.among(case[:2] for case in cases))


class Plans:
    """What walks with points of any distance have in common: their hits, and the terms of steps.

    Parameters
    ----------
    shape : Shape
    """

    def __init__(self, shape: Shape) -> None:
        self.cases = shape.cases
        self._shape = shape
        self._known: dict[float, Plan] = {}

    def at(self, never: float) -> "Plan":
        """Return the plan in which chances whose logarithm is below `never` do not count."""
        if never not in self._known:
            self._known[never] = Plan(self._shape, never)
        return self._known[never]


class Plan:
    """The hits that are likely at the end of each step, and the terms of the steps."""

    def __init__(self, shape: Shape, never: float) -> None:
        self.never = never
        depth = max(case.depth for case in shape.cases)
        self.items = Items(depth, depth, shape.ends)
        self.steps = _steps(self.items)
        self._most = max(case.n_pos for case in shape.cases)
        self._sizes = shape.sizes
        self._blocks: list[Block] = []

    def blocks(self) -> Iterator[Block]:
        """Yield the terms of all steps, those of some steps at a time."""
        begin = 0
        for place in range(self.steps.size.size):
            if place == len(self._blocks):
                if begin == self.steps.size.size:
                    return
                self._blocks.append(self._first_block(begin))
            yield self._blocks[place]
            begin += self._blocks[place].low.size

    def _first_block(self, begin: int) -> Block:
        """Compute the terms of as many steps, from one on, as are taken at a time."""
        steps = self.steps.part(slice(begin, None))
        # There are no more terms than these, as a step has no more positives than ranks.
        rows = np.minimum(steps.end, self._most) + 1
        terms = np.cumsum(rows * np.minimum(steps.size + 1, rows))
        return self.block(steps.part(slice(max(1, int(np.searchsorted(terms, _AT_ONCE))))))

    def block(self, steps: Steps) -> Block:
        """Compute the terms of steps that follow each other."""
        ends = np.append(steps.above[:1], steps.end)
        step, hits, log_chance = self._likely(ends)
        first = np.searchsorted(step, np.arange(ends.size))
        low, high = hits[first], hits[np.append(first[1:], hits.size) - 1]
        own = slice(int(first[1]), None)
        step, hits = step[own] - 1, hits[own]
        terms = self.terms(steps, step, hits, (low[:-1], high[:-1]), log_chance[own])
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

    def _likely(self, ends: Integers) -> tuple[Integers, Integers, Floats]:
        """Return the hits that a case may have at ranks, and the logarithms of their chances.

        The first of the results is the place of the rank.
        """
        of, hits = ranges(np.minimum(ends, self._most) + 1)
        log_chance = self._sizes.log_chance(hits, ends[of])
        likely = np.flatnonzero(log_chance > self.never)
        first, last = np.zeros((2, ends.size), np.int64)
        first[of[likely[::-1]]] = hits[likely[::-1]]
        last[of[likely]] = hits[likely]
        between = (hits >= first[of]) & (hits <= last[of])
        return of[between], hits[between], log_chance[between]

    def terms(
        self,
        steps: Steps,
        of: Integers,
        hits: Integers,
        rows: tuple[Integers, Integers],
        log_chance_of_hits: Floats,
    ) -> Terms:
        """Return the terms of steps for hits at the ends of these, of which the chances are given.

        `rows` are the least and the most hits above each step, and `of` has the step of each
        number of hits.
        """
        low, high = (column[of] for column in rows)
        terms = step_terms(steps, of, hits, (low, high), self.never - log_chance_of_hits)
        return terms._replace(chance=np.exp(terms.chance))


def step_terms(
    steps: Steps,
    of: Integers,
    hits: Integers,
    met: tuple[Integers, Integers],
    least: Floats,
) -> Terms:
    """Return the terms of steps for hits at the ends of these, with the logarithms of chances.

    `of` has the step of each number of hits, and `met` the least and the most hits above it.
    Chances whose logarithms are not above `least`, one for each number, do not count.
    """
    above, size, end = (column[of] for column in (steps.above, steps.size, steps.end))
    fewest = np.maximum(0, hits - met[1])
    row, place = ranges(np.maximum(np.minimum(size, hits - met[0]) - fewest + 1, 0))
    j = fewest[row] + place
    hits_above = hits[row] - j
    log_chance = log_binomial(size[row], j) + log_binomial(above[row], hits_above)
    log_chance -= log_binomial(end, hits)[row]
    likely = log_chance > least[row]
    row, hits_above, number = row[likely], hits_above[likely], j[likely]
    step = of[row]
    growth = steps.growth(step, hits_above, number)
    spread = steps.deviation(step, hits_above, number)
    return Terms(row, hits_above, growth, spread, log_chance[likely])


@lru_cache(maxsize=4096)
def likely_hits(case: Retrieved, never: float) -> int:
    """Return how many retrieved positives have a chance with a logarithm above `never`."""
    n, n_pos, depth = case
    hits = np.arange(min(depth, n_pos) + 1)
    log_chance = log_hypergeometric(n, n_pos, depth, hits)
    return int(hits[log_chance > never].max(initial=0))


def walk_terms(hits: int, items: Items) -> float:
    """Return roughly the number of terms of a walk to so many hits."""
    steps = _steps(items)
    share = steps.size / np.maximum(steps.end, 1)
    return float((min(hits, 1e6) * (4 + 2 * np.minimum(hits * share, steps.size))).sum())


def _steps(items: Items) -> Steps:
    """Return the steps of walks, which are short where a tie block is large.

    All positives in the block count alike, so that T differs by where the few others stand.
    """
    is_large = items.is_tied and items.largest_block > _LARGE * items.depth
    return items.table(DENSE, _SHORT if is_large else GROWTH)


def ranges(number: Integers) -> tuple[Integers, Integers]:
    """Return the places of numbers, each so many times, and 0, 1, ... for each of these."""
    of = np.repeat(np.arange(number.size), number)
    return of, np.arange(of.size) - (np.cumsum(number) - number)[of]
