"""Passages of drawn curves: what a block of draws has at the knots of a path and at the levels.

In each draw a level of recall lies between two other knots. All levels are looked up at once, in
equal cells of recall, and the lines between knots are read there.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from prframe.stats._tolerances import EQUAL
from prframe.stats.curves.drawn.gamma_walks import Weights, add_up
from prframe.stats.curves.drawn.knots import Knots
from prframe.stats.curves.drawn.roc_path import RocPath
from prframe.typing import Flags, Floats, Integers, Singles

# Levels of recall are looked up in so many equal cells; a power of 2, so that nothing is rounded.
_CELLS = 1 << 12
# Smaller weights of negatives, and smaller rates, are raised to what single precision holds.
_LEAST_WEIGHT, LEAST_RATE = 1e-30, 2.0**-126


@dataclass(frozen=True)
class _Cells:
    """Equal cells of recall, in which levels are looked up.

    Attributes
    ----------
    number : int
        The number of cells up to a recall of 1.
    first : ndarray of int
        The number of levels below each cell, or, if levels begin cells, below its end.
    whole : bool
        Whether levels begin cells, but for rounding.
    """

    number: int
    first: Integers
    whole: bool

    @classmethod
    def of(cls, levels: Floats) -> "_Cells":
        """Choose the cells for levels that rise within (0, 1)."""
        steps = 1 / np.diff(levels, prepend=0.0).min()
        for number in (int(min(np.rint(steps), _CELLS)), _CELLS):
            places = np.rint(levels * number)
            whole = bool((np.abs(levels * number - places) < EQUAL * number).all())
            if whole:
                break
        else:
            places = np.floor(levels * number) + 1
        below = np.bincount(places.astype(np.int64), minlength=number + 2)
        return cls(number, np.cumsum(below)[: number + 1], whole)


@dataclass(frozen=True, eq=False)
class DrawnPassage:
    """The recall at the knots in a block of draws, and the pieces in which levels lie.

    `recall` has the shape (knots, draws), and `passed` is the number of negatives above each knot,
    and of all.
    """

    block: Weights
    passed: Floats
    knots: Knots
    levels: Floats
    recall: Singles
    complete: bool
    drawn_weights: dict[bool, Singles] = field(default_factory=dict)

    @classmethod
    def of(cls, path: RocPath, knots: Knots, levels: Floats, block: Weights) -> "DrawnPassage":
        """Draw the recall."""
        ranks = np.append(path.ranks, path.ranks[-1] + path.missed) - path.ranks[0]
        inner, n_knots = np.flatnonzero(knots.share), knots.piece.size
        read = np.concatenate([knots.piece, knots.piece[inner] + 1, [ranks.size - 1]])
        sums = block.positives.at(ranks[read])
        recall, ends = sums[:n_knots], sums[n_knots:-1]
        ends -= recall[inner]
        ends *= knots.share[inner, None].astype(np.float32)
        recall[inner] += ends
        recall /= sums[-1]
        passed = np.append(knots.fp, path.n_neg)
        return cls(block, passed, knots, levels, recall, not path.missed)

    @cached_property
    def negatives(self) -> Singles:
        """The weights of the negatives that are passed, which several kinds of curves read."""
        return self.block.negatives.at(self.passed)

    @cached_property
    def total(self) -> Singles:
        """The weight of all negatives."""
        return np.asarray(self.negatives[-1] + self.block.halves.at(np.ones(1))[0])

    def passed_weights(self, *, fading: bool = False) -> Singles:
        """Return the weights of the negatives above the knots, shape (knots, draws).

        Those that may stand above any threshold are among them; see `DrawnPath.curves`.
        """
        if fading not in self.drawn_weights:
            weights = np.empty_like(self.negatives[:-1])
            spread = self.block.n_draws // 2 if fading else self.block.n_draws
            self._add_half(weights, self.knots.half, slice(spread))
            if fading:
                self._add_half(weights, self.knots.fading_half, slice(spread, None))
            self._turn(weights)
            self.drawn_weights[fading] = self.at_least(_LEAST_WEIGHT, weights)
        return self.drawn_weights[fading]

    def at_least(self, least: float, values: Singles) -> Singles:
        """Raise values at the knots to the least one, in place, and return them.

        With a shape near 0, or very many negatives, draws may be too small for single precision.
        """
        few = values[: self.knots.n_steep]
        # `maximum` with a single number is several times slower.
        np.clip(few, least, np.inf, out=few)
        return values

    def _add_half(self, weights: Singles, half: Floats, draws: slice) -> None:
        """Write the weights of the passed negatives, and of a part of half a one, into draws."""
        # From here on all knots have the same half negative.
        same = int(np.flatnonzero(np.diff(half, prepend=-1.0))[-1])
        halves = self.block.halves.at(half[: same + 1], draws)
        negatives, weights = self.negatives[:-1, draws], weights[:, draws]
        np.add(negatives[:same], halves[:same], out=weights[:same])
        np.add(negatives[same:], halves[same], out=weights[same:])

    def _turn(self, weights: Singles) -> None:
        """Take part of the half above before the middle of a run; add of that below after it."""
        turns = self.knots.turns.astype(np.float32)
        before, after = np.flatnonzero(turns < 0), np.flatnonzero(turns > 0)
        above, whole = self.block.halves.at(np.array([0.5, 1.0]))
        for here, half in ((before, above), (after, whole - above)):
            weights[here] += turns[here, None] * half

    def rates(self, *, fading: bool = False) -> Singles:
        """Return the false positive rates at the knots, shape (knots, draws)."""
        return self.at_least(LEAST_RATE, self.passed_weights(fading=fading) / self.total)

    @cached_property
    def at(self) -> Integers:
        """The place in the flattened array of the knot at or before each level.

        The shape is (levels, draws).
        """
        return _pieces(self.recall, self.levels, _Cells.of(self.levels))

    def between(self, rates: Singles) -> Singles:
        """Return the logarithms, at the levels, of rates that are given at the knots."""
        tied = self.knots.tied
        log_rates = np.log(rates)
        # The rate itself is straight within tie blocks, up to the end of each.
        lines = self._lines(log_rates)
        if tied.any():
            lines[tied] = self._lines(rates)[tied]
        values = self._on_lines(lines)
        if tied.any():
            np.log(values, out=values, where=self._tied())
        return values

    def at_block_ends(self, log_rates: Singles, out: Floats) -> None:
        """Find the same with levels within tie blocks moved to the end of their block."""
        tied = self.knots.tied
        lines = self._lines(log_rates)
        lines[tied] = log_rates[self.knots.ends[tied]]
        out[:] = self._on_lines(lines)

    def block_ends(self) -> Floats:
        """Return the logarithm of the recall of the levels, or of the end of their block."""
        ends = np.log(self.recall[self.knots.ends].ravel().take(self.at))
        return np.where(self._tied(), ends, np.log(self.levels)[:, None])

    def _tied(self) -> Flags:
        """Tell which levels lie within tie blocks."""
        return np.asarray(self.knots.tied[self.at // self.recall.shape[1]])

    def _lines(self, values: Singles) -> NDArray[np.complex64]:
        """Return intercept and slope after each knot, as the parts of a complex number.

        One number is found faster in a large array than two.
        """
        lines = np.empty(values.shape, dtype=np.complex64)
        # No level lies between knots that are the same.
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = np.diff(values, axis=0) / np.diff(self.recall, axis=0)
            lines.real[:-1] = values[:-1] - slope * self.recall[:-1]
        lines.imag[:-1] = slope
        lines[-1] = values[-1] if self.complete else np.inf
        return lines

    def _on_lines(self, lines: NDArray[np.complex64]) -> Singles:
        """Return the values of the lines at the levels."""
        line = lines.ravel().take(self.at, mode="clip")
        values = line.imag * self.levels.astype(np.float32)[:, None]
        values += line.real
        return np.asarray(values)


def _pieces(recall: Singles, levels: Floats, cells: _Cells) -> Integers:
    """Return the flattened place of the last knot that is not beyond each level."""
    n_draws = recall.shape[1]
    draw = np.arange(n_draws)
    # The number of levels below each knot: those in cells before, and those in its own cell.
    below = cells.first.take((recall * np.float32(cells.number)).astype(np.int64), mode="clip")
    if not cells.whole:
        ends = np.append(levels, np.inf)
        late = ends.take(below, mode="clip") < recall
        below += late
        left = np.flatnonzero(late)
        while left.size:
            left = left[ends[below.ravel()[left]] < recall.ravel()[left]]
            below.ravel()[left] += 1
    below *= n_draws
    below += draw
    size = (levels.size + 1) * n_draws
    passed = np.bincount(below.ravel(), minlength=size)[: levels.size * n_draws]
    passed *= n_draws
    at = passed.reshape(levels.size, n_draws)
    at[0] += draw - n_draws
    return add_up(at)
