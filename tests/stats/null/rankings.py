"""AP of all rankings by its definition."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np


def ap_of_all(
    n: int, n_pos: int, blocks: Sequence[int], number: Callable[[int], Any] = Fraction
) -> list[Any]:
    """Return AP of all rankings of n items; AP counts at the ends of the blocks of the retrieved.

    Positives beyond these earn nothing.
    """
    ends = np.repeat(np.cumsum(np.array(blocks, dtype=int)), blocks).tolist()
    values = []
    for chosen in combinations(range(n), n_pos):
        reached = [ends[place] for place in chosen if place < len(ends)]
        hits = [sum(other <= end for other in reached) for end in reached]
        earned = (number(h) / end for h, end in zip(hits, reached, strict=True))
        values.append(sum(earned, number(0)) / n_pos)
    return values
