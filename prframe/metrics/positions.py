"""Metrics of positions, graded or not, which take their mean over the orders within tie blocks."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from prframe import stats
from prframe.metrics.metric import REL, Metric, Parameter, Term, number, word
from prframe.metrics.quantities import HAIR_BELOW, LARGEST_EXPONENT, Quantities, gain_of
from prframe.metrics.shared import (
    BETA,
    or_above,
    over,
    per_block,
)
from prframe.stats import rankings
from prframe.stats.tie_expectations import (
    expected_cascade,
    expected_reciprocal_rank,
    hit_probability,
)
from prframe.tie_policies import NO_MEAN


def _rbp_credit(q: Quantities, m: Metric) -> pl.Expr:
    p, start, end = m.number("p"), q.start, q.end
    if m.k is not None:
        start, end = (pl.min_horizontal(rank, pl.lit(m.rank())) for rank in (start, end))
    power = pl.lit(p, dtype=pl.Float64)
    return q.weight * (power.pow(start) - power.pow(end)) / (q.end - q.start)


def _judged_credit(q: Quantities, m: Metric) -> pl.Expr:
    return q.judged if m.k is None else q.judged * q.share_in_top(m.rank())


def _judged_finish(q: Quantities, m: Metric, terms: Sequence[pl.Expr]) -> pl.Expr:
    depth = q.n if m.k is None else pl.min_horizontal(pl.lit(m.rank()), q.n)
    return pl.when(depth > 0).then(terms[0] / depth).otherwise(0.0)


def _bpref_credit(q: Quantities, _: Metric) -> pl.Expr:
    """Return 1 - mean of min(judged non-relevant above, n_pos) / min(n_nonrel, n_pos).

    If the hit's block holds x judged non-relevant items, every place of the hit among them is
    equally likely, so the mean is taken over 0, 1, ..., x of these items above the hit.
    """
    places = q.nonrel_end - q.nonrel_start + 1
    free = pl.max_horizontal(pl.min_horizontal(q.n_pos - q.nonrel_start, places), pl.lit(0))
    below = free * q.nonrel_start + free * (free - 1) / 2
    above = (below + (places - free) * q.n_pos) / places
    largest = pl.min_horizontal(q.n_nonrel, q.n_pos)
    return q.weight * (1 - pl.when(largest > 0).then(above / largest).otherwise(0.0))


def _total(q: Quantities) -> pl.Expr:
    """Return the number of all items, as a float."""
    return (q.n_pos + q.n_neg).cast(pl.Float64)


def _fraction_size(q: Quantities, m: Metric) -> pl.Expr:
    """Return the number of items that make up the fraction, not raised by rounding errors."""
    return pl.max_horizontal((m.number("fraction") * _total(q) - 1e-9).ceil(), pl.lit(1.0))


def _bedroc_credit(q: Quantities, m: Metric) -> pl.Expr:
    """Return the mean of exp(-alpha rank / N) over the block, times exp(alpha / N) - 1."""
    rate = m.number("alpha") / _total(q)
    return q.weight * _exponential_mean(rate, q.start, q.end)


def _exponential_mean(rate: pl.Expr, start: pl.Expr, end: pl.Expr) -> pl.Expr:
    """Return the mean of exp(-rate rank) over ranks start + 1 .. end, times exp(rate) - 1."""
    size = end - start
    return (-rate * start).exp() * _one_minus_exp(rate * size) / size


def _one_minus_exp(x: pl.Expr) -> pl.Expr:
    """Return 1 - exp(-x) without loss of digits for small x."""
    return 2 * (-x / 2).exp() * (x / 2).sinh()


def _bedroc_finish(q: Quantities, m: Metric, terms: Sequence[pl.Expr]) -> pl.Expr:
    """Return the sum on the scale from that of the worst to that of the best ranking.

    Items that are not retrieved stand below the others, in any order.
    """
    alpha, total = m.number("alpha"), _total(q)
    missed = q.n_pos - q.n_hits
    below = missed * _exponential_mean(alpha / total, q.n, total)
    total_credit = terms[0] + pl.when(missed > 0).then(below).otherwise(0.0)
    best = _one_minus_exp(alpha * q.n_pos / total)
    worst = best * (-alpha * q.n_neg / total).exp()
    scale = best * _one_minus_exp(alpha * q.n_neg / total)
    return ((total_credit - worst) / scale).clip(0.0, 1.0)


def _reaching_credit(q: Quantities, m: Metric) -> pl.Expr:
    needed = m.number("at_precision") * HAIR_BELOW
    reached = (q.weight > 0) & (q.tp_end >= needed * (q.tp_end + q.weighed(q.fp_end)))
    return pl.when(reached).then(q.tp_end).otherwise(0)


def _or_at_precision(metric: Metric) -> Metric:
    """Return recall, with a precision as another place where it may be taken."""
    known = replace(metric, parameters=(*metric.parameters, AT_PRECISION))
    place = replace(
        known,
        terms=(Term(_reaching_credit, "max"),),
        cutoff="precision",
        ties=frozenset(NO_MEAN),
        options=frozenset({"weight", "prior"}),
        cells=lambda m: rankings.RecallAtPrecision(m.number("at_precision")),
        instead=(),
    )
    others = tuple(
        (name, replace(one, parameters=known.parameters)) for name, one in metric.instead
    )
    return replace(known, instead=(*others, ("at_precision", place)))


_SHARE = number(above=0, at_most=1)
AT_PRECISION = Parameter(
    "at_precision", None, "The least precision of the thresholds, in (0, 1].", _SHARE
)


TOP = Term(lambda q, m: q.weight * q.share_in_top(m.rank()))
P = or_above(
    Metric(
        "P",
        "Precision at k: the number of positives among the first k, divided by k. At a threshold: "
        "the share of positives among the items at or above it, null if there are none.",
        "TREC",
        (TOP,),
        over(lambda q, m: q.constant(m.rank())),
        cutoff="required",
        needs=(),
        cells=lambda m: stats.PrecisionAt(m.rank()),
    ),
    "precision",
)
R = _or_at_precision(
    or_above(
        Metric(
            "R",
            "Recall at k: the number of positives among the first k, divided by n_pos. At a "
            "threshold: the number at or above it, divided by n_pos. At a precision: the largest "
            "recall of all thresholds with at least that precision.",
            "TREC",
            (TOP,),
            over(lambda q, _: q.n_pos),
            cutoff="required",
            cells=lambda m: stats.RecallAt(m.rank()),
        ),
        "recall",
    )
)
F1 = or_above(
    Metric(
        "F1",
        "F1 at k: the harmonic mean of P@k and R@k, 2 tp / (k + n_pos). At a threshold: the "
        "harmonic mean of the precision and the recall there.",
        "van Rijsbergen 1979",
        (TOP,),
        lambda q, m, terms: 2 * terms[0] / (m.rank() + q.n_pos),
        cutoff="required",
        cells=lambda m: rankings.F1At(m.rank()),
    ),
    "f",
)
F = or_above(
    Metric(
        "F",
        "F measure at k: (1 + beta^2) P@k R@k / (beta^2 P@k + R@k). At a threshold: the same "
        "formula with the precision and the recall there.",
        "van Rijsbergen 1979",
        (TOP,),
        lambda q, m, terms: (
            (1 + m.number("beta") ** 2) * terms[0] / (m.rank() + m.number("beta") ** 2 * q.n_pos)
        ),
        parameters=(BETA, REL),
        cutoff="required",
        cells=lambda m: rankings.FAt(m.rank(), m.number("beta")),
    ),
    "f",
)
RelP = Metric(
    "RelP",
    "Relative precision at k: P@k divided by its largest possible value, tp / min(k, n_pos).",
    "TREC",
    (TOP,),
    over(lambda q, m: pl.min_horizontal(pl.lit(m.rank()), q.n_pos)),
    cutoff="required",
    cells=lambda m: rankings.RelativePrecisionAt(m.rank()),
)
Rprec = Metric(
    "Rprec",
    "R-precision: the precision at rank n_pos.",
    "TREC",
    (Term(lambda q, _: q.weight * q.share_in_top(q.n_pos)),),
    over(lambda q, _: q.n_pos),
    cells=lambda _: rankings.RPrecision(),
)
RR = Metric(
    "RR",
    "Reciprocal rank: 1 / rank of the first positive, 0 if none is retrieved, or none up to k.",
    "TREC",
    (Term(lambda q, m: per_block(expected_reciprocal_rank, q, m), "first"),),
    cutoff="optional",
    cells=lambda m: rankings.ReciprocalRank(None if m.k is None else m.rank()),
)
Success = Metric(
    "Success",
    "Success at k: 1 if a positive is among the first k, else 0.",
    "TREC",
    (Term(lambda q, m: per_block(lambda _, *block: hit_probability(*block), q, m), "first"),),
    cutoff="required",
    cells=lambda m: rankings.SuccessAt(m.rank()),
)
RBP = Metric(
    "RBP",
    "Rank-biased precision: the sum of (1 - p) p^(rank - 1) over the positives.",
    "Moffat & Zobel 2008",
    (Term(_rbp_credit),),
    cutoff="optional",
    parameters=(
        Parameter(
            "p", 0.8, "Persistence, in [0, 1): the chance to read on.", number(at_least=0, below=1)
        ),
        REL,
    ),
    needs=(),
    cells=lambda m: rankings.RankBiasedPrecision(None if m.k is None else m.rank(), m.number("p")),
)
Bpref = Metric(
    "Bpref",
    "Binary preference: the mean over the positives of 1 - min(above, n_pos) / min(n_nonrel, "
    "n_pos), or 0 for a positive that was not retrieved. n_nonrel: the items judged not relevant; "
    "above: how many of these rank above the positive.",
    "Buckley & Voorhees 2004; TREC",
    (Term(_bpref_credit),),
    over(lambda q, _: q.n_pos),
    judged=True,
)
Judged = Metric(
    "Judged",
    "The share of judged items among the first k retrieved items; without k, among all of them.",
    "ir_measures",
    (Term(_judged_credit),),
    _judged_finish,
    cutoff="optional",
    parameters=(),
    needs=(),
    judged=True,
    greater_is_better=False,
)
Lift = Metric(
    "Lift",
    "Lift at k: P@k divided by the share of positives among all items, n_pos / N.",
    "marketing literature",
    (TOP,),
    lambda q, m, terms: terms[0] / q.constant(m.rank()) * _total(q) / q.n_pos,
    cutoff="required",
    range=(0.0, float("inf")),
    cells=lambda m: rankings.LiftAt(m.rank()),
)
EF = Metric(
    "EF",
    "Enrichment factor: the lift at k = ceil(fraction N).",
    "Truchon & Bayly 2007, eq. (2)",
    (Term(lambda q, m: q.weight * q.share_in_top(_fraction_size(q, m))),),
    lambda q, m, terms: terms[0] / _fraction_size(q, m) * _total(q) / q.n_pos,
    parameters=(
        Parameter("fraction", 0.01, "The share of items that are looked at, in (0, 1].", _SHARE),
        REL,
    ),
    range=(0.0, float("inf")),
    cells=lambda m: rankings.Enrichment(m.number("fraction")),
)
BEDROC = Metric(
    "BEDROC",
    "Boltzmann-enhanced discrimination of ROC: the sum of exp(-alpha rank / N) over the "
    "positives, scaled to 0 for the worst and 1 for the best ranking of all N items. Items that "
    "were not retrieved rank below all others, in any order.",
    "Truchon & Bayly 2007, eq. (36)",
    (Term(_bedroc_credit),),
    _bedroc_finish,
    parameters=(
        Parameter(
            "alpha",
            20.0,
            "Weight of early ranks, in [0.01, 500].",
            number(at_least=0.01, at_most=500),
        ),
        REL,
    ),
    needs=("n_pos", "n_neg"),
    cells=lambda m: rankings.Bedroc(m.number("alpha")),
)


def _dcg_credit(q: Quantities, m: Metric) -> pl.Expr:
    return gain_of(q.gain, str(m["gain"])) * q.mean_discount(_rank(m))


def _rank(m: Metric) -> int | None:
    """Return the cut-off, if there is one."""
    return None if m.k is None else m.rank()


def _ndcg_finish(q: Quantities, m: Metric, terms: Sequence[pl.Expr]) -> pl.Expr:
    ideal = q.ideal_dcg(_rank(m), str(m["gain"]))
    return pl.when(ideal > 0).then(terms[0] / ideal)


def _err_credit(q: Quantities, m: Metric) -> pl.Expr:
    """Return each hit's equal share of the ERR that its tie block contributes."""
    stop = gain_of(q.gain, "exp") / 2.0 ** m.number("top")
    return pl.map_batches(
        [q.group, q.start, q.end, stop],
        lambda columns: _cascade(columns, _rank(m)),
        return_dtype=pl.Float64,
    )


def _cascade(columns: Sequence[pl.Series], k: int | None) -> pl.Series:
    """Return each hit's credit, from the columns group, start, end and stopping probability."""
    group, start, end = (column.to_numpy().astype(np.int64) for column in columns[:3])
    stop = columns[3].to_numpy()
    firsts = np.flatnonzero((np.diff(group, prepend=-1) != 0) | (np.diff(start, prepend=-1) != 0))
    count = np.diff(firsts, append=group.size)
    size = (end - start)[firsts]
    depth = size if k is None else np.clip(k - start[firsts], 0, size)
    block = np.repeat(np.arange(firsts.size), count)
    value = expected_cascade(start[firsts], size, depth, block, stop)
    passed = pl.DataFrame(
        {"group": group[firsts], "passed": np.multiply.reduceat(1 - stop, firsts)}
        if firsts.size
        else {"group": group, "passed": stop}
    ).select(pl.col("passed").cum_prod().shift(1, fill_value=1.0).over("group"))
    return pl.Series(np.repeat(passed.to_series().to_numpy() * value / count, count))


GAIN = Parameter(
    "gain",
    "linear",
    'The gain of label g: g ("linear") or 2^g - 1 ("exp").',
    word("exp", "linear"),
)

DCG = Metric(
    "DCG",
    "Discounted cumulative gain: the sum of gain / log2(rank + 1).",
    "Järvelin & Kekäläinen 2002",
    (Term(_dcg_credit),),
    cutoff="optional",
    parameters=(GAIN,),
    needs=(),
    graded=True,
    range=(0.0, float("inf")),
    cells=lambda m: rankings.DiscountedGain(_rank(m)),
)
nDCG = Metric(
    "nDCG",
    "Normalised discounted cumulative gain: the DCG, divided by the DCG of the best ranking. The "
    "gain is the label; positives have gain 1 if labels are not numbers, or `positive` is a list.",
    "Järvelin & Kekäläinen 2002; TREC",
    (Term(_dcg_credit),),
    _ndcg_finish,
    cutoff="optional",
    parameters=(GAIN,),
    needs=(),
    also_undefined="no gain > 0",
    graded=True,
    cells=lambda m: rankings.DiscountedGain(_rank(m), normalised=True),
)
ERR = Metric(
    "ERR",
    "Expected reciprocal rank of the item at which a reader stops: the sum over ranks r of 1 / r "
    "times the probability of stopping there, R(g_r) times the product of 1 - R(g) over the items "
    "above. R(g) = (2^g - 1) / 2^top for the grade g, and `top` is the highest grade.",
    "Chapelle et al. 2009, eq. (4)",
    (Term(_err_credit, per_hit=False),),
    cutoff="optional",
    parameters=(
        Parameter(
            "top",
            4,
            "The highest grade of the judgments.",
            number(above=0, at_most=LARGEST_EXPONENT),
        ),
    ),
    needs=(),
    graded=True,
)
