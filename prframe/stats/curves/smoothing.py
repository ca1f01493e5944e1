"""Means of drawn curves over recall, as far as draws spread the place of a level.

The share of positives above a threshold is drawn with a standard deviation of
``sqrt(b (1 - b) / n_pos)`` at recall b, so that the middle of the draws is a curve smoothed over
about as much, whereas each draw is as rough as a sample is, or rougher. ``arcsin sqrt b`` has the
standard deviation ``1 / (2 sqrt(n_pos))`` throughout, and in it the mean has normal weights.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from prframe.typing import Flags, Floats

# Distance of the nodes, and how far a mean reaches, in standard deviations.
_STEP, _REACH = 0.5, 3.0


@dataclass(frozen=True, eq=False)
class Smoothing:
    """Levels of recall at which curves are drawn, and their weights in each mean.

    Attributes
    ----------
    nodes : ndarray, shape (nodes,)
        Levels of recall within (0, 1), rising.
    weights : csr_array, shape (levels, nodes)
        A row of weights for each level, which add up to 1.
    spread : float
        The standard deviation of ``arcsin sqrt b``.
    """

    nodes: Floats
    weights: csr_array
    spread: float

    @classmethod
    def of(cls, recall: Floats, n_pos: float) -> "Smoothing":
        """Find nodes and weights for levels of recall, given the number of positives."""
        spread = 0.5 / np.sqrt(n_pos)
        number = int(np.ceil(np.pi / 2 / (_STEP * spread)))
        step = np.pi / 2 / number
        angle = np.arcsin(np.sqrt(recall))
        reach = int(np.ceil(_REACH / _STEP))
        node = np.floor(angle / step)[:, None] + np.arange(-reach, reach + 1)
        weight = np.exp(-(((((node + 0.5) * step) - angle[:, None]) / spread) ** 2) / 2)
        weight[(node < 0) | (node >= number)] = 0.0
        weight /= weight.sum(axis=1, keepdims=True)
        level = np.broadcast_to(np.arange(recall.size)[:, None], node.shape)
        used, place = np.unique(node[weight > 0], return_inverse=True)
        entries = weight[weight > 0], (level[weight > 0], place.ravel())
        nodes = np.sin((used + 0.5) * step) ** 2
        return cls(nodes, csr_array(entries, shape=(recall.size, used.size)), float(spread))

    def rough(self, first: Floats, last: Floats) -> Flags:
        """Tell which nodes lie in none of the given pieces of recall that are wide, rising.

        Within a tie block a curve is a line, and what is wider than a standard deviation of recall
        is no roughness: a mean would cut off the corners between two such blocks.
        """
        width = np.diff(np.arcsin(np.sqrt([first, last])), axis=0)[0]
        wide = width > self.spread
        first, last = first[wide], last[wide]
        before = np.searchsorted(first, self.nodes, side="right") - 1
        return (before < 0) | (self.nodes > last[before]) if last.size else before < 0

    def means(self, drawn: Floats, rough: Flags, unsmoothed: Floats | None = None) -> Floats:
        """Return the means of curves that are given at the nodes, shape (draws, levels).

        To the extent that the nodes of a level are not rough, the draws stay `unsmoothed`, shape
        (draws, levels), which may be left out if all nodes are rough and no curve ends.

        Curves may be infinite at high recall, beyond that of the retrieved items. They end there
        all at once, which a mean would hide: nodes at which a draw has ended are left out, and at
        levels at which one has the draws stay as they are.
        """
        if unsmoothed is None:
            return np.asarray((self.weights @ drawn.T).T)
        known = np.asarray(np.isfinite(drawn).all(axis=0))
        total = self.weights @ known.astype(np.float64)
        whole = np.isfinite(unsmoothed).all(axis=0) & (total > 0)
        finite = np.zeros_like(drawn)
        finite[:, known] = drawn[:, known]
        sums = (self.weights @ finite.T)[whole]
        share = (self.weights @ rough.astype(np.float64))[whole, None]
        means = unsmoothed.T.copy()
        means[whole] = share * sums / total[whole, None] + (1 - share) * means[whole]
        return np.asarray(means.T)
