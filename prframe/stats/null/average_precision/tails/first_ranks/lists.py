"""All lists of a few hits among the first ranks."""

from typing import NamedTuple

import numpy as np

from prframe.stats.null.average_precision.generating_function.steps import log_binomial
from prframe.stats.null.average_precision.tails.plain.plans import Retrieved
from prframe.typing import Floats, Integers

# How many of the first ranks may hold hits that are listed, by the most hits of a list. There are
# some 30,000 lists. More hits than are listed fill all of the first ranks.
_RANKS = {1: 1024, 2: 256, 3: 56, 4: 30, 5: 22, 6: 18, 7: 16} | dict.fromkeys(range(8, 16), 15)


class Lists(NamedTuple):
    """Lists of first hits.

    `hits` is their number, `rank` that below which others may stand, `total` what they add to T.
    `row` is that of the chances of others in a table of `Others`.
    """

    hits: Integers
    rank: Integers
    total: Floats
    chance: Floats
    row: Integers


def first_ranks(case: Retrieved, hits: int) -> int:
    """Return how many of the first ranks may hold hits of lists with up to so many hits."""
    return min(_RANKS.get(hits, hits), case.depth)


def listed(case: Retrieved, most: int) -> Lists:
    """List up to `most` hits among the first ranks, which hold no others if there are fewer."""
    n, n_pos, _ = case
    first = first_ranks(case, most)
    ranks = np.arange(1, first + 1)
    rank, total = np.zeros(1, np.int64), np.zeros(1)
    parts = []
    for hits in range(most + 1):
        end = rank if hits == most else np.full(rank.size, first)
        ways = log_binomial(n - end, n_pos - hits) - log_binomial(n, n_pos)
        row = most + rank if hits == most else np.full(rank.size, hits)
        parts.append((np.full(rank.size, hits), end, total, np.exp(ways), row))
        if hits < most:
            before, place = np.nonzero(ranks > rank[:, None])
            rank, total = ranks[place], total[before] + (hits + 1) / ranks[place]
    return Lists(*(np.concatenate(column) for column in zip(*parts, strict=True)))
