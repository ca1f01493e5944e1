"""The function that makes a report."""

import platform
from collections.abc import Mapping, Sequence
from hashlib import file_digest
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from prframe import checks
from prframe._engine.arguments import Arguments
from prframe._engine.rows import positive as is_positive
from prframe._preparation.results import whole
from prframe.errors import PrframeError
from prframe.metrics import Metric
from prframe.reports import classifiers, rankings, sections
from prframe.reports.classifiers import Classifiers, segment_column
from prframe.reports.names import plain
from prframe.reports.options import Options, metric_names
from prframe.reports.page import Facts, Report, rounded
from prframe.reports.rankings import Rankings
from prframe.tie_policies import Ties
from prframe.trec.joining import join
from prframe.trec.paths import files, is_path
from prframe.trec.sources import AnyRuns, Qrels, run_frame
from prframe.typing import Columns, Positive
from prframe.verbs.comparison.modes import Test
from prframe.verbs.comparison.rows import JointCorrection

_MODELS = ("model", "system")


def report(
    data: AnyRuns,
    qrels: "Qrels | None" = None,
    *,
    metrics: str | Metric | Sequence[str | Metric] | None = None,
    score: str = "score",
    label: str = "label",
    model: str | None = None,
    over: str | None = None,
    by: Columns | None = None,
    item: str | None = None,
    positive: Positive = True,
    ties: Ties | None = None,
    n_pos: int | str | None = None,
    thresholds: Sequence[float] | None = None,
    queries: Mapping[Any, str] | None = None,
    texts: Mapping[Any, str] | None = None,
    depth: int = 20,
    test: Test = "randomization",
    correction: JointCorrection | None = "holm",
    confidence_level: float = 0.95,
    seed: int = 0,
    title: str | None = None,
    notes: Mapping[str, str] | None = None,
    output: str | PathLike[str] | None = None,
) -> Report:
    """Make a page of results in one file, which needs no network.

    The page has a sentence that tells the outcome, the results with intervals, the comparison of
    all pairs, curves, what `check` finds, and where the numbers come from. Of rankings for many
    queries (TREC runs, or a frame with `over`) it has the values and rankings of each query; of
    classifiers what they do at thresholds, where their scores lie, and the metrics in segments.

    Parameters
    ----------
    data : runs or frame
        With `qrels`, the runs of one system or several, as `prframe.trec.evaluate` takes them.
        Otherwise a frame with one row per item and model.
    qrels : frame, path, list of paths, or dict, optional
        Judgments, as `prframe.trec.join` takes them. The judged queries of which any run has
        documents count; where a run lacks one of these its value is 0.
    metrics : str, Metric or list of these, optional
        The first one orders the systems. Absent: AP, nDCG@10 and P@10 of rankings, AP and AUC of
        classifiers, whose metrics must be such as `interval` takes of one ranking.
    score, label : str
        Columns of a frame.
    model : str, optional
        Column of a frame that names the models; ``"model"`` or ``"system"`` if the frame has one.
    over : str, optional
        Column of a frame that names the queries: its rows are rankings. Absent: the rows of a
        model are one sample of items.
    by : str or list of str, optional
        Columns of a frame of classifiers whose values are segments.
    item : str, optional
        Column of a frame that names the items. Rankings are shown, and classifiers compared, only
        where it is known which items they have.
    positive, n_pos : optional
        As in the verbs. `n_pos` is for rankings.
    ties : str, optional
        As in the verbs; unless given ``"trec"`` with `qrels`, else ``"group"``.
    thresholds : list of float, optional
        Scores from which on an item counts as positive, for the table of thresholds. Absent: the
        thresholds that reach certain levels of recall.
    queries, texts : dict, optional
        Texts of queries and of items by their ids, for rankings. A text that is long is cut.
    depth : int
        Items that are shown of each ranking. For many queries the page says what it leaves out.
    test, correction, confidence_level : optional
        As in `compare`.
    seed : int
        The same data, options and seed give the same bytes.
    title : str, optional
        The title of the page.
    notes : dict of str, optional
        What the page should say of where the data come from, for example ``{"date": "..."}``.
    output : path, optional
        A file to write the page to.

    Returns
    -------
    Report
        With ``html``, the text of the page, ``facts``, what it shows as plain data, and the method
        ``save(path)``. In a notebook it shows itself.

    Raises
    ------
    PrframeError
        An option that is unknown or does not go with the data, or what `join` and the verbs
        refuse.
    OSError
        A file that cannot be opened or written.

    Warns
    -----
    UndefinedMetricWarning, UnmatchedIdsWarning
        As the verbs and `join` do.

    Notes
    -----
    Systems are told apart at the level .05. Names, ids and texts are shown as text, whatever they
    contain: the page runs no script but its own, and loads nothing.

    The confidence band around a PR curve is that of `band`. That around a ROC curve encloses the
    false positive rate at each recall by itself, by quantiles of the same draws.

    Examples
    --------
    >>> import prframe
    >>> digits = prframe.datasets.load_digits()
    >>> page = prframe.report(digits, over="query_id", item="item_id", n_pos="n_relevant")
    >>> print(page.facts["sentence"])
    pixels has the highest AP, 0.397 [0.377, 0.417] over 200 queries. It is told apart from all others.
    """
    is_trec, is_ranked = qrels is not None, qrels is not None or over is not None
    _refuse(
        {
            "over": is_trec and over is not None,
            "item": is_trec and item is not None,
            "model": is_trec and model is not None,
            "n_pos": not is_ranked or is_trec if n_pos is not None else False,
            "by": is_ranked and by is not None,
            "thresholds": is_ranked and thresholds is not None,
            "queries": not is_ranked and queries is not None,
            "texts": not is_ranked and texts is not None,
        },
        "qrels" if is_trec else "over" if is_ranked else "",
    )
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
    )
    origin: list[list[str]] = []
    facts: Facts
    if qrels is not None:
        rows, origin = _joined(data, qrels)
        facts = Rankings(rows, options).facts()
    elif over is not None:
        columns = {"score": score, "label": label, "query_id": over}
        frame = _frame(data, columns, item, model, n_pos)
        facts = Rankings(frame, options).facts()
    else:
        segments = [by] if isinstance(by, str) else list(by or ())
        facts = _classifiers(data, score, label, model, item, segments, thresholds, options)
    if title is not None:
        facts["title"] = plain(title)
    facts["sections"].append(
        sections.provenance(
            [*map(list, (notes or {}).items()), *options.told(), *origin, *_versions()]
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
            why = f"does not go with `{kind}`" if kind else "is for rankings, with `over` or `qrels`"
            raise PrframeError(f"`{option}` {why}; leave it out.")


def _joined(data: AnyRuns, qrels: Qrels) -> tuple[pl.DataFrame, list[list[str]]]:
    """Return the labelled rows of runs, with what is to be said of where they come from."""
    joined, _ = whole(join(run_frame(data), qrels, queries="qrels"), "runs")
    names = [name for name in joined.columns if name not in rankings_columns()]
    if len(names) > 1:
        raise PrframeError(
            f"the runs must have one column that names their systems; they have "
            f"{checks.listed(names, in_order=True)}."
        )
    system = pl.col(names[0]).cast(pl.String) if names else pl.lit("run")
    rows = joined.with_columns(system.alias(rankings.SYSTEM))
    retrieved = (pl.col("score") > -float("inf")).any().over(rankings.QUERY)
    kept = rows.filter(retrieved)
    if kept.is_empty():
        raise PrframeError("no run has documents of a judged query; mend the ids of the queries.")
    n_judged, n_kept = rows[rankings.QUERY].n_unique(), kept[rankings.QUERY].n_unique()
    origin = [["judged queries", f"{n_judged:,}, of which runs have {n_kept:,}"]]
    return kept, origin + [
        [f"sha256 of {Path(path).name}", _digest(path)]
        for path in dict.fromkeys([*_paths(data), *_paths(qrels)])
    ]


def rankings_columns() -> set[str]:
    """Return the columns of joined rows that name no systems."""
    return {rankings.QUERY, rankings.ITEM, "score", "label", "judged"}


def _frame(
    data: object,
    columns: Mapping[str, str],
    item: str | None,
    model: str | None,
    n_pos: int | str | None,
) -> pl.DataFrame:
    """Return the columns of a frame of rankings under the names that reports have for them."""
    frame, _ = whole(data, "data")
    wanted = {column: name for name, column in columns.items()}
    optional = {"item": item, "model": model, "n_pos": n_pos if isinstance(n_pos, str) else None}
    named = {column: argument for argument, column in optional.items() if column is not None}
    arguments = {"score": "score", "label": "label", "query_id": "over"}
    checks.columns_exist({c: arguments[name] for c, name in wanted.items()} | named, frame.columns)
    kept = [pl.col(column).alias(name) for name, column in columns.items()]
    if item is not None:
        kept.append(pl.col(item).alias(rankings.ITEM))
    if isinstance(n_pos, str):
        kept.append(pl.col(n_pos).alias(n_pos))
    return frame.select(_models(frame, model).alias(rankings.SYSTEM), *kept)


def _models(frame: pl.DataFrame, model: str | None) -> pl.Expr:
    """Return the names of models."""
    usual = [name for name in _MODELS if name in frame.columns]
    if model is None and not usual:
        return pl.lit("model")
    return pl.col(model or usual[0]).cast(pl.String).fill_null("null")


def _classifiers(
    data: object,
    score: str,
    label: str,
    model: str | None,
    item: str | None,
    segments: Sequence[str],
    thresholds: Sequence[float] | None,
    options: Options,
) -> Facts:
    """Return the facts of classifiers."""
    frame, _ = whole(data, "data")
    named = {score: "score", label: "label", **dict.fromkeys(segments, "by")}
    optional = {"item": item, "model": model}
    named |= {column: argument for argument, column in optional.items() if column is not None}
    checks.columns_exist(named, frame.columns)
    args = Arguments(score, label, positive=options.positive)
    columns = [pl.col(name).alias(segment_column(place)) for place, name in enumerate(segments)]
    if item is not None:
        columns.append(pl.col(item).alias(classifiers.ITEM))
    rows = frame.select(
        _models(frame, model).alias(classifiers.MODEL),
        pl.col(score).alias("score"),
        is_positive(args, frame.schema[label]).alias("label"),
        *columns,
    )
    asked = tuple(
        float(checks.number("thresholds", threshold)) for threshold in thresholds or ()
    )
    return Classifiers(rows, tuple(segments), asked, options).facts()


def _paths(given: object) -> list[Path]:
    """Return the files within what the caller has passed."""
    if is_path(given):
        return [Path(path) for path in files(given)]
    if isinstance(given, Mapping):
        return [path for part in given.values() for path in _paths(part)]
    if isinstance(given, (list, tuple)):
        return [path for part in given for path in _paths(part)]
    return []


def _digest(path: Path) -> str:
    """Return the hash of a file."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _versions() -> list[list[str]]:
    """Return the versions on which the numbers may depend."""
    from prframe import __version__  # noqa: PLC0415 - the package is not yet whole at import

    return [
        ["prframe", __version__],
        ["polars", pl.__version__],
        ["numpy", np.__version__],
        ["Python", platform.python_version()],
    ]
