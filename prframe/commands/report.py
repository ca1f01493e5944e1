"""``prframe report``: a page of results."""

import argparse

from prframe.commands import inputs, options
from prframe.commands.exits import OK, UsageError
from prframe.commands.progress import stage

SUMMARY = "write a page of results as HTML"
EXAMPLES = """\
examples:
  prframe report qrels 'runs/*.run' -o report.html
  prframe report --frame scores.parquet -o report.html
"""


def add_options(parser: options.Parser) -> None:
    """Add the options of the command."""
    options.add_input(parser)
    options.add_metrics(parser)
    parser.add_argument("--title", metavar="TEXT", help="the title of the page")
    options.add_randomness(parser)
    output = parser.add_argument("-o", "--output", metavar="FILE", help="the page to write")
    output.complete = "file"  # type: ignore[attr-defined]


def run(given: argparse.Namespace) -> int:
    """Write the page."""
    if given.output is None:
        raise UsageError("a report needs a file: name it with -o, as in -o report.html")
    import prframe

    report = getattr(prframe, "report", None)
    if not callable(report):
        raise UsageError("this version of prframe has no reports yet")
    chosen = options.given_only(given, "title") | {"metrics": given.metrics or None}
    data = inputs.rankings(given) if given.frame else None
    with stage("writing the report"):
        if data is None:
            qrels, runs = inputs.trec_files(given)
            report(runs, qrels, output=given.output, seed=given.seed, **chosen)
        else:
            keys = {"by": data.by or None, "over": data.over or None} | data.score | data.options
            report(data.frame, output=given.output, seed=given.seed, **chosen, **keys)
    return OK
