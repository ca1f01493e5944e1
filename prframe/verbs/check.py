"""The verb that reports everything suspicious in the data."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from typing import Unpack

import polars as pl

from prframe import checks, hints
from prframe._engine.arguments import Arguments
from prframe._engine.frame_kinds import kind_of
from prframe._engine.frames import Source, named, source
from prframe._engine.measure import values_of_groups
from prframe._engine.pieces import Ranking
from prframe._engine.rows import (
    Problem,
    considered,
    in_groups,
    is_missing,
    key_names,
    positive,
    problems,
    rounded,
)
from prframe.metrics import Metric
from prframe.metrics.positions import P
from prframe.metrics.thresholds import AP
from prframe.typing import FrameT, Schema, Shared
from prframe.verbs._evaluation import SHOWN
from prframe.verbs._guards import PooledRankings
from prframe.verbs._predictions import agreement, filled, findings as of_judges
from prframe.verbs._verb import Accepts, TwoStepPlan, run, verb

# Differences below this are due to rounding.
_ROUNDING = 1e-12
_ONE_GROUP = pl.lit(0).alias("all rows")
# The kinds of rows from which findings follow, and how the counts of faults are named there.
_GROUPS, _LABELS, _APART = "groups", "labels", "apart"
_FAULT = "fault: "
_DUPLICATE = "duplicate_item"
_SEVERITIES = ("error", "warning", "info")


_COLUMNS: Schema = {
    "kind": pl.String(),
    "severity": pl.String(),
    "count": pl.Int64(),
    "example": pl.String(),
}


@dataclass(frozen=True)
class _Finding:
    """A row of the report."""

    kind: str
    severity: str
    count: int
    example: str


@verb
def check(
    frame: FrameT,
    score: str = "score",
    label: str = "label",
    *,
    k: int | Sequence[int] = 10,
    predicted: str | None = None,
    **shared: Unpack[Shared],
) -> FrameT:
    """Report everything suspicious in the data, without failing.

    Parameters
    ----------
    frame : {frames}
        One row per item.
    {shared}
    k : int or list of int
        Cut-offs that ties should not straddle.
    predicted : str, optional
        Column of a machine's labels, as in `interval`, with the queries in `by`. The other
        findings use its labels where `label` is null.

    Returns
    -------
    frame of the caller's kind
        One row per finding for the whole frame, worst first: ``kind`` (String), ``severity``
        (String: ``"error"`` = the other verbs refuse such data, ``"warning"``, ``"info"``),
        ``count`` (Int64: rows; groups for the kinds that name groups), ``example`` (String).

        ================== ======== ===========================================================
        kind               severity meaning
        ================== ======== ===========================================================
        missing_label      error    rows whose label is null or NaN
        missing_score      error    rows whose score is null or NaN (info if `missing` allows it)
        pooled_rankings    error    rankings in which a column such as query_id or fold varies
        duplicate_item     error    rows whose item stood in the group before; without `item` a
                                    warning, where a column such as doc_id names documents
        infinite_label     error    rows whose label is infinite
        bad_weight         error    rows whose weight is missing, negative or infinite
        bad_n_pos          error    rows, or groups, whose `n_pos` is no total; same for `n_neg`
        no_positives       warning  groups in which nothing is positive
        nothing_retrieved  warning  groups whose rows all have a score of -inf
        no_negatives       warning  everything is positive in all groups, and there is no `n_neg`
        only_positives     warning  groups in which everything is positive
        tie_at_cutoff      warning  groups whose ranks k and k + 1 share a score
        tie_range          warning  groups whose AP or P@k depends on the order of tied rows; info
                                    if the mean moves by 5e-5 or less
        infinite_score     warning  rows whose score is +inf
        tied_score         info     rows that share their score with another of the group
        not_retrieved      info     rows whose score is -inf
        label_values       info     distinct labels; the example counts the commonest
        half_judged        error    groups with human labels for a part of the rows (`predicted`)
        missing_prediction error    groups in which the machine has not labelled all rows
        few_judged         warning  fewer than 20 queries with human labels
        judged_not_random  warning  queries with human labels whose AP or P@k by the machine differ
                                    from those of the others, by Welch's test at .001
        judge_agreement    info     rows with both labels, and Cohen's kappa
        judge_bias         info     groups with both labels, and by how much AP or P@k differ
        ================== ======== ===========================================================

    Raises
    ------
    PrframeError
        An unknown option or a cut-off below 1.

    Examples
    --------
    >>> import polars as pl, prframe
    >>> frame = pl.DataFrame({"score": [0.9, 0.8, 0.8, None], "label": [1, 1, 0, 0]})
    >>> prframe.check(frame, k=2).select("kind", "severity", "count").rows()[:3]
    [('missing_score', 'error', 1), ('tie_at_cutoff', 'warning', 1), ('tie_range', 'warning', 1)]
    """
    args = replace(Arguments(score, label, **shared), predicted=predicted)
    frame, names = named(frame)
    pooled = PooledRankings.of(frame, names, args)
    document = None if args.item is not None else _document(frame, names, args)
    report = _Report(
        replace(args, item=document or args.item), checks.cutoffs(k), pooled, document
    )
    result: FrameT = run(frame, report, _COLUMNS, keys=(), guarded=False)
    return result


@dataclass(frozen=True)
class _Report(TwoStepPlan):
    """The plan of the report; `document` is a column taken for items that nobody named."""

    cutoffs: list[int]
    pooled: PooledRankings
    document: str | None

    def accepts(self) -> Accepts:
        """Return that every argument is accepted."""
        return Accepts("check")

    def of_groups(self, source: Source) -> pl.DataFrame:
        """Return counts of each group, counts of labels, and how far ties put metrics apart."""
        args = self.args
        both = []
        if args.predicted is not None:
            both = agreement(source, _plain(args), _metrics(self.cutoffs))
            source = filled(source, args)
        faults = problems(replace(args, missing="raise"), source.schema)
        rows = _rows(source, args, faults)
        groups = _groups(rows, args, self.cutoffs, faults)
        source.seen.read = groups.height > 0
        parts = {_GROUPS: groups, _LABELS: rows.group_by("label").len().collect()}
        if args.weight is None:
            sound = _with_sound_totals(args, groups)
            parts[_APART] = _apart_by_ties(source, sound, self.cutoffs, faults)
        named_parts = [part.with_columns(part=pl.lit(name)) for name, part in parts.items()]
        return pl.concat([*named_parts, *both], how="diagonal")

    def of_all(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return a row per finding."""
        pooled = list(_pooled(self.pooled))
        # Several rankings together may well hold a document several times.
        document = None if pooled else self.document
        args = replace(self.args, item=None) if self.document else self.args
        findings = [*pooled, *_findings(rows, args, self.cutoffs, document)]
        if args.predicted is not None:
            judges = of_judges(rows, args, _metrics(self.cutoffs))
            findings += [_Finding(*found) for found in judges]
        findings.sort(key=lambda finding: _SEVERITIES.index(finding.severity))
        told = [astuple(finding) for finding in findings if finding.count]
        return pl.DataFrame(told, schema=dict(_COLUMNS), orient="row")


def _pooled(rankings: PooledRankings) -> Iterator[_Finding]:
    """Yield the columns that tell rankings apart and vary within them."""
    for column, groups in rankings.pooled().items():
        where = _example(groups, groups.columns)
        yield _Finding("pooled_rankings", "error", max(groups.height, 1), f"{column!r}, {where}")


def _document(frame: object, names: Collection[str], args: Arguments) -> str | None:
    """Return the column of a frame that is likely to name documents, if it can be read."""
    named = (name for name in hints.DOCUMENT if name in names and name not in args.columns)
    column = next(named, None)
    if column is None or kind_of(frame).is_elsewhere:
        return None
    try:
        replace(args, item=column).check_types(
            source(frame, {**args.columns, column: "by"}).schema
        )
    except Exception:  # noqa: BLE001 - whatever a column that is not asked for holds
        return None
    return column


def _findings(
    rows: pl.DataFrame, args: Arguments, cutoffs: list[int], document: str | None
) -> Iterator[_Finding]:
    """Yield the findings, worst first; `document` stands for items if the caller has not said."""
    keys = key_names(args)
    groups = rows.filter(part=_GROUPS)
    allowed = [] if args.missing == "raise" else ["missing_score"]
    faults = [name.removeprefix(_FAULT) for name in rows.columns if name.startswith(_FAULT)]
    groups = groups.rename({_FAULT + kind: kind for kind in faults})
    for kind in faults:
        if kind not in allowed:
            yield _rows_where(groups, keys, kind, "error")
    if args.item is not None:
        yield _rows_where(groups, keys, _DUPLICATE, "error")
    for name in args.totals:
        yield _groups_where(groups, keys, f"bad_{name}", "error", pl.col(f"wrong_{name}"))
    if document is not None:
        repeated = _rows_where(groups, keys, _DUPLICATE, "warning")
        yield replace(repeated, example=f"{document!r}, {repeated.example}")
    yield _groups_where(groups, keys, "no_positives", "warning", pl.col("n_pos") == 0)
    nothing = (pl.col("not_retrieved") == pl.col("n")) & (pl.col("n") > 0)
    yield _groups_where(groups, keys, "nothing_retrieved", "warning", nothing)
    if args.n_neg is None and (groups["n_pos"] == groups["n"]).all():
        yield _groups_where(groups, keys, "no_negatives", "warning", pl.lit(value=True))
    full = (pl.col("n_pos") > 0) & (pl.col("n_pos") == pl.col("n"))
    yield _groups_where(groups, keys, "only_positives", "warning", full)
    for cutoff in cutoffs:
        tie = _groups_where(groups, keys, "tie_at_cutoff", "warning", pl.col(f"tie@{cutoff}"))
        yield replace(tie, example=f"k = {cutoff}, {tie.example}")
    if args.weight is None:
        yield from _tie_ranges(rows.filter(part=_APART), keys)
    yield _rows_where(groups, keys, "infinite_score", "warning")
    for kind in [*allowed, "tied_score", "not_retrieved"]:
        yield _rows_where(groups, keys, kind, "info")
    labels = rows.filter(part=_LABELS).group_by("label").agg(pl.col("len").sum())
    labels = labels.sort("len", "label", descending=[True, False])
    most = [f"{value!r}: {count}" for value, count in labels.head(checks.SHOWN).rows()]
    yield _Finding("label_values", "info", labels.height, ", ".join(most))


def _with_sound_totals(args: Arguments, groups: pl.DataFrame) -> Arguments:
    """Return the arguments without totals that contradict the data."""
    for name in args.totals:
        if groups[f"wrong_{name}"].any():
            args = replace(args, n_pos=None) if name == "n_pos" else replace(args, n_neg=None)
    return args


def _apart_by_ties(
    source: Source, args: Arguments, cutoffs: list[int], faults: list[Problem]
) -> pl.DataFrame:
    """Return how far the best and the worst order of ties lie apart, by metric and group."""
    faultless = [~fault.bad for fault in faults if fault.kind != "missing_score"]
    rows = Source(source.lazy().filter(True, *faultless))  # noqa: FBT003
    plain = _plain(args)
    metrics = _metrics(cutoffs)
    worst, best = (
        values_of_groups(Ranking(rows, replace(plain, ties=ties)), metrics)
        for ties in ("worst", "best")
    )
    return pl.concat(
        worst.select(*key_names(args), apart=best[metric] - worst[metric], metric=pl.lit(metric))
        for metric in metrics
    )


def _plain(args: Arguments) -> Arguments:
    """Return the arguments under which metrics are computed of any rows."""
    missing = "drop" if args.missing == "raise" else args.missing
    return replace(args, ties="group", item=None, missing=missing)


def _metrics(cutoffs: list[int]) -> dict[str, Metric]:
    """Return the metrics that are looked at."""
    return {str(metric): metric for metric in (AP, *(P @ cutoff for cutoff in cutoffs))}


def _tie_ranges(rows: pl.DataFrame, keys: list[str]) -> Iterator[_Finding]:
    """Yield how far the best and the worst order of ties lie apart, metric by metric."""
    for apart in rows.partition_by("metric", maintain_order=True):
        metric = apart["metric"][0]
        order = apart.sort("apart", *keys, descending=[True, *[False] * len(keys)])
        bad = order.filter(pl.col("apart") > _ROUNDING)
        if bad.height:
            mean, most = order["apart"].drop_nulls().to_numpy().mean(), bad["apart"][0]
            spread = f"{mean:.3g} apart on average, {most:.3g} at most"
            example = f"{metric}: {spread}, {_example(bad, keys)}"
            severity = "warning" if mean > SHOWN else "info"
            yield _Finding("tie_range", severity, bad.height, example)


def _rows(source: Source, args: Arguments, faults: list[Problem]) -> pl.LazyFrame:
    """Return the columns from which findings are counted."""
    schema = source.schema
    # Rows that `missing` leaves out are reported, but do not count.
    every = replace(args, missing="last")
    rows = source.lazy().filter(True, *considered(every, schema))  # noqa: FBT003
    score, label = pl.col(args.score), pl.col(args.label)
    if not schema[args.score].is_integer():
        score = score.cast(pl.Float64).fill_nan(None)
    if args.float32:
        score = score.cast(pl.Float64).map_batches(_rounded, return_dtype=pl.Float64)
    weight = pl.lit(1) if args.weight is None else pl.col(args.weight)
    listed = ~is_missing(pl.col(args.score), schema[args.score]) | (args.missing != "drop")
    keys = [pl.col(key).alias(name) for key, name in zip(args.keys, key_names(args), strict=True)]
    item = [pl.col(args.item).alias("item")] if args.item is not None else []
    totals = {name: getattr(args, name) for name in args.totals}
    return rows.select(
        *keys,
        *item,
        *(fault.bad.alias(fault.kind) for fault in faults),
        score.alias("score"),
        (weight * listed).alias("weight"),
        label.alias("label"),
        positive(args, schema[args.label]).fill_null(value=False).alias("positive"),
        **{
            f"given_{name}": pl.col(total) if isinstance(total, str) else pl.lit(total)
            for name, total in totals.items()
        },
    )


def _rounded(score: pl.Series) -> pl.Series:
    """Round to 32-bit floats, nulls left as they are."""
    return pl.select(pl.when(score.is_not_null()).then(pl.Series(rounded(score)))).to_series()


def _groups(
    rows: pl.LazyFrame, args: Arguments, cutoffs: list[int], faults: list[Problem]
) -> pl.DataFrame:
    """Return the counts of each group."""
    score, is_positive = pl.col("score"), pl.col("positive")
    listed = score.filter(score > -float("inf")).sort(descending=True)
    counts = {
        "n": pl.len(),
        "n_pos": is_positive.sum(),
        "infinite_score": (score == float("inf")).sum(),
        "not_retrieved": (score == -float("inf")).sum(),
        "tied_score": listed.len() - listed.is_unique().sum(),
    }
    counts |= {_FAULT + fault.kind: pl.col(fault.kind).sum() for fault in faults}
    if args.item is not None:
        counts[_DUPLICATE] = pl.len() - pl.col("item").n_unique()
    for name, mask in (("n_pos", is_positive), ("n_neg", ~is_positive)):
        given, present = pl.col(f"given_{name}"), pl.col("weight").filter(mask).sum()
        if name in args.totals:
            counts[f"wrong_{name}"] = (given.n_unique() > 1) | (given.first() < present)
    for k in cutoffs:
        pair = listed.slice(k - 1, 2)
        counts[f"tie@{k}"] = (pair.len() == 2) & (pair.first() == pair.last())  # noqa: PLR2004
    keys = key_names(args)
    groups = rows.group_by(keys or _ONE_GROUP).agg(**counts)
    return groups.filter(pl.col("n") > 0).sort(keys or "n").collect()


def _rows_where(groups: pl.DataFrame, keys: list[str], kind: str, severity: str) -> _Finding:
    """Return a finding that counts rows."""
    found = _groups_where(groups, keys, kind, severity, pl.col(kind) > 0)
    return replace(found, count=int(groups[kind].sum()))


def _groups_where(
    groups: pl.DataFrame, keys: list[str], kind: str, severity: str, condition: pl.Expr
) -> _Finding:
    """Return a finding that counts groups."""
    bad = groups.filter(condition)
    return _Finding(kind, severity, bad.height, _example(bad, keys))


def _example(bad: pl.DataFrame, keys: list[str]) -> str:
    """Name the first groups."""
    return in_groups(bad.select(keys).rows()).removeprefix(", ") or "the whole frame"
