"""Rankings taken in steps, and draws of T = n_pos AP under random ranking.

With h positives above, a positive at rank t adds (h + 1)/t to T; j positives of a tie block that
ends at rank e add j (h + j)/e together; what is not retrieved adds nothing. A step is one rank,
one tie block, or a run of ranks without ties, short in comparison to what is above.
"""

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, polygamma, psi

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]

# The ranks that are taken one by one, and the share of a rank that a run below it may take.
FIRST, SHARE = 128, 0.03


class Shape(NamedTuple):
    """A ranking: its items, its positives, and if it is so, what is tied or not retrieved.

    ``ties`` are the sizes of the tie blocks of the first ``depth`` items, best first.
    """

    n: int
    n_pos: int
    depth: int
    ties: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Steps:
    """The steps of a ranking, one entry each: ``size`` items below the first ``above``.

    With h positives above and j inside, T grows on average by
    ``j (h + 1) single + j (j - 1) pair``, and if the step is a run, with the variance
    ``j (1 - j/size) (h + j/2)^2 spread``, as the places of the positives are random.
    """

    above: Integers
    size: Integers
    single: Floats
    pair: Floats
    spread: Floats

    def growth(self, k: int, hits: Floats, inside: Floats) -> Floats:
        """Return the mean growth of T in a step."""
        return np.asarray(
            inside * ((hits + 1) * self.single[k] + (inside - 1) * self.pair[k]), np.float64
        )

    def variance(self, k: int, hits: Floats, inside: Floats) -> Floats:
        """Return the variance of the growth of T in a step."""
        scatter = inside * (1 - inside / self.size[k]) * (hits + inside / 2) ** 2
        return np.asarray(scatter * self.spread[k], np.float64)


def steps_of(
    shape: Shape, first: int = FIRST, share: float = SHARE, *, is_fine_below: bool = False
) -> Steps:
    """Return the steps of a ranking.

    Where they are fine below, a run takes no larger share of the ranks to come, and the last ranks
    are taken one by one. So it must be where the positives crowd at the end of the ranking.
    """
    sizes, is_run = _sizes(shape, first, share, is_fine_below=is_fine_below)
    end = np.cumsum(sizes)
    above = end - sizes
    single, pair, spread = 1 / end, 1 / end, np.zeros(end.size)
    runs = np.flatnonzero(is_run)
    a, m = above[runs].astype(np.float64), sizes[runs].astype(np.float64)
    total = psi(a + m + 1) - psi(a + 1)
    squares = polygamma(1, a + 1) - polygamma(1, a + m + 1)
    single[runs] = total / m
    # Half the mean of 1/max of two ranks of the run.
    pair[runs] = (m - (a + 1) * total) / (m * (m - 1))
    spread[runs] = np.maximum(squares / m - (total / m) ** 2, 0) * m / (m - 1)
    if shape.depth < shape.n:
        single[-1] = pair[-1] = 0.0
    return Steps(above, sizes, single, pair, spread)


def _sizes(
    shape: Shape, first: int, share: float, *, is_fine_below: bool
) -> tuple[Integers, NDArray[np.bool_]]:
    """Return how many items each step takes, and whether it is a run."""
    blocks = shape.ties or ()
    sizes: list[int] = []
    runs: list[bool] = []
    end = place = 0
    while end < shape.depth:
        stretch = _untied(blocks, place) if shape.ties else shape.depth - end
        if not stretch:
            sizes.append(blocks[place])
            place += 1
        else:
            left = shape.n - end if is_fine_below else end
            most = 0 if min(left, end) < first else int(share * min(left, end))
            sizes.append(max(1, min(stretch, most)))
            place += sizes[-1]
        runs.append(bool(stretch) and sizes[-1] > 1)
        end += sizes[-1]
    if shape.depth < shape.n:
        sizes.append(shape.n - shape.depth)
        runs.append(False)
    return np.array(sizes, np.int64), np.array(runs)


def _untied(blocks: tuple[int, ...], place: int) -> int:
    """Return how many blocks of one item follow one another from a place on."""
    end = place
    while end < len(blocks) and blocks[end] == 1:
        end += 1
    return end - place


def log_choose(n: Floats | int, k: Floats | int) -> Floats:
    """Return the logarithm of the number of ways to choose."""
    return np.asarray(gammaln(np.add(n, 1.0)) - gammaln(np.add(k, 1.0)) - gammaln(n - k + 1.0))


# So many positives of a run have places of their own; more of them are a normal sum.
_PLACED = 3
# Up to here the ranks of all positives are drawn, where few of them coincide.
_FEW, _CELLS = 200, 1 << 22


def permuted(shape: Shape, draws: int, rng: np.random.Generator) -> Floats:
    """Draw T under random ranking.

    Few positives get ranks. With many, the number of positives of a step is hypergeometric given
    what is above, and what it adds is `grown`.
    """
    if shape.n_pos <= _FEW and shape.n_pos**2 <= shape.n:
        chunk = max(1, _CELLS // shape.n_pos)
        parts = [min(chunk, draws - done) for done in range(0, draws, chunk)]
        return np.concatenate([_by_rank(shape, part, rng) for part in parts])
    steps = steps_of(shape)
    hits, total = np.zeros(draws, np.int64), np.zeros(draws)
    last = steps.size.size - 1
    for k, size in enumerate(steps.size.tolist()):
        left = shape.n - int(steps.above[k])
        remain = shape.n_pos - hits
        if k == last:
            inside = remain
        elif size == 1:
            inside = (rng.random(draws) * left < remain).astype(np.int64)
        else:
            inside = rng.hypergeometric(remain, left - remain, size)
        total += grown(steps, k, hits.astype(np.float64), inside.astype(np.float64), rng)
        hits += inside
    return total


def grown(steps: Steps, k: int, hits: Floats, inside: Floats, rng: np.random.Generator) -> Floats:
    """Draw what a step adds, given the hits above and inside.

    In a run, up to three positives get distinct ranks; more of them add a normal variate with
    their mean and variance. This is a share of about SHARE^2/12 = 1e-4 of the variance of T, and
    what the normal law neglects of it are cumulants beyond the second: those are smaller than
    the cumulants of T by SHARE^4 and more, whatever the sizes.
    """
    growth = steps.growth(k, hits, inside)
    if not steps.spread[k]:
        return growth
    many = inside > _PLACED
    if many.any():
        deviation = np.sqrt(steps.variance(k, hits[many], inside[many]))
        growth[many] += deviation * rng.standard_normal(deviation.size)
    for count in range(1, _PLACED + 1):
        some = np.flatnonzero(inside == count)
        if some.size:
            ranks = steps.above[k] + 1 + _places(int(steps.size[k]), count, some.size, rng)
            order = hits[some, None] + np.arange(1, count + 1)
            growth[some] = (order / ranks).sum(axis=1)
    return growth


def _places(size: int, count: int, draws: int, rng: np.random.Generator) -> Floats:
    """Draw distinct places among `size`, in order."""
    chosen = np.zeros((draws, 0), np.int64)
    for number in range(count):
        place = rng.integers(0, size - number, draws)
        for other in chosen.T:
            place += place >= other
        chosen = np.sort(np.column_stack([chosen, place]), axis=1)
    return np.asarray(chosen, np.float64)


def _by_rank(shape: Shape, draws: int, rng: np.random.Generator) -> Floats:
    """Draw T by drawing distinct ranks of all positives."""
    ranks = rng.integers(1, shape.n + 1, (draws, shape.n_pos))
    ranks.sort(axis=1)
    if shape.n_pos > 1:
        # Rankings with a rank drawn twice are drawn anew, all of them.
        again = np.flatnonzero((np.diff(ranks, axis=1) == 0).any(axis=1))
        for row in again:
            ranks[row] = np.sort(rng.choice(shape.n, shape.n_pos, replace=False) + 1)
    hits = np.broadcast_to(np.arange(1.0, shape.n_pos + 1), ranks.shape)
    end = ranks
    if shape.ties:
        ends = np.append(np.cumsum(shape.ties), shape.n)
        block = np.searchsorted(ends, ranks)
        end = ends[np.minimum(block, ends.size - 1)]
        # Each positive counts all up to the end of its block.
        is_last = np.append(np.diff(end, axis=1) > 0, np.ones((draws, 1), bool), axis=1)
        last = np.where(is_last, hits, np.inf)
        hits = np.minimum.accumulate(last[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(np.where(ranks <= shape.depth, hits / end, 0.0).sum(axis=1))
