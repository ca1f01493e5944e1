"""Draws of metrics: against Dirichlet and beta laws drawn one by one, and what must hold."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats

from prframe.stats.curves import drawn_weights
from prframe.stats.intervals import posterior_replicates
from prframe.stats.intervals.rankings import POSTERIOR, suited_method
from prframe.stats.rankings import (
    AveragePrecision,
    CellStatistic,
    GainArea,
    PrecisionAt,
    PrecisionAtRecall,
    RecallAt,
    ReciprocalRank,
    RocArea,
    TrapezoidArea,
)
from prframe.stats.rankings.cells import RankedCells

N_DRAWS = 2500
# Midpoints; the definition is integrated over them as it stands.
GRID = (np.arange(400) + 0.5) / 400


class Block(NamedTuple):
    """Negatives above, then positives and negatives with one score."""

    above: int
    pos: int
    neg: int = 0


class Ranking(NamedTuple):
    """Blocks, and the negatives below the last."""

    blocks: Sequence[Block]
    below: int

    def cells(self) -> RankedCells:
        counts = [pair for b in self.blocks for pair in ((0, b.above), (b.pos, b.neg))]
        return RankedCells(*np.array([*counts, (0, self.below), (0, 0)]).T)

    def path(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Positives and negatives passed at each knot, and which pieces lie in a tie block."""
        ranks, passed, tied = [0.0], [0.0], []
        hits = false = 0
        for block in self.blocks:
            false += block.above
            tied.append(False)
            if (block.pos, block.neg) == (1, 0):
                ranks.append(hits + 1)
                passed.append(false)
            else:
                ranks += [hits + 0.5, hits + block.pos + 0.5]
                passed += [false, false + block.neg]
                tied.append(True)
            hits, false = hits + block.pos, false + block.neg
        # Half a rank at either end, and with a tie block there another half: for the negatives
        # beyond it, or for the block.
        first, last = self.blocks[0], self.blocks[-1]
        ranks[0] = 0.5 - 0.5 * ((first.pos, first.neg) != (1, 0))
        if ranks[0] == 0 and not first.above:
            ranks[1] = 0.0
        more = 0.5 * ((last.pos, last.neg) != (1, 0))
        if more and not self.below:
            ranks[-1] += 0.5
        ranks, passed = [*ranks, hits + 0.5 + more], [*passed, false + self.below]
        return np.array(ranks), np.array(passed), np.array([*tied, False])


class Curve(NamedTuple):
    """One draw: recall (the end of its tie block if asked for), false positive rate, prevalence."""

    recall: np.ndarray
    rate: np.ndarray
    prevalence: float

    @property
    def precision(self) -> np.ndarray:
        found = self.prevalence * self.recall
        return found / (found + (1 - self.prevalence) * self.rate)


def draw(
    ranking: Ranking, levels: np.ndarray, rng: np.random.Generator, *, area: bool, ends: bool
) -> Curve:
    """Draw a curve at levels of recall by the words of `pr_posterior`."""
    ranks, passed, tied = ranking.path()
    cells = ranking.cells()
    gaps = np.diff(ranks)
    shares = np.zeros(gaps.size)
    shares[gaps > 0] = rng.dirichlet(gaps[gaps > 0])
    knots = np.concatenate([[0.0], np.cumsum(shares)])
    i = np.searchsorted(knots[1:-1], levels, side="right")
    share = (levels - knots[i]) / np.diff(knots)[i]
    low, high = passed[i], passed[i + 1]
    joined = (low + 0.5) ** (1 - share) * (high + 0.5) ** share - 0.5
    within = high if ends else low + share * (high - low)
    x = np.where(tied[i], within, np.maximum(joined, 0.0))
    # In one of two draws for areas the half negative fades.
    fades = area and rng.random() < 0.5
    half = levels**0.5 if fades else np.where(i == 0, share, 1.0)
    recall = np.where(tied[i] & ends, knots[i + 1], levels)
    shapes = x + half / 2
    steps = np.diff([0.0, *shapes, cells.n_neg + 1])
    # Of levels in one tie block there is one rate.
    some = steps > 1e-12
    shares = np.zeros(steps.size)
    shares[some] = rng.dirichlet(steps[some])
    prevalence = rng.beta(cells.n_pos + 0.5, cells.n_neg + 0.5)
    return Curve(recall, np.cumsum(shares)[:-1], prevalence)


def recall_at(curve: Curve, share: float) -> float:
    """Recall where a share of all items is above."""
    above = curve.prevalence * curve.recall + (1 - curve.prevalence) * curve.rate
    return float(np.interp(share, [0, *above, 1], [0, *curve.recall, 1]))


@cache
def slow(name: str, key: str) -> np.ndarray:
    """Draw a metric by its definition."""
    ranking, rng, values = RANKINGS[key], np.random.default_rng(94), []
    n = ranking.cells().n
    at, grid = np.array([0.4]), GRID
    for _ in range(N_DRAWS):
        if name == "Prec@0.4":
            values.append(draw(ranking, at, rng, area=False, ends=True).precision[0])
        elif name in {"AP", "AUPRC"}:
            curve = draw(ranking, grid, rng, area=True, ends=name == "AP")
            values.append(curve.precision.mean())
        else:
            curve = draw(ranking, grid, rng, area=False, ends=False)
            found = recall_at(curve, 4 / n)
            values.append(
                {
                    "AUC": 1 - curve.rate.mean(),
                    "R@4": found,
                    "P@4": found * curve.prevalence * n / 4,
                }[name]
            )
    return np.array(values)


RANKINGS = {
    "untied": Ranking([Block(0, 1), Block(0, 1), Block(2, 1), Block(3, 1), Block(1, 1)], 9),
    "tied": Ranking([Block(1, 1), Block(0, 3, 4), Block(2, 2), Block(1, 1, 3)], 5),
}
STATISTICS: dict[str, CellStatistic] = {
    one.name: one
    for one in (
        AveragePrecision(),
        TrapezoidArea(),
        RocArea(),
        RecallAt(4),
        PrecisionAt(4),
        PrecisionAtRecall(0.4),
    )
}


@pytest.mark.slow
@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.parametrize("key", RANKINGS)
def test_draws_have_the_law_of_the_definition(key: str, name: str) -> None:
    found = replicates(RANKINGS[key].cells(), STATISTICS[name], size=2 * N_DRAWS)[0]
    assert stats.ks_2samp(found, slow(name, key)).pvalue > 0.001


def replicates(cells: RankedCells, *some: CellStatistic, size: int = 2000) -> np.ndarray:
    return posterior_replicates(cells, some, drawn_weights(size, np.random.default_rng(93)))


@pytest.mark.parametrize("sizes", [(4, 6, 10), (40, 60, 100)])
def test_ties_of_most_positives_are_drawn_as_well(sizes: tuple[int, ...]) -> None:
    cells = RankedCells(np.array([*sizes, 0]), 10 * np.array([2, 40, 138, 0]))
    metrics = (AveragePrecision(), RocArea(), PrecisionAt(10), GainArea(), ReciprocalRank())
    for metric in metrics:
        assert suited_method(cells, metric, clustered=False) == POSTERIOR
