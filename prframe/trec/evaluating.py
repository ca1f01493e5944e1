"""The numbers of trec_eval in one call."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict, Unpack, get_args, overload

import numpy as np
import polars as pl

from prframe import checks, hints
from prframe._engine import frames
from prframe._engine.arguments import Arguments
from prframe._engine.rows import key_names
from prframe.errors import ArgumentError, PrframeError
from prframe.metrics import Metric
from prframe.metrics.sets import NumRet
from prframe.trec.joining import (
    Duplicates,
    Joining,
    Options,
    Queries,
    condensed,
    labelled,
)
from prframe.trec.matching import Rankings, group
from prframe.trec.measures import Measure, Version, check_version, measures_of, printed_place
from prframe.trec.sources import AnyRuns, Qrels, Runs
from prframe.typing import Columns, FrameT, Schema
from prframe.verbs._evaluation import Evaluation

# The column of the numbers of rankings.
_NUMBER = "number of the ranking"
_ALL, _RUNID = "all", "runid"
# These names stand for several measures, and the name of the run is among them.
_WITH_RUNID = {"official", "set", "all_trec", _RUNID}


class RuleOptions(TypedDict, total=False):
    """Options of trec_eval, by their names in `evaluate`."""

    relevance_level: int
    judged_only: bool
    depth: int | None
    version: Version


class _Options(RuleOptions, total=False):
    by_query: bool
    complete_queries: bool | None
    duplicates: Duplicates
    exclude_self: bool
    system: Columns | None


@overload
def evaluate(
    runs: FrameT,
    qrels: Qrels,
    measures: str | Metric | Sequence[str | Metric] = ...,
    **options: Unpack[_Options],
) -> FrameT: ...


@overload
def evaluate(
    runs: Runs,
    qrels: Qrels,
    measures: str | Metric | Sequence[str | Metric] = ...,
    **options: Unpack[_Options],
) -> pl.DataFrame: ...


@hints.checked
def evaluate(  # noqa: PLR0913 - options, by keyword
    runs: AnyRuns,
    qrels: Qrels,
    measures: str | Metric | Sequence[str | Metric] = "official",
    *,
    by_query: bool = False,
    complete_queries: bool | None = None,
    relevance_level: int = 1,
    judged_only: bool = False,
    depth: int | None = None,
    version: Version = 9,
    duplicates: Duplicates = "raise",
    exclude_self: bool = False,
    system: Columns | None = None,
) -> Any:
    """Evaluate runs as trec_eval does.

    Parameters
    ----------
    runs : frame, path, list of these, or dict
        One run or several, as `join` takes them.
    qrels : frame, path, list of paths, or dict
        Judgments, as `join` takes them.
    measures : str, Metric, or list of these
        trec_eval's names of single measures (``"map"``, ``"P_10"``), of measures with parameters
        (``"P.5,10"``; ``"P"`` has trec_eval's defaults), or of sets (``"official"``, ``"set"``,
        ``"all_trec"``); or names of `prframe.evaluate`, such as ``"nDCG@10"``. A name such as
        ``recall`` has trec_eval's meaning.
    by_query : bool
        Return a row for each query (``-q``) instead of the summary.
    complete_queries : bool, optional
        True: all queries of the qrels count, with 0 if a run lacks one (``-c``). False: the
        queries that are both in the qrels and the run, as in trec_eval. Default: as False for one
        run; with several, a judged query that any run has counts 0 for a run without it, with a
        warning.
    relevance_level : int
        The least label that is relevant (``-l``).
    judged_only : bool
        Remove documents without judgment from the rankings (``-J``).
    depth : int, optional
        The number of documents of each ranking that count (``-M``). Default: all.
    version : {9, 10}
        The version of trec_eval. Version 9, which pytrec_eval contains, compares scores as 32-bit
        floats, version 10 as 64-bit floats. They round levels of recall differently.
    duplicates, exclude_self, system
        As in `join`, without ``"keep"``.

    Returns
    -------
    frame of the runs' kind, of polars if these are no frame
        The columns of systems, if there are any; with `by_query` ``query_id``; then a Float64
        column for each measure, named as asked for. Rows have the order of the runs; with
        `complete_queries` the queries that a run lacks come last.

    Raises
    ------
    PrframeError
        An unknown option or measure, or whatever `join` refuses.
    OSError
        A file that cannot be opened.

    Warns
    -----
    UnmatchedIdsWarning, MissingQueriesWarning
        Runs that have no query, or no document, in common with the qrels, or lack judged queries.
    RankOrderWarning
        Ranks that contradict the scores.
    NormalizationWarning
        Ids in several forms of Unicode, which count as different.

    Notes
    -----
    Tied documents are sorted by id as text, descending. A measure that is undefined for a query,
    for example without relevant documents, is 0 and enters the mean.

    The summary is the mean over queries; for counts the sum; for ``gm_map`` and ``gm_bpref`` the
    geometric mean of values of at least 1e-5. These two and ``num_q`` have no values for single
    queries and are left out with `by_query`, as in trec_eval.

    Unlike in ``trec_eval -q -c``, the queries that a run lacks have a row, a score of -inf means
    not retrieved, and ``num_rel`` counts labels of at least `relevance_level`.

    References
    ----------
    NIST's program trec_eval, versions 9 and 10.

    Examples
    --------
    >>> from prframe import trec
    >>> run = {"301": {"d1": 9.5, "d2": 7.0}, "302": {"d1": 5.0, "d3": 5.0}}
    >>> qrels = {"301": {"d2": 1, "d7": 1}, "302": {"d3": 2}}
    >>> trec.evaluate(run, qrels, ["num_q", "map", "P_5"]).rows()
    [(2.0, 0.625, 0.2)]
    """
    check_version(version)
    checks.one_of("duplicates", duplicates, get_args(Duplicates))
    flags = {"by_query": by_query, "judged_only": judged_only}
    flags |= {} if complete_queries is None else {"complete_queries": complete_queries}
    for name, value in flags.items():
        checks.flag(name, value)
    asked = measures_of(measures, version)
    wanted = [measure for measure in asked if measure.of_queries or not by_query]
    if not wanted:
        raise ArgumentError(
            f"{checks.listed(measure.name for measure in asked)} have no values of single "
            "queries; leave out by_query, or name other measures."
        )
    rules = Rules(wanted, relevance_level, judged_only, depth, version)
    of_means: Queries = "means" if complete_queries is None and not by_query else "both"
    options = Options(
        queries="qrels" if complete_queries else of_means,
        duplicates=duplicates,
        exclude_self=exclude_self,
    )

    def columns(schema: Schema, systems: Sequence[str]) -> Schema:
        keys = [*systems, "query_id"] if by_query else systems
        values = {measure.name: pl.Float64() for measure in wanted}
        return {key: schema[key] for key in keys} | values

    def result(rankings: Rankings) -> pl.DataFrame:
        values, systems = rules.values(rankings, options), rankings.keys.columns[:-1]
        if by_query:
            return values
        if not systems:
            return values.select(rules.summaries())
        return values.group_by(systems, maintain_order=True).agg(rules.summaries())

    return Joining.of(runs, qrels, system, options).through(columns, result)


@dataclass(frozen=True)
class Rules:
    """The measures of one call, with the options of trec_eval."""

    measures: list[Measure]
    relevance_level: int = 1
    judged_only: bool = False
    depth: int | None = None
    version: Version = 9

    def __post_init__(self) -> None:
        """Check the options."""
        checks.whole_number("relevance_level", self.relevance_level, 1)
        if self.depth is not None:
            checks.whole_number("depth", self.depth, 1)

    def summaries(self) -> list[pl.Expr]:
        """Return the summary of each measure over the queries."""
        return [measure.summary(pl.col(measure.name)) for measure in self.measures]

    def values(self, rankings: Rankings, options: Options) -> pl.DataFrame:
        """Return the values of the measures for each query of each system."""
        needed = {str(metric): metric for measure in self.measures for metric in measure.metrics}
        wanted = needed or {"NumRet": NumRet}
        args = Arguments(
            by=[_NUMBER],
            item="doc_id",
            ties="trec",
            float32=self.version == 9,  # noqa: PLR2004 - a name, not a quantity
            positive=self.relevance_level,
            judged="judged" if any(metric.judged for metric in wanted.values()) else None,
        )
        numbers = pl.DataFrame({_NUMBER: np.arange(rankings.keys.height, dtype=np.int32)})
        joined = limited(
            labelled(replace(rankings, keys=numbers), options),
            [_NUMBER],
            self.depth,
            judged_only=self.judged_only,
            float32=args.float32,
        )
        # Documents that are not judged are negatives, so that no guard asks where these are.
        source = frames.Source(joined, distinct=True)
        values = Evaluation(args, wanted, undefined=0.0).measured(source)
        (number,) = key_names(args)
        measures = [measure.value.alias(measure.name) for measure in self.measures]
        of_rankings = values.select(number, *measures)
        keys = rankings.keys[of_rankings[number]]
        return pl.concat([keys, of_rankings.drop(number)], how="horizontal")


def limited(
    joined: pl.DataFrame,
    by: Sequence[str],
    depth: int | None,
    *,
    judged_only: bool,
    float32: bool = False,
) -> pl.DataFrame:
    """Limit rankings to a depth, and then to judged documents, as trec_eval does in this order."""
    if depth is not None:
        joined = _cut(joined, by, checks.whole_number("depth", depth, 1), float32=float32)
    return condensed(joined, group(joined.select(by)).of_row) if judged_only else joined


def _cut(joined: pl.DataFrame, by: Sequence[str], depth: int, *, float32: bool) -> pl.DataFrame:
    """Take all documents beyond a depth as not retrieved."""
    score = pl.col("score").cast(pl.Float32) if float32 else pl.col("score")
    place = (
        joined.with_row_index("row")
        .sort(score, pl.col("doc_id").cast(pl.String), descending=True)
        .with_columns(pl.int_range(pl.len()).over(by).alias("place"))
        .sort("row")["place"]
    )
    return joined.with_columns(score=pl.when(place < depth).then("score").otherwise(-float("inf")))


def result_lines(  # noqa: PLR0913 - the options of trec_eval, by keyword
    run: pl.DataFrame,
    qrels: pl.DataFrame,
    measures: Sequence[str | Metric],
    *,
    name: str,
    is_one_of_several: bool = False,
    joining: Mapping[str, Any] | None = None,
    by_query: bool = False,
    summary: bool = True,
    complete_queries: bool = False,
    **options: Unpack[RuleOptions],
) -> Iterator[str]:
    """Yield the lines that trec_eval prints of one run, in its order, named if of several runs.

    A query that the run lacks has no line, even if it counts.
    """
    named = [measure for measure in measures if measure != _RUNID]
    version = options.get("version", 9)
    wanted = sorted(measures_of(named, version), key=printed_place) if named else []
    rules = Rules(wanted, **options)
    queries: Queries = "qrels" if complete_queries else "both"
    of_join = Options(queries=queries, **(joining or {}))
    values = Joining.of(run, qrels, [], of_join).through(
        lambda schema, _: (
            {"query_id": schema["query_id"]} | {m.name: pl.Float64() for m in wanted}
        ),
        lambda rankings: rules.values(rankings, of_join),
    )
    if not values.height:
        raise PrframeError(
            "the run and the qrels have no query in common; take other qrels, or mend ids."
        )
    runid = f"{_RUNID:<22}\t{_ALL}\t{name}\n"
    if is_one_of_several:
        yield runid
    if by_query:
        present = values.filter(pl.col("query_id").is_in(run["query_id"].unique().implode()))
        of_queries = [measure for measure in wanted if measure.of_queries]
        for row in present.sort("query_id").iter_rows(named=True):
            yield from _lines(row["query_id"], of_queries, row)
    if summary:
        if not is_one_of_several and any(str(measure) in _WITH_RUNID for measure in measures):
            yield runid
        yield from _lines(_ALL, wanted, values.select(rules.summaries()).row(0, named=True))


def _lines(query: str, measures: Iterable[Measure], values: dict[str, float]) -> Iterator[str]:
    """Yield a line for each measure; counts are printed as whole numbers."""
    for measure in measures:
        value = values[measure.name]
        text = f"{value:.0f}" if measure.name.startswith("num_") else f"{value:6.4f}"
        yield f"{measure.name:<22}\t{query}\t{text}\n"
