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

# Values that differ by less are equal, as they may be sums of the same fractions in another order.
_SAME = 1e-13


class Effort(NamedTuple):
    """The most values that are listed at once, and the most blocks of all terms."""

    values: int
    blocks: int


# The first effort is spent before other methods are tried, the second where they have failed.
SOON, LATE = Effort(20_000, 1000), Effort(1_000_000, 20_000)
# Before equal values are merged there may be this many times as many as are allowed afterwards. If
# there are more, values are not listed.
_SPARE = 4
# On the way down the ranks a ranking may take this many times as many values as at the end.
_MARGIN = 2


class _Values(NamedTuple):
    """Values, each with its chance."""

    value: Floats
    chance: Floats


def counted_sum_tails(
    terms: Sequence[Term], targets: Floats, effort: Effort
) -> Sequence[Tail | None]:
    """Return the tails of values of the sum, which is listed once; None if it has too many."""
    halves = _halves(terms, effort)
    if halves is None:
        return [None] * targets.size
    return [_tail(*halves, target) for target in targets.tolist()]


def _halves(terms: Sequence[Term], effort: Effort) -> "tuple[_Values, _Values] | None":
    """Return the values of two halves of the sum; None if they are many."""
    if sum(_blocks(term.items) for term in terms) > effort.blocks:
        return None
    first = second = _Values(np.zeros(1), np.ones(1))
    for term in terms:
        values = ap_values(term.items, term.n_pos, _MARGIN * _most_apiece(term.often, effort))
        if values is None:
            return None
        for _ in range(term.often):
            first, second = sorted((first, second), key=lambda half: half.value.size)
            if first.value.size * values.value.size > effort.values:
                return None
            value: Floats = (first.value[:, None] + values.value).ravel()
            first = _merged(value, (first.chance[:, None] * values.chance).ravel())
    return first, second


def _most_apiece(often: int, effort: Effort) -> int:
    """Return how many values a ranking may take so that the sum of several can be listed.

    One half of the sum has k of them, and a sum of k - 1 numbers, each of which takes m values,
    takes (k - 1)(m - 1) + 1 values at least.
    """
    others = (often - 1) // 2
    return int((effort.values / others) ** 0.5) + 1 if others else effort.values


def _tail(first: _Values, second: _Values, target: float) -> Tail:
    """Return the tails of the sum of two halves."""
    # The second half must add what the first one lacks; the target allows for rounding.
    lacking = np.searchsorted(second.value, target - first.value)
    above = np.append(np.cumsum(second.chance[::-1])[::-1], 0.0)
    below = np.append(0.0, np.cumsum(second.chance))
    reached, missed = (float(first.chance @ rest[lacking]) for rest in (above, below))
    # The smaller tail keeps its digits, and gives the other, as both add up to 1 but for rounding.
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
        chances = {hits: list(_chances(step, items.n, n_pos - hits)) for hits in rows}
        if sum(row.value.size * len(chances[hits]) for hits, row in rows.items()) > _SPARE * most:
            return None
        for hits, row in rows.items():
            for number, likely in chances[hits]:
                growth = number * (hits + 1) * step.single + number * (number - 1) * step.pair
                moved = _Values(row.value + growth, row.chance * likely)
                after.setdefault(hits + number, []).append(moved)
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
    # Large logarithms are off in the last digits, so that the chances are made to add up to 1.
    chance = np.exp(log_chance - log_chance.max())
    yield from zip(number.tolist(), (chance / chance.sum()).tolist(), strict=True)


def _merged(value: Floats, chance: Floats) -> _Values:
    """Add up the chances of equal values."""
    _, first, place = np.unique(np.rint(value / _SAME), return_index=True, return_inverse=True)
    return _Values(value[first], np.bincount(place, chance, first.size).astype(np.float64))
