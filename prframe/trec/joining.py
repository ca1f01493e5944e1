"""Join a run with its judgments."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypedDict, Unpack, get_args, overload

import numpy as np
import polars as pl

from prframe import checks, hints
from prframe._engine import frames
from prframe._engine.frames import Source
from prframe._engine.rows import in_groups
from prframe._preparation.results import whole
from prframe.errors import PrframeError
from prframe.trec import matching, roles, sources
from prframe.trec.matching import Integers, Rankings
from prframe.trec.roles import Roles
from prframe.trec.sources import AnyRuns, Qrels, Runs
from prframe.typing import Columns, FrameT, Schema

Unjudged = Literal["negative", "drop"]
Queries = Literal["all", "qrels", "run", "both", "means"]
Duplicates = Literal["raise", "best"]
_PAIR = ["query_id", "doc_id"]


class _Options(TypedDict, total=False):
    unjudged: Unjudged
    complete: bool
    queries: Queries
    duplicates: Duplicates | Literal["keep"]
    exclude_self: bool
    system: Columns | None


@overload
def join(run: FrameT, qrels: Qrels, **options: Unpack[_Options]) -> FrameT: ...


@overload
def join(run: Runs, qrels: Qrels, **options: Unpack[_Options]) -> pl.DataFrame: ...


@hints.checked
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
        A frame of any kind has one row per retrieved document. Its columns are recognised by the
        first name of each list: ``query_id``, ``qid``, ``q_id``, ``query`` or ``topic``;
        ``doc_id``, ``docno``, ``docid`` or ``document_id``; ``score`` (-inf: not retrieved).
        Paths, and patterns such as ``"runs/*.run"``, are read with `read_run`; the system is the
        tag, or the name of the file (``bm25`` for ``runs/bm25.run.gz``) where files share a tag
        and a query. A dict ``{query: {document: score}}`` is one run; a dict of runs in any form
        has the names of the systems as its keys.
    qrels : frame of the same kind or another, path, list of paths, or dict
        One row per judged pair: query and document as in the run; the label in ``label``,
        ``relevance``, ``rel`` or ``score``: relevant above 0, pooled but not judged below 0.
        Files are read with `read_qrels`; a dict is ``{query: {document: label}}``.
    unjudged : {"negative", "drop"}
        Unjudged documents get the label 0 (those with a negative label keep it), or are removed
        (condensed lists). A ranking left empty keeps one row with a score of -inf, so that its
        query counts, as with trec_eval -J.
    complete : bool
        Whether to list documents of the qrels that a system did not retrieve, with a score of
        -inf. Without them, recall, AP and others count only retrieved documents.
    queries : {"all", "qrels", "run", "both", "means"}
        The queries of each system. "all": in the run or the qrels. "qrels": in the qrels
        (``trec_eval -c``). "run": in its run. "both": in both (trec_eval without ``-c``). "means":
        judged and in the run of any system; a warning names systems that lack some.
    duplicates : {"raise", "best", "keep"}
        A document listed twice in a ranking is an error, counts with its highest score, or stays
        twice for `prframe.check` to report; other verbs refuse it with ``item="doc_id"``.
    exclude_self : bool
        Whether to leave out documents whose id is that of the query, from run and qrels.
    system : str or list of str, optional
        Columns that name the systems. By default ``system``, ``run``, ``tag`` or ``run_id``, if
        the frame has such a column of text; an empty list means none.

    Returns
    -------
    frame of the run's kind, of polars if the run is no frame
        The system columns, then ``query_id`` and ``doc_id`` (as in the run; String for
        categories), ``score`` (Float64), ``label`` (Int64, or Float64 if that of the qrels is a
        float; 0 without judgment), ``judged`` (Boolean: in the qrels, with a label of at least
        0). Other columns are left out.

        The rows of a ranking are adjacent: first the retrieved documents in the order of the run,
        then the others in the order of the qrels. Rankings have the order of the run; after them,
        system by system, come those of queries that are only in the qrels.

    Raises
    ------
    MissingColumnError
        A frame without a column for the query, the document, the score or the label.
    PrframeError
        An unknown option; qrels in place of the run; runs that share a name; ids of different
        types; ids, scores or labels that are null or NaN; integer scores beyond 2^53; a document
        that is judged twice for a query, or retrieved twice.

    Notes
    -----
    For a query without judgments most metrics are null, with a warning, because it has no
    positives. For a query that a run lacks they are 0; with ``complete=False`` it has no rows.

    Tests against random ranking, such as `prframe.ap_test`, need the number of negatives in the
    collection in `n_neg`, as the rows are only what was retrieved or judged.

    If the run is lazy, columns and options are checked at once, and the rest is done when the
    result is collected. The run is held in memory as a whole.

    Examples
    --------
    >>> from prframe.trec import join
    >>> run = {"1": {"d3": 2.0, "d7": 1.0}}
    >>> qrels = {"1": {"d5": 2, "d7": 1}}
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
    return Joining.of(run, qrels, system, options).through(
        lambda result, _: result, lambda rankings: labelled(rankings, options)
    )


def join_both(
    run: AnyRuns,
    qrels: Qrels,
    predicted: Qrels,
    **options: Any,  # noqa: ANN401 - those of `join`
) -> pl.DataFrame:
    """Join a run with labels of a machine (``predicted``) and of humans (``label``, or null)."""
    human, machine = _judgments(qrels), _judgments(predicted)
    alone = human.join(machine, on="query_id", how="anti")["query_id"].unique().sort()
    if alone.len():
        raise PrframeError(
            "the machine must have judged every query of the qrels: it has no label for "
            f"{alone.len()}{in_groups([(query,) for query in alone])}; add its labels."
        )
    unlisted = human.join(machine, on=_PAIR, how="anti").with_columns(label=pl.lit(0))
    listed = pl.concat([machine, unlisted], how="vertical_relaxed")
    joined, _ = whole(join(run, listed, **options), "runs")
    rows = joined.rename({"label": "predicted"}).join(
        human, on=_PAIR, how="left", maintain_order="left"
    )
    is_judged = pl.col("query_id").is_in(human["query_id"].implode())
    label = pl.when(is_judged).then(pl.col("label").fill_null(0))
    return rows.with_columns(label)


def _judgments(qrels: Qrels) -> pl.DataFrame:
    """Return judgments under the names that results have."""
    frame, names = frames.named(sources.qrels_frame(qrels))
    found = roles.of_qrels(names)
    rows = frames.source(frame, found.columns).whole()
    return rows.select(query_id=found.query, doc_id=found.document, label=found.value)


@dataclass(frozen=True)
class Options:
    """The options of `join`."""

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
class Joining:
    """A run and judgments that are to be joined, with the columns that were recognised."""

    frame: Any
    run: Roles
    qrels: Roles
    is_named: bool  # the caller named the columns of systems
    judged: Source
    options: Options
    without_rows: list[str]  # further systems

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
        is_named = system is not None
        return cls(frame, run_roles, qrels_roles, is_named, judged, options, without_rows)

    def through(
        self,
        schema: Callable[[Schema, Sequence[str]], Schema],
        compute: Callable[[Rankings], pl.DataFrame],
    ) -> Any:  # noqa: ANN401 - a frame of the run's kind
        """Compute on rankings; `schema` is given that of `join` and the columns of systems."""
        return frames.through(
            self.frame,
            self.run.columns,
            lambda source: schema(self._schema(source), self._systems(source)),
            lambda source: compute(self._rankings(source)),
            renamed={"query_id": self.run.query, "doc_id": self.run.document},
        )

    def _systems(self, source: Source) -> list[str]:
        """Return the columns of systems."""
        return roles.text_systems(self.run, source.schema, named=self.is_named)

    def _schema(self, source: Source) -> dict[str, pl.DataType]:
        """Check the dtypes of both frames, and return the columns that `join` returns."""
        of_run, of_qrels = _dtypes(source), _dtypes(self.judged)
        score, label = of_run[self.run.value], of_qrels[self.qrels.value]
        if not (score.is_numeric() or score == pl.Null):
            raise PrframeError(
                f"the score must be numeric; {self.run.value!r} of the run is {score}."
            )
        if not (label.is_numeric() or label in (pl.Boolean, pl.Null)):
            raise PrframeError(
                f"the label must be numeric; {self.qrels.value!r} of the qrels is {label}."
            )
        systems = self._systems(source)
        for name in systems:
            if of_run[name].is_nested() or of_run[name].is_object():
                raise PrframeError(
                    f"`system` must name columns of plain values; {name!r} is {of_run[name]}."
                )
        ids = {
            name: roles.id_dtype(role, (run, of_run[run]), (qrels, of_qrels[qrels]))
            for name, role, run, qrels in (
                ("query_id", "query", self.run.query, self.qrels.query),
                ("doc_id", "document", self.run.document, self.qrels.document),
            )
        }
        is_whole = label.is_integer() or label in (pl.Boolean, pl.Null)
        values = {"score": pl.Float64(), "label": pl.Int64() if is_whole else pl.Float64()}
        keys = {name: source.schema[name] for name in systems}
        return keys | ids | values | {"judged": pl.Boolean()}

    def _rankings(self, source: Source) -> Rankings:
        """Return the rankings of the run with their judgments."""
        out, run = self._schema(source), replace(self.run, systems=tuple(self._systems(source)))
        rows = _run_rows(run, source.whole(), out)
        qrels = _qrels_rows(self.qrels, self.judged.whole(), out)
        if self.options.exclude_self:
            other = pl.col("query_id").cast(pl.String) != pl.col("doc_id").cast(pl.String)
            rows, qrels = rows.filter(other), qrels.filter(other)
        queries, duplicates = self.options.queries, self.options.duplicates
        return matching.rankings(rows, qrels, queries, duplicates, self.without_rows)


def _dtypes(source: Source) -> Mapping[str, pl.DataType]:
    """Return the dtypes; empty columns of pandas, of whatever type, arrive as text."""
    schema = source.schema
    if isinstance(source.data, pl.DataFrame) and not source.data.height:
        return {
            name: pl.Null() if dtype in roles.TEXT else dtype for name, dtype in schema.items()
        }
    return schema


def labelled(rankings: Rankings, options: Options) -> pl.DataFrame:
    """Return the rows of rankings with their labels, and what these lack."""
    out = rankings.retrieved()
    if options.complete:
        out = pl.concat([out, rankings.unretrieved()])
    if options.unjudged == "drop":
        out = condensed(out, out["ranking"].to_numpy())
    if options.complete:
        out = out[np.argsort(out["ranking"].to_numpy(), kind="stable")]
    # A key of all rankings takes memory only once.
    keys = (
        pl.lit(key).first() if key.n_unique() == 1 else key[out["ranking"]]
        for key in rankings.keys.iter_columns()
    )
    return out.select(*keys, "doc_id", "score", "label", "judged")


def condensed(rows: pl.DataFrame, ranking: Integers) -> pl.DataFrame:
    """Drop documents without judgment; `ranking` numbers the ranking of each row.

    A ranking of nothing else keeps its first document as not retrieved, so that its query counts.
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


def _run_rows(run: Roles, frame: pl.DataFrame, out: Schema) -> pl.DataFrame:
    """Check the rows of the run and give its columns their names."""
    _refuse_null_ids("run", run, frame)
    score = pl.col(run.value).cast(pl.Float64)
    roles.refuse(
        frame,
        score.is_null() | score.is_nan(),
        f"the score {run.value!r} of the run must not contain nulls or NaN",
        "drop these rows; documents without a row are not retrieved",
    )
    matching.warn_of_unretrieved(frame[run.value])
    roles.refuse_large(frame, run.value, f"the integer score {run.value!r} of the run")
    if run.rank is not None:
        keys = frame.select(*run.systems, pl.col(run.query).alias("query_id"))
        matching.warn_of_ranks(keys, frame[run.rank], frame[run.value])
    return frame.select(
        *run.systems,
        pl.col(run.query).alias("query_id"),
        pl.col(run.document).cast(out["doc_id"]).alias("doc_id"),
        score.alias("score"),
    )


def _qrels_rows(qrels: Roles, frame: pl.DataFrame, out: Schema) -> pl.DataFrame:
    """Check the rows of the qrels and give their columns their names."""
    _refuse_null_ids("qrels", qrels, frame)
    label = pl.col(qrels.value).cast(out["label"], strict=False)
    finite = label.is_finite() if out["label"].is_float() else label.is_not_null()
    roles.refuse(
        frame,
        ~finite.fill_null(value=False),
        f"the label {qrels.value!r} of the qrels must be finite numbers, not null",
        "mend or drop these rows",
    )
    ids = {"query_id": qrels.query, "doc_id": qrels.document}
    rows = frame.select(
        *(pl.col(old).cast(out[new]).alias(new) for new, old in ids.items()),
        label.alias("label"),
    )
    twice = rows.filter(pl.struct(_PAIR).is_duplicated())
    if twice.height:
        pairs = twice.select(_PAIR).unique(maintain_order=True)
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
