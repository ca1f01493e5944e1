"""The lines that trec_eval prints."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Unpack

import polars as pl

from prframe.errors import PrframeError
from prframe.metrics import Metric
from prframe.trec.evaluating import Task, TaskOptions
from prframe.trec.joining import Joining, Options, Queries
from prframe.trec.measures import Measure, measures_of, printed_place

_ALL = "all"
_RUNID = "runid"
# These names stand for several measures, and the name of the run is among them.
_WITH_RUNID = {"official", "set", "all_trec", _RUNID}


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
    **options: Unpack[TaskOptions],
) -> Iterator[str]:
    """Yield the lines that trec_eval prints of one run, in its order.

    Queries stand in the order of their ids as text, with their values in the order of trec_eval
    whatever the order of `measures`; the summary comes last. Of a query that the run lacks there
    is no line, even if it counts. The lines of one of several runs begin with its name.
    """
    named = [measure for measure in measures if measure != _RUNID]
    version = options.get("version", 9)
    wanted = sorted(measures_of(named, version), key=printed_place) if named else []
    task = Task(wanted, by_query=True, **options)
    queries: Queries = "qrels" if complete_queries else "both"
    of_join = Options(queries=queries, **(joining or {}))
    values = task.carried_out(Joining.of(run, qrels, [], of_join))
    if not values.height:
        raise PrframeError("the run and the qrels have no query in common; mend their ids.")
    runid = f"{_RUNID:<22}\t{_ALL}\t{name}\n"
    if is_one_of_several:
        yield runid
    if by_query:
        present = values.filter(pl.col("query_id").is_in(run["query_id"].unique().implode()))
        for row in present.sort("query_id").iter_rows(named=True):
            of_queries = [measure for measure in wanted if measure.of_queries]
            yield from _lines(row["query_id"], of_queries, row)
    if summary:
        if not is_one_of_several and any(str(measure) in _WITH_RUNID for measure in measures):
            yield runid
        yield from _lines(_ALL, wanted, values.select(task.summaries()).row(0, named=True))


def _lines(query: str, measures: Iterable[Measure], values: dict[str, float]) -> Iterator[str]:
    """Yield a line for each measure; counts are printed as whole numbers."""
    for measure in measures:
        value = values[measure.name]
        text = f"{value:.0f}" if measure.name.startswith("num_") else f"{value:6.4f}"
        yield f"{measure.name:<22}\t{query}\t{text}\n"
