"""Tails of the sum of the AP of rankings that take few values, by listing the values of the sum.

The values of one AP are listed block by block, with the chance of each; sums are listed term by
term, in two halves, and for each value of one half those of the other that suffice are looked up.
All chances are added up and nothing is subtracted, so that no digits are lost far out.
"""

from collections.abc import Iterator, Sequence
from math import inf, log, log1p
from typing import NamedTuple

import numpy as np

from prframe.stats.null.average_precision.generating_function.steps import (
    Items,
    Step,
    log_binomial,
)
from prframe.stats.null.average_precision.sums.terms import Term
from prframe.stats.null.average_precision.tails.tail import Tail
from prframe.typing import Floats

# Values that differ by less are one: sums of the same fractions in another order.
_SAME = 1e-13


class Effort(NamedTuple):
    """How many values are listed at once, and of how many blocks in all."""

    values: int
    blocks: int


# What is done before anything else is tried, and what is done where nothing else will do.
SOON, LATE = Effort(20_000, 1000), Effort(1_000_000, 20_000)
# So many times as many values are held before equal ones are merged.
_SPARE = 4


class _Values(NamedTuple):
    """Values and their chances."""

    value: Floats
    chance: Floats


def counted_sum_tail(terms: Sequence[Term], target: float, effort: Effort) -> Tail | None:
    """Return the tails of the sum from the values of two halves of it; None if they are many."""
    if sum(_blocks(term.items) for term in terms) > effort.blocks:
        return None
    some = others = _Values(np.zeros(1), np.ones(1))
    for term in terms:
        values = ap_values(term.items, term.n_pos, effort.values)
        if values is None:
            return None
        for _ in range(term.often):
            some, others = sorted((some, others), key=lambda half: half.value.size)
            if some.value.size * values.value.size > effort.values:
                return None
            value: Floats = (some.value[:, None] + values.value).ravel()
            some = _merged(value, (some.chance[:, None] * values.chance).ravel())
    return _tail(some, others, target)


def _tail(some: _Values, others: _Values, target: float) -> Tail:
    """Return the tails of the sum of two halves."""
    # What the others must add; the target allows for rounding.
    lacking = np.searchsorted(others.value, target - some.value)
    above = np.append(np.cumsum(others.chance[::-1])[::-1], 0.0)
    below = np.append(0.0, np.cumsum(others.chance))
    reached, missed = (float(some.chance @ rest[lacking]) for rest in (above, below))
    # The smaller one keeps its digits; the chances add up to 1 but for rounding.
    smaller = min(reached, missed)
    log_smaller, log_other = (log(smaller) if smaller else -inf), log1p(-smaller)
    if reached <= missed:
        return Tail(log_smaller, log_other, "exact")
    return Tail(log_other, log_smaller, "exact")


def ap_values(items: Items, n_pos: int, most: int) -> _Values | None:
    """Return the values of AP, rising, and their chances; None if there are more than `most`.

    Examples
    --------
    >>> value, chance = ap_values(Items(3, 3), 1, most=10)
    >>> value.round(4), chance.round(4)
    (array([0.3333, 0.5   , 1.    ]), array([0.3333, 0.3333, 0.3333]))
    """
    rows = {0: _Values(np.zeros(1), np.ones(1))}
    for step in items.steps(inf, 0.0):
        after: dict[int, list[_Values]] = {}
        for hits, row in rows.items():
            for number, likely in _chances(step, items.n, n_pos - hits):
                growth = number * (hits + 1) * step.single + number * (number - 1) * step.pair
                moved = _Values(row.value + growth, row.chance * likely)
                after.setdefault(hits + number, []).append(moved)
        if sum(part.value.size for parts in after.values() for part in parts) > _SPARE * most:
            return None
        rows = {
            hits: _merged(*(np.concatenate(column) for column in zip(*parts, strict=True)))
            for hits, parts in after.items()
        }
        if sum(row.value.size for row in rows.values()) > most:
            return None
    value, chance = rows[n_pos]
    return _Values(value / n_pos, chance)


def _blocks(items: Items) -> int:
    """Return how many blocks the retrieved items have."""
    return items.depth if items.ends is None else items.ends.size


def _chances(step: Step, n: int, left: int) -> Iterator[tuple[int, float]]:
    """Yield how many of the positives that are left may be in a step, and the chances."""
    rest = n - step.above
    number = np.arange(max(0, left - (rest - step.size)), min(step.size, left) + 1)
    log_chance = log_binomial(step.size, number)
    log_chance += log_binomial(rest - step.size, left - number)
    # They add up to 1; so do these, whatever the last digits of large logarithms.
    chance = np.exp(log_chance - log_chance.max())
    yield from zip(number.tolist(), (chance / chance.sum()).tolist(), strict=True)


def _merged(value: Floats, chance: Floats) -> _Values:
    """Add up the chances of equal values."""
    _, first, place = np.unique(np.rint(value / _SAME), return_index=True, return_inverse=True)
    return _Values(value[first], np.bincount(place, chance, first.size).astype(np.float64))
