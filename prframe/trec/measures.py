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

_LEAST = 1e-5
_DEPTHS = ("5", "10", "15", "20", "30", "100", "200", "500", "1000")
_LEVELS = tuple(f"{level / 10:.2f}" for level in range(11))
_MULTIPLES = tuple(f"{fifth / 5:.2f}" for fifth in range(1, 11))
# The parameters of measures that have some, unless the caller names others.
_PARAMETERS = {
    **dict.fromkeys(("P", "recall", "map_cut", "ndcg_cut", "relative_P"), _DEPTHS),
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
_SETS = {"official": _OFFICIAL, "set": (*_COUNTS, "utility", *_OF_SETS), "all_trec": _ALL}
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


_rprec_mult = Metric(
    "Rprec_mult",
    "The precision at a multiple of n_pos.",
    "trec_eval",
    (Term(lambda q, m: q.weight * q.share_in_top(_first_documents(q, m))),),
    lambda q, m, terms: terms[0] / _first_documents(q, m),
    cutoff="recall",
    cells=_OF_TREC_EVAL_ALONE,
)
_binary_gain = Metric(
    "binG",
    "The mean of 1 / log2(2 + negatives above) over positives, 0 for those not retrieved.",
    "trec_eval",
    (Term(lambda q, _: q.weight / (q.fp_start + 2).log(2)),),
    lambda q, _, terms: terms[0] / q.n_pos,
    ties=frozenset({"trec"}),
    cells=_OF_TREC_EVAL_ALONE,
)


@dataclass(frozen=True)
class Measure:
    """A measure: its value for a query, given columns of metrics, and its summary."""

    name: str
    metrics: tuple[Metric, ...]
    value: pl.Expr
    summary: Callable[[pl.Expr], pl.Expr] = pl.Expr.mean
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
        return Measure(text, (), pl.lit(1.0), pl.Expr.sum, of_queries=False)
    if text in {"gm_map", "gm_bpref"}:
        metric = parse_metric(text.removeprefix("gm_"))
        value = pl.col(str(metric))
        # One query without success does not make the mean 0.
        return Measure(
            text, (metric,), value, lambda ap: ap.clip(_LEAST).log().mean().exp(), of_queries=False
        )
    if text == "num_nonrel_judged_ret":
        metrics = tuple(CATALOGUE[part] for part in ("NumRet", "Judged", "NumRelRet"))
        return Measure(text, metrics, (_RETRIEVED * pl.col("Judged")).round() - _HITS, pl.Expr.sum)
    if text in _OF_COUNTS:
        metrics = tuple(CATALOGUE[part] for part in ("NumRet", "NumRel", "NumRelRet"))
        return Measure(text, metrics, _OF_COUNTS[text].fill_nan(0.0))
    if unjudged := _UNJUDGED.fullmatch(text):
        # The share of unjudged documents among k, where missing ones count as judged.
        k = int(unjudged[1])
        judged, n_listed = CATALOGUE["Judged"] @ k, _RETRIEVED.clip(upper_bound=k)
        n_judged = (pl.col(str(judged)) * n_listed).round()
        return Measure(text, (judged, CATALOGUE["NumRet"]), (n_listed - n_judged) / k)
    if multiple := _MULTIPLE.fullmatch(text):
        metric = replace(_rprec_mult, k=float(multiple[1]))
    else:
        # What is neither a name nor a metric is refused here.
        metric = _binary_gain if text == "binG" else parse_metric(name)
    if version == 10 and _OF_A_VERSION.fullmatch(text):  # noqa: PLR2004 - a name, not a quantity
        metric = metric(levels="v10")
    is_count = metric.name in {"NumRet", "NumRel", "NumRelRet"}
    return Measure(text, (metric,), pl.col(str(metric)), pl.Expr.sum if is_count else pl.Expr.mean)


def printed_place(measure: Measure) -> tuple[int, float]:
    """Return what sorts measures as trec_eval prints them; those that it lacks come last."""
    name = measure.name
    family, _, parameter = name.rpartition("_")
    if family in _PARAMETERS:
        return _ALL.index(family), float(parameter)
    return (_ALL.index(name) if name in _ALL else len(_ALL)), 0.0


def check_version(version: object) -> None:
    """Require a version of trec_eval that is known."""
    if isinstance(version, bool) or version not in (9, 10):
        raise ArgumentError(f"`version` must be 9 or 10; got {checks.brief(version)}.")
