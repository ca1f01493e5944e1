"""Metrics of the curve, whose counts change once per threshold.

Under ``ties="expected"`` a metric that is linear in precision has a closed form, and so has one
that adds up functions of ranks. A metric that takes a maximum over thresholds, or a threshold that
depends on the order, has no closed form and refuses this policy.
"""

from collections.abc import Callable, Sequence
from functools import partial

import polars as pl

from prframe import checks, stats
from prframe.errors import ArgumentError
from prframe.metrics.metric import REL, Finish, Metric, Parameter, Setting, Term, number, word
from prframe.metrics.quantities import HAIR_BELOW, Quantities
from prframe.metrics.shared import of_blocks, over, per_block
from prframe.stats import rankings
from prframe.stats.score_functions import WORDS, expected_score, mid_rank_score
from prframe.stats.tie_expectations import (
    expected_precision,
    expected_precision_before,
    gain_area,
    mean_shortfall,
)
from prframe.tie_policies import NO_MEAN, WITHOUT_LABELS
from prframe.typing import Floats, Integers

CURVE = frozenset({"weight", "prior", "interpolate"})
# trec_eval adds this number to counts in infAP, so that it never divides by zero.
_EPSILON = 1e-5
_LEVELS = [i / 10 for i in range(1, 11)]


def _ap_credit(q: Quantities, m: Metric) -> pl.Expr:
    if m.k is None:
        best = q.precision(q.tp_end, q.fp_end) if q.interpolated is None else q.interpolated
        return q.weight * best
    share = q.share_in_top(m.rank())
    tp = q.tp_start + (q.tp_end - q.tp_start) * share
    return q.weight * share * q.precision(tp, pl.min_horizontal(q.end, m.rank()) - tp)


def _mean_precision(
    start: Integers, size: Integers, hits: Integers, depth: Integers, above: Integers
) -> Floats:
    return expected_precision(start, size, hits, above, depth)


def _trapezoid_credit(q: Quantities, _: Metric) -> pl.Expr:
    if q.interpolated is not None:
        return q.weight * q.interpolated
    above = q.precision(q.tp_start, q.fp_start)
    left = pl.when(q.start == 0).then(1.0).otherwise(above)
    return q.weight * (left + q.precision(q.tp_end, q.fp_end)) / 2


def _mean_trapezoid(
    start: Integers, size: Integers, hits: Integers, depth: Integers, above: Integers
) -> Floats:
    before = expected_precision_before(start, size, hits, above)
    return (before + expected_precision(start, size, hits, above, depth)) / 2


def _eleven_point_credit(q: Quantities, m: Metric) -> pl.Expr:
    if q.interpolated is None:
        raise ArgumentError("the 11-point AP is made of interpolated precision.")
    reached, before = (_levels_reached(tp, q.n_pos, m) for tp in (q.tp_end, q.tp_start))
    # An item whose grade is too low to count has weight 0, and its block may have no hits.
    share = pl.when(q.weight > 0).then(q.weight / (q.tp_end - q.tp_start)).otherwise(0.0)
    return q.interpolated * (reached - before) * share


def _levels_reached(tp: pl.Expr, n_pos: pl.Expr, m: Metric) -> pl.Expr:
    """Return how many of the levels .1, .2, ..., 1 of recall are reached."""
    if m["levels"] == "exact":
        # The small number makes up for a rounding error that leaves the quotient below a level.
        return (10 * tp / n_pos + 1e-9).floor()
    reached = [(tp >= _items_at(level, n_pos, m)) & (tp > 0) for level in _LEVELS]
    return pl.sum_horizontal(reached).cast(pl.Int64)


def _items_at(level: float, n_pos: pl.Expr, m: Metric) -> pl.Expr:
    """Return how many positives make up a level of recall."""
    items = level * n_pos
    if m["levels"] == "exact":
        return (items - 1e-9).ceil()
    return (items + (0.9 if m["levels"] == "v9" else 0.5)).floor()


def _eleven_point_finish(q: Quantities, m: Metric, terms: Sequence[pl.Expr]) -> pl.Expr:
    opening = 1 if m["levels"] == "exact" else terms[1]
    return (terms[0] + opening) / q.constant(11)


def _precision_credit(q: Quantities, _: Metric) -> pl.Expr:
    value = q.precision(q.tp_end, q.fp_end)
    return pl.when(q.weight > 0).then(value).otherwise(0.0)


def _precision_beyond(q: Quantities, m: Metric) -> pl.Expr:
    far = q.tp_end >= _items_at(float(m.k or 0), q.n_pos, m)
    return pl.when(far).then(_precision_credit(q, m)).otherwise(0.0)


def _precision_at_level(q: Quantities, m: Metric) -> pl.Expr:
    needed = float(m.k or 0) * q.n_pos * HAIR_BELOW
    # All hits of the block in which recall reaches the level earn the precision at its end.
    reached = (q.tp_start < needed) & (q.tp_end >= needed)
    return pl.when(reached).then(q.precision(q.tp_end, q.fp_end)).otherwise(0.0)


def _auc_finish(q: Quantities, _: Metric, terms: Sequence[pl.Expr]) -> pl.Expr:
    # The products of counts are floats, because integers may overflow.
    missed = (q.n_pos - q.n_hits).cast(pl.Float64) * (q.n_neg - (q.n - q.n_hits))
    return (terms[0] + missed / 2) / (q.n_pos.cast(pl.Float64) * q.n_neg)


def _block_scores(
    score: Callable[..., Floats], q: Quantities, m: Metric, start: pl.Expr, end: pl.Expr
) -> pl.Expr:
    """Return a score of blocks among all N items, a function of (phi, start, end, N)."""
    # Where the value is undefined, the columns hold nulls.
    n_items = (q.n_pos + q.n_neg).fill_null(1)
    return of_blocks(partial(score, stats.parse_phi(str(m["phi"]))), start, end, n_items)


def _rank_mean(score: Callable[..., Floats]) -> Finish:
    """Return a finish that takes the mean over the positives.

    Items that are not retrieved are one tie block at the end.
    """

    def finish(q: Quantities, m: Metric, terms: Sequence[pl.Expr]) -> pl.Expr:
        missed, total = q.n_pos - q.n_hits, q.n_pos + q.n_neg
        # Without a positive the block counts nothing, and is taken as empty.
        start = pl.when(missed > 0).then(q.n).otherwise(total)
        return (terms[0] + missed * _block_scores(score, q, m, start, total)) / q.n_pos

    return finish


def _inferred_ap_credit(q: Quantities, _: Metric) -> pl.Expr:
    relevant = q.tp_end - 1
    pooled = relevant + q.nonrel_end + q.pooled_end
    share = (relevant + _EPSILON) / (relevant + q.nonrel_end + 2 * _EPSILON)
    return pl.when(q.weight > 0).then((1 + pooled * share) / q.end).otherwise(0.0)


def _phi(name: str, value: object) -> Setting:
    """Require the name of a score-generating function; return the name in its usual form."""
    if not isinstance(value, str):
        raise ArgumentError(
            f"`{name}` must be the name of a score-generating function; got {checks.brief(value)}."
        )
    return stats.parse_phi(value).name


LEVELS = Parameter(
    "levels",
    "exact",
    "How a level of recall becomes a number of positives: exact, or rounded as trec_eval does in "
    'version 9 ("v9": floor(level n_pos + .9)) or 10 ("v10": to the nearest).',
    word("exact", "v9", "v10"),
)

AP = Metric(
    "AP",
    "Average precision: the sum of the precision at the rank of each positive, divided by n_pos. "
    "With k, positives beyond rank k count 0; a tie block that crosses rank k counts in part.",
    "vl_pr; TREC",
    (Term(_ap_credit),),
    over(lambda q, _: q.n_pos),
    (Term(lambda q, m: q.weight * per_block(_mean_precision, q, m, q.tp_start)),),
    cutoff="optional",
    options=CURVE,
    cells=lambda m: (
        stats.AveragePrecision() if m.k is None else rankings.AveragePrecisionAt(m.rank())
    ),
)
AUPRC = Metric(
    "AUPRC",
    "Area under the precision-recall curve by trapezoids, from the point (recall 0, precision 1).",
    "vl_pr",
    (Term(_trapezoid_credit),),
    over(lambda q, _: q.n_pos),
    (Term(lambda q, m: q.weight * per_block(_mean_trapezoid, q, m, q.tp_start)),),
    parameters=(
        Parameter("rule", "trapezoid", "The rule of integration.", word("trapezoid")),
        REL,
    ),
    options=CURVE,
    cells=lambda _: stats.TrapezoidArea(),
)
AP11 = Metric(
    "AP11",
    "11-point interpolated AP: the mean over the recall levels 0, .1, ..., 1 of the largest "
    'precision at that recall or beyond. With levels="exact" the point (recall 0, precision 1) is '
    'part of the curve; with "v9" and "v10" it is not.',
    "vl_pr",
    (Term(_eleven_point_credit), Term(_precision_credit, "max")),
    _eleven_point_finish,
    parameters=(LEVELS, REL),
    ties=frozenset(NO_MEAN),
    options=CURVE,
    interpolated=True,
)
IPrec = Metric(
    "IPrec",
    "Interpolated precision at recall r: the largest precision at that recall or beyond, 0 if r "
    "is not reached.",
    "TREC",
    (Term(_precision_beyond, "max"),),
    cutoff="recall",
    parameters=(LEVELS, REL),
    ties=frozenset(NO_MEAN),
    options=frozenset({"prior"}),
)
Prec = Metric(
    "Prec",
    "Precision at the threshold where recall first reaches r, not interpolated. It is 0 if r is "
    "not reached, and 1 at r = 0. The number r is a recall, not a rank.",
    "Clemencon & Vayatis 2009, eq. (3)",
    (Term(_precision_at_level, "max"),),
    # At level 0 it is that of the opening point, which precedes all hits.
    lambda _q, m, terms: terms[0] if m.k else pl.lit(1.0),
    cutoff="recall",
    ties=frozenset(NO_MEAN),
    options=frozenset({"weight", "prior"}),
    cells=lambda m: rankings.PrecisionAtRecall(m.level()),
)
MaxF1 = Metric(
    "MaxF1",
    "The largest F1 of all thresholds: max over k of 2 tp / (k + n_pos).",
    "van Rijsbergen 1979",
    (Term(lambda q, _: 2 * q.tp_end / (q.tp_end + q.weighed(q.fp_end) + q.n_pos), "max"),),
    ties=frozenset(NO_MEAN),
    options=frozenset({"weight", "prior"}),
    cells=lambda _: rankings.LargestF1(),
)
AUC = Metric(
    "AUC",
    "Area under the ROC curve: the probability that a positive ranks above a negative. Ties, and "
    "pairs of items that were not retrieved, count half.",
    "Clemencon, Limnios & Vayatis 2021, section 2",
    (Term(lambda q, _: q.weight * (q.n_neg - (q.fp_start + q.fp_end) / 2)),),
    _auc_finish,
    needs=("n_pos", "n_neg"),
    options=frozenset({"weight", "prior"}),
    cells=lambda _: stats.RocArea(),
)
W = Metric(
    "W",
    "Linear rank statistic: the mean over the positives of phi(rank / (N + 1)), where rank 1 is "
    "the lowest score of all N items. Tied items, and those that were not retrieved, have the "
    "mean of their ranks.",
    "Clemencon, Limnios & Vayatis 2021, eq. (3.2)",
    (Term(lambda q, m: q.weight * _block_scores(mid_rank_score, q, m, q.start, q.end)),),
    _rank_mean(mid_rank_score),
    (Term(lambda q, m: q.weight * _block_scores(expected_score, q, m, q.start, q.end)),),
    _rank_mean(expected_score),
    parameters=(
        Parameter(
            "phi",
            "mww",
            "The name of the score-generating function: phi(u) = u unless told. "
            f"One of {checks.listed(WORDS)}, perhaps with parameters.",
            _phi,
        ),
        REL,
    ),
    options=frozenset({"weight"}),
    # The range is that of phi, which may have no bounds.
    range=(-float("inf"), float("inf")),
    cells=lambda m: rankings.LinearRankMean(str(m["phi"])),
)
infAP = Metric(
    "infAP",
    "Inferred AP, if only a sample of a pool of items was judged: the mean over the positives of "
    "(1 + m s) / rank. m items of the pool rank above the positive; s is the share of positives "
    "among the judged ones of these. A negative label marks an item of the pool without judgment.",
    "Yilmaz & Aslam 2006",
    (Term(_inferred_ap_credit),),
    over(lambda q, _: q.n_pos),
    ties=frozenset(WITHOUT_LABELS),
    judged=True,
)


def _share(q: Quantities) -> pl.Expr:
    """Return each hit's share of the weight of the positives of its block."""
    return pl.when(q.weight > 0).then(q.weight / (q.tp_end - q.tp_start)).otherwise(0.0)


def _reach(q: Quantities, m: Metric) -> pl.Expr:
    return m.number("max_recall") * q.n_pos


def _partial_ap_credit(q: Quantities, m: Metric) -> pl.Expr:
    ends = [pl.min_horizontal(tp.cast(pl.Float64), _reach(q, m)) for tp in (q.tp_start, q.tp_end)]
    value = (ends[1] - ends[0]) * _share(q) * q.precision(q.tp_end, q.fp_end)
    return pl.when(q.weight > 0).then(value).otherwise(0.0)


def _partial_auc_credit(q: Quantities, m: Metric) -> pl.Expr:
    reach = m.number("max_fpr") * q.n_neg
    return q.weight * of_blocks(mean_shortfall, q.fp_start, q.fp_end, reach)


def _partial_auc_finish(q: Quantities, m: Metric, terms: Sequence[pl.Expr]) -> pl.Expr:
    shown = q.n - q.n_hits
    rest = of_blocks(mean_shortfall, shown, q.n_neg, m.number("max_fpr") * q.n_neg)
    area = terms[0] + (q.n_pos - q.n_hits) * rest
    area /= q.n_pos.cast(pl.Float64) * q.n_neg
    if m["scale"] == "area":
        return area
    most = m.number("max_fpr")
    least = most**2 / 2
    return (1 + (area - least) / (most - least)) / 2


def _gain_credit(q: Quantities, _: Metric) -> pl.Expr:
    fp_start, fp_end, n_neg = (q.weighed(of) for of in (q.fp_start, q.fp_end, q.n_neg))
    block = q.tp_start, q.tp_end, fp_start, fp_end, q.n_pos, n_neg
    return _share(q) * of_blocks(gain_area, *block)


def _gain_finish(q: Quantities, _: Metric, terms: Sequence[pl.Expr]) -> pl.Expr:
    fp, n_neg = q.weighed(q.n - q.n_hits), q.weighed(q.n_neg)
    return terms[0] + of_blocks(gain_area, q.n_hits, q.n_pos, fp, n_neg, q.n_pos, n_neg)


pAP = Metric(
    "pAP",
    "Partial AP: the mean of the precision at the ranks of the positives, up to the recall "
    "max_recall. The tie block that reaches it counts in part.",
    "TREC; McClish 1989 for ROC curves",
    (Term(_partial_ap_credit),),
    over(_reach),
    parameters=(
        Parameter(
            "max_recall", 0.5, "The level of recall, in (0, 1].", number(above=0, at_most=1)
        ),
        REL,
    ),
    ties=frozenset(NO_MEAN),
    options=frozenset({"weight", "prior"}),
    cells=lambda m: rankings.PartialAveragePrecision(m.number("max_recall")),
)
pAUC = Metric(
    "pAUC",
    "Partial AUC: the area A under the ROC curve up to the false positive rate max_fpr. With "
    'scale="mcclish" it is (1 + (A - m) / (max_fpr - m)) / 2, where m = max_fpr^2 / 2.',
    "McClish 1989",
    (Term(_partial_auc_credit),),
    _partial_auc_finish,
    parameters=(
        Parameter(
            "max_fpr", 0.1, "The false positive rate, in (0, 1].", number(above=0, at_most=1)
        ),
        Parameter("scale", "area", '"area" or "mcclish".', word("area", "mcclish")),
        REL,
    ),
    ties=frozenset(NO_MEAN),
    needs=("n_pos", "n_neg"),
    options=frozenset({"weight", "prior"}),
    cells=lambda m: rankings.PartialRocArea(m.number("max_fpr"), str(m["scale"])),
)
AUPRG = Metric(
    "AUPRG",
    "Area under the precision-recall-gain curve from recall gain 0 to 1. The gain of a precision "
    "or a recall x is (x - pi) / ((1 - pi) x), where pi is the share of positives.",
    "Flach & Kull 2015",
    (Term(_gain_credit),),
    _gain_finish,
    ties=frozenset(NO_MEAN),
    needs=("n_pos", "n_neg"),
    options=frozenset({"weight", "prior"}),
    range=(-float("inf"), 1.0),
    cells=lambda _: rankings.GainArea(),
)
