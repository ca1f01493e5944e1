"""Draws of the precision-recall curves of two models that ranked the same items.

The weights belong to the items, and both models add up the same weights, each in its own order.
The draws of both curves are therefore dependent to the extent that the rankings agree.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.sparse import csr_array
from scipy.special import logit

from prframe.stats._batches import batch_sizes
from prframe.stats._units import Units
from prframe.stats.curves.drawn.roc_path import RocPath
from prframe.stats.curves.drawn.smoothing import Smoothing
from prframe.stats.rankings import cells_from_scores
from prframe.typing import Flags, Floats, Integers

# The largest number of weights that are drawn at a time.
_MOST_VALUES = 1 << 22
# The precision of a draw that has finite odds.
_MOST = float(np.nextafter(1.0, 0.0))

# Half counts in addition to the items, shape (2, draws) each: for the positives of tie blocks at
# either end, for the totals of positives and negatives, and for the negatives above and below a
# threshold.
Halves: TypeAlias = tuple[Floats, Floats, Floats]


@dataclass(frozen=True, eq=False)
class PairedPaths:
    """The paths of two models, and the parts of the items that carry weight on both."""

    # Shapes of the gamma distributions of the weights of the parts.
    shapes: Floats
    # The gaps in which each model passes the parts.
    models: Sequence["Passage"]
    # Share of the negatives that stand between the same positives in both rankings.
    agreement: float

    @classmethod
    def of(
        cls, scores: Sequence[Floats], positive: Flags, cluster: Integers | None = None
    ) -> "PairedPaths":
        """Find the paths and parts of two score arrays.

        A part is what neither path distinguishes, or one of two halves of a cluster. A positive is
        two halves, above and below its knot.
        """
        paths = [RocPath.of(cells_from_scores(s, positive)[0]) for s in scores]
        passed = [_gaps(path, s, positive) for path, s in zip(paths, scores, strict=True)]
        halves, negatives = (np.stack([gaps[i] for gaps in passed]) for i in (0, 1))
        agreement = float((negatives[0] == negatives[1]).mean()) if negatives.size else 1.0
        if cluster is None:
            halves, of_half, n_halves = _alike(halves)
            negatives, of_negative, n_negatives = _alike(negatives)
            shapes = np.concatenate([n_halves / 2, n_negatives.astype(np.float64)])
            of_negative += n_halves.size
        else:
            of_item, number = Units.of(cluster)
            shapes = np.full(2 * number, 0.5)
            of_half, of_negative = (
                np.concatenate([of_item[of], of_item[of] + number]) for of in (positive, ~positive)
            )
            # A negative has the weight of both halves of its cluster.
            negatives = np.concatenate([negatives, negatives], axis=1)
        models = [
            Passage(
                path,
                _incidence(path, half, of_half, shapes.size),
                _incidence(path, negative, of_negative, shapes.size),
            )
            for path, half, negative in zip(paths, halves, negatives, strict=True)
        ]
        return cls(shapes, models, agreement)

    def log_odds(
        self, recall: Floats, size: int, rng: np.random.Generator, prior: float | None = None
    ) -> list[Floats]:
        """Draw the log odds of precision for both models, shape (draws, levels) each.

        The share of positives is drawn as well, unless it is given.
        """
        knots = max(*(model.path.ranks.size for model in self.models), recall.size)
        sizes = batch_sizes(size, max(self.shapes.size, knots), _MOST_VALUES)
        parts = [self._part(recall, number, rng, prior) for number in sizes]
        drawn = (np.concatenate(curves) for curves in zip(*parts, strict=True))
        return [logit(np.minimum(precision, _MOST)) for precision in drawn]

    def smoothed_log_odds(
        self, recall: Floats, size: int, rng: np.random.Generator, prior: float | None = None
    ) -> list[Floats]:
        """Draw the same, smoothed over recall; positives of one cluster count like others here."""
        smoothing = Smoothing.of(recall, self.models[0].path.n_pos)
        paths = [model.path for model in self.models]
        smoothed = [smoothing.smoothed(path) for path in paths]
        is_plain = all(here.all() for here in smoothed) and not any(p.missed for p in paths)
        every = smoothing.nodes if is_plain else np.union1d(smoothing.nodes, recall)
        at, levels = (np.searchsorted(every, some) for some in (smoothing.nodes, recall))
        results = []
        for here, odds in zip(smoothed, self.log_odds(every, size, rng, prior), strict=True):
            points, weights = smoothing.nodes, smoothing.weights
            if not is_plain:
                known = np.asarray(np.isfinite(odds).all(axis=0))
                points, weights = smoothing.means(here, known[at], known[levels])
            results.append((weights @ odds[:, np.searchsorted(every, points)].T).T)
        return results

    def _part(
        self, recall: Floats, size: int, rng: np.random.Generator, prior: float | None
    ) -> list[Floats]:
        """Draw a number of curves of both models."""
        weights = rng.standard_gamma(self.shapes[:, None], (self.shapes.size, size))
        ends, odds = rng.standard_gamma(0.5, (2, 2, size))
        # The half negative that was not seen is shared to the extent that the rankings agree.
        shared = rng.standard_gamma(self.agreement / 2, (2, size))
        own = rng.standard_gamma((1 - self.agreement) / 2, (2, 2, size))
        return [
            model.curves(weights, (ends, odds, shared + more), recall, prior)
            for model, more in zip(self.models, own, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class Passage:
    """The halves of positives, and the negatives, that a model passes in gaps, (gaps, parts).

    The last gap holds the items that the model never retrieves.
    """

    path: RocPath
    pos: csr_array
    neg: csr_array

    def curves(
        self, weights: Floats, halves: Halves, recall: Floats, prior: float | None = None
    ) -> Floats:
        """Return precision at the levels, at a share of positives if one is given."""
        path, (ends, of_totals, unseen) = self.path, halves
        pos, neg = self.pos @ weights, self.neg @ weights
        if prior is None:
            odds = (pos.sum(axis=0) + of_totals[0]) / (neg.sum(axis=0) + of_totals[1])
        else:
            odds = np.full(weights.shape[1], prior / (1 - prior))
        self._add_ends(pos, ends)
        knots = _running(pos) / pos.sum(axis=0)[:, None]
        number = np.arange(knots.shape[1], dtype=np.float64)
        # One search for all rows, each with an offset of its own, would be slower and less exact.
        at = np.stack([np.interp(recall, own, number) for own in knots])
        piece = np.minimum(at.astype(np.int64), path.tied.size - 1)
        false = _on_the_way(path, _running(neg), piece, at - piece, neg.sum(axis=0)[:, None])
        # Above the first positive the half negative falls to 0 with recall.
        part = np.where(piece == 0, at, 1.0)
        # It is less before the middle of a run, and a part of the half below is passed after it.
        turns = path.turns[piece] + (at - piece) * np.diff(path.turns)[piece]
        above, below = unseen[..., None]
        false += (part + np.minimum(turns, 0.0)) * above + np.maximum(turns, 0.0) * below
        fpr = false / (neg.sum(axis=0) + unseen.sum(axis=0))[:, None]
        if path.missed:
            fpr[recall > knots[:, -1:]] = np.inf
        hits = odds[:, None] * recall
        return np.asarray(hits / (hits + fpr))

    def _add_ends(self, pos: Floats, ends: Floats) -> None:
        """Add half a positive to a tie block that stands at an end of the ranking."""
        ranks = self.path.ranks
        retrieved = self.path.n_pos - self.path.missed
        if ranks[0] == 0:
            pos[np.searchsorted(ranks, 0.25) - 1] += ends[0]
        if ranks[-1] == retrieved + 1:
            pos[np.searchsorted(ranks, retrieved + 0.75) - 1] += ends[1]


def _gaps(path: RocPath, score: Floats, positive: Flags) -> tuple[Integers, Integers]:
    """Return the gaps in which the halves of positives, and the negatives, are passed."""
    beyond = path.ranks.size - 1
    rank, number = _ranks(score[positive]), _ranks(score[~positive])
    halves = np.concatenate([rank - 0.25, rank + 0.25])
    gaps = np.searchsorted(path.ranks, halves) - 1, np.searchsorted(path.fp, number) - 1
    retrieved = np.isfinite(halves), np.isfinite(number)
    pos, neg = (np.where(here, gap, beyond) for here, gap in zip(retrieved, gaps, strict=True))
    return pos, neg


def _ranks(score: Floats) -> Floats:
    """Return ranks from 1 for the best, ties in any order; inf for items not retrieved."""
    rank = np.empty(score.size)
    rank[np.argsort(-score, kind="stable")] = np.arange(1, score.size + 1)
    return np.where(score > -np.inf, rank, np.inf)


def _alike(gaps: Integers) -> tuple[Integers, Integers, Integers]:
    """Join the items that are passed in the same gaps: these gaps, their numbers and sizes."""
    width = int(gaps[1].max(initial=0)) + 1
    code, count = np.unique(gaps[0] * width + gaps[1], return_counts=True)
    return np.stack([code // width, code % width]), np.arange(code.size), count


def _incidence(path: RocPath, gap: Integers, part: Integers, n_parts: int) -> csr_array:
    """Count the items, or halves, of each part that are passed in each gap."""
    return csr_array((np.ones(gap.size), (gap, part)), shape=(path.ranks.size, n_parts))


def _running(passed: Floats) -> Floats:
    """Return the weight passed up to each knot, shape (draws, knots)."""
    sums = np.zeros(passed.shape[::-1])
    np.cumsum(passed[:-1].T, axis=1, out=sums[:, 1:])
    return sums


def _on_the_way(
    path: RocPath, at_knots: Floats, piece: Integers, share: Floats, total: Floats
) -> Floats:
    """Return the negatives passed at a share of a piece, by their log odds; linearly in ties."""
    start, end = (np.take_along_axis(at_knots, piece + i, axis=1) for i in (0, 1))
    below, above = (np.log((x + 0.5) / (total - x + 0.5)) for x in (start, end))
    odds = np.exp((1 - share) * below + share * above)
    joined = (odds * (total + 0.5) - 0.5) / (1 + odds)
    if path.tied.any():
        joined = np.where(path.tied[piece], start + share * (end - start), joined)
    return np.asarray(np.maximum(joined, 0.0))
