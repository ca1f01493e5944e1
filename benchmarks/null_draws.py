"""Draws of T = n_pos AP under random ranking, of rankings of any size."""

import numpy as np

from benchmarks.null_steps import Floats, Integers, Shape, Steps, steps_of

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


def brute(shape: Shape, draws: int, rng: np.random.Generator) -> Floats:
    """Draw T from shuffled labels, every item with a label of its own."""
    ends = np.repeat(*_ends(shape))
    label = np.zeros(shape.n, np.float64)
    label[: shape.n_pos] = 1
    total = np.zeros(draws)
    for draw in range(draws):
        rng.shuffle(label)
        top = label[: shape.depth]
        total[draw] = (top * np.cumsum(top)[ends - 1] / ends).sum()
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


def _ends(shape: Shape) -> tuple[Integers, Integers]:
    """Return the ends of the tie blocks, and their sizes."""
    sizes = np.array(shape.ties) if shape.ties else np.ones(shape.depth, np.int64)
    return np.cumsum(sizes), sizes


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
