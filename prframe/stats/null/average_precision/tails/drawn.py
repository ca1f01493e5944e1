"""Tails of AP of tied groups from random rankings, where no other method is sure.

A random ranking of tie blocks is the number of positives in each of them, so that a draw costs as
many numbers as there are blocks, whatever n. Far out, rankings are drawn in proportion to
exp(slope T), with T = n_pos AP: the sums of these weights over all rankings follow from block to
block, and with them the chances of each number of positives. With K the logarithm of the mean
weight, ``P(T >= t)`` is the mean of ``exp(K - slope T)`` over draws, those below t counting 0. No
draw counts more than ``exp(K - slope t)``, so that a sum of many times as much is as sure as that
many draws are.
"""

from math import log
from typing import NamedTuple

import numpy as np

from prframe.stats.null.average_precision.generating_function.steps import Items, log_binomial
from prframe.stats.null.average_precision.tails.tail import Tail, log_rest
from prframe.typing import Floats, Integers

# So many numbers of positives in blocks are a batch of draws, of which there are at most so many.
_NUMBERS, _BATCHES = 2_000_000, 5
# So many are a batch of draws that are weighted, which are quicker.
_WEIGHTED = 10_000_000
# Draws end once so many rankings are in the smaller tail, which has a relative error of .01 then.
# With less than the second number, an error of .022, there is no answer.
_ENOUGH, _LEAST = 10_000, 2_000
# NumPy draws from fewer items than this.
_MOST_ITEMS = 10**9
# Sums of weights have at most so many terms, and go through at most so many blocks, which take a
# tenth of a second.
_MOST_TERMS, _MOST_BLOCKS = 4_000_000, 2_000
# Slopes are multiples of this over the standard deviation of T, up to so many of them.
_STEP, _MOST_STEPS = 0.25, 1 << 16
# The same group has the same draws wherever it comes.
_SEED = 20_010


class _Weights(NamedTuple):
    """Sums of the weights of what follows each block, by the hits above it.

    Attributes
    ----------
    log_sums : list of ndarray
        Their logarithms.
    log_mean : float
        The logarithm of the mean weight of a ranking.
    mean : float
        The mean of T, if rankings are drawn in proportion to them.
    """

    log_sums: list[Floats]
    log_mean: float
    mean: float


class _Found(NamedTuple):
    """Tails from draws, and how many draws count for the smaller one."""

    weight: float
    tail: Tail | None


class DrawnRankings:
    """Random rankings of one group with ties, which are kept for other values.

    Parameters
    ----------
    items : Items
        With tie blocks.
    n_pos : int
    deviation : float
        The standard deviation of T.
    """

    def __init__(self, items: Items, n_pos: int, deviation: float) -> None:
        blocks = np.arange(items.depth) + 1 if items.ends is None else items.ends
        # What is not retrieved is one more block, which earns nothing.
        self._ends = np.append(blocks, items.n) if items.depth < items.n else blocks
        self._retrieved = blocks.size
        self._sizes = np.diff(self._ends, prepend=0)
        self._n_pos, self._unit = n_pos, _STEP / deviation
        above = np.append(0, self._ends)
        self._fewest = np.maximum(0, n_pos - (items.n - above))
        self._most = np.minimum(n_pos, above)
        self._plain_batches: list[Floats] = []
        self._weights: dict[int, _Weights] = {}
        self._weighted_batches: dict[int, list[Floats]] = {}

    def tail(self, target: float, mean: float) -> Tail | None:
        """Return the tails of T, the mean of which is given; None where draws do not show them.

        The draws depend on the target alone, not on others that came before.
        """
        can_be_weighted = self._sizes.size <= _MOST_BLOCKS and self._terms() <= _MOST_TERMS
        found = [self._of_plain(target, _ENOUGH if can_be_weighted else _LEAST)]
        if found[0].weight < _ENOUGH and can_be_weighted:
            found.append(self._of_weighted(target, 1 if target > mean else -1))
        weight, tail = max(found, key=lambda one: one.weight)
        return tail if weight >= _LEAST else None

    def _of_plain(self, target: float, enough: int) -> _Found:
        """Return the tails from rankings that are all as likely, as long as they may be enough."""
        size = _NUMBERS // self._sizes.size
        if self._ends[-1] >= _MOST_ITEMS or size * _BATCHES < 2 * _LEAST:
            return _Found(0.0, None)
        reached = drawn = fewer = 0
        for number in range(_BATCHES):
            if number == len(self._plain_batches):
                self._plain_batches.append(self._plain(size, number))
            reached += size - int(np.searchsorted(self._plain_batches[number], target))
            drawn += size
            fewer = min(reached, drawn - reached)
            if fewer >= _ENOUGH or fewer * _BATCHES < enough * (number + 1):
                break
        if not fewer:
            return _Found(0.0, None)
        logs = log(reached / drawn), log(1 - reached / drawn)
        return _Found(float(fewer), Tail(*logs, "monte-carlo"))

    def _plain(self, size: int, number: int) -> Floats:
        """Return sorted values of T."""
        rng = np.random.default_rng([_SEED, number])
        inside = rng.multivariate_hypergeometric(self._sizes, self._n_pos, size, "marginals")
        kept = slice(0, self._retrieved)
        terms = inside[:, kept] * np.cumsum(inside, axis=1)[:, kept] / self._ends[kept]
        return np.sort(terms.sum(axis=1))

    def _terms(self) -> int:
        """Return the number of terms of all sums of weights."""
        hits = self._most - self._fewest + 1
        return int((hits[:-1] * np.minimum(hits[1:], self._sizes + 1)).sum())

    def _steps(self, target: float, sign: int) -> int | None:
        """Return the last slope, in steps, whose mean of T is not beyond the target."""
        low, high = 0, 1
        while sign * self._weights_at(sign * high).mean <= sign * target:
            low, high = high, 2 * high
            if high > _MOST_STEPS:
                return None
        while high - low > 1:
            middle = (low + high) // 2
            is_before = sign * self._weights_at(sign * middle).mean <= sign * target
            low, high = (middle, high) if is_before else (low, middle)
        return sign * low

    def _weights_at(self, steps: int) -> _Weights:
        """Return the sums of weights at a slope."""
        if steps not in self._weights:
            log_sums, mean = [np.zeros(1)], np.zeros(1)
            for block in range(self._sizes.size - 1, -1, -1):
                hits = np.arange(self._fewest[block], self._most[block] + 1)
                logs, earned, places = self._rows(block, hits, steps, log_sums[-1])
                top = logs.max(axis=1, keepdims=True)
                weights = np.exp(logs - top)
                sums = weights.sum(axis=1)
                mean = (weights * (earned + mean[places])).sum(axis=1) / sums
                log_sums.append(top[:, 0] + np.log(sums))
            log_mean = float(log_sums[-1][0] - log_binomial(self._ends[-1], self._n_pos))
            self._weights[steps] = _Weights(log_sums[::-1], log_mean, float(mean[0]))
        return self._weights[steps]

    def _rows(
        self, block: int, hits: Integers, steps: int, log_sums: Floats
    ) -> tuple[Floats, Floats, Integers]:
        """Return what each number of positives in a block weighs, by row of the hits above it.

        Beside the logarithms of the weights, with those of all that follows, these are what the
        block adds to T, and the places of the hits up to its end among those that are possible.
        """
        fewest, most = int(self._fewest[block + 1]), int(self._most[block + 1])
        size = int(self._sizes[block])
        least = max(0, fewest - int(hits[-1]))
        inside = np.arange(least, min(size, most - int(hits[0])) + 1)
        places = hits[:, None] + inside - fewest
        is_possible = (places >= 0) & (places <= most - fewest)
        places = np.where(is_possible, places, 0)
        earned = np.zeros(places.shape)
        if block < self._retrieved:
            earned = inside * (hits[:, None] + inside) / float(self._ends[block])
        logs = log_binomial(size, inside) + steps * self._unit * earned + log_sums[places]
        return np.where(is_possible, logs, -np.inf), earned, places

    def _of_weighted(self, target: float, sign: int) -> _Found:
        """Return the tails from rankings drawn in proportion to exp(slope T)."""
        steps = self._steps(target, sign)
        if steps is None:
            return _Found(0.0, None)
        slope, weight, drawn = steps * self._unit, 0.0, 0
        size = _WEIGHTED // self._sizes.size
        batches = self._weighted_batches.setdefault(steps, [])
        for number in range(_BATCHES):
            if number == len(batches):
                batches.append(self._weighted(size, steps, number))
            at = int(np.searchsorted(batches[number], target))
            inside = batches[number][at:] if sign > 0 else batches[number][:at]
            weight += float(np.exp(slope * (target - inside)).sum())
            drawn += size
            if weight >= _ENOUGH or weight * _BATCHES < _LEAST * (number + 1):
                break
        if not weight:
            return _Found(0.0, None)
        log_most = self._weights_at(steps).log_mean - slope * target
        log_tail = min(log_most + log(weight / drawn), 0.0)
        tail = Tail(log_tail, log_rest(log_tail), "monte-carlo")
        if sign < 0:
            tail = tail._replace(log_reached=tail.log_missed, log_missed=log_tail)
        return _Found(weight, tail)

    def _weighted(self, size: int, steps: int, number: int) -> Floats:
        """Return sorted values of T."""
        rng = np.random.default_rng([_SEED, number, abs(steps), steps < 0])
        log_sums = self._weights_at(steps).log_sums
        hits, total = np.zeros(size, dtype=np.int64), np.zeros(size)
        for block in range(self._sizes.size):
            fewest = int(self._fewest[block])
            present = np.flatnonzero(np.bincount(hits - fewest))
            row = np.searchsorted(present, hits - fewest)
            logs, earned, places = self._rows(block, present + fewest, steps, log_sums[block + 1])
            chances = np.exp(logs - log_sums[block][present, None])
            sums = np.cumsum(chances, axis=1)
            sums /= sums[:, -1:]
            # Each row lies between its number and the next one, so that one search does for all.
            sums += np.arange(present.size)[:, None]
            found = np.searchsorted(sums.ravel(), rng.random(size) + row, side="right")
            found = np.minimum(found, (row + 1) * sums.shape[1] - 1)
            total += earned.ravel()[found]
            hits = places.ravel()[found] + int(self._fewest[block + 1])
        return np.sort(total)
