"""Draws of the curve behind a ranking, from which draws of metrics are computed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from prframe.stats.rankings.cells import RankedCells, weight_of_negatives
from prframe.typing import Flags, Floats

# Two points that coincide are taken as so far apart, and a part of that is a number.
_LEAST_WIDTH = 1e-30
# The shapes of counts of 0 and 1 where draws of them are to be small, and where they are not.
_FEW_AT_LEAST, _FEW_AT_MOST = (0.0, 1.0), (1.0, 1.5)
# The streams of the draws of a group, for the recall of all retrieved items and for counts.
_RETRIEVED, _LEAST, _MORE = 1, 3, 4
# Positives that are retrieved and negatives that are not are right decisions.
_RIGHT = np.array([True, False, False, True])


@dataclass(frozen=True)
class DrawnCurves:
    """Draws of the curve behind a ranking by the Bayesian bootstrap.

    Half of the curves for an `area` allow for fewer unseen negatives above a threshold, because an
    area adds up all levels. `blocks` are weights of `prframe.stats.curves`, `make_path` returns
    its `DrawnPath`, which metrics of four counts do not need, and `prior` is the share of
    positives if it is given.
    """

    cells: RankedCells
    blocks: Sequence[Any]
    make_path: Callable[[], Any]
    prior: float | None = None

    @cached_property
    def path(self) -> Any:  # noqa: ANN401
        """The drawn path."""
        return self.make_path()

    @cached_property
    def _kept(self) -> dict[Any, Any]:
        """What several metrics ask for: curves at priors, and points for areas or not."""
        return {}

    def at_prior(self, prior: float) -> "DrawnCurves":
        """Return the same curves in a population with this share of positives."""
        moved: DrawnCurves = self._kept.setdefault(
            prior, replace(self, make_path=lambda: self.path.at_prior(prior), prior=prior)
        )
        return moved

    @cached_property
    def prevalence(self) -> Floats:
        """The share of positives, shape (n_draws,)."""
        return np.asarray(1 / (1 + np.exp(-self.path.odds)))

    @cached_property
    def _within_ties(self) -> Flags:
        """Which knots lie within tie blocks."""
        knots = self.path.knots
        return np.asarray(knots.tied & (knots.share > 0))

    def points(self, *, area: bool = False, at_ends: bool = False) -> tuple[Floats, Floats]:
        """Return recall and the share of all items above the threshold, at rising points.

        Each has the shape (n_points, n_draws). The first point has recall 0,
        and the last one is the last item that is retrieved. At ends no point lies within a tie
        block.
        """
        key = "area" if area else "levels"
        if key not in self._kept:
            self._kept[key] = self.path.points(fading=area)
        recall, above = self._kept[key]
        if at_ends and self._within_ties.any():
            return recall[~self._within_ties], above[~self._within_ties]
        return recall, above

    def counts(self, *, area: bool = True) -> tuple[Floats, Floats]:
        """Return the mean counts of rankings with these curves, of as many items as there are.

        A cell is a tie block or lies between two points, and the last one holds what is not
        retrieved. Each class has the shape (n_draws, n_cells).
        """
        recall, above = self.points(area=area, at_ends=True)
        n, p = self.cells.n, self.prevalence
        passed = np.maximum(above - p * recall, 0.0) / (1 - p)
        return n * p[:, None] * _differences(recall), n * (1 - p)[:, None] * _differences(passed)

    @property
    def tied(self) -> Flags:
        """Which of the cells of counts are tie blocks."""
        return np.append(self.path.knots.tied[~self._within_ties], False)

    def areas_under_precision(
        self, *, at_ends: bool = False, up_to: Floats | None = None
    ) -> Floats:
        """Return the areas under the precision of curves for areas, up to a recall or all."""
        areas: Floats = self.path.areas_under_precision(block_ends=at_ends, up_to=up_to)
        return areas

    def positives_among(self, ranks: Floats, *, area: bool = False) -> Floats:
        """Return the mean numbers of positives among the first ranks, shape (n_ranks, n_draws)."""
        n = self.cells.n
        recall = read(*self.points(area=area), np.asarray(ranks)[:, None] / n)
        recall *= n * self.prevalence
        return recall

    def found(self, k: float, share: float | Floats) -> Floats:
        """Return the recall among the best share of all items, which are k items in the sample."""
        cells = self.cells
        missed = int(cells.pos[-1])
        if k < cells.n - missed - cells.neg[-1]:
            return np.asarray(read(*self.points(), np.atleast_1d(share)[None])[0])
        n_draws = sum(block.n_draws for block in self.blocks)
        if not missed:
            return np.ones(n_draws)
        shape = cells.n_pos - missed + 0.5, missed + 0.5
        return self._drawn(_RETRIEVED, lambda rng, size: rng.beta(*shape, size))

    def _drawn(self, stream: int, draw: Callable[[np.random.Generator, int], Floats]) -> Floats:
        """Draw numbers for each block of weights."""
        return np.concatenate([block.of_group(stream, draw) for block in self.blocks], axis=-1)

    @cached_property
    def tables(self) -> tuple[Floats, Floats]:
        """Draws of the four counts, up to a factor, for the low and the high end of metrics.

        They are retrieved positives and negatives, then those that are not; shape (4, n_draws).
        With Jeffreys' prior their posterior is Dirichlet's: gamma variates of shape count + 1/2,
        up to a factor. With counts of 0 and 1 Jeffreys' intervals cover in down to 88 % of
        samples. A share of 0 or 1 therefore has that end, and the other one is that of Clopper &
        Pearson, but for half a count (Brown, Cai & DasGupta 2001, section 4.1.2); so is the nearer
        end of a share that is one count away from 0 or 1.
        """
        pos, neg = self.cells.pos, self.cells.neg
        counts = np.array([pos[:-1].sum(), neg[:-1].sum(), pos[-1], neg[-1]])
        least, most = counts + 0.5, counts + 0.5
        for shape, of_few in ((least, _FEW_AT_LEAST), (most, _FEW_AT_MOST)):
            few = counts < len(of_few)
            shape[few] = np.array(of_few)[counts[few]]
        small = self._gamma_variates(_LEAST, least)
        large = (
            small + self._gamma_variates(_MORE, most - least) if (most > least).any() else small
        )
        right = _RIGHT[:, None]
        low, high = np.where(right, small, large), np.where(right, large, small)
        if self.prior is None:
            return low, high
        return _at_prior(low, self.prior), _at_prior(high, self.prior)

    def _gamma_variates(self, stream: int, shape: Floats) -> Floats:
        """Draw gamma variates, shape (4, n_draws); those of shape 0 are 0."""
        size = shape.size
        return self._drawn(stream, lambda rng, n: rng.standard_gamma(shape[:, None], (size, n)))


def _at_prior(table: Floats, prior: float) -> Floats:
    """Return counts whose negatives are weighed so that a share is positive."""
    tp, fp, fn, tn = table
    weight = weight_of_negatives(tp + fn, fp + tn, prior)
    return np.stack([tp, fp * weight, fn, tn * weight])


def _differences(shares: Floats) -> Floats:
    """Return the share of a class between points, and beyond the last, a row per draw."""
    ends = np.minimum(np.maximum.accumulate(shares[1:].T, axis=1), 1.0)
    return np.diff(ends, axis=1, prepend=0.0, append=1.0)


def read(values: Floats, along: Floats, levels: Floats) -> Floats:
    """Return values where another quantity, which rises along the points, reaches levels.

    Both have shape (n_points, n_draws), levels (n_levels, n_draws or 1). Values are interpolated
    linearly, and constant beyond the ends.
    """
    n_points, n_draws = values.shape
    places = np.broadcast_to(levels, (len(levels), n_draws)).astype(along.dtype)
    values, along, draw = values.ravel(), along.ravel(), np.arange(n_draws)
    # The last of the points before each place lies between these two, by bisection.
    at, after = np.zeros(places.shape, dtype=np.intp), n_points - 1
    for step in 1 << np.arange(max(after - 1, 1).bit_length())[::-1]:
        further = np.minimum(at + step, after - 1)
        np.copyto(at, further, where=along.take(further * n_draws + draw) < places)
    at = at * n_draws + draw
    low, start = along.take(at), values.take(at)
    part = (places - low) / (along.take(at + n_draws) - low + _LEAST_WIDTH)
    rise = (values.take(at + n_draws) - start) * np.clip(part, 0.0, 1.0)
    return np.asarray(start + rise, dtype=np.float64)
