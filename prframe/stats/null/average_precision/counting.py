"""P(T >= target) by counting rankings, where they are few or few of them are as good.

All rankings are followed at once, block by block. A state is the number of positives so far, T so
far, and a probability; it is decided once the target is surely reached or surely missed. States of
several problems go side by side, each in its lane.
"""

from collections.abc import Sequence
from math import inf, log

import numpy as np
from scipy.special import digamma

from prframe.stats.null.average_precision.steps import Problem, Tail, log_binomial, ranges
from prframe.typing import Floats, Integers

# States of one lane with as many positives and the same T, up to this share of the target, are one
# state. They are looked for once there are so many states.
_SAME, _MANY = 1e-13, 512
# Untied rankings of so many positives are followed from hit to hit first; those of so few have no
# other way, which takes one state for each pair of ranks.
_FEW_HITS, PAIRS = 5, 3
# The other tail has lost digits where a tail is larger.
_NEARLY_SURE = 1 - 1e-9
# Rankings are followed through so many blocks.
_BLOCKS = 1 << 12
# A step makes at most so many times as many states as may be open after it.
_GROWTH = 4


def tail_of_one(problem: Problem) -> Tail:
    """Return the tails of AP with one positive, which is 1 over the end of its block."""
    blocks, depth = problem.items.ends, problem.items.depth
    furthest = min(1 / problem.target, depth) if problem.target > 0 else problem.items.n
    good = int(furthest)
    if blocks is not None and problem.target > 0:
        place = int(np.searchsorted(blocks, furthest, side="right"))
        good = int(blocks[place - 1]) if place else 0
    share = good / problem.items.n
    return Tail(
        log(share) if share else -inf, float(np.log1p(-share)) if share < 1 else -inf, "exact"
    )


def counted_tails(problems: Sequence[Problem], most: int) -> list[Tail | None]:
    """Return the tails; None where more than `most` states of a problem are open at a time."""
    tails = [_by_hits(problem, most) for problem in problems]
    places = [
        place
        for place, problem in enumerate(problems)
        if tails[place] is None and (problem.items.is_tied or problem.n_pos > PAIRS)
    ]
    if places:
        found = _by_blocks([problems[place] for place in places], most)
        for place, tail in zip(places, found, strict=True):
            tails[place] = tail
    return tails


def _by_hits(problem: Problem, most: int) -> Tail | None:
    """Return the tails of few positives without ties, of which each state has the last rank."""
    n, depth, n_pos, target = problem.items.n, problem.items.depth, *problem[1:3]
    if problem.items.is_tied or n_pos > _FEW_HITS or not target > 0:
        return None
    rank, total, weight, reached = np.zeros(1, np.int64), np.zeros(1), np.ones(1), 0.0
    for left in range(n_pos, 0, -1):
        hit, lack = n_pos - left + 1, target - total
        sure = np.clip(np.minimum(hit / lack, depth).astype(np.int64), rank, depth)
        reached += float(weight @ (1 - _all_below(n - rank, left, sure - rank)))
        # No later hit adds more than n_pos over its rank.
        furthest = np.minimum(left * n_pos / lack - left + 1, depth).astype(np.int64)
        number = np.where(left > 1, np.maximum(furthest - sure, 0), 0)
        if number.sum() > most:
            return None
        of, place = ranges(number)
        above, rank = rank[of], sure[of] + 1 + place
        weight = weight[of] * left / (n - above)
        weight *= _all_below(n - above - 1, left - 1, rank - above - 1)
        total = total[of] + hit / rank
    if not 0 < reached < _NEARLY_SURE:
        return None
    return Tail(log(reached), float(np.log1p(-reached)), "exact")


def _all_below(n: Integers, n_pos: int, ranks: Integers) -> Floats:
    """Return the chance that no positive is at the first ranks of n."""
    left = n - np.arange(n_pos)[:, None]
    return np.asarray(np.clip(1 - ranks / np.maximum(left, 1), 0.0, 1.0).prod(axis=0))


def _by_blocks(problems: Sequence[Problem], most: int) -> list[Tail | None]:
    """Return the tails; None where more than `most` states of a problem are open at a time.

    They are None as well if rankings are not decided by the first blocks.
    """
    blocks = [problem.items.blocks(_BLOCKS) for problem in problems]
    width = max(each.size for each in blocks)
    ends = np.array([np.pad(each, (0, width - each.size), mode="edge") for each in blocks])
    lanes = _Lanes(problems)
    lane = np.arange(len(problems))
    hits, above = np.zeros((2, lane.size), np.int64)
    total, log_weight = np.zeros((2, lane.size))
    decided = np.full((2, lane.size), -inf)
    is_lost = np.zeros(lane.size, np.bool_)
    for end in ends.T:
        if not lane.size:
            break
        size, left, rest = (end - above)[lane], (lanes.n - above)[lane], lanes.n_pos[lane] - hits
        fewest = np.maximum(size - (left - rest), 0)
        number = np.minimum(size, rest) - fewest + 1
        # What has too many states is given up before they are made.
        is_lost |= np.bincount(lane, number, is_lost.size) > _GROWTH * most
        number = np.where(is_lost[lane], 0, number)
        of, j = ranges(number)
        lane, hits, rest, size, left = lane[of], hits[of], rest[of], size[of], left[of]
        j += fewest[of]
        chance = log_binomial(size, j) + log_binomial(left - size, rest - j)
        log_weight = log_weight[of] + chance - log_binomial(left, rest)
        hits = hits + j
        total = total[of] + np.where(end <= lanes.depth, 1 / end, 0.0)[lane] * j * hits
        least, largest = lanes.to_come(lane, hits, end[lane])
        is_reached, is_missed = (
            total + least >= lanes.target[lane],
            total + largest < lanes.target[lane],
        )
        for side, chosen in enumerate((is_reached, is_missed & ~is_reached)):
            np.logaddexp.at(decided[side], lane[chosen], log_weight[chosen])
        is_open = ~(is_reached | is_missed)
        states = lane[is_open], hits[is_open], total[is_open], log_weight[is_open]
        if states[0].size > _MANY:
            states = _merged(*states, _SAME * lanes.target)
        lane, hits, total, log_weight = states
        is_lost |= np.bincount(lane, minlength=is_lost.size) > most
        keep = ~is_lost[lane]
        lane, hits, total, log_weight = lane[keep], hits[keep], total[keep], log_weight[keep]
        above = end
    is_lost[lane] = True
    logs = np.minimum(decided, 0.0).T.tolist()
    return [
        None if lost else Tail(reached, missed, "exact")
        for lost, (reached, missed) in zip(is_lost.tolist(), logs, strict=True)
    ]


class _Lanes:
    """The problems, and bounds of what their rankings still add to T."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.n, self.n_pos, self.depth = np.array(
            [(p.items.n, p.n_pos, p.items.depth) for p in problems]
        ).T
        self.target = np.array([problem.target for problem in problems])
        self._is_tied = np.array([problem.items.is_tied for problem in problems])

    def to_come(self, lane: Integers, hits: Integers, rank: Integers) -> tuple[Floats, Floats]:
        """Return the least and the most that is added to T below a rank."""
        n, depth, rest = self.n[lane], self.depth[lane], self.n_pos[lane] - hits
        k = np.maximum(np.minimum(rest, depth - rank), 0)
        largest = np.where(self._is_tied[lane], k * (hits + k) / (rank + k), _gain(hits, rank, k))
        k = np.where(rank < depth, np.maximum(rest - (n - depth), 0), 0)
        last = np.maximum(depth, 1)
        tied = k * (hits + (k + 1) / 2) / last
        least = np.where(self._is_tied[lane], tied, _gain(hits, last - k, k))
        return least, largest


def _gain(hits: Integers, rank: Integers, k: Integers) -> Floats:
    """Return what k positives right below a rank add to T: sum of (hits + i) / (rank + i)."""
    return np.asarray(k - (rank - hits) * (digamma(rank + k + 1.0) - digamma(rank + 1.0)))


def _merged(
    lane: Integers, hits: Integers, total: Floats, log_weight: Floats, same: Floats
) -> tuple[Integers, Integers, Floats, Floats]:
    """Merge states of a lane that have as many positives and the same T."""
    order = np.lexsort((total, hits, lane))
    lane, hits, total, log_weight = lane[order], hits[order], total[order], log_weight[order]
    is_new = (np.diff(lane, prepend=-1) != 0) | (np.diff(hits, prepend=-1) != 0)
    is_new |= np.diff(total, prepend=-1.0) > same[lane]
    first = np.flatnonzero(is_new)
    if first.size == lane.size:
        return lane, hits, total, log_weight
    return lane[first], hits[first], total[first], np.logaddexp.reduceat(log_weight, first)
