"""P(T >= target) by counting rankings, where they are few or few of them are as good.

All rankings are followed at once, block by block. A state is the number of positives so far, T so
far, and a probability; it is decided once the target is surely reached or surely missed. States of
several problems go side by side, each in its lane.

The values of AP themselves: the least and the largest, all of few, and random ones.
"""

from collections.abc import Sequence
from math import inf, log

import numpy as np
from scipy.special import digamma

from prframe.stats._tolerances import EQUAL
from prframe.stats.null.average_precision.approximations import ap_minimum
from prframe.stats.null.average_precision.steps import Items, Problem, Tail, log_binomial, ranges
from prframe.typing import Flags, Floats, Integers

# States of one lane with as many positives and the same T, up to this share of the target, are one
# state. They are looked for once there are so many states.
_SAME, _MANY_STATES = 1e-13, 512
# Untied rankings of so many positives are followed from hit to hit first; those of so few have no
# other way, which takes one state for each pair of ranks.
_FEW_HITS, PAIRS = 5, 3
# The other tail has lost digits where a tail is larger.
_NEARLY_SURE = 1 - 1e-9
# Rankings are followed through so many blocks.
_BLOCKS = 1 << 12
# A step makes at most so many times as many states as may be open after it.
_GROWTH = 4
_TINY = 1e-300
# The least AP of tie blocks merges at most so many numbers; of more, that without ties is taken,
# which is no larger.
_MERGED = 1 << 22
# The values of AP are listed if there are at most so many, in at most so many tie blocks or ranks,
# of at most so many positives: `evaluate` adds up more precisions in an order that rounds in
# another way.
_MOST, _MOST_BLOCKS, _MOST_POSITIVES = 1 << 16, 1 << 10, 1 << 7
# The number of labels, or of ranks, that are drawn at a time, which bounds the memory.
_CHUNK = 1 << 22


def tail_of_one(problem: Problem) -> Tail:
    """Return the tails of AP with one positive, which is 1 over the end of its block."""
    blocks, depth = problem.items.ends, problem.items.depth
    furthest = min(1 / problem.target, depth) if problem.target > 0 else problem.items.n
    good = int(furthest)
    if blocks is not None and problem.target > 0:
        place = int(np.searchsorted(blocks, furthest, side="right"))
        good = int(blocks[place - 1]) if place else 0
    share = good / problem.items.n
    log_missed = float(np.log1p(-share)) if share < 1 else -inf
    return Tail(log(share) if share else -inf, log_missed, "exact")


def counted_tails(problems: Sequence[Problem], most: int) -> list[Tail | None]:
    """Return the tails; None where more than `most` states of a problem are open at a time."""
    tails = [_by_hits(problem, most) for problem in problems]
    is_many = [problem.items.is_tied or problem.n_pos > PAIRS for problem in problems]
    places = [place for place, tail in enumerate(tails) if tail is None and is_many[place]]
    found = _by_blocks([problems[place] for place in places], most) if places else []
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
    """Return the tails; None where too many states are open, or the first blocks do not decide."""
    blocks = [problem.items.blocks(_BLOCKS) for problem in problems]
    width = max(each.size for each in blocks)
    ends = np.array([np.pad(each, (0, width - each.size), mode="edge") for each in blocks])
    n, n_pos, depth = np.array([problem.retrieved for problem in problems]).T
    target = np.array([problem.target for problem in problems])
    is_tied = np.array([problem.items.is_tied for problem in problems])
    lane = np.arange(len(problems))
    hits, above = np.zeros((2, lane.size), np.int64)
    total, log_weight = np.zeros((2, lane.size))
    decided = np.full((2, lane.size), -inf)
    is_lost = np.zeros(lane.size, np.bool_)
    for end in ends.T:
        if not lane.size:
            break
        size, left, rest = (end - above)[lane], (n - above)[lane], n_pos[lane] - hits
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
        total = total[of] + np.where(end <= depth, 1 / end, 0.0)[lane] * j * hits
        sizes = n[lane], n_pos[lane], depth[lane]
        least, largest = _to_come(sizes, is_tied[lane], hits, end[lane])
        is_reached = total + least >= target[lane]
        is_missed = total + largest < target[lane]
        for side, chosen in enumerate((is_reached, is_missed & ~is_reached)):
            np.logaddexp.at(decided[side], lane[chosen], log_weight[chosen])
        is_open = ~(is_reached | is_missed)
        states = lane[is_open], hits[is_open], total[is_open], log_weight[is_open]
        if states[0].size > _MANY_STATES:
            states = _merged(*states, _SAME * target)
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


def _to_come(
    sizes: tuple[Integers, Integers, Integers], is_tied: Flags, hits: Integers, rank: Integers
) -> tuple[Floats, Floats]:
    """Return the least and the most that is added to T below a rank."""
    n, n_pos, depth = sizes
    rest = n_pos - hits
    k = np.maximum(np.minimum(rest, depth - rank), 0)
    largest = np.where(is_tied, k * (hits + k) / (rank + k), _gain(hits, rank, k))
    k = np.where(rank < depth, np.maximum(rest - (n - depth), 0), 0)
    last = np.maximum(depth, 1)
    tied = k * (hits + (k + 1) / 2) / last
    return np.where(is_tied, tied, _gain(hits, last - k, k)), largest


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
    return lane[first], hits[first], total[first], np.logaddexp.reduceat(log_weight, first)


def ap_extremes(items: Items, n_pos: int) -> tuple[float, float]:
    """Return the least and the largest AP of rankings of items, of which `n_pos` are positive."""
    fewest, most = max(0, n_pos - (items.n - items.depth)), min(n_pos, items.depth)
    if items.ends is not None and n_pos * items.ends.size <= _MERGED:
        least = _tied_least(np.diff(items.ends, prepend=0), n_pos, fewest, most)
    else:
        least = fewest * float(ap_minimum(items.depth, fewest)) if fewest else 0.0
    return least / n_pos, ap_largest(items, n_pos)


def ap_largest(items: Items, n_pos: int) -> float:
    """Return the largest AP: the positives fill the first ranks."""
    most = min(n_pos, items.depth)
    if items.ends is None or not most:
        return most / n_pos
    block = int(np.searchsorted(items.ends, most))
    above, end = (int(rank) for rank in np.append(0, items.ends)[block : block + 2])
    return (above + (most - above) * most / end) / n_pos


def _tied_least(sizes: Integers, n_pos: int, fewest: int, most: int) -> float:
    """Return the least T of so many hits, from the fewest to the most, in tie blocks."""
    # With H hits down to the end e of each block, j of them inside, twice T is the sum of
    # (H^2 - (H - j)^2 + j^2) / e: least values less H^2 / 2e are convex, and merge.
    odd = 2.0 * np.arange(n_pos) + 1
    increments, previous = np.zeros(0), 1.0
    for size, end in zip(sizes.tolist(), np.cumsum(sizes).tolist(), strict=True):
        above = increments + odd[: increments.size] * (0.5 / previous - 0.5 / end)
        merged = np.concatenate([above, odd[:size] * (0.5 / end)])
        increments, previous = np.sort(merged, kind="stable")[:n_pos], end
    least = np.cumsum(np.append(0.0, increments + odd[: increments.size] * (0.5 / previous)))
    return float(least[fewest : most + 1].min())


def beyond(x: Floats, least: Floats | float) -> Floats:
    """Return values just above all that count as equal to x, none between 0 and the least AP."""
    return np.maximum(x * (1 + 3 * EQUAL) + _TINY, np.asarray(least) / 2)


def ap_atoms(items: Items, n_pos: int, most: int = _MOST) -> tuple[Floats, Floats] | None:
    """Return the values of AP over all rankings, rising, and their probabilities; None if many."""
    blocks = items.blocks(_MOST_BLOCKS + 1)
    if blocks.size > _MOST_BLOCKS or n_pos > _MOST_POSITIVES:
        return None
    hits, total, weight = np.zeros(1, np.int64), np.zeros(1), np.zeros(1)
    above = 0
    for end in blocks.tolist():
        size, left = end - above, items.n - above
        parts = []
        for more in range(min(size, n_pos) + 1):
            met, earned = hits + more, total.copy()
            # Precisions are added up from the top down, as `evaluate` adds them.
            for _ in range(more if end <= items.depth else 0):
                earned += met / end
            rest = n_pos - hits
            chance = log_binomial(size, np.full(hits.size, more))
            chance = chance + log_binomial(left - size, rest - more) - log_binomial(left, rest)
            is_possible = np.isfinite(chance) & (met <= n_pos)
            parts.append([each[is_possible] for each in (met, earned, weight + chance)])
        hits, total, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.lexsort((total, hits))
        hits, total, weight = hits[order], total[order], weight[order]
        is_new = (np.diff(hits, prepend=-1) != 0) | (np.diff(total, prepend=-1) != 0)
        first = np.flatnonzero(is_new)
        hits, total = hits[first], total[first]
        weight = np.logaddexp.reduceat(weight, first)
        if hits.size > most:
            return None
        above = end
    values, place = np.unique(total / n_pos, return_inverse=True)
    return values, np.bincount(place, np.exp(weight), values.size).astype(np.float64)


def drawn(items: Items, n_pos: int, size: int, generator: np.random.Generator) -> Floats:
    """Return the AP of random rankings, an ndarray of float of shape (size,)."""
    at_once = max(1, _CHUNK // cost(items.n, n_pos))
    parts = [
        _average_precision(items, drawn_sets(items.n, n_pos, min(at_once, size - done), generator))
        for done in range(0, size, at_once)
    ]
    return np.concatenate(parts)


def cost(n: int, n_pos: int) -> int:
    """Return how many numbers are drawn for a ranking."""
    return n if n_pos * n_pos > n else n_pos


def _average_precision(items: Items, places: Integers) -> Floats:
    """Return the AP of rankings, whose positives stand at these places, counted from 0."""
    ranks = np.sort(places, axis=1) + 1
    hits = np.arange(1, ranks.shape[1] + 1)
    # Items that are not retrieved earn nothing and are in no block.
    ends = np.clip(ranks, 1, max(items.depth, 1))
    if items.ends is not None and items.ends.size:
        block = np.searchsorted(items.ends, ranks)
        ends = items.ends[np.minimum(block, items.ends.size - 1)]
        # Every positive of a block counts all positives of the block among its hits.
        is_last = np.diff(block, axis=1, append=-1) != 0
        last = np.where(is_last, hits, hits[-1])
        hits = np.minimum.accumulate(last[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(np.where(ranks <= items.depth, hits / ends, 0.0).mean(axis=1))


def drawn_sets(n: int, n_pos: int, size: int, generator: np.random.Generator) -> Integers:
    """Draw sets of n_pos places among n, one set per row."""
    if n_pos * n_pos > n > _CHUNK:
        sets = [generator.choice(n, n_pos, replace=False, shuffle=False) for _ in range(size)]
        return np.stack(sets)
    if n_pos * n_pos > n:
        mixed = generator.random((size, n))
        return np.argpartition(mixed, n_pos - 1, axis=1)[:, :n_pos]
    places = generator.integers(0, n, (size, n_pos))
    # Sets in which a place comes twice are drawn again.
    again = np.arange(size)
    while again.size:
        ordered = np.sort(places[again], axis=1)
        again = again[(np.diff(ordered, axis=1) == 0).any(axis=1)]
        places[again] = generator.integers(0, n, (again.size, n_pos))
    return places
