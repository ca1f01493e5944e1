"""The function that makes a report."""

import platform
import sys
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, get_args

import numpy as np
import polars as pl

from prframe import checks, hints
from prframe.errors import ArgumentError, each_once
from prframe.metrics import Metric
from prframe.reports import classifiers, inputs, rankings, sections
from prframe.reports.options import Options, metric_names
from prframe.reports.page import Facts, Report, plain, rounded
from prframe.reports.rankings import Rankings
from prframe.stats.paired_values import QUERY_TESTS
from prframe.tie_policies import Ties
from prframe.trec.joining import Duplicates
from prframe.trec.sources import AnyRuns, Qrels, is_run
from prframe.typing import Columns, Positive
from prframe.verbs.comparison.rows import JointCorrection, Test


@hints.checked
def report(
    data: AnyRuns,
    qrels: "Qrels | None" = None,
    *,
    predicted: "Qrels | None" = None,
    metrics: str | Metric | Sequence[str | Metric] | None = None,
    score: Columns = "score",
    label: str = "label",
    model: str | None = None,
    over: Columns | None = None,
    by: Columns | None = None,
    item: str | None = None,
    positive: Positive = True,
    ties: Ties | None = None,
    n_pos: int | str | None = None,
    thresholds: Sequence[float] | None = None,
    queries: Mapping[Any, str] | None = None,
    texts: Mapping[Any, str] | None = None,
    depth: int = 20,
    duplicates: Duplicates = "raise",
    exclude_self: bool = False,
    test: Test | None = None,
    correction: JointCorrection | None = "holm",
    confidence_level: float = 0.95,
    seed: int = 0,
    title: str | None = None,
    notes: Mapping[str, str] | None = None,
    output: str | PathLike[str] | None = None,
) -> Report:
    """Make an HTML page of results in one file that needs no network.

    The page has the outcome in a sentence, the results with intervals, the comparison of all
    pairs, curves, the findings of `check`, and the provenance. For rankings of many queries (TREC
    runs, or a frame with `over`) it also has the values and rankings of each query; for
    classifiers a table of thresholds, histograms of scores, and the metrics in segments.

    Parameters
    ----------
    data : runs or frame
        With `qrels`, the runs of one system or several, as `prframe.trec.evaluate` takes them.
        Otherwise a frame with one row per item and model.
    qrels : frame, path, list of paths, or dict, optional
        Judgments, as `prframe.trec.join` takes them. A query counts if it has relevant documents
        and at least one run answers it; a run without documents for it scores 0.
    predicted : frame, path, list of paths, or dict, optional
        Judgments of a machine for all queries, with `qrels` of humans for some. Means and
        comparisons combine both, as `interval` does; the rest of the page is about the queries
        with human labels.
    metrics : str, Metric or list of these, optional
        The first one sorts the systems. Default: AP, nDCG@10 and P@10 for rankings, AP and AUC for
        classifiers, which need metrics that `interval` supports for one ranking.
    score, label : str
        Columns of a frame; `score` may be a list of columns, a model each.
    model : str, optional
        Column of models; ``"model"``, ``"system"`` or ``"run"`` if the frame has one.
    over : str or list of str, optional
        Columns that name the queries. Default: the rows of a model are one sample of items.
    by : str or list of str, optional
        For classifiers, columns of segments. With `over`, the column of models.
    item : str, optional
        Column that names the items. It is needed to show rankings and to compare classifiers.
    positive, n_pos : optional
        As in the verbs. `n_pos` is for rankings.
    ties : str, optional
        As in the verbs; ``"trec"`` with `qrels` unless given, else ``"group"``.
    thresholds : list of float, optional
        For the table of thresholds of classifiers. Default: those that reach certain recalls.
    queries, texts : dict, optional
        Texts of queries and of items by their ids, for rankings. Long texts are cut.
    depth : int
        Items that are shown of each ranking. For many queries the page says what it leaves out.
    duplicates, exclude_self : optional
        As in `prframe.trec.join`, with `qrels`.
    test, correction, confidence_level : optional
        As in `compare`.
    seed : int
        The same data, options and seed give the same bytes.
    title : str, optional
        The title of the page.
    notes : dict of str, optional
        Rows for the provenance, for example ``{"date": "..."}``.
    output : path, optional
        A file to write the page to.

    Returns
    -------
    Report
        With ``html``, the page, ``facts``, its content as plain data, and the method
        ``save(path)``. In a notebook it shows itself.

    Raises
    ------
    PrframeError
        An unknown option, or one that does not fit the data, or what `join` and the verbs refuse.
    OSError
        A file that cannot be opened or written.

    Warns
    -----
    PrframeWarning
        As the verbs and `join` do.

    Notes
    -----
    Differences are significant at the level .05. The page shows names, ids and texts as text, runs
    no script but its own, and loads nothing.

    Examples
    --------
    >>> import prframe
    >>> digits = prframe.datasets.load_digits()
    >>> page = prframe.report(digits, over="query_id", item="item_id", n_pos="n_relevant")
    >>> print(page.facts["sentence"].partition(". ")[0])
    pixels has the highest mean AP, 0.397 [0.377, 0.417], over 200 queries
    """
    if qrels is None and is_run(data):
        raise ArgumentError(
            f"runs need judgments: prframe.report(runs, qrels); got {checks.brief(data)} alone. "
            "Of labelled rows give the frame, for example polars.read_csv(path)."
        )
    is_trec, is_ranked = qrels is not None, qrels is not None or over is not None
    _refuse(
        {
            "predicted": not is_trec and predicted is not None,
            "over": is_trec and over is not None,
            "item": is_trec and item is not None,
            "model": is_trec and model is not None,
            "n_pos": not is_ranked or is_trec if n_pos is not None else False,
            "by": is_trec and by is not None,
            "duplicates": not is_trec and duplicates != "raise",
            "exclude_self": not is_trec and exclude_self is not False,
            "thresholds": is_ranked and thresholds is not None,
            "queries": not is_ranked and queries is not None,
            "texts": not is_ranked and texts is not None,
        },
        "qrels" if is_trec else "over" if is_ranked else "",
    )
    test = test or ("randomization" if predicted is None else "t")
    _check_test(test, is_ranked=is_ranked)
    checks.one_of("duplicates", duplicates, get_args(Duplicates))
    default = rankings.METRICS if is_ranked else classifiers.METRICS
    options = Options(
        metrics=metric_names(metrics, default),
        positive=positive,
        ties=ties or ("trec" if is_trec else "group"),
        n_pos=n_pos,
        test=test,
        correction=correction,
        confidence_level=confidence_level,
        seed=seed,
        depth=depth,
        queries={} if queries is None else queries,
        texts={} if texts is None else texts,
        float32=is_trec and ties in {None, "trec"},
    )
    origin: list[list[str]] = []
    facts: Facts
    # Several sections ask verbs for the same.
    with each_once():
        if qrels is not None:
            of_join = {"duplicates": duplicates, "exclude_self": exclude_self}
            rows, origin = inputs.read_runs(data, qrels, options, of_join, predicted)
            facts = Rankings.of(rows, options).facts()
        elif over is not None:
            columns = inputs.Columns(
                score, label, model or _one(by), item, _listed("over", over, 1)
            )
            facts = Rankings(inputs.read_rankings(data, columns, n_pos), options).facts()
        else:
            columns = inputs.Columns(score, label, model, item, _listed("by", by))
            facts = inputs.read_classifiers(data, columns, _numbers(thresholds), options).facts()
    if title is not None:
        facts["title"] = plain(title)
    facts["sections"].append(
        sections.provenance(
            [*map(list, (notes or {}).items()), *options.rows(), *origin, *_versions()]
        )
    )
    made = Report.of(rounded(facts))
    if output is not None:
        made.save(output)
    return made


def _refuse(given: Mapping[str, bool], kind: str) -> None:
    """Refuse options that do not go with the kind of data."""
    for option, is_wrong in given.items():
        if is_wrong:
            why = (
                f"does not go with `{kind}`" if kind else "is for rankings, with `over` or `qrels`"
            )
            raise ArgumentError(f"`{option}` {why}; leave it out.")


def _check_test(test: object, *, is_ranked: bool) -> None:
    """Refuse tests that the comparison of this kind of data does not have, or without p-values."""
    tests = [*QUERY_TESTS] if is_ranked else ["bootstrap", "delong", "randomization"]
    if test not in tests:
        over = "rankings, over queries," if is_ranked else "classifiers, on the same items,"
        raise ArgumentError(
            f"`test` of {over} must be one of {checks.listed(tests)}; got {checks.brief(test)}."
        )


def _listed(argument: str, columns: Columns | None, at_least: int = 0) -> tuple[str, ...]:
    """Return the columns of an argument as a tuple."""
    return (
        () if columns is None else tuple(checks.column_names(argument, columns, at_least=at_least))
    )


def _one(by: Columns | None) -> str | None:
    """Return the column of systems, which the calls of other verbs name in `by`."""
    columns = _listed("by", by)
    if len(columns) > 1:
        raise ArgumentError(
            "`by` must name one column with `over`, that of the systems; got "
            f"{checks.listed(columns, in_order=True)}."
        )
    return columns[0] if columns else None


def _numbers(thresholds: Sequence[float] | None) -> tuple[float, ...]:
    """Return thresholds as numbers."""
    if thresholds is None:
        return ()
    if isinstance(thresholds, str) or not hasattr(thresholds, "__iter__"):
        raise ArgumentError(
            f"`thresholds` must be a list of numbers; got {checks.brief(thresholds)}."
        )
    return tuple(float(checks.number("thresholds", each)) for each in thresholds)


def _versions() -> list[list[str]]:
    """Return the versions on which the numbers may depend."""
    # The package stands above this one, and is there when a report is made.
    return [
        ["prframe", sys.modules["prframe"].__version__],
        ["polars", pl.__version__],
        ["numpy", np.__version__],
        ["Python", platform.python_version()],
    ]
