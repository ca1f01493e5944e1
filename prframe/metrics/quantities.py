"""The quantities that metrics are written in: polars expressions over hits and group totals."""

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

# A count of positives reaches a level of recall if rounding alone leaves it below: 3 of 10
# positives reach a level of .3, although .3 times 10 may be a little more than 3.
HAIR_BELOW = 1 - 1e-12
# With larger labels 2^label is too large for sums of floats.
LARGEST_EXPONENT = 1000
_ABOVE = "above "


def above_name(threshold: float, *, negatives: bool = False) -> str:
    """Return the name of the column with the number of items whose score reaches a threshold."""
    return f"{_ABOVE}{'negatives ' * negatives}{threshold!r}"


def is_above_name(column: str) -> bool:
    """Return whether a column holds the number of items above a threshold."""
    return column.startswith(_ABOVE)


@dataclass(frozen=True)
class Quantities:
    """The quantities that the formula of a metric may use.

    Attributes
    ----------
    group : Expr, one value per hit
        The group that the hit belongs to; hits stand in order of group and rank.
    start, end : Expr, one value per hit
        Items ranked above the hit's tie block, and up to its end. Without ties: rank - 1, rank.
    tp_start, tp_end, fp_start, fp_end : Expr, one value per hit
        The positives and the negatives among the items above the block, and up to its end.
    weight, gain : Expr, one value per hit
        The hit's weight and its graded relevance; 1 unless there are any. A row that is listed
        for another reason than being positive has weight 0.
    judged, nonrel_start, nonrel_end, pooled_end : Expr, one value per hit
        Whether the item was judged (0 or 1); the judged items that are not relevant above its
        block and up to its end; the items up to its end that are in the pool and not judged.
    n, n_pos, n_neg, n_hits : Expr, one value per group
        Retrieved items; positives and negatives, including those that are not listed; retrieved
        positives.
    n_nonrel : Expr, one value per group
        Judged items that are not relevant, retrieved or not.
    running_discounts : callable
        Cut-off (or None) -> function of ranks up to it, an Expr -> Expr: ``D(rank)``, the sum of
        the DCG discounts up to each rank.
    ideal_dcg : callable
        Cut-off (or None), kind of gain -> Expr, one value per group: the DCG of the best ranking.
    prior : float, optional
        Share of positives that precision is normalised to.
    interpolated : Expr, optional
        Per hit, the largest precision at its recall or beyond.
    weighted : bool
        Whether counts are sums of weights.
    """

    start, end = pl.col("start"), pl.col("end")
    tp_start, tp_end = pl.col("tp_start"), pl.col("tp_end")
    fp_start, fp_end = pl.col("fp_start"), pl.col("fp_end")
    group, weight, gain = pl.col("group"), pl.col("weight"), pl.col("gain")
    judged, pooled_end = pl.col("judged"), pl.col("pooled_end")
    nonrel_start, nonrel_end = pl.col("nonrel_start"), pl.col("nonrel_end")
    n, n_pos, n_neg = pl.col("n"), pl.col("n_pos"), pl.col("n_neg")
    n_hits, n_nonrel = pl.col("n_hits"), pl.col("n_nonrel")

    running_discounts: Callable[[int | None], Callable[[pl.Expr], pl.Expr]]
    ideal_dcg: Callable[[int | None, str], pl.Expr]
    prior: float | None = None
    interpolated: pl.Expr | None = None
    weighted: bool = False

    def precision(self, tp: pl.Expr, fp: pl.Expr) -> pl.Expr:
        """Return the precision of tp + fp > 0 items, tp of them positive."""
        return precision(tp, fp, self.prior, self.n_pos, self.n_neg)

    def weighed(self, negatives: pl.Expr) -> pl.Expr:
        """Return what a number of negatives is where the share of positives is the prior.

        That is ``negatives n_pos (1 - prior) / (n_neg prior)``, and infinite at the prior 0.
        """
        if self.prior is None:
            return negatives
        odds = (1 - self.prior) / self.prior if self.prior else float("inf")
        weighed = negatives * odds * self.n_pos / self.n_neg
        return pl.when(negatives > 0).then(weighed).otherwise(0.0)

    def above(self, threshold: float) -> pl.Expr:
        """Return the number of items, one per group, whose score reaches a threshold."""
        return pl.col(above_name(threshold))

    def negatives_above(self, threshold: float, positives: pl.Expr) -> pl.Expr:
        """Return the negatives, one per group, whose score reaches a threshold.

        Sums of weights are not what is left of a sum of all, as light ones would be lost.
        """
        if self.weighted:
            return pl.col(above_name(threshold, negatives=True))
        return self.above(threshold) - positives

    def constant(self, value: float) -> pl.Expr:
        """Return a number to divide by, one for each group.

        polars divides by a literal by multiplying with its reciprocal, which makes 3 / 10 come
        out as .30000000000000004.
        """
        return self.n * 0 + value

    def share_in_top(self, k: "pl.Expr | int") -> pl.Expr:
        """Return the probability that a hit is among the first k, by all orders of its block."""
        top = pl.min_horizontal(self.end, k) - self.start
        return pl.max_horizontal(top, 0) / (self.end - self.start)

    def mean_discount(self, k: int | None) -> pl.Expr:
        """Return the mean DCG discount of the positions in the hit's block, 0 beyond k."""
        running = self.running_discounts(k)
        start, end = self.start, self.end
        if k is not None:
            start, end = pl.min_horizontal(start, k), pl.min_horizontal(end, k)
        mean = (running(end) - running(start)) / (self.end - self.start)
        # A difference of running sums loses digits at large ranks; a block of one item needs none.
        single = 1 / (self.end + 1).log(2)
        if k is not None:
            single = pl.when(self.end <= k).then(single).otherwise(0.0)
        return pl.when(self.end - self.start == 1).then(single).otherwise(mean)


def precision(
    tp: pl.Expr, fp: pl.Expr, prior: float | None, n_pos: pl.Expr, n_neg: pl.Expr
) -> pl.Expr:
    """Return tp / (tp + fp), after both are scaled to a prior if one is given.

    The scaled counts are ``tp' = tp prior / n_pos`` and ``fp' = fp (1 - prior) / n_neg`` (Hoiem et
    al. 2012). Without a negative the precision is 1 and without a positive 0, even if the prior is
    0 or 1.
    """
    if prior is None:
        return tp / (tp + fp)
    true, false = tp * prior / n_pos, fp * (1 - prior) / n_neg
    scaled = pl.when(tp > 0).then(true / (true + false)).otherwise(0.0)
    return pl.when(fp > 0).then(scaled).otherwise(1.0)


def gain_of(label: pl.Expr, kind: str) -> pl.Expr:
    """Return the gain of a label: the label itself (``"linear"``) or 2^label - 1 (``"exp"``)."""
    return pl.lit(2.0).pow(label) - 1 if kind == "exp" else label
