"""The measures of trec_eval: names, what they are made of, and how queries are summarised."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import polars as pl

from prframe import checks
from prframe.errors import ArgumentError
from prframe.metrics import CATALOGUE, Metric, parse_metric
from prframe.metrics.metric import Term
from prframe.metrics.quantities import Quantities

Version = Literal[9, 10]

# trec_eval does not let one query without success make a geometric mean 0.
_LEAST = 1e-5
_DEPTHS = ("5", "10", "15", "20", "30", "100", "200", "500", "1000")
_LEVELS = tuple(f"{level / 10:.2f}" for level in range(11))
_MULTIPLES = tuple(f"{fifth / 5:.2f}" for fifth in range(1, 11))
# The parameters of measures that have some, unless the caller names others.
_PARAMETERS = {
    "P": _DEPTHS,
    "recall": _DEPTHS,
    "map_cut": _DEPTHS,
    "ndcg_cut": _DEPTHS,
    "relative_P": _DEPTHS,
    "Rprec_mult": _MULTIPLES,
    "iprec_at_recall": _LEVELS,
    "success": ("1", "5", "10"),
    "unj": ("5", "10", "20"),
}
_COUNTS = ("num_q", "num_ret", "num_rel", "num_rel_ret")
_OFFICIAL = (*_COUNTS, "map", "gm_map", "Rprec", "bpref", "recip_rank", "iprec_at_recall", "P")
_OF_SETS = ("set_P", "set_relative_P", "set_recall", "set_map", "set_F")
# All measures, in the order in which trec_eval prints.
_ALL = (
    *(*_OFFICIAL, "recall", "infAP", "gm_bpref", "Rprec_mult", "utility", "11pt_avg", "binG"),
    *("ndcg", "ndcg_cut", "map_cut", "relative_P", "success", *_OF_SETS),
    *("num_nonrel_judged_ret", "unj"),
)
_SETS = {
    "official": _OFFICIAL,
    "set": (*_COUNTS, "utility", *_OF_SETS),
    "all_trec": _ALL,
}
_RETRIEVED, _RELEVANT, _HITS = (pl.col(name) for name in ("NumRet", "NumRel", "NumRelRet"))
_PRECISION, _RECALL = _HITS / _RETRIEVED, _HITS / _RELEVANT
# These are computed from counts in the order of trec_eval, so that the last bit is the same and
# numbers halfway between two of four decimals are printed as it prints them.
_OF_COUNTS = {
    "set_map": _HITS * _HITS / (_RETRIEVED * _RELEVANT),
    "set_F": 2 * _PRECISION * _RECALL / (_PRECISION + _RECALL),
    "set_relative_P": _HITS / pl.min_horizontal(_RETRIEVED, _RELEVANT),
    # Each relevant document is worth 1, and each other one costs 1.
    "utility": _HITS - (_RETRIEVED - _HITS),
}
_WITH_PARAMETERS = re.compile(rf"({'|'.join(_PARAMETERS)})[._]([0-9.]+(?:,[0-9.]+)*)")
_WITH_DECIMALS = ("iprec_at_recall", "Rprec_mult")
_MULTIPLE = re.compile(r"Rprec_mult_([0-9]+\.?[0-9]*)")
_UNJUDGED = re.compile(r"unj_([1-9][0-9]{0,14})")
# The names of these stand for version 9 in the catalogue.
_OF_A_VERSION = re.compile(r"iprec_at_recall_.*|11pt_avg")


_OF_TREC_EVAL_ALONE = "it is a measure of trec_eval alone"


def _first_documents(q: Quantities, m: Metric) -> pl.Expr:
    """Return how many documents a multiple of the relevant ones are, as trec_eval rounds it."""
    return (q.n_pos * m.level() + 0.9).floor()


def _multiple_credit(q: Quantities, m: Metric) -> pl.Expr:
    return q.weight * q.share_in_top(_first_documents(q, m))


def _multiple_finish(q: Quantities, m: Metric, terms: Sequence[pl.Expr]) -> pl.Expr:
    return terms[0] / _first_documents(q, m)


def _binary_gain_credit(q: Quantities, _: Metric) -> pl.Expr:
    return q.weight / (q.fp_start + 2).log(2)


def _binary_gain_finish(q: Quantities, _: Metric, terms: Sequence[pl.Expr]) -> pl.Expr:
    return terms[0] / q.n_pos


_rprec_mult = Metric(
    "Rprec_mult",
    "The precision at a multiple of n_pos.",
    "trec_eval",
    (Term(_multiple_credit),),
    _multiple_finish,
    cutoff="recall",
    cells=_OF_TREC_EVAL_ALONE,
)
_binary_gain = Metric(
    "binG",
    "The mean of 1 / log2(2 + negatives above) over positives, 0 for those not retrieved.",
    "trec_eval",
    (Term(_binary_gain_credit),),
    _binary_gain_finish,
    ties=frozenset({"trec"}),
    cells=_OF_TREC_EVAL_ALONE,
)


def _mean(value: pl.Expr) -> pl.Expr:
    return value.mean()


def _sum(value: pl.Expr) -> pl.Expr:
    return value.sum()


def _geometric_mean(value: pl.Expr) -> pl.Expr:
    return value.clip(_LEAST).log().mean().exp()


@dataclass(frozen=True)
class Measure:
    """A measure, made of metrics of the catalogue.

    Attributes
    ----------
    name : str
        The name under which it was asked for.
    metrics : tuple of Metric
        The metrics whose values it needs.
    value : Expr
        Its value for a query, of columns that are named as the metrics.
    summary : callable
        Returns the summary of the values of all queries.
    of_queries : bool
        Whether it has a value for a single query.
    """

    name: str
    metrics: tuple[Metric, ...]
    value: pl.Expr
    summary: Callable[[pl.Expr], pl.Expr] = _mean
    of_queries: bool = True


def measures_of(asked: str | Metric | Iterable[str | Metric], version: Version) -> list[Measure]:
    """Return the measures of names, which may be those of families and sets of measures."""
    if type(asked).__module__.startswith("ir_measures"):
        asked = str(asked)
    if not isinstance(asked, (str, Metric, Iterable)):
        raise ArgumentError(f"`measures` must be a measure or a list of them; got {asked!r}.")
    given = [asked] if isinstance(asked, (str, Metric)) else list(asked)
    if isinstance(asked, (set, frozenset)):
        given.sort(key=str)
    names = [name for item in given for name in _expanded(item)]
    if not names:
        raise ArgumentError("`measures` must name at least one measure; got none.")
    measures = {str(name): _measure(name, version) for name in names}
    return list(measures.values())


def _expanded(asked: str | Metric) -> Sequence[str | Metric]:
    """Return the single measures that the name of a set or a family stands for."""
    if not isinstance(asked, str):
        return [asked]
    if asked in _SETS:
        return [name for member in _SETS[asked] for name in _expanded(member)]
    if asked in _PARAMETERS:
        return [f"{asked}_{parameter}" for parameter in _PARAMETERS[asked]]
    if listed := _WITH_PARAMETERS.fullmatch(asked):
        return [_printed(listed[1], parameter) for parameter in listed[2].split(",")]
    return [asked]


def _printed(family: str, parameter: str) -> str:
    """Return the name of a measure as trec_eval prints it; what is no rank has two decimals."""
    is_level = re.fullmatch(r"[0-9]+\.?[0-9]?", parameter) and family in _WITH_DECIMALS
    return f"{family}_{float(parameter):.2f}" if is_level else f"{family}_{parameter}"


def _measure(name: str | Metric, version: Version) -> Measure:
    """Return the measure of a single name."""
    text = str(name)
    if text == "num_q":
        return Measure(text, (), pl.lit(1.0), _sum, of_queries=False)
    if text in {"gm_map", "gm_bpref"}:
        metric = parse_metric(text.removeprefix("gm_"))
        value = pl.col(str(metric))
        return Measure(text, (metric,), value, _geometric_mean, of_queries=False)
    if text == "num_nonrel_judged_ret":
        metrics = tuple(CATALOGUE[part] for part in ("NumRet", "Judged", "NumRelRet"))
        return Measure(text, metrics, (_RETRIEVED * pl.col("Judged")).round() - _HITS, _sum)
    if text in _OF_COUNTS:
        metrics = tuple(CATALOGUE[part] for part in ("NumRet", "NumRel", "NumRelRet"))
        return Measure(text, metrics, _OF_COUNTS[text].fill_nan(0.0))
    if unjudged := _UNJUDGED.fullmatch(text):
        return _unjudged(text, int(unjudged[1]))
    # What is neither a name nor a metric is refused here.
    metric = _of_trec_eval_alone(text) or parse_metric(name)
    if version == 10 and _OF_A_VERSION.fullmatch(text):  # noqa: PLR2004 - a name, not a quantity
        metric = metric(levels="v10")
    is_count = metric.name in {"NumRet", "NumRel", "NumRelRet"}
    return Measure(text, (metric,), pl.col(str(metric)), _sum if is_count else _mean)


def _of_trec_eval_alone(name: str) -> Metric | None:
    """Return the metric of a name that the catalogue does not have, if there is one."""
    if multiple := _MULTIPLE.fullmatch(name):
        return replace(_rprec_mult, k=float(multiple[1]))
    return _binary_gain if name == "binG" else None


def _unjudged(name: str, k: int) -> Measure:
    """Return the share of unjudged documents among k, where missing ones count as judged."""
    judged = CATALOGUE["Judged"] @ k
    n_listed = _RETRIEVED.clip(upper_bound=k)
    n_judged = (pl.col(str(judged)) * n_listed).round()
    return Measure(name, (judged, CATALOGUE["NumRet"]), (n_listed - n_judged) / k)


def printed_place(measure: Measure) -> tuple[int, float]:
    """Return what sorts measures as trec_eval prints them: by family, and by parameter in it.

    Measures that it does not have come last, in the order in which they were asked for.
    """
    name = measure.name
    family, _, parameter = name.rpartition("_")
    if family in _PARAMETERS:
        return _ALL.index(family), float(parameter)
    return (_ALL.index(name) if name in _ALL else len(_ALL)), 0.0


def check_version(version: object) -> None:
    """Require a version of trec_eval that is known."""
    if isinstance(version, bool) or version not in (9, 10):
        raise ArgumentError(f"`version` must be 9 or 10; got {checks.brief(version)}.")
