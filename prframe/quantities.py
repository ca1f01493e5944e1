"""The quantities that metrics are written in: polars expressions over hits and group totals."""

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True)
class Quantities:
    """What a metric may use.

    Attributes
    ----------
    start, end : Expr, one value per hit
        Items ranked above the hit's tie block, and up to its end. Without ties: rank - 1, rank.
    tp_start, tp_end, fp_start, fp_end : Expr, one value per hit
        The positives and the negatives among these.
    weight, gain : Expr, one value per hit
        The hit's weight and its graded relevance; 1 unless there are any.
    n, n_pos, n_neg, n_hits : Expr, one value per group
        Retrieved items; positives and negatives with what is not listed; retrieved positives.
    running_discounts : callable
        Cut-off (or None) -> Expr: ``D(0), D(1), ...``, the running sums of the DCG discounts.
    ideal_dcg : callable
        Cut-off (or None) -> Expr, one value per group: the DCG of the best ranking.
    prior : float, optional
        Share of positives that precision is normalised to.
    interpolated : Expr, optional
        Per hit, the largest precision at its recall or beyond.
    """

    start: pl.Expr
    end: pl.Expr
    tp_start: pl.Expr
    tp_end: pl.Expr
    fp_start: pl.Expr
    fp_end: pl.Expr
    weight: pl.Expr
    gain: pl.Expr
    n: pl.Expr
    n_pos: pl.Expr
    n_neg: pl.Expr
    n_hits: pl.Expr
    running_discounts: Callable[[int | None], pl.Expr]
    ideal_dcg: Callable[[int | None], pl.Expr]
    prior: float | None = None
    interpolated: pl.Expr | None = None

    def precision(self, tp: pl.Expr, fp: pl.Expr) -> pl.Expr:
        """Return the precision of tp + fp > 0 items, tp of them positive."""
        return precision(tp, fp, self.prior, self.n_pos, self.n_neg)

    def share_in_top(self, k: "pl.Expr | int") -> pl.Expr:
        """Return the probability that a hit stands among the first k, its block in any order."""
        top = pl.min_horizontal(self.end, k) - self.start
        return pl.max_horizontal(top, 0) / (self.end - self.start)

    def mean_discount(self, k: int | None) -> pl.Expr:
        """Return the mean DCG discount of the positions in the hit's block, 0 beyond k."""
        running = self.running_discounts(k)
        start, end = self.start, self.end
        if k is not None:
            start, end = pl.min_horizontal(start, k), pl.min_horizontal(end, k)
        mean = (running.gather(end) - running.gather(start)) / (self.end - self.start)
        # A difference of running sums loses digits far down; a block of one needs none.
        single = 1 / (self.end + 1).log(2)
        if k is not None:
            single = pl.when(self.end <= k).then(single).otherwise(0.0)
        return pl.when(self.end - self.start == 1).then(single).otherwise(mean)


def precision(
    tp: pl.Expr, fp: pl.Expr, prior: float | None, n_pos: pl.Expr, n_neg: pl.Expr
) -> pl.Expr:
    """Return tp / (tp + fp), both first scaled to a prior if one is given.

    ``tp' = tp prior / n_pos``, ``fp' = fp (1 - prior) / n_neg`` (Hoiem et al. 2012). Without a
    negative it is 1, without a positive 0, at the priors 0 and 1 as well.
    """
    if prior is None:
        return tp / (tp + fp)
    true, false = tp * prior / n_pos, fp * (1 - prior) / n_neg
    scaled = pl.when(tp > 0).then(true / (true + false)).otherwise(0.0)
    return pl.when(fp > 0).then(scaled).otherwise(1.0)
