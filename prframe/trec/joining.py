"""Join a run with its judgments."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypedDict, Unpack, get_args, overload

import numpy as np
import polars as pl

from prframe import checks
from prframe._engine import frames
from prframe._engine.frames import Source
from prframe.errors import PrframeError
from prframe.trec import doubts, matching, roles, sources
from prframe.trec.grouping import Integers
from prframe.trec.roles import Roles
from prframe.trec.sources import AnyRuns, Qrels, Runs
from prframe.typing import Columns, FrameT, Schema

Unjudged = Literal["negative", "drop"]
Queries = Literal["all", "qrels", "run", "both", "means"]
Duplicates = Literal["raise", "best"]


class _Options(TypedDict, total=False):
    unjudged: Unjudged
    complete: bool
    queries: Queries
    duplicates: Duplicates | Literal["keep"]
    exclude_self: bool
    system: Columns | None


@overload
def join(
    run: FrameT,
    qrels: Qrels,
    **options: Unpack[_Options],
) -> FrameT: ...


@overload
def join(
    run: Runs,
    qrels: Qrels,
    **options: Unpack[_Options],
) -> pl.DataFrame: ...


def join(  # noqa: PLR0913 - options, by keyword
    run: AnyRuns,
    qrels: Qrels,
    *,
    unjudged: Unjudged = "negative",
    complete: bool = True,
    queries: Queries = "all",
    duplicates: Duplicates | Literal["keep"] = "raise",
    exclude_self: bool = False,
    system: Columns | None = None,
) -> Any:
    """Label the documents of a run, and list the judged ones that it lacks.

    Parameters
    ----------
    run : frame, path, list of these, or dict
        A frame (polars DataFrame or LazyFrame, pandas DataFrame, pyarrow Table, any frame with
        the Arrow PyCapsule interface, dict of columns) has one row per retrieved document.
        Columns are recognised by their names, where the first
        name of a list that the frame has counts: the query by ``query_id``, ``qid``, ``q_id``,
        ``query`` or ``topic``; the document by ``doc_id``, ``docno``, ``docid`` or
        ``document_id``; the score by ``score``. A score of -inf means not retrieved.

        Paths, and patterns such as ``"runs/*.run"``, are read with `read_run`; the system is the
        tag. Files that share a tag and a query are systems of their own, named after the files:
        ``bm25`` for ``runs/bm25.run.gz``.

        A dict ``{query: {document: score}}`` is one run. A dict of runs in any form has the names
        of the systems as its keys.
    qrels : frame of the same kind or another, path, list of paths, or dict
        One row per judged pair: query and document as in the run; the label by ``label``,
        ``relevance``, ``rel`` or ``score``. A label above 0 is relevant; a label below 0 means
        that the document was pooled but not judged. Files are read with `read_qrels`; a dict is
        ``{query: {document: label}}``, with labels that are integers.
    unjudged : {"negative", "drop"}
        Whether documents of the run without judgment get the label 0 (those with a negative label
        keep it) or are left out (condensed lists). A ranking without judged documents keeps its
        first one, with a score of -inf, so that its query counts, as with trec_eval -J.
    complete : bool
        Whether documents of the qrels that a system did not retrieve are listed with a score of
        -inf. Without them recall, AP, nDCG and others count only the retrieved documents.
    queries : {"all", "qrels", "run", "both", "means"}
        The queries of each system: all of the run or the qrels; those of the qrels (as
        ``trec_eval -c``); those of the system's run; those of both (as trec_eval without ``-c``);
        those over which the means of several systems are taken, which are judged and in the run of
        any system, with a warning that names the systems which lack some.
    duplicates : {"raise", "best", "keep"}
        A document that stands twice in a ranking is an error, or counts with its highest score, or
        stays twice, for `prframe.check` to report; other verbs refuse it with ``item="doc_id"``.
    exclude_self : bool
        Whether to leave out documents whose id is that of the query, from run and qrels.
    system : str or list of str, optional
        Columns that tell the rankings of a query apart. By default ``system``, ``run``, ``tag`` or
        ``run_id``, if the frame has such a column and it holds text; an empty list means none.

    Returns
    -------
    frame of the run's kind, of polars if the run is no frame
        The system columns as they are, then ``query_id`` and ``doc_id`` (as in the run; String
        where they are categories), ``score`` (Float64), ``label`` (Int64, or Float64 if the
        label of the qrels is of a float type; 0 without judgment), ``judged`` (Boolean: in the
        qrels, with a label of at least 0).

        The rows of a ranking stand together: first the retrieved documents in the order of the
        run, then the others in the order of the qrels. Rankings come in the order in which they
        first appear in the run; after them, system by system, those of queries that are only in
        the qrels.

    Raises
    ------
    MissingColumnError
        A frame without a column for the query, the document, the score or the label.
    PrframeError
        An unknown option; qrels in place of the run; runs that share a name; ids of different
        types; ids, scores or labels that are null or NaN;
        a document that is judged twice for a query, or retrieved twice.

    Notes
    -----
    All other columns are left out; a label column of the run does not count.

    A query without judgments has no positives, so most metrics are undefined for it: they are
    null, with a warning. A query of the qrels that a system's run lacks has only documents that
    were not retrieved, so its metrics are 0. With ``complete=False`` it has no rows.

    The rows are the documents that were retrieved or judged, and no others of the collection.
    Tests against random ranking, such as `prframe.ap_test`, need the number of its negatives in
    `n_neg`; without it they rank the rows alone at random, and warn where some are not judged.

    Scores become 64-bit floats; integers beyond 2^53, which these cannot tell apart, are refused.

    If the run is lazy, columns and options are checked at once and the rest is done when the
    result is collected, even if the qrels are lazy too. The run is held in memory as a whole.

    Examples
    --------
    >>> import polars as pl
    >>> from prframe.trec import join
    >>> run = pl.DataFrame(
    ...     {"qid": ["1", "1"], "docno": ["d3", "d7"], "score": [2.0, 1.0]}
    ... )
    >>> qrels = pl.DataFrame({"qid": ["1", "1"], "docno": ["d5", "d7"], "label": [2, 1]})
    >>> join(run, qrels)
    shape: (3, 5)
    ┌──────────┬────────┬───────┬───────┬────────┐
    │ query_id ┆ doc_id ┆ score ┆ label ┆ judged │
    │ ---      ┆ ---    ┆ ---   ┆ ---   ┆ ---    │
    │ str      ┆ str    ┆ f64   ┆ i64   ┆ bool   │
    ╞══════════╪════════╪═══════╪═══════╪════════╡
    │ 1        ┆ d3     ┆ 2.0   ┆ 0     ┆ false  │
    │ 1        ┆ d7     ┆ 1.0   ┆ 1     ┆ true   │
    │ 1        ┆ d5     ┆ -inf  ┆ 2     ┆ true   │
    └──────────┴────────┴───────┴───────┴────────┘
    """
    options = Options(unjudged, complete, queries, duplicates, exclude_self)
    joining = Joining.of(run, qrels, system, options)
    return joining.through(
        lambda task: task.result,
        lambda task, source: labelled(joining.rankings(task, source), options),
    )


@dataclass(frozen=True)
class Options:
    """The options of one call."""

    unjudged: str = "negative"
    complete: bool = True
    queries: str = "all"
    duplicates: str = "raise"
    exclude_self: bool = False

    def __post_init__(self) -> None:
        """Check the options."""
        checks.one_of("unjudged", self.unjudged, get_args(Unjudged))
        checks.flag("complete", self.complete)
        checks.one_of("queries", self.queries, get_args(Queries))
        checks.one_of("duplicates", self.duplicates, (*get_args(Duplicates), "keep"))
        checks.flag("exclude_self", self.exclude_self)


@dataclass(frozen=True)
class Task:
    """What one call must do: the columns of both frames, the schema of the result, the options."""

    run: Roles
    qrels: Roles
    result: Schema
    options: Options


@dataclass(frozen=True)
class Joining:
    """A run and judgments that are to be joined, with the columns that were recognised.

    Attributes
    ----------
    frame : object
        The run, a frame of any kind.
    run, qrels : Roles
        The columns of both.
    named : bool
        Whether the caller named the columns of systems.
    judged : Source
        The judgments.
    options : Options
        The options of the call.
    without_rows : list of str
        The names of further systems, which have no rows.
    """

    frame: Any
    run: Roles
    qrels: Roles
    named: bool
    judged: Source
    options: Options
    without_rows: list[str]

    @classmethod
    def of(cls, run: AnyRuns, qrels: Qrels, system: Columns | None, options: Options) -> "Joining":
        """Recognise the columns of runs and of judgments, in any form."""
        whole_run, without_rows = sources.run_frame(run)
        frame, names = frames.named(whole_run)
        judgments, qrels_names = frames.named(sources.qrels_frame(qrels))
        roles.refuse_exchanged(names, qrels_names)
        run_roles = roles.of_run(names, system, roles.rank_of(frame, names))
        qrels_roles = roles.of_qrels(qrels_names)
        judged = frames.source(judgments, qrels_roles.columns)
        named = system is not None
        return cls(frame, run_roles, qrels_roles, named, judged, options, without_rows)

    def through(
        self,
        schema: Callable[[Task], Schema],
        compute: Callable[[Task, Source], pl.DataFrame],
    ) -> Any:  # noqa: ANN401 - a frame of the run's kind
        """Carry the run over the border, compute, and carry the result back."""
        return frames.through(
            self.frame,
            self.run.columns,
            lambda source: schema(self._task(source)),
            lambda source: compute(self._task(source), source),
            renamed={"query_id": self.run.query, "doc_id": self.run.document},
        )

    def rankings(self, task: Task, source: Source) -> matching.Rankings:
        """Return the rankings of the run with their judgments."""
        rows, qrels = _run_rows(task, source.whole()), _qrels_rows(task, self.judged.whole())
        if task.options.exclude_self:
            other = pl.col("query_id").cast(pl.String) != pl.col("doc_id").cast(pl.String)
            rows, qrels = rows.filter(other), qrels.filter(other)
        return matching.rankings(
            rows, qrels, task.options.queries, task.options.duplicates, self.without_rows
        )

    def _task(self, source: Source) -> Task:
        """Check the dtypes of both frames."""
        systems = roles.text_systems(self.run, source.schema, named=self.named)
        run = replace(self.run, systems=tuple(systems))
        return _task(run, self.qrels, source, self.judged, self.options)


def _task(run: Roles, qrels: Roles, source: Source, judged: Source, options: Options) -> Task:
    """Check the dtypes of both frames, and return the task with the schema of the result."""
    run_dtypes, qrels_dtypes = _dtypes(source), _dtypes(judged)
    score, label = run_dtypes[run.value], qrels_dtypes[qrels.value]
    if not (score.is_numeric() or score == pl.Null):
        raise PrframeError(f"the score must be numeric; {run.value!r} of the run is {score}.")
    if not (label.is_numeric() or label in (pl.Boolean, pl.Null)):
        raise PrframeError(f"the label must be numeric; {qrels.value!r} of the qrels is {label}.")
    for name in run.systems:
        if run_dtypes[name].is_nested() or run_dtypes[name].is_object():
            raise PrframeError(
                f"`system` must name columns of plain values; {name!r} is {run_dtypes[name]}."
            )
    is_whole = label.is_integer() or label in (pl.Boolean, pl.Null)
    ids = {
        f"{short}_id": roles.id_dtype(
            role,
            (getattr(run, role), run_dtypes[getattr(run, role)]),
            (getattr(qrels, role), qrels_dtypes[getattr(qrels, role)]),
        )
        for role, short in (("query", "query"), ("document", "doc"))
    }
    result = {name: source.schema[name] for name in run.systems} | ids
    result |= {"score": pl.Float64(), "label": pl.Int64() if is_whole else pl.Float64()}
    return Task(run, qrels, result | {"judged": pl.Boolean()}, options)


def _dtypes(source: Source) -> Mapping[str, pl.DataType]:
    """Return the dtypes of the columns.

    Without rows a text column counts as of unknown type, because empty columns of pandas, of
    whatever type they are meant to be, arrive as text.
    """
    schema = source.schema
    if isinstance(source.data, pl.DataFrame) and not source.data.height:
        return {
            name: pl.Null() if dtype in roles.TEXT else dtype for name, dtype in schema.items()
        }
    return schema


def labelled(rankings: matching.Rankings, options: Options) -> pl.DataFrame:
    """Return the rows of rankings with their labels, and what these lack."""
    out = rankings.retrieved()
    if options.complete:
        out = pl.concat([out, rankings.unretrieved()])
    if options.unjudged == "drop":
        out = condensed(out, out["ranking"].to_numpy())
    if options.complete:
        out = out[np.argsort(out["ranking"].to_numpy(), kind="stable")]
    return out.select(
        *(_of_rows(column, out["ranking"]) for column in rankings.keys.iter_columns()),
        "doc_id",
        "score",
        "label",
        "judged",
    )


def condensed(rows: pl.DataFrame, ranking: Integers) -> pl.DataFrame:
    """Drop documents without judgment; `ranking` numbers the ranking of each row.

    A ranking of nothing else keeps its first document as one that was not retrieved, so that its
    query still counts.
    """
    is_judged = rows["judged"].to_numpy()
    has_judged = np.zeros(int(ranking.max(initial=-1)) + 1, dtype=np.bool_)
    has_judged[ranking[is_judged]] = True
    lost = np.flatnonzero(~has_judged[ranking])
    _, first = np.unique(ranking[lost], return_index=True)
    keep = is_judged.copy()
    keep[lost[first]] = True
    return rows.filter(pl.Series(keep)).with_columns(
        score=pl.when("judged").then("score").otherwise(-np.inf)
    )


def _of_rows(key: pl.Series, ranking: pl.Series) -> pl.Series | pl.Expr:
    """Return the keys of the rows of rankings; a key of all takes memory only once."""
    return pl.lit(key).first() if key.n_unique() == 1 else key[ranking]


def _run_rows(task: Task, frame: pl.DataFrame) -> pl.DataFrame:
    """Check the rows of the run and give its columns their names."""
    run = task.run
    _refuse_null_ids("run", run, frame)
    score = pl.col(run.value).cast(pl.Float64)
    roles.refuse(
        frame,
        score.is_null() | score.is_nan(),
        f"the score {run.value!r} of the run must not contain nulls or NaN",
        "drop these rows, or fill in -inf for documents that were not retrieved",
    )
    roles.refuse_large(frame, run.value, f"the integer score {run.value!r} of the run")
    if run.rank is not None:
        keys = frame.select(*run.systems, pl.col(run.query).alias("query_id"))
        doubts.warn_of_ranks(keys, frame[run.rank], frame[run.value])
    return frame.select(
        *run.systems,
        pl.col(run.query).alias("query_id"),
        pl.col(run.document).cast(task.result["doc_id"]).alias("doc_id"),
        score.alias("score"),
    )


def _qrels_rows(task: Task, frame: pl.DataFrame) -> pl.DataFrame:
    """Check the rows of the qrels and give their columns their names."""
    qrels = task.qrels
    _refuse_null_ids("qrels", qrels, frame)
    label = pl.col(qrels.value).cast(task.result["label"], strict=False)
    finite = label.is_finite() if task.result["label"].is_float() else label.is_not_null()
    roles.refuse(
        frame,
        ~finite.fill_null(value=False),
        f"the label {qrels.value!r} of the qrels must be finite numbers, not null",
        "mend or drop these rows",
    )
    ids = {"query_id": qrels.query, "doc_id": qrels.document}
    rows = frame.select(
        *(pl.col(old).cast(task.result[new], strict=False).alias(new) for new, old in ids.items()),
        label.alias("label"),
    )
    for new, old in ids.items():
        roles.refuse(
            rows,
            pl.col(new).is_null(),
            f"the ids in {old!r} of the qrels must fit into {task.result[new]}, as in the run",
            f"cast the ids of the run to {frame.schema[old]}",
        )
    twice = rows.filter(pl.struct("query_id", "doc_id").is_duplicated())
    if twice.height:
        pairs = twice.select("query_id", "doc_id").unique(maintain_order=True)
        raise PrframeError(
            "the qrels must judge a document once for each query: "
            f"{twice.height - pairs.height} of {rows.height} rows repeat another, "
            f"for instance {roles.examples(pairs.head(checks.SHOWN).rows())}; "
            "drop the rows that do not count."
        )
    return rows


def _refuse_null_ids(name: str, columns: Roles, frame: pl.DataFrame) -> None:
    """Require queries and documents without null ids."""
    for column in (columns.query, columns.document):
        roles.refuse(
            frame,
            pl.col(column).is_null(),
            f"the ids in {column!r} of the {name} must not be null",
            "fill in the ids or drop these rows",
        )
