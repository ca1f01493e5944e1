"""``prframe evaluate``: metrics of runs, as a mean over queries or query by query."""

import argparse
from collections.abc import Iterator
from typing import Any

from prframe.commands import inputs, options, outputs
from prframe.commands.exits import OK, UsageError

FILE_METRICS = ["AP", "nDCG@10", "P@10", "RR"]
FRAME_METRICS = ["AP", "AUC"]
_INTERVAL_OPTIONS = (
    *("confidence_level", "n_resamples", "cluster", "resampling", "method"),
    "predicted",
)


def _add_options(parser: options.Parser) -> None:
    """Add the options of the command."""
    options.add_input(parser, options.SEVERAL)
    options.add_metrics(parser, f"{' '.join(FILE_METRICS)}; of a frame {' '.join(FRAME_METRICS)}")
    options.add_by_query(parser)
    parser.flag("-n", "--no-summary", text="with -f trec -q, leave out the lines of the mean")
    parser.add_argument(
        "--trec-eval",
        type=int,
        choices=(9, 10),
        default=9,
        help="the version whose rules hold for QRELS and RUN (default: 9)",
    )
    parser.flag("--interval", text="add confidence intervals")
    options.add_predicted(parser)
    options.add_method(parser)
    options.add_confidence(parser)
    options.add_design(parser)
    options.add_randomness(parser)
    options.add_output(parser, "trec", "latex")


def _run(given: argparse.Namespace) -> int:
    """Evaluate, and write the result."""
    flags = options.flags_of(given, *_INTERVAL_OPTIONS)
    if flags and not given.interval:
        raise UsageError(f"{flags} goes with --interval")
    if outputs.format_of(given) == "trec":
        outputs.write_text("".join(_lines(given)), given)
        return OK
    if given.format == "latex" and given.by_query:
        raise UsageError("-f latex is a table of means; leave out -q")
    if given.no_summary:
        raise UsageError("-n leaves out lines of -f trec; -q alone gives no mean elsewhere")
    data = inputs.read(given)
    result = _intervals(data, given) if given.interval else _values(data, given)
    if data.n_queries is not None and not given.by_query:
        result = result.join(data.n_queries, on="system", how="left", maintain_order="left")
    if outputs.format_of(given) == "latex":
        from prframe import tables

        estimates = result.drop("n", strict=False)
        ties = data.options.get("ties", "group")
        outputs.write_text(tables.results(estimates, ties=ties).to_latex(), given)
    else:
        outputs.write(result, given, data.note)
    return OK


def _lines(given: argparse.Namespace) -> Iterator[str]:
    """Yield the lines of trec_eval for each run."""
    qrels_path, runs = inputs.trec_files(given)
    if given.interval or given.prior is not None or given.ties not in (None, "trec"):
        raise UsageError(
            "-f trec takes the conventions of trec_eval, without --interval, --prior or --ties"
        )
    from prframe import trec
    from prframe.trec.evaluating import result_lines
    from prframe.trec.files import file_stem

    inputs.allow_interrupts()
    qrels = trec.read_qrels(qrels_path)
    tags: set[str] = set()
    for path in runs:
        run = trec.read_run(path)
        tag = file_stem(path) if run.is_empty() else run["system"][-1]
        name = file_stem(path) if tag in tags else tag
        tags.add(tag)
        yield from result_lines(
            run,
            qrels,
            given.metrics or ["official"],
            name=name,
            is_one_of_several=len(runs) > 1,
            joining=inputs.join_options(given),
            by_query=given.by_query,
            summary=not given.no_summary,
            complete_queries=given.complete,
            relevance_level=1 if given.level is None else given.level,
            judged_only=given.judged_only,
            depth=given.depth,
            version=given.trec_eval,
        )


def _metrics(given: argparse.Namespace) -> list[str]:
    """Return the metrics that were named, or those that suit the input."""
    usual = FRAME_METRICS if given.frame else FILE_METRICS
    metrics: list[str] = given.metrics or usual
    return metrics


def _values(data: inputs.Rankings, given: argparse.Namespace) -> Any:  # noqa: ANN401 - a frame
    """Return a row for each group, and a column for each metric."""
    from prframe import evaluate

    columns = data.columns(by_query=given.by_query)
    chosen = data.score | data.options | options.given_only(given, "prior")
    result = evaluate(data.frame, _metrics(given), **columns, layout="wide", **chosen)
    return result.lazy().collect()


def _intervals(data: inputs.Rankings, given: argparse.Namespace) -> Any:  # noqa: ANN401 - a frame
    """Return a row for each group, model and metric, with its interval, model by model."""
    from prframe import interval

    rows = data.in_rows()
    return interval(
        rows.frame,
        _metrics(given),
        **rows.columns(by_query=given.by_query),
        **options.given_only(given, "method", "confidence_level", "n_resamples", *options.DESIGN),
        rng=given.rng,
        **rows.options,
    )


EVALUATE = options.Command(
    "compute metrics of runs, or of the rankings of a frame",
    """\
examples:
  prframe evaluate qrels 'runs/*.run' -m AP nDCG@10 P@10
  prframe evaluate qrels bm25.run -q -o by_query.csv
  prframe evaluate qrels bm25.run -m map ndcg_cut_10 -q -f trec
  prframe evaluate --frame scores.parquet --by segment -m AP AUC --interval
""",
    _add_options,
    _run,
)
