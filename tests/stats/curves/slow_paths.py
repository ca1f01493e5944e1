"""The path of a ranking in plain Python: its knots, the runs of positives, and the turns in them."""

from math import inf

import numpy as np

Knots = list[tuple[float, int, bool]]


def knots_of(positives: list[float], negatives: list[float]) -> Knots:
    """(Positives passed, negatives passed, whether a tie block follows), best first."""
    knots, passed = [(0.5, 0, False)], 0
    listed = sorted(score for score in negatives if score > -inf)
    retrieved = np.array([score for score in positives if score > -inf])
    for score in sorted(set(retrieved.tolist()), reverse=True):
        size = int((retrieved == score).sum())
        below, upto = (int(np.searchsorted(listed, score, side)) for side in ("left", "right"))
        above, tied = len(listed) - upto, upto - below
        if size == 1 and not tied:
            knots.append((passed + 1.0, above, False))
        else:
            if not passed:
                # Half a positive more, among the negatives above or in the block.
                knots[0] = (0.0, 0, False)
            knots.append((passed + 0.5 if passed or above else 0.0, above, True))
            knots.append((passed + size + 0.5, above + tied, False))
        passed += size
    rank, above, _ = knots[-1]
    more = 0.5 if rank > passed and passed else 0.0
    if more and above == len(listed):
        knots[-1] = (rank + 0.5, above, False)
    return [*knots, (passed + 0.5 + more, len(listed), False)]


def runs_of(knots: Knots) -> list[tuple[float, float]]:
    """The first and the last rank with as many negatives above as each knot has."""
    alike = [[rank for rank, fp, _ in knots if fp == own] for _, own, _ in knots]
    return [(min(ranks), max(ranks)) for ranks in alike]


def turns_of(knots: Knots) -> list[float]:
    """How far through its run each knot is: the j-th of m at (2 j - 1) / m - 1."""
    turns = []
    for (rank, fp, _), (first, last) in zip(knots, runs_of(knots), strict=True):
        j, m = rank - first + 1, last - first + 1
        turn = (2 * j - 1) / m - 1
        turns.append(max(turn, 0.0) if fp == 0 or rank <= 1 else turn)
    return turns
