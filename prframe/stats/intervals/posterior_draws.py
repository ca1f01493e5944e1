"""Draws of the metrics of a population by the Bayesian bootstrap of its ROC curve."""

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache, partial

import numpy as np
from scipy.special import expit

from prframe.stats._batches import batches
from prframe.stats.curves import DrawnPath, Draws, RocPath, Weights
from prframe.stats.rankings import CellStatistic, RankedCells, weight_of_negatives
from prframe.typing import Flags, Floats, Reals

# Levels of recall come in panels of so many.
_NODES = 128
# Panels have at least so many levels together for each unit of the root of the positives, so that
# what lies between two levels remains small beside a standard error.
_DENSITY = 4
# More positives are not listed, and curves bend where items are.
_MOST_POSITIVES = 10**7
# The number of blocks of draws at a time, which bounds memory.
_BLOCKS = 4
# This level stands for recall 1, at the last positive of the population, which no sample shows.
_LAST = 1 - 1e-9
# Two points that coincide are taken as so far apart, and a part of that is a number.
_LEAST_WIDTH = 1e-30
# The shapes of counts of 0 and 1 where draws of them are to be small, and where they are not.
_FEW_AT_LEAST, _FEW_AT_MOST = (0.0, 1.0), (1.0, 1.5)
# The streams of the draws of a group, apart from those of other shares.
_LEAST, _MORE = 3, 4
# The cells that are retrieved, and the last one.
_PARTS = slice(-1), slice(-1, None)
# Positives that are retrieved and negatives that are not are right decisions.
_RIGHT = np.array([True, False, False, True])


def posterior_replicates(
    cells: RankedCells,
    statistics: Sequence[CellStatistic],
    weights: Sequence[Weights],
) -> Floats:
    """Return draws of metrics of the population that the items come from, a row per metric.

    Both classes must have items unless all metrics are functions of four counts. With ``PR(b)``
    and ``alpha(b)`` the drawn precision and false positive rate at recall b, AP and AUPRC are
    ``int PR(b) db``, AUC is ``1 - int alpha(b) db``, Prec@r is ``PR(r)``, R@k is the b at which
    ``p b + (1 - p) alpha(b) = k / n``, and P@k is ``p b n / k``. A tie block counts at its end for
    metrics of thresholds, and in proportion for the others (`CellStatistic.draws`).
    """
    levels = _nodes(
        math.ceil(_DENSITY * math.sqrt(min(cells.n_pos, _MOST_POSITIVES)) / _NODES),
        tuple(level for statistic in statistics for level in statistic.levels(cells)),
    )
    shares = {share for statistic in statistics for share in statistic.shares(cells)}
    path, parts = cache(partial(RocPath.of, cells)), []
    for columns in batches(len(weights), width=1, held=_BLOCKS):
        blocks = weights[columns]
        make_path = partial(_path, path, levels, blocks)
        curves = _Curves(cells, blocks, make_path, shares)
        parts.append(np.stack([statistic.draws(curves) for statistic in statistics]))
    return np.concatenate(parts, axis=1)


def _path(path: Callable[[], RocPath], levels: Floats, blocks: Sequence[Weights]) -> DrawnPath:
    """Draw the path, which metrics of four counts do not ask for."""
    return DrawnPath(path(), levels, blocks)


@dataclass(frozen=True)
class _Curves:
    """Draws of curves at levels of recall; a kind is drawn when it is first asked for.

    The class follows the protocol `prframe.stats.rankings.DrawnCurves`.
    """

    cells: RankedCells
    blocks: Sequence[Weights]
    make_path: Callable[[], DrawnPath]
    shares: Collection[float] = ()
    prior: float | None = None
    kinds: dict[tuple[bool, bool], Draws] = field(init=False, default_factory=dict)
    counted: dict[tuple[bool, bool], tuple[Floats, Floats]] = field(
        init=False, default_factory=dict
    )
    passed: dict[bool, tuple[Reals, Reals]] = field(init=False, default_factory=dict)
    recalls: dict[float, Floats] = field(init=False, default_factory=dict)
    elsewhere: dict[float, "_Curves"] = field(init=False, default_factory=dict)

    @cached_property
    def path(self) -> DrawnPath:
        """The drawn path."""
        return self.make_path()

    @property
    def levels(self) -> Floats:
        """The levels of recall."""
        return self.path.levels

    def at_prior(self, prior: float) -> "_Curves":
        """Return the same curves in a population with this share of positives."""
        if prior not in self.elsewhere:
            self.elsewhere[prior] = replace(
                self, make_path=lambda: self.path.at_prior(prior), prior=prior
            )
        return self.elsewhere[prior]

    def drawn(self, *, area: bool = False, at_ends: bool = False) -> Draws:
        """Return curves for single levels or areas, in proportion within ties or at their ends."""
        at_ends = at_ends and bool(self.path.knots.tied.any())
        if (area, at_ends) not in self.kinds:
            drawn = self.path.curves(block_ends=at_ends, fading=area)
            self.kinds[area, at_ends] = drawn
        return self.kinds[area, at_ends]

    def at(self, level: float) -> int:
        """Return the index of a level of recall among the nodes."""
        return int(np.searchsorted(self.levels, min(level, _LAST)))

    def counts(self, *, area: bool = False, at_ends: bool = False) -> tuple[Floats, Floats]:
        """Return the mean counts of rankings with these curves, of as many items as there are."""
        key = area, at_ends and bool(self.path.knots.tied.any())
        if key not in self.counted:
            drawn = self.drawn(area=area, at_ends=at_ends)
            n, p = self.cells.n, drawn.prevalence
            beyond, (recall, rate) = np.isinf(drawn.log_fpr), self.retrieved()
            pos = np.where(beyond, recall[:, None], drawn.recall)
            neg = np.where(beyond, rate[:, None], np.exp(drawn.log_fpr))
            self.counted[key] = (
                n * p * _differences(pos, recall),
                n * (1 - p) * _differences(neg, rate),
            )
        return self.counted[key]

    def counts_of_blocks(self, *, area: bool = False) -> tuple[Floats, Floats, Flags]:
        """Return the mean counts of such rankings, with the cells of tie blocks, and which."""
        recall, above = (x.astype(np.float64) for x in self.points(area=area, at_ends=True))
        n, p = self.cells.n, self.prevalence
        passed = np.maximum(above - p * recall, 0.0) / (1 - p)
        # The last point is the last item that is retrieved.
        pos = n * p[:, None] * _differences(recall[1:].T, recall[-1])
        neg = n * (1 - p)[:, None] * _differences(passed[1:].T, passed[-1])
        # A block begins at its knot of share 0.
        knots = self.path.knots
        return pos, neg, np.append(knots.tied[~(knots.tied & (knots.share > 0))], False)

    def areas_under_precision(
        self, *, at_ends: bool = False, up_to: Floats | None = None
    ) -> Floats:
        """Return the areas under the precision of curves for areas, up to a recall or all."""
        return self.path.areas_under_precision(block_ends=at_ends, up_to=up_to)

    def areas_under_rates(self) -> Floats:
        """Return the areas under the false positive rates of curves."""
        return self.path.areas_under_rates(self._rate_of_unlisted)

    @property
    def _rate_of_unlisted(self) -> float:
        """The false positive rate amid the items that are not retrieved, which are tied."""
        return float(1 - self.cells.neg[-1] / self.cells.n_neg / 2)

    @cached_property
    def prevalence(self) -> Floats:
        """The share of positives, shape (n_draws,)."""
        return np.asarray(expit(self.path.odds))

    def points(self, *, area: bool = False, at_ends: bool = False) -> tuple[Reals, Reals]:
        """Return recall and the share of all items above the threshold, at rising points."""
        (recall, above), knots = self._points(area=area), self.path.knots
        inside = knots.tied & (knots.share > 0)
        if at_ends and inside.any():
            return recall[~inside], above[~inside]
        return recall, above

    def _points(self, *, area: bool = False) -> tuple[Reals, Reals]:
        """Return the points, which are kept."""
        if area not in self.passed:
            self.passed[area] = self.path.points(fading=area)
        return self.passed[area]

    def positives_among(self, ranks: Floats, *, area: bool = False) -> Floats:
        """Return the mean numbers of positives among the first ranks, shape (n_ranks, n_draws)."""
        n = self.cells.n
        recall = _read(*self._points(area=area), np.asarray(ranks)[:, None] / n)
        recall *= n * self.prevalence
        return recall

    def recall_of(self, rates: Floats) -> Floats:
        """Return the recall where so large a share of the negatives is above the threshold."""
        recall, above = self.points(at_ends=True)
        p = self.prevalence.astype(above.dtype)
        rate = (above - p * recall) / (1 - p)
        return _read(recall, rate, rates[:, None])

    def share_above(self, recall: Floats) -> Floats:
        """Return the share of all items above the threshold with a recall."""
        recalls, above = self._points()
        return _read(above, recalls, recall[:, None])

    def found(self, k: float, share: float | Floats) -> Floats:
        """Return the recall among the best share of all items, which are k items in the sample."""
        cells = self.cells
        if k >= cells.n - cells.pos[-1] - cells.neg[-1]:
            return self._shares(cells.n_pos, int(cells.pos[-1]))
        if np.ndim(share):
            return np.asarray(_read(*self._points(), np.asarray(share)[None])[0])
        if (key := float(share)) not in self.recalls:
            # What several metrics ask for is read at once.
            asked = sorted({key, *self.shares} - self.recalls.keys())
            recalls = _read(*self._points(), np.array(asked)[:, None])
            self.recalls.update(zip(asked, recalls, strict=True))
        return self.recalls[key]

    def retrieved(self) -> tuple[Floats, Floats]:
        """Return the recall and the false positive rate of all retrieved items."""
        cells = self.cells
        recall = self._shares(cells.n_pos, int(cells.pos[-1]))
        return recall, self._shares(cells.n_neg, int(cells.neg[-1]), stream=2)

    def tables(self) -> tuple[Floats, Floats]:
        """Return draws of the four counts of what is retrieved and what is not."""
        return self._tables

    @cached_property
    def _tables(self) -> tuple[Floats, Floats]:
        """These draws, which several metrics read."""
        return _drawn_tables(self.cells, self.blocks, self.prior)

    def _shares(self, total: int, missed: int, stream: int = 1) -> Floats:
        """Draw the share of a class that is retrieved, which is 1 if all of it is."""
        if not missed:
            return np.ones(sum(block.n_draws for block in self.blocks))
        shape = total - missed + 0.5, missed + 0.5
        return np.concatenate(
            [
                block.of_group(stream, lambda rng, size: rng.beta(*shape, size))
                for block in self.blocks
            ]
        )


def _drawn_tables(
    cells: RankedCells, blocks: Sequence[Weights], prior: float | None = None
) -> tuple[Floats, Floats]:
    """Return draws of the four counts, up to a factor, for the low and the high end of metrics.

    They are retrieved positives and negatives, then those that are not. With Jeffreys' prior their
    posterior is Dirichlet's: gamma variates of shape count + 1/2, up to a factor. With counts of 0
    and 1 Jeffreys' intervals cover in down to 88 % of samples. A share of 0 or 1 therefore has
    that end, and the other one is that of Clopper & Pearson, but for half a count (Brown, Cai &
    DasGupta 2001, section 4.1.2); so is the nearer end of a share that is one count away from 0 or
    1.
    """
    retrieved, missed = ([int(c[part].sum()) for c in (cells.pos, cells.neg)] for part in _PARTS)
    counts = np.array([*retrieved, *missed])
    least, most = counts + 0.5, counts + 0.5
    for shape, of_few in ((least, _FEW_AT_LEAST), (most, _FEW_AT_MOST)):
        few = counts < len(of_few)
        shape[few] = np.array(of_few)[counts[few]]
    small = _gamma_variates(blocks, _LEAST, least)
    large = (
        small if (least == most).all() else small + _gamma_variates(blocks, _MORE, most - least)
    )
    right = _RIGHT[:, None]
    tables = np.where(right, small, large), np.where(right, large, small)
    low, high = tables if prior is None else (_at_prior(table, prior) for table in tables)
    return low, high


def _gamma_variates(blocks: Sequence[Weights], stream: int, shape: Floats) -> Floats:
    """Draw gamma variates, shape (4, n_draws); those of shape 0 are 0."""

    def draw(rng: np.random.Generator, size: int) -> Floats:
        return rng.standard_gamma(shape[:, None], (shape.size, size))

    return np.concatenate([block.of_group(stream, draw) for block in blocks], axis=1)


def _at_prior(table: Floats, prior: float) -> Floats:
    """Return counts whose negatives are weighed so that a share is positive."""
    tp, fp, fn, tn = table
    weight = weight_of_negatives(tp + fn, fp + tn, prior)
    return np.stack([tp, fp * weight, fn, tn * weight])


def _differences(shares: Floats, last: Floats) -> Floats:
    """Return the share of a class between levels, up to the last retrieved item, and beyond."""
    rows = shares.shape[0]
    ends = np.concatenate([np.zeros((rows, 1)), shares, last[:, None], np.ones((rows, 1))], axis=1)
    return np.diff(np.minimum(np.maximum.accumulate(ends, axis=1), 1.0), axis=1)


@lru_cache
def _nodes(panels: int, extra: tuple[float, ...]) -> Floats:
    """Return levels of recall, Gauss's nodes in each panel and extra ones."""
    t = ((np.arange(panels)[:, None] + (_gauss() + 1) / 2) / panels).ravel()
    # With b = t^3 the levels are dense near 0, where precision bends.
    return np.union1d(t**3, np.minimum(np.array(extra, dtype=np.float64), _LAST))


@cache
def _gauss() -> Floats:
    """Return Gauss's nodes on (-1, 1), kept as they take a millisecond."""
    return np.polynomial.legendre.leggauss(_NODES)[0]


def _read(values: Reals, along: Reals, levels: Floats) -> Floats:
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
