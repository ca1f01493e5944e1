"""``prframe report``: a page of results."""

import argparse
from typing import Any

import prframe
from prframe.commands import inputs, options
from prframe.commands.exits import OK, UsageError
from prframe.commands.terminal import stage

SUMMARY = "write a page of results as HTML"
EXAMPLES = """\
examples:
  prframe report qrels 'runs/*.run' -o report.html
  prframe report --frame scores.parquet --model system --over query_id -o report.html
  prframe report --frame scores.parquet --by segment -o report.html
"""


# What `prframe.report` knows no argument for.
_NOT_TAKEN = {
    "complete": "-c",
    "judged_only": "-J",
    "depth": "-M",
    "weight": "--weight",
    "missing": "--missing",
}


def add_options(parser: options.Parser) -> None:
    """Add the options of the command."""
    options.add_input(parser)
    options.add_metrics(parser, "AP nDCG@10 P@10; of classifiers AP AUC")
    parser.add_argument("--model", metavar="COLUMN", help="column of models (default: model)")
    parser.add_argument("--title", metavar="TEXT", help="the title of the page")
    parser.number("--seed", int, "N", "seed of random draws (default: 0)", default=0)
    output = parser.add_argument("-o", "--output", metavar="FILE", help="the page to write")
    output.complete = "file"  # type: ignore[attr-defined]


def run(given: argparse.Namespace) -> int:
    """Write the page."""
    if given.output is None:
        raise UsageError("a report needs a file: name it with -o, as in -o report.html")
    if flags := [flag for name, flag in _NOT_TAKEN.items() if getattr(given, name)]:
        raise UsageError(f"a report takes no {', '.join(flags)}")
    report = getattr(prframe, "report", None)
    if not callable(report):
        raise UsageError("this version of prframe has no reports")
    data, chosen = _of_frame(given) if given.frame else _of_files(given)
    with stage("writing the report"):
        try:
            report(data, **chosen, output=given.output, seed=given.seed)
        except OSError as error:
            if error.filename != given.output:
                raise
            raise UsageError(f"cannot write {given.output}: {error.strerror}") from None
    return OK


def _of_files(given: argparse.Namespace) -> tuple[Any, dict[str, Any]]:
    """Return the paths of the runs, and the arguments that go with them."""
    qrels, runs = inputs.trec_files(given)
    chosen = options.given_only(given, "metrics", "title", "ties")
    if given.level is not None:
        chosen["positive"] = given.level
    return runs, chosen | {"qrels": qrels}


def _of_frame(given: argparse.Namespace) -> tuple[Any, dict[str, Any]]:
    """Return the rows of the frame, and the arguments that go with it."""
    if len(given.over) > 1:
        raise UsageError(f"a report takes one column as --over; got {', '.join(given.over)}")
    data = inputs.rankings(given).of_one_model()
    chosen = options.given_only(given, "metrics", "title", "model", "by") | data.options
    if data.over:
        chosen["over"] = data.over[0]
    return data.frame.collect(), chosen
