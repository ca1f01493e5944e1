"""Means of drawn curves over recall, as far as draws spread the place of a level.

The share of positives above a threshold is drawn with a standard deviation of
``sqrt(b (1 - b) / n_pos)`` at recall b, so that the middle of the draws is a curve smoothed over
about as much, whereas each draw is as rough as a sample is, or rougher. ``arcsin sqrt b`` has the
standard deviation ``1 / (2 sqrt(n_pos))`` throughout, and in it the mean has normal weights.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from scipy.sparse import csr_array

from prframe.stats.curves.drawn.roc_path import RocPath
from prframe.typing import Flags, Floats, Integers

# Distance of the nodes, and how far a mean reaches, in standard deviations.
_STEP, _REACH = 0.5, 3.0
# A place is steep if the negatives above a level that is a standard deviation beyond it, with so
# many more, are so many times as many, on a log scale, as those a standard deviation before it.
# Curves are not smoothed within so many standard deviations of such a place. These three numbers
# were found by simulation (python -m benchmarks.coverage --part bands).
_FEW, _STEEP, _NEAR = 3, 1.25, 1.5
# Levels are not drawn themselves where they would have less weight than this in their mean.
_LEAST = 1e-9


# The points at which curves are drawn, and the weights of these in the mean of each level.
Means: TypeAlias = tuple[Floats, csr_array]


@dataclass(frozen=True, eq=False)
class Smoothing:
    """Levels of recall at which curves are drawn, and their weights in each mean."""

    # The levels of the means.
    recall: Floats
    # Levels within (0, 1), rising, at which curves are drawn.
    nodes: Floats
    # Shape (levels, nodes), a row of weights for each level, which add up to 1.
    weights: csr_array
    # The standard deviation of ``arcsin sqrt b``.
    spread: float
    # ``arcsin sqrt b`` of the nodes and of levels near these, and the places of those near each.
    beside: Floats
    places: Integers

    @classmethod
    def of(cls, recall: Floats, n_pos: float) -> "Smoothing":
        """Find nodes and weights for levels; groups with as many positives share them."""
        return _smoothing(recall.tobytes(), float(n_pos))

    def smoothed(self, path: RocPath) -> Flags:
        """Return at which nodes curves are smoothed: not in wide tie blocks or at steep places."""
        return ~(self.in_blocks(*path.blocks) | self._near_steep_places(path))

    def in_blocks(self, first: Floats, last: Floats) -> Flags:
        """Return which nodes lie in tie blocks that are wider than a standard deviation.

        There a curve is a line, and a mean would cut off the corners between two blocks.
        """
        width = np.diff(np.arcsin(np.sqrt([first, last])), axis=0)[0]
        wide = width > self.spread
        if not wide.any():
            return np.zeros(self.nodes.size, dtype=bool)
        first, last = first[wide], last[wide]
        before = np.searchsorted(first, self.nodes, side="right") - 1
        return np.asarray((before >= 0) & (self.nodes <= last[before]))

    def _near_steep_places(self, path: RocPath) -> Flags:
        """Return which nodes are near a place where far more negatives are passed than before.

        A mean blurs a curve that falls steeply, as in a gap between the scores of positives.
        """
        before, beyond = (
            path.passed(_moved(self.beside, by)) for by in (-self.spread, self.spread)
        )
        steep = np.log((beyond + _FEW) / (before + _FEW)) > _STEEP
        return np.asarray(steep[self.places].any(axis=1))

    def share(self, nodes: Flags) -> Floats:
        """Return the weight of some of the nodes in the mean of each level."""
        return np.asarray(self.weights @ nodes.astype(np.float64))

    def means(self, smoothed: Flags, known: Flags, going: Flags) -> Means:
        """Return the means of curves that are smoothed at some of the nodes.

        Nodes that are not known, as some draw has ended there, are left out, and levels beyond
        which not all draws go on stay as they are drawn: a mean would hide the end.
        """
        if smoothed.all() and known.all() and going.all():
            return self.nodes, self.weights
        total = self.weights @ known.astype(np.float64)
        share = np.where(going & (total > 0), self.share(smoothed), 0.0)
        by_level = np.divide(share, total, out=np.zeros_like(total), where=total > 0)
        level = np.repeat(np.arange(self.recall.size), np.diff(self.weights.indptr))
        entries = self.weights.data * by_level[level] * known[self.weights.indices]
        used, alone = np.flatnonzero(entries), np.flatnonzero(1 - share > _LEAST)
        node = self.weights.indices[used]
        at = np.concatenate([self.nodes[node], self.recall[alone]])
        points, place = np.unique(at, return_inverse=True)
        weights = np.concatenate([entries[used], 1 - share[alone]])
        rows = np.concatenate([level[used], alone])
        shape = self.recall.size, points.size
        return points, csr_array((weights, (rows, place.ravel())), shape=shape)


def _moved(angle: Floats, by: float) -> Floats:
    """Return the levels of recall that lie so far beyond others in ``arcsin sqrt b``."""
    return np.asarray(np.sin(np.clip(angle + by, 0.0, np.pi / 2)) ** 2)


@lru_cache(maxsize=128)
def _smoothing(levels: bytes, n_pos: float) -> Smoothing:
    """Find nodes and weights for the bytes of levels."""
    recall = np.frombuffer(levels)
    spread = 0.5 / np.sqrt(n_pos)
    number = int(np.ceil(np.pi / 2 / (_STEP * spread)))
    step = np.pi / 2 / number
    angle = np.arcsin(np.sqrt(recall))
    reach = int(np.ceil(_REACH / _STEP))
    node = np.floor(angle / step)[:, None] + np.arange(-reach, reach + 1)
    outside = (node < 0) | (node >= number)
    used, place = np.unique(node[~outside], return_inverse=True)
    nodes = np.sin((used + 0.5) * step) ** 2
    level, place = np.nonzero(~outside)[0], place.ravel()
    apart = (np.arcsin(np.sqrt(nodes))[place] - angle[level]) / spread
    entries = np.exp(-(apart**2) / 2), (level, place)
    weights = csr_array(entries, shape=(recall.size, used.size))
    weights.data /= np.repeat(weights.sum(axis=1), np.diff(weights.indptr))
    near = round(_NEAR / _STEP)
    around = np.clip(used[:, None] + np.arange(-near, near + 1), 0, number - 1)
    beside, places = np.unique(around, return_inverse=True)
    angles = np.asarray((beside + 0.5) * step, dtype=np.float64)
    near_each = places.reshape(around.shape)
    return Smoothing(recall, nodes, weights, float(spread), angles, near_each)
