"""Metrics that discount ranks, and metrics of the first positive, as functions of cells."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import log
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from prframe import checks
from prframe.stats.rankings.cells import Numbers, RankedCells, as_arrays, ratio, running
from prframe.stats.rankings.drawn_curves import DrawnCurves
from prframe.stats.rankings.metrics.base import CellStatistic, draws_of_ends
from prframe.stats.score_functions import ScoreGeneratingFunction, mid_rank_score, parse_phi
from prframe.stats.tie_expectations import (
    expected_reciprocal_rank,
    hit_probability,
    interpolated_discount_sum,
)
from prframe.typing import Floats

# Ranks of drawn rankings are taken one by one up to this one, and in blocks beyond it, which grow
# by this ratio.
_SINGLE, _RATIO = 16, 1.25


@dataclass(frozen=True)
class _CutOff(CellStatistic):
    """A metric that may be cut off at rank k."""

    k: int | None = None

    def __post_init__(self) -> None:
        if self.k is not None:
            checks.whole_number("k", self.k, at_least=1)

    @property
    def name(self) -> str:
        """The name in the catalogue, with the cut-off."""
        return super().name if self.k is None else f"{super().name}@{self.k}"

    def _cut(self, ranks: Numbers) -> Numbers:
        """Return ranks, and the cut-off for those beyond it."""
        return ranks if self.k is None else np.minimum(ranks, self.k)

    def _edges(self, n: int) -> Floats:
        """Return the ranks at the ends of blocks, from 0 to the cut-off or the last rank."""
        reach = n if self.k is None else min(self.k, n)
        edges = np.arange(min(reach, _SINGLE) + 1.0)
        if reach <= _SINGLE:
            return edges
        number = int(np.ceil(np.log(reach / _SINGLE) / np.log(_RATIO)))
        return np.append(edges, np.geomspace(_SINGLE, reach, number + 1)[1:])


# What remains of the discounts below this share decides little.
_LITTLE = 0.1


@dataclass(frozen=True)
class _DiscountSum(_CutOff):
    """The sum of the discounts of the positives' ranks, on average over the orders within ties."""

    of_first_ranks: ClassVar[bool] = True
    trials_are: ClassVar = "items"

    @abstractmethod
    def _running(self, ranks: Numbers) -> Floats:
        """Return the sum of the discounts of the first ranks."""

    def trials(self, cells: RankedCells) -> int:
        """Return the effective number of ranks, ``(sum w)^2 / sum w^2`` of their discounts w."""
        edges = self._edges(cells.n)
        sums = np.diff(self._running(edges))
        effective = float(sums.sum() ** 2 / (sums**2 / np.diff(edges)).sum())
        return max(1, min(int(effective), cells.n_pos))

    def values(self, pos: ArrayLike, neg: ArrayLike) -> Floats:
        """Return the sum over cells of the positives times the mean discount."""
        pos, neg = as_arrays(pos, neg)
        _, end = running(pos, neg)
        size = (pos + neg)[..., :-1]
        sums = self._running(self._cut(np.concatenate([end[..., :1] * 0, end], axis=-1)))
        return np.asarray((pos[..., :-1] * ratio(np.diff(sums, axis=-1), size, 0.0)).sum(axis=-1))

    def draws(self, curves: DrawnCurves) -> Floats:
        """Return the sum over blocks of ranks of the positives times the mean discount."""
        edges = self._edges(curves.cells.n)
        positives = np.diff(curves.positives_among(edges, area=self.is_area), axis=0)
        return np.asarray(np.diff(self._running(edges)) / np.diff(edges) @ positives)


@dataclass(frozen=True)
class DiscountedGain(_DiscountSum):
    """DCG: the sum of 1 / log2(rank + 1) over the positives; nDCG if it is normalised."""

    normalised: bool = False

    @property
    def _name(self) -> str:  # type: ignore[override]
        return "nDCG" if self.normalised else "DCG"

    def limits(self, cells: RankedCells) -> tuple[float, float]:
        return (0.0, 1.0) if self.normalised else (0.0, np.inf)

    def _running(self, ranks: Numbers) -> Floats:
        return interpolated_discount_sum(ranks)

    def values(self, pos: ArrayLike, neg: ArrayLike) -> Floats:
        """Return the sum, divided by that of the best ranking if it is to be."""
        pos, neg = as_arrays(pos, neg)
        return self._normal(super().values(pos, neg), pos.sum(axis=-1))

    def draws(self, curves: DrawnCurves) -> Floats:
        """Return the sums of drawn curves, divided by those of the best rankings if they are."""
        return self._normal(super().draws(curves), curves.cells.n * curves.prevalence)

    def deciding_positives(self, cells: RankedCells) -> float:
        """Return the cut-off of nDCG, unless there are fewer positives."""
        cuts = self.normalised and self.k is not None and self.k < cells.n_pos
        return float(self._cut(np.asarray(cells.n_pos))) if cuts else np.inf

    def _normal(self, value: Floats, n_pos: Numbers) -> Floats:
        """Return the sum, divided by that of the best ranking if it is to be."""
        return ratio(value, self._running(self._cut(n_pos))) if self.normalised else value


@dataclass(frozen=True)
class RankBiasedPrecision(_DiscountSum):
    """RBP: the sum of (1 - p) p^(rank - 1) over the positives, p being the persistence."""

    _name: ClassVar[str] = "RBP(p={p:g})"
    p: float = 0.8

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.number("p", self.p, at_least=0, below=1)

    def _running(self, ranks: Numbers) -> Floats:
        return 1 - np.float64(self.p) ** ranks

    def deciding_positives(self, cells: RankedCells) -> float:
        """Return how many ranks hold nearly all discounts, unless there are fewer positives."""
        ranks = max(1.0, log(_LITTLE) / log(self.p)) if self.p else 1.0
        return ranks if self.k is None and ranks < cells.n_pos else np.inf


@dataclass(frozen=True)
class AveragePrecisionAt(_CutOff):
    """AP@k: AP in which positives beyond rank k earn 0; a cell across k counts in part."""

    _name: ClassVar[str] = "AP"

    def values(self, pos: ArrayLike, neg: ArrayLike) -> Floats:
        """Return ``sum_c pos_c share_c precision_c / n_pos``."""
        pos, neg = as_arrays(pos, neg)
        tp, end = running(pos, neg)
        size = (pos + neg)[..., :-1]
        start = end - size
        share = ratio(np.maximum(self._cut(end) - start, 0), size, 0.0)
        hits = pos[..., :-1] * share
        precision = ratio(tp - pos[..., :-1] + hits, self._cut(end), 0.0)
        return ratio((hits * precision).sum(axis=-1), pos.sum(axis=-1))

    def draws(self, curves: DrawnCurves) -> Floats:
        """Return the area under precision up to the recall among the first k items.

        With many ties items are counted, as a block may hold rank k.
        """
        n, pos, neg = curves.cells.n, curves.cells.pos[:-1], curves.cells.neg[:-1]
        if pos[(pos > 1) | (neg > 0)].sum() > curves.cells.n_pos / 2:
            return super().draws(curves)
        among = curves.positives_among(np.asarray(self._cut(np.array([float(n)]))), area=True)
        return curves.areas_under_precision(at_ends=True, up_to=among[0] / (n * curves.prevalence))


@dataclass(frozen=True)
class LinearRankMean(CellStatistic):
    """W: the mean over the positives of phi(rank / (N + 1)), ranks rising with the scores."""

    _limits: ClassVar[tuple[float, float]] = (-np.inf, np.inf)
    phi: str = "mww"

    @property
    def name(self) -> str:
        return f'W("{self._function.name}")'

    @cached_property
    def _function(self) -> ScoreGeneratingFunction:
        return parse_phi(self.phi)

    def values(self, pos: ArrayLike, neg: ArrayLike) -> Floats:
        """Return the mean of phi at the mid-ranks of cells."""
        pos, neg = as_arrays(pos, neg)
        size = pos + neg
        end = np.cumsum(size, axis=-1)
        blocks = np.broadcast_arrays(end - size, end, end[..., -1:])
        score = mid_rank_score(self._function, *(block.ravel() for block in blocks))
        return ratio((pos * score.reshape(end.shape)).sum(axis=-1), pos.sum(axis=-1))

    def draws(self, curves: DrawnCurves) -> Floats:
        """Return the metric of rankings with the drawn curves, whose ties have mid-ranks."""
        return self.values(*curves.counts())


@dataclass(frozen=True)
class _OfFirstHit(_CutOff):
    """A metric of the rank of the first positive, on average over the orders within ties.

    A sample has one first positive, so that only draws or resamples say how it varies.
    """

    is_area: ClassVar[bool] = False
    lacks_influence: ClassVar[str] = "the first positive alone decides it"

    @abstractmethod
    def _of_block(self, start: Numbers, size: Numbers, hits: Numbers, depth: Numbers) -> Floats:
        """Return the metric if the first positive stands in a block."""

    @abstractmethod
    def _of_ranks(self, first: Floats, last: Floats) -> Floats:
        """Return the mean credit of a first positive among ranks after `first` up to `last`."""

    def values(self, pos: ArrayLike, neg: ArrayLike) -> Floats:
        """Return the metric of the first cell with positives; 0 without one."""
        pos, neg = (counts.astype(np.int64) for counts in as_arrays(pos, neg))
        n_pos, shown = pos.sum(axis=-1), pos[..., :-1]
        if not shown.shape[-1]:
            return np.where(n_pos > 0, 0.0, np.nan)
        at = (shown > 0).argmax(axis=-1)[..., None]
        size = shown + neg[..., :-1]
        start = np.cumsum(size, axis=-1) - size
        block = [np.take_along_axis(a, at, axis=-1).ravel() for a in (start, size, shown)]
        first, number, hits = block
        value, held = np.zeros(first.size), hits > 0
        depth = np.clip(self._cut(first + number) - first, 0, number)
        parts = (part[held] for part in (first, number, hits, depth))
        value[held] = self._of_block(*parts)
        return np.where(n_pos > 0, value.reshape(n_pos.shape), np.nan)

    def draws(self, curves: DrawnCurves) -> Floats:
        """Return the mean over rankings with the drawn curve, each rank being a trial."""
        edges = self._edges(curves.cells.n)
        width = np.diff(edges)[:, None]
        share = np.diff(curves.positives_among(edges, area=self.is_area), axis=0)
        share /= width
        missed = 1 - np.clip(share, 0.0, 1.0, out=share)
        wide = slice(np.count_nonzero(width == 1), None)
        missed[wide] **= width[wide]
        # `cumprod` is slow along columns.
        for before, here in pairwise(missed):
            np.multiply(before, here, here)
        credit = self._of_ranks(edges[:-1], edges[1:])
        # A credit that is not earned at the first positive is lost: c_1 + m_1 (c_2 - c_1) + ...
        losses = np.append(np.diff(credit), -credit[-1])
        return np.asarray(credit[0] + losses @ missed)


@dataclass(frozen=True)
class ReciprocalRank(_OfFirstHit):
    """RR: one over the rank of the first positive, 0 if there is none up to k."""

    _name: ClassVar[str] = "RR"

    def _of_block(self, start: Numbers, size: Numbers, hits: Numbers, depth: Numbers) -> Floats:
        return expected_reciprocal_rank(start, size, hits, depth)

    def _of_ranks(self, first: Floats, last: Floats) -> Floats:
        single = last - first <= 1
        wide = np.log((last + 0.5) / (first + 0.5)) / (last - first)
        return np.where(single, 1 / last, wide)


@dataclass(frozen=True)
class SuccessAt(_OfFirstHit):
    """Success@k: 1 if a positive stands among the first k."""

    _name: ClassVar[str] = "Success"

    def _of_block(self, start: Numbers, size: Numbers, hits: Numbers, depth: Numbers) -> Floats:
        return hit_probability(size, hits, depth)

    def _of_ranks(self, first: Floats, last: Floats) -> Floats:
        return np.ones_like(first)

    def draws(self, curves: DrawnCurves) -> Floats:
        """Return the mean over rankings with the drawn curve, and for the low end less than that.

        A few positives in a row have a precision of 1 in most draws, and a single such rank makes
        the value 1. With h positives among the first k it is at least ``1 - (1 - h / k)^k`` in any
        order, which is taken for the low end.
        """
        k = self._edges(curves.cells.n)[-1]
        [hits] = curves.positives_among(np.array([k]), area=self.is_area)
        even = 1 - np.clip(1 - hits / k, 0.0, 1.0) ** k
        by_rank = super().draws(curves)
        return draws_of_ends(np.minimum(even, by_rank), by_rank)
