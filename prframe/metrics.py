"""The catalogue of metrics: every metric is a value.

Adding a metric is one constant here and one naive definition in the tests' oracle. The list in
the error message, the docs table and the shared tests derive from `CATALOGUE`.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
import polars as pl

from prframe import checks
from prframe.errors import PrframeError
from prframe.quantities import Quantities
from prframe.stats import expected_reciprocal_rank, hit_probability

CutOff: TypeAlias = int | None
Credit: TypeAlias = Callable[[Quantities, CutOff], pl.Expr]
Finish: TypeAlias = Callable[[Quantities, CutOff, Sequence[pl.Expr]], pl.Expr]


@dataclass(frozen=True)
class Term:
    """A number per group made of its hits.

    `combine` is ``"sum"``: the sum of all hits' credits; or ``"first"``: the credit of the hit
    ranked first, where `credit` uses `start`, `end`, `tp_start`, `tp_end` alone.
    """

    credit: Credit
    combine: Literal["sum", "first"] = "sum"


@dataclass(frozen=True, repr=False)
class Metric:
    """A metric of one ranking.

    ``metric @ k`` sets the cut-off; ``str(metric)`` is the name that `evaluate` understands.

    Attributes
    ----------
    name : str
        The name without cut-off.
    summary : str
        What it is, with its formula.
    source : str
        Where it is defined.
    terms, finish
        How it is computed: terms from the hits, then one expression of these and the totals.
    cutoff : {"none", "optional", "required"}
        Whether it is cut off at a rank.
    needs : tuple of {"n_pos", "n_neg"}
        The totals that must be positive for it to be defined.
    options : frozenset of {"weight", "prior", "interpolate"}
        The options it takes.
    graded : bool
        Whether it uses graded labels.
    bounded : bool
        Whether its range is [0, 1]; a count otherwise. Larger is better for all of them.
    k : int, optional
        The cut-off.
    """

    name: str
    summary: str
    source: str
    terms: tuple[Term, ...]
    finish: Finish
    cutoff: Literal["none", "optional", "required"] = "none"
    needs: tuple[str, ...] = ("n_pos",)
    options: frozenset[str] = frozenset()
    graded: bool = False
    bounded: bool = True
    k: CutOff = None

    def __matmul__(self, k: int) -> "Metric":
        """Return the metric cut off at rank k."""
        if self.cutoff == "none":
            raise PrframeError(f"{self.name} takes no cut-off; got {self.name}@{k}.")
        return replace(self, k=checks.whole_number("k", k, at_least=1))

    def __reduce__(self) -> tuple[Callable[..., "Metric"], tuple[str, CutOff]]:
        """Travel between processes by name."""
        return _from_catalogue, (self.name, self.k)

    def __repr__(self) -> str:
        """Return the name, marked as a metric."""
        return f"<Metric {self}>"

    def __str__(self) -> str:
        """Return the name as `evaluate` understands it."""
        return self.name if self.k is None else f"{self.name}@{self.k}"


def _from_catalogue(name: str, k: CutOff) -> Metric:
    """Return a metric of the catalogue."""
    return CATALOGUE[name] if k is None else CATALOGUE[name] @ k


def parse(metric: "str | Metric") -> Metric:
    """Return the metric that a name such as ``"nDCG@10"`` stands for."""
    if isinstance(metric, Metric):
        found = metric
    elif isinstance(metric, str):
        found = _parse_name(metric)
    else:
        raise PrframeError(f"a metric must be a name or a catalogue object; got {metric!r}.")
    if found.cutoff == "required" and found.k is None:
        raise PrframeError(f"{found.name} needs a cut-off, for instance '{found.name}@10'.")
    return found


def _parse_name(text: str) -> Metric:
    """Split a name from its cut-off and look it up."""
    name, _, k = text.partition("@")
    metric = _NAMES.get(name)
    if metric is None:
        hint = checks.did_you_mean(name, _NAMES) or _same_but_for_case(name)
        raise PrframeError(
            f"unknown metric {text!r}; the metrics are {checks.listed(CATALOGUE)}.{hint}"
        )
    if "@" not in text:
        return metric
    if not re.fullmatch(r"0*[1-9][0-9]*", k):
        raise PrframeError(f"the cut-off in {text!r} must be a whole number >= 1; got {k!r}.")
    return metric @ int(k)


def _same_but_for_case(name: str) -> str:
    """Return a hint when only the case is wrong."""
    same = [known for known in _NAMES if known.lower() == name.lower()]
    return f" Did you mean {same[0]!r}?" if same else ""


def _ap_credit(q: Quantities, k: CutOff) -> pl.Expr:
    if k is None:
        best = q.precision(q.tp_end, q.fp_end) if q.interpolated is None else q.interpolated
        return q.weight * best
    share = q.share_in_top(k)
    tp = q.tp_start + (q.tp_end - q.tp_start) * share
    return q.weight * share * q.precision(tp, pl.min_horizontal(q.end, k) - tp)


def _trapezoid_credit(q: Quantities, _: CutOff) -> pl.Expr:
    if q.interpolated is not None:
        return q.weight * q.interpolated
    above = q.precision(q.tp_start, q.fp_start)
    left = pl.when(q.start == 0).then(1.0).otherwise(above)
    return q.weight * (left + q.precision(q.tp_end, q.fp_end)) / 2


def _eleven_point_credit(q: Quantities, _: CutOff) -> pl.Expr:
    if q.interpolated is None:
        raise PrframeError("the 11-point AP is made of interpolated precision.")
    reached, before = (_levels_reached(tp, q.n_pos) for tp in (q.tp_end, q.tp_start))
    # A relevant item below the grade that counts has weight 0, perhaps in a block without hits.
    share = pl.when(q.weight > 0).then(q.weight / (q.tp_end - q.tp_start)).otherwise(0.0)
    return q.interpolated * (reached - before) * share


def _levels_reached(tp: pl.Expr, n_pos: pl.Expr) -> pl.Expr:
    """Count the levels .1, .2, ..., 1 that are at most tp / n_pos, safe from rounding."""
    return (10 * tp / n_pos + 1e-9).floor()


def _auc_credit(q: Quantities, _: CutOff) -> pl.Expr:
    return q.weight * (q.n_neg - (q.fp_start + q.fp_end) / 2)


def _auc_finish(q: Quantities, _: CutOff, terms: Sequence[pl.Expr]) -> pl.Expr:
    # Floats: the products of counts outgrow integers.
    missed = (q.n_pos - q.n_hits).cast(pl.Float64) * (q.n_neg - (q.n - q.n_hits))
    return (terms[0] + missed / 2) / (q.n_pos.cast(pl.Float64) * q.n_neg)


def _top_credit(q: Quantities, k: CutOff) -> pl.Expr:
    return q.weight * q.share_in_top(k or 0)


def _r_precision_credit(q: Quantities, _: CutOff) -> pl.Expr:
    return q.weight * q.share_in_top(q.n_pos)


def _first_block(
    statistic: Callable[..., "np.ndarray[tuple[int], np.dtype[np.float64]]"],
    q: Quantities,
    k: CutOff,
) -> pl.Expr:
    """Apply a function of (start, size, hits, depth) to the block ranked first."""

    def apply(columns: Sequence[pl.Series]) -> pl.Series:
        start, end, hits = (column.fill_null(0).to_numpy().astype(np.int64) for column in columns)
        some = end > start
        size = (end - start)[some]
        depth = size if k is None else np.clip(k - start[some], 0, size)
        values = np.zeros(start.size)
        values[some] = statistic(start[some], size, hits[some], depth)
        return pl.Series(values)

    block = [q.start, q.end, q.tp_end - q.tp_start]
    return pl.map_batches(block, apply, return_dtype=pl.Float64, is_elementwise=True)


def _rr_credit(q: Quantities, k: CutOff) -> pl.Expr:
    return _first_block(expected_reciprocal_rank, q, k)


def _success_credit(q: Quantities, k: CutOff) -> pl.Expr:
    return _first_block(lambda _, size, hits, depth: hit_probability(size, hits, depth), q, k)


def _dcg_credit(q: Quantities, k: CutOff) -> pl.Expr:
    return q.gain * q.mean_discount(k)


def _ndcg_finish(q: Quantities, k: CutOff, terms: Sequence[pl.Expr]) -> pl.Expr:
    ideal = q.ideal_dcg(k)
    return pl.when(ideal > 0).then(terms[0] / ideal)


def _over(denominator: Callable[[Quantities, CutOff], pl.Expr | int]) -> Finish:
    """Finish by dividing the one term."""
    return lambda q, k, terms: terms[0] / denominator(q, k)


_CURVE = frozenset({"weight", "prior", "interpolate"})

AP = Metric(
    "AP",
    "Average precision: the sum of the precision at each positive's rank, over n_pos. "
    "Cut off at k, positives beyond rank k earn 0; a tie block that straddles k counts with "
    "its part above k.",
    "vl_pr; TREC",
    (Term(_ap_credit),),
    _over(lambda q, _: q.n_pos),
    cutoff="optional",
    options=_CURVE,
)
AUPRC = Metric(
    "AUPRC",
    "Trapezoid area under the precision-recall curve from its opening point (0, 1).",
    "vl_pr",
    (Term(_trapezoid_credit),),
    _over(lambda q, _: q.n_pos),
    options=_CURVE,
)
AP11 = Metric(
    "AP11",
    "11-point interpolated AP: the mean over the recall levels 0, .1, ..., 1 of the largest "
    "precision at that recall or beyond; the opening point (0, 1) counts.",
    "vl_pr",
    (Term(_eleven_point_credit),),
    lambda _q, _k, terms: (terms[0] + 1) / 11,
    options=_CURVE,
)
AUC = Metric(
    "AUC",
    "Area under the ROC curve: the probability that a positive ranks above a negative, "
    "ties and pairs of unretrieved items counting half.",
    "Clemencon, Limnios & Vayatis 2021, section 2",
    (Term(_auc_credit),),
    _auc_finish,
    needs=("n_pos", "n_neg"),
    options=frozenset({"weight"}),
)
P = Metric(
    "P",
    "Precision at k: the positives among the first k, over k.",
    "TREC",
    (Term(_top_credit),),
    _over(lambda _, k: k or 1),
    cutoff="required",
    needs=(),
)
R = Metric(
    "R",
    "Recall at k: the positives among the first k, over n_pos.",
    "TREC",
    (Term(_top_credit),),
    _over(lambda q, _: q.n_pos),
    cutoff="required",
)
F1 = Metric(
    "F1",
    "F1 at k: the harmonic mean of P@k and R@k, 2 tp / (k + n_pos).",
    "van Rijsbergen 1979",
    (Term(_top_credit),),
    lambda q, k, terms: 2 * terms[0] / ((k or 1) + q.n_pos),
    cutoff="required",
)
Rprec = Metric(
    "Rprec",
    "R-precision: the precision at rank n_pos.",
    "TREC",
    (Term(_r_precision_credit),),
    _over(lambda q, _: q.n_pos),
)
RR = Metric(
    "RR",
    "Reciprocal rank of the first positive, 0 if there is none up to k.",
    "TREC",
    (Term(_rr_credit, "first"),),
    lambda _q, _k, terms: terms[0],
    cutoff="optional",
)
Success = Metric(
    "Success",
    "Success at k: 1 if a positive stands among the first k.",
    "TREC",
    (Term(_success_credit, "first"),),
    lambda _q, _k, terms: terms[0],
    cutoff="required",
)
nDCG = Metric(
    "nDCG",
    "Normalised discounted cumulative gain: the sum of gain / log2(rank + 1), over that of the "
    "best ranking. The gain is the label where labels are numbers, else 1.",
    "Järvelin & Kekäläinen 2002; TREC",
    (Term(_dcg_credit),),
    _ndcg_finish,
    cutoff="optional",
    needs=(),
    graded=True,
)
NumRel = Metric(
    "NumRel",
    "The number of positives, n_pos.",
    "TREC",
    (),
    lambda q, _k, _t: q.n_pos,
    needs=(),
    bounded=False,
)
NumRet = Metric(
    "NumRet",
    "The number of retrieved items.",
    "TREC",
    (),
    lambda q, _k, _t: q.n,
    needs=(),
    bounded=False,
)
NumRelRet = Metric(
    "NumRelRet",
    "The number of retrieved positives.",
    "TREC",
    (),
    lambda q, _k, _t: q.n_hits,
    needs=(),
    bounded=False,
)

CATALOGUE: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        AP,
        AP11,
        AUC,
        AUPRC,
        F1,
        NumRel,
        NumRelRet,
        NumRet,
        P,
        R,
        RR,
        Rprec,
        Success,
        nDCG,
    )
}
_NAMES: dict[str, Metric] = CATALOGUE | {"AUPRC(trapezoid)": AUPRC}
