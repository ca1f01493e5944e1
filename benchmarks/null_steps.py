"""The ranks of a ranking, taken in steps: what the references of the null of AP walk over.

With h positives above, a positive at rank t adds (h + 1)/t to ``T = n_pos AP``; j positives of a
tie block that ends at rank e add j (h + j)/e together; what is not retrieved adds nothing. A step
is one rank, one tie block, or a run of ranks without ties, short in comparison to what is above.
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
